WAYS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
CORNERS = (0, 7, 56, 63)


def flips(board, cell, player):
    found = []
    if board[cell]:
        return found
    for down, right in WAYS:
        row, column, line = cell // 8 + down, cell % 8 + right, []
        while 0 <= row < 8 and 0 <= column < 8 and board[8 * row + column] == 3 - player:
            line.append(8 * row + column)
            row, column = row + down, column + right
        if line and 0 <= row < 8 and 0 <= column < 8 and board[8 * row + column] == player:
            found += line
    return found


def legal(board, player):
    return [cell for cell in range(64) if flips(board, cell, player)]


def play(board, cell, player):
    after = list(board)
    for each in [cell, *flips(board, cell, player)]:
        after[each] = player
    return after


def choose(board, player, seconds):
    def rank(cell):
        after = play(board, cell, player)
        replies = legal(after, 3 - player)
        gives = any(reply in CORNERS for reply in replies)
        return (cell in CORNERS, not gives, -len(replies))

    return max(legal(board, player), key=rank)
