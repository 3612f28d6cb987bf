// Alpha-beta, alive: the window of every node, cuts where they happen and by their names, minimax beside it.
import { el, svg, refill, choice, patiently, loadSheet } from "../dom.js";
import { gameTitle } from "../play/session.js";
import { PositionEditor, words as positionWords } from "./position.js";
import { figure, newStone, numberField, segments, stamp, titled, toggle } from "./small.js";
import { Stepper, withSteps } from "./stepper.js";
import { TreeView } from "./tree.js";

const NODE = { width: 80, height: 62, minimax: 14 };
const LEAF = { width: 46, height: 50 };
const STAMP = 42;
const LARGEST_STAMP = 16; // cells of a board that is drawn in the tree
const OPEN_AT_FIRST = 130; // nodes up to which all of a tree is drawn

export async function show(root, context) {
  await loadSheet("explore/explore.css");
  const page = new AlphaBetaPage(root, context);
  await patiently(page.begin(), page.tree.element, context.t("getting ready"));
  return () => page.end();
}

class AlphaBetaPage {
  constructor(root, { t, api, socket }) {
    Object.assign(this, { t, api });
    this.settings = { source: "lecture", text: "", game: "tictactoe", moves: ["a1", "b2", "c3", "a3"], depth: 5, order: "written", root: "max" };
    this.folds = new Map();
    this.hasMinimax = false;
    this.stepper = new Stepper({
      t,
      count: () => this.walk?.steps.length ?? 0,
      stride: () => 1,
      most: () => this.walk?.steps.length ?? 0,
      show: (step) => this.showStep(step),
      names: { whole: "to the next cut", target: "run to", counter: "counter" },
    });
    this.stepper.whole = (by) => this.nextCut(by);
    this.tree = new TreeView({
      t, label: t("game tree"),
      size: (node) => this.sizeOf(node), draw: (node) => this.drawNode(node), describe: (node) => this.describe(node),
      mark: (node) => this.marksOf(node), edge: (node) => this.edgeMarks(node),
      onPick: (id) => this.goToNode(id),
      onFold: (id) => { this.folds.set(id, !this.isOpen(id)); this.drawTree(); },
    });
    this.editor = new PositionEditor({ t, socket, onChange: (game, moves) => { Object.assign(this.settings, { game, moves }); this.load(); } });
    this.form = el("div", { class: "explore-form" });
    this.story = el("div", { class: "story", "aria-live": "polite" });
    this.counts = el("div", { class: "stack tight" });
    this.orders = el("div", {});
    this.build(root);
  }

  build(root) {
    const { t } = this;
    const minimax = toggle(t("minimax values"), "minimax", (isOn) => {
      this.hasMinimax = isOn;
      this.drawTree();
    });
    refill(root, el("div", { class: "explore" },
      el("section", { class: "card explore-main", "aria-label": t("game tree") },
        el("div", { class: "row spread" }, el("h1", {}, t("title")), el("div", { class: "row" }, this.orders, minimax)),
        this.stepper.element, el("div", { class: "row spread" }, el("span", { class: "chip" }, "△ MAX"), el("span", { class: "chip" }, "▽ MIN"), el("span", { class: "filler" }), this.tree.tools), this.tree.element, el("p", { class: "note keys" }, t("keys"))),
      el("aside", { class: "explore-side stack" },
        titled(t("what happens"), this.story),
        titled(t("node counts"), this.counts)),
      el("section", { class: "card stack explore-settings" }, el("h2", {}, t("tree to search")), this.form)));
  }

  async begin() {
    this.offers = await this.api.get("api/explore");
    this.settings.text = this.offers.trees.lecture;
    await this.editor.open(this.settings.game, this.settings.moves);
    this.drawForm();
    await this.load();
  }

  question() {
    const { source, text, game, moves, depth, order, root } = this.settings;
    return source === "position" ? { game, moves, depth, order } : { tree: text, order, root };
  }

  load() {
    return this.stepper.load(this.api.post("api/explore/alphabeta", this.question()), (walk) => this.keep(walk),
      (problem) => refill(this.story, el("p", { class: "problem" }, problem.message)));
  }

