"""Games to play through on a page: a list, a board, a slider, the arrow keys. Plain script, nothing from elsewhere.

A game is a few hundred bytes: for each ply the action and the cells that changed, since captures and flips need rules
that the page does not have. Numbers are written to base 36, cells of a ply with `.` between and plies with `,`. A cell
and what stands on it then are one number, 3 · cell + stone, or with more kinds of pieces (pieces + 1) · cell + piece;
the cell that was played on comes first.

Whatever a record says (names, reasons) reaches the page as data, and the script shows it as text, never as HTML.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tengen.records.record import Record, result_words
from tengen.report.diagrams import CELL, DIGIT_SIZES, PITCH, draw_blank, middle
from tengen.report.shapes import is_stone
from tengen.report.steps import last_step
from tengen.rules.errors import TengenError
from tengen.rules.game import Game, Position

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
RESULTS = ("1–0", "½–½", "0–1", "?")

STYLE = """
.replay { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1.15fr); gap: 1rem; align-items: start; }
.replay > .card { padding: .9rem 1rem; min-width: 0; }
.replay .filters { display: grid; grid-template-columns: 1fr auto; gap: .5rem; margin-bottom: .6rem; }
.replay select, .replay button { font: inherit; font-size: .85rem; color: inherit; background: var(--page);
  border: 1px solid var(--edge); border-radius: 6px; padding: .35rem .5rem; min-width: 0; max-width: 100%; }
.replay button { cursor: pointer; min-width: 2.6rem; font-size: 1.05rem; line-height: 1.1; }
.replay button:hover { border-color: var(--accent); }
.replay :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.replay ol { list-style: none; margin: 0; padding: 0; max-height: 34rem; overflow-y: auto; font-size: .84rem; }
.replay li { display: grid; grid-template-columns: 2.6rem minmax(0, 1fr) 2.4rem; gap: .5rem; padding: .3rem .4rem;
  border-top: 1px solid var(--edge); cursor: pointer; border-radius: 6px; content-visibility: auto;
  contain-intrinsic-size: auto 3.2rem; }
.replay li:hover { background: var(--page); }
.replay li[aria-current] { background: color-mix(in srgb, var(--accent) 16%, transparent); }
.replay li span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; display: block; }
.replay li .number, .replay .note { color: var(--soft); font-variant-numeric: tabular-nums; }
.replay li .score { text-align: right; font-variant-numeric: tabular-nums; }
.replay .stage { min-height: 12rem; } .replay .stage svg { max-height: 70vh; }
.replay .controls { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; margin-top: .6rem; }
.replay .controls input[type=range] { flex: 1 1 9rem; min-width: 6rem; accent-color: var(--accent); }
.replay .controls label { font-size: .82rem; color: var(--soft); white-space: nowrap; }
.replay .sides { margin: 0 0 .6rem; font-size: .9rem; overflow-wrap: anywhere; }
.replay .sides b { font-weight: 600; } .replay .said { min-height: 1.5em; margin: .5rem 0 0; font-size: .85rem;
  overflow-wrap: anywhere; }
@media (max-width: 48rem) { .replay { grid-template-columns: minmax(0, 1fr); } .replay .viewer { order: -1; }
  .replay ol { max-height: 20rem; } }
