"""Networks: building and exporting them (with torch), and evaluating positions (without it)."""
