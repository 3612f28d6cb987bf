"""The positions of a run as a table, for other people's programs: a Parquet file, a row a position."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tengen.games import load_game
from tengen.learn.replay import make_batch, places_of
from tengen.learn.run import game_of_run, newest_games
from tengen.learn.selfplay import Games
from tengen.nets.metadata import is_file
from tengen.rules.errors import TengenError
from tengen.rules.game import Game

COLUMNS = ("generation", "game", "ply", "to_play", "action", "value", "policy", "planes")
PART = 4096  # positions that are made ready at a time


def export_positions(folder: Path, out: Path, named: str = "") -> int:
    """Writes all positions that a run learns from at the moment, but for random moves; returns how many.

    A run may name a file as its game, which is not run on its word: whoever trusts it names the file, too.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as reason:
        raise TengenError("a Parquet file needs pyarrow: pip install 'tengen[parquet]'") from reason
    game, count = trusted_game(folder, named), 0
    kinds = [pyarrow.int32(), pyarrow.int32(), pyarrow.int16(), pyarrow.int8(), pyarrow.int32(), pyarrow.float32()]
    kinds += [pyarrow.list_(pyarrow.float32(), size) for size in (game.actions, len(game.planes) * game.cells)]
    about = {"game": game.spec, "planes": "\n".join(game.planes), "shape": f"{game.shape[0]}x{game.shape[1]}"}
    schema = pyarrow.schema(list(zip(COLUMNS, kinds, strict=True)), metadata=about)
    part = out.with_name(f".{out.name}.part")
    try:
        with pyarrow.parquet.ParquetWriter(part, schema, compression="zstd") as writer:
            for rows in positions_of(folder, game):
                columns = [
                    pyarrow.array(list(column) if column.ndim > 1 else column, kind)
                    for column, kind in zip(rows.values(), kinds, strict=True)
                ]
                writer.write_table(pyarrow.table(columns, schema=schema))
                count += len(rows["ply"])
        part.replace(out)
    except OSError as reason:
        raise TengenError(f"{out} cannot be written: {reason.strerror or reason}") from reason
    finally:
        part.unlink(missing_ok=True)
    return count


def trusted_game(folder: Path, named: str) -> Game:
    """The game of a run. If that is a file, it has to be named by whoever asks."""
    spec = game_of_run(folder)
    if is_file(spec) and not named:
        raise TengenError(f"{folder} plays {spec}, a file, which is run only if you name it: --game {spec}")
    return load_game(named or spec)


def positions_of(folder: Path, game: Game) -> Iterator[dict[str, np.ndarray]]:
    """The columns of some positions after the other: each has a row's first axis, as long as the others'."""
    for generation, arrays in newest_games(folder):
        games = Games(**arrays)
        begins, _, results, numbers = places_of(games)
        useful = np.flatnonzero(games.policies.any(axis=1))
        for chosen in np.array_split(useful, -(-len(useful) // PART)) if len(useful) else []:
            planes, values, movers = shown(game, games, begins, results, chosen)
            yield {
                "generation": np.full(len(chosen), generation, np.int32),
                "game": numbers[chosen].astype(np.int32),
                "ply": (chosen - begins[chosen]).astype(np.int16),
                "to_play": movers,
                "action": games.moves[chosen].astype(np.int32),
                "value": values,
                "policy": games.policies[chosen].astype(np.float32),
                "planes": planes.reshape(len(chosen), -1),
            }


def shown(game: Game, games: Games, begins: np.ndarray, results: np.ndarray, chosen: np.ndarray) -> tuple[Any, ...]:
    """The planes of positions as they lie, how their games ended for the player to move, and who that is."""
    planes = np.zeros((len(chosen), len(game.planes), game.cells), np.float32)
    values, movers = np.zeros(len(chosen), np.float32), np.zeros(len(chosen), np.int8)
    scratch = np.zeros(planes.shape[1:], np.float32)
    turns = np.repeat(game.symmetries[:1], len(chosen), 0)
    states = game.new_states(2)
    moves = games.moves, begins, results, chosen, turns
    make_batch(game.parameters, states, scratch, *moves, game.cells, planes, values, movers)
    return planes, values, movers
