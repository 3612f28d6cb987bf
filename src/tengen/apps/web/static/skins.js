// What boards and pieces look like. A skin draws the board once, and one stone at a time; it knows no rules.
import { svg } from "./dom.js";

export const CELL = 40; // units of the drawing
const HALF = CELL / 2;
const RADIUS = 18.6;
const SPAN = CELL / Math.sqrt(3); // of a hexagon that is one cell wide: from its middle to its corners
const PITCH = 1.5 * SPAN; // from one row of hexagons to the next
const STONES = [
  { symbol: "X", owner: 0, name: "", path: null },
  { symbol: "O", owner: 1, name: "", path: null },
];

/** The name that a game's spec begins with. */
export function nameOf(game) {
  return game.split(":")[0];
}

/** The skin of a game that is drawn so: what a game's class says of itself, pieces in squares if it says nothing. */
export function skinOf(drawing) {
  return { lines: wood, discs: felt, holes: frame, marks: sheet, hexagons: comb }[drawing] ?? tiles;
}

// Pieces. A board has numbers: 0 is an empty cell, 1 the first of the view's pieces, and so on.

/** The piece that a number of a view's board stands for; null for an empty cell. */
export function pieceOf(view, value) {
  return value ? ((view.pieces ?? STONES)[value - 1] ?? null) : null;
}

/** Whose piece stands on a cell: 0 or 1, null if it is nobody's or there is none. */
export function ownerAt(view, cell) {
  return pieceOf(view, view.board[cell])?.owner ?? null;
}

/** The number of a player's first piece; of the king, if there is one, where one piece stands for all. */
export function pieceFor(view, player, wantsKing = false) {
  const pieces = view.pieces ?? STONES;
  const own = pieces.filter((piece) => piece.owner === player);
  const chosen = (wantsKing && own.find((piece) => piece.shape === "king")) || own[0];
  return chosen ? pieces.indexOf(chosen) + 1 : player + 1;
}

/** Which number stands on the cell of a legal move afterwards. */
export function arriving(view, move) {
  const origin = view.origins?.[move];
  return view.arrives?.[move] ?? (origin === undefined ? pieceFor(view, view.to_play) : view.board[origin]);
}

/** The colours of both players' pieces. */
export function tintsOf(view) {
  return view.drawing === "holes" ? ["red", "yellow"] : (view.tints ?? ["black", "white"]);
}

/** A piece on the board: a stone as the skin has them, or its outline in its owner's colour. */
export function drawPiece(skin, id, view, value, x, y) {
  const piece = pieceOf(view, value);
  if (!piece?.path) return skin.stone(id, piece ? piece.owner : value - 1, x, y);
  const tint = piece.owner === null ? "nobody" : tintsOf(view)[piece.owner];
  const at = `translate(${x - HALF} ${y - HALF})`;
  return svg(
    "g",
    { class: `stone piece tint-${tint}` },
    svg("path", { d: piece.path, transform: `translate(${x - HALF + 1} ${y - HALF + 1.8})`, class: "stone-shadow piece-shadow" }),
    svg("path", { d: piece.path, transform: at, class: "piece-body" }),
  );
}

// Where cells are.

/** Squares in rows and columns. */
const squares = {
  size: ([rows, columns]) => [columns * CELL, rows * CELL],
  middle: centre,
  hit: (cell, columns) => ["rect", { x: (cell % columns) * CELL, y: Math.floor(cell / columns) * CELL, width: CELL, height: CELL }],
  /** The lines that lead to a cell on which a finger is. */
  aim: (cell, [rows, columns]) => {
    const [x, y] = centre(cell, columns);
    return `M${x} 0V${rows * CELL}M0 ${y}H${columns * CELL}`;
  },
  columnLabel: (x, [rows], edge, isTop) => [x * CELL + HALF, isTop ? -edge : rows * CELL + edge],
  rowLabel: (y, columns, edge) => [-edge - 1, y * CELL + HALF],
  side(name, [rows, columns]) {
    const [width, height] = [columns * CELL, rows * CELL];
    return { top: `M0 0H${width}`, bottom: `M0 ${height}H${width}`, left: `M0 0V${height}`, right: `M${width} 0V${height}` }[name];
  },
};

