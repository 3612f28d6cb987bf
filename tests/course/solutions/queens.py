import random


def conflicts(queens):
    count = 0
    for i, row in enumerate(queens):
        for j in range(i):
            if queens[j] == row or abs(queens[j] - row) == i - j:
                count += 1
    return count


class Board:
    def __init__(self, queens):
        n = self.n = len(queens)
        self.queens, self.rows, self.rising, self.falling = queens, [0] * n, [0] * 2 * n, [0] * 2 * n
        for column, row in enumerate(queens):
            self.put(column, row, 1)

    def put(self, column, row, by):
        self.rows[row] += by
        self.rising[row + column] += by
        self.falling[row - column + self.n] += by

    def attacked(self, column, row):
        return self.rows[row] + self.rising[row + column] + self.falling[row - column + self.n]

    def troubled(self):
        return [column for column in range(self.n) if self.attacked(column, self.queens[column]) > 3]


def solve(n, seed):
    rng = random.Random(seed)
    while True:
        board = Board([rng.randrange(n) for _ in range(n)])
        for _ in range(20 * n):
            troubled = board.troubled()
            if not troubled:
                return board.queens
            column = rng.choice(troubled)
            board.put(column, board.queens[column], -1)
            counts = [board.attacked(column, row) for row in range(n)]
            board.queens[column] = rng.choice([row for row in range(n) if counts[row] == min(counts)])
            board.put(column, board.queens[column], 1)
