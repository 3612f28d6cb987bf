// n queens by min-conflicts: the board with all its conflicts, step by step, and how many steps boards take as they grow.
import { button, choice, el, svg, refill, toast, loadSheet } from "../dom.js";
import { figure, numberField, segments, titled } from "./small.js";
import { Stepper, withSteps } from "./stepper.js";

const CELL = 10; // of the drawing
const MOST_NUMBERED = 24; // squares of a column in which numbers can be read
const CROWN = "M1.8 7.9L1.3 3.2L3.3 5.2L5 1.9L6.7 5.2L8.7 3.2L8.2 7.9Z";
const CHART = { height: 280, left: 56, right: 32, top: 12, bottom: 32 };
const STARTS = ["greedy", "random"];
const LARGEST_RANDOM = 30_000; // as the server has it: from a random start the steps grow with n

export async function show(root, context) {
  await loadSheet("explore/explore.css");
  const page = new QueensPage(root, context);
  await page.load();
  return () => page.end();
}

class QueensPage {
  constructor(root, { t, api, language }) {
    Object.assign(this, { t, api });
    this.whole = new Intl.NumberFormat(language);
    this.settings = { size: 12, start: "random", seed: 5 };
    this.growth = { largest: 100_000, runs: 5, seed: 1 };
    this.grown = null; // rows by start
    this.steps = [];
    const last = () => Math.max(0, this.steps.length - 1);
    this.stepper = new Stepper({
      t, count: last, stride: () => 10, target: () => 1, most: last, show: (step) => this.showStep(step),
      names: { whole: "ten steps", target: "run to", counter: "counter" },
    });
    this.board = el("div", { class: "queens-place" });
    this.story = el("div", { class: "story", "aria-live": "polite" });
    this.figures = el("div", { class: "figures" });
    this.form = el("div", { class: "explore-form" });
    this.chart = el("div", { class: "chart-place" });
    this.table = el("div", { class: "scrolls" });
    this.observer = new ResizeObserver(() => this.drawChart());
    this.observer.observe(this.chart);
    this.build(root);
    this.drawForm();
  }

  build(root) {
    const { t } = this;
    this.measureButton = button(t("measure"), () => this.measure(), { name: "measure", kind: "primary" });
    refill(root, el("div", { class: "explore" },
      el("section", { class: "card explore-main", "aria-label": t("title") },
        el("h1", {}, t("title")), this.stepper.element, this.board, el("p", { class: "note" }, t("keys queens"))),
      el("aside", { class: "explore-side stack" },
        titled(t("what happens"), this.figures, this.story),
        el("section", { class: "card stack" }, el("h2", {}, t("the board")), this.form)),
      el("section", { class: "card stack explore-settings" },
        el("h2", {}, t("growth")), el("p", {}, t("about growth")), this.growthFields(), this.chart, this.table)));
  }

  growthFields() {
    const { t, growth } = this;
    const sizes = [1000, 10_000, 100_000].map((value) => ({ value, label: this.whole.format(value) }));
    return el("div", { class: "growth-fields" },
      choice(t("largest"), sizes, growth.largest, (value) => { growth.largest = Number(value); }, { dataset: { field: "largest" } }),
      numberField(t("boards each"), growth.runs, { min: 1, max: 10, step: 1, dataset: { field: "runs" } }, (value) => { growth.runs = value; }),
      this.measureButton);
  }

  load() {
    const asked = this.api.post("api/explore/queens", this.settings);
    return this.stepper.load(asked, (solving) => Object.assign(this, { solving, steps: solving.steps }));
  }

  showStep(step) {
    if (!this.steps.length) return;
    const now = this.steps[step];
    refill(this.board, this.draw(now));
    const starts = this.steps.slice(0, step + 1).filter((each) => each.column === null).length;
    const said = [["steps done", step + 1 - starts], ["conflicts", now.conflicts], ["attacked", now.attacked.length], ["starts", starts]];
    refill(this.figures, said.map(([name, value]) => el("div", {}, el("b", { dataset: { field: name } }, String(value)), el("span", {}, this.t(name)))));
    refill(this.story, this.storyOf(now, step));
  }

