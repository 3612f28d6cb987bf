"""What experts know: evaluations, threats, exact endgames."""
