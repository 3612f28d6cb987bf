"""What is good: searches, generic over games; no game is named here."""
