"""How people reach it: the command line, the terminal."""