  storyOf(now, step) {
    const { t } = this;
    const lines = [el("p", {}, t("the rule"))];
    if (now.column === null) {
      lines.push(el("p", { dataset: { told: "start" } }, t(step ? "put up anew" : `put up ${this.settings.start}`)));
    } else {
      const row = now.queen_rows[now.column];
      const [had, has] = [now.compared[now.came_from], now.compared[row]];
      const values = { column: now.column + 1, from: now.came_from + 1, row: row + 1, had, has };
      lines.push(el("p", { dataset: { told: "move" } }, t(row === now.came_from ? "stays" : "moves", values)));
    }
    if (now.conflicts === 0) lines.push(el("p", { class: "formula", dataset: { told: "solved" } }, t("solved")));
    else if (step === this.steps.length - 1) lines.push(el("p", { class: "problem" }, t("given up", { step })));
    return lines;
  }

  // The board.

  draw(now) {
    const { size } = this.solving;
    const side = size * CELL;
    const label = this.t("board says", { size, conflicts: now.conflicts, rows: now.queen_rows.map((row) => row + 1).join(" ") });
    return svg("svg", { class: "queens-board", viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": label, style: { "--stroke": Math.max(0.5, size / 40) } },
      svg("rect", { class: "queens-light", width: side, height: side }),
      svg("path", { class: "queens-dark", d: darkSquares(size) }),
      now.column !== null && this.drawColumn(now, size),
      pairsOf(now.queen_rows).map(([one, other]) => svg("path", { class: "attack", d: lineBetween(now.queen_rows, one, other) })),
      now.queen_rows.map((row, column) => svg("g", {
        class: ["queen", now.attacked.includes(column) && "is-attacked", column === now.column && "is-moved"],
        transform: `translate(${column * CELL} ${row * CELL})`, dataset: { column, row },
      }, now.attacked.includes(column) && svg("rect", { x: 0.6, y: 0.6, width: 8.8, height: 8.8, rx: 2 }), svg("path", { d: CROWN }))));
  }

  /** The column of the queen that has moved: what it compared, and where it was. */
  drawColumn({ column, came_from: from, compared, queen_rows: rows }, size) {
    const x = column * CELL;
    const least = Math.min(...compared);
    const numbers = size > MOST_NUMBERED ? [] : compared.map((count, row) => row !== rows[column] && svg("text", {
      x: x + CELL / 2, y: (row + 0.5) * CELL, class: count === least ? "is-least" : "", dataset: { row },
    }, String(count)));
    return svg("g", {}, svg("rect", { class: "queens-column", x, width: CELL, height: size * CELL }),
      svg("rect", { class: "queens-from", x: x + 0.5, y: from * CELL + 0.5, width: CELL - 1, height: CELL - 1, rx: 2 }), numbers);
  }

  // Growth.

  async measure() {
    const { growth } = this;
    this.measureButton.disabled = true;
    try {
      const grown = {};
      for (const start of STARTS) { // one after another: both at once would count as the time of one
        const largest = start === "random" ? Math.min(growth.largest, LARGEST_RANDOM) : growth.largest;
        grown[start] = await this.api.post("api/explore/queens/growth", { ...growth, largest, start });
      }
      this.grown = grown;
      this.drawChart();
      this.drawTable();
    } catch (problem) {
      toast(problem.message, "problem");
    } finally {
      this.measureButton.disabled = false;
    }
  }

  /** Steps over queens, both by powers of ten, with the least and the most of each size. */
  drawChart() {
    const { t, grown } = this;
    if (!grown) return;
    const { height, left, right, top, bottom } = CHART;
    const width = Math.max(280, this.chart.clientWidth);
    const rows = [...grown.greedy, ...grown.random];
    const high = Math.ceil(Math.log10(Math.max(10, ...rows.map((row) => row.steps_most))));
    const far = Math.log10(Math.max(100, ...rows.map((row) => row.size)));
    const x = (size) => left + ((Math.log10(size) - 1) / (far - 1)) * (width - left - right);
    const y = (steps) => height - bottom - (Math.log10(Math.max(1, steps)) / high) * (height - top - bottom);
    const powers = (count) => Array.from({ length: count + 1 }, (_, power) => 10 ** power);
    refill(this.chart, svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": t("growth chart") },
      powers(high).map((steps) => [
        svg("path", { class: "grid-line", d: `M${left} ${y(steps)}H${width - right}` }),
        svg("text", { x: left - 8, y: y(steps) + 4, "text-anchor": "end" }, this.whole.format(steps))]),
      powers(Math.floor(far)).slice(1).map((size) => svg("text", { x: x(size), y: height - 14, "text-anchor": "middle" }, this.whole.format(size))),
      svg("path", { class: "axis-line", d: `M${left} ${top}V${height - bottom}H${width - right}` }),
      STARTS.map((start) => [
        svg("path", { class: `curve of-put-${start}`, d: grown[start].map((row, place) => `${place ? "L" : "M"}${x(row.size).toFixed(1)} ${y(row.steps).toFixed(1)}`).join("") }),
        grown[start].map((row) => [
          svg("path", { class: `whisker of-put-${start}`, d: `M${x(row.size)} ${y(row.steps_least)}V${y(row.steps_most)}` }),
          svg("circle", { class: `spot of-put-${start}`, cx: x(row.size), cy: y(row.steps), r: 4 })])])));
  }

