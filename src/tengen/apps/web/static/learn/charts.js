// Curves and intervals in SVG: as wide as there is room, read off by pointer or arrow keys, named for screen readers.
import { el, svg, refill } from "../dom.js";

const HEIGHT = 224;
const EDGE = { left: 48, right: 16, top: 12, bottom: 44 }; // below: numbers, and what they count
const MOST_POINTS = 600; // of a curve that are drawn: a screen shows no more
export const COLOURS = 6; // there are classes hue-1 … hue-6

/** Round numbers between two others, about `count` of them and two at least; whole ones if only these make sense. */
export function ticks(low, high, count = 4, isWhole = false) {
  if (!(high > low)) return [low];
  const rough = Math.max((high - low) / count, isWhole ? 1 : 0);
  const power = 10 ** Math.floor(Math.log10(rough));
  const factors = isWhole ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10];
  const step = factors.map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(Number((i * step).toPrecision(12)));
  return found.length > 1 || (isWhole && step === 1) ? found : ticks(low, high, 2 * count, isWhole);
}

/** Minus signs as they should be: languages write hyphens. */
export function signed(text) {
  return text.replace("-", "−");
}

/** A number in few digits, as the language writes it. */
export function short(language) {
  const formats = [0, 1, 2, 3].map((digits) => new Intl.NumberFormat(language, { maximumFractionDigits: digits }));
  const large = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
  return (value) => {
    const size = Math.abs(value);
    if (size >= 10_000) return signed(large.format(value));
    return signed(formats[size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3].format(value));
  };
}

export function percent(language) {
  const format = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 });
  return (value) => format.format(value);
}

/**
 * Curves over a common axis. `draw(lines)`: [{label, colour 1…6, points: [[x, y]], bands?: [[low, high]]}].
 * `span` are values that the vertical axis holds in any case.
 */
export class Chart {
  constructor(root, { title, across, format, formatAcross = format, span = [] }) {
    Object.assign(this, { root, title, across, format, formatAcross, span });
    this.lines = [];
    this.at = null; // the x that is read off
    this.plot = el("div", { class: "learn-plot" });
    this.legend = el("div", { class: "learn-legend", "aria-hidden": "true" });
    this.figure = el("figure", { class: "card learn-chart" }, el("figcaption", {}, el("h3", {}, title)), this.plot, this.legend);
    root.append(this.figure);
    this.width = 0;
    this.observer = new ResizeObserver(([entry]) => {
      const width = Math.round(entry.contentRect.width);
      if (width && width !== this.width) {
        this.width = width;
        this.render();
      }
    });
    this.observer.observe(this.plot);
  }

  end() {
    this.observer.disconnect();
  }

  /** Another axis: what it is called, and whether only whole numbers make sense on it. */
  setAcross(across, isWhole) {
    Object.assign(this, { across, isWhole });
  }

  /** Draws the lines; if there is nothing to draw, `note` says why, and without a note the chart is not shown. */
  draw(lines, note = "") {
    this.lines = lines.filter((line) => line.points.length);
    this.figure.hidden = !this.lines.length && !note;
    if (this.lines.length) this.render();
    else {
      refill(this.plot, note && el("p", { class: "note" }, note));
      refill(this.legend);
    }
  }

  render() {
    if (!this.width || !this.lines.length) return;
    this.scale();
    this.marker = svg("g", { class: "chart-reading" });
    this.drawing = svg("svg", {
      viewBox: `0 0 ${this.width} ${HEIGHT}`, width: this.width, height: HEIGHT, role: "img", tabindex: 0,
      "aria-label": this.summary(),
      onpointermove: (event) => this.read(this.xAt(event)), onpointerleave: () => this.read(null),
      onkeydown: (event) => this.pressed(event), onblur: () => this.read(null),
    }, this.axes(), this.lines.map((line) => this.band(line)), this.lines.map((line) => this.curve(line)), this.marker);
    const hadFocus = this.plot.contains(document.activeElement);
    refill(this.plot, this.drawing);
    if (hadFocus) this.drawing.focus({ preventScroll: true });
    this.read(this.at);
  }

