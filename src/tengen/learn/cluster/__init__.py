"""Training on many machines, by Ray: workers play, a driver learns and keeps the run's folder."""
