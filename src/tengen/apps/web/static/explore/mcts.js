// The tree search, alive: select, expand and evaluate, back up; every card with its N, W, Q, P and U.
import { el, svg, refill, choice, patiently, loadSheet } from "../dom.js";
import { gameTitle } from "../play/session.js";
import { PositionEditor, words as positionWords } from "./position.js";
import { pseudocode } from "./pseudocode.js";
import { Telling } from "./telling.js";
import { figure, newStone, numberField, segments, stamp, titled } from "./small.js";
import { Stepper, withSteps } from "./stepper.js";
import { TreeView } from "./tree.js";

const CARD = { width: 148, height: 84, root: 32, board: 60 };
const LARGEST_STAMP = 36; // cells of a board that is drawn on cards
const SLIDES_COUNTS = { 2: 40, 3: 10, 6: 5, 7: 10, 8: 15, 9: 320 }; // after 400 simulations, as the slides have it
const SLIDES_CELLS = ["7", "8", "9", "4", "5", "6", "1", "2", "3"]; // as they number them
const OWN_SECOND = 4; // fields of the form that stand in its first column
const DEFAULTS = {
  example: "slides", game: "tictactoe", moves: [], search: "puct", evaluator: "rollout",
  exploration: { puct: 1.5, gumbel: 1.5, uct: 0.7 }, urgency: 0.25, considered: 4, noise: 1, simulations: 100, seed: 1,
};

export async function show(root, context) {
  await loadSheet("explore/explore.css");
  const page = new TreeSearchPage(root, context);
  await patiently(page.begin(), page.tree.element, context.t("getting ready"));
  return () => page.end();
}

class TreeSearchPage {
  constructor(root, { t, api, socket }) {
    Object.assign(this, { t, api });
    this.settings = { ...DEFAULTS, exploration: { ...DEFAULTS.exploration } };
    this.played = []; // moves of the search itself, since the position of the settings
    this.folds = new Map(); // what a person has opened or closed
    this.mode = "path";
    this.temperature = 1;
    this.picked = null;
    this.stepper = new Stepper({
      t,
      count: () => this.telling?.count ?? 0,
      stride: () => this.telling?.phases.length ?? 1,
      most: () => this.telling?.total ?? 0,
      reach: (whole) => this.reach(whole),
      show: (step) => this.showStep(step),
      names: { whole: "simulation", target: "run to", counter: "counter" },
    });
    this.tree = new TreeView({
      t, label: t("search tree"),
      size: (node) => this.sizeOf(node), draw: (node) => this.drawCard(node), describe: (node) => this.describe(node),
      mark: (node) => this.marksOf(node),
      onPick: (id) => { this.picked = id; this.tell(); this.drawTree(); },
      onFold: (id) => { this.folds.set(id, !this.isOpen(this.telling.cards.get(id))); this.drawTree(); },
    });
    this.editor = new PositionEditor({ t, socket, onChange: (game, moves) => { Object.assign(this.settings, { game, moves }); this.load(); } });
    this.form = el("div", { class: "explore-form" });
    this.phases = el("ol", { class: "phases", "aria-label": t("phases") });
    this.story = el("div", { class: "story", "aria-live": "polite" });
    this.levels = el("div", { class: "stack tight" });
    this.policy = el("div", { class: "stack tight" });
    this.code = el("details", { class: "stack tight", hidden: true });
    this.build(root);
  }

  build(root) {
    const { t } = this;
    refill(root, el("div", { class: "explore" },
      el("section", { class: "card explore-main", "aria-label": t("search tree") },
        el("div", { class: "row spread" }, el("h1", {}, t("title")), segments(t("what is shown"), ["path", "visited", "all"].map((value) => ({ value, label: t(`show ${value}`) })), "path", (mode) => { this.mode = mode; this.folds.clear(); this.drawTree(); })),
        this.stepper.element, el("div", { class: "row spread" }, this.phases, this.tree.tools), this.tree.element, el("p", { class: "note keys" }, t("keys"))),
      el("aside", { class: "explore-side stack" },
        titled(t("what happens"), this.story),
        this.code,
        titled(t("choice by formula"), this.levels),
        titled(t("which move"), this.policy)),
      el("section", { class: "card stack explore-settings" }, el("h2", {}, t("search to watch")), this.form)));
  }

  async begin() {
    this.offers = await this.api.get("api/explore");
    await this.editor.open(this.settings.game, []);
    this.drawForm();
    await this.load();
  }

  question() {
    const { example, game, moves, search, evaluator, exploration, urgency, considered, noise, simulations, seed } = this.settings;
    const played = this.played.map(({ move }) => move);
    if (example !== "own") return { example, simulations: example === "slides" ? 60 : 1, played };
    return { game, moves, search, evaluator, exploration: exploration[search], urgency, considered, noise, simulations, seed, played };
  }

