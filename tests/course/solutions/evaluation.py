ROWS = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def open_to(board, other):
    return sum(all(board[cell] != other for cell in row) for row in ROWS)


def e(board):
    return open_to(board, 2) - open_to(board, 1)