@media print { .replay { display: none; } }
"""

SCRIPT = """
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("replay-data").textContent);
  const root = document.querySelector(".replay"), find = (name) => root.querySelector(name);
  const list = find("ol"), stage = find(".stage"), slider = find("input[type=range]");
  const who = find(".who"), how = find(".how"), numbered = find("input[type=checkbox]");
  const plies = (text) => text === "" ? [] : text.split(",").map(
    (ply) => ply === "" ? [] : ply.split(".").map((number) => parseInt(number, 36)));
  const fields = ["number", "board", "first", "second", "result", "words", "opening", "moves", "changes", "micros",
    "texts"];
  const games = data.games.map((row) => Object.fromEntries(fields.map((name, i) => [name, row[i]])));
  let game = null, ply = 0, pieces = null, svg = null;

  const element = (tag, name, text) => {
    const made = document.createElement(tag);
    made.className = name;
    made.textContent = text;
    return made;
  };

  const isShown = (one) => {
    const player = who.value, result = how.value;
    if (player !== "" && one.first !== +player && one.second !== +player) return false;
    if (result === "") return true;
    if (result === "odd") return one.result === 3 || data.odd.includes(one.number);
    if (player === "" || result === "1") return one.result === +result;
    return one.result === (one.first === +player ? +result : 2 - result);
  };

  const fillList = () => {
    const shown = games.filter(isShown);
    list.replaceChildren(...shown.map((one) => {
      const item = document.createElement("li"), names = document.createElement("div");
      for (const player of [one.first, one.second]) names.append(element("span", "", data.players[player]));
      item.append(element("div", "number", one.number), names, element("div", "score", data.results[one.result]));
      item.title = one.words;
      item.dataset.number = one.number;
      item.tabIndex = 0;
      return item;
    }));
    find(".count").textContent = `${shown.length} of ${games.length} games`;
    markCurrent(false);
  };

  const markCurrent = (scrolls) => {
    for (const item of list.children) {
      const isCurrent = game !== null && +item.dataset.number === game.number;
      item.toggleAttribute("aria-current", isCurrent);
      if (!isCurrent || !scrolls) continue;
      const above = item.offsetTop - list.offsetTop, below = above + item.offsetHeight;
      if (above < list.scrollTop) list.scrollTop = above;
      if (below > list.scrollTop + list.clientHeight) list.scrollTop = below - list.clientHeight;
    }
  };

  const open = (one, at) => {
    game = one;
    game.steps ??= plies(game.changes);
    game.actions ??= plies(game.moves).map((action) => action[0]);
    const template = document.getElementById("board-" + game.board).content.cloneNode(true);
    svg = template.querySelector("svg");
    pieces = document.createElementNS("http://www.w3.org/2000/svg", "g");
    svg.append(pieces);
    stage.replaceChildren(svg);
    slider.max = game.steps.length;
    const board = data.boards[game.board], sides = find(".sides");
    sides.replaceChildren();
    [game.first, game.second].forEach((player, i) => {
      if (i) sides.append(document.createElement("br"));
      sides.append(`${board.players[i]}: `, element("b", "", data.players[player]));
    });
    find(".ending").textContent = `Game ${game.number}: ${game.words}`;
    markCurrent(true);
    show(at);
  };

  const show = (at) => {
    ply = Math.max(0, Math.min(at, game.steps.length));
    const board = data.boards[game.board], values = board.owners.length, stones = new Map(), numbers = new Map();
    let trail = [];
    const change = (codes, number) => {
      const reached = codes.length ? [Math.floor(codes[0] / values), board.owners[codes[0] % values]] : [];
      trail = [];
      codes.forEach((code, i) => {
        const cell = Math.floor(code / values), stone = code % values;
        if (i > 0 && !stone && board.owners[stones.get(cell)] === reached[1]) trail.push(cell);
        if (stone) stones.set(cell, stone); else stones.delete(cell);
        if (i === 0 && stone && number) numbers.set(cell, number);
      });
      if (trail.length || board.lit.includes(stones.get(reached[0]))) trail.push(reached[0]);
    };
    plies(board.start).forEach((codes) => change(codes, 0));
    game.steps.slice(0, ply).forEach((codes, i) => change(codes, i + 1));
    const put = (element, cell) => {
      const column = cell % board.columns, row = Math.floor(cell / board.columns), [right, down] = board.down;
      const x = board.origin[0] + column * data.cell + row * right, y = board.origin[1] + row * down;
      element.setAttribute("transform", `translate(${x} ${y})`);
      return element;
    };
    const light = ply ? svg.querySelector("[data-trail]") : null;
    const lit = light ? trail.map((cell) => put(light.cloneNode(true), cell)) : [];
    pieces.replaceChildren(...lit, ...[...stones].map(([cell, stone]) => {
      const number = numbers.get(cell) ?? 0, isLast = number > 0 && number === ply;
      const piece = svg.querySelector(`[data-piece="${stone}${isLast ? "+" : ""}"]`).cloneNode(true);
      const text = piece.querySelector("text");
      if (numbered.checked && number) {
        text.textContent = number;
        if (text.hasAttribute("font-size")) text.setAttribute("font-size", data.sizes[String(number).length - 1] ?? 10);
      } else text.remove();
      return put(piece, cell);
    }));
    slider.value = ply;
    find(".said").textContent = say(board);
    try { history.replaceState(null, "", `#game-${game.number}-${ply}`); } catch { /* no address to keep it in */ }
  };

  const say = (board) => {
    const parts = [`${ply} of ${game.steps.length}`];
    if (ply > 0) {
      const micros = game.micros[ply - 1 - game.opening];
      parts.push(game.texts?.[ply - 1] ?? board.texts[game.actions[ply - 1]]);
      if (ply <= game.opening) parts.push("given as opening");
      else if (micros != null) parts.push(time(micros / 1e6));
    }
    return "Move " + parts.join(" · ");
  };

  const time = (seconds) => seconds >= 1 ? `${+seconds.toPrecision(3)} s` : `${+(1000 * seconds).toPrecision(3)} ms`;

  const another = (by) => {
    const shown = games.filter(isShown), at = shown.indexOf(game) + by;
    if (shown[at]) open(shown[at], shown[at].steps?.length ?? Infinity);
  };

  const moves = {ArrowLeft: () => show(ply - 1), ArrowRight: () => show(ply + 1)};
  const inside = {Home: () => show(0), End: () => show(Infinity), ArrowUp: () => another(-1),
    ArrowDown: () => another(1)};
  document.addEventListener("keydown", (event) => {
    if (game === null || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.matches("select, input[type=range]")) return;
    if (event.key === "Enter" && event.target.matches(".replay li")) return event.target.click();
    const act = moves[event.key] ?? (root.contains(event.target) ? inside[event.key] : undefined);
    if (act) { event.preventDefault(); act(); }
  });
  const buttons = {first: () => show(0), back: () => show(ply - 1), next: () => show(ply + 1),
    last: () => show(Infinity)};
  for (const [name, act] of Object.entries(buttons)) find(`[data-go=${name}]`).addEventListener("click", act);
  slider.addEventListener("input", () => show(+slider.value));
  numbered.addEventListener("change", () => show(ply));
  list.addEventListener("click", (event) => {
    const item = event.target.closest("li");
    if (item) open(games.find((one) => one.number === +item.dataset.number), Infinity);
  });
  for (const filter of [who, how]) filter.addEventListener("change", fillList);
  data.players.forEach((name, i) => who.append(new Option(name, i)));

  const go = () => {
    const asked = /^#game-(\\d+)(?:-(\\d+))?$/.exec(location.hash);
    const wanted = asked && games.find((one) => one.number === +asked[1]);
    if (wanted) open(wanted, asked[2] === undefined ? Infinity : +asked[2]);
    return Boolean(wanted);
  };
  addEventListener("hashchange", go);
  fillList();
  if (!go() && games.length) open(games[0], Infinity);
})();
"""

BODY = """<div class="replay">
<div class="card"><div class="filters"><select class="who" aria-label="Player"><option value="">All players</option>\
</select><select class="how" aria-label="Result"><option value="">All results</option><option value="0">Won</option>\
<option value="1">Drawn</option><option value="2">Lost</option><option value="odd">Ended early</option></select></div>
<p class="note count"></p><ol></ol></div>
<div class="card viewer"><p class="sides"></p><div class="stage"></div>
<div class="controls"><button data-go="first" aria-label="First position" title="First position">«</button>\
<button data-go="back" aria-label="Back" title="Back (←)">‹</button>\
<button data-go="next" aria-label="Next" title="Next (→)">›</button>\
<button data-go="last" aria-label="Last position" title="Last position">»</button>\
<input type="range" min="0" value="0" aria-label="Move"><label><input type="checkbox"> numbers</label></div>
<p class="said" aria-live="polite"></p><p class="note ending"></p></div>
</div>
<noscript><p class="note">Games are played through by a script, which this browser does not run.</p></noscript>
"""


class ReplayData(NamedTuple):
    """A game as the page holds it."""

    number: int  # of the record, from 1 on
    record: Record
    actions: str
    changes: str


def make_replay(number: int, record: Record) -> ReplayData:
    """The game ply by ply; raises TengenError if a move is illegal."""
    changes = [changed_cells(before, after) for before, after in pairwise(record.positions())]
    return ReplayData(number, record, encode([[action] for action in record.moves]), encode(changes))


def changed_cells(before: Position, after: Position) -> list[int]:
    """The cells that a move changed, each with what stands on it now, as one number; that of the new piece first."""
    board, own = after.board.ravel(), after.owners.ravel() == before.to_play + 1
    cells = np.flatnonzero(board != before.board.ravel()).tolist()
    played = last_step(after).cell
    cells.sort(key=lambda cell: (cell != played, not own[cell], cell))
    return codes_of(after.game, board, cells)


def codes_of(game: Game, board: np.ndarray, cells: Sequence[int]) -> list[int]:
    """Cells, each with what stands on it, as numbers."""
    values = len(game.pieces) + 1
    return [values * cell + int(board[cell]) for cell in cells]


def encode(plies: Sequence[Sequence[int]]) -> str:
    return ",".join(".".join(base36(number) for number in ply) for ply in plies)


def base36(number: int) -> str:
    text = DIGITS[number % 36]
    while number := number // 36:
        text = DIGITS[number % 36] + text
    return text


def draw_replays(replays: Sequence[ReplayData]) -> str:
    """The games as HTML with its script; nothing if there are none. A page holds one such list."""
    if not replays:
        return ""
    games = list(dict.fromkeys(replay.record.game for replay in replays))
    templates = "".join(f'<template id="board-{i}">{draw_blank(game)}</template>\n' for i, game in enumerate(games))
    data = json.dumps(replay_data(replays, games), ensure_ascii=False, separators=(",", ":"))
    held = f'<script type="application/json" id="replay-data">{harmless(data)}</script>'
    return f"{BODY}{templates}{held}\n<script>{SCRIPT}</script>\n"


def harmless(data: str) -> str:
    """JSON in which nothing ends a script or begins a comment; `<` can stand in its strings alone."""
    for letter in "<>&\u2028\u2029":
        data = data.replace(letter, f"\\u{ord(letter):04x}")
    return data


def replay_data(replays: Sequence[ReplayData], games: list[Game]) -> dict[str, Any]:
    """What the script reads."""
    players = list(dict.fromkeys(name for replay in replays for name in replay.record.players))
    actions: dict[Game, set[int]] = {game: set() for game in games}
    for replay in replays:
        actions[replay.record.game].update(replay.record.moves)
    return {
        "cell": CELL,
        "sizes": list(DIGIT_SIZES.values()),
        "results": RESULTS,
        "players": [name or "unknown" for name in players],
        "odd": [replay.number for replay in replays if replay.record.ending],
        "boards": [
            {
                "columns": game.shape[1],
                **places_of(game),
                "owners": [0, *(0 if piece.owner is None else piece.owner + 1 for piece in game.pieces)],
                "lit": [value for value, piece in enumerate(game.pieces, 1) if not is_stone(piece)],
                "players": game.players,
                "start": encode([stones_of(game)]),
                "texts": {str(action): game.action_text(action) for action in sorted(actions[game])},
            }
            for game in games
        ],
        "games": [_row(replay, games, players) for replay in replays],
    }


def places_of(game: Game) -> dict[str, list[float]]:
    """Where the first cell is drawn, and how far to the right and below each next row begins."""
    down: list[float] = [CELL / 2, round(PITCH, 3)] if game.drawing == "hexagons" else [0, CELL]
    return {"origin": list(middle(game, 0)), "down": down}


def stones_of(game: Game) -> list[int]:
    """The pieces that a game begins with."""
    board = game.start().board.ravel()
    return codes_of(game, board, np.flatnonzero(board).tolist())


def texts_of(record: Record) -> list[str] | None:
    """The moves as players write them, where that depends on the position; None where it does not."""
    if not hasattr(record.game.parameters, "move_text"):
        return None
    return [before.move_text(move) for before, move in zip(record.positions(), record.moves, strict=False)]


def _row(replay: ReplayData, games: list[Game], players: list[str]) -> list[Any]:
    record = replay.record
    outcome = record.outcome
    return [
        replay.number,
        games.index(record.game),
        players.index(record.players[0]),
        players.index(record.players[1]),
        3 if outcome is None else 1 - outcome.value_for(0),
        result_words(record)[:300],
        record.opening,
        replay.actions,
        replay.changes,
        [round(1e6 * seconds) if math.isfinite(seconds) else None for seconds in record.seconds],
        *filter(None, [texts_of(record)]),
    ]


def choose_replays(records: Sequence[Record], most: int) -> tuple[list[ReplayData], dict[int, str]]:
    """At most so many games to play through, in order; and why each of the others is not among them, by its number.

    Games that ended early come first, then of every pair the first game, the second, and so on.
    """
    made: list[ReplayData] = []
    left_out: dict[int, str] = {}
    for number in _by_interest(records):
        if len(made) >= most:
            left_out[number] = f"only {most:,} games have boards"
            continue
        try:
            made.append(make_replay(number, records[number - 1]))
        except TengenError as reason:
            left_out[number] = f"cannot be played through: {reason}"
    return sorted(made), dict(sorted(left_out.items()))


def _by_interest(records: Sequence[Record]) -> Iterator[int]:
    """The numbers of all games, those that are shown at any rate first."""
    ranks: list[tuple[bool, int, int]] = []
    seen: dict[frozenset[str], int] = {}
    for number, record in enumerate(records, 1):
        pair = frozenset(record.players)
        seen[pair] = seen.get(pair, 0) + 1
        ranks.append((not record.ending, seen[pair], number))
    return (number for _, _, number in sorted(ranks))


def ranges_text(numbers: Sequence[int]) -> str:
    """Rising numbers in few characters: 3, 7–12."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return escape(", ".join("–".join(map(str, run)) for run in runs))
