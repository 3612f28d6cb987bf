"""The tactical positions: as they are said to be, and read by GNU Go where that is its business."""

import pytest

from tengen.agents.gtp import GtpEngine
from tengen.agents.specs import load_agent
from tengen.games import load_game
from tengen.knowledge.go_tactics import POSITIONS
from tengen.search.limits import Limit

KINDS = {"ladder", "snapback", "ko", "nakade", "eye shape", "race"}


@pytest.mark.parametrize("tactic", POSITIONS, ids=lambda tactic: f"{tactic.kind}, {tactic.title}, {tactic.to_play}")
def test_answers_are_legal_and_told_from_the_rest(tactic):
    position = tactic.position()
    game = position.game
    for move in (*tactic.answers, *tactic.wrong):
        assert game.parse_action(move) in position.legal_actions
    assert tactic.answers or tactic.wrong
    assert all(tactic.is_solved_by(move) for move in tactic.answers)
    assert not any(tactic.is_solved_by(move) for move in tactic.wrong)
    assert tactic.is_solved_by("pass") == (not tactic.answers)


def test_there_is_some_of_everything():
    assert {tactic.kind for tactic in POSITIONS} == KINDS
    assert len(POSITIONS) >= 20
    assert len({(tactic.diagram, tactic.to_play) for tactic in POSITIONS}) == len(POSITIONS)


@pytest.mark.parametrize("tactic", [one for one in POSITIONS if one.reading], ids=lambda tactic: tactic.title)
def test_gnu_go_reads_the_ladders_alike(gnugo, tactic):
    """Can the stones be taken, or saved, and how?"""
    command, _, said = tactic.reading.partition(" = ")
    board = tactic.position().board
    with GtpEngine(f"{gnugo} --mode gtp --chinese-rules") as engine:
        engine.ask("boardsize 9")
        engine.ask("clear_board")
        for stone, colour in ((1, "black"), (2, "white")):
            for y, x in zip(*(board == stone).nonzero(), strict=True):
                engine.ask(f"play {colour} {load_game('go:size=9').action_text(int(9 * y + x))}")
        answer = engine.ask(command).split()
    assert answer[0] == said
    if said == "1":
        assert answer[1].lower() in tactic.answers


@pytest.mark.long
@pytest.mark.parametrize("tactic", [one for one in POSITIONS if not one.reading], ids=lambda tactic: tactic.title)
def test_searches_agree(tactic):
    """Chance alone, with 100,000 games for each answer: it wins with these moves and loses with a pass."""
    game, position = load_game(tactic.game), tactic.position()
    for move in (*tactic.answers, "pass"):
        after = position.play(move)
        if after.outcome is None:
            value = -load_agent("uct", game).choose(after, Limit(playouts=100_000)).value
            assert (value > 0) == (move in tactic.answers), f"{move}: {value:.2f}"