  /** The search of the settings; `played` are moves that it has made since, each with its name. */
  async load(played = []) {
    this.played = played;
    const asked = this.question();
    this.tree.element.setAttribute("aria-busy", "true");
    await this.stepper.load(this.api.post("api/explore/mcts", asked), (part) => {
      Object.assign(this, { asked, telling: new Telling(part), picked: null });
      this.folds.clear();
    });
    if (!this.stepper.element.inert) this.tree.element.removeAttribute("aria-busy");
  }

  /** Fetches what is needed for so many simulations. */
  async reach(whole) {
    const telling = this.telling;
    while (telling === this.telling && telling.simulations.length < Math.min(whole, telling.total)) {
      telling.take(await this.api.post("api/explore/mcts", { ...this.asked, begin: telling.simulations.length }));
    }
  }

  showStep(step) {
    if (!this.telling) return;
    this.telling.goTo(step);
    this.drawTree();
    this.tell();
  }

  // The tree.

  isOpen(card) {
    if (!card.children.length) return false;
    if (this.folds.has(card.id)) return this.folds.get(card.id);
    if (card.parent === null || this.mode === "all" || this.telling.trace.search === "lecture") return true;
    return this.mode === "visited" ? card.children.some((id) => this.telling.cards.get(id).visits) : this.telling.lit.includes(card.id);
  }

  drawTree() {
    if (!this.telling) return;
    const nodes = new Map();
    const put = (id) => {
      const card = this.telling.cards.get(id);
      const isOpen = this.isOpen(card);
      const shown = isOpen ? card.children.filter((child) => this.isShown(child)) : [];
      nodes.set(id, { id, parent: card.parent, path: card.path, children: shown, hidden: isOpen ? 0 : card.children.length });
      shown.forEach(put);
    };
    put(0);
    this.tree.show(nodes, 0, this.telling.lit);
  }

  isShown(id) {
    const card = this.telling.cards.get(id);
    return this.mode !== "visited" || card.visits > 0 || this.telling.lit.includes(id);
  }

  hasStamp(card) {
    const { shape } = this.telling.trace;
    return Boolean(card.board) && shape[0] * shape[1] <= LARGEST_STAMP;
  }

  sizeOf({ id }) {
    const card = this.telling.cards.get(id);
    return [CARD.width, this.textHeight(card) + (this.hasStamp(card) ? CARD.board + 8 : 0)];
  }

  textHeight(card) {
    return card.parent === null ? CARD.root : CARD.height;
  }

  marksOf({ id }) {
    const card = this.telling.cards.get(id);
    return [card.parent === null && "is-root", card.visits === 0 && card.parent !== null && "is-new", card.proven && `is-${card.proven}`, id === this.picked && "is-picked"].filter(Boolean);
  }

  drawCard(node) {
    const { t, telling } = this;
    const card = telling.cards.get(node.id);
    const isRoot = card.parent === null;
    const parts = [svg("rect", { class: "tree-box", width: node.width, height: node.height, rx: 8 })];
    if (card.player !== null && !isRoot) parts.push(svg("circle", { class: `mover of-${card.player + 1}`, cx: 15, cy: 14, r: 5.5 }));
    parts.push(svg("text", { class: "tree-title", x: isRoot ? 10 : 26, y: 18.5, dataset: { field: "name" } }, this.titleOf(card)));
    if (card.proven) parts.push(svg("text", { class: `proof is-${card.proven}`, x: node.width - 9, y: 18.5 }, t(`proven ${card.proven}`)));
    const fields = this.fieldsOf(card);
    if (isRoot) parts.push(svg("text", { class: "tree-name", x: 76, y: 18.5 }, "N"), svg("text", { class: "tree-figure", x: 90, y: 18.5, dataset: { field: "N" } }, fields[0][1]));
    else fields.forEach(([name, text], place) => {
      const [x, y] = [10 + (place % 2) * 69, 37 + Math.floor(place / 2) * 18];
      parts.push(svg("text", { class: "tree-name", x, y }, name), svg("text", { class: "tree-figure", x: x + (name.length > 1 ? 30 : 14), y, dataset: { field: name } }, text));
    });
    if (this.hasStamp(card)) {
      const [rows, columns] = telling.trace.shape;
      const last = newStone(telling.cards.get(card.parent)?.board, card.board);
      parts.push(svg("g", { transform: `translate(${(node.width - (columns * CARD.board) / rows) / 2} ${this.textHeight(card)})` }, stamp(telling.trace, card.board, CARD.board, last, this.asked.example === "slides" ? SLIDES_CELLS : null)));
    }
    return parts;
  }

