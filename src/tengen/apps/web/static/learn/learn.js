// Watch it learn: runs are started, stopped and gone on with; their curves grow, and their games are played on a board.
import { el, rangeName, refill, toast, kept, keep, loadSheet } from "../dom.js";
import { gameFields } from "../play/fields.js";
import { allGames, gameOf, gameTitle } from "../play/session.js";
import { words as playWords } from "../play/words.js";
import { Chart, COLOURS, percent, short, signed } from "./charts.js";
import { Player, words as replayWords } from "./replay.js";
import { Watch, actButton, chip, duration, folded, isAlive, refillFocused, setAddress, teller, titleLine, wish, words as shared } from "./shared.js";

const BUSY = 1200; // milliseconds between two looks at a run that goes on
const IDLE = 5000;

export const words = {
  en: {
    ...playWords.en, ...shared.en, ...replayWords.en,
    title: "Watch it learn",
    lead: "A net plays against itself, learns from its games, and plays better. Start a run, and see it happen.",
    "new run": "New run", preset: "Preset", start: "Start training", name: "Name", "name hint": "chosen for you", more: "More settings",
    generations: "Generations", simulations: "Simulations a move", positions: "Positions a generation", seed: "Seed",
    evaluate_every: "Evaluate every … generations", evaluation_games: "Games of an evaluation",
    "one at a time": "One run at a time: {name} is running.",
    runs: "Runs", "no runs": "No run yet.", compare: "Compare", "compare run": "Compare {name}", "compare hint": "Tick two or more runs to compare them.",
    generation: "generation", "generation of": "Generation {done} of {all}",
    games: "Games", "games a second": "Games a second", time: "Time", left: "Left", "win rate": "Win rate", rating: "Elo",
    "against opponent": "against {name}", "best before": "the best net before",
    loss: "Loss", "total loss": "total", "value loss": "value", "policy loss": "policy",
    "win rate chart": "Win rate with its 95% interval (a draw is half)", "rating chart": "Rating (Elo)", mistakes: "Mistakes, of all positions", "share of mistakes": "mistakes",
    results: "Results of self-play", "first wins": "first player wins", draws: "draws", plies: "Length of a game", "mean plies": "moves, on average",
    "by generation": "Generation", "by time": "Time", "by positions": "Positions", "time axis": "minutes", positions_axis: "positions", "x axis": "Across",
    "no match": "No match yet: the first against {opponent} comes with generation {n}; the curve begins there.",
    "never a match": "This run plays no matches, so it has no curve of strength; a new run has with --set evaluation.every=10.",
    "match sooner": "A new run has one sooner: More settings, “Evaluate every … generations”; or, in a terminal, --set evaluation.every={n}.",
    starting: "It is getting ready: rules are compiled, then the first games are played.",
    "board title": "Games as they are played", "games of": "Generation {n}", "no games": "The first games come with the first generation.",
    "not served": "Its game is a file that is not served. Its games are shown, and its nets play, with: tengen serve --game FILE",
    "how to go on": "To go on with it: tengen serve --game FILE, or tengen train in a terminal.",
    "game n": "Game {n}: {first} – {second}",
    "play title": "Play against its net", "net of": "Net of generation {n}", newest: "newest", play: "Play",
    "goes on": "A run goes on when this page is closed, and when the server ends, until it is complete or stopped.",
    "other terminal": "It was started in a terminal: stop it there.",
    cluster: "Cluster", "cluster line": "{machines} machines, {workers} workers. Played now: {flight} slices. Waiting for the learner: {waiting} of {wanted} positions. Lost: {lost}, too late: {late}.",
    worker: "Worker", "weight age": "Weights, generations old", silent: "Silent for",
  },
  zh: {
    ...playWords.zh, ...shared.zh, ...replayWords.zh,
    title: "看它学习",
    lead: "网络与自己对弈，从棋局中学习，越下越好。开始一次训练，亲眼看看。",
    "new run": "新的训练", preset: "预设", start: "开始训练", name: "名称", "name hint": "自动命名", more: "更多设置",
    generations: "代数", simulations: "每手模拟次数", positions: "每代局面数", seed: "随机种子",
    evaluate_every: "每几代评测一次", evaluation_games: "每次评测局数",
    "one at a time": "一次只能进行一个训练：{name} 正在进行。",
    runs: "训练列表", "no runs": "还没有训练。", compare: "比较", "compare run": "比较 {name}", "compare hint": "勾选两个以上的训练即可比较。",
    generation: "代", "generation of": "第 {done} 代，共 {all} 代", games: "棋局", "games a second": "每秒局数", time: "用时", left: "剩余", "win rate": "胜率", rating: "Elo",
    "against opponent": "对 {name}", "best before": "之前最好的网络",
    loss: "损失", "total loss": "总计", "value loss": "价值", "policy loss": "策略",
    "win rate chart": "胜率及 95% 区间（和棋算半）", "rating chart": "等级分（Elo）", mistakes: "失误（占全部局面）", "share of mistakes": "失误",
    results: "自我对弈结果", "first wins": "先手胜", draws: "和棋", plies: "棋局长度", "mean plies": "平均手数",
    "by generation": "代数", "by time": "时间", "by positions": "局面", "time axis": "分钟", positions_axis: "局面", "x axis": "横轴",
    "no match": "还没有比赛：对 {opponent} 的第一场比赛在第 {n} 代，曲线从那里开始。",
    "never a match": "这个训练不下比赛，所以没有棋力曲线；新的训练加上 --set evaluation.every=10 就有。",
    "match sooner": "新的训练可以更早比赛：在“更多设置”中填写“每几代评测一次”；或在终端里加 --set evaluation.every={n}。",
    starting: "正在准备：先编译规则，再下第一批棋。",
    "board title": "正在下的棋", "games of": "第 {n} 代", "no games": "第一代完成后即可看到棋局。",
    "not served": "它的棋种是一个文件，此服务器没有提供。要看棋局或与网络对弈，请运行：tengen serve --game FILE",
    "how to go on": "要继续训练：运行 tengen serve --game FILE，或在终端运行 tengen train。",
    "game n": "第 {n} 局：{first} – {second}",
    "play title": "与它的网络对弈", "net of": "第 {n} 代的网络", newest: "最新", play: "对弈",
    "goes on": "关闭页面或服务器后训练仍会继续，直到完成或被停止。",
    "other terminal": "它是在终端里启动的，请在那里停止。",
    cluster: "集群", "cluster line": "{machines} 台机器，{workers} 个工作进程。正在下：{flight} 片。等待学习：{waiting} / {wanted} 个局面。丢失：{lost}，过期：{late}。",
    worker: "工作进程", "weight age": "权重落后代数", silent: "无消息时间",
    "preset tictactoe": "井字棋：烧一壶水的工夫，每手 25 次模拟便不再出错。",
    "preset connect4": "四子棋：双核约一刻钟。",
    "preset gomoku8": "8×8 五子棋（无禁手）：双核约一顿午饭的时间。",
    "preset gomoku8-paper": "8×8 五子棋，按论文原参数：双核约一小时。",
    "preset gobang": "五子棋论文的网络，自我对弈的温度从 1 降到 0：适合用 GPU。",
    "preset gomoku9": "9×9 五子棋（无禁手）：双核数小时，GPU 数分钟。",
    "preset gomoku15": "15×15 五子棋（无禁手）：双核约一天，最好用 GPU。",
    "preset renju15": "15×15 连珠（黑棋有禁手）：双核约一天，最好用 GPU。",
    "preset reversi": "8×8 黑白棋：双核数小时，GPU 数分钟。",
    "preset hex7": "7×7 六贯棋（Hex，可交换）：双核即可。",
    "preset hex11": "11×11 六贯棋（Hex，可交换）：最好用 GPU。",
    "preset draughts": "8×8 跳棋（英国规则）：最好用 GPU。",
    "preset chess": "国际象棋，从零开始：只适合用 GPU。",
    "preset go9": "9×9 围棋（数子规则）：双核约一天，最好用 GPU。",
  },
};

