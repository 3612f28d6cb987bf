// Games played through on a board: forwards, backwards, by themselves, one after the other.
import { Board, stoneIcon } from "../board.js";
import { colourName } from "../play/session.js";
import { el, refill, mayMove } from "../dom.js";
import { icon } from "../icons.js";
import { tintsOf } from "../skins.js";

const PACE = 650; // milliseconds a move
const REST = 2200; // milliseconds after a game's end
const SIGNS = { "to start": "first", back: "back", forward: "forward", "to end": "last", "play through": "play", pause: "pause" };

export const words = {
  en: {
    "to start": "To the start", back: "A move back", "play through": "Play through", pause: "Pause", forward: "A move on", "to end": "To the end",
    "move of": "Move {ply} of {plies}", "which game": "Game", "self-play": "self-play",
    "wins by": "{name} wins by {margin}", wins: "{name} wins", "is drawn": "A draw", "no result": "No result", resigned: "resigned", "on time": "on time", forfeit: "forfeit",
  },
  zh: {
    "to start": "到开头", back: "后退一手", "play through": "播放", pause: "暂停", forward: "前进一手", "to end": "到结尾",
    "move of": "第 {ply} 手，共 {plies} 手", "which game": "棋局", "self-play": "自我对弈",
    "wins by": "{name}胜 {margin}", wins: "{name}胜", "is drawn": "和棋", "no result": "无结果", resigned: "认输", "on time": "超时", forfeit: "判负",
  },
};

/** The position after so many moves of a replay, as a board shows it. */
export function viewAt(replay, ply) {
  const { end, start, changes, moves } = replay;
  const none = { legal: [], cells: {}, origins: {}, fills: {}, forbidden: [] };
  if (ply >= moves.length) return { ...end, ...none };
  const board = Array(end.board.length).fill(0);
  const values = (end.pieces?.length ?? 2) + 1;
  const [cellOf, pieceOf] = [(code) => Math.floor(code / values), (code) => code % values];
  const ownerOf = (value) => (value ? (end.pieces?.[value - 1].owner ?? (end.pieces ? null : value - 1)) : undefined);
  const put = (code) => (board[cellOf(code)] = pieceOf(code));
  start.forEach(put);
  for (const cells of changes.slice(0, Math.max(0, ply - 1))) cells.forEach(put);
  const changed = ply ? changes[ply - 1] : [];
  const own = changed.length ? ownerOf(pieceOf(changed[0])) : undefined; // the new piece comes first
  const cellsOf = (isSo) => changed.filter((code) => isSo(board[cellOf(code)], pieceOf(code))).map(cellOf);
  const isOwn = (value) => own !== undefined && ownerOf(value) === own;
  const filled = cellsOf((before, after) => !before && isOwn(after));
  const left = cellsOf((before, after) => isOwn(before) && !isOwn(after));
  changed.forEach(put);
  return {
    ...end, ...none, board, moves: moves.slice(0, ply), to_play: replay.movers?.[ply] ?? (end.to_play + moves.length - ply) % 2,
    facts: "", last_origin: replay.origins?.[ply - 1] ?? left[0] ?? null, last_fills: filled.length > 1 && !left.length ? filled : [],
    last: changed.length && moves[ply - 1] !== "pass" ? cellOf(changed[0]) : null,
    flipped: changed.slice(1).filter(pieceOf).map(cellOf),
    captured: changed.filter((code) => !pieceOf(code)).map(cellOf),
    outcome: null, result: "?", line: [], score: null,
  };
}

/** How a game ended, in the page's language. */
export function resultWords(result, view, t) {
  if (/^(0|draw)$/i.test(result)) return t("is drawn");
  const match = /^([BW])\+(.*)$/.exec(result);
  if (!match) return t("no result");
  const name = colourName(view, match[1] === "B" ? 0 : 1, t);
  const how = { R: "resigned", T: "on time", F: "forfeit" }[match[2]];
  if (how) return `${t("wins", { name })} (${t(how)})`;
  return match[2] ? t("wins by", { name, margin: match[2] }) : t("wins", { name });
}

