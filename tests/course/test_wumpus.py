"""The Wumpus world: its rules, its inference against all worlds that there are, and agents that keep their word."""

import itertools
import random
from collections import Counter
from functools import cache

import pytest

from tengen.course import wumpus
from tengen.course.wumpus import (
    ACTIONS,
    START,
    Cave,
    Explorer,
    Knowledge,
    Percept,
    World,
    compare,
    danger,
    draw_map,
    explore,
    final,
    random_world,
    route,
    squares,
)
from tengen.rules.errors import BadParameter

EMPTY = World(4, frozenset(), (3, 3), (2, 1))


def done(world, *actions):
    """The cave after some actions, and the last percept."""
    cave = Cave(world)
    percept = cave.percept()
    for action in actions:
        percept = cave.act(action)
    return cave, percept


# The rules


def test_percepts():
    world = World(4, frozenset({(2, 0)}), (1, 2), (1, 1))
    assert done(world)[1] == Percept()
    assert done(world, "forward")[1] == Percept(breeze=True)
    assert done(world, "left", "forward")[1] == Percept()
    assert done(world, "forward", "left", "forward")[1] == Percept(stench=True, glitter=True)
    assert done(world, "right", "forward")[1] == Percept(bump=True)
    assert str(Percept(stench=True, bump=True)) == "stench, bump"


def test_death_costs_a_thousand():
    cave, _ = done(World(4, frozenset({(1, 0)}), (3, 3), (2, 2)), "forward")
    assert (cave.is_dead, cave.is_over, cave.score) == (True, True, -1001)
    cave, _ = done(World(4, frozenset(), (1, 0), (2, 2)), "forward")
    assert (cave.is_dead, cave.score) == (True, -1001)


def test_gold_counts_when_it_is_carried_out():
    to_gold = ["forward", "forward", "left", "forward", "grab"]
    home = ["left", "left", "forward", "right", "forward", "forward", "climb"]
    cave, _ = done(EMPTY, *to_gold, *home)
    assert (cave.is_over, cave.is_dead, cave.score) == (True, False, 1000 - 12)
    cave, percept = done(EMPTY, *to_gold, "release")
    assert percept.glitter and cave.gold == (2, 1)
    cave, _ = done(EMPTY, "climb")
    assert (cave.is_over, cave.score) == (True, -1)
    cave, _ = done(EMPTY, "forward", "climb")
    assert not cave.is_over  # the way out is at the start


def test_the_arrow():
    """It flies to the wall, kills what it meets, costs 10, and there is one; a dead wumpus still smells."""
    world = World(4, frozenset(), (3, 0), (2, 2))
    cave, percept = done(world, "shoot")
    assert (percept.scream, cave.wumpus_lives, cave.score) == (True, False, -11)
    cave, percept = done(world, "shoot", "forward", "forward", "forward")
    assert not cave.is_dead and percept.stench
    cave, percept = done(world, "left", "shoot", "right", "shoot")
    assert (percept.scream, cave.wumpus_lives, cave.score) == (False, True, -14)


def test_an_unknown_action_is_refused():
    with pytest.raises(BadParameter, match="not an action"):
        done(EMPTY, "jump")


def test_worlds_are_drawn_as_the_rules_say():
    rng = random.Random(1)
    drawn = [random_world(rng) for _ in range(4000)]
    assert all(START not in (world.wumpus, world.gold, *world.pits) for world in drawn)
    share = sum(len(world.pits) for world in drawn) / (15 * len(drawn))
    assert share == pytest.approx(0.2, abs=0.01)
    for places in (Counter(world.wumpus for world in drawn), Counter(world.gold for world in drawn)):
        assert len(places) == 15 and min(places.values()) > 180


# Inference against all worlds


@cache
def every_world(size):
    """Each world of a size, but for where its gold is, with its weight."""
    others = squares(size)[1:]
    worlds = []
    for bits in itertools.product((False, True), repeat=len(others)):
        pits = frozenset(square for square, has_pit in zip(others, bits, strict=True) if has_pit)
        weight = 0.2 ** len(pits) * 0.8 ** (len(others) - len(pits))
        worlds += [(World(size, pits, place, others[0]), weight) for place in others]
    return worlds


def felt_in(world, square):
    """Stench and breeze of a square."""
    cave = Cave(world)
    cave.square = square
    percept = cave.percept()
    return percept.stench, percept.breeze


@cache
def judged(size, felt, cleared, wumpus_lives):
    """The chance to die on each square, over all worlds that agree with everything felt: no cleverness at all."""
    total, deadly = 0.0, dict.fromkeys(squares(size), 0.0)
    for world, weight in every_world(size):
        visited = [square for square, _ in felt]
        if any(square in world.pits or (world.wumpus == square and wumpus_lives) for square in visited):
            continue
        if wumpus_lives and world.wumpus in cleared:
            continue
        if all(felt_in(world, square) == percept for square, percept in felt):
            total += weight
            for square in deadly:
                if square in world.pits or (wumpus_lives and square == world.wumpus):
                    deadly[square] += weight
    return {square: weight / total for square, weight in deadly.items()}


def judge_of(knows):
    felt = tuple(sorted((at, (knows.stenches[at], knows.breezes[at])) for at in knows.visited))
    return judged(knows.size, felt, frozenset(knows.cleared), knows.wumpus_lives)


class Checked(Explorer):
    """An explorer whose every plan is judged by all worlds that agree with what it felt."""

    dared = 0

    def next_plan(self):
        truth = judge_of(self.knows)
        for square, risk in self.knows.risks().items():
            assert danger(risk) == pytest.approx(truth[square], abs=1e-9), (square, self.knows)
        frontier = self.knows.frontier()
        proven = [square for square in frontier if truth[square] == 0]
        assert self.knows.safe() == proven  # nothing that is safe is missed, nothing else is called safe
        plan = list(super().next_plan())
        assert not (self.is_daring and proven)
        Checked.dared += self.is_daring
        return plan


