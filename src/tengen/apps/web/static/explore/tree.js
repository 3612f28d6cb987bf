// A tree in SVG that stays readable: it scrolls and zooms, parts of it fold, a path is lit, and the keyboard walks it.
import { el, svg, refill, mayMove } from "../dom.js";

const GAP_X = 12;
const GAP_Y = 44;
const MARGIN = 16;
const SMALLEST = 0.25;
const LARGEST = 2.5;
const ENLARGED = 1.7; // a small tree is drawn larger, up to this
const READABLE = 0.72; // a tree that would be drawn smaller than this to fit is scrolled instead

export class TreeView {
  /**
   * `size(node)` is [width, height] of a node's card, `draw(node)` what is on it, `describe(node)` what a screen reader
   * says of it; `mark(node)` are classes. `onPick(id)` is told which node was chosen, `onFold(id)` which is to fold.
   */
  constructor({ t, label, size, draw, describe, mark = () => [], edge = () => [], onPick = () => {}, onFold = () => {} }) {
    Object.assign(this, { t, label, size, draw, describe, mark, edge, onPick, onFold });
    this.scale = null; // null: as large as fits
    this.nodes = new Map();
    this.focused = null;
    this.drawing = svg("svg", { class: "tree-drawing", role: "tree", "aria-label": label });
    this.window = el("div", { class: "tree-window" }, this.drawing);
    this.element = el("div", { class: "tree-view" }, this.window);
    this.tools = this.newTools();
    this.listen();
  }

  /** Buttons that zoom; the page finds a place for them. */
  newTools() {
    const button = (name, text, act) => el("button", { type: "button", class: "button small icon", title: this.t(name), "aria-label": this.t(name), onclick: act }, text);
    return el("div", { class: "tree-tools", role: "group", "aria-label": this.t("zoom") },
      button("zoom out", "−", () => this.zoom(1 / 1.25)),
      button("zoom in", "+", () => this.zoom(1.25)),
      button("zoom fit", "⤢", () => { this.scale = null; this.place(); }));
  }

  /** Shows nodes: a Map of id to {id, parent, children: shown ids, hidden: how many are folded away}. */
  show(nodes, root, lit = []) {
    Object.assign(this, { nodes, root, lit });
    this.layout();
    const hadFocus = this.drawing.contains(document.activeElement);
    if (!nodes.has(this.focused)) this.focused = root;
    const isLit = new Set(lit);
    const order = this.order();
    refill(this.drawing,
      svg("g", { class: "tree-edges", "aria-hidden": "true" }, order.map((node) => this.edgeOf(node, isLit))),
      order.map((node) => this.cardOf(node, isLit)));
    this.place();
    if (hadFocus) this.itemOf(this.focused)?.focus({ preventScroll: true });
  }

  order() {
    const found = [];
    const walk = (id) => {
      const node = this.nodes.get(id);
      found.push(node);
      node.children.forEach(walk);
    };
    walk(this.root);
    return found;
  }

  /** A node stands over the middle of its children; subtrees stand as close as their outlines allow. */
  layout() {
    const heights = [];
    this.outline(this.root, 0, heights);
    const tops = heights.map((_, depth) => MARGIN + heights.slice(0, depth).reduce((sum, height) => sum + height + GAP_Y, 0));
    let [least, most] = [Infinity, -Infinity];
    const put = (id, x, depth) => {
      const node = this.nodes.get(id);
      Object.assign(node, { x: x + node.shift, y: tops[depth], depth });
      least = Math.min(least, node.x - node.width / 2);
      most = Math.max(most, node.x + node.width / 2);
      for (const child of node.children) put(child, node.x, depth + 1);
    };
    put(this.root, 0, 0);
    for (const node of this.nodes.values()) node.x += MARGIN - least;
    this.width = most - least + 2 * MARGIN;
    this.height = tops.at(-1) + heights.at(-1) + MARGIN + 18;
  }

  /** The outline of a subtree, its node at 0: [left, right] of each level. Each child gets its `shift` from its parent. */
  outline(id, depth, heights) {
    const node = this.nodes.get(id);
    [node.width, node.height] = this.size(node);
    node.shift = 0;
    heights[depth] = Math.max(heights[depth] ?? 0, node.height);
    const levels = [];
    const places = node.children.map((child) => {
      const below = this.outline(child, depth + 1, heights);
      const place = Math.max(...below.map(([left], level) => (levels[level] ? levels[level][1] + GAP_X - left : -Infinity)), levels.length ? -Infinity : 0);
      below.forEach(([left, right], level) => {
        levels[level] = [levels[level]?.[0] ?? place + left, place + right];
      });
      return place;
    });
    const middle = places.length ? (places[0] + places.at(-1)) / 2 : 0;
    node.children.forEach((child, index) => { this.nodes.get(child).shift = places[index] - middle; });
    return [[-node.width / 2, node.width / 2], ...levels.map(([left, right]) => [left - middle, right - middle])];
  }

  edgeOf(node, isLit) {
    if (node.parent === null || !this.nodes.has(node.parent)) return null;
    const above = this.nodes.get(node.parent);
    const [from, to] = [above.y + above.height, node.y];
    const middle = (from + to) / 2;
    const path = `M${above.x} ${from}C${above.x} ${middle} ${node.x} ${middle} ${node.x} ${to}`;
    const classes = ["tree-edge", isLit.has(node.id) && isLit.has(node.parent) && "is-lit", ...this.edge(node)];
    return svg("path", { class: classes, d: path });
  }