  titleOf(card) {
    if (this.telling.trace.search === "lecture") {
      const wins = card.player === 0 ? card.value : card.visits - card.value;
      return `${figure(wins)}/${card.visits}`;
    }
    return card.parent === null ? this.t("root") : card.name;
  }

  fieldsOf(card) {
    const { telling } = this;
    const mean = telling.mean(card);
    const n = ["N", String(card.visits)];
    if (card.parent === null) return [n];
    const q = ["Q", mean === null ? "0" : figure(mean)];
    const w = ["W", figure(card.value, 2)];
    const u = ["U", figure(telling.term(card, "u"))];
    if (card.prior === null) return [n, w, q, u, ["Q+U", figure(telling.term(card, "score"))]];
    const p = ["P", figure(card.prior)];
    if (telling.terms.get(card.parent)?.rule === "gumbel") return [n, w, q, p, ["sum", figure(telling.term(card, "score"), 2)]];
    return [n, w, q, p, u, ["Q+U", figure(telling.term(card, "score"), 2)]];
  }

  describe({ id }) {
    const card = this.telling.cards.get(id);
    const figures = this.fieldsOf(card).map(([name, text]) => `${name} ${text}`).join(", ");
    return `${this.titleOf(card)}: ${figures}${card.proven ? `, ${this.t(`proven ${card.proven}`)}` : ""}`;
  }

  // The words.

  playerName(player) {
    return this.t(this.telling.trace.players[player]);
  }

  tell() {
    if (!this.telling) return;
    const { telling, t } = this;
    const now = telling.now;
    refill(this.phases, telling.phases.map((phase) => el("li", { "aria-current": phase === now?.phase ? "step" : null, class: [phase === now?.phase && "is-now"] }, this.phaseName(phase))));
    refill(this.story, this.storyOf(now));
    this.tellCode(now);
    this.tellLevels(now);
    this.tellPolicy();
  }

  /** The lecture's pseudocode, for its own search alone. */
  tellCode(now) {
    this.code.hidden = !["uct", "lecture"].includes(this.telling.trace.search);
    refill(this.code, el("summary", {}, this.t("pseudocode")), pseudocode(now?.phase));
  }

  storyOf(now) {
    const { t, telling } = this;
    const { search } = telling.trace;
    if (!now) return [el("p", {}, t(this.beginning(search), { n: telling.cards.get(0).visits })), this.noteOf(search)];
    const { simulation, phase, number } = now;
    const names = simulation.path.slice(1).map((id) => this.nameIn(id, simulation)).join(" → ");
    const { verdict } = simulation;
    const player = this.playerName(verdict.player);
    const values = { number, names, player, value: figure(verdict.value), count: simulation.opened.length, winner: this.winnerOf(verdict) };
    const lines = [el("p", {}, el("b", {}, t("simulation number", values)), " ", this.phaseName(phase))];
    if (phase === "select") lines.push(el("p", {}, t(search === "uct" || search === "lecture" ? "told select uct" : "told select", { ...values, names: this.selectedNames(simulation) })));
    if (phase === "expand") lines.push(el("p", {}, t(this.expandWords(simulation), values)));
    if (phase === "simulate") lines.push(el("p", {}, t(verdict.kind === "rollout" ? "told rollout" : `told ${verdict.kind}`, values)));
    if (phase === "backup") lines.push(this.backupTable(simulation));
    return [lines, this.noteOf(search)];
  }

  beginning(search) {
    if (this.played.length) return this.telling.total ? "before kept" : "kept and proven";
    return search === "lecture" ? "before lecture" : search === "uct" ? "before uct" : "before";
  }

  noteOf(search) {
    const { asked, t, telling } = this;
    if (asked.example === "lecture") return el("p", { class: "note" }, t("note lecture"));
    if (asked.example === "slides") return el("p", { class: "note" }, t("note slides"));
    if (telling.step === telling.total * telling.phases.length && telling.trace.note.includes("proven")) return el("p", { class: "note" }, t("is proven"));
    return search === "uct" ? el("p", { class: "note" }, t("note uct")) : null;
  }

  nameIn(id, simulation) {
    const card = this.telling.cards.get(id) ?? simulation.opened.find((each) => each.id === id);
    return this.titleOf(card);
  }

  selectedNames(simulation) {
    const names = simulation.path.slice(1).filter((id) => this.telling.cards.has(id)).map((id) => this.nameIn(id, simulation));
    return names.join(" → ") || this.t("root");
  }

  expandWords(simulation) {
    const { kind } = simulation.verdict;
    if (this.telling.phases.length === 4) return simulation.opened.length ? "told new" : "told nothing new";
    return kind === "net" ? (this.asked.evaluator === "uniform" ? "told uniform" : "told net") : `told ${kind === "rollout" ? "opened rollout" : kind}`;
  }

  phaseName(phase) {
    return this.t(phase === "expand" && this.telling.phases.length === 4 ? "phase expand alone" : `phase ${phase}`);
  }

