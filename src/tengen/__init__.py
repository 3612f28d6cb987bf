"""Tengen: learn, search and play perfect-information board games. Games are plain Python, run at native speed."""
__version__ = "0.1.0"