  drawTable() {
    const { t, grown } = this;
    const cell = (name, text) => el("td", { class: "figure", dataset: { field: name } }, text);
    const rows = STARTS.flatMap((start) => grown[start].map((row) => el("tr", { dataset: { start, size: row.size } },
      el("td", {}, el("span", { class: "curve-name" }, el("span", { class: `dot of-put-${start}` }), t(start))),
      cell("size", this.whole.format(row.size)), cell("conflicts", figure(row.conflicts, 1)), cell("steps", figure(row.steps, 1)),
      cell("range", `${row.steps_least} – ${row.steps_most}`), cell("seconds", `${figure(row.seconds * 1000, 1)} ms`))));
    const heads = ["put up", "queens", "conflicts at first", "mean steps", "least to most", "time of a core"];
    refill(this.table, el("table", { class: "table" },
      el("thead", {}, el("tr", {}, heads.map((name, place) => el("th", { class: place ? "figure" : "" }, t(name))))),
      el("tbody", {}, rows)));
  }

  // The form.

  drawForm() {
    const { t, settings } = this;
    const change = (name) => (value) => { settings[name] = value; this.load(); };
    const starts = STARTS.map((value) => ({ value, label: t(value), title: t(`put up ${value}`) }));
    refill(this.form,
      segments(t("put up"), starts, settings.start, change("start")),
      el("div", { class: "fields" },
        numberField(t("queens"), settings.size, { min: 1, max: 64, step: 1, dataset: { field: "size" } }, change("size")),
        numberField(t("seed"), settings.seed, { min: 0, max: 2 ** 31, step: 1, dataset: { field: "seed" } }, change("seed"))),
      button(t("another board"), () => { settings.seed = (settings.seed + 1) % 2 ** 31; this.drawForm(); this.load(); }, { name: "another board" }));
  }

  end() {
    this.observer.disconnect();
    this.stepper.end();
  }
}

/** The dark squares as one path, however many. */
function darkSquares(size) {
  const parts = [];
  for (let row = 0; row < size; row++)
    for (let column = (row + 1) % 2; column < size; column += 2) parts.push(`M${column * CELL} ${row * CELL}h${CELL}v${CELL}h${-CELL}z`);
  return parts.join("");
}

/** Pairs of columns whose queens attack each other along a line. */
function pairsOf(rows) {
  const pairs = [];
  rows.forEach((row, one) => {
    for (let other = one + 1; other < rows.length; other++)
      if (rows[other] === row || Math.abs(rows[other] - row) === other - one) pairs.push([one, other]);
  });
  return pairs;
}

