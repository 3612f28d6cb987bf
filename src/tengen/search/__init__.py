"""Searches, generic over games: no game is named here."""