  winnerOf({ value, player }) {
    return value === 0 ? this.t("nobody") : this.playerName(value > 0 ? player : 1 - player);
  }

  backupTable(simulation) {
    const rows = simulation.backup.map((update) => {
      const card = this.telling.cards.get(update.id);
      const sign = update.added < 0 ? "" : "+";
      return el("tr", {},
        el("td", {}, card.parent === null ? this.t("root") : this.titleOf(card)),
        el("td", { class: "figure" }, String(update.visits)),
        el("td", { class: "figure" }, `${sign}${figure(update.added)}`),
        el("td", { class: "figure" }, figure(update.value)),
        el("td", { class: "figure" }, figure(update.value / update.visits)));
    });
    return el("table", { class: "table", dataset: { table: "backup" } },
      el("thead", {}, el("tr", {}, [this.t("action"), "N", "±", "W", "Q"].map((name, place) => el("th", { class: place ? "figure" : "" }, name)))),
      el("tbody", {}, rows));
  }

  /** What was compared at each node of the path, and how it came out. */
  tellLevels(now) {
    const { telling, t } = this;
    const path = this.picked !== null && telling.cards.get(this.picked)?.children.length ? [this.picked] : now && now.phase !== "backup" ? now.simulation.path.slice(0, -1) : [0];
    const blocks = path.filter((id) => telling.terms.has(id) && telling.cards.has(id)).map((id, place) => this.levelBlock(id, now, place));
    refill(this.levels, blocks.length ? blocks : el("p", { class: "note" }, t("nothing compared")));
  }

  levelBlock(id, now, place) {
    const { telling, t } = this;
    const terms = telling.terms.get(id);
    const simulation = now?.simulation;
    const onPath = simulation ? simulation.path.indexOf(id) : -1;
    const isChoosing = now && now.phase !== "backup" && onPath >= 0 && this.picked === null;
    const next = !isChoosing && id === 0 && this.picked === null ? this.upcoming() : null;
    const chosen = isChoosing ? simulation.path[onPath + 1] : next?.path[1];
    const wanted = terms.rule === "gumbel" ? (isChoosing ? simulation.wanted : next?.wanted) : null;
    const cards = terms.cards.map((child) => telling.cards.get(child)).filter(Boolean);
    const ranked = cards.map((card) => [card, telling.term(card, "score")]).sort((one, other) => other[1] - one[1] || other[0].prior - one[0].prior);
    const best = ranked.find(([card]) => card.id === chosen) ?? (telling.trace.search === "uct" ? null : ranked[0]);
    const isIn = ([card]) => wanted === null || wanted === undefined || card.visits === wanted;
    const other = best ? ranked.find((each) => each[0].id !== best[0].id && isIn(each)) : null;
    const name = id === 0 ? t("at the root") : t("below", { name: this.titleOf(telling.cards.get(id)) });
    const player = cards.length && cards[0].player !== null ? t("to move", { player: this.playerName(cards[0].player) }) : "";
    return el("div", { class: "level", dataset: { level: telling.cards.get(id).path || "root" } },
      el("h3", {}, name, " ", el("span", { class: "muted" }, player)),
      place === 0 ? this.formula(terms) : null,
      best ? el("p", { class: "worked", dataset: { worked: "best" } }, this.worked(best[0], terms)) : null,
      other && best ? el("p", { class: "worked against", dataset: { worked: "other" } }, t("against"), " ", this.worked(other[0], terms)) : null,
      other && best && other[1] === best[1] && terms.rule === "puct" ? el("p", { class: "note", dataset: { worked: "tie" } }, t("tie")) : null,
      this.levelTable(terms, cards, chosen, wanted));
  }

  /** The simulation that comes next, if it is known. */
  upcoming() {
    const { telling } = this;
    const done = Math.ceil(telling.step / telling.phases.length);
    return telling.simulations[done] ?? null;
  }

  formula(terms) {
    const texts = {
      puct: "Q + U,  U = c · P · √ΣN / (1 + N)",
      ucb1: this.telling.trace.search === "lecture" ? "W/N + √(ln n / N)" : "W/N + C · √(2 ln n / N)",
      gumbel: "g + ln P + σ(Q),  σ(Q) = (50 + max N) · Q",
    };
    return el("p", { class: "formula" }, texts[terms.rule]);
  }

