"""What a course teaches, told: labs, searches step by step, the documents' experiments. Pages and commands show it."""