  keep(walk) {
    this.walk = walk;
    this.folds.clear();
    this.children = walk.spots.map(() => []);
    for (const spot of walk.spots) if (spot.parent !== null) this.children[spot.parent].push(spot.id);
    this.paths = walk.spots.map(() => "");
    for (const spot of walk.spots) if (spot.parent !== null) this.paths[spot.id] = `${this.paths[spot.parent]}${this.paths[spot.parent] && "/"}${this.children[spot.parent].indexOf(spot.id) + 1}`;
    this.letters = this.lettersOf(walk);
    this.drawOrders();
    this.drawCounts();
  }

  /** As the lecture has it: A is the root, B, C, D … are the nodes below it. */
  lettersOf(walk) {
    const letters = new Map();
    const inner = walk.spots.filter((spot) => !spot.is_leaf && !spot.name);
    if (inner.length > 26 || this.settings.source === "position") return letters;
    const depth = (spot) => (spot.parent === null ? 0 : 1 + depth(walk.spots[spot.parent]));
    inner.sort((one, other) => depth(one) - depth(other) || one.id - other.id);
    inner.forEach((spot, place) => letters.set(spot.id, String.fromCharCode(65 + place)));
    return letters;
  }

  // Where the search is.

  showStep(step) {
    if (!this.walk) return;
    this.states = this.walk.spots.map((spot) => ({ state: "unseen", alpha: null, beta: null, value: null, cut: "" }));
    this.walk.steps.slice(0, step).forEach((each) => this.apply(each));
    this.now = step === 0 ? null : this.walk.steps[step - 1];
    this.drawTree();
    refill(this.story, this.storyOf(step));
  }

  apply(step) {
    const state = this.states[step.at];
    Object.assign(state, { alpha: step.alpha, beta: step.beta });
    if (step.kind === "enter") state.state = "open";
    else state.value = step.value;
    if (step.kind === "leaf" || step.kind === "leave") state.state = "done";
    if (step.kind === "cut") {
      state.cut = step.cut;
      for (const id of step.pruned) this.prune(id);
    }
  }

  prune(id) {
    this.states[id].state = "pruned";
    this.children[id].forEach((child) => this.prune(child));
  }

  get lit() {
    if (!this.now) return [];
    const path = [];
    for (let id = this.now.at; id !== null; id = this.walk.spots[id].parent) path.unshift(id);
    return path;
  }

  /** The line that both sides play when all has been searched. */
  get best() {
    if (this.states[0].state !== "done") return [];
    const line = [0];
    for (;;) {
      const id = line.at(-1);
      const next = this.children[id].find((child) => this.states[child].state === "done" && this.states[child].value === this.states[id].value);
      if (next === undefined) return line;
      line.push(next);
    }
  }

  nextCut(by) {
    const { steps } = this.walk;
    const at = this.stepper.step;
    const cuts = steps.map((step, place) => (step.kind === "cut" ? place + 1 : null)).filter((place) => place !== null);
    const next = by > 0 ? cuts.find((place) => place > at) ?? steps.length : cuts.findLast((place) => place < at) ?? 0;
    return this.stepper.move(next - at);
  }

  /** To the moment in which a node has its value. */
  goToNode(id) {
    const place = this.walk.steps.findLastIndex((step) => step.at === id);
    this.stepper.stop();
    if (place >= 0) this.stepper.goTo(place + 1);
  }

  // The tree.

  isOpen(id) {
    if (!this.children[id].length) return false;
    if (this.folds.has(id)) return this.folds.get(id);
    if (this.walk.spots.length <= OPEN_AT_FIRST) return true;
    return id === 0 || this.lit.includes(id) || this.best.includes(id);
  }

  drawTree() {
    if (!this.walk) return;
    const best = this.best;
    this.onBest = new Set(best);
    const nodes = new Map();
    const put = (id) => {
      const isOpen = this.isOpen(id);
      const shown = isOpen ? this.children[id] : [];
      nodes.set(id, { id, parent: this.walk.spots[id].parent, path: this.paths[id], children: shown, hidden: isOpen ? 0 : this.children[id].length });
      shown.forEach(put);
    };
    put(0);
    this.tree.show(nodes, 0, this.lit);
  }

  hasStamp(spot) {
    const { shape } = this.walk;
    return Boolean(spot.board && shape && shape[0] * shape[1] <= LARGEST_STAMP);
  }

  sizeOf({ id }) {
    const spot = this.walk.spots[id];
    const { width, height } = spot.is_leaf ? LEAF : NODE;
    const extra = this.hasStamp(spot) ? STAMP + 6 : 0;
    const minimax = this.hasMinimax && !spot.is_leaf ? NODE.minimax : 0;
    return [Math.max(width, extra ? 54 : 0), height + minimax + extra];
  }

