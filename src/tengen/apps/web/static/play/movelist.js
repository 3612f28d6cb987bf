// The moves of a game: the line we are on, and the other lines where they leave it.
import { button, el, refill } from "../dom.js";
import { icon } from "../icons.js";

const TO_START = (tree) => tree.toStart();
const TO_END = (tree) => tree.toEnd();
const BACK = (tree) => tree.back();
const FORWARD = (tree) => tree.forward();
const KEYS = { ArrowLeft: BACK, ArrowRight: FORWARD, Home: TO_START, End: TO_END };

export class MoveList {
  /** `onSelect(node)` is told where somebody wants to go, `onRemove(node)` which variation is to go. */
  constructor(root, { t, onSelect, onRemove = null }) {
    Object.assign(this, { root, t, onSelect, onRemove });
    this.list = el("ol", { class: "moves", "aria-label": t("moves") });
    this.comment = el("p", { class: "comment" });
    root.append(this.navigation(), this.list, this.comment);
  }

  navigation() {
    const step = (name, sign, action) =>
      button(icon(sign), () => this.go(action), {
        name,
        kind: "icon small",
        title: this.t(name),
        "aria-label": this.t(name),
      });
    return el(
      "div",
      { class: "row steps", role: "group", "aria-label": this.t("navigation") },
      step("to start", "first", TO_START),
      step("back", "back", BACK),
      step("forward", "forward", FORWARD),
      step("to end", "last", TO_END),
    );
  }

  step(name) {
    return this.root.querySelector(`.steps [data-action="${name}"]`);
  }

  /** Takes a step on the tree that is shown. */
  go(step) {
    if (!this.tree) return;
    const before = this.tree.current;
    step(this.tree);
    if (this.tree.current !== before) this.onSelect(this.tree.current);
  }

  /** Arrow keys, wherever they are not needed for something else. */
  pressed(event) {
    const isTaken = event.target.closest?.("input, select, textarea, dialog, [role=grid]");
    if (isTaken || event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
    event.preventDefault();
    this.go(KEYS[event.key]);
  }

  /** `notes(node)` may say [sign, kind, title] about a move: a mistake, for instance. */
  show(tree, notes = () => null) {
    this.tree = tree;
    const { line } = tree;
    refill(
      this.list,
      line.slice(1).map((node, index) => this.item(node, index + 1, notes(node))),
    );
    if (line.length === 1) refill(this.list, el("li", { class: "muted note" }, this.t("no moves yet")));
    this.comment.textContent = tree.current.comment;
    this.reveal(this.list.querySelector("[aria-current]"));
    const isStart = tree.current === tree.root;
    for (const name of ["to start", "back"]) this.step(name).disabled = isStart;
    for (const name of ["forward", "to end"]) this.step(name).disabled = tree.isAtEnd;
  }

  /** Scrolls the list, and nothing but the list, to where we are. */
  reveal(button) {
    const { list } = this;
    if (!button) {
      list.scrollTop = 0;
      return;
    }
    const [top, inner] = [button.offsetTop, button.offsetHeight];
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + inner > list.scrollTop + list.clientHeight) list.scrollTop = top + inner - list.clientHeight;
  }

  item(node, number, note) {
    const others = node.parent.children.slice(1);
    return el(
      "li",
      { class: [number % 2 && "odd"] },
      el(
        "button",
        {
          type: "button",
          class: "move",
          "aria-current": node === this.tree.current ? "step" : null,
          onclick: () => this.select(node),
        },
        el("span", { class: "move-number" }, number),
        el("span", {}, node.text),
        note && el("span", { class: ["sign", note.kind], title: note.title }, note.sign),
      ),
      others.length > 0 &&
        el(
          "span",
          { class: "variations" },
          others.map((other) => this.variation(other)),
        ),
    );
  }

  variation(node) {
    const label = this.t("variation", { move: node.text });
    return el(
      "span",
      { class: "variation" },
      el(
        "button",
        { type: "button", class: "move", title: label, "aria-label": label, onclick: () => this.select(node) },
        node.text,
      ),
      this.onRemove &&
        el(
          "button",
          {
            type: "button",
            class: "remove",
            title: this.t("remove variation"),
            "aria-label": `${this.t("remove variation")}: ${node.text}`,
            onclick: () => this.onRemove(node),
          },
          "×",
        ),
    );
  }

  select(node) {
    this.tree.select(node);
    this.onSelect(node);
  }
}
