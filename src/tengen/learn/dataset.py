"""The positions of a run as a Parquet file, for other people's programs: a row a position."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tengen.games import load_game
from tengen.learn.replay import places_of, positions_at, with_all_actions
from tengen.learn.run import game_of_run, newest_games
from tengen.learn.selfplay import Games
from tengen.learn.targets import PlayedGames
from tengen.nets.metadata import is_file
from tengen.rules.errors import TengenError
from tengen.rules.game import Game

PART = 4096  # positions that are written at a time


def export_positions(
    folder: Path, out: Path, named: str = "", progress: Callable[[int], None] = lambda count: None
) -> int:
    """Writes the positions that a run learns from now, without those of random moves; returns how many there are.

    If the run's game is a file, `named` must name that file: a run's folder alone is not trusted to run code.
    `progress` is called with the number of positions written so far.
    """
    try:
        from pyarrow import parquet
    except ModuleNotFoundError as reason:
        raise TengenError("a Parquet file needs pyarrow: pip install 'tengen[parquet]'") from reason
    game, count = trusted_game(folder, named), 0
    part = out.with_name(f".{out.name}.part")
    try:
        with part.open("wb") as file, parquet.ParquetWriter(file, schema_of(game), compression="zstd") as writer:
            for table in tables_of(folder, game):
                writer.write_table(table)
                count += len(table)
                progress(count)
        part.replace(out)
    except OSError as reason:
        raise TengenError(f"{out} cannot be written: {reason.strerror or reason}") from reason
    finally:
        part.unlink(missing_ok=True)
    return count


def trusted_game(folder: Path, named: str) -> Game:
    """The game of the run in `folder`. If it is a file of rules, `named` must name that file."""
    spec = game_of_run(folder)
    if is_file(spec) and not named:
        raise TengenError(f"{folder} plays {spec}, a file, which runs only if you name it: --game {spec}")
    if named and not is_file(spec):
        raise TengenError(f"{folder} plays {spec}, which is no file: leave --game {named} out")
    return load_game(named or spec)


def schema_of(game: Game) -> Any:
    """The columns; their metadata name the game, its planes and its shape."""
    import pyarrow as arrow

    numbers = arrow.float32()
    columns = {
        "generation": arrow.int32(),
        "game": arrow.int32(),  # within its generation
        "ply": arrow.int16(),
        "to_play": arrow.int8(),
        "action": arrow.int32(),
        "value": numbers,  # how the game ended, for the player to move
        "policy": arrow.list_(numbers, game.actions),  # what the search came to
        "planes": arrow.list_(numbers, len(game.planes) * game.cells),  # what the net is shown
    }
    shape = "x".join(str(length) for length in game.shape)
    return arrow.schema(columns.items(), {"game": game.spec, "planes": "\n".join(game.planes), "shape": shape})


def tables_of(folder: Path, game: Game) -> Iterator[Any]:
    """The positions of the run in `folder`, as tables of up to PART rows."""
    import pyarrow as arrow

    schema = schema_of(game)
    for generation, arrays in newest_games(folder):
        games = Games(**arrays)
        useful = np.flatnonzero(games.policies.any(axis=1))
        for chosen in np.split(useful, range(PART, len(useful), PART)):
            columns = columns_of(game, generation, games, chosen)
            yield arrow.table(
                [arrow.array(list(column), field.type) for column, field in zip(columns, schema, strict=True)], schema
            )


def columns_of(game: Game, generation: int, games: Games, chosen: np.ndarray) -> list[np.ndarray]:
    """The values of the file's columns, in their order, for the positions `chosen`."""
    played = with_all_actions(game, PlayedGames(games.moves, games.policies, *places_of(games), None, None))
    planes, values, movers = positions_at(game, played, chosen, np.zeros(len(chosen), np.int64))
    return [
        np.full(len(chosen), generation),
        played.games[chosen],
        chosen - played.begins[chosen],
        movers,
        games.moves[chosen],
        values,
        played.policies[chosen].astype(np.float32),
        planes.reshape(len(chosen), -1),
    ]