const ACROSS = ["generation", "time", "positions"];
const session = { chosen: null }; // the run that somebody looked at last: it outlives the page

export async function show(root, context) {
  await loadSheet("learn/learn.css");
  const page = new LearnPage(root, context);
  page.games = await allGames(context.api);
  await page.watch.now();
  return () => page.end();
}

/** Whether there is a run, and its folder says anything. */
function isReadable(run) {
  return Boolean(run) && (run.state !== "failed" || run.game !== "");
}

class LearnPage {
  constructor(root, { t, language, api, navigate, announce }) {
    Object.assign(this, { root, t, language, api, navigate });
    this.announce = teller(announce);
    this.list = null; // what the server says of all runs
    this.measured = new Map(); // run -> {next, entries: Map of generations}
    this.chosen = wish("run") ?? session.chosen;
    this.compared = new Set((wish("compare") ?? "").split(",").filter(Boolean));
    this.across = kept("learn across", "generation");
    this.seen = null; // whose games are on the board: run and generation
    this.watch = new Watch(() => this.look());
    this.build();
  }

  end() {
    this.watch.end();
    this.player.end();
    this.refusal?.remove();
    for (const chart of Object.values(this.charts)) chart.end();
  }

  // The page's parts.

  build() {
    const { t } = this;
    this.formPlace = el("section", { class: "card", "aria-label": t("new run") });
    this.runsPlace = el("div", { class: "run-list", role: "list" });
    this.headPlace = el("section", { class: "card run-head", "aria-live": "off" });
    this.chartsPlace = el("div", { class: "learn-charts" });
    this.playPlace = el("section", { class: "card", hidden: true });
    const boardPlace = el("section", { class: "card learn-games" }, el("h2", {}, t("board title")));
    this.gamesNote = el("p", { class: "note" }, t("no games"));
    boardPlace.append(this.gamesNote);
    this.player = new Player(boardPlace, {
      t,
      label: (game, i) => t("game n", { n: i + 1, first: this.playerName(game.players[0]), second: this.playerName(game.players[1]) }),
      onNext: () => this.showWaiting(),
    });
    const title = el("header", { class: "learn-intro" }, el("h1", {}, t("title")), el("p", { class: "muted" }, t("lead")));
    refill(this.root, title, el("div", { class: "learn" },
      el("div", { class: "stack learn-side" }, this.formPlace,
        el("section", { class: "card stack tight" }, el("h2", {}, t("runs")), this.runsPlace)),
      el("div", { class: "stack learn-main" }, this.headPlace, this.chartsPlace),
      el("div", { class: "stack learn-boards" }, boardPlace, this.playPlace)));
    this.buildCharts();
  }

