// The arena: matches and tournaments. The cross table fills as games end; ratings come with what they leave open.
import { el, rangeName, refill, toast, loadSheet } from "../dom.js";
import { agentField, agentName, gameFields } from "../play/fields.js";
import { agentsOf, allGames, gameOf } from "../play/session.js";
import { words as playWords } from "../play/words.js";
import { intervals, percent, signed } from "./charts.js";
import { Player, words as replayWords } from "./replay.js";
import { Watch, actButton, chip, folded, isAlive, refillFocused, setAddress, teller, titleLine, wish, words as shared } from "./shared.js";

const BUSY = 1000; // milliseconds between two looks at a contest that goes on
const IDLE = 5000;
const MOST_AGENTS = 8;

export const words = {
  en: {
    ...playWords.en, ...shared.en, ...replayWords.en,
    title: "Arena",
    lead: "Let agents play each other, and see who is stronger, and how sure that is.",
    "new contest": "New match or tournament", agents: "Agents", "agent n": "Agent {n}", "add agent": "Add an agent", "remove agent": "Remove agent {n}",
    "games a pair": "Games of each pair", opening: "Random moves first", start: "Start",
    "in all": "{n} games in all", "one at a time": "One at a time: {name} is running.",
    contests: "Matches and tournaments", "no contests": "Nothing played yet.",
    "played of": "{played} of {total} games", played: "{played} games",
    "cross table": "Who beat whom", "cross note": "Wins, draws and losses of the player on the left.", "nothing yet": "The first game is being played.",
    "cell says": "{row} against {column}: {wins} wins, {draws} draws, {losses} losses",
    ratings: "Ratings", "ratings note": "Elo with 95% intervals; the mean of all is 0.", player: "Agent", elo: "Elo", interval: "95% interval", points: "Points", games: "Games",
    "first move": "The first move", "first wins": "first player {share}", "draws are": "draws {share}", "second wins": "second player {share}",
    "first worth": "Moving first is worth {elo} Elo ({low} to {high}).",
    "game list": "Games", "newest game": "Newest game", "follow": "Follow the newest", "ended early": "ended early",
    "other terminal": "It was started in a terminal: stop it there.",
    "goes on": "It goes on when this page is closed, until all games are played or it is stopped.",
  },
  zh: {
    ...playWords.zh, ...shared.zh, ...replayWords.zh,
    title: "擂台",
    lead: "让引擎互相对弈，看谁更强，以及这个结论有多可靠。",
    "new contest": "新的比赛", agents: "参赛引擎", "agent n": "引擎 {n}", "add agent": "添加引擎", "remove agent": "移除引擎 {n}",
    "games a pair": "每对局数", opening: "开局随机手数", start: "开始",
    "in all": "共 {n} 局", "one at a time": "一次只能进行一场：{name} 正在进行。",
    contests: "比赛列表", "no contests": "还没有比赛。",
    "played of": "已下 {played} 局，共 {total} 局", played: "{played} 局",
    "cross table": "对战成绩", "cross note": "左侧引擎的胜、和、负。", "nothing yet": "第一局正在进行。",
    "cell says": "{row} 对 {column}：{wins} 胜 {draws} 和 {losses} 负",
    ratings: "等级分", "ratings note": "Elo 及 95% 区间；所有引擎的平均为 0。", player: "引擎", elo: "Elo", interval: "95% 区间", points: "得分率", games: "局数",
    "first move": "先手优势", "first wins": "先手胜 {share}", "draws are": "和棋 {share}", "second wins": "后手胜 {share}",
    "first worth": "先手值 {elo} Elo（{low} 到 {high}）。",
    "game list": "棋局", "newest game": "最新一局", "follow": "跟随最新棋局", "ended early": "提前结束",
    "other terminal": "它是在终端里启动的，请在那里停止。",
    "goes on": "关闭页面后比赛仍会继续，直到下完所有棋局或被停止。",
  },
};

