// The page on which one plays: against a person, a level or any agent.
import { Board, ghostsOf, moveButtons, stoneIcon, textOf } from "../board.js";
import { button, el, keep, kept, patiently, refill, toast } from "../dom.js";
import { MoveClock, secondsOf, timeLeft } from "./clock.js";
import { agentName, PERSON } from "./fields.js";
import { MoveList } from "./movelist.js";
import { recordButtons } from "./records.js";
import { allGames, colourName, gameOf, keepView, knownView, linkTo, readLink, session, treeOfLink, viewOf } from "./session.js";
import { lastSettings, setupDialog, sidesOf } from "./setup.js";
import { GameTree } from "./tree.js";
import { chancesBar, heatOf, noteText, originMarks, short } from "./value.js";

export { words } from "./words.js";

const EVERY = 0.15; // seconds between two looks at what an agent thinks
const HINT_TIME = 1; // seconds

export async function show(root, context) {
  const page = new PlayPage(root, context);
  await page.begin();
  return () => page.end();
}

class PlayPage {
  constructor(root, context) {
    Object.assign(this, { root, ...context });
    this.turn = 0; // counts what was begun, so that an answer to something older is not heard
    this.thinking = null; // {id, thought, isHint, onView: who waits for the position that is thought about}
    this.isLive = true; // whether an agent may answer: not while somebody looks through the game
    this.isPaused = false;
    this.showsThinking = kept("shows thinking", true);
    this.clock = new MoveClock({ onTick: () => this.drawClock(), onOut: (node, player) => this.runOut(node, player) });
  }

  async begin() {
    this.games = await allGames(this.api);
    this.settings = lastSettings(this.games);
    this.takeGame(readLink());
    this.build();
    this.onKey = (event) => this.pressed(event);
    document.addEventListener("keydown", this.onKey);
    this.unwatch = this.socket.watch((isOpen) => isOpen && !this.thinking && !this.isGoing && this.advance());
    await this.advance().catch((reason) => this.refuseLink(reason));
  }

  end() {
    this.turn += 1; // what is on its way is not shown any more
    this.forgetThinking();
    this.clock.stop();
    this.unwatch?.();
    document.removeEventListener("keydown", this.onKey);
    document.querySelectorAll("dialog").forEach((dialog) => dialog.close());
  }

  /** The game that the link holds, else the one at hand, else one as it was chosen last time. */
  takeGame(facts) {
    const tree = treeOfLink(facts);
    if (facts.game) session.clock = secondsOf(facts.clock);
    else if (!session.tree) session.clock = secondsOf(this.settings.clock);
    if (tree) session.tree = tree;
    else if (!session.tree) session.tree = new GameTree(this.settings.game);
    if (facts.first || facts.second) {
      session.sides = [facts.first ?? PERSON, facts.second ?? PERSON];
      this.settings.begins = "one";
    }
    session.sides ??= sidesOf(this.settings);
  }

  /** A link may hold anything; then the usual game is shown, and what was wrong is said. */
  async refuseLink(reason) {
    toast(this.t("bad link", { reason: reason.message }), "problem");
    session.tree = new GameTree(gameOf(this.games, this.settings.game).name);
    await this.advance();
  }

  get tree() {
    return session.tree;
  }

  // What is on the page.

