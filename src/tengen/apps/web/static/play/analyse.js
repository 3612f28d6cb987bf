// The page on which positions and games are analysed, by up to three agents side by side.
import { cellOf, moveButtons } from "../board.js";
import { button, el, keep, kept, patiently, refill, toast } from "../dom.js";
import { agentName, gameFields } from "./fields.js";
import { Graph, legend } from "./graph.js";
import { lossOf, shareAt } from "./mistakes.js";
import { MoveList } from "./movelist.js";
import { Panel } from "./panel.js";
import { openDialog, recordButtons } from "./records.js";
import { agentsOf, allGames, colourName, gameOf, linkTo, readLink, session, treeOfLink, viewOf } from "./session.js";
import { lastSettings } from "./setup.js";
import { GameTree } from "./tree.js";
import { heatOf, originMarks, percent } from "./value.js";

export { words } from "./words.js";

const LONGEST = 30; // seconds that a position is thought about
const MOST_AGENTS = 3;
const TIMES = ["0.1", "0.2", "0.5", "1", "2", "5"];

export async function show(root, context) {
  const page = new AnalysePage(root, context);
  await page.begin();
  return () => page.end();
}

/** The agents that were chosen last time. */
function lastAgents() {
  const agents = kept("analysts", []);
  return Array.isArray(agents) && agents.length ? agents.slice(0, MOST_AGENTS).map(String) : ["strongest"];
}

class AnalysePage {
  constructor(root, context) {
    Object.assign(this, { root, ...context });
    this.heat = kept("heat", "visits");
    this.isOn = true; // whether positions are thought about as one looks at them
    this.turn = 0;
    this.whole = null; // the analysis of the whole game that goes on: {n, all}
  }

  get tree() {
    return session.tree;
  }

  async begin() {
    this.games = await allGames(this.api);
    const tree = treeOfLink(readLink());
    if (tree) session.tree = tree;
    session.tree ??= new GameTree(lastSettings(this.games).game);
    this.panels = lastAgents().map((agent, slot) => new Panel(this, agent, slot));
    this.build();
    this.onKey = (event) => this.list.pressed(event);
    this.onHidden = () => (document.hidden ? this.stopAll() : this.think());
    document.addEventListener("keydown", this.onKey);
    document.addEventListener("visibilitychange", this.onHidden);
    const isIdle = () => !this.isGoing && !this.whole && this.panels.every((panel) => panel.id === null);
    this.unwatch = this.socket.watch((isOpen) => isOpen && isIdle() && this.think());
    const shown = patiently(this.advance(), this.boards, this.t("getting ready"));
    await shown.catch((reason) => this.refuseLink(reason));
  }

  end() {
    this.whole = null;
    this.isEnded = true;
    this.stopAll();
    this.unwatch?.();
    document.removeEventListener("keydown", this.onKey);
    document.removeEventListener("visibilitychange", this.onHidden);
    document.querySelectorAll("dialog").forEach((dialog) => dialog.close());
  }

  async refuseLink(reason) {
    toast(this.t("bad link", { reason: reason.message }), "problem");
    session.tree = new GameTree("gomoku");
    await this.advance();
  }

  // What is on the page.

  build() {
    const { t } = this;
    this.boards = el("div", { class: "boards" });
    this.cards = el("div", { class: "stack agent-cards" });
    this.tools = el("section", { class: "card stack tight tools" });
    const story = el("section", { class: "card stack tight story" }, el("h2", {}, t("graph")));
    this.graphNote = el("p", { class: "note" });
    this.legend = el("div");
    this.mistakes = el("div", { class: "stack tight" });
    const moves = el("section", { class: "card stack tight moves-card" });
    Object.assign(this, {
      story,
      moves,
      side: el("div", { class: "stack" }),
      below: el("div", { class: "grid2 below" }),
    });
    const left = el("div", { class: "stack" }, this.boards, this.below);
    refill(
      this.root,
      el("h1", { class: "unseen" }, t("page analyse")),
      el("div", { class: "analyse" }, left, this.side),
    );
    this.graph = new Graph(story, { t, onSelect: (ply) => this.toPly(ply) });
    story.append(this.legend, this.graphNote, el("h3", {}, t("mistakes")), this.mistakes);
    const onRemove = (node) => this.go(() => this.tree.remove(node));
    this.list = new MoveList(moves, { t, onSelect: () => this.go(() => {}), onRemove });
    const current = () => ({ tree: this.tree, sides: null, players: this.tree.players });
    const onLoad = (tree) => this.load(tree);
    moves.append(recordButtons({ api: this.api, t, page: "analyse", current, onLoad }));
    this.placePanels();
  }