  buildCharts() {
    const { t, language } = this;
    const plain = short(language);
    const share = percent(language);
    const options = { across: t("generation"), formatAcross: plain };
    const make = (title, format, span = []) => new Chart(this.chartsPlace, { ...options, title: t(title), format, span });
    this.charts = {
      loss: make("loss", plain, [0]),
      rate: make("win rate chart", share, [0, 1]),
      rating: make("rating chart", plain, [0]),
      speed: make("games a second", plain, [0]),
      mistakes: make("mistakes", share, [0]),
      results: make("results", share, [0, 1]),
      plies: make("plies", plain, [0]),
    };
  }

  playerName(name) {
    return name === "self-play" ? this.t("self-play") : name;
  }

  // Looking at the server.

  async look() {
    const list = await this.api.get("api/runs");
    const isFirst = this.list === null;
    this.list = list;
    const names = list.runs.map((run) => run.name);
    this.compared = new Set([...this.compared].filter((name) => names.includes(name)));
    if (!names.includes(this.chosen)) this.chosen = (list.runs.find((run) => run.state === "running") ?? list.runs[0])?.name ?? null;
    if (isFirst) this.drawForm();
    this.drawState();
    for (const name of this.shownRuns()) await this.measure(name);
    this.drawHead();
    this.drawCharts();
    await this.lookAtGames();
    return list.runs.some(({ state }) => isAlive(state)) ? BUSY : IDLE;
  }

  shownRuns() {
    const names = this.compared.size > 1 ? [...this.compared] : [this.chosen];
    return names.filter((name) => isReadable(this.run(name)));
  }

  run(name = this.chosen) {
    return this.list?.runs.find((run) => run.name === name);
  }

