// What boards and stones look like. A skin draws the board once, and one stone at a time; it knows no rules.
import { svg } from "./dom.js";

export const CELL = 40; // units of the drawing
const HALF = CELL / 2;
const RADIUS = 18.6;

/** The name that a game's spec begins with. */
export function nameOf(game) {
  return game.split(":")[0];
}

/** The skin of a game that is drawn so: what a game's class says of itself, pieces in squares if it says nothing. */
export function skinOf(drawing) {
  return { lines: wood, discs: felt, holes: frame, marks: sheet }[drawing] ?? tiles;
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

/** Gradients that stones share; ids are apart for each board of a page. */
export function definitions(id) {
  return svg(
    "defs",
    {},
    gradient("radialGradient", `${id}-first`, shaded, [
      [0, "stone-1a"],
      [0.45, "stone-1b"],
      [1, "stone-1c"],
    ]),
    gradient("radialGradient", `${id}-second`, shaded, [
      [0, "stone-2a"],
      [0.55, "stone-2b"],
      [1, "stone-2c"],
    ]),
    gradient("radialGradient", `${id}-shadow`, {}, [
      [0.62, "shade-in"],
      [1, "shade-out"],
    ]),
    gradient("radialGradient", `${id}-red`, shaded, [
      [0, "disc-1a"],
      [0.6, "disc-1b"],
      [1, "disc-1c"],
    ]),
    gradient("radialGradient", `${id}-yellow`, shaded, [
      [0, "disc-2a"],
      [0.6, "disc-2b"],
      [1, "disc-2c"],
    ]),
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

function roundStone(id, player, x, y, radius = RADIUS) {
  return svg(
    "g",
    { class: "stone" },
    svg("circle", { cx: x + 1.6, cy: y + 2.6, r: radius + 2.2, fill: `url(#${id}-shadow)`, class: "stone-shadow" }),
    svg("circle", {
      cx: x,
      cy: y,
      r: radius,
      fill: `url(#${id}-${player === 0 ? "first" : "second"})`,
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
        svg("circle", { cx: x, cy: y, r: 16.2, fill: `url(#${id}-${player === 0 ? "first" : "second"})` }),
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