  worked(card, terms) {
    const { telling } = this;
    const name = this.titleOf(card);
    const score = figure(telling.term(card, "score"));
    const c = this.asked.exploration ?? 5; // the slides'
    const q = figure(telling.term(card, "q"));
    if (terms.rule === "puct") return [el("b", {}, name), `: ${q} + ${figure(c)} · ${figure(card.prior)} · √${terms.visits} / (1 + ${card.visits}) = `, el("b", { class: "number" }, score)];
    if (terms.rule === "gumbel") return [el("b", {}, name), `: ${figure(telling.term(card, "g"))} + (${figure(telling.term(card, "logit"))}) + (${figure(telling.term(card, "sigma"))}) = `, el("b", { class: "number" }, score)];
    const root = telling.trace.search === "lecture" ? `√(ln ${terms.visits} / ${card.visits})` : `${figure(c)} · √(2 ln ${terms.visits} / ${card.visits})`;
    return [el("b", {}, name), `: ${figure(card.value)}/${card.visits} + ${root} = `, el("b", { class: "number" }, score)];
  }

  levelTable(terms, cards, chosen, wanted) {
    const { telling, t } = this;
    const columns = { puct: ["q", "u"], ucb1: ["q", "u"], gumbel: ["g", "logit", "sigma"] }[terms.rule];
    const heads = { q: "Q", u: "U", g: "g", logit: "ln P", sigma: "σ(Q)" };
    const isUcb = terms.rule === "ucb1";
    const hasPriors = terms.rule === "puct"; // Gumbel's table has their logarithms
    const rows = cards.map((card) => el("tr", { class: [card.id === chosen && "is-chosen", (card.proven === "lost" || (wanted !== null && wanted !== undefined && card.visits !== wanted)) && "is-out"], dataset: { row: card.name || this.titleOf(card) } },
      el("td", {}, this.titleOf(card), card.id === chosen ? el("span", { title: t("chosen"), "aria-label": t("chosen") }, " ★") : null),
      el("td", { class: "figure", dataset: { column: "N" } }, String(card.visits)),
      !hasPriors ? null : el("td", { class: "figure", dataset: { column: "P" } }, figure(card.prior)),
      columns.map((name) => el("td", { class: "figure", dataset: { column: heads[name] } }, figure(telling.term(card, name)))),
      el("td", { class: "figure", dataset: { column: "score" } }, el("b", {}, figure(telling.term(card, "score"))))));
    const sum = isUcb ? "UCB1" : terms.rule === "gumbel" ? t("sum") : "Q+U";
    return el("div", { class: "scrolls" }, el("table", { class: "table" },
      el("thead", {}, el("tr", {}, [t("action"), "N", hasPriors ? "P" : null, ...columns.map((name) => heads[name]), sum].filter(Boolean).map((name, place) => el("th", { class: place ? "figure" : "" }, name)))),
      el("tbody", {}, rows),
      wanted !== null && wanted !== undefined ? el("caption", { class: "note" }, t("halving", { wanted })) : null));
  }

  // Which move is played.

  tellPolicy() {
    const { telling, t } = this;
    const root = telling.cards.get(0);
    if (telling.trace.search === "lecture") {
      refill(this.policy, el("p", { class: "note" }, t("policy lecture")));
      return;
    }
    const counts = this.usesSlidesCounts
      ? Object.entries(SLIDES_COUNTS)
      : root.children.map((id) => [telling.cards.get(id).name, telling.cards.get(id).visits]);
    const powers = counts.map(([, visits]) => (this.temperature > 0 ? visits ** (1 / this.temperature) : 0));
    const most = Math.max(...counts.map(([, visits]) => visits));
    const total = powers.reduce((sum, power) => sum + power, 0);
    const shares = counts.map(([, visits], place) => (this.temperature > 0 ? (total ? powers[place] / total : 0) : visits === most && most > 0 ? 1 : 0));
    const isEnd = telling.step === telling.total * telling.phases.length && telling.simulations.length === telling.total;
    const improved = telling.trace.search === "gumbel" && isEnd ? telling.trace.policy : null;
    refill(this.policy,
      el("div", { class: "row" },
        el("label", { class: "field policy-heat" }, el("span", {}, t("temperature", { tau: figure(this.temperature, 2) })),
          el("input", { type: "range", min: 0, max: 2, step: 0.25, value: this.temperature, "aria-label": t("temperature", { tau: figure(this.temperature, 2) }), onchange: (event) => { this.temperature = Number(event.target.value); this.tellPolicy(); } })),
        this.asked.example === "slides" && !this.played.length ? el("button", { type: "button", class: "button small", "aria-pressed": String(Boolean(this.usesSlidesCounts)), dataset: { action: "slides counts" }, onclick: () => { this.usesSlidesCounts = !this.usesSlidesCounts; this.tellPolicy(); } }, t("slides counts")) : null),
      el("p", { class: "formula" }, "π = N^(1/τ) / ΣN^(1/τ)"),
      el("div", { class: "policy-rows" }, counts.map(([name, visits], place) => el("div", { class: "policy-row", dataset: { policy: name } },
        el("b", {}, name), el("span", { class: "number muted" }, String(visits)),
        el("span", { class: "bar" }, el("span", { style: { width: `${100 * shares[place]}%` } })),
        el("span", { class: "number", dataset: { share: name } }, figure(shares[place], 4))))),
      improved ? [el("h3", {}, t("improved policy")), el("div", { class: "policy-rows" }, Object.entries(improved).map(([name, share]) => el("div", { class: "policy-row" },
        el("b", {}, name), el("span", {}), el("span", { class: "bar" }, el("span", { style: { width: `${100 * share}%` } })), el("span", { class: "number" }, figure(share, 4)))))] : null,
      isEnd && !this.usesSlidesCounts ? el("p", { dataset: { best: telling.trace.best } }, t("plays", { move: this.nameOfMove(telling.trace.best) })) : null,
      this.playedRow(isEnd && !this.usesSlidesCounts));
  }