  /** Fetches the lines of a run's metrics that are new. */
  async measure(name) {
    const known = this.measured.get(name) ?? { next: 0, entries: new Map() };
    this.measured.set(name, known);
    for (;;) {
      const { first, next, lines } = await this.api.get(`api/runs/${name}/metrics?after=${known.next}`);
      if (first < known.next) known.entries.clear();
      for (const line of lines) if (Number.isFinite(line.generation)) known.entries.set(line.generation, line);
      known.next = next;
      if (!lines.length) return;
    }
  }

  async lookAtGames() {
    const run = this.run();
    if (!isReadable(run)) return;
    const mark = `${run.name} ${run.generation}`;
    if (this.seen === mark) return;
    const isOther = !this.seen?.startsWith(`${run.name} `);
    const answer = await this.api.get(`api/runs/${run.name}/games`);
    this.seen = mark;
    this.waiting = answer.games.length ? answer : null;
    if (isOther) this.player.load([]);
    if (!this.player.isPlaying && !this.player.isHeld) this.showWaiting();
    if (!this.player.games.length) this.gamesNote.textContent = this.t(isServed(run) ? "no games" : "not served");
  }

  /** Shows the newest games that came while others were being played; says whether there were any. */
  showWaiting() {
    if (!this.waiting) return false;
    const { generation, games } = this.waiting;
    this.waiting = null;
    this.gamesNote.textContent = this.t("games of", { n: generation });
    this.player.load(games);
    return true;
  }

  // The list of runs, and new ones.

  drawForm() {
    const { t, list } = this;
    if (list.advice) {
      refill(this.formPlace, el("div", { class: "stack tight" }, el("h2", {}, t("new run")), el("p", { class: "problem" }, list.advice)));
      return;
    }
    const input = (name) => el("input", { name, type: "number", inputmode: "numeric", min: list.changes[name].low, max: list.changes[name].high });
    this.inputs = Object.fromEntries(Object.keys(list.changes).map((name) => [name, input(name)]));
    const field = (name) => el("label", { class: "field" }, rangeName(t(name), list.changes[name].low, list.changes[name].high), this.inputs[name]);
    this.preset = el("select", { name: "preset", onchange: () => this.showPreset() },
      list.presets.map((preset) => el("option", { value: preset.name }, [!preset.is_file && preset.name, gameTitle(preset.game, t)].filter(Boolean).join(" · "))));
    this.preset.value = "tictactoe";
    this.about = el("p", { class: "note" });
    this.gamePlace = el("div");
    this.nameInput = el("input", { name: "name", placeholder: t("name hint"), maxlength: 48, pattern: "[A-Za-z0-9][A-Za-z0-9_.=\\-]*", autocomplete: "off", spellcheck: "false" });
    this.startButton = el("button", { class: "button primary", type: "submit" }, t("start"));
    this.startNote = el("p", { class: "note" }, t("goes on"));
    refill(this.formPlace, folded(t("new run"), list.runs.length, el("form", { class: "stack tight", onsubmit: (event) => this.start(event) },
      el("label", { class: "field" }, el("span", {}, t("preset")), this.preset), this.about, this.gamePlace,
      el("div", { class: "learn-pair" }, field("generations"), field("simulations")),
      el("details", {}, el("summary", {}, t("more")),
        el("div", { class: "learn-pair" }, field("positions"), field("seed"), field("evaluate_every"), field("evaluation_games")),
        el("label", { class: "field" }, el("span", {}, t("name")), this.nameInput)),
      this.startButton, this.startNote)));
    this.showPreset();
  }

  showPreset() {
    const preset = this.list.presets.find((one) => one.name === this.preset.value);
    const own = this.t(`preset ${preset.name}`);
    this.about.textContent = own.startsWith("preset ") ? preset.about : own;
    this.game = preset.is_file ? gameFields([gameOf(this.games, preset.game)], preset.game, this.t) : null; // with any parameters
    refill(this.gamePlace, this.game?.root);
    for (const [name, input] of Object.entries(this.inputs)) {
      input.value = "";
      input.placeholder = preset.defaults[name];
    }
  }