  cardOf(node, isLit) {
    const [left, top] = [node.x - node.width / 2, node.y];
    const isOpen = node.children.length > 0;
    const folds = isOpen || node.hidden > 0;
    return svg("g", {
      class: ["tree-card", isLit.has(node.id) && "is-lit", isOpen && "is-open", ...this.mark(node)],
      transform: `translate(${left} ${top})`, role: "treeitem", tabindex: node.id === this.focused ? 0 : -1,
      "aria-level": node.depth + 1, "aria-label": this.describe(node), "aria-expanded": folds ? String(isOpen) : null,
      dataset: { id: node.id, path: node.path ?? "" },
    }, this.draw(node), folds ? this.foldMark(node, isOpen) : null);
  }

  foldMark(node, isOpen) {
    return svg("g", { class: "tree-fold", transform: `translate(${node.width / 2} ${node.height + 8})`, "aria-hidden": "true" },
      svg("rect", { x: -17, y: -9, width: 34, height: 18, rx: 9 }),
      svg("text", { y: 1 }, isOpen ? "−" : `+${node.hidden}`));
  }

  itemOf(id) {
    return this.drawing.querySelector(`[data-id="${id}"]`);
  }

  /** Sizes the drawing, and scrolls to what is lit. */
  place() {
    const room = this.window.clientWidth || 600;
    const high = this.window.clientHeight || 400;
    const fits = Math.min(ENLARGED, (room - 2) / this.width, (high - 2) / this.height);
    const wide = (room - 2) / this.width;
    this.drawn = this.scale ?? (fits >= READABLE ? fits : Math.max(READABLE, Math.min(wide, 1)));
    this.drawing.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.drawing.style.setProperty("width", `${this.width * this.drawn}px`);
    this.drawing.style.setProperty("height", `${this.height * this.drawn}px`);
    this.follow();
  }

  follow() {
    const last = this.nodes.get(this.lit.at(-1)) ?? this.nodes.get(this.root);
    if (!last) return;
    const left = last.x * this.drawn - this.window.clientWidth / 2;
    const foot = (last.y + last.height + 24) * this.drawn;
    const top = last.y * this.drawn;
    const shown = this.window.scrollTop;
    const high = this.window.clientHeight;
    const wanted = foot > shown + high ? foot - high : top < shown ? top - 16 : shown;
    this.window.scrollTo({ left, top: wanted, behavior: mayMove() ? "smooth" : "auto" });
  }

  zoom(factor) {
    this.scale = Math.min(LARGEST, Math.max(SMALLEST, this.drawn * factor));
    this.place();
  }

  listen() {
    this.drawing.addEventListener("click", (event) => {
      if (this.dragged) return;
      const card = event.target.closest(".tree-card");
      if (!card) return;
      const id = Number(card.dataset.id);
      this.focused = id;
      if (event.target.closest(".tree-fold")) this.onFold(id);
      else this.onPick(id);
    });
    this.drawing.addEventListener("keydown", (event) => this.walk(event));
    this.window.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.12 : 1 / 1.12);
    }, { passive: false });
    this.listenToDrags();
    this.observer = new ResizeObserver(() => this.nodes.size && this.place());
    this.observer.observe(this.window);
  }

  /** A mouse drags the drawing; fingers scroll it by themselves. */
  listenToDrags() {
    let from = null;
    this.window.addEventListener("pointerdown", (event) => {
      this.dragged = false;
      if (event.pointerType === "mouse" && event.button === 0) {
        from = { x: event.clientX, y: event.clientY, left: this.window.scrollLeft, top: this.window.scrollTop };
      }
    });
    this.window.addEventListener("pointermove", (event) => {
      if (!from) return;
      const [x, y] = [event.clientX - from.x, event.clientY - from.y];
      if (Math.hypot(x, y) > 4) this.dragged = true;
      if (this.dragged) this.window.scrollTo({ left: from.left - x, top: from.top - y });
    });
    for (const end of ["pointerup", "pointerleave"]) this.window.addEventListener(end, () => { from = null; });
  }

  walk(event) {
    const node = this.nodes.get(this.focused);
    if (!node || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const beside = this.nodes.get(node.parent)?.children ?? [node.id];
    const place = beside.indexOf(node.id);
    const next = {
      ArrowUp: node.parent, ArrowDown: node.children[0],
      ArrowLeft: beside[place - 1], ArrowRight: beside[place + 1],
    }[event.key];
    if (event.key === "Enter") this.onPick(node.id);
    else if (event.key === " " || (event.key === "ArrowDown" && next === undefined && node.hidden)) this.onFold(node.id);
    else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(1 / 1.25);
    else if (event.key.startsWith("Arrow")) this.goTo(next);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  goTo(id) {
    if (id === undefined || id === null) return;
    this.itemOf(this.focused)?.setAttribute("tabindex", "-1");
    this.focused = id;
    const item = this.itemOf(id);
    item?.setAttribute("tabindex", "0");
    item?.focus({ preventScroll: true });
    item?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  end() {
    this.observer.disconnect();
  }
}