export async function show(root, context) {
  await loadSheet("learn/learn.css");
  const page = new ArenaPage(root, context);
  page.games = await allGames(context.api);
  const { advice, contests } = await context.api.get("api/contests");
  page.hasMore = contests.length > 0;
  if (advice) page.drawAdvice(advice);
  else page.drawForm();
  await page.watch.now();
  return () => page.end();
}

class ArenaPage {
  constructor(root, { t, language, api, announce }) {
    Object.assign(this, { root, t, language, api });
    this.announce = teller(announce);
    this.list = null;
    this.chosen = wish("contest");
    this.view = null; // of the chosen one
    this.played = []; // its games, the newest first
    this.isFollowing = true; // whether the board shows each game as it ends
    this.opened = null; // the game on the board
    this.watch = new Watch(() => this.look());
    this.build();
  }

  end() {
    this.watch.end();
    this.player.end();
    this.observer.disconnect();
  }

  build() {
    const { t } = this;
    this.formPlace = el("section", { class: "card", "aria-label": t("new contest") });
    this.listPlace = el("div", { class: "run-list", role: "list" });
    this.headPlace = el("section", { class: "card run-head" });
    this.crossPlace = el("section", { class: "card stack tight" });
    this.ratingsPlace = el("section", { class: "card stack tight" });
    this.gamesPlace = el("section", { class: "card learn-games", hidden: true }, el("h2", {}, t("game list")));
    this.gameList = el("ol", { class: "game-list" });
    this.follow = el("label", { class: "check small" }, el("input", { type: "checkbox", checked: true, onchange: (event) => this.setFollowing(event.target.checked) }), t("follow"));
    this.gamesPlace.append(this.follow);
    this.player = new Player(this.gamesPlace, { t, label: () => t("newest game"), onNext: () => this.openNewest() });
    this.gamesPlace.append(this.gameList);
    const title = el("header", { class: "learn-intro" }, el("h1", {}, t("title")), el("p", { class: "muted" }, t("lead")));
    refill(this.root, title, el("div", { class: "learn arena" },
      el("div", { class: "stack learn-side" }, this.formPlace,
        el("section", { class: "card stack tight" }, el("h2", {}, t("contests")), this.listPlace)),
      el("div", { class: "stack learn-main" }, this.headPlace, this.crossPlace, this.ratingsPlace),
      el("div", { class: "stack learn-boards" }, this.gamesPlace)));
    this.observer = new ResizeObserver(() => this.drawRatings());
    this.observer.observe(this.ratingsPlace);
  }

  // A new contest.

  /** Why there is no form. */
  drawAdvice(advice) {
    refill(this.formPlace, el("div", { class: "stack tight" }, el("h2", {}, this.t("new contest")), el("p", { class: "problem" }, advice)));
  }

  drawForm() {
    const { t } = this;
    this.agentsPlace = el("div", { class: "stack tight" });
    this.agents = ["easy", "medium"];
    this.game = gameFields(this.games, "tictactoe", t, () => this.offerAgents());
    this.known = gameOf(this.games, this.game.spec()).levels;
    this.count = el("input", { name: "games", type: "number", min: 2, max: 200, step: 2, value: 10, required: true, oninput: () => this.showTotal() });
    this.opening = el("input", { name: "opening", type: "number", min: 0, max: 20, value: 2, required: true });
    const field = (name, input) => el("label", { class: "field" }, rangeName(t(name), Number(input.min), Number(input.max)), input);
    this.add = el("button", { class: "button small", type: "button", onclick: () => this.addAgent() }, `+ ${t("add agent")}`);
    this.startButton = el("button", { class: "button primary", type: "submit" }, t("start"));
    this.startNote = el("p", { class: "note" }, t("goes on"));
    this.total = el("p", { class: "note" });
    this.fields = [];
    refill(this.formPlace, folded(t("new contest"), this.hasMore, el("form", { class: "stack tight", onsubmit: (event) => this.start(event) },
      this.game.root, el("h3", {}, t("agents")), this.agentsPlace, el("div", {}, this.add),
      el("div", { class: "learn-pair" }, field("games a pair", this.count), field("opening", this.opening)),
      this.total, this.startButton, this.startNote)));
    this.drawAgents();
    this.offerAgents();
  }