  async start(event) {
    event.preventDefault();
    const changes = Object.fromEntries(Object.entries(this.inputs).filter(([, input]) => input.value !== "").map(([name, input]) => [name, Number(input.value)]));
    this.startButton.disabled = true;
    try {
      const run = await this.api.post("api/runs", { preset: this.game?.spec() ?? this.preset.value, name: this.nameInput.value.trim(), changes });
      this.nameInput.value = "";
      this.compared.clear();
      this.choose(run.name);
    } catch (reason) {
      toast(reason.message, "problem");
    }
    await this.watch.now();
  }

  drawState() {
    const { t, list } = this;
    const busy = list.runs.find((run) => run.is_ours);
    if (this.startButton) {
      this.startButton.disabled = Boolean(busy);
      this.startNote.textContent = busy ? t("one at a time", { name: busy.name }) : t("goes on");
    }
    refillFocused(this.runsPlace, list.runs.map((run) => this.runEntry(run)),
      list.runs.length ? el("p", { class: "note" }, list.runs.length > 1 ? t("compare hint") : null) : el("p", { class: "muted" }, t("no runs")));
  }

  runEntry(run) {
    const { t } = this;
    const colour = this.compared.size > 1 && this.compared.has(run.name) ? this.colourOf(run.name) : 0;
    return el("div", { class: ["run-entry", run.name === this.chosen && "is-chosen"], role: "listitem" },
      el("input", {
        type: "checkbox", class: colour ? `is-ticked hue-${colour}` : "", checked: this.compared.has(run.name), "aria-label": t("compare run", { name: run.name }),
        dataset: { focus: `tick-${run.name}` }, onchange: (event) => this.tick(run.name, event.target.checked),
      }),
      el("button", { type: "button", class: "run-name", "aria-pressed": String(run.name === this.chosen), dataset: { focus: `run-${run.name}` }, onclick: () => this.choose(run.name) },
        el("span", { class: "row spread" }, el("b", {}, run.name), chip(run.state, t)),
        el("span", { class: "note" }, run.game ? gameTitle(run.game, t) : "…"),
        bar(run)));
  }

  colourOf(name) {
    return ([...this.compared].indexOf(name) % COLOURS) + 1;
  }

  choose(name) {
    if (name !== this.chosen) this.refusal?.remove(); // it was about the other run
    this.chosen = session.chosen = name;
    this.remember();
    this.watch.now();
  }

  tick(name, isTicked) {
    if (isTicked) this.compared.add(name);
    else this.compared.delete(name);
    this.remember();
    this.watch.now();
  }

  remember() {
    setAddress("learn", { run: this.chosen, compare: [...this.compared].join(",") });
  }

  // The run that is looked at.

  drawHead() {
    const { t } = this;
    const run = this.run();
    this.headPlace.hidden = !run;
    this.chartsPlace.hidden = !run;
    if (!run) return;
    this.announce(`${run.name}: ${t(run.state)}`);
    const mayResume = isServed(run) && !this.list.runs.some((one) => one.is_ours);
    refillFocused(this.headPlace,
      titleLine(run, t, el("div", { class: "row" }, this.axisSwitch(), actButton(run, t, (what) => this.act(run, what), mayResume))),
      el("p", { class: "muted" }, run.generation || run.state !== "running" ? t("generation of", { done: run.generation, all: run.generations || "?" }) : t("starting")),
      bar(run),
      run.problem ? el("p", { class: "problem" }, run.problem) : null,
      run.can_resume && !isServed(run) ? el("p", { class: "note" }, t("how to go on")) : null,
      run.generation ? el("div", { class: "figures" }, this.figures(run).map(([name, value, note]) => this.figure(name, value, note))) : null,
      run.cluster ? this.clusterTable(run.cluster) : null);
    this.drawPlay(run);
  }