  marksOf({ id }) {
    const spot = this.walk.spots[id];
    const { state } = this.states[id];
    return [spot.is_leaf ? "is-leaf" : spot.is_max ? "is-max" : "is-min", `is-${state}`, this.now?.at === id && "is-at", this.onBest.has(id) && "is-best"].filter(Boolean);
  }

  edgeMarks({ id }) {
    return [this.states[id].state === "pruned" && "is-pruned", this.onBest.has(id) && "is-best"].filter(Boolean);
  }

  drawNode(node) {
    const spot = this.walk.spots[node.id];
    const state = this.states[node.id];
    const middle = node.width / 2;
    const parts = [];
    let top = 0;
    if (this.hasStamp(spot)) {
      const [rows, columns] = this.walk.shape;
      const width = (STAMP * columns) / rows;
      const above = spot.parent === null ? null : this.walk.spots[spot.parent].board;
      parts.push(svg("g", { transform: `translate(${middle - width / 2} 2)` }, stamp(this.walk, spot.board, STAMP, newStone(above, spot.board))));
      top = STAMP + 6;
    }
    parts.push(spot.is_leaf ? this.leafShape(middle, top) : this.nodeShape(middle, top, spot.is_max));
    parts.push(svg("text", { class: "ab-value", x: middle, y: top + (spot.is_leaf ? 21 : spot.is_max ? 32 : 24), dataset: { field: "value" } }, this.valueText(spot, state)));
    if (!spot.is_leaf) {
      parts.push(svg("text", { class: "ab-window", x: middle, y: top + 56, dataset: { field: "window" } }, this.windowText(state)));
      if (this.hasMinimax) parts.push(svg("text", { class: "ab-minimax", x: middle, y: top + 70, dataset: { field: "minimax" } }, `${this.t("minimax")} ${figure(spot.minimax)}`));
    }
    const name = spot.name || this.letters.get(node.id);
    if (name && (!spot.is_leaf || this.valueText(spot, state) !== name)) parts.push(svg("text", { class: "ab-move", x: spot.is_leaf ? middle : middle + 30, y: top + (spot.is_leaf ? 44 : spot.is_max ? 16 : 38), dataset: { field: "name" } }, name));
    if (state.cut) parts.push(this.cutMark(middle, node.height + (node.hidden ? 15 : 0), state.cut));
    if (state.state === "pruned" && this.states[spot.parent].cut) parts.push(svg("path", { class: "ab-cut-line", d: `M${middle - 9} -4L${middle + 3} -14M${middle - 3} -4L${middle + 9} -14` }));
    return parts;
  }

  nodeShape(x, y, isMax) {
    const d = isMax ? `M${x} ${y + 2}L${x + 30} ${y + 42}H${x - 30}Z` : `M${x} ${y + 42}L${x + 30} ${y + 2}H${x - 30}Z`;
    return svg("path", { class: "ab-shape", d });
  }

  leafShape(x, y) {
    return svg("rect", { class: "ab-shape", x: x - 19, y: y + 2, width: 38, height: 28, rx: 4 });
  }

  cutMark(x, y, cut) {
    return svg("g", { class: "ab-cut-label", transform: `translate(${x} ${y + 14})` },
      svg("rect", { x: -26, y: -9, width: 52, height: 18, rx: 9 }),
      svg("text", { y: 4, dataset: { field: "cut" } }, this.t(`${cut} mark`)));
  }

  valueText(spot, state) {
    if (spot.is_leaf) return state.state === "done" || !spot.name || this.hasStamp(spot) || state.state === "open" ? figure(spot.minimax) : spot.name;
    return state.value === null ? "" : figure(state.value);
  }

  windowText({ state, alpha, beta }) {
    return state === "unseen" || state === "pruned" ? "" : `[${alpha === null ? "−∞" : figure(alpha)}, ${beta === null ? "+∞" : figure(beta)}]`;
  }

  describe({ id }) {
    const { t } = this;
    const spot = this.walk.spots[id];
    const state = this.states[id];
    const kind = t(spot.is_leaf ? "leaf" : spot.is_max ? "max" : "min");
    const words = [`${kind} ${this.nameOf(id)}`, t(`state ${state.state}`)];
    if (state.value !== null) words.push(t("value is", { value: figure(state.value) }));
    if (!spot.is_leaf && state.state !== "unseen") words.push(`α, β: ${this.windowText(state)}`);
    if (state.cut) words.push(t(`${state.cut} cut`));
    return words.join(", ");
  }