  build() {
    const { t } = this;
    this.stage = el("div", { class: "stage" });
    this.players = el("section", { class: "players", "aria-label": t("players") });
    this.status = el("p", { class: "status", role: "status" });
    this.facts = el("p", { class: "note facts" });
    this.urgent = el("div", { class: "row urgent" });
    this.actions = el("div", { class: "row actions", role: "group", "aria-label": t("actions") });
    this.thought = el("div", { class: "thought" });
    const moves = el("section", { class: "card stack tight moves-card" });
    const records = recordButtons({
      api: this.api,
      t,
      page: "play",
      current: () => this.record(),
      onLoad: (tree) => this.load(tree),
    });
    const thinks = el("input", {
      type: "checkbox",
      checked: this.showsThinking,
      onchange: (event) => {
        this.showsThinking = event.target.checked;
        keep("shows thinking", this.showsThinking);
        this.draw();
      },
    });
    refill(
      this.root,
      el("h1", { class: "unseen" }, t("page play")),
      el(
        "div",
        { class: "play" },
        this.players,
        this.stage,
        el(
          "section",
          { class: "card stack tight control" },
          this.status,
          this.facts,
          this.urgent,
          this.actions,
          this.thought,
          el("label", { class: "check small" }, thinks, t("show thinking")),
        ),
        moves,
      ),
    );
    this.list = new MoveList(moves, { t, onSelect: () => this.look(), onRemove: (node) => this.removeVariation(node) });
    const analyse = () => this.navigate(linkTo("analyse", this.tree));
    records.prepend(button(t("analyse this"), analyse, { name: "analyse", kind: "small primary" }));
    moves.append(records);
    this.board = new Board(this.stage, {
      t,
      onMove: (move) => this.play(move),
      onHover: (move) => this.hovered(move),
      announce: this.announce,
    });
  }

  draw() {
    const { view } = this;
    if (!view) return;
    this.board.show(view, { ...this.decorations(), isActive: this.canPlay(), whyNot: this.whyNot() });
    this.drawPlayers();
    this.drawStatus();
    this.drawActions();
    this.drawThought();
    this.list.show(this.tree);
  }

  /** What changes while an agent thinks, and no more. */
  drawThinking() {
    this.board.decorate(this.decorations());
    this.drawStatus();
    this.drawThought();
  }

  /** What lies over the stones while somebody thinks. */
  decorations() {
    const { thinking, view } = this;
    if (!thinking?.thought || !(thinking.isHint || this.showsThinking)) return {};
    const heat = heatOf(view, thinking.thought, "visits", { hasText: thinking.isHint, most: 12 });
    return { heat, marks: originMarks(view, thinking.thought) };
  }

  drawPlayers() {
    const { view, t } = this;
    const scores = view.score ?? [null, null];
    refill(
      this.players,
      [0, 1].map((player) => {
        const isOn = !this.isOver() && view.to_play === player;
        return el(
          "div",
          { class: ["player", isOn && "on"], "aria-current": isOn ? "true" : null },
          stoneIcon(view, player, 28),
          el(
            "div",
            { class: "player-names" },
            el("b", {}, this.sideName(player)),
            el("span", { class: "muted small" }, colourName(view, player, t)),
          ),
          scores[player] !== null && el("b", { class: "score number" }, scores[player]),
          isOn && session.clock && this.clockFace(),
          isOn &&
            this.thinking &&
            !this.thinking.isHint &&
            el("span", { class: "dots", "aria-hidden": "true" }, el("i"), el("i"), el("i")),
        );
      }),
    );
  }

  clockFace() {
    this.face = el("span", { class: "clock number", role: "timer", "aria-label": this.t("time left") });
    this.drawClock();
    return this.face;
  }

  drawClock() {
    if (!session.clock || !this.face) return;
    const { text, isLow } = timeLeft(session.clock, (this.clock.node ?? this.tree.current).spent);
    if (this.face.textContent !== text) this.face.textContent = text;
    this.face.classList.toggle("is-low", isLow);
  }

  drawStatus() {
    const text = this.statusText();
    if (this.status.textContent !== text) this.status.textContent = text;
    this.status.classList.toggle("over", this.isOver());
    this.facts.textContent = this.view.facts ? this.t("facts are", { facts: this.view.facts }) : "";
  }

  statusText() {
    const { view, t } = this;
    const who = colourName(view, view.to_play, t);
    const { resigned, isLate } = this.tree.current;
    if (resigned !== null)
      return t(isLate ? "late" : "resigned", { who: colourName(view, resigned, t), other: colourName(view, 1 - resigned, t) });
    if (view.outcome === "draw") return t("draw");
    if (view.outcome) return this.winText(view.outcome === "first" ? 0 : 1);
    if (this.problem) return this.problem;
    if (this.thinking?.isHint) return this.hintText() ?? t("looking");
    if (this.thinking) return t(this.thinking.isWaiting ? "waiting" : "thinking", { who });
    if (view.legal.length === 1 && view.legal[0] === "pass" && view.score) return t("must pass", { who });
    return t(this.isAlone(view.to_play) ? "your move" : "to move", { who });
  }

