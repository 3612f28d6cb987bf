"""Who plays: one interface for every way to choose a move, and the strings that name them."""