  scale() {
    const xs = this.lines.flatMap((line) => line.points.map(([x]) => x));
    const ys = this.lines.flatMap((line) => [...line.points.map(([, y]) => y), ...(line.bands ?? []).flat()]);
    this.low = Math.min(...xs);
    this.high = Math.max(...xs);
    if (this.low === this.high) [this.low, this.high] = [0, 2 * this.high || 1]; // one point stands in the middle
    let [bottom, top] = [Math.min(...ys, ...this.span), Math.max(...ys, ...this.span)];
    if (Math.abs(bottom) < 1e-6 * top) bottom = 0; // a rounding error is no value below zero
    if (bottom === top) [bottom, top] = [bottom - 1, top + 1];
    const steps = ticks(bottom, top);
    const step = steps.length > 1 ? steps[1] - steps[0] : top - bottom;
    this.bottom = bottom === 0 || this.span.includes(bottom) ? bottom : Math.floor(bottom / step) * step;
    this.top = this.span.includes(top) ? top : Math.ceil(top / step) * step;
  }

  x(value) {
    return EDGE.left + ((value - this.low) / (this.high - this.low)) * (this.width - EDGE.left - EDGE.right);
  }

  y(value) {
    return HEIGHT - EDGE.bottom - ((value - this.bottom) / (this.top - this.bottom)) * (HEIGHT - EDGE.top - EDGE.bottom);
  }

  axes() {
    const right = this.width - EDGE.right;
    const floor = HEIGHT - EDGE.bottom;
    const rows = ticks(this.bottom, this.top).map((value) => [
      svg("path", { class: value === 0 ? "chart-grid is-zero" : "chart-grid", d: `M${EDGE.left} ${this.y(value)}H${right}` }),
      svg("text", { class: "chart-tick", x: EDGE.left - 8, y: this.y(value), "text-anchor": "end" }, this.format(value)),
    ]);
    const columns = ticks(this.low, this.high, Math.max(3, Math.round(this.width / 90)), this.isWhole)
      .map((value) => svg("text", { class: "chart-tick", x: this.x(value), y: floor + 16, "text-anchor": "middle" }, this.formatAcross(value)));
    const name = svg("text", { class: "chart-tick chart-across", x: right, y: HEIGHT - 8, "text-anchor": "end" }, this.across);
    return svg("g", { "aria-hidden": "true" }, rows, columns, name);
  }

  curve(line) {
    const points = thin(line.points);
    const path = points.map(([x, y], i) => `${i ? "L" : "M"}${this.x(x).toFixed(1)} ${this.y(y).toFixed(1)}`).join("");
    const [x, y] = points.at(-1);
    return svg("g", { class: ["chart-curve", `hue-${line.colour}`] },
      svg("path", { d: path, fill: "none" }),
      points.length < 40 ? points.map(([px, py]) => svg("circle", { cx: this.x(px), cy: this.y(py), r: 2.5 })) : null,
      svg("circle", { cx: this.x(x), cy: this.y(y), r: 4 }));
  }

  band(line) {
    if (!line.bands?.length) return null;
    const edge = (side) => line.points.map(([x], i) => `${this.x(x).toFixed(1)} ${this.y(line.bands[i][side]).toFixed(1)}`);
    if (line.points.length === 1) {
      const [x] = line.points[0];
      return svg("path", { class: `chart-whisker hue-${line.colour}`, d: `M${this.x(x)} ${this.y(line.bands[0][0])}V${this.y(line.bands[0][1])}` });
    }
    return svg("path", { class: `chart-band hue-${line.colour}`, d: `M${[...edge(0), ...edge(1).reverse()].join("L")}Z` });
  }

  // Reading off.

  xs() {
    return [...new Set(this.lines.flatMap((line) => line.points.map(([x]) => x)))].sort((a, b) => a - b);
  }

  xAt(event) {
    const box = this.drawing.getBoundingClientRect();
    const wanted = this.low + ((event.clientX - box.left - EDGE.left) / (box.width - EDGE.left - EDGE.right)) * (this.high - this.low);
    return this.xs().reduce((best, x) => (Math.abs(x - wanted) < Math.abs(best - wanted) ? x : best));
  }