  // The words.

  nameOf(id) {
    const spot = this.walk.spots[id];
    if (spot.name || this.letters.has(id)) return spot.name || this.letters.get(id);
    if (this.letters.has(spot.parent)) return `${this.letters.get(spot.parent)}${this.children[spot.parent].indexOf(id) + 1}`;
    return spot.parent === null ? this.t("the root") : this.paths[id].replaceAll("/", ".");
  }

  storyOf(step) {
    const { t, now, walk } = this;
    if (!now) return [el("p", {}, t("before", { player: t(walk.spots[0].is_max ? "MAX" : "MIN") })), this.noteOf()];
    const spot = walk.spots[now.at];
    const player = spot.is_max ? "MAX" : "MIN";
    const values = {
      node: this.nameOf(now.at), player, value: figure(now.value), child: now.child === null ? "" : this.nameOf(now.child),
      alpha: now.alpha === null ? "−∞" : figure(now.alpha), beta: now.beta === null ? "+∞" : figure(now.beta),
      found: now.child === null ? "" : figure(this.states[now.child].value), count: now.pruned.length,
    };
    const key = now.kind === "cut" ? `told ${now.cut} cut` : now.kind === "enter" && spot.is_leaf ? "told look" : `told ${now.kind}`;
    const isEnd = step === walk.steps.length;
    return [
      el("p", { dataset: { told: now.kind } }, t(key, values)),
      isEnd ? el("p", { dataset: { told: "result" } }, el("b", {}, t("result", { value: figure(walk.value), best: this.bestName() }))) : null,
      isEnd ? el("p", {}, t("saved", { seen: walk.nodes[this.settings.order], all: walk.nodes.minimax })) : null,
      this.noteOf(),
    ];
  }

  bestName() {
    const best = this.children[0].find((id) => this.walk.spots[id].is_seen && this.walk.spots[id].value === this.walk.value);
    return best === undefined ? this.walk.best : this.nameOf(best);
  }

  noteOf() {
    const { source, game, moves } = this.settings;
    const note = this.offers.own.includes(game) ? "note own" : "note position";
    if (source === "position") return el("p", { class: "note" }, this.t(note, { player: this.t(this.walk.players[moves.length % 2]) }));
    return source === "lecture" ? el("p", { class: "note" }, this.t("note lecture")) : null;
  }

  drawCounts() {
    const { t, walk, settings } = this;
    const rows = Object.keys(walk.nodes).map((name) => el("div", { class: ["count-row", name === settings.order && "is-here"], dataset: { count: name } },
      el("b", {}, t(name === "minimax" ? "minimax" : `order ${name}`)),
      el("span", { class: "bar" }, el("span", { style: { width: `${(100 * walk.nodes[name]) / walk.nodes.minimax}%` } })),
      el("span", { class: "number", dataset: { field: "nodes" } }, String(walk.nodes[name])),
      el("span", { class: "number muted", dataset: { field: "leaves" } }, String(walk.leaves[name]))));
    refill(this.counts,
      el("div", { class: "count-row muted" }, el("span", {}, ""), el("span", {}, ""), el("span", { class: "number" }, t("nodes")), el("span", { class: "number" }, t("leaves"))),
      rows, el("p", { class: "note" }, t("note counts")));
  }

  // The form.

  drawOrders() {
    const { t, settings, walk } = this;
    const orders = ["written", "best", "worst", ...("guess" in walk.nodes ? ["guess"] : [])];
    refill(this.orders, segments(t("order"), orders.map((value) => ({ value, label: t(`order ${value}`), title: t(`about ${value}`) })), settings.order, (order) => { settings.order = order; this.load(); }));
  }