/** Hexagons in a rhombus: each row begins half a cell to the right of the row above. */
const hexagons = {
  size: ([rows, columns]) => [(columns + (rows - 1) / 2) * CELL, (rows - 1) * PITCH + 2 * SPAN],
  middle: (cell, columns) => {
    const [x, y] = [cell % columns, Math.floor(cell / columns)];
    return [(x + y / 2) * CELL + HALF, SPAN + y * PITCH];
  },
  hit: (cell, columns) => ["path", { d: outline(...hexagons.middle(cell, columns)) }],
  aim: (cell, [, columns]) => outline(...hexagons.middle(cell, columns), 1.25),
  columnLabel(x, [rows, columns], edge, isTop) {
    const [across, down] = hexagons.middle(isTop ? x : (rows - 1) * columns + x, columns);
    return isTop ? [across - 17, down - 31] : [across + 17, down + 31]; // in line with the column, which leans
  },
  rowLabel(y, columns) {
    const [across, down] = hexagons.middle(y * columns, columns);
    return [across - 33, down];
  },
  side(name, [rows, columns]) {
    const cells = {
      top: [...Array(columns).keys()],
      bottom: [...Array(columns).keys()].map((x) => (rows - 1) * columns + x),
      left: [...Array(rows).keys()].map((y) => y * columns),
      right: [...Array(rows).keys()].map((y) => y * columns + columns - 1),
    }[name];
    const corners = { top: [5, 0, 1], bottom: [4, 3, 2], left: [5, 4, 3], right: [0, 1, 2] }[name];
    const points = cells.flatMap((cell) => corners.map((number) => corner(hexagons.middle(cell, columns), number)));
    if (name === "top" || name === "right") points[name === "top" ? points.length - 1 : 0] = half(columns - 1);
    else points[name === "bottom" ? 0 : points.length - 1] = half((rows - 1) * columns);
    return `M${points.join("L")}`;

    /** Where two sides share the edge of a cell: that on the upper right, or on the lower left. */
    function half(cell) {
      const [[x, y], way] = [hexagons.middle(cell, columns), cell < columns ? 1 : -1];
      return `${(x + (way * HALF) / 2).toFixed(2)} ${(y - way * 0.75 * SPAN).toFixed(2)}`;
    }
  },
};

/** A corner of a hexagon, counted clockwise from the upper one. */
function corner([x, y], number, scale = 1) {
  const across = [0, 1, 1, 0, -1, -1][number] * HALF * scale;
  const down = [-1, -0.5, 0.5, 1, 0.5, -0.5][number] * SPAN * scale;
  return `${(x + across).toFixed(2)} ${(y + down).toFixed(2)}`;
}

function outline(x, y, scale = 1) {
  return `M${[0, 1, 2, 3, 4, 5].map((number) => corner([x, y], number, scale)).join("L")}z`;
}

/** Where a skin's cells are. */
export function fieldOf(skin) {
  return skin === comb ? hexagons : squares;
}

/** The sides of the board in the colours of the players who have them. */
export function sideBands(view) {
  if (!view.sides) return [];
  const field = fieldOf(skinOf(view.drawing));
  const paths = view.sides.map((names) => names.split(" ").filter(Boolean).map((name) => field.side(name, view.shape)).join(""));
  const bands = paths.map((d, player) => svg("path", { d, class: `side-band tint-${tintsOf(view)[player]}` }));
  return [...paths.map((d) => svg("path", { d, class: "side-rim" })), ...bands];
}

/** What stands beside a board: the labels of its columns and rows; columns alone where stones fall. */
export function labelsOf({ labels, drawing, shape }) {
  const [rows, columns] = shape;
  const across = labels?.columns ?? [..."abcdefghijklmnopqrstuvwxyz"].slice(0, columns);
  const down = labels?.rows ?? [...Array(rows).keys()].map((y) => String(rows - y));
  return { across, down, hasRows: drawing !== "holes", isTop: rows > 1 && down[0] === "1" };
}

