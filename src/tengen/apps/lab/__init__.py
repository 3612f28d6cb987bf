"""Searches told step by step: what a page draws, and what a course can read."""