  placePanels() {
    // One board is as high as the window, several leave room under them.
    const isOne = this.panels.length === 1;
    refill(this.side, this.tools, isOne && this.story, this.cards, isOne && this.moves);
    refill(this.below, !isOne && [this.story, this.moves]);
    this.boards.dataset.count = this.panels.length;
    refill(
      this.boards,
      this.panels.map((panel) => panel.figure),
    );
    refill(
      this.cards,
      this.panels.map((panel) => panel.card),
    );
    for (const panel of this.panels) panel.table = null;
  }

  draw() {
    if (!this.view) return;
    for (const panel of this.panels) panel.draw();
    this.drawTools();
    this.drawStory();
  }

  drawSoon() {
    if (this.isDrawing) return;
    this.isDrawing = true;
    requestAnimationFrame(() => {
      this.isDrawing = false;
      if (this.isEnded || !this.view) return;
      for (const panel of this.panels) {
        panel.thought = this.tree.current.thoughts[panel.agent] ?? panel.thought;
        panel.drawThought();
      }
      this.drawGraph();
      if (this.whole) this.drawProgress();
    });
  }

  drawTools() {
    const { t } = this;
    const act = (name, action, kind = "", isOn = true) =>
      button(t(name), action, { name, kind: `small ${kind}`, isOn });
    const segment = (kind) => {
      const state = { "aria-pressed": String(this.heat === kind), dataset: { heat: kind } };
      return el("button", { type: "button", ...state, onclick: () => this.setHeat(kind) }, t(`heat ${kind}`));
    };
    const kinds = ["visits", "policy", "off"].map(segment);
    const heat = el("div", { class: "segments", role: "group", "aria-label": t("heat map") }, kinds);
    this.progress = el("div", { class: "stack tight", role: "status" });
    const isGame = this.tree.root.children.length > 0;
    const others = moveButtons(this.view, t, (move) => this.play(move), { kind: "small" });
    refill(
      this.tools,
      el(
        "div",
        { class: "row spread" },
        this.isOn ? act("stop analysis", () => this.turnOff()) : act("start analysis", () => this.turnOn(), "primary"),
        heat,
      ),
      others.length > 0 && el("div", { class: "row", role: "group", "aria-label": t("moves") }, others),
      this.progress,
      el(
        "div",
        { class: "row" },
        act("whole game", () => this.analyseAll(), isGame ? "primary" : "", isGame && !this.whole),
        el("span", { class: "row small muted" }, t("a position"), this.timeChoice()),
      ),
      el(
        "div",
        { class: "row" },
        act("add agent", () => this.addAgent(), "", this.panels.length < MOST_AGENTS),
        act("new board", () => this.chooseGame()),
        act("back to play", () => this.navigate(linkTo("play", this.tree))),
      ),
    );
    this.drawProgress();
  }

  timeChoice() {
    const options = TIMES.map((time) => el("option", { value: time }, this.t("seconds", { n: time })));
    const keepTime = (event) => keep("analysis time", event.target.value);
    const select = el(
      "select",
      { id: "analysis-time", "aria-label": this.t("a position"), onchange: keepTime },
      options,
    );
    select.value = kept("analysis time", "0.5");
    return select;
  }

  drawProgress() {
    if (!this.whole) {
      refill(this.progress);
      return;
    }
    const { n, all } = this.whole;
    const cancel = button(this.t("cancel"), () => this.cancelAll(), { name: "cancel", kind: "small" });
    refill(
      this.progress,
      el("div", { class: "row spread small" }, this.t("whole game is", { n, all }), cancel),
      el("div", { class: "bar" }, el("span", { style: { width: `${(100 * n) / all}%` } })),
    );
  }

