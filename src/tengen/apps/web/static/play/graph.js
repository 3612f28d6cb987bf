// The chances over a game as a curve: the first player's share from below, move by move.
import { el, svg, refill } from "../dom.js";

const [WIDTH, HEIGHT, LEFT, TOP, FOOT] = [400, 150, 34, 8, 20];
const [WIDE, HIGH] = [WIDTH - LEFT - 8, HEIGHT - TOP - FOOT];

export class Graph {
  /** `onSelect(ply)` is told where somebody clicked. */
  constructor(root, { t, onSelect }) {
    Object.assign(this, { root, t, onSelect });
    this.last = 1;
    const names = { role: "slider", tabindex: 0, "aria-label": t("graph"), "aria-valuemin": 0 };
    this.drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "graph", ...names });
    this.drawing.addEventListener("pointerdown", (event) => this.pointed(event));
    this.drawing.addEventListener("pointermove", (event) => event.buttons === 1 && this.pointed(event));
    root.append(this.drawing);
  }

  pointed(event) {
    const box = this.drawing.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDTH;
    this.onSelect(Math.max(0, Math.min(this.last, Math.round(((x - LEFT) / WIDE) * this.last))));
  }

  x(ply) {
    return LEFT + (WIDE * ply) / this.last;
  }

  y(share) {
    return TOP + HIGH * (1 - share);
  }

  /** `series`: for each agent the first player's share by ply, null where it is not known; `signs` [{ply, kind}]. */
  show({ series, current, last, signs = [], text = "" }) {
    this.last = Math.max(1, last);
    const step = Math.max(1, Math.ceil(this.last / 8 / 5) * 5);
    const ticks = [];
    for (let ply = 0; ply <= this.last; ply += this.last <= 10 ? 1 : step) ticks.push(ply);
    refill(
      this.drawing,
      svg("rect", { x: LEFT, y: TOP, width: WIDE, height: HIGH, class: "graph-field" }),
      series.length === 1 && this.area(series[0]),
      [0, 0.5, 1].map((share) => this.level(share)),
      ticks.map((ply) => svg("text", { x: this.x(ply), y: HEIGHT - 8, class: "graph-label" }, ply)),
      series.map((values, index) => svg("path", { d: this.curve(values), class: `graph-curve curve-${index + 1}` })),
      svg("path", { d: `M${this.x(current)} ${TOP}V${TOP + HIGH}`, class: "graph-now" }),
      series.map((values, index) => this.dot(values, current, `curve-${index + 1}`)),
      signs.map(({ ply, kind }) => this.dot(series[0] ?? [], ply, `sign-dot ${kind}`)),
    );
    this.drawing.setAttribute("aria-valuemax", this.last);
    this.drawing.setAttribute("aria-valuenow", current);
    this.drawing.setAttribute("aria-valuetext", text);
  }

  /** A line across, with its number. */
  level(share) {
    const kind = share === 0.5 ? "graph-middle" : "graph-edge";
    return [
      svg("path", { d: `M${LEFT} ${this.y(share)}H${LEFT + WIDE}`, class: kind }),
      svg("text", { x: LEFT - 6, y: this.y(share), class: "graph-label end" }, `${100 * share}`),
    ];
  }

  dot(values, ply, kind) {
    const share = values[ply];
    if (share === null || share === undefined) return null;
    return svg("circle", { cx: this.x(ply), cy: this.y(share), r: 4, class: `graph-dot ${kind}` });
  }

  /** The known points joined; where one is not known the curve is interrupted. */
  curve(values) {
    let path = "";
    let isJoined = false;
    values.forEach((share, ply) => {
      if (share === null || share === undefined) isJoined = false;
      else {
        path += `${isJoined ? "L" : "M"}${this.x(ply).toFixed(1)} ${this.y(share).toFixed(1)}`;
        isJoined = true;
      }
    });
    return path || "M0 0";
  }

  area(values) {
    const runs = [];
    values.forEach((share, ply) => {
      if (share === null || share === undefined) return;
      const run = runs.at(-1);
      if (run?.at(-1)[0] === ply - 1) run.push([ply, share]);
      else runs.push([[ply, share]]);
    });
    const path = runs
      .filter((run) => run.length > 1)
      .map((run) => {
        const points = run.map(([ply, share]) => `${this.x(ply).toFixed(1)} ${this.y(share).toFixed(1)}`);
        const [from, to] = [run[0][0], run.at(-1)[0]].map((ply) => `${this.x(ply).toFixed(1)} ${this.y(0)}`);
        return `M${from}L${points.join("L")}L${to}Z`;
      });
    return svg("path", { d: path.join("") || "M0 0", class: "graph-area" });
  }
}

/** What a curve's colour stands for. */
export function legend(names) {
  const chip = (name, index) => el("span", { class: "chip" }, el("i", { class: `legend curve-${index + 1}` }), name);
  return el("div", { class: "row small" }, names.map(chip));
}
