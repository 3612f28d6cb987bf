"""The commands of the Go Text Protocol, and those that GoGui, Sabaki, Lizzie and KGS added to it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from tengen import __version__
from tengen.agents.agent import opinions_of
from tengen.agents.passing import area_score, pass_in_time
from tengen.agents.thinking import think
from tengen.apps.gtp.analysis import Request, kata_line, leela_line, read_request
from tengen.apps.gtp.clock import ABSOLUTE, BYOYOMI, CANADIAN, NONE
from tengen.apps.gtp.conversation import Conversation
from tengen.apps.gtp.session import points_of
from tengen.apps.gtp.words import (
    COLOURS,
    COMMANDS,
    GtpError,
    command,
    read_file,
    read_float,
    read_player,
    read_seconds,
    read_whole,
    refused_as,
)
from tengen.apps.points import Points, points_of_go
from tengen.games import file_names, load_game, other_names
from tengen.knowledge.go_counting import counting_rules
from tengen.knowledge.groups import connected, owner_of
from tengen.records.record import plays_points
from tengen.records.sgf import read_sgf, write_sgf
from tengen.rules.board import STONES, draw, marks_of
from tengen.rules.errors import BadMove, IllegalMove, TengenError
from tengen.rules.game import Position
from tengen.search.limits import Decision

# About the engine.


@command("protocol_version", words=[0])
def protocol_version(talk: Conversation, words: list[str]) -> str:
    return "2"


@command("name", words=[0])
def name(talk: Conversation, words: list[str]) -> str:
    return "Tengen"


@command("version", words=[0])
def version(talk: Conversation, words: list[str]) -> str:
    return f"{__version__} {talk.session.agent_spec}"


@command("known_command", words=[1])
def known_command(talk: Conversation, words: list[str]) -> str:
    return "true" if words[0] in COMMANDS else "false"


@command("list_commands", words=[0])
def list_commands(talk: Conversation, words: list[str]) -> str:
    return "\n".join(sorted(COMMANDS))


@command("quit", words=[0])
def quit(talk: Conversation, words: list[str]) -> str:
    talk.is_done = True
    return ""


@command("cputime", words=[0])
def cputime(talk: Conversation, words: list[str]) -> str:
    return f"{time.process_time():.3f}"


@command("stop", words=[0])
def stop(talk: Conversation, words: list[str]) -> str:
    talk.has_moved = False
    return ""


# Which game.


@command("list_games", words=[0])
def list_games(talk: Conversation, words: list[str]) -> str:
    return "\n".join(sorted(name.capitalize() for name in [*file_names(), *other_names()]))


@command("set_game", words=[1])
def set_game(talk: Conversation, words: list[str]) -> str:
    if ".py" in words[0]:
        raise GtpError("unsupported game: a controller cannot make us run a file")
    with refused_as("unsupported game"):
        talk.session.change_game(load_game(words[0].lower()))
    talk.forget()
    return ""


@command("boardsize", "rectangular_boardsize", words=[1, 2])
def boardsize(talk: Conversation, words: list[str]) -> str:
    sizes = [read_whole(word) for word in words]
    with refused_as("unacceptable size"):
        talk.session.resize(sizes[0], sizes[-1])
    talk.forget()
    return ""


@command("query_boardsize", "gogui-rules_board_size", words=[0])
def board_size(talk: Conversation, words: list[str]) -> str:
    return str(max(talk.session.game.shape))


@command("clear_board", words=[0])
def clear_board(talk: Conversation, words: list[str]) -> str:
    talk.session.clear()
    talk.forget()
    return ""


@command("komi", words=[1])
def komi(talk: Conversation, words: list[str]) -> str:
    komi = read_float(words[0])
    with refused_as("unacceptable komi"):
        talk.session.change_komi(komi)
    return ""


@command("get_komi", words=[0])
def get_komi(talk: Conversation, words: list[str]) -> str:
    return f"{getattr(talk.session.plain.parameters, 'komi', 0):g}"


@command("kgs-rules", words=[1])
def rules(talk: Conversation, words: list[str]) -> str:
    with refused_as("unsupported rules"):
        talk.session.count_by(counting_rules(words[0]))
    return ""


# Moves.


@command("play", words=[2])
def play(talk: Conversation, words: list[str]) -> str:
    play_move(talk, read_player(words[0]), words[1])
    return ""


@command("gogui-play_sequence", "play_sequence")
def play_sequence(talk: Conversation, words: list[str]) -> str:
    if len(words) % 2:
        raise GtpError("syntax error: a colour and a vertex for each move")
    before = len(talk.session.history)
    try:
        for colour, vertex in zip(words[::2], words[1::2], strict=True):
            play_move(talk, read_player(colour), vertex)
    except TengenError:
        if played := len(talk.session.history) - before:
            talk.session.undo(played)
        raise
    return ""


def play_move(talk: Conversation, player: int, vertex: str) -> None:
    try:
        talk.session.play(player, vertex)
    except BadMove as reason:
        kind = "illegal move" if vertex.lower() == "pass" else "syntax error"
        raise GtpError(f"{kind}: {reason}") from reason
    except IllegalMove as reason:
        raise GtpError(f"illegal move: {reason}") from reason
    talk.has_moved = False


@command("undo", words=[0])
def undo(talk: Conversation, words: list[str]) -> str:
    return gg_undo(talk, ["1"])


@command("gg-undo", words=[0, 1])
def gg_undo(talk: Conversation, words: list[str]) -> str:
    count = read_whole(words[0]) if words else 1
    with refused_as("cannot undo"):
        talk.session.undo(count)
    talk.has_moved, talk.bad_moves = False, [0, 0]
    return ""


@command("genmove", words=[1])
def genmove(talk: Conversation, words: list[str]) -> str:
    return talk.move(read_player(words[0]))


@command("kgs-genmove_cleanup", words=[1])
def genmove_cleanup(talk: Conversation, words: list[str]) -> str:
    return talk.move(read_player(words[0]), goes_on=True)


@command("reg_genmove", words=[1])
def reg_genmove(talk: Conversation, words: list[str]) -> str:
    player = read_player(words[0])
    if talk.session.is_over:
        return talk.nothing_left(player)
    position = talk.session.turn_of(player)
    return talk.session.vertices.text(position, talk.choose(position).action)


# Time.


@command("time_settings", words=[3])
def time_settings(talk: Conversation, words: list[str]) -> str:
    main, overtime, stones = read_seconds(words[0]), read_seconds(words[1]), read_whole(words[2])
    if stones == 0:
        talk.clock.set(NONE if overtime > 0 else ABSOLUTE, main)
    else:
        talk.clock.set(CANADIAN, main, overtime, stones)
    return ""


@command("kgs-time_settings")
def kgs_time_settings(talk: Conversation, words: list[str]) -> str:
    system, *numbers = [word.lower() for word in words] or [""]
    wanted = {NONE: 0, ABSOLUTE: 1, CANADIAN: 3, BYOYOMI: 3}.get(system)
    if wanted is None or len(numbers) != wanted:
        raise GtpError("syntax error: none, absolute MAIN, byoyomi MAIN TIME PERIODS or canadian MAIN TIME STONES")
    main, overtime = (read_seconds(word) for word in [*numbers, "0", "0"][:2])
    talk.clock.set(system, main, overtime, read_whole(numbers[2]) if wanted == 3 else 0)
    return ""


@command("time_left", words=[3])
def time_left(talk: Conversation, words: list[str]) -> str:
    player, left, stones = read_player(words[0]), read_float(words[1]), read_whole(words[2])
    talk.clock.tell(player, max(left, 0.0), stones)
    return ""


# Handicaps.


@command("fixed_handicap", words=[1])
def fixed_handicap(talk: Conversation, words: list[str]) -> str:
    stones = read_stones(talk, words[0])
    if not 2 <= stones <= talk.session.most_stones():
        raise GtpError(f"invalid number of stones: this board takes 2 to {talk.session.most_stones()}")
    return give(talk, stones)


@command("place_free_handicap", words=[1])
def place_free_handicap(talk: Conversation, words: list[str]) -> str:
    stones, most = read_stones(talk, words[0]), talk.session.most_stones()
    if not 2 <= stones < talk.session.game.cells or not most:
        raise GtpError("invalid number of stones: at least 2, on a board of 7×7 or more")
    return give(talk, min(stones, most))


@command("set_free_handicap")
def set_free_handicap(talk: Conversation, words: list[str]) -> str:
    read_stones(talk, "2")
    if not 2 <= len(words) < talk.session.game.cells:
        raise GtpError("bad vertex list: two stones at least, and not the whole board")
    with refused_as("bad vertex list"):
        talk.session.place_handicap(points_of(talk.session, words))
    talk.forget()
    return ""


def read_stones(talk: Conversation, word: str) -> int:
    stones = read_whole(word)
    if not talk.session.takes_handicap:
        raise GtpError(f"invalid number of stones: there is no handicap in {talk.session.game.name}")
    if talk.session.history or (talk.session.position.board > 0).any():
        raise GtpError("board not empty")
    return stones


def give(talk: Conversation, stones: int) -> str:
    with refused_as("invalid number of stones"):
        cells = talk.session.give_handicap(stones)
    talk.forget()
    return " ".join(map(talk.session.vertices.point, cells))


# What is on the board, and what it is worth.


@command("showboard", words=[0])
def showboard(talk: Conversation, words: list[str]) -> str:
    position = talk.session.position
    last = position.action if plays_points(position.game) else None
    board = draw(position.board, talk.session.vertices.shown, last, position.game.pieces)
    mark = f" ({STONES[position.to_play].symbol})" if position.game.pieces == STONES else ""
    turn = "" if talk.session.is_over else f"\n{COLOURS[position.to_play]}{mark} to play"
    return f"\n{board}{turn}"


@command("list_stones", words=[1])
def list_stones(talk: Conversation, words: list[str]) -> str:
    cells = np.flatnonzero(talk.session.position.board == read_player(words[0]) + 1)
    return " ".join(talk.session.vertices.point(int(cell)) for cell in cells)


@command("final_score", words=[0])
def final_score(talk: Conversation, words: list[str]) -> str:
    position = talk.session.position
    if talk.session.counting is not None:
        return talk.session.count().result
    outcome = position.outcome
    if outcome is None and not talk.session.counts_area:
        raise GtpError("cannot score: the game is not over")
    score = area_score(position) if outcome is None else outcome.score
    if talk.session.game.scoring == "discs":  # cells that stay empty are the winner's there
        score += int(np.sign(score)) * int((position.board == 0).sum())
    return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"


@command("final_status_list", words=[1])
def final_status_list(talk: Conversation, words: list[str]) -> str:
    kinds = ("alive", "dead", "seki", "black_territory", "white_territory", "dame")
    if words[0] not in kinds:
        raise GtpError(f"syntax error: one of {', '.join(kinds)}")
    if not talk.session.counts_area:
        raise GtpError(f"cannot score: nothing is alive or dead in {talk.session.game.name}")
    found = [group for kind, group in statuses(talk) if kind == words[0]]
    return "\n".join(" ".join(map(talk.session.vertices.point, group)) for group in found)


def statuses(talk: Conversation) -> Iterator[tuple[str, list[int]]]:
    """What the chains, and the empty points once what is dead is taken off, are at the end."""
    dead, seki = talk.session.dead_and_seki()
    board = talk.session.position.board
    for chain in connected(board):
        if board.flat[chain[0]]:
            yield "dead" if dead.issuperset(chain) else "seki" if seki.issuperset(chain) else "alive", chain
    board.flat[sorted(dead)] = 0
    for region in connected(board):
        empty = [cell for cell in region if board.flat[cell] == 0 and cell not in dead]
        if empty:
            owner = owner_of(board, region)
            yield f"{COLOURS[owner - 1]}_territory" if owner else "dame", empty


@command("loadsgf", words=None)
def loadsgf(talk: Conversation, words: list[str]) -> str:
    if not words:
        raise GtpError("syntax error: loadsgf takes a file, and perhaps a move number")
    number = read_whole(words.pop()) if len(words) > 1 and words[-1].isdecimal() else 10**9
    with refused_as("cannot load file"):
        records = read_sgf(read_file(" ".join(words)), talk.session.plain, with_setup=True)
        talk.session.load(records[0], max(number - 1, 0))
    talk.forget()
    return ""


@command("printsgf", words=[0])
def printsgf(talk: Conversation, words: list[str]) -> str:
    return write_sgf(talk.session.record()).strip()


# As GoGui asks the rules of a game.


@command("gogui-rules_game_id", words=[0])
def game_id(talk: Conversation, words: list[str]) -> str:
    if (known := talk.session.game.gtp_name) is not None:
        return known
    return re.sub("[^a-z]", "", Path(talk.session.game.name).stem).capitalize()


@command("gogui-rules_board", words=[0])
def rules_board(talk: Conversation, words: list[str]) -> str:
    rows = [" ".join(marks_of(talk.session.game.pieces)[value] for value in row) for row in talk.session.position.board]
    if talk.session.vertices.coordinates.from_top:
        rows.reverse()  # for the row with the highest number is on top there
    lacking = max(talk.session.game.shape) - len(rows)
    return "\n".join([" ".join("." * talk.session.game.shape[1])] * lacking + rows)


@command("gogui-rules_legal_moves", words=[0])
def rules_legal_moves(talk: Conversation, words: list[str]) -> str:
    position = talk.session.position
    return " ".join(talk.session.vertices.text(position, action) for action in position.legal_actions)


@command("gogui-rules_side_to_move", words=[0])
def rules_side_to_move(talk: Conversation, words: list[str]) -> str:
    return COLOURS[talk.session.position.to_play]


@command("gogui-rules_final_result", words=[0])
def rules_final_result(talk: Conversation, words: list[str]) -> str:
    outcome = talk.session.position.outcome
    if outcome is None:
        return "unknown"
    return "draw" if outcome.winner is None else f"{COLOURS[outcome.winner]} wins"


# Thinking aloud.


@command("lz-analyze", "analyze")
def lz_analyze(talk: Conversation, words: list[str]) -> Iterator[str]:
    return analyze(talk, read_request(words), leela_line)


@command("kata-analyze")
def kata_analyze(talk: Conversation, words: list[str]) -> Iterator[str]:
    return analyze(talk, read_request(words), kata_line)


@command("lz-genmove_analyze", "genmove_analyze")
def lz_genmove_analyze(talk: Conversation, words: list[str]) -> Iterator[str]:
    return move_and_tell(talk, read_request(words), leela_line)


@command("kata-genmove_analyze")
def kata_genmove_analyze(talk: Conversation, words: list[str]) -> Iterator[str]:
    return move_and_tell(talk, read_request(words), kata_line)


def asked_about(talk: Conversation, request: Request) -> Position:
    """The position that an analysis is about."""
    player = talk.session.position.to_play if request.player is None else request.player
    position = talk.session.position if talk.session.is_over else talk.session.turn_of(player)
    if position.outcome is not None:
        raise GtpError("the game is over: there is nothing to think about")
    return position


def points_for(position: Position, request: Request, line: Callable[..., str]) -> Points | None:
    """Leads and owners, where a line tells them."""
    return points_of_go(position) if line is kata_line or request.ownership else None


def analyze(talk: Conversation, request: Request, line: Callable[..., str]) -> Iterator[str]:
    position, agent, vertices = asked_about(talk, request), talk.session.agent, talk.session.vertices

    def lines() -> Iterator[str]:
        points = points_for(position, request, line)
        for decision in think(agent, position, request.every, talk.interrupt):
            yield line(position, vertices, opinions_of(agent, decision)[: request.most], request, points)
        talk.interrupt.wait()  # all is said, but a controller takes the end for an answer to its next command

    return lines()


def move_and_tell(talk: Conversation, request: Request, line: Callable[..., str]) -> Iterator[str]:
    position, agent, vertices = asked_about(talk, request), talk.session.agent, talk.session.vertices

    def lines() -> Iterator[str]:
        began, decision = time.perf_counter(), Decision(position.legal_actions[0])
        points = points_for(position, request, line)
        for decision in talk.decisions(position, request.every):
            yield line(position, vertices, opinions_of(agent, decision)[: request.most], request, points)
        chosen = pass_in_time(position, agent, decision)
        talk.clock.spend(position.to_play, time.perf_counter() - began)
        yield f"play {talk.commit(position, chosen)}"

    return lines()