  /** The curve, the mistakes and the moves with their signs. */
  drawStory() {
    this.drawGraph();
    const { t, view } = this;
    const agent = this.panels[0].agent;
    const found = this.losses();
    this.list.show(this.tree, (node) => {
      const loss = found.get(node);
      return loss && { sign: loss.sign, kind: loss.kind, title: this.lossText(node, loss) };
    });
    const worst = [...found].sort(([, a], [, b]) => b.loss - a.loss).slice(0, 10);
    const isKnown = this.tree.line.filter((node) => shareAt(node, agent) !== null).length > 1;
    refill(
      this.mistakes,
      worst.length
        ? el(
            "ol",
            { class: "mistakes" },
            worst.map(([node, loss]) => this.mistake(node, loss)),
          )
        : el("p", { class: "note" }, t(isKnown ? "no mistakes" : "mistakes after")),
    );
    refill(this.legend, this.panels.length > 1 && legend(this.panels.map((panel) => agentName(panel.agent, t))));
    const { players, result } = this.tree;
    const names = { first: players[0] || "?", second: players[1] || "?", result };
    refill(
      this.graphNote,
      players.some(Boolean) ? `${t("loaded", names)} · ` : "",
      t("graph about", { who: colourName(view, 0, t) }),
    );
  }

  mistake(node, loss) {
    const text = `${loss.sign} ${this.t("lost short", { n: percent(loss.loss) })}`;
    const go = {
      type: "button",
      class: "move",
      title: this.lossText(node, loss),
      onclick: () => this.list.select(node),
    };
    return el(
      "li",
      {},
      el(
        "button",
        go,
        el("span", { class: "move-number" }, node.ply),
        el("span", {}, node.text),
        el("span", { class: ["sign", loss.kind] }, text),
        el("span", { class: "muted small" }, `→ ${loss.bestText}`),
      ),
    );
  }

  drawGraph() {
    const { line, current } = this.tree;
    const series = this.panels.map(({ agent }) => line.map((node) => shareAt(node, agent)));
    const ply = current.ply;
    const share = shareAt(current, this.panels[0].agent);
    const chances = share === null ? "" : `${colourName(this.view, 0, this.t)} ${percent(share)} %`;
    const text = `${ply}. ${current.text ?? ""} ${chances}`;
    const signs = [...this.losses()].map(([node, loss]) => ({ ply: node.ply, kind: loss.kind }));
    this.graph.show({ series, current: ply, last: line.length - 1, signs, text });
  }

  /** What the moves of the line lost, by the first agent. */
  losses() {
    const { agent } = this.panels[0];
    const found = new Map();
    this.tree.line.forEach((node) => {
      const loss = lossOf(node, agent, this.moverOf(node));
      if (loss) found.set(node, loss);
    });
    return found;
  }

  /** Who made the move to a node: as a view has told, else by turns. */
  moverOf(node) {
    return node.mover ?? (this.view.to_play + this.tree.current.ply + node.ply + 1) % 2;
  }

  lossText(node, loss) {
    const who = colourName(this.view, this.moverOf(node), this.t);
    return this.t("lost", { who, n: percent(loss.loss), move: node.text, best: loss.bestText });
  }

  /** What lies over the stones of a panel's board. */
  decorations(panel) {
    const { view } = this;
    const marks = [];
    const loss = this.losses().get(this.tree.current);
    if (loss && panel === this.panels[0]) {
      const cell = cellOf(view, loss.best);
      if (cell !== null && !view.board[cell]) marks.push({ cell, kind: "square", tone: "good" });
    }
    const hasHeat = this.heat !== "off" && panel.thought && view.outcome === null;
    if (hasHeat) marks.push(...originMarks(view, panel.thought));
    return { heat: hasHeat ? heatOf(view, panel.thought, this.heat) : [], marks };
  }

  // What happens.

  async advance() {
    const mine = ++this.turn;
    const node = this.tree.current;
    this.isGoing = true; // no move is taken before the last has come back
    const view = await viewOf(this.socket, this.tree.game, node.path).finally(() => {
      if (mine === this.turn) this.isGoing = false;
    });
    if (mine !== this.turn || this.isEnded) return;
    this.view = view;
    this.tree.learn(view);
    this.tree.game = view.game;
    node.outcome = view.outcome ?? undefined;
    if (this.offered !== view.game) this.offerAgents(view.game);
    history.replaceState(null, "", linkTo("analyse", this.tree));
    this.draw();
    this.think();
  }