  /** What the hint says, once it is known. */
  hintText() {
    const { thought } = this.thinking;
    return thought?.isDone ? this.t("hint is", { move: thought.moves[0]?.text ?? "–" }) : null;
  }

  winText(player) {
    const who = colourName(this.view, player, this.t);
    const margin = /^[BW]\+(\d.*)$/.exec(this.view.result)?.[1];
    return margin ? this.t("wins by", { who, n: margin }) : this.t("wins", { who });
  }

  drawActions() {
    const { view, t } = this;
    const act = (name, key, action, isOn, kind = "") =>
      button(t(name), action, { name, kind, isOn, title: key ? `${t(name)} (${key.toUpperCase()})` : null });
    const goesOn = !this.isOver();
    const isAgents = !this.isPerson(view.to_play);
    const bothAgents = session.sides.every((side) => side !== PERSON);
    const others = view.legal.filter((move) => move !== "pass"); // which has a button and a key of its own
    const urgent = [];
    if (this.thinking && !this.thinking.isHint) urgent.push(act("stop", "s", () => this.stop(), true, "warm"));
    if (goesOn && isAgents && !this.thinking)
      urgent.push(act(bothAgents ? "go on" : "let it play", "", () => this.letItPlay(), true, "primary"));
    if (goesOn && bothAgents && this.thinking) urgent.push(act("pause", "", () => this.pause(), true));
    if (!goesOn) urgent.push(act("restart", "", () => this.restart(), true, "primary"));
    const pieces = [
      act("undo", "u", () => this.undo(), this.canUndo()),
      act("hint", "h", () => this.hint(), goesOn && this.isPerson(view.to_play) && !this.thinking),
      view.legal.includes("pass") &&
        act("pass", "p", () => this.pass(), this.canPlay(), view.legal.length === 1 ? "primary" : ""),
      moveButtons({ ...view, legal: others }, t, (move) => this.play(move), { isOn: this.canPlay() }),
      act("resign", "", () => this.resign(), this.canResign()),
      act("swap sides", "", () => this.swap(), true),
      goesOn && act("restart", "", () => this.restart(), this.tree.root.children.length > 0),
      act("new game", "n", () => this.choose(), true),
    ];
    keepFocus(this.urgent, () => refill(this.urgent, urgent));
    keepFocus(this.actions, () => refill(this.actions, pieces));
  }

  drawThought() {
    const thought = this.isOver() ? null : this.lastThought;
    if (!thought || !this.showsThinking || thought.winrate === null || thought.winrate === undefined) {
      refill(this.thought);
      return;
    }
    const [best] = thought.moves;
    const line = (best?.shown?.length ? best.shown : [best?.text]).slice(0, 6).join(" ");
    const effort = thought.nodes > 0 && this.t("positions", { n: short(thought.nodes) });
    const facts = [effort, noteText(thought.note, this.t)]
      .filter(Boolean)
      .join(" · ");
    refill(
      this.thought,
      chancesBar(this.view, thought.winrate, this.t),
      el("p", { class: "note" }, `${this.t("expected line")} `, el("span", { class: "mono" }, line), facts && ` · ${facts}`),
    );
  }

  // Who is who.

  isPerson(player) {
    return session.sides[player] === PERSON;
  }

  /** Whether the player is the only person at the board. */
  isAlone(player) {
    return this.isPerson(player) && !this.isPerson(1 - player);
  }

  sideName(player) {
    return this.isAlone(player) ? this.t("you") : agentName(session.sides[player], this.t);
  }

  isOver() {
    return this.view.outcome !== null || this.tree.current.resigned !== null;
  }

  /** Whether a person may move: not for an agent that is about to, nor before the last move has come back. */
  canPlay() {
    const isTurn = this.isPerson(this.view.to_play) || !this.isLive;
    return isTurn && !this.isOver() && !this.isGoing && (!this.thinking || this.thinking.isHint);
  }

