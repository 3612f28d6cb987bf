"""Networks: how they are built and exported (with torch), and how they are asked (without it)."""