/** A board with its controls. `load(games)` shows games; `label(game, index)` says what a game is called. */
export class Player {
  constructor(root, { t, label, onNext = null }) {
    Object.assign(this, { t, label, onNext });
    this.games = [];
    this.index = 0;
    this.ply = 0;
    this.timer = null;
    this.isPlaying = false;
    this.isHeld = false; // whether somebody stopped it to look
    this.stage = el("div", { class: "replay-board" });
    this.board = new Board(this.stage, { t });
    this.select = el("select", { "aria-label": t("which game"), onchange: () => this.open(Number(this.select.value), 0, this.isPlaying) });
    this.slider = el("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": t("move of", { ply: 0, plies: 0 }), oninput: () => this.go(Number(this.slider.value)) });
    this.button = this.control("play through", () => (this.isPlaying ? this.hold() : this.play()), "primary");
    this.said = el("p", { class: "replay-said", "aria-live": "off" });
    this.players = el("p", { class: "replay-players" });
    this.element = el("div", { class: "replay", hidden: true },
      this.select, this.players, this.stage,
      el("div", { class: "replay-controls" },
        this.control("to start", () => this.go(0)), this.control("back", () => this.go(this.ply - 1)),
        this.button,
        this.control("forward", () => this.go(this.ply + 1)), this.control("to end", () => this.go(Infinity))),
      this.slider, this.said);
    root.append(this.element);
  }

  control(name, act, kind = "") {
    return el("button", { type: "button", class: ["button icon", kind], title: this.t(name), "aria-label": this.t(name), onclick: act },
      icon(SIGNS[name]));
  }

  end() {
    clearTimeout(this.timer);
  }

  get game() {
    return this.games[this.index];
  }

  /** Shows other games, from the first one's start; plays them if things may move and nobody has paused. */
  load(games, { plays = mayMove(), index = 0 } = {}) {
    this.games = games;
    this.isHeld = false;
    this.element.hidden = !games.length;
    if (!games.length) return this.pause();
    refill(this.select, games.map((game, i) => el("option", { value: i }, this.label(game, i))));
    this.select.hidden = games.length < 2;
    return this.open(index, plays ? 0 : Infinity, plays);
  }

  open(index, ply, plays) {
    this.index = index;
    this.select.value = index;
    const { players, end } = this.game;
    refill(this.players, players.map((name, side) => el("span", {},
      end.pieces?.some((piece) => piece.path) || tintsOf(end)[0] !== "black" ? stoneIcon(end, side, 16)
        : end.colours[0] === "Black" ? el("i", { class: `replay-side side-${side + 1}`, "aria-hidden": "true" }) : null,
      `${colourName(end, side, this.t)} `, el("b", {}, this.name(name)))));
    this.slider.max = this.game.moves.length;
    this.ply = 0;
    this.show(Math.min(ply, this.game.moves.length));
    if (plays) this.play();
    else this.pause();
  }

  name(player) {
    return player === "self-play" ? this.t("self-play") : player;
  }

  show(ply) {
    this.ply = ply;
    const { result, end } = this.game;
    const moves = this.game.shown ?? this.game.moves;
    this.board.show(viewAt(this.game, ply), { isActive: false });
    this.slider.value = ply;
    const where = this.t("move of", { ply, plies: moves.length });
    this.slider.setAttribute("aria-valuetext", ply ? `${where}: ${moves[ply - 1]}` : where);
    this.slider.setAttribute("aria-label", where);
    this.said.textContent = ply === moves.length ? `${resultWords(result, end, this.t)} · ${where}` : ply ? `${where} · ${moves[ply - 1]}` : where;
  }

  hold() {
    this.isHeld = true;
    this.pause();
  }

  /** Somebody wants to see a ply: then nothing moves by itself. */
  go(ply) {
    this.hold();
    if (this.game) this.show(Math.max(0, Math.min(this.game.moves.length, ply)));
  }

  play() {
    if (!this.game) return;
    if (this.ply >= this.game.moves.length && this.games.length === 1) this.show(0);
    this.isPlaying = true;
    this.isHeld = false;
    this.showButton();
    this.wait();
  }

  pause() {
    this.isPlaying = false;
    clearTimeout(this.timer);
    this.showButton();
  }

  showButton() {
    const name = this.isPlaying ? "pause" : "play through";
    this.button.setAttribute("aria-label", this.t(name));
    this.button.title = this.t(name);
    refill(this.button, icon(SIGNS[name]));
  }

  wait() {
    clearTimeout(this.timer);
    const isOver = this.ply >= this.game.moves.length;
    this.timer = setTimeout(() => this.tick(isOver), isOver ? REST : PACE);
  }

  tick(isOver) {
    if (!this.isPlaying || !this.element.isConnected) return;
    if (!isOver) {
      this.show(this.ply + 1);
      this.wait();
      return;
    }
    if (this.onNext?.()) return; // there is something newer to see
    if (this.games.length === 1) this.pause();
    else this.open((this.index + 1) % this.games.length, 0, true);
  }
}