  /** Why a press on the board does nothing; nothing is said of a move that is on its way. */
  whyNot() {
    if (this.isOver()) return this.t("game is over");
    return this.isGoing ? null : this.t("not your turn", { who: colourName(this.view, this.view.to_play, this.t) });
  }

  canResign() {
    return !this.isOver() && session.sides.includes(PERSON) && this.tree.current.parent !== null;
  }

  /** Where an undo leads: to the last position in which a person had to move. */
  undoTarget() {
    const hasPerson = session.sides.includes(PERSON);
    let node = this.tree.current.parent;
    while (node && hasPerson && !this.isPerson(this.moverAt(node))) node = node.parent;
    return node;
  }

  /** Who moves at a node before this one: as the view tells, else by turns. */
  moverAt(node) {
    return this.view.movers?.[node.ply] ?? (this.view.to_play + this.tree.current.ply - node.ply) % 2;
  }

  canUndo() {
    return this.tree.current.resigned !== null || Boolean(this.undoTarget());
  }

  // What happens.

  /** Shows where the game stands, once `asked` has brought it, and lets an agent think if it is its turn. */
  async advance(asked = this.viewHere()) {
    const mine = ++this.turn;
    this.isGoing = true;
    const view = await asked.finally(() => {
      if (mine === this.turn) this.isGoing = false;
    });
    if (mine !== this.turn) return;
    this.view = view;
    this.tree.learn(view);
    this.tree.game = view.game; // spelled as the server does
    history.replaceState(null, "", linkTo("play", this.tree, session.sides, session.clock));
    this.draw();
    if (this.shouldThink() && !this.thinking) this.think(view.to_play);
    this.wind();
  }

  /** The position as the server tells it. A game that is not shown yet may have to be compiled first: that is said. */
  viewHere() {
    const { game, current } = this.tree;
    const asked = viewOf(this.socket, game, current.path);
    return this.view?.game === game ? asked : patiently(asked, this.stage, this.t("getting ready"));
  }

  /** Lets the clock run for whoever is to move; for an agent from its first word, since waiting for its turn is free. */
  wind() {
    const { clock, tree, view } = this;
    if (session.clock && !this.isLive && !tree.isAtEnd) return; // who looks through the game does not stop it
    const isThinking = Boolean(this.thinking?.thought) || this.isPerson(view.to_play);
    if (!session.clock || this.isOver() || this.isPaused || !isThinking) clock.stop();
    else clock.run(tree.current, view.to_play, session.clock);
  }

  /** Somebody's time is over, wherever one looks meanwhile: the game is lost. */
  runOut(node, player) {
    this.go(() => {
      this.tree.select(node);
      Object.assign(node, { resigned: player, isLate: true });
    });
  }

  /** Changes something and shows it; if the server refuses the position, we are where we were. */
  async go(change, ask = () => this.viewHere()) {
    this.forgetThinking();
    const { tree } = session;
    const { current } = tree;
    this.problem = null;
    change();
    try {
      await this.advance(ask());
    } catch (reason) {
      toast(reason.message, "problem");
      session.tree = tree;
      tree.current = current;
      this.draw();
      this.wind();
    }
  }

  shouldThink() {
    const isTurn = !this.isOver() && !this.isPerson(this.view.to_play);
    return isTurn && !this.isPaused && !this.problem && (this.isLive || this.tree.isAtEnd);
  }

  /** A person's move. A board is not asked twice: what is on its way counts. */
  play(move) {
    if (!this.canPlay()) return;
    this.announce(this.t("played", { who: colourName(this.view, this.view.to_play, this.t), move: textOf(this.view, move) }));
    this.clock.stop();
    const next = 1 - this.view.to_play; // mostly; if the same player moves again, nobody waits for the other's answer
    const change = () => {
      Object.assign(this, { isLive: true, isPaused: false });
      this.tree.play(move);
    };
    this.go(change, () => this.viewBefore(next));
  }