  drawForm() {
    const { t, settings, offers } = this;
    const source = choice(t("example"), ["lecture", "deep", "typed", "position"].map((value) => ({ value, label: t(`source ${value}`) })), settings.source, (value) => this.changeSource(value), { dataset: { field: "source" } });
    const parts = [source];
    if (settings.source === "position") {
      parts[0] = el("div", { class: "stack tight" }, source,
        choice(t("game"), offers.positions.map((game) => ({ value: game, label: gameTitle(game, t) })), settings.game, (game) => this.changeGame(game), { dataset: { field: "game" } }),
        numberField(t("depth"), settings.depth, { min: 1, max: 12, step: 1, dataset: { field: "depth" } }, (depth) => { settings.depth = depth; this.load(); }));
      parts.push(el("div", { class: "stack tight" }, el("h3", {}, t("position")), this.editor.element));
    } else {
      const area = el("textarea", { rows: 5, spellcheck: "false", autocapitalize: "off", dataset: { field: "tree" } });
      area.value = settings.text;
      parts.push(
        el("form", { class: "stack tight", onsubmit: (event) => { event.preventDefault(); settings.text = area.value; settings.source = "typed"; source.querySelector("select").value = "typed"; this.load(); } },
          el("label", { class: "field" }, el("span", {}, t("tree text")), area),
          el("div", { class: "row" }, el("button", { type: "submit", class: "button primary", dataset: { action: "search tree" } }, t("search this")),
            segments(t("who begins"), ["max", "min"].map((value) => ({ value, label: t(`${value} begins`) })), settings.root, (value) => { settings.root = value; this.load(); })),
          el("p", { class: "note" }, t("about text"))));
    }
    refill(this.form, parts);
  }

  async changeSource(source) {
    Object.assign(this.settings, { source, order: "written", root: "max" });
    if (source in this.offers.trees) this.settings.text = this.offers.trees[source];
    this.drawForm();
    await this.load();
  }

  async changeGame(game) {
    Object.assign(this.settings, { game, moves: [], depth: 2 });
    await this.editor.open(game, []);
    this.drawForm();
    await this.load();
  }

  end() {
    this.stepper.end();
    this.tree.end();
  }
}