  /** Offers the agents of the game that is chosen; nets that learned another are left out. */
  async offerAgents() {
    const spec = this.game.spec();
    const known = await agentsOf(this.api, this.games, spec);
    if (spec !== this.game.spec()) return;
    this.known = known;
    const fits = (agent) => !agent.startsWith("run:") || known.some((one) => one.name === agent.split(",")[0]);
    this.agents = this.fields.map((field) => field.value()).filter(fits);
    if (this.agents.length === this.fields.length) {
      for (const field of this.fields) field.offer(known);
      return;
    }
    this.fields = [];
    for (const spare of known) if (this.agents.length < 2 && !this.agents.includes(spare.name)) this.agents.push(spare.name);
    this.drawAgents();
  }

  drawAgents() {
    const { t, known } = this;
    if (this.fields.length) this.agents = this.fields.map((field) => field.value());
    this.fields = this.agents.map((agent, i) => agentField(t("agent n", { n: i + 1 }), known, agent, t, { hasPerson: false }));
    refill(this.agentsPlace, this.fields.map((field, i) => el("div", { class: "arena-agent" }, field.root,
      this.agents.length > 2 ? el("button", {
        class: "button small icon quiet", type: "button", "aria-label": t("remove agent", { n: i + 1 }), onclick: () => this.removeAgent(i),
      }, "×") : null)));
    this.add.hidden = this.agents.length >= MOST_AGENTS;
    this.showTotal();
  }

  addAgent() {
    this.agents = this.fields.map((field) => field.value());
    this.fields = [];
    const spare = this.known.find((level) => !this.agents.includes(level.name))?.name ?? "random";
    this.agents.push(spare);
    this.drawAgents();
  }

  removeAgent(index) {
    this.agents = this.fields.map((field) => field.value()).filter((_, i) => i !== index);
    this.fields = [];
    this.drawAgents();
  }

  showTotal() {
    const pairs = (this.fields.length * (this.fields.length - 1)) / 2;
    this.total.textContent = this.t("in all", { n: pairs * (Number(this.count.value) || 0) });
  }

  async start(event) {
    event.preventDefault();
    this.startButton.disabled = true;
    const wanted = { game: this.game.spec(), agents: this.fields.map((field) => field.value()), games: Number(this.count.value), opening: Number(this.opening.value) };
    try {
      const contest = await this.api.post("api/contests", wanted);
      this.choose(contest.name);
    } catch (reason) {
      toast(reason.message, "problem");
    }
    await this.watch.now();
  }

  // Looking at the server.

  async look() {
    const { contests } = await this.api.get("api/contests");
    this.list = contests;
    if (!contests.some((contest) => contest.name === this.chosen)) this.chosen = contests[0]?.name ?? null;
    this.drawList();
    const chosen = this.chosen;
    const before = this.view?.name === chosen ? this.view : null;
    const view = chosen ? await this.api.get(`api/contests/${chosen}`) : null;
    if (view && (before === null || before.played !== view.played)) {
      this.played = view.played ? (await this.api.get(`api/contests/${chosen}/games`)).games : [];
    }
    this.view = view;
    this.drawHead();
    if (!before || before.played !== view.played || before.state !== view.state) this.drawResults(before === null);
    return contests.some(({ state }) => isAlive(state)) ? BUSY : IDLE;
  }

  drawList() {
    const { t, list } = this;
    const busy = list.find((contest) => contest.is_ours);
    if (this.startButton) {
      this.startButton.disabled = Boolean(busy);
      this.startNote.textContent = busy ? t("one at a time", { name: busy.name }) : t("goes on");
    }
    refillFocused(this.listPlace, list.length ? list.map((contest) => this.listEntry(contest)) : el("p", { class: "muted" }, t("no contests")));
  }