  /** The position in which a player is next. If that is an agent, the question is put to it at the same time. */
  viewBefore(player) {
    const { game, current } = this.tree;
    if (this.isPerson(player) || knownView(game, current.path)) return this.viewHere();
    return new Promise((resolve, reject) => this.think(player, { resolve, reject }));
  }

  pass() {
    if (this.view.legal.includes("pass")) this.play("pass");
  }

  /** Somebody looks through the game: nobody thinks, unless it is at the end of the line. */
  look() {
    this.go(() => {
      this.isLive = false;
      this.lastThought = null;
    });
  }

  letItPlay() {
    this.go(() => {
      this.isLive = true;
      this.isPaused = false;
    });
  }

  pause() {
    this.go(() => {
      this.isPaused = true;
    });
  }

  undo() {
    if (!this.view || !this.canUndo()) return;
    const target = this.undoTarget();
    this.announce(this.t("took back"));
    this.go(() => {
      const { current } = this.tree;
      if (current.resigned !== null) current.resigned = null;
      else this.tree.select(target);
      this.tree.current.spent = 0; // whoever takes back may think anew
      this.isLive = true;
      this.isPaused = !session.sides.includes(PERSON);
      this.lastThought = null;
    });
  }

  resign() {
    const player = this.isPerson(this.view.to_play) ? this.view.to_play : 1 - this.view.to_play;
    this.go(() => {
      Object.assign(this.tree.current, { resigned: player, isLate: false });
    });
  }

  swap() {
    this.go(() => {
      session.sides.reverse();
      this.isLive = true;
    });
  }

  restart() {
    this.start(this.settingsNow());
  }

  /** The settings of the game that is shown. */
  settingsNow() {
    const begins = this.settings.begins === "random" ? "random" : "one"; // the first of the two sides, that is
    const clock = String(session.clock ?? "");
    return { ...this.settings, game: this.tree.game, players: [...session.sides], begins, clock };
  }

  start(settings) {
    this.clock.stop();
    this.go(() => {
      session.tree = new GameTree(settings.game);
      session.sides = sidesOf(settings);
      session.clock = secondsOf(settings.clock);
      Object.assign(this, { isLive: true, isPaused: false, lastThought: null });
    });
  }

  choose() {
    setupDialog({
      api: this.api,
      games: this.games,
      settings: this.settingsNow(),
      t: this.t,
      onStart: (chosen) => {
        this.settings = chosen;
        this.start(chosen);
      },
    });
  }

  load(tree) {
    this.clock.stop();
    this.go(() => {
      session.tree = tree;
      this.isLive = false;
      this.isPaused = true; // a game that was loaded is looked at first
      tree.toEnd();
    });
  }

  removeVariation(node) {
    this.tree.remove(node);
    this.look();
  }

  record() {
    const { tree, sides } = session;
    const players = tree.players.some(Boolean) ? tree.players : sides.map((side) => (side === PERSON ? "" : side));
    return { tree, sides, players };
  }

  // Agents.

  /** An agent thinks about the position at hand; `onView` is told that position, if it is not shown yet. */
  think(player, onView = null) {
    const agent = session.sides[player];
    const time = Number(this.settings.time);
    const mine = { node: this.tree.current, player, thought: null, isHint: false, onView };
    this.thinking = mine;
    const hear = (answer) => this.thinking === mine && this.heard(mine, answer);
    mine.id = this.ask({ agent, view: Boolean(onView), ...(time ? { limit: { time } } : {}) }, hear);
    if (!onView) this.draw();
  }

  /** Asks an agent about the position that is shown. */
  ask(question, hear) {
    const { game, current } = this.tree;
    return this.socket.send({ type: "think", slot: 0, game, moves: current.path, every: EVERY, ...question }, hear);
  }

