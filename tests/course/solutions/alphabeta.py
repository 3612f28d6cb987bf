INFINITY = 10**9


def search(tree, is_max, alpha, beta, seen):
    if not isinstance(tree, list):
        seen.append(tree)
        return tree
    value = -INFINITY if is_max else INFINITY
    for child in tree:
        found = search(child, not is_max, alpha, beta, seen)
        if is_max:
            value = max(value, found)
            alpha = max(alpha, value)
        else:
            value = min(value, found)
            beta = min(beta, value)
        if alpha >= beta:
            break
    return value


def alphabeta(tree, is_max):
    seen = []
    return [search(tree, is_max, -INFINITY, INFINITY, seen), seen]