def test_on_every_world_of_three_by_three_nobody_dies_while_a_proof_of_safety_exists():
    """All 2048 worlds, gold in three places: chances and proofs are those of exhaustive inference at every decision,
    and even an explorer that dares anything enters what is not proven only where nothing is.
    """
    Checked.dared = deaths = 0
    for world, _ in every_world(3):
        for gold in ((2, 2), (1, 0), (0, 2)):
            agent = Checked(3, nerve=1.0)
            cave = final(World(3, world.pits, world.wumpus, gold), agent)
            assert not cave.is_dead or agent.is_daring
            deaths += cave.is_dead
            careful = final(World(3, world.pits, world.wumpus, gold), Explorer(3))
            assert not careful.is_dead
    assert Checked.dared > 1000 and deaths > 500  # it was put to the test


@pytest.mark.long
def test_on_worlds_of_four_by_four_it_is_the_same():
    """Every decision in random worlds, against all 491,520 there are."""
    rng = random.Random(3)
    for _ in range(6):
        world = random_world(rng)
        agent = Checked(4, nerve=0.4)
        cave = final(world, agent)
        assert not cave.is_dead or agent.is_daring


def test_the_books_example():
    """Breezes on both sides of the start: Russell and Norvig work out 0.31 for the far squares, 0.86 between them."""
    knows = Knowledge(4)
    knows.feel((0, 0), Percept())
    knows.feel((1, 0), Percept(breeze=True))
    knows.feel((0, 1), Percept(breeze=True))
    risks = {square: pit for square, (pit, _) in knows.risks().items()}
    assert risks[0, 2] == pytest.approx(0.31, abs=0.005) == risks[2, 0]
    assert risks[1, 1] == pytest.approx(0.86, abs=0.005)
    assert risks[3, 3] == pytest.approx(0.2)


def test_the_wumpus_is_found_by_elimination():
    """No stench at (1, 1)'s other neighbours leaves one place; after the shot all is known of it."""
    knows = Knowledge(4)
    knows.feel((0, 0), Percept())
    knows.feel((1, 0), Percept())
    knows.feel((0, 1), Percept(stench=True))
    assert knows.wumpus_places() == [(0, 2)]
    assert knows.safe() == [(1, 1), (2, 0)]
    knows.learn_of_arrow([(0, 2), (0, 3)], scream=True)
    assert knows.safe() == [(0, 2), (1, 1), (2, 0)]


def test_a_missed_shot_clears_its_line():
    knows = Knowledge(4)
    knows.feel((0, 0), Percept(stench=True))
    assert knows.wumpus_places() == [(1, 0), (0, 1)]
    knows.learn_of_arrow([(1, 0), (2, 0), (3, 0)], scream=False)
    assert knows.wumpus_places() == [(0, 1)]
    assert knows.safe() == [(1, 0)]


# Agents


def test_routes_are_the_shortest():
    ways = frozenset({(0, 0), (1, 0), (2, 0), (2, 1)})
    assert route((0, 0), 0, frozenset({(2, 1)}), ways) == ("forward", "forward", "left", "forward")
    assert route((0, 0), 0, frozenset({(0, 0)}), ways, 2) in [("left", "left"), ("right", "right")]
    assert route((0, 0), 0, frozenset({(3, 3)}), ways) is None


def test_the_explorer_knows_where_it_is():
    rng = random.Random(9)
    for _ in range(50):
        agent = Explorer(4, nerve=0.5)
        for cave, action, percept in explore(random_world(rng), agent):
            assert action in ("", *ACTIONS)
            assert not percept.bump
            assert (agent.square, agent.heading) == (cave.square, cave.heading)
            assert agent.has_arrow == cave.has_arrow
            if not cave.is_over:
                assert agent.has_gold == (cave.gold is None)


def test_it_shoots_when_only_the_wumpus_bars_the_way():
    world = World(4, frozenset({(3, 3)}), (1, 0), (3, 0))
    cave = final(world, Explorer(4))
    assert (cave.wumpus_lives, cave.is_dead) == (False, False)
    assert cave.score > 900


def test_reasoning_beats_recklessness_and_chance():
    found = {each.name: each for each in compare(600, seed=5)}
    best, careful = found["reasoning"], found["reasoning, never daring"]
    for worse in (found["reckless"], found["random"]):
        assert min(best.mean - best.error, careful.mean - careful.error) > worse.mean + worse.error
    assert careful.deaths == 0
    assert found["reckless"].deaths > 0.6
    assert all(each.worlds == 600 for each in found.values())


def test_the_map():
    """A breeze is one of two pits, 0.2 / 0.36 each; without a stench the wumpus is far. The truth beside it."""
    agent = Explorer(2)
    agent.act(Percept(breeze=True))
    assert draw_map(agent).splitlines()[1:3] == ["│ 56%    │ 100%   │", "│ ▶ b    │ 56%    │"]
    truth = World(2, frozenset({(1, 1)}), (1, 1), (0, 1))
    assert "[PW]" in draw_map(agent, truth) and "[G]" in draw_map(agent, truth)


def test_bounds():
    with pytest.raises(BadParameter, match="2 to 8"):
        compare(1, size=9)
    with pytest.raises(BadParameter, match="between 0 and 1"):
        compare(1, pit_chance=2)
    assert wumpus.final(random_world(random.Random(1)), wumpus.Aimless(3)).actions <= wumpus.LONGEST
