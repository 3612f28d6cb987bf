"""Chains and empty regions of a board of stones, for whatever counts areas. A cell is its number, row by row."""

from __future__ import annotations

import numpy as np


def connected(board: np.ndarray) -> list[list[int]]:
    """The chains and the empty regions of a board, each by its cells."""
    rest, groups = dict.fromkeys(range(board.size)), []
    while rest:
        first = next(iter(rest))
        del rest[first]
        group = [first]
        for cell in group:  # grows while it is read
            for near in beside(board, cell):
                if near in rest and board.flat[near] == board.flat[cell]:
                    del rest[near]
                    group.append(near)
        groups.append(sorted(group))
    return groups


def neighbours_of(board: np.ndarray, group: list[int]) -> set[int]:
    """The cells beside a group that are not of it."""
    return {near for cell in group for near in beside(board, cell)} - set(group)


def owner_of(board: np.ndarray, group: list[int]) -> int:
    """Whose a chain or an empty region is, as a stone; 0 if the region reaches both colours, or none."""
    stone = int(board.flat[group[0]])
    owners = {stone} if stone else {int(board.flat[cell]) for cell in neighbours_of(board, group)}
    return owners.pop() if len(owners) == 1 else 0


def beside(board: np.ndarray, cell: int) -> list[int]:
    """The cells left, right, above and below."""
    rows, columns = board.shape
    y, x = divmod(cell, columns)
    steps = [(x > 0, -1), (x < columns - 1, 1), (y > 0, -columns), (y < rows - 1, columns)]
    return [cell + step for is_there, step in steps if is_there]