  /** The workers of a cluster: how fast each is, how old its weights are, and what waits for whom. */
  clusterTable(cluster) {
    const { t, language } = this;
    const plain = short(language);
    const line = {
      machines: cluster.machines, workers: cluster.workers.length, flight: cluster.in_flight, waiting: plain(cluster.waiting_positions),
      wanted: plain(cluster.wanted_positions), lost: cluster.lost, late: cluster.late,
    };
    const heads = [t("worker"), t("games a second"), t("weight age"), t("silent")];
    return el("details", { class: "cluster", open: this.showsCluster ?? true, ontoggle: (event) => { this.showsCluster = event.target.open; } },
      el("summary", { dataset: { focus: "cluster" } }, t("cluster")),
      el("p", { class: "note" }, t("cluster line", line)),
      el("div", { class: "scrolls" }, el("table", { class: "table" },
        el("thead", {}, el("tr", {}, heads.map((head, i) => el("th", { scope: "col", class: i ? "figure" : "" }, head)))),
        el("tbody", {}, cluster.workers.map((worker) => el("tr", {}, el("th", { scope: "row" }, worker.name),
          el("td", { class: "figure" }, plain(worker.games_per_second)), el("td", { class: "figure" }, worker.weight_age),
          el("td", { class: "figure" }, duration(worker.silent_seconds, t))))))));
  }

  figure(name, value, note) {
    return el("div", { dataset: { figure: name } }, el("span", {}, this.t(name)), el("b", {}, value), el("span", {}, note));
  }

  async act(run, what) {
    try {
      await this.api.post(`api/runs/${run.name}/${what}`, {});
    } catch (reason) {
      this.refusal = toast(reason.message, "problem");
    }
    await this.watch.now();
  }

  axisSwitch() {
    const { t } = this;
    return el("div", { class: "segments", role: "group", "aria-label": t("x axis") },
      ACROSS.map((name) => el("button", {
        type: "button", "aria-pressed": String(this.across === name), dataset: { focus: `axis-${name}` }, onclick: () => this.setAcross(name),
      }, t(`by ${name}`))));
  }

  setAcross(name) {
    this.across = name;
    keep("learn across", name);
    this.drawHead();
    this.drawCharts();
  }

  figures(run) {
    const { t, language } = this;
    const number = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
    const plain = short(language);
    const share = percent(language);
    const newest = [...(this.measured.get(run.name)?.entries.values() ?? [])].at(-1);
    const left = run.state === "running" ? (run.seconds / run.generation) * (run.generations - run.generation) : 0;
    const found = [["games", number.format(run.games), ""], ["time", duration(run.seconds, t), left ? `${t("left")} ${duration(left, t)}` : ""]];
    if (newest) found.splice(1, 0, ["games a second", plain(speedOf(newest)), ""]);
    if (run.matches.length) {
      const [match] = run.matches;
      found.push(["win rate", share(match.rate), `${share(match.low)} – ${share(match.high)} ${t("against opponent", { name: match.opponent })}`]);
    }
    if (run.rating !== null) found.push(["rating", signed(`${run.rating > 0 ? "+" : ""}${number.format(run.rating)}`), ""]);
    return found;
  }

  drawPlay(run) {
    const { t } = this;
    this.playPlace.hidden = !run.nets.length || !isServed(run);
    const mark = `${run.name} ${run.nets.join(" ")}`;
    if (this.playPlace.hidden || this.playPlace.dataset.mark === mark) return;
    const newest = run.nets.at(-1);
    const before = this.playPlace.dataset.mark?.startsWith(`${run.name} `) ? this.net?.value : "";
    this.playPlace.dataset.mark = mark;
    this.net = el("select", { "aria-label": t("play title") },
      el("option", { value: "" }, `${t("newest")} (${newest})`),
      [...run.nets].reverse().map((generation) => el("option", { value: generation }, t("net of", { n: generation }))));
    this.net.value = run.nets.includes(Number(before)) ? before : "";
    refill(this.playPlace, el("div", { class: "stack tight" }, el("h2", {}, t("play title")), this.net,
      el("button", { class: "button primary", type: "button", onclick: () => this.play(run) }, t("play"))));
  }

  play(run) {
    const agent = `run:${run.name}${this.net.value ? `@${this.net.value}` : ""}`;
    this.navigate(`#/play?${new URLSearchParams({ game: run.game, first: "person", second: agent })}`);
  }

  // Curves.

