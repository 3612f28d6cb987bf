import math


def ucb1(mean, visits, parent_visits, c):
    return mean + c * math.sqrt(2 * math.log(parent_visits) / visits)


def best_child(children, parent_visits, c):
    scores = [ucb1(won / visits, visits, parent_visits, c) for won, visits in children]
    return scores.index(max(scores))


def backup(path, delta):
    told = []
    for q, n in path:
        told.append([q + delta, n + 1])
        delta = -delta
    return told