  go(change) {
    if (!this.whole) this.stopAll();
    change();
    return this.advance().catch((reason) => toast(reason.message, "problem"));
  }

  play(move) {
    if (!this.isGoing && this.view.legal.includes(move)) this.go(() => this.tree.play(move));
  }

  toPly(ply) {
    const node = this.tree.line[ply];
    if (node && node !== this.tree.current)
      this.go(() => {
        this.tree.current = node;
      });
  }

  /** All agents think about the position that is shown. */
  think() {
    if (!this.isOn || this.whole || !this.view || this.view.outcome !== null || document.hidden) return;
    for (const panel of this.panels) panel.think(this.tree.current, LONGEST);
    for (const panel of this.panels) panel.drawThought();
  }

  stopAll() {
    for (const panel of this.panels ?? []) panel.stop();
  }

  turnOff() {
    this.isOn = false;
    this.stopAll();
    this.draw();
  }

  turnOn() {
    this.isOn = true;
    this.draw();
    this.think();
  }

  setHeat(kind) {
    this.heat = kind;
    keep("heat", kind);
    this.draw();
  }

  /** Every position of the line in turn, by all agents at once. */
  async analyseAll() {
    this.stopAll();
    const nodes = this.tree.line;
    const mine = { n: 0, all: nodes.length };
    this.whole = mine;
    const time = Number(kept("analysis time", "0.5"));
    this.draw();
    for (const node of nodes) {
      mine.n += 1;
      const view = await viewOf(this.socket, this.tree.game, node.path).catch(() => null);
      if (this.whole !== mine || !view) break;
      node.outcome = view.outcome ?? undefined;
      if (view.outcome === null) await Promise.all(this.panels.map((panel) => panel.think(node, time)));
      if (this.whole !== mine) break;
      this.drawStory();
    }
    if (this.whole === mine) this.cancelAll();
  }

  cancelAll() {
    this.whole = null;
    this.stopAll();
    if (this.isEnded) return;
    this.draw();
    this.think();
  }

  load(tree) {
    this.go(() => {
      this.whole = null;
      this.stopAll();
      session.tree = tree;
      tree.toEnd();
    });
  }

  chooseGame() {
    const { t } = this;
    const fields = gameFields(this.games, this.tree.game, t);
    const submit = (event) => {
      event.preventDefault();
      dialog.close();
      this.load(new GameTree(fields.spec()));
    };
    const buttons = el(
      "div",
      { class: "row" },
      button(t("start"), null, { kind: "primary", type: "submit" }),
      button(t("cancel"), () => dialog.close()),
    );
    const form = el("form", { onsubmit: submit }, el("h2", {}, t("new board")), fields.root, buttons);
    const dialog = el("dialog", { "aria-label": t("new board") }, form);
    openDialog(dialog);
  }

  // Agents.

  /** Offers the nets of runs that learned the game, beside its levels. */
  async offerAgents(game) {
    this.offered = game;
    const agents = await agentsOf(this.api, this.games, game);
    if (this.offered !== game || this.isEnded) return;
    this.agents = agents;
    for (const panel of this.panels) panel.field?.offer(agents);
  }

  changeAgents(change) {
    this.whole = null;
    this.stopAll();
    change();
    this.panels.forEach((panel, slot) => {
      panel.slot = slot;
    });
    keep(
      "analysts",
      this.panels.map((panel) => panel.agent),
    );
    this.placePanels();
    this.draw();
    this.think();
  }

  setAgent(panel, agent) {
    this.changeAgents(() => {
      panel.agent = agent;
    });
  }

  addAgent() {
    const { levels } = gameOf(this.games, this.tree.game);
    const used = new Set(this.panels.map((panel) => panel.agent));
    const agent = [...levels].reverse().find((level) => !used.has(level.name))?.name ?? "strongest";
    this.changeAgents(() => this.panels.push(new Panel(this, agent, this.panels.length)));
  }

  removeAgent(panel) {
    this.changeAgents(() => {
      this.panels = this.panels.filter((other) => other !== panel);
    });
  }
}