  pressed(event) {
    const xs = this.xs();
    const now = this.at === null ? xs.length - 1 : xs.findIndex((x) => x >= this.at);
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: xs.length - 1 }[event.key];
    if (event.key === "Escape") this.read(null);
    if (next === undefined) return;
    event.preventDefault();
    this.read(xs[Math.max(0, Math.min(xs.length - 1, next))]);
  }

  /** Shows the values at an x, or the newest where none is read. */
  read(at) {
    this.at = at;
    const values = this.lines.map((line) => ({ line, index: at === null ? line.points.length - 1 : nearest(line.points, at) }));
    refill(this.legend, values.map(({ line, index }) => this.entry(line, index)),
      at === null ? null : el("span", { class: "muted" }, `${this.across} ${this.formatAcross(at)}`));
    refill(this.marker, at === null ? null : [
      svg("path", { class: "chart-rule", d: `M${this.x(at)} ${EDGE.top}V${HEIGHT - EDGE.bottom}` }),
      values.map(({ line, index }) => svg("circle", { class: `hue-${line.colour}`, cx: this.x(line.points[index][0]), cy: this.y(line.points[index][1]), r: 5 })),
    ]);
    this.drawing.setAttribute("aria-label", this.summary(values));
  }

  entry(line, index) {
    const band = line.bands?.[index];
    return el("span", { class: ["learn-key", `hue-${line.colour}`] }, el("i", {}), `${line.label} `, el("b", {}, this.format(line.points[index][1])),
      band ? el("span", { class: "muted" }, ` ${this.format(band[0])} – ${this.format(band[1])}`) : null);
  }

  summary(values = this.lines.map((line) => ({ line, index: line.points.length - 1 }))) {
    const said = values.map(({ line, index }) => `${line.label} ${this.format(line.points[index][1])} (${this.across} ${this.formatAcross(line.points[index][0])})`);
    return `${this.title}: ${said.join("; ")}`;
  }
}

function nearest(points, at) {
  let best = 0;
  points.forEach(([x], i) => {
    if (Math.abs(x - at) < Math.abs(points[best][0] - at)) best = i;
  });
  return best;
}

function thin(points) {
  if (points.length <= MOST_POINTS) return points;
  const step = (points.length - 1) / (MOST_POINTS - 1);
  return Array.from({ length: MOST_POINTS }, (_, i) => points[Math.round(i * step)]);
}

/** Figures with their intervals on one axis, a row each: [{label, value, low, high}]. Zero is marked. */
export function intervals(rows, { format, width = 640, title }) {
  const row = 32;
  const names = Math.min(width * 0.4, 16 + Math.max(...rows.map((entry) => widthOf(entry.label))));
  const low = Math.min(0, ...rows.map((entry) => entry.low));
  const high = Math.max(0, ...rows.map((entry) => entry.high));
  const x = (value) => names + 12 + ((value - low) / (high - low || 1)) * (width - names - 28);
  const height = rows.length * row + 28;
  const summary = rows.map((entry) => `${entry.label} ${format(entry.value)} (${format(entry.low)} – ${format(entry.high)})`).join("; ");
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", class: "intervals", role: "img", "aria-label": `${title}: ${summary}` },
    ticks(low, high, Math.max(3, Math.round(width / 140))).map((value) => [
      svg("path", { class: value === 0 ? "chart-grid is-zero" : "chart-grid", d: `M${x(value)} 4V${height - 24}` }),
      svg("text", { class: "chart-tick", x: x(value), y: height - 10, "text-anchor": "middle" }, format(value)),
    ]),
    rows.map((entry, i) => {
      const y = i * row + row / 2;
      return svg("g", {},
        svg("text", { class: "interval-name", x: names, y, "text-anchor": "end" }, fit(entry.label, names)),
        svg("path", { class: "interval-span", d: `M${x(entry.low)} ${y}H${x(entry.high)}M${x(entry.low)} ${y - 5}v10M${x(entry.high)} ${y - 5}v10` }),
        svg("circle", { class: "interval-value", cx: x(entry.value), cy: y, r: 5 }));
    }));
}

/** How wide a name is in pixels, by rule of thumb: a Chinese character takes more. */
function widthOf(text) {
  return [...text].reduce((sum, letter) => sum + (letter >= "⺀" ? 14 : 7.5), 0);
}

/** A name that is not longer than so many pixels. */
function fit(text, pixels) {
  if (widthOf(text) <= pixels) return text;
  const letters = [...text];
  while (letters.length && widthOf(`${letters.join("")}…`) > pixels) letters.pop();
  return `${letters.join("")}…`;
}