function lineBetween(rows, one, other) {
  const at = (column) => `${(column + 0.5) * CELL} ${(rows[column] + 0.5) * CELL}`;
  return `M${at(one)}L${at(other)}`;
}

export const words = withSteps({
  en: {
    title: "n queens by min-conflicts", "ten steps": "Ten steps", "run to": "Run to", counter: "{step} of {all}",
    "what happens": "What happens", "the board": "The board", "steps done": "steps", conflicts: "pairs in conflict", attacked: "queens attacked", starts: "starts",
    "the rule": "Every column has its queen. One that is attacked, drawn at random, moves in its column to where it is attacked least.",
    "put up greedy": "Queens are put up one after another, each in a free row where nothing attacks it, if one is found.",
    "put up random": "Queens are put up at random, all in different rows.",
    "put up anew": "It went on for too long: all queens are put up anew.",
    moves: "The queen of column {column} moves from row {from} (attackers: {had}) to row {row} (attackers: {has}).",
    stays: "The queen of column {column} stays in row {row}: no square of its column has fewer attackers than {has}.",
    solved: "No queen is attacked.", "given up": "Not solved after {step} steps: another seed may be luckier.",
    "board says": "{size} queens, {conflicts} pairs in conflict; rows by column: {rows}",
    "keys queens": "Red queens are attacked, lines join those that attack each other. In the column of the queen that has moved stand, up to 24 queens, the numbers it compared; dashed is where it was. Keys: → step, ← back, Shift → ten, space runs, Home and End.",
    "put up": "Put up", greedy: "greedily", random: "at random", queens: "Queens", seed: "Seed", "another board": "Another board",
    growth: "How steps grow", "about growth": "Put up greedily, a board of any size needs some 50 steps; put up at random, about 0.45 n. Bars reach from the least to the most.",
    largest: "Up to", "boards each": "Boards each", measure: "Solve them", "growth chart": "Steps by number of queens, both by powers of ten",
    "conflicts at first": "pairs at first", "mean steps": "steps", "least to most": "least – most", "time of a core": "time of a core",
  },
  zh: {
    title: "最小冲突法解 n 皇后", "ten steps": "十步", "run to": "运行到", counter: "第 {step} 步，共 {all} 步",
    "what happens": "正在发生什么", "the board": "棋盘", "steps done": "步数", conflicts: "冲突对数", attacked: "受攻击的皇后", starts: "开局次数",
    "the rule": "每列一个皇后。随机选一个受攻击的皇后，在本列移到受攻击最少的格。",
    "put up greedy": "皇后依次摆放，每个尽量放在空行中不受攻击的格。",
    "put up random": "皇后随机摆放，各在不同的行。",
    "put up anew": "时间太长：所有皇后重新摆放。",
    moves: "第 {column} 列的皇后从第 {from} 行（攻击者 {had}）移到第 {row} 行（攻击者 {has}）。",
    stays: "第 {column} 列的皇后留在第 {row} 行：本列没有受攻击少于 {has} 的格。",
    solved: "没有皇后受攻击。", "given up": "{step} 步后仍未解出：换一个种子试试。",
    "board says": "{size} 个皇后，{conflicts} 对冲突；各列的行号：{rows}",
    "keys queens": "红色皇后受攻击，连线表示互相攻击。刚移动的皇后所在列标出它比较的数（至多 24 个皇后时），虚线框是原来的位置。按键：→ 下一步，← 上一步，Shift → 十步，空格运行，Home 与 End。",
    "put up": "摆放", greedy: "贪心", random: "随机", queens: "皇后数", seed: "随机种子", "another board": "换一个棋盘",
    growth: "步数如何增长", "about growth": "贪心摆放时，任何大小的棋盘约需 50 步；随机摆放时约需 0.45 n 步。竖线表示最少到最多。",
    largest: "最大", "boards each": "每种棋盘数", measure: "求解", "growth chart": "步数随皇后数变化，两轴均为对数",
    "conflicts at first": "起初冲突对数", "mean steps": "步数", "least to most": "最少 – 最多", "time of a core": "单核用时",
  },
});
