// A board that shows views and takes moves, by pointer, touch and keyboard; for every game and every page.
import { button, el, svg, refill, mayMove, toast } from "./dom.js";
import { CELL, arriving, definitions, drawPiece, fieldOf, labelsOf, nameOf, ownerAt, pieceFor, pieceOf, sideBands, skinOf, tintsOf } from "./skins.js";
import { words } from "./words.js";

const HALF = CELL / 2;
const SMALL = 26; // pixels: where cells are smaller, a finger points first and confirms with a second tap
const LAYERS = ["under", "heat", "stones", "front", "marks", "picked", "ghosts", "hover"];
let boards = 0;

/** What to say without a page's translator. */
function plain(key, values = {}) {
  return (words.en[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** The cell of a move: as the view says if it is legal there, else read off its text; null for a pass, and if neither helps. */
export function cellOf(view, move) {
  if (Object.hasOwn(view.cells, move)) return view.cells[move];
  return readsPoints(view) ? readCell(view, move, view.board) : null;
}

/** All cells that a legal move fills: mostly one. */
function cellsOf(view, move) {
  return view.fills?.[move] ?? [cellOf(view, move)];
}

/** Buttons for the legal moves that no cell stands for: a pass, and whatever else a game may have. */
export function moveButtons(view, t, onMove, attributes = {}) {
  const moves = view.legal.filter((move) => !Object.hasOwn(view.cells, move));
  const label = (move) => (["pass", "swap", "swap-pieces"].includes(move) ? t(move) : textOf(view, move));
  return moves.map((move) => button(label(move), () => onMove(move), { name: `move ${move}`, ...attributes }));
}

/** A legal move as players write it. */
export function textOf(view, move) {
  return view.texts?.[move] ?? move;
}

/** Whether a move's text is its point: then that of every legal move is. */
function readsPoints(view) {
  const moves = Object.entries(view.cells);
  return moves.every(([move, cell]) => view.origins?.[move] === undefined && readCell(view, move, view.board) === cell);
}

/** The cell of a move by its text. `board` may be ahead of the view: in connect four discs lie on others. */
function readCell(view, move, board) {
  const [rows, columns] = view.shape;
  const { across, down, hasRows } = labelsOf(view);
  const x = across.indexOf(hasRows ? move[0] : move);
  if (x < 0) return null;
  if (hasRows) {
    const y = down.indexOf(move.slice(1));
    return y < 0 ? null : y * columns + x;
  }
  for (let y = rows - 1; y >= 0; y--) if (!board[y * columns + x]) return y * columns + x;
  return null;
}

/**
 * The pieces of a line of moves that begins in a view: [{cell, value, number}], passes left out. Where a move's text is
 * not its point, no more than the first is known.
 */
export function ghostsOf(view, line, most = 12) {
  const board = [...view.board];
  const ghosts = [];
  line.slice(0, readsPoints(view) ? most : 1).forEach((move, index) => {
    const value = index ? pieceFor(view, (view.to_play + index) % 2) : arriving(view, move);
    const cell = index ? readCell(view, move, board) : cellOf(view, move);
    if (cell === null) return;
    board[cell] = value;
    for (const filled of index ? [cell] : cellsOf(view, move))
      if (!ghosts.some((ghost) => ghost.cell === filled)) ghosts.push({ cell: filled, value, number: index + 1 });
  });
  return ghosts;
}

export class Board {
  /**
   * `onMove(move)` is told a legal move; without it the board only shows. `onHover(move | null)` is told where the
   * pointer is. `t` translates, `label` names the board for screen readers, `announce` tells them what has happened.
   */
  constructor(root, { onMove = null, onHover = null, t = plain, label = null, announce = null }) {
    Object.assign(this, { root, onMove, onHover, t, label, announce });
    this.id = `board${++boards}`;
    this.view = null;
    this.extras = {};
    this.focused = null; // the cell that the keyboard is on
    this.pointed = null; // the cell that a finger pointed at first
    this.picked = null; // the cell whose stone is held, where stones move
  }

  /**
   * Shows a view. `marks` [{cell, kind: circle|square|cross|label, text, tone}], `heat` [{cell, share, tone, text,
   * detail, isBest}], `ghosts` [{cell, value, number}], `numbers` {cell: number on its stone}; `isActive` false takes
   * no moves, and a press on the board then says `whyNot`.
   */
  show(view, extras = {}) {
    const isNew = !this.view || this.view.game !== view.game || String(this.view.shape) !== String(view.shape);
    this.tints = tintsOf(view);
    const before = isNew ? null : this.view;
    if (isNew) this.build(view);
    this.view = view;
    this.extras = extras;
    this.isActive = Boolean(this.onMove) && extras.isActive !== false && view.outcome === null;
    if (!this.isActive || String(before?.moves) !== String(view.moves)) this.picked = null;
    this.drawing.classList.toggle("is-active", this.isActive);
    this.drawing.dataset.toPlay = view.to_play;
    this.showStones(before);
    this.showMarks();
    this.showPicked();
    this.decorate(extras);
    this.nameCells();
  }

  /** Changes what lies over the stones, not the position. */
  decorate({ heat = [], ghosts = [], numbers = {}, marks = [] } = {}) {
    refill(
      this.layers.heat,
      heat.map((spot) => this.heatSpot(spot)),
    );
    refill(
      this.layers.ghosts,
      ghosts.map((ghost) => this.ghost(ghost)),
      marks.map((mark) => this.mark(mark)),
      Object.entries(numbers).map(([cell, number]) => this.numberOn(Number(cell), number)),
    );
    this.drawing.classList.toggle("has-heat", heat.length > 0);
    this.hideHover();
  }

  /** The keyboard goes to the board. */
  focus() {
    this.cells?.[this.focused ?? 0]?.focus();
  }

  // Building.

  build(view) {
    const [rows, columns] = view.shape;
    this.skin = skinOf(view.drawing);
    this.field = fieldOf(this.skin);
    const { margin } = this.skin;
    this.labels = labelsOf(view);
    this.stones = Array(rows * columns).fill(null);
    this.cells = [];
    const top = this.skin.name === "frame" ? 14 : 0; // room for what falls
    const foot = this.labels.hasRows ? 0 : 14;
    const [across, down] = this.field.size(view.shape);
    const [width, height] = [across + 2 * margin, down + 2 * margin + top + foot];
    this.layers = Object.fromEntries(LAYERS.map((name) => [name, svg("g", { class: `layer-${name}` })]));
    this.layers.front.append(...(this.skin.front?.(this.id, view.shape) ?? []));
    const label = this.label ?? this.t("board");
    const names = { role: "grid", "aria-label": label, "aria-rowcount": rows, "aria-colcount": columns };
    this.grid = svg("g", names, this.hitRows(rows, columns));
    const { under, heat, stones, front, marks, picked, ghosts, hover } = this.layers;
    const upper = [marks, picked, hover, ghosts];
    const lower = this.skin.front ? [stones, front, heat] : this.skin.heatsStones ? [under, stones, heat] : [under, heat, stones];
    const order = [...lower, ...upper];
    const style = { "--ratio": String(width / height), "--columns": String(across / CELL) };
    const bands = this.skin.name === "comb" ? [] : sideBands(view); // which has drawn them under its cells
    const viewBox = [-margin, -margin - top, width, height].join(" ");
    this.drawing = svg(
      "svg",
      { viewBox, class: `board ${this.skin.name}`, style },
      definitions(this.id, view),
      svg("g", { "aria-hidden": "true" }, this.skin.base(this.id, view.shape, view), bands, this.axis(rows, columns), order),
      this.grid,
    );
    this.listen();
    this.focused = Math.floor(rows / 2) * columns + Math.floor(columns / 2);
    refill(this.root, this.drawing);
  }

  hitRows(rows, columns) {
    return [...Array(rows).keys()].map((y) =>
      svg(
        "g",
        { role: "row", "aria-rowindex": y + 1 },
        [...Array(columns).keys()].map((x) => {
          const cell = y * columns + x;
          const [tag, place] = this.field.hit(cell, columns);
          const rect = svg(tag, {
            role: "gridcell",
            ...place,
            class: "cell",
            tabindex: -1,
            dataset: { cell },
            "aria-colindex": x + 1,
          });
          this.cells.push(rect);
          return rect;
        }),
      ),
    );
  }

  axis(rows, columns) {
    const { across, down, hasRows, isTop } = this.labels;
    const edge = { wood: 9, sheet: 10, tiles: 10 }[this.skin.name] ?? 13;
    const label = ([x, y], text) => svg("text", { x, y }, text);
    const texts = across.map((text, x) => label(this.field.columnLabel(x, [rows, columns], hasRows ? edge : 20, isTop), text));
    if (hasRows) texts.push(...down.map((text, y) => label(this.field.rowLabel(y, columns, edge), text)));
    return svg("g", { class: "axis", "font-size": columns < 10 ? 4 + 0.8 * columns : columns < 17 ? 12 : 14 }, texts);
  }

  listen() {
    const cellAt = (event) => {
      const text = event.target.dataset?.cell;
      return text === undefined ? null : Number(text);
    };
    this.drawing.addEventListener("pointerdown", (event) => {
      this.pointer = event.pointerType; // a click itself does not say in every browser
    });
    this.drawing.addEventListener("click", (event) => {
      const cell = cellAt(event);
      if (cell === null) return;
      if (this.needsConfirmation(cell)) return;
      this.play(cell);
    });
    this.drawing.addEventListener("pointermove", (event) => {
      if (event.pointerType !== "touch") this.hover(cellAt(event));
    });
    this.drawing.addEventListener("pointerleave", () => this.hover(null));
    this.grid.addEventListener("keydown", (event) => this.pressed(event, cellAt(event)));
    this.grid.addEventListener("focusin", (event) => this.moveFocus(cellAt(event), false));
  }

  // What is shown.

  at(cell) {
    return this.field.middle(cell, this.view.shape[1]);
  }

  /** A piece by its number, on a cell. */
  piece(value, cell) {
    return drawPiece(this.skin, this.id, this.view, value, ...this.at(cell));
  }

  /** Whether what stands on a cell has an outline of its own; then its cell is marked, not the piece. */
  hasShape(cell) {
    return Boolean(pieceOf(this.view, this.view.board[cell])?.path);
  }

  showStones(before) {
    const { board, last, moves } = this.view;
    const isStep = before !== null && moves.length === before.moves.length + 1 && mayMove();
    this.fall = isStep && this.skin.name === "frame" ? 260 + 60 * (Math.floor(last / this.view.shape[1]) + 1) : 0;
    board.forEach((stone, cell) => {
      const old = this.stones[cell];
      if ((old?.stone ?? 0) === stone) return;
      if (!stone) {
        this.stones[cell] = null;
        if (isStep) fade(old.element);
        else old.element.remove();
        return;
      }
      const element = this.piece(stone, cell);
      this.stones[cell] = { stone, element };
      if (old && isStep && cell !== last && last !== null && !this.hasShape(cell)) turn(old.element, element, this.distance(cell, last));
      else {
        old?.element.remove();
        this.layers.stones.append(element);
        if (isStep && cell === last) this.arrive(element, cell);
      }
    });
  }

  distance(cell, other) {
    const columns = this.view.shape[1];
    const [y, x] = [Math.floor(cell / columns) - Math.floor(other / columns), (cell % columns) - (other % columns)];
    return Math.max(Math.abs(x), Math.abs(y));
  }

  /** How the stone that was just played comes onto the board: it falls, is drawn, or is set down. */
  arrive(element, cell) {
    if (this.skin.name === "frame") {
      const height = (Math.floor(cell / this.view.shape[1]) + 1) * CELL;
      const at = (share, offset, easing) => ({ transform: `translateY(${-height * share}px)`, offset, easing });
      const fall = [
        at(1, 0, "cubic-bezier(.5,0,.9,.6)"),
        at(0, 0.62, "ease-out"),
        at(0.09, 0.82, "ease-in"),
        at(0, 1, "linear"),
      ];
      element.animate(fall, this.fall);
    } else if (this.skin.name === "sheet") {
      [...element.children].forEach((path, index) =>
        path.animate(
          [
            { strokeDasharray: "1 1", strokeDashoffset: 1 },
            { strokeDasharray: "1 1", strokeDashoffset: 0 },
          ],
          { duration: 180, delay: 170 * index, fill: "backwards", easing: "ease-out" },
        ),
      );
    } else if (this.hasOrigin()) {
      const [[x, y], [fromX, fromY]] = [this.at(cell), this.at(this.view.last_origin)];
      const begin = { transform: `translate(${fromX - x}px, ${fromY - y}px)` };
      element.animate([begin, { transform: "none" }], { duration: 200, easing: "cubic-bezier(.3,0,.2,1)" });
    } else {
      const [x, y] = this.at(cell);
      element.style.transformOrigin = `${x}px ${y}px`;
      element.animate(
        [
          { transform: "scale(1.25)", opacity: 0 },
          { transform: "scale(1)", opacity: 1 },
        ],
        { duration: 160, easing: "cubic-bezier(.2,.8,.3,1)" },
      );
    }
  }

  /** What the rules say about cells: the last move, the winning row, legal and forbidden points. */
  showMarks() {
    const { view } = this;
    const parts = [];
    if (this.skin.legalDots && view.outcome === null) {
      for (const cell of Object.values(view.cells)) {
        const [cx, cy] = this.at(cell);
        parts.push(svg("circle", { cx, cy, r: 5, class: "legal-dot" }));
      }
    }
    if (isRenju(view)) {
      for (const { cell } of view.forbidden) {
        const [x, y] = this.at(cell);
        parts.push(svg("path", { d: `M${x - 6} ${y - 6}l12 12M${x + 6} ${y - 6}l-12 12`, class: "forbidden-mark" }));
      }
    }
    const hasLast = view.last !== null && view.last !== undefined;
    const isUnder = this.skin.name === "sheet" || (hasLast && this.hasShape(view.last)); // ink and pieces are marked from below
    const lastMarks = hasLast ? this.lastCells().map((cell) => this.lastMark(cell)) : [];
    const originMarks = this.hasOrigin() ? [isUnder ? this.lastCell(view.last_origin) : this.originMark(view.last_origin)] : [];
    refill(this.layers.under, isUnder && [originMarks, lastMarks]);
    if (!isUnder) parts.push(...lastMarks, ...originMarks);
    if (view.line?.length) parts.push(...this.winningLine(view.line));
    refill(this.layers.marks, parts);
    const shown = { duration: 80, delay: this.fall, fill: "backwards" }; // not before the disc that it marks is there
    if (this.fall) for (const part of parts) part.animate([{ opacity: 0 }, { opacity: 1 }], shown);
  }

  /** The cells of the last move. */
  lastCells() {
    const { last, last_fills: fills } = this.view;
    return fills?.length ? fills : [last];
  }

  lastMark(cell) {
    const [cx, cy] = this.at(cell);
    if (this.hasShape(cell)) return this.lastCell(cell);
    if (this.skin.name === "sheet") {
      const [side, half] = [CELL - 4, HALF - 2];
      return svg("rect", { x: cx - half, y: cy - half, width: side, height: side, rx: 6, class: "last-sheet" });
    }
    if (this.skin.name === "frame") return svg("circle", { cx, cy, r: 4, class: "last-disc" });
    const r = this.skin.name === "felt" ? 4 : 8;
    return svg("circle", { cx, cy, r, class: ["last-stone", this.skin.name, this.ink(this.view.board[cell])] });
  }

  /** A cell that a piece left or reached. */
  lastCell(cell) {
    const [tag, place] = this.field.hit(cell, this.view.shape[1]);
    return svg(tag, { ...place, class: "last-cell" });
  }

  /** Whether the last move came from a cell of the board. */
  hasOrigin() {
    return Number.isInteger(this.view.last_origin);
  }

  originMark(cell) {
    const [cx, cy] = this.at(cell);
    return svg("circle", { cx, cy, r: 6, class: "origin-mark" });
  }

  /** The stone that is held, and where it may go. */
  showPicked() {
    const parts = [];
    if (this.picked !== null) {
      const [cx, cy] = this.at(this.picked);
      parts.push(svg("circle", { cx, cy, r: 18.5, class: "picked-stone" }));
      for (const cell of new Set(this.movesFrom(this.picked).map((move) => this.view.cells[move]))) {
        const [x, y] = this.at(cell);
        const isTaken = this.view.board[cell] > 0;
        parts.push(svg("circle", { cx: x, cy: y, r: isTaken ? 18.5 : 7, class: isTaken ? "target-ring" : "target-dot" }));
      }
    }
    refill(this.layers.picked, parts);
  }

  winningLine(cells) {
    const points = cells.map((cell) => this.at(cell));
    const [x1, y1] = points[0];
    const [x2, y2] = points.at(-1);
    const isStraight = points.every(([x, y]) => Math.abs((x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)) < 1);
    const ringed = this.skin.name === "sheet" ? [] : points;
    const rings = ringed.map(([cx, cy]) => svg("circle", { cx, cy, r: 17.5, class: "winning-ring" }));
    return isStraight ? [...rings, svg("path", { d: `M${x1} ${y1}L${x2} ${y2}`, class: "winning-line" })] : rings;
  }

  heatSpot({ cell, share = 0, tone = 0, text = "", detail = "", isBest = false }) {
    const [x, y] = this.at(cell);
    const size = Math.sqrt(Math.min(1, share));
    const style = { "--tone": String(Math.round(tone * 100)), opacity: String(0.35 + 0.65 * size) };
    return svg(
      "g",
      { class: ["heat", isBest && "best"], dataset: { heat: cell } },
      svg("circle", { cx: x, cy: y, r: 12 + 6.6 * size, style }),
      text && svg("text", { x, y: detail ? y - 4 : y, class: "heat-text" }, text),
      detail && svg("text", { x, y: text ? y + 8 : y, class: "heat-detail" }, detail),
    );
  }

  ghost({ cell, value, number }) {
    const [x, y] = this.at(cell);
    return svg(
      "g",
      { class: "ghost" },
      this.piece(value, cell),
      number !== undefined && svg("text", { x, y, class: ["stone-number", this.ink(value)] }, number),
    );
  }

  mark({ cell, kind = "circle", text = "", tone = "accent" }) {
    const [x, y] = this.at(cell);
    const name = ["mark", `tone-${tone}`];
    if (kind === "label") return svg("text", { x, y, class: [...name, "mark-label"] }, text);
    if (kind === "cross") return svg("path", { d: `M${x - 8} ${y - 8}l16 16M${x + 8} ${y - 8}l-16 16`, class: name });
    if (kind === "square") return svg("rect", { x: x - 18, y: y - 18, width: 36, height: 36, rx: 6, class: name });
    return svg("circle", { cx: x, cy: y, r: 13, class: name });
  }

  numberOn(cell, number) {
    const [x, y] = this.at(cell);
    return svg("text", { x, y, class: ["stone-number", this.ink(this.view.board[cell])] }, number);
  }

  /** Which ink can be read on a piece, by its number: on-first is light, on-second dark. */
  ink(value) {
    if (this.skin.name === "sheet") return "on-sheet";
    const tint = this.tints[pieceOf(this.view, value)?.owner ?? -1];
    return ["white", "yellow"].includes(tint) ? "on-second" : "on-first";
  }

  /** What a screen reader calls what stands on a cell. */
  pieceName(cell) {
    const { view, t } = this;
    const piece = pieceOf(view, view.board[cell]);
    if (!piece) return t("empty");
    const owner = piece.owner === null ? "" : (view.colours?.[piece.owner] ?? "XO"[piece.owner]);
    if (!piece.name) return owner ? t(owner) : piece.symbol;
    const hasOwner = owner && piece.name.toLowerCase().startsWith(`${owner.toLowerCase()} `);
    const name = hasOwner ? piece.name.slice(owner.length + 1) : piece.name;
    return owner ? `${t(owner)} ${t(name)}` : t(name);
  }

  /** What a screen reader says of each cell. */
  nameCells() {
    const { view, t } = this;
    const columns = view.shape[1];
    const reasons = new Map((view.forbidden ?? []).map(({ cell, reason }) => [cell, reason]));
    this.cells.forEach((rect, cell) => {
      const point = this.pointName(cell, columns);
      const parts = [point, this.pieceName(cell)];
      if (reasons.has(cell)) parts.push(`${t("forbidden")}: ${t(reasons.get(cell))}`);
      if (this.lastCells().includes(cell)) parts.push(t("last move"));
      if (this.isActive) parts.push(...this.handNames(cell));
      const name = parts.join(", ");
      if (rect.getAttribute("aria-label") !== name) rect.setAttribute("aria-label", name);
      const isHere = cell === this.focused;
      if ((rect.getAttribute("tabindex") === "0") !== isHere) rect.setAttribute("tabindex", isHere ? 0 : -1);
      rect.toggleAttribute("data-start", isHere);
    });
  }

  /** What a press on a cell would do with stones that move. */
  handNames(cell) {
    const { picked, t } = this;
    if (cell === picked) return [t("picked up")];
    if (picked !== null && this.movesAt(cell).length) return [t("can go here")];
    return this.movesFrom(cell).length ? [t("can move")] : [];
  }

  pointName(cell, columns) {
    const [x, y] = [cell % columns, Math.floor(cell / columns)];
    if (this.labels.hasRows) return `${this.labels.across[x]}${this.labels.down[y]}`;
    return `${this.t("column", { name: this.labels.across[x] })}, ${this.labels.down[y]}`;
  }

  // What people do.

  /**
   * The legal moves that a press on a cell means: those of the stone that is held, or of a new one. If none has its stone
   * there, those that fill the cell, too.
   */
  movesAt(cell) {
    if (!this.view || cell === null) return [];
    const columns = this.view.shape[1];
    const isHit = this.labels.hasRows ? (at) => at === cell : (at) => at % columns === cell % columns;
    const origins = this.view.origins ?? {};
    const entries = Object.entries(this.view.cells).filter(([move]) => [undefined, this.picked].includes(origins[move]));
    const moves = entries.filter(([, at]) => isHit(at));
    const found = moves.length ? moves : Object.entries(this.view.fills ?? {}).filter(([, cells]) => cells.includes(cell));
    return found.map(([move]) => move);
  }

  /** The legal moves of the stone on a cell. */
  movesFrom(cell) {
    return Object.entries(this.view.origins ?? {})
      .filter(([, origin]) => origin === cell)
      .map(([move]) => move);
  }

  moveAt(cell) {
    return this.movesAt(cell)[0] ?? null;
  }

  play(cell) {
    if (!this.isActive) {
      if (this.onMove) this.say(this.view.outcome === null ? this.extras.whyNot : this.t("game is over"));
      return;
    }
    const moves = this.movesAt(cell);
    const held = moves.filter((move) => this.view.origins?.[move] !== undefined);
    if (held.length === 0 && cell !== this.picked && this.movesFrom(cell).length) {
      this.pick(cell);
      return;
    }
    const wasHeld = this.picked !== null;
    if (moves.length) {
      this.hideHover();
      this.chooseOf(held.length ? held : moves);
      return;
    }
    this.pick(null);
    if (!wasHeld) this.say(this.whyIllegal(cell));
  }

  /** Why no move is legal on a cell, as far as the position shows it. */
  whyIllegal(cell) {
    const { view, t } = this;
    const [, columns] = view.shape;
    const point = this.pointName(cell, columns);
    const reason = view.forbidden?.find((entry) => entry.cell === cell)?.reason;
    if (reason) return `${point}: ${t("forbidden")} (${t(reason)})`;
    if (!this.labels.hasRows) return t("column is full", { name: this.labels.across[cell % columns] });
    const moves = Object.keys(view.cells);
    if (moves.length && moves.every((move) => view.origins?.[move] !== undefined))
      return ownerAt(view, cell) === view.to_play ? t("cannot move", { point }) : t("pick first");
    if (view.board[cell]) return t("taken", { point });
    return t(this.skin.name === "felt" ? "turns nothing" : "not legal", { point });
  }

  /** Says something about the last press on the board, in place of what was said about the one before. */
  say(text) {
    this.said?.remove();
    this.said = text ? toast(text) : null;
  }

  /** Takes up the stone of a cell, or lets go of the one that is held. */
  pick(cell) {
    if (cell === this.picked) return;
    this.picked = cell;
    this.hideHover();
    this.showPicked();
    this.nameCells();
    const [count, columns] = [cell === null ? 0 : this.movesFrom(cell).length, this.view.shape[1]];
    this.announce?.(cell === null ? this.t("let go") : this.t("picked", { point: this.pointName(cell, columns), n: count }));
  }

  /** Plays the only move, or asks which: a pawn may become one of several things. */
  chooseOf(moves) {
    if (moves.length === 1) {
      this.onMove(moves[0]);
      return;
    }
    const { view, t } = this;
    const take = (move) => () => {
      dialog.close();
      if (this.view === view && this.isActive) this.onMove(move);
    };
    const choices = moves.map((move) => button(textOf(view, move), take(move), { kind: "primary", name: `choose ${move}` }));
    const cancel = button(t("cancel"), () => dialog.close());
    const dialog = el("dialog", { "aria-label": t("which move") }, el("h2", {}, t("which move")), el("div", { class: "row" }, choices, cancel));
    document.body.append(dialog);
    dialog.addEventListener("close", () => dialog.remove());
    dialog.showModal();
  }

  /** A finger on a small board points first; the second tap on the same point plays. */
  needsConfirmation(cell) {
    if (this.pointer !== "touch" || !this.isActive || this.pointed === cell || !this.labels.hasRows) {
      this.pointed = null;
      return false;
    }
    if (this.cells[cell].getBoundingClientRect().width >= SMALL || this.moveAt(cell) === null) return false;
    this.pointed = cell;
    this.hover(cell, true);
    return true;
  }

  hover(cell, isFinger = false) {
    const move = this.moveAt(cell);
    if (move === this.hovered && !isFinger) return;
    this.hovered = move;
    this.onHover?.(move);
    if (!this.isActive || move === null) {
      this.hideHover();
      return;
    }
    const aim = this.field.aim(this.view.cells[move], this.view.shape);
    const cross = isFinger && svg("path", { class: "crosshair", d: aim });
    const stones = cellsOf(this.view, move).map((filled) => this.piece(arriving(this.view, move), filled));
    refill(this.layers.hover, cross, svg("g", { class: "hovered" }, stones));
  }

  hideHover() {
    this.hovered = undefined;
    this.layers?.hover.replaceChildren();
  }

  pressed(event, cell) {
    if (cell === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const [rows, columns] = this.view.shape;
    const [y, x] = [Math.floor(cell / columns), cell % columns];
    const steps = {
      ArrowUp: [y - 1, x],
      ArrowDown: [y + 1, x],
      ArrowLeft: [y, x - 1],
      ArrowRight: [y, x + 1],
      Home: [y, 0],
      End: [y, columns - 1],
      PageUp: [0, x],
      PageDown: [rows - 1, x],
    };
    if (event.key in steps) {
      const [down, across] = steps[event.key];
      if (down >= 0 && down < rows && across >= 0 && across < columns) this.moveFocus(down * columns + across, true);
    } else if (event.key === "Enter" || event.key === " ") {
      this.play(cell);
    } else if (event.key === "Escape" && this.picked !== null) {
      this.pick(null);
    } else if (!this.labels.hasRows && this.labels.across.includes(event.key)) {
      this.play(this.labels.across.indexOf(event.key));
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  moveFocus(cell, takesFocus) {
    if (cell === null || cell === this.focused) {
      if (takesFocus) this.focus();
      return;
    }
    for (const [at, index] of [
      [this.focused, -1],
      [cell, 0],
    ])
      this.cells[at]?.setAttribute("tabindex", index);
    this.cells[this.focused]?.removeAttribute("data-start");
    this.cells[cell].setAttribute("data-start", "");
    this.focused = cell;
    if (takesFocus) this.focus();
  }
}

/** Whether forbidden points are part of the rules that a player looks for: in Renju they are. */
function isRenju(view) {
  return ["renju", "gomoku"].includes(nameOf(view.game)) && view.forbidden?.length > 0;
}

function fade(element) {
  const going = element.animate([{ opacity: 1 }, { opacity: 0 }], 180);
  going.onfinish = () => element.remove();
}

/** A disc turns over: the old side narrows to a line, the new one widens; later if it is farther from the move. */
function turn(old, fresh, distance) {
  const [narrow, wide, delay, duration] = [{ transform: "scaleX(0)" }, { transform: "scaleX(1)" }, 60 * distance, 130];
  const part = (element) => element.querySelector(".turning") ?? element;
  for (const element of [old, fresh]) {
    part(element).style.transformBox = "fill-box";
    part(element).style.transformOrigin = "center";
  }
  old.after(fresh);
  part(old).animate([wide, narrow], { duration, delay, easing: "ease-in", fill: "both" }).onfinish = () => old.remove();
  part(fresh).animate([narrow, wide], { duration, delay: delay + duration, easing: "ease-out", fill: "backwards" });
}

/** A small piece for texts: whose turn it is, who has which colour. It is the king where there is one. */
export function stoneIcon(view, player, size = 20) {
  const id = `icon${++boards}`;
  const skin = skinOf(view.drawing);
  const value = pieceFor(view, player, true);
  const box = {
    viewBox: pieceOf(view, value)?.path ? "3 2 34 35" : "0 0 40 40",
    width: size,
    height: size,
    class: `board-icon ${skin.name}`,
    "aria-hidden": "true",
  };
  return svg("svg", box, definitions(id, view), drawPiece(skin, id, view, value, HALF, HALF));
}