  /** What the search has played so far, and a way to play on: PUCT keeps the subtree of its move. */
  playedRow(isEnd) {
    const { t, played } = this;
    const { best, is_last: isLast, search } = this.telling.trace;
    if (search !== "puct") return null;
    const act = (name, text, onclick) => el("button", { type: "button", class: "button small", dataset: { action: name }, onclick }, text);
    const name = this.nameOfMove(best);
    return [
      played.length ? el("p", { dataset: { played: played.length } }, t("played so far", { moves: played.map((each) => each.name).join(", ") })) : null,
      el("div", { class: "row" },
        isEnd && !isLast ? act("play on", t("play on", { move: name }), () => this.load([...played, { move: best, name }])) : null,
        isEnd && isLast ? el("span", { class: "note" }, t("is last", { move: name })) : null,
        played.length ? act("from the start", t("from the start"), () => this.load()) : null),
    ];
  }

  nameOfMove(move) {
    const { cards } = this.telling;
    return cards.get(0).children.map((id) => cards.get(id)).find((card) => card.move === move)?.name ?? move;
  }

  // The form.

  drawForm() {
    const { t, settings } = this;
    const change = (name) => (value) => { settings[name] = value; this.load(); };
    const parts = [choice(t("example"), ["slides", "lecture", "own"].map((value) => ({ value, label: t(`example ${value}`) })), settings.example, (value) => { settings.example = value; this.usesSlidesCounts = false; this.drawForm(); this.load(); }, { dataset: { field: "example" } })];
    if (settings.example === "own") parts.push(...this.ownFields(change));
    refill(this.form, el("div", { class: "stack tight" }, parts.slice(0, OWN_SECOND)), el("div", { class: "stack tight" }, parts.slice(OWN_SECOND, -1)), parts.length > OWN_SECOND ? parts.at(-1) : null);
  }

  ownFields(change) {
    const { t, settings, offers } = this;
    const offer = offers.games.find((each) => each.game === settings.game) ?? offers.games[0];
    const isUct = settings.search === "uct";
    return [
      choice(t("game"), offers.games.map(({ game }) => ({ value: game, label: gameTitle(game, t) })), settings.game, (game) => this.changeGame(game), { dataset: { field: "game" } }),
      segments(t("search"), ["puct", "gumbel", "uct"].map((value) => ({ value, label: t(`search ${value}`), title: t(`about ${value}`) })), settings.search, (search) => { settings.search = search; this.drawForm(); this.load(); }),
      el("p", { class: "note" }, t(`about ${settings.search}`)),
      isUct ? null : choice(t("evaluator"), offer.evaluators.map((value) => ({ value, label: ["uniform", "rollout", "slides"].includes(value) ? t(`evaluator ${value}`) : value })), settings.evaluator, change("evaluator"), { dataset: { field: "evaluator" } }),
      el("div", { class: "fields" },
        numberField(isUct ? "C" : "c", settings.exploration[settings.search], { min: 0, max: 100, step: 0.05 }, (value) => { settings.exploration[settings.search] = value; this.load(); }),
        numberField(t("simulations"), Math.min(settings.simulations, offer.simulations), { min: 1, max: offer.simulations, step: 1 }, change("simulations")),
        numberField(t("seed"), settings.seed, { min: 0, max: 2 ** 31, step: 1 }, change("seed")),
        settings.search === "gumbel" ? numberField(t("considered"), settings.considered, { min: 1, max: 64, step: 1 }, change("considered")) : null,
        settings.search === "gumbel" ? numberField(t("noise"), settings.noise, { min: 0, max: 10, step: 0.5 }, change("noise")) : null,
        isUct ? null : numberField(t("urgency"), settings.urgency, { min: -1, max: 2, step: 0.25, title: t("about urgency") }, change("urgency"))),
      el("div", { class: "stack tight" }, el("h3", {}, t("position")), this.editor.element),
    ];
  }