  listEntry(contest) {
    const { t } = this;
    const isChosen = contest.name === this.chosen;
    return el("div", { class: ["run-entry", isChosen && "is-chosen"], role: "listitem" },
      el("button", { type: "button", class: "run-name", "aria-pressed": String(isChosen), dataset: { focus: `contest-${contest.name}` }, onclick: () => this.choose(contest.name) },
        el("span", { class: "row spread" }, el("b", {}, contest.name), chip(contest.state, t)),
        el("span", { class: "note" }, contest.agents.map((agent) => agentName(agent, t)).join(" · ")),
        bar(contest)));
  }

  choose(name) {
    if (name !== this.chosen) this.setFollowing(true);
    this.chosen = name;
    setAddress("arena", { contest: name });
    this.watch.now();
  }

  // What is shown of one.

  drawHead() {
    const { t, view } = this;
    for (const place of [this.headPlace, this.crossPlace, this.ratingsPlace]) place.hidden = !view;
    this.gamesPlace.hidden = !view || !this.played.length;
    if (!view) return;
    this.announce(`${view.name}: ${t(view.state)}`);
    const mayResume = !this.list.some((contest) => contest.is_ours);
    refillFocused(this.headPlace,
      titleLine(view, t, actButton(view, t, (what) => this.act(what), mayResume)),
      el("p", { class: "muted number" }, view.total === null ? t("played", view) : t("played of", view)), bar(view),
      view.problem ? el("p", { class: "problem" }, view.problem) : null);
  }

  async act(what) {
    try {
      await this.api.post(`api/contests/${this.chosen}/${what}`, {});
    } catch (reason) {
      toast(reason.message, "problem");
    }
    await this.watch.now();
  }

  drawResults(isOther) {
    if (!this.view) return;
    this.drawCross();
    this.drawRatings();
    this.drawGames();
    if (isOther) {
      this.opened = null;
      this.player.load([]);
    }
    if (this.played.length && (this.opened === null || (!this.player.isPlaying && !this.player.isHeld))) this.openNewest();
  }

