"""Matches, tournaments, ratings, and their reports."""
