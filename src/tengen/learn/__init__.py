"""How it gets better: self-play, training, and the folder of a run."""
