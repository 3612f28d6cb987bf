def minimax(tree, is_max):
    if not isinstance(tree, list):
        return tree
    values = [minimax(child, not is_max) for child in tree]
    return max(values) if is_max else min(values)


def best_move(tree, is_max):
    values = [minimax(child, not is_max) for child in tree]
    return values.index(max(values) if is_max else min(values))
