"""Phantom tic-tac-toe: the belief state is what all games that sound alike have in common."""

import random

import numpy as np
import pytest

from tengen import load_game
from tengen.course.phantom import (
    CELLS,
    ROWS,
    Belief,
    all_worlds,
    answer_text,
    belief_rows,
    cell_name,
    choose_any,
    clear_value,
    count_games,
    draw_beliefs,
    has_row,
    umpire_game,
)
from tengen.rules.errors import BadParameter


def games(count, players=("belief", "random"), seed=1):
    rng = random.Random(seed)
    return [list(umpire_game(players, rng)) for _ in range(count)]


def test_the_truth_is_always_among_the_worlds():
    for game in games(100):
        for answer in game:
            for player in (0, 1):
                belief = answer.beliefs[player]
                assert belief.own == answer.marks[player]
                if not answer.end:
                    assert answer.marks[1 - player] in belief.worlds
            assert answer.after <= answer.before  # an answer never adds a world


def heard(game, player):
    """What a player has heard of a game, as far as it went."""
    told = []
    for answer in game:
        if answer.player == player:
            told.append((answer.cell, answer.is_taken))
        elif not answer.is_taken:
            told.append("moved")
    return tuple(told)


def sounding_alike(told):
    """A plain judge: the other's marks after every way to play that a player would have heard so."""
    ways = [((), ())]  # the player's marks, and the other's in the order in which they were made
    for event in told:
        following = []
        for own, theirs in ways:
            if event == "moved":
                free = [cell for cell in CELLS if cell not in own and cell not in theirs]
                following += [(own, (*theirs, cell)) for cell in free if not has_row({*theirs, cell})]
            elif event[1] == (event[0] in theirs):
                following.append((own if event[1] else (*own, event[0]), theirs))
        ways = following
    return {frozenset(theirs) for _, theirs in ways}


def test_worlds_are_what_sounds_alike():
    for players in (("random", "random"), ("belief", "random")):
        for game in games(15, players, seed=4):
            for count in range(1, len(game)):  # the end of a game tells more
                for player in (0, 1):
                    assert game[count - 1].beliefs[player].worlds == sounding_alike(heard(game[:count], player))


def test_a_player_who_hears_nothing_believes_all_places():
    belief = Belief().after_own_move(0).after_their_move().after_own_move(4).after_their_move()
    asked = {world for world in all_worlds(frozenset({0, 4}), 2) if not has_row(world)}
    assert belief.worlds == asked and len(asked) == 21


def test_rules_and_values_are_the_games():
    """Rows and cells are those of our tic-tac-toe, and open eyes see its values."""
    game = load_game("tictactoe")
    rng = np.random.default_rng(1)
    for _ in range(60):
        position, marks = game.start(), [set(), set()]
        while position.outcome is None:
            expected = clear_value(frozenset(marks[position.to_play]), frozenset(marks[1 - position.to_play]))
            if len(marks[0] | marks[1]) > 3:
                assert expected == plain_value(position)
            action = int(rng.choice(position.legal_actions))
            marks[position.to_play].add(action)
            position = position.play(action)
        assert has_row(marks[0]) == (position.outcome.winner == 0) and has_row(marks[1]) == (
            position.outcome.winner == 1
        )
    assert [cell_name(cell) for cell in CELLS] == [game.action_text(cell) for cell in range(9)]
    assert len(ROWS) == 8


def plain_value(position):
    if position.outcome is not None:
        return position.outcome.value_for(position.to_play)
    return max(-plain_value(child) for child in map(position.play, position.legal_actions))


def test_the_belief_player_beats_chance():
    counts = count_games(("belief", "random"), 200, seed=1)
    assert counts["won"] > 170 and counts["lost"] <= 5
    back = count_games(("random", "belief"), 200, seed=1)
    assert back["lost"] > 120


def test_nobody_tries_what_is_known_to_be_taken():
    belief = Belief().after_own_move(0).after_their_move().after_taken(4)
    assert belief.known() == {4} and 4 not in belief.may_try() and 0 not in belief.may_try()
    assert all(choose_any(belief, random.Random(seed)) not in (0, 4) for seed in range(20))


def test_words_and_pictures():
    (game,) = games(1, ("belief", "belief"), seed=3)
    told = [answer_text(answer) for answer in game]
    assert told[0].startswith("X tries a2: played") and "worlds of X: 1 → 1; of O, who is told no more: 9" in told[0]
    assert any("taken, try again" in line and "8 → 1" in line for line in told)
    rows = belief_rows(game[2].beliefs[0], 0)
    assert [row.split() for row in rows] == [["·", "·", "·"], ["X", "O", "·"], ["·", "·", "·"]]
    assert "8 worlds" in draw_beliefs(game).svg()


def test_bad_questions_are_refused():
    for players, count in ((("belief", "me"), 1), (("belief", "random"), 0), (("belief", "random"), 10_001)):
        with pytest.raises(BadParameter):
            count_games(players, count, seed=1)
