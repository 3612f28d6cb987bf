"""Unconditional life: chains that cannot be captured even if their owner passes for ever (D. B. Benson, 1976).

A region is connected, holds no stone of the colour, and is bounded by chains of that colour alone. It is vital to a
chain if each of its empty points is a liberty of that chain. Of all chains, those with fewer than two vital regions are
struck out again and again, and with them the regions that they bound; what is left lives.

The points that such chains enclose are theirs where the opponent has no room for two eyes: no two points that are not
beside each other and not beside the walls. What stands there is lost, whoever moves.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from tengen.knowledge.groups import beside, connected, neighbours_of


def living(board: np.ndarray, stone: int) -> np.ndarray:
    """[rows, columns]: whether a point is a stone of that colour that lives, or surely belongs to such stones."""
    chains = [group for group in connected(board) if board.flat[group[0]] == stone]
    regions = [group for group in connected(np.where(board == stone, stone, 0)) if board.flat[group[0]] != stone]
    alive, walled = keep_vital(board, chains, regions)
    found = np.zeros(board.shape, bool)
    for group in alive:
        found.flat[group] = True
    for region in walled:
        if not has_room(board, region):
            found.flat[region] = True
    return found


def keep_vital(
    board: np.ndarray, chains: list[list[int]], regions: list[list[int]]
) -> tuple[list[list[int]], list[list[int]]]:
    """Benson's algorithm: the chains that live, and the regions that they alone bound."""
    name = {cell: number for number, chain in enumerate(chains) for cell in chain}
    bounds = [{name[cell] for cell in neighbours_of(board, region)} for region in regions]
    vital = [vital_to(board, name, region) for region in regions]
    alive = set(range(len(chains)))
    open_regions = set(range(len(regions)))
    while True:
        open_regions = {number for number in open_regions if bounds[number] <= alive}
        kept = {chain for chain in alive if sum(chain in vital[number] for number in open_regions) >= 2}
        if kept == alive:
            break
        alive = kept
    walled = [regions[number] for number in sorted(open_regions) if bounds[number]]
    return [chains[number] for number in sorted(alive)], walled


def vital_to(board: np.ndarray, name: dict[int, int], region: list[int]) -> set[int]:
    """The chains of which each empty point of a region is a liberty; none, if it has no empty point."""
    touched = [{name[near] for near in beside(board, cell) if near in name} for cell in region if board.flat[cell] == 0]
    return set.intersection(*touched) if touched else set()


def has_room(board: np.ndarray, region: list[int]) -> bool:
    """Whether the other colour might make two eyes in a region: two inner points of it that are not neighbours."""
    inside = set(region)
    inner = [cell for cell in region if set(beside(board, cell)) <= inside]
    return any(two not in beside(board, one) for one, two in combinations(inner, 2))


def sure_owners(board: np.ndarray) -> np.ndarray:
    """[rows, columns]: +1 where the first player's unconditional life reaches, −1 where the second's does, else 0."""
    return living(board, 1).astype(np.int8) - living(board, 2).astype(np.int8)
