"""What was played: games as records, and what people look at, boards and curves."""
