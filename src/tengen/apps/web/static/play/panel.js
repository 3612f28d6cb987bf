// One agent of an analysis: its board, its card, and what it thinks of the position.
import { Board, ghostsOf } from "../board.js";
import { button, el, refill, toast } from "../dom.js";
import { agentField, agentName } from "./fields.js";
import { keepThought, shareAt } from "./mistakes.js";
import { colourName, gameOf } from "./session.js";
import { chancesBar, forMover, noteText, percent, short } from "./value.js";

const EVERY = 0.25; // seconds between two thoughts
const MOST_ROWS = 8;
const LEAST_SHARE = 0.005; // of the search that a move had, to be listed

export class Panel {
  constructor(page, agent, slot) {
    Object.assign(this, { page, agent, slot });
    this.thought = null;
    this.id = null; // of the search that goes on
    this.place = el("div", { class: "board-place" });
    this.caption = el("figcaption", { class: "stack tight" });
    this.figure = el("figure", {}, this.place, this.caption);
    this.card = el("section", { class: "card stack tight agent-card" });
    const { t, tree } = page;
    const label = `${t("board")}: ${agentName(agent, t)}`;
    const onHover = (move) => this.hover(move);
    const onMove = (move) => page.play(move);
    this.board = new Board(this.place, { t, label, onMove, onHover, announce: page.announce });
  }

  /** Thinks about a position; resolves when it has ended, by itself or because somebody ended it. */
  think(node, time) {
    const { page } = this;
    this.stop();
    const { agent, slot } = this;
    const place = { game: page.tree.game, moves: node.path };
    const message = { type: "think", slot, ...place, agent, limit: { time }, every: EVERY, analyse: true };
    return new Promise((resolve) => {
      this.ended = resolve;
      this.id = page.socket.send(message, (answer) => this.heard(node, answer));
    });
  }

  heard(node, answer) {
    if (answer.type === "thought") {
      keepThought(node, this.agent, answer);
      if (node === this.page.tree.current) this.thought = answer;
      this.page.drawSoon();
    } else if (answer.type === "note") {
      toast(noteText(answer.note, this.page.t));
    } else if (answer.type === "done" || answer.type === "error") {
      if (answer.error) toast(answer.lost ? this.page.t("no connection") : answer.error, "problem");
      this.id = null;
      this.ended?.();
      this.page.drawSoon();
    }
  }

  stop() {
    if (this.id !== null) this.page.socket.forget(this.id);
    this.id = null;
    this.ended?.();
  }

  /** What the pointer is over: its line as numbered stones; null shows what the agent looks at again. */
  hover(move) {
    const { view } = this.page;
    const line = this.thought?.moves.find((entry) => entry.move === move)?.line;
    if (line?.length) this.board.decorate({ ghosts: ghostsOf(view, line) });
    else this.board.decorate(this.page.decorations(this));
    for (const row of this.card.querySelectorAll("tr[data-move]"))
      row.classList.toggle("on", row.dataset.move === move);
    this.isHovered = Boolean(line?.length);
  }

  draw() {
    const { page } = this;
    this.thought = page.tree.current.thoughts[this.agent] ?? null;
    this.isHovered = false;
    this.figure.style.setProperty("--columns", page.view.shape[1]);
    this.board.show(page.view, page.decorations(this));
    this.drawThought();
  }

  drawThought() {
    const { page } = this;
    const { view, t } = page;
    if (!this.isHovered) this.board.decorate(page.decorations(this));
    const share = shareAt(page.tree.current, this.agent);
    const name = page.panels.length > 1 && el("b", { class: "small" }, agentName(this.agent, t));
    refill(this.caption, name, chancesBar(view, share, t));
    if (!this.table) this.buildCard();
    if (this.table.matches(":hover, :focus-within")) return; // a row under the pointer stays where it is
    refill(this.facts, this.factsText());
    refill(this.table, this.rows());
  }

  factsText() {
    const { t, view } = this.page;
    if (view.outcome !== null) return t("game is over");
    if (!this.thought) return this.id === null ? t("paused") : t("analysing");
    const { nodes, depth, seconds, note } = this.thought;
    const parts = [
      t("positions", { n: short(nodes) }),
      depth ? `d${depth}` : "",
      `${seconds.toFixed(1)} s`,
      noteText(note, t),
    ];
    return parts.filter(Boolean).join(" · ");
  }

  buildCard() {
    const { page } = this;
    const { t } = page;
    const agents = page.agents ?? gameOf(page.games, page.tree.game).levels;
    const label = t("agent", { n: this.slot + 1 });
    const onChange = (agent) => page.setAgent(this, agent);
    const id = `agent-${this.slot + 1}`;
    this.field = agentField(label, agents, this.agent, t, { hasPerson: false, id, onChange });
    this.facts = el("p", { class: "note number" });
    this.table = el("table", { class: "table candidates" });
    const remove = page.panels.length > 1 && button(t("remove agent"), () => page.removeAgent(this), { kind: "small" });
    const head = el("div", { class: "agent-head" }, this.field.root, remove);
    refill(this.card, head, this.facts, el("div", { class: "scrolls" }, this.table));
  }

  rows() {
    const { view, t } = this.page;
    if (!this.thought || view.outcome !== null) return [];
    const hasPrior = this.thought.moves.some((move) => move.prior !== null);
    const figures = [
      t("chances", { who: colourName(view, view.to_play, t) }),
      t("share"),
      ...(hasPrior ? [t("prior")] : []),
    ];
    const head = (text, kind = "") => el("th", { scope: "col", class: kind }, text);
    const moves = this.thought.moves
      .filter((move, index) => index === 0 || move.share >= LEAST_SHARE)
      .slice(0, MOST_ROWS);
    return [
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          head(t("move")),
          figures.map((text) => head(text, "figure")),
          head(t("line")),
        ),
      ),
      el(
        "tbody",
        {},
        moves.map((move) => this.row(move, hasPrior)),
      ),
    ];
  }

  row(move, hasPrior) {
    const { view, t } = this.page;
    const chances = move.value === null ? "–" : `${percent(forMover(view, (move.value + 1) / 2))} %`;
    const [enter, leave] = [() => this.hover(move.move), () => this.hover(null)];
    const text = move.text ?? move.move;
    const name = `${text}, ${t("chances", { who: colourName(view, view.to_play, t) })} ${chances}`;
    const link = { type: "button", class: "link", "aria-label": name, onfocus: enter, onblur: leave };
    return el(
      "tr",
      { dataset: { move: move.move }, onpointerenter: enter, onpointerleave: leave },
      el("td", {}, el("button", { ...link, onclick: () => this.page.play(move.move) }, text)),
      el("td", { class: "figure" }, chances),
      el("td", { class: "figure" }, `${percent(move.share)} %`),
      hasPrior && el("td", { class: "figure" }, move.prior === null ? "–" : `${percent(move.prior)} %`),
      el("td", { class: "mono line" }, (move.shown ?? move.line).slice(1, 6).join(" ")),
    );
  }
}