  drawCharts() {
    const names = this.shownRuns();
    const mark = JSON.stringify([this.across, names.map((name) => [name, this.measured.get(name)?.next])]);
    if (mark === this.drawn) return; // nothing new to draw
    this.drawn = mark;
    const across = { generation: this.t("generation"), time: this.t("time axis"), positions: this.t("positions_axis") }[this.across];
    for (const chart of Object.values(this.charts)) chart.setAcross(across, this.across !== "time");
    const lines = names.length > 1 ? this.comparison(names) : this.curves(names[0]);
    for (const [name, chart] of Object.entries(this.charts)) {
      chart.draw(lines[name] ?? [], name === "rate" && names.length === 1 ? this.noMatch(this.run(names[0])) : "");
    }
  }

  /** What stands where the curve of strength would, as long as a run has played no match. */
  noMatch(run) {
    const { t } = this;
    if (!run?.first_match || !run.generation) return "";
    const { generation, opponent, sooner } = run.first_match;
    const text = generation ? t("no match", { opponent: opponent || "…", n: generation }) : t("never a match");
    return sooner ? `${text} ${t("match sooner", { n: sooner })}` : text;
  }

  entries(name) {
    return [...(this.measured.get(name)?.entries.values() ?? [])].sort((a, b) => a.generation - b.generation);
  }

  line(entries, label, colour, read) {
    const points = entries.map((entry) => [this.xOf(entry), read(entry)]).filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
    return { label, colour, points };
  }

  xOf(entry) {
    return { generation: entry.generation, time: entry.seconds / 60, positions: entry.positions }[this.across];
  }

  rateLine(entries, label, colour, pick) {
    const found = entries.map((entry) => [entry, (entry.matches ?? []).find(pick)]).filter(([, match]) => match && Number.isFinite(match.rate));
    return { label, colour, points: found.map(([entry, match]) => [this.xOf(entry), match.rate]), bands: found.map(([, match]) => [match.low ?? match.rate, match.high ?? match.rate]) };
  }

  curves(name) {
    const { t } = this;
    const entries = this.entries(name);
    const opponents = [...new Set(entries.flatMap((entry) => (entry.matches ?? []).map((match) => match.opponent)))];
    const called = (opponent) => t("against opponent", { name: opponent === "the best net before" ? t("best before") : opponent });
    return {
      loss: ["total", "policy", "value"].map((term, i) => this.line(entries, t(`${term} loss`), i + 1, (entry) => entry.loss?.[term])),
      rate: opponents.map((opponent, i) => this.rateLine(entries, called(opponent), (i % COLOURS) + 1, (match) => match.opponent === opponent)),
      rating: [this.line(entries, "Elo", 1, (entry) => entry.rating)],
      speed: [this.line(entries, t("games a second"), 1, speedOf)],
      mistakes: [this.line(entries, t("share of mistakes"), 2, (entry) => entry.mistakes)],
      results: [this.line(entries, t("first wins"), 1, (entry) => entry.first_wins), this.line(entries, t("draws"), 3, (entry) => entry.draws)],
      plies: [this.line(entries, t("mean plies"), 1, (entry) => entry.plies)],
    };
  }

  /** One curve a run; the win rate is that against the opponent of the settings. */
  comparison(names) {
    const of = (read) => names.map((name) => this.line(this.entries(name), name, this.colourOf(name), read));
    return {
      loss: of((entry) => entry.loss?.total),
      rate: names.map((name) => this.rateLine(this.entries(name), name, this.colourOf(name), (match) => match.opponent !== "the best net before")),
      rating: of((entry) => entry.rating),
      speed: of(speedOf),
      mistakes: of((entry) => entry.mistakes),
      plies: of((entry) => entry.plies),
    };
  }
}

/** Whether the server has the run's game; of a file that it has not, only the name is told. */
function isServed(run) {
  return !/\.py(:|$)/.test(run.game);
}

/** Games a second of self-play. */
function speedOf(entry) {
  return entry.positions_per_second / entry.plies;
}

function bar(run) {
  const share = run.generations ? Math.min(1, run.generation / run.generations) : 0;
  return el("span", { class: "bar", role: "progressbar", "aria-valuenow": Math.round(100 * share), "aria-valuemin": 0, "aria-valuemax": 100, "aria-label": run.name },
    el("span", { style: { width: `${100 * share}%` } }));
}