  async changeGame(game) {
    const offer = this.offers.games.find((each) => each.game === game);
    Object.assign(this.settings, { game, moves: [], simulations: Math.min(this.settings.simulations, offer.simulations) });
    if (!offer.evaluators.includes(this.settings.evaluator)) this.settings.evaluator = "rollout";
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
    title: "Tree search, one simulation at a time",
    "search tree": "Search tree", "what is shown": "What is shown", "show path": "Path", "show visited": "Visited", "show all": "All",
    phases: "Phases of a simulation", "phase select": "Select", "phase expand": "Expand and evaluate", "phase expand alone": "Expand", "phase simulate": "Simulate", "phase backup": "Back up",
    simulation: "Simulation", "run to": "Run to", counter: "{whole} of {all}",
    "what happens": "What happens", pseudocode: "UCT in pseudocode", "choice by formula": "The choice, in numbers", "which move": "Which move is played", "search to watch": "The search",
    root: "Root", action: "Action", sum: "sum", chosen: "chosen",
    before: "The root has been expanded: every action has its prior P, nothing has been tried, and all U are 0. Step to begin the first simulation.",
    "before uct": "The tree is a bare root. Each playout adds one node. Step to begin.",
    "before lecture": "Each node says A/B: Black's wins and visits. Black is to move at the root, visited {n} times. Step to see the four phases.",
    "simulation number": "Simulation {number}.",
    "told select": "From the root, always the action with the highest score: {names}.",
    "told select uct": "From the root, always the child with the highest UCB1, as long as no action is untried: {names}.",
    "told net": "The network is asked about the leaf: v = {value} for {player}, to move there. {count} actions get their priors.",
    "told uniform": "Nothing is known of the leaf: v = 0, and {count} actions with equal priors.",
    "told opened rollout": "The leaf opens with {count} actions. Random moves to the end: {winner} wins, so v = {value} for {player}, to move there.",
    "told end": "The game is over here: v = {value} for {player}, who would be to move. No network is needed.",
    "told proof": "This is proven already: v = {value} for {player}, to move there.",
    "told new": "An untried action is added as a new node: {names}.",
    "told nothing new": "Nothing is added: how this ends is proven.",
    "told rollout": "Random moves from there to the end: {winner} wins.",
    nobody: "nobody",
    "is proven": "The root is proven: the search has ended by itself.",
    "note slides": "The slides' example: cells are numbered 7 8 9 / 4 5 6 / 1 2 3, White is to play, c = 5. The network's answers are theirs; of other positions it knows nothing. What is proven lost is left out from then on, which the slides do not do.",
    "note lecture": "The lecture takes the root's n on every level and leaves out the 2. (It prints 1.243 where this is 1.242.) White's nodes count White's wins: 1 − A/B.",
    "note uct": "W counts wins of the player who took the action, a draw half; Q is in [0, 1].",
    "proven lost": "lost", "proven drawn": "draw", "proven won": "won",
    "at the root": "At the root", below: "Below {name}", against: "against", tie: "A tie goes to the highest prior, then to the first.", "nothing compared": "Nothing has been compared yet.",
    halving: "Sequential halving: next is the best of those visited {wanted} times.",
    temperature: "τ = {tau}", "slides counts": "The slides' counts after 400", "improved policy": "Gumbel's policy: softmax(ln P + σ(Q))",
    plays: "The search plays {move}.", "play on": "Play {move} and search on", "from the start": "From the start", "is last": "{move} ends the game.",
    "played so far": "Played so far: {moves}.",
    "before kept": "The move is played, and its subtree is kept: the cards have the N, W and Q that they had. Step to search on.",
    "kept and proven": "The move is played, and its subtree is kept. How this ends is proven already, so there is nothing left to search.",
    "policy lecture": "After many simulations, the child that was visited most is played.",
    example: "Example", "example slides": "The slides' search on 3×3 (PUCT)", "example lecture": "The lecture's UCB1 example", "example own": "A position of your own",
    game: "Game", search: "Search", "search puct": "PUCT", "search gumbel": "Gumbel", "search uct": "UCT",
    "about puct": "AlphaZero's search: a network's priors and values guide the tree.",
    "about gumbel": "A few actions are drawn with Gumbel noise, and halved again and again; below the root it is PUCT.",
    "about uct": "UCB1 in every node and a random game from every new one.",
    evaluator: "Leaves are judged by", "evaluator uniform": "nobody: even priors, v = 0", "evaluator rollout": "a random game to the end", "evaluator slides": "the slides' network",
    simulations: "Simulations", seed: "Seed", considered: "Actions drawn", noise: "Noise", urgency: "Urgency",
    "about urgency": "How much worse than its node an action never tried is thought to be; −1: it is thought even",
  },
  zh: {
    ...positionWords.zh,
    title: "树搜索：一次一个模拟",
    "search tree": "搜索树", "what is shown": "显示范围", "show path": "路径", "show visited": "已访问", "show all": "全部",
    phases: "一次模拟的各阶段", "phase select": "选择", "phase expand": "扩展与评估", "phase expand alone": "扩展", "phase simulate": "模拟", "phase backup": "反向传播",
    simulation: "一次模拟", "run to": "运行到", counter: "第 {whole} 次，共 {all} 次",
    "what happens": "正在发生什么", pseudocode: "UCT 的伪代码", "choice by formula": "选择的依据", "which move": "走哪一步", "search to watch": "搜索设置",
    root: "根节点", action: "动作", sum: "总和", chosen: "被选中",
    before: "根节点已扩展：每个动作有先验概率 P，尚未尝试任何动作，所有 U 都是 0。点“下一步”开始第一次模拟。",
    "before uct": "树只有根节点。每次模拟增加一个节点。点“下一步”开始。",
    "before lecture": "每个节点写作 A/B：黑棋胜利次数与访问次数。根节点由黑棋行棋，已访问 {n} 次。点“下一步”看四个步骤。",
    "simulation number": "第 {number} 次模拟。",
    "told select": "从根节点开始，每次选择得分最高的动作：{names}。",
    "told select uct": "从根节点开始，只要没有未尝试的动作，就选择 UCB1 最大的子节点：{names}。",
    "told net": "向网络询问叶节点：对轮到走的{player}，v = {value}。{count} 个动作得到先验概率。",
    "told uniform": "对叶节点一无所知：v = 0，{count} 个动作先验相等。",
    "told opened rollout": "叶节点展开 {count} 个动作。随机走到终局：{winner}胜，对轮到走的{player}，v = {value}。",
    "told end": "对局在此结束：对轮到走的{player}，v = {value}。不需要网络。",
    "told proof": "此处已有证明：对轮到走的{player}，v = {value}。",
    "told new": "一个未尝试的动作成为新节点：{names}。",
    "told nothing new": "没有新增节点：结局已被证明。",
    "told rollout": "从此处随机走到终局：{winner}胜。",
    nobody: "无人",
    "is proven": "根节点已被证明，搜索自行结束。",
    "note slides": "幻灯片的例子：格子编号 7 8 9 / 4 5 6 / 1 2 3，轮到白棋，c = 5。网络的回答取自幻灯片；对其他局面它一无所知。已证明必败的动作此后不再考虑，幻灯片没有这样做。",
    "note lecture": "讲义在每一层都用根节点的 n，并省去了 2。（它印作 1.243 的值实为 1.242。）白棋节点按白棋胜率计算：1 − A/B。",
    "note uct": "W 是走出该动作一方的胜利次数，平局算半次；Q 在 [0, 1] 内。",
    "proven lost": "必败", "proven drawn": "和", "proven won": "必胜",
    "at the root": "在根节点", below: "在 {name} 之下", against: "对比", tie: "相等时取先验概率最高者，再取最先者。", "nothing compared": "还没有比较过。",
    halving: "逐次减半：下一个是访问过 {wanted} 次的动作中最好的。",
    temperature: "τ = {tau}", "slides counts": "幻灯片 400 次后的计数", "improved policy": "Gumbel 策略：softmax(ln P + σ(Q))",
    plays: "搜索走 {move}。", "play on": "走 {move} 并继续搜索", "from the start": "回到开头", "is last": "{move} 结束对局。",
    "played so far": "已走：{moves}。",
    "before kept": "走出该步，保留其子树：卡片上的 N、W、Q 不变。点“下一步”继续搜索。",
    "kept and proven": "走出该步，保留其子树。结局已被证明，无需再搜索。",
    "policy lecture": "多次模拟之后，走访问次数最多的子节点。",
    example: "例子", "example slides": "幻灯片的 3×3 搜索（PUCT）", "example lecture": "讲义的 UCB1 例子", "example own": "自己的局面",
    game: "游戏", search: "搜索", "search puct": "PUCT", "search gumbel": "Gumbel", "search uct": "UCT",
    "about puct": "AlphaZero 的搜索：网络的先验与价值引导搜索树。",
    "about gumbel": "用 Gumbel 噪声抽取少量动作，逐次减半；根节点以下是 PUCT。",
    "about uct": "每个节点用 UCB1，每个新节点随机走完一局。",
    evaluator: "叶节点由谁评估", "evaluator uniform": "无人：先验相等，v = 0", "evaluator rollout": "随机走到终局", "evaluator slides": "幻灯片的网络",
    simulations: "模拟次数", seed: "随机种子", considered: "抽取的动作数", noise: "噪声", urgency: "急迫度",
    "about urgency": "未尝试的动作被认为比其节点差多少；−1 表示视为均势",
  },
});
