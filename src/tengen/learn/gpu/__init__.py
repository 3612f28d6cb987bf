"""Self-play, replay and training that stay in a GPU's memory: the same kernels and the same loss as on a CPU."""