  heard(mine, answer) {
    if (mine.onView && answer.type !== "note") {
      this.heardView(mine, answer);
      return;
    }
    if (answer.type === "thought" || answer.type === "move") this.lastThought = answer;
    if (answer.type === "thought") {
      Object.assign(mine, { thought: answer, isWaiting: false });
      this.wind();
      this.drawSoon();
    } else if (answer.type === "waiting") {
      mine.isWaiting = true;
      this.drawSoon();
    } else if (answer.type === "note") {
      toast(noteText(answer.note, this.t));
    } else if (answer.type === "move") {
      this.thinking = null;
      this.clock.stop();
      this.tree.select(mine.node);
      const { view, ...thought } = answer;
      mine.node.thoughts.play = thought;
      this.announce(this.t("played", { who: colourName(this.view, this.view.to_play, this.t), move: textOf(this.view, answer.move) }));
      this.tree.play(answer.move);
      keepView(this.tree.game, this.tree.current.path, view);
      this.advance().catch((reason) => toast(reason.message, "problem"));
    } else if (answer.type === "error" || answer.type === "done") {
      this.thinking = null;
      this.problem = answer.lost ? null : (answer.error ?? null);
      if (answer.lost) toast(this.t("no connection"));
      this.draw();
      this.wind();
    }
  }

  /** The first answer to a person's move: where it leads, or why it is refused. */
  heardView(mine, answer) {
    const { resolve, reject } = mine.onView;
    const { view } = answer;
    mine.onView = null;
    if (view && view.to_play !== mine.player) this.forgetThinking(); // whoever has moved moves again
    if (!view || view.outcome !== null) this.thinking = null;
    if (view) resolve(keepView(this.tree.game, mine.node.path, view));
    else reject(new Error(answer.error));
  }

  /** Draws once a frame at most, however often an agent says something. */
  drawSoon() {
    if (this.isDrawing) return;
    this.isDrawing = true;
    requestAnimationFrame(() => {
      this.isDrawing = false;
      if (this.thinking) this.drawThinking();
      else this.draw();
    });
  }

  /** A search that is stopped plays the best it has found. */
  stop() {
    if (this.thinking) this.socket.stop(this.thinking.id);
  }

  forgetThinking() {
    if (this.thinking) this.socket.forget(this.thinking.id);
    if (this.thinking && !this.thinking.isHint) this.clock.stop();
    this.thinking = null;
  }

  /** What the strongest level would play here. */
  hint() {
    if (this.thinking || this.isOver()) return;
    const { tree } = this;
    const strongest = gameOf(this.games, tree.game).levels.at(-1).name;
    const mine = { node: tree.current, thought: null, isHint: true };
    this.thinking = mine;
    mine.id = this.ask({ agent: strongest, limit: { time: HINT_TIME }, analyse: true }, (answer) => {
      if (this.thinking !== mine) return;
      if (answer.type === "thought") mine.thought = answer;
      else if (answer.type === "done" && mine.thought) {
        mine.thought.isDone = true;
        this.lastThought = mine.thought;
        this.announce(this.hintText());
      } else if (answer.type === "error" || answer.type === "done") {
        this.thinking = null;
        if (answer.error) toast(answer.error, "problem");
      }
      this.drawSoon();
    });
    this.draw();
  }

  /** Over a move that a hint shows, what is expected after it. */
  hovered(move) {
    const thought = this.thinking?.isHint ? this.thinking.thought : null;
    const line = thought?.moves.find((entry) => entry.move === move)?.line;
    if (line?.length > 1) this.board.decorate({ ghosts: ghostsOf(this.view, line) });
    else if (thought) this.board.decorate(this.decorations());
  }

  pressed(event) {
    if (event.target.closest?.("input, select, textarea, dialog") || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (!this.view) return;
    const keys = {
      u: () => this.undo(),
      h: () => this.hint(),
      n: () => this.choose(),
      s: () => this.stop(),
      p: () => this.pass(),
    };
    const action = keys[event.key.toLowerCase()];
    if (action) action();
    else this.list.pressed(event);
  }
}

/** Draws anew and gives the keyboard back to the button it was on. */
function keepFocus(element, draw) {
  const name = element.contains(document.activeElement) ? document.activeElement.dataset.action : null;
  draw();
  if (name) element.querySelector(`[data-action="${name}"]`)?.focus();
}
