"""What people look at: charts, boards, replays of games, HTML pages."""