  drawCross() {
    const { t, view } = this;
    const { players, cross } = view;
    const heading = el("h2", {}, t("cross table"));
    if (!players.length) {
      refill(this.crossPlace, heading, el("p", { class: "muted" }, view.state === "running" ? t("nothing yet") : t("no contests")));
      return;
    }
    const names = players.map((player) => agentName(player.name, this.t));
    refill(this.crossPlace, heading, el("div", { class: "scrolls" },
      el("table", { class: "table arena-cross" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("player")), names.map((name, i) => el("th", { scope: "col", title: name }, i + 1)))),
        el("tbody", {}, players.map((player, i) => el("tr", {},
          el("th", { scope: "row" }, el("span", { class: "arena-place" }, `${i + 1}.`), names[i]),
          cross[i].map((counts, j) => this.crossCell(counts, names[i], names[j]))))))),
      el("p", { class: "note" }, t("cross note")));
  }

  crossCell(counts, row, column) {
    if (!counts) return el("td", { class: "arena-self" }, row === column ? "·" : "");
    const { wins, draws, losses } = counts;
    return el("td", { "aria-label": this.t("cell says", { row, column, wins, draws, losses }) },
      el("span", { class: "arena-counts" }, el("b", {}, wins), ` ${draws} ${losses}`), shares(counts));
  }

  drawRatings() {
    const { t, view, language } = this;
    if (!view) return;
    const { players } = view;
    this.ratingsPlace.hidden = !players.length;
    if (!players.length) return;
    const format = new Intl.NumberFormat(language, { maximumFractionDigits: 0, signDisplay: "exceptZero" });
    const whole = (value) => signed(format.format(value));
    const share = percent(language);
    const width = Math.max(280, Math.min(960, this.ratingsPlace.clientWidth - 32));
    const rows = players.map((player) => ({ label: agentName(player.name, this.t), value: player.elo, low: player.low, high: player.high }));
    refill(this.ratingsPlace, el("h2", {}, t("ratings")),
      intervals(rows, { format: whole, width, title: t("ratings") }),
      el("p", { class: "note" }, t("ratings note")),
      view.warnings.map((warning) => el("p", { class: "note" }, warning)),
      el("div", { class: "scrolls" }, el("table", { class: "table" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("player")), ["elo", "interval", "points", "games"].map((key) => el("th", { scope: "col", class: "figure" }, t(key))))),
        el("tbody", {}, players.map((player) => el("tr", {}, el("th", { scope: "row" }, agentName(player.name, this.t)),
          [whole(player.elo), `${whole(player.low)} – ${whole(player.high)}`, share(player.points / Math.max(1, player.games)), player.games].map((text) => el("td", { class: "figure" }, text))))))),
      this.firstMove(view, whole, share));
  }

  firstMove(view, whole, share) {
    const { t } = this;
    const { wins, draws, losses } = view.first_player;
    const all = Math.max(1, wins + draws + losses);
    const said = [["first wins", wins], ["draws are", draws], ["second wins", losses]].map(([key, n]) => t(key, { share: share(n / all) })).join(" · ");
    const worth = view.first_move ? ["elo", "low", "high"].map((key, i) => [key, whole(view.first_move[i])]) : null;
    return el("div", { class: "stack tight" }, el("h3", {}, t("first move")), shares(view.first_player), el("p", { class: "small" }, said),
      worth ? el("p", { class: "note" }, t("first worth", Object.fromEntries(worth))) : null);
  }

  // Its games.

  drawGames() {
    const { t } = this;
    refill(this.gameList, this.played.map((game) => el("li", {}, el("button", {
      type: "button", "aria-pressed": String(game.id === this.opened), onclick: () => this.openGame(game.id, true),
    }, el("span", { class: "muted number" }, game.id), el("span", { class: "arena-who" }, game.players.map((name) => el("span", {}, agentName(name, this.t)))),
    el("b", { title: game.ending || null }, scoreText(game.result), game.ending ? el("span", { class: "unseen" }, t("ended early")) : null)))));
  }

  setFollowing(isFollowing) {
    this.isFollowing = isFollowing;
    this.follow.querySelector("input").checked = isFollowing;
    if (isFollowing) this.openNewest();
  }

  /** Opens the newest game if the board shows an older one; says whether it did. */
  openNewest() {
    const newest = this.played[0]?.id;
    if (!this.isFollowing || newest === undefined || newest === this.opened) return false;
    this.openGame(newest, false);
    return true;
  }

  async openGame(id, isWanted) {
    if (isWanted) this.setFollowing(false);
    this.opened = id;
    const contest = this.chosen;
    try {
      const game = await this.api.get(`api/contests/${contest}/games/${id}`);
      if (this.opened !== id || this.chosen !== contest) return;
      game.players = game.players.map((name) => agentName(name, this.t));
      this.player.load([game]);
      this.drawGames();
    } catch (reason) {
      toast(reason.message, "problem");
    }
  }
}

function scoreText(result) {
  if (/^(0|draw)$/i.test(result)) return "½–½";
  return result.startsWith("B+") ? "1–0" : result.startsWith("W+") ? "0–1" : "?";
}

/** Wins, draws and losses as one bar. */
function shares({ wins, draws, losses }) {
  return el("span", { class: "arena-shares", "aria-hidden": "true" },
    [["won", wins], ["drawn", draws], ["lost", losses]].filter(([, n]) => n).map(([kind, n]) => el("i", { class: kind, style: { flex: String(n) } })));
}

function bar(contest) {
  const share = contest.total ? Math.min(1, contest.played / contest.total) : 0;
  return el("span", { class: "bar", role: "progressbar", "aria-valuenow": Math.round(100 * share), "aria-valuemin": 0, "aria-valuemax": 100, "aria-label": contest.name },
    el("span", { style: { width: `${100 * share}%` } }));
}