// Numbers that look like chance and are the same each time: the grain of the wood, the tremble of a pen.
function chances(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function gradient(kind, id, attributes, stops) {
  return svg(
    kind,
    { id, ...attributes },
    stops.map(([offset, colour]) => svg("stop", { offset, class: colour })),
  );
}

const shaded = { cx: 0.36, cy: 0.3, r: 0.78 };

/** A gradient of a tint: light comes from the upper left. */
function shadedIn(id, tint) {
  const middle = { black: 0.45, white: 0.55 }[tint] ?? 0.6;
  return gradient("radialGradient", id, shaded, [
    [0, `${tint}-a`],
    [middle, `${tint}-b`],
    [1, `${tint}-c`],
  ]);
}

/** Gradients that stones share; ids are apart for each board of a page. */
export function definitions(id, view = {}) {
  const [first, second] = view.tints ?? ["black", "white"];
  return svg(
    "defs",
    {},
    shadedIn(`${id}-first`, first),
    shadedIn(`${id}-second`, second),
    shadedIn(`${id}-nobody`, "nobody"),
    gradient("radialGradient", `${id}-shadow`, {}, [
      [0.62, "shade-in"],
      [1, "shade-out"],
    ]),
    shadedIn(`${id}-red`, "red"),
    shadedIn(`${id}-yellow`, "yellow"),
    gradient("linearGradient", `${id}-wood`, { x1: 0, y1: 0, x2: 1, y2: 1 }, [
      [0, "wood-a"],
      [1, "wood-b"],
    ]),
    gradient("radialGradient", `${id}-felt`, { r: 0.8 }, [
      [0, "felt-a"],
      [1, "felt-b"],
    ]),
    gradient("linearGradient", `${id}-frame`, { x1: 0, y1: 0, x2: 0, y2: 1 }, [
      [0, "frame-a"],
      [1, "frame-b"],
    ]),
  );
}

function centre(cell, columns) {
  return [(cell % columns) * CELL + HALF, Math.floor(cell / columns) * CELL + HALF];
}

function sideOf(player) {
  return player === null ? "nobody" : player === 0 ? "first" : "second";
}

function roundStone(id, player, x, y, radius = RADIUS) {
  return svg(
    "g",
    { class: "stone" },
    svg("circle", { cx: x + 1.6, cy: y + 2.6, r: radius + 2.2, fill: `url(#${id}-shadow)`, class: "stone-shadow" }),
    svg("circle", {
      cx: x,
      cy: y,
      r: radius,
      fill: `url(#${id}-${sideOf(player)})`,
      class: "stone-body",
    }),
  );
}

/** Wood and stones on the crossings: Go and Gomoku. */
const wood = {
  name: "wood",
  margin: 20,
  legalDots: false,
  base(id, [rows, columns]) {
    const [width, height, margin] = [columns * CELL, rows * CELL, 20];
    const box = { x: -margin, y: -margin, width: width + 2 * margin, height: height + 2 * margin, rx: 10 };
    const parts = [
      svg("clipPath", { id: `${id}-clip` }, svg("rect", box)),
      svg("rect", { ...box, fill: `url(#${id}-wood)` }),
      svg("g", { "clip-path": `url(#${id}-clip)`, class: "grain" }, grain(box)),
    ];
    let lines = "";
    for (let y = 0; y < rows; y++) lines += `M${HALF} ${y * CELL + HALF}H${width - HALF}`;
    for (let x = 0; x < columns; x++) lines += `M${x * CELL + HALF} ${HALF}V${height - HALF}`;
    parts.push(svg("path", { d: lines, class: "wood-lines" }));
    parts.push(svg("rect", { x: HALF, y: HALF, width: width - CELL, height: height - CELL, class: "wood-border" }));
    for (const cell of starPoints(rows, columns)) {
      const [cx, cy] = centre(cell, columns);
      parts.push(svg("circle", { cx, cy, r: 3.6, class: "wood-star" }));
    }
    return parts;
  },
  stone: (id, player, x, y) => roundStone(id, player, x, y),
};

/** Wood and stones in squares, light and dark by turns. */
const tiles = {
  ...wood,
  name: "tiles",
  heatsStones: true, // a move may end on a stone: what is thought of it lies over the stones
  base(id, [rows, columns]) {
    const [width, height, margin] = [columns * CELL, rows * CELL, 20];
    const box = { x: -margin, y: -margin, width: width + 2 * margin, height: height + 2 * margin, rx: 10 };
    let dark = "";
    for (let cell = 0; cell < rows * columns; cell++) {
      const [x, y] = [cell % columns, Math.floor(cell / columns)];
      if ((x + rows - y) % 2) dark += `M${x * CELL} ${y * CELL}h${CELL}v${CELL}h${-CELL}z`;
    }
    return [
      svg("clipPath", { id: `${id}-clip` }, svg("rect", box)),
      svg("rect", { ...box, fill: `url(#${id}-wood)` }),
      svg("g", { "clip-path": `url(#${id}-clip)`, class: "grain" }, grain(box)),
      svg("path", { d: dark, class: "tiles-dark" }),
      svg("rect", { x: 0, y: 0, width, height, class: "wood-border" }),
    ];
  },
  stone: (id, player, x, y) => roundStone(id, player, x, y, 16.4),
};

function grain({ x, y, width, height }) {
  const chance = chances(7);
  const paths = [];
  for (let at = x - 20; at < x + width + 20; at += 5 + 11 * chance()) {
    const bend = () => (chance() - 0.5) * 26;
    const third = height / 3;
    paths.push(
      svg("path", {
        d:
          `M${at.toFixed(1)} ${y}C${(at + bend()).toFixed(1)} ${(y + third).toFixed(1)} ${(at + bend()).toFixed(1)} ` +
          `${(y + 2 * third).toFixed(1)} ${(at + bend() / 2).toFixed(1)} ${y + height}`,
        "stroke-width": (0.5 + 1.6 * chance()).toFixed(2),
        "stroke-opacity": (0.05 + 0.16 * chance()).toFixed(2),
      }),
    );
  }
  return paths;
}

/** The dots that players find their way by: the centre, and the corners' and sides' points of larger boards. */
export function starPoints(rows, columns) {
  if (rows !== columns || rows < 7) return rows === columns && rows % 2 ? [(rows * columns - 1) / 2] : [];
  const edge = rows < 13 ? 2 : 3;
  const middle = (rows - 1) / 2;
  const places = rows % 2 ? [edge, middle, rows - 1 - edge] : [edge, rows - 1 - edge];
  const points = places.flatMap((y) => places.map((x) => [y, x]));
  const isSide = ([y, x]) => (y === middle) !== (x === middle);
  return points.filter((point) => rows >= 17 || !isSide(point)).map(([y, x]) => y * columns + x);
}

/** Hexagons in a rhombus, with sides that belong to the players: Hex. */
const comb = {
  ...tiles,
  name: "comb",
  margin: 28,
  base(id, [rows, columns], view) {
    const cells = [...Array(rows * columns).keys()];
    const d = cells.map((cell) => outline(...hexagons.middle(cell, columns))).join("");
    return [...sideBands(view), svg("path", { d, class: "comb-cells" })];
  },
  stone: (id, player, x, y) => roundStone(id, player, x, y, 15.2),
};

/** Green felt and discs in squares: Reversi. */
const felt = {
  name: "felt",
  margin: 26,
  legalDots: true,
  base(id, [rows, columns]) {
    const [width, height] = [columns * CELL, rows * CELL];
    let lines = "";
    for (let y = 0; y <= rows; y++) lines += `M0 ${y * CELL}H${width}`;
    for (let x = 0; x <= columns; x++) lines += `M${x * CELL} 0V${height}`;
    const corners = rows >= 6 ? [2, rows - 2].flatMap((y) => [2, columns - 2].map((x) => [x * CELL, y * CELL])) : [];
    const dots = corners.map(([cx, cy]) => svg("circle", { cx, cy, r: 3, class: "felt-dot" }));
    return [
      svg("rect", { x: -26, y: -26, width: width + 52, height: height + 52, rx: 10, class: "felt-rim" }),
      svg("rect", { x: 0, y: 0, width, height, fill: `url(#${id}-felt)` }),
      svg("path", { d: lines, class: "felt-lines" }),
      ...dots,
    ];
  },
  stone(id, player, x, y) {
    return svg(
      "g",
      { class: "stone disc" },
      svg("circle", { cx: x + 1.4, cy: y + 2.4, r: 18.4, fill: `url(#${id}-shadow)`, class: "stone-shadow" }),
      svg(
        "g",
        { class: "turning" },
        svg("circle", { cx: x, cy: y + 1.4, r: 16.2, class: player === 0 ? "disc-rim second" : "disc-rim first" }),
        svg("circle", { cx: x, cy: y, r: 16.2, fill: `url(#${id}-${sideOf(player)})` }),
      ),
    );
  },
};

/** A standing frame with columns: connect four. The discs are behind its front. */
const frame = {
  name: "frame",
  margin: 14,
  legalDots: false,
  base(id, [rows, columns]) {
    return [
      svg("rect", { x: -8, y: -8, width: columns * CELL + 16, height: rows * CELL + 16, rx: 12, class: "frame-back" }),
    ];
  },
  front(id, [rows, columns]) {
    const [width, height] = [columns * CELL, rows * CELL];
    const corner = (x, y) => `a10 10 0 0 1 ${x} ${y}`;
    let path = `M0 -10h${width}${corner(10, 10)}v${height}${corner(-10, 10)}h${-width}${corner(-10, -10)}`;
    path += `v${-height}${corner(10, -10)}z`;
    let rims = "";
    for (let cell = 0; cell < rows * columns; cell++) {
      const [x, y] = centre(cell, columns);
      path += circlePath(x, y, 16);
      rims += circlePath(x, y, 16.6);
    }
    return [
      svg("path", { d: path, fill: `url(#${id}-frame)`, "fill-rule": "evenodd" }),
      svg("path", { d: rims, class: "frame-rims" }),
    ];
  },
  stone(id, player, x, y) {
    return svg(
      "g",
      { class: "stone" },
      svg("circle", { cx: x, cy: y, r: 17, fill: `url(#${id}-${player === 0 ? "red" : "yellow"})` }),
      svg("circle", { cx: x, cy: y, r: 10.5, class: player === 0 ? "disc-ring red" : "disc-ring yellow" }),
    );
  },
};

function circlePath(x, y, r) {
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
}

/** A sheet of paper and two pens: tic-tac-toe and its larger sisters. */
const sheet = {
  name: "sheet",
  margin: 20,
  legalDots: false,
  base(id, [rows, columns]) {
    const [width, height] = [columns * CELL, rows * CELL];
    const chance = chances(11);
    const tremble = () => (chance() - 0.5) * 2.2;
    const strokes = [];
    for (let y = 1; y < rows; y++) strokes.push(wavy(3, y * CELL, width - 3, y * CELL, tremble));
    for (let x = 1; x < columns; x++) strokes.push(wavy(x * CELL, 3, x * CELL, height - 3, tremble));
    return [
      svg("rect", { x: -20, y: -20, width: width + 40, height: height + 40, rx: 8, class: "sheet-paper" }),
      svg("path", { d: strokes.join(""), class: "sheet-lines" }),
    ];
  },
  stone(id, player, x, y) {
    const chance = chances(1 + Math.round(x * 31 + y * 17));
    const tremble = () => (chance() - 0.5) * 2.4;
    const cross = () => [wavy(x - 11, y - 11, x + 11, y + 11, tremble), wavy(x + 11, y - 11, x - 11, y + 11, tremble)];
    const ring = () =>
      `M${x + 2} ${y - 13}C${x - 9} ${y - 14} ${x - 14 + tremble()} ${y - 5} ${x - 13} ${y + 2}` +
      `S${x - 2} ${y + 14} ${x + 4} ${y + 13}S${x + 15 + tremble()} ${y + 3} ${x + 13} ${y - 5}` +
      `S${x + 4} ${y - 14} ${x - 2} ${y - 12 + tremble()}`;
    const paths = player === 0 ? cross() : [ring()];
    return svg(
      "g",
      { class: ["stone", "ink", player === 0 ? "pen-1" : "pen-2"] },
      paths.map((d) => svg("path", { d, pathLength: 1 })),
    );
  },
};

function wavy(x1, y1, x2, y2, tremble) {
  const along = (share, from, to) => (from + (to - from) * share + tremble()).toFixed(1);
  return (
    `M${(x1 + tremble()).toFixed(1)} ${(y1 + tremble()).toFixed(1)}C${along(0.33, x1, x2)} ${along(0.33, y1, y2)} ` +
    `${along(0.66, x1, x2)} ${along(0.66, y1, y2)} ${(x2 + tremble()).toFixed(1)} ${(y2 + tremble()).toFixed(1)}`
  );
}