export const words = withSteps({
  en: {
    ...positionWords.en,
    title: "Alpha-beta, cut by cut", "game tree": "Game tree", "minimax values": "Minimax values", minimax: "minimax",
    "what happens": "What happens", "node counts": "Looked at", "tree to search": "The tree",
    "to the next cut": "Next cut", "run to": "Run to step", counter: "step {step} of {steps}",
    root: "root", "the root": "the root", leaf: "Leaf", max: "MAX", min: "MIN", MAX: "MAX", MIN: "MIN",
    "state unseen": "not looked at yet", "state open": "being searched", "state done": "searched", "state pruned": "pruned", "value is": "value {value}",
    "alpha cut": "alpha cut", "beta cut": "beta cut", "alpha mark": "α cut", "beta mark": "β cut",
    before: "{player} moves at the root. Triangles that point up are MAX, those that point down MIN; [α, β] is the window. Step to begin.",
    "told enter": "{node} ({player}) is entered with the window [{alpha}, {beta}].",
    "told look": "The leaf {node} is looked at.",
    "told leaf": "The leaf {node} is worth {value}.",
    "told raise": "{node} hears {found} from {child}: better for MAX, so α rises to {alpha}.",
    "told lower": "{node} hears {found} from {child}: better for MIN, so β falls to {beta}.",
    "told keep": "{node} hears {found} from {child}: no better, so the window stays [{alpha}, {beta}].",
    "told alpha cut": "Alpha cut at {node}: MIN can have {value} here, and MAX has {alpha} elsewhere. MAX will not come here: what is left below ({count}) is pruned.",
    "told beta cut": "Beta cut at {node}: MAX can have {value} here, and MIN allows only {beta} elsewhere. MIN will not come here: what is left below ({count}) is pruned.",
    "told leave": "{node} is left with {value}.",
    result: "The value of the tree is {value}; the best child is {best}.", saved: "{seen} of {all} nodes were looked at.",
    "note lecture": "The lecture's tree (3, 12, 8), (2, x, y), (14, 5, 2): x and y are never looked at, so they may be anything.",
    "note own": "MAX is {player}, to move. Ends of games count ±1; where the depth ends before the game, they count ±100, and a position counts 0: nothing is known of it.",
    "note position": "MAX is {player}, to move. Ends of games count ±1; where e(s) has a say at the depth's end (lines open to MAX less lines open to MIN), they count ±100.",
    "note counts": "With the best child first everywhere, about the square root of all leaves is enough; by chance, about their power ¾.",
    order: "Order of children", "order written": "As written", "order best": "Best first", "order worst": "Worst first", "order guess": "By e(s)",
    "about written": "Children in the order in which they stand", "about best": "Ordering on: as if the answer were known", "about worst": "The worst order there is", "about guess": "Ordering on: by what the evaluation says of each child",
    nodes: "nodes", leaves: "leaves", example: "Tree", "source lecture": "The lecture's exercise", "source deep": "Seven levels, both cuts", "source typed": "Typed in", "source position": "A position",
    game: "Game", depth: "Depth in plies", "tree text": "Tree", "search this": "Search this tree", "who begins": "Who moves at the root", "max begins": "MAX", "min begins": "MIN",
    "about text": "A leaf is a number, or name=number; brackets make a node: [[3, 12, 8], [2, x=7, y=1]].",
  },
  zh: {
    ...positionWords.zh,
    title: "Alpha-beta 剪枝，一步一步", "game tree": "博弈树", "minimax values": "极大极小值", minimax: "极大极小",
    "what happens": "正在发生什么", "node counts": "检查的节点", "tree to search": "博弈树设置",
    "to the next cut": "下一次剪枝", "run to": "运行到第几步", counter: "第 {step} 步，共 {steps} 步",
    root: "根", "the root": "根节点", leaf: "叶", max: "MAX", min: "MIN", MAX: "MAX", MIN: "MIN",
    "state unseen": "尚未检查", "state open": "正在搜索", "state done": "已搜索", "state pruned": "被剪去", "value is": "值 {value}",
    "alpha cut": "α 剪枝", "beta cut": "β 剪枝", "alpha mark": "α 剪枝", "beta mark": "β 剪枝",
    before: "根节点由 {player} 行棋。尖朝上的三角形是 MAX，尖朝下的是 MIN；[α, β] 是窗口。点“下一步”开始。",
    "told enter": "进入 {node}（{player}），窗口为 [{alpha}, {beta}]。",
    "told look": "检查叶节点 {node}。",
    "told leaf": "叶节点 {node} 的值是 {value}。",
    "told raise": "{node} 从 {child} 得到 {found}：对 MAX 更好，α 升到 {alpha}。",
    "told lower": "{node} 从 {child} 得到 {found}：对 MIN 更好，β 降到 {beta}。",
    "told keep": "{node} 从 {child} 得到 {found}：并不更好，窗口仍为 [{alpha}, {beta}]。",
    "told alpha cut": "{node} 发生 α 剪枝：MIN 在此可得 {value}，而 MAX 在别处已有 {alpha}。MAX 不会走到这里；剪去其余 {count} 个子节点。",
    "told beta cut": "{node} 发生 β 剪枝：MAX 在此可得 {value}，而 MIN 在别处只允许 {beta}。MIN 不会走到这里；剪去其余 {count} 个子节点。",
    "told leave": "离开 {node}，值为 {value}。",
    result: "树的值是 {value}；最好的子节点是 {best}。", saved: "{all} 个节点中检查了 {seen} 个。",
    "note lecture": "讲义的树 (3, 12, 8), (2, x, y), (14, 5, 2)：x 与 y 从未被检查，取任何值都一样。",
    "note own": "MAX 是轮到走的{player}。终局记 ±1；若深度先于对局结束，终局记 ±100，而对局面一无所知，记 0。",
    "note position": "MAX 是轮到走的{player}。终局记 ±1；若在深度尽头用到 e(s)（对 MAX 开放的线数减去对 MIN 开放的线数），终局记 ±100。",
    "note counts": "若每个节点都先搜索最好的子节点，检查的叶节点约为总数的平方根；随机顺序约为 ¾ 次方。",
    order: "子节点顺序", "order written": "原顺序", "order best": "最好在先", "order worst": "最差在先", "order guess": "按 e(s)",
    "about written": "按书写的顺序", "about best": "启用排序：如同已知答案", "about worst": "最差的顺序", "about guess": "启用排序：按评估函数对子节点的估计",
    nodes: "节点", leaves: "叶", example: "树", "source lecture": "讲义的练习", "source deep": "七层，两种剪枝", "source typed": "自己输入", "source position": "一个局面",
    game: "游戏", depth: "深度（步）", "tree text": "树", "search this": "搜索这棵树", "who begins": "根节点由谁走", "max begins": "MAX", "min begins": "MIN",
    "about text": "叶是一个数，或 名字=数；方括号构成节点：[[3, 12, 8], [2, x=7, y=1]]。",
  },
});
