// The Wumpus world: what an agent knows of a cave beside the cave itself, action by action; and how agents fare in many.
import { button, choice, el, svg, refill, toast, loadSheet } from "../dom.js";
import { intervals } from "../learn/charts.js";
import { figure, numberField, titled } from "./small.js";
import { Stepper, withSteps } from "./stepper.js";

const CELL = 100; // of the drawing
const EDGE = 24; // for the numbers of columns and rows
const FEELINGS = ["stench", "breeze", "glitter", "bump", "scream"];
const AGENTS = ["reasoning", "reasoning, never daring", "reckless", "random"];
const MOST_SQUARES = 8000; // in all worlds of a comparison, as the server has it

export async function show(root, context) {
  await Promise.all([loadSheet("explore/explore.css"), loadSheet("learn/learn.css")]);
  const page = new WumpusPage(root, context);
  await page.load();
  return () => page.end();
}

class WumpusPage {
  constructor(root, { t, api }) {
    Object.assign(this, { t, api });
    this.settings = { size: 4, pits: 0.2, seed: 118, agent: "reasoning", nerve: 0.25 };
    this.worlds = 300;
    this.hasTruth = false;
    this.told = null;
    const last = () => Math.max(0, (this.told?.moments.length ?? 1) - 1);
    this.stepper = new Stepper({
      t, count: last, stride: () => 10, target: () => 1, most: last, show: (step) => this.showStep(step),
      names: { whole: "ten actions", target: "run to", counter: "counter" },
    });
    this.map = el("div", {});
    this.truth = el("div", {});
    this.felt = el("ul", { class: "felt", "aria-label": t("feels") });
    this.figures = el("div", { class: "figures" });
    this.story = el("div", { class: "story", "aria-live": "polite" });
    this.form = el("div", { class: "explore-form" });
    this.scores = el("div", { class: "stack" });
    this.build(root);
    this.drawForm();
  }

  build(root) {
    const { t } = this;
    this.truthButton = button(t("show truth"), () => { this.hasTruth = !this.hasTruth; this.showStep(this.stepper.step); }, { name: "truth", kind: "small" });
    this.compareButton = button(t("compare"), () => this.compare(), { name: "compare", kind: "primary" });
    const worlds = numberField(t("worlds"), this.worlds, { min: 2, max: MOST_SQUARES / 16, step: 1, dataset: { field: "worlds" } }, (value) => { this.worlds = value; });
    refill(root, el("div", { class: "explore" },
      el("section", { class: "card explore-main", "aria-label": t("title") },
        el("h1", {}, t("title")), this.stepper.element,
        el("div", { class: "caves" },
          el("figure", {}, el("figcaption", {}, t("what it knows")), this.map),
          el("figure", {}, el("figcaption", {}, t("the cave"), this.truthButton), this.truth)),
        el("p", { class: "note" }, t("keys wumpus"))),
      el("aside", { class: "explore-side stack" },
        titled(t("what happens"), this.figures, this.felt, this.story),
        el("section", { class: "card stack" }, el("h2", {}, t("the world")), this.form)),
      el("section", { class: "card stack explore-settings" },
        el("h2", {}, t("many worlds")), el("p", {}, t("about worlds")), el("div", { class: "growth-fields" }, worlds, this.compareButton), this.scores)));
  }

  load() {
    const asked = this.api.post("api/explore/wumpus", this.settings);
    return this.stepper.load(asked, (told) => Object.assign(this, { told, hasTruth: false }));
  }

  showStep(step) {
    if (!this.told) return;
    const { t, told, hasTruth } = this;
    const now = told.moments[step];
    refill(this.map, this.drawCave(t("what it knows"), (square, x, y) => this.knownCell(now, square, x, y), now));
    refill(this.truth, this.drawCave(t(hasTruth ? "the cave" : "cave hidden"), (square, x, y) => this.trueCell(now, x, y), hasTruth ? now : null));
    this.truthButton.setAttribute("aria-pressed", String(hasTruth));
    this.truthButton.textContent = t(hasTruth ? "hide truth" : "show truth");
    refill(this.felt, FEELINGS.map((name) => el("li", { class: now.felt.includes(name) ? "is-on" : "", dataset: { felt: name } }, t(name))));
    const said = [["score", figure(now.score)], ["actions", String(step)], ["arrow", t(now.has_arrow ? "yes" : "no")], ["gold", t(now.has_gold ? "carried" : "no")]];
    refill(this.figures, said.map(([name, value]) => el("div", {}, el("b", { dataset: { field: name } }, value), el("span", {}, t(name)))));
    refill(this.story, this.storyOf(now, step));
  }

  storyOf(now, step) {
    const { t, told, settings } = this;
    const lines = [el("p", {}, t(`about ${settings.agent}`))];
    if (now.action) lines.push(el("p", { dataset: { told: "action" } }, `${t("does")} `, el("b", {}, t(`action ${now.action}`))));
    if (now.reason) lines.push(el("p", { dataset: { told: "reason" } }, t(`reason ${now.reason}`, { risk: percent(now.risk) })));
    if (step < told.moments.length - 1) return lines;
    const end = now.is_dead ? "it died" : now.action !== "climb" ? "it was too slow" : now.has_gold ? "out with gold" : "out without";
    return [...lines, el("p", { class: "formula", dataset: { told: "end" } }, t(end, { score: figure(now.score) }))];
  }

  // Caves.

  /** A cave drawn square by square, with the agent in it if there is one to show. */
  drawCave(label, cell, now) {
    const { size } = this.told;
    const side = size * CELL + EDGE;
    const numbers = Array.from({ length: size }, (_, i) => [
      svg("text", { class: "cave-axis", x: EDGE + (i + 0.5) * CELL, y: size * CELL + EDGE / 2 + 2 }, String(i + 1)),
      svg("text", { class: "cave-axis", x: EDGE / 2, y: (size - i - 0.5) * CELL }, String(i + 1))]);
    const cells = Array.from({ length: size * size }, (_, square) => cell(square, square % size, Math.floor(square / size)));
    return svg("svg", { class: "cave", viewBox: `0 0 ${side} ${side}`, role: "group", "aria-label": label }, numbers, cells, now && this.drawAgent(now));
  }

  /** One square: `kinds` are classes, `words` what a screen reader is told, `parts` lie on a field of 100 by 100. */
  cellOf(x, y, kinds, words, parts, danger = 0) {
    const { size } = this.told;
    return svg("g", {
      class: ["cave-cell", ...kinds], transform: `translate(${EDGE + x * CELL} ${(size - 1 - y) * CELL})`, role: "img",
      "aria-label": `${x + 1},${y + 1}: ${words}`, dataset: { square: `${x},${y}` }, style: { "--danger": danger },
    }, svg("rect", { x: 2, y: 2, width: CELL - 4, height: CELL - 4, rx: 8 }), parts);
  }

  knownCell(now, square, x, y) {
    const { t, told } = this;
    const known = told.maps[now.map];
    const danger = known.danger[square];
    if (known.breeze[square] !== null) {
      const felt = ["breeze", "stench"].filter((name) => known[name][square]);
      const gold = now.felt.includes("glitter") && x === now.square[0] && y === now.square[1];
      const texts = felt.map((name, place) => svg("text", { class: `cave-felt of-${name}`, x: 50, y: place ? 84 : 17, dataset: { field: name } }, t(name)));
      return this.cellOf(x, y, ["is-visited"], [t("visited"), ...felt.map((name) => t(name))].join(", "), [
        svg("circle", { class: "cave-trace", cx: 50, cy: 50, r: 5 }), texts, gold && goldAt(84, 80)]);
    }
    if (danger === 0) return this.cellOf(x, y, ["is-safe"], t("proven safe"), svg("text", { class: "cave-danger", x: 50, y: 50, dataset: { field: "danger" } }, t("ok")));
    const [pit, wumpus] = [known.pit[square], known.wumpus[square]];
    const parts = [["pit", pit], ["wumpus", wumpus]].filter(([, chance]) => chance > 0);
    return this.cellOf(x, y, [danger === 1 ? "is-deadly" : "is-risky"], `${percent(danger)}; ${parts.map(([name, chance]) => `${t(name)} ${percent(chance)}`).join(", ")}`, [
      svg("text", { class: "cave-danger", x: 50, y: 36, dataset: { field: "danger" } }, percent(danger)),
      parts.map(([name, chance], place) => svg("text", { class: "cave-part", x: 50, y: 60 + 18 * place, dataset: { field: name } }, `${t(name)} ${percent(chance)}`))], danger);
  }

  trueCell(now, x, y) {
    const { t, told, hasTruth } = this;
    if (!hasTruth) return this.cellOf(x, y, ["is-hidden"], t("hidden"), svg("text", { class: "cave-part", x: 50, y: 50 }, "?"));
    const isAt = ([column, row]) => column === x && row === y;
    const things = [told.pits.some(isAt) && "pit", isAt(told.wumpus) && "wumpus", isAt(told.gold) && !now.has_gold && "gold"].filter(Boolean);
    const isThere = isAt(now.square); // then the agent has the middle
    const at = isThere ? 28 : 50;
    return this.cellOf(x, y, ["is-visited"], things.map((name) => t(name)).join(", ") || t("free"), [
      things.includes("pit") && svg("circle", { class: "cave-pit", cx: 50, cy: 50, r: 36, dataset: { thing: "pit" } }),
      things.includes("wumpus") && [
        svg("circle", { class: "cave-wumpus", cx: at, cy: at, r: 18, dataset: { thing: "wumpus" } }), svg("text", { class: "cave-letter", x: at, y: at + 1 }, "W"),
        !now.wumpus_lives && svg("path", { class: "cave-struck", d: `M${at - 16} ${at + 16}l32 -32` })],
      things.includes("gold") && (isThere || things.length > 1 ? goldAt(76, 26) : goldAt(50, 50))]);
  }

  drawAgent({ square: [x, y], heading, is_dead: isDead }) {
    const [cx, cy] = [EDGE + (x + 0.5) * CELL, (this.told.size - 0.5 - y) * CELL];
    const shape = isDead ? "M-20 -20L20 20M20 -20L-20 20" : "M20 0L-14 -15L-7 0L-14 15Z";
    return svg("path", { class: ["cave-agent", isDead && "is-dead"], d: shape, transform: `translate(${cx} ${cy}) rotate(${-90 * heading})`, dataset: { agent: `${x},${y}` }, "aria-hidden": "true" });
  }

  // Many worlds.

  async compare() {
    const { size, pits, seed } = this.settings;
    this.compareButton.disabled = true;
    try {
      this.drawScores(await this.api.post("api/explore/wumpus/scores", { size, pits, seed, worlds: this.worlds }));
    } catch (problem) {
      toast(problem.message, "problem");
    } finally {
      this.compareButton.disabled = false;
    }
  }

  drawScores(summaries) {
    const { t } = this;
    const cell = (name, text) => el("td", { class: "figure", dataset: { field: name } }, text);
    const rows = summaries.map((each) => el("tr", { dataset: { agent: each.name } },
      el("td", {}, t(`agent ${each.name}`)), cell("mean", figure(each.mean, 1)),
      cell("interval", `${figure(each.mean - each.error, 1)} – ${figure(each.mean + each.error, 1)}`),
      cell("gold", percent(each.gold, 1)), cell("deaths", percent(each.deaths, 1)), cell("actions", figure(each.actions, 1))));
    const heads = ["agent", "mean score", "interval", "gold", "deaths", "actions"];
    const drawn = summaries.map(({ name, mean, error }) => ({ label: t(`agent ${name}`), value: mean, low: mean - error, high: mean + error }));
    refill(this.scores,
      intervals(drawn, { format: (value) => figure(value, 0), title: t("mean score"), width: Math.max(320, Math.min(960, this.scores.clientWidth)) }),
      el("div", { class: "scrolls" }, el("table", { class: "table" },
        el("thead", {}, el("tr", {}, heads.map((name, place) => el("th", { class: place ? "figure" : "" }, t(name))))),
        el("tbody", {}, rows))));
  }

  // The form.

  drawForm() {
    const { t, settings } = this;
    const change = (name) => (value) => { settings[name] = value; this.load(); };
    const agents = AGENTS.map((value) => ({ value, label: t(`agent ${value}`), title: t(`about ${value}`) }));
    refill(this.form,
      choice(t("agent"), agents, settings.agent, change("agent"), { dataset: { field: "agent" } }),
      el("div", { class: "fields" },
        numberField(t("seed"), settings.seed, { min: 0, max: 2 ** 31, step: 1, dataset: { field: "seed" } }, change("seed")),
        numberField(t("width"), settings.size, { min: 2, max: 8, step: 1, dataset: { field: "size" } }, change("size")),
        numberField(t("pit chance"), settings.pits, { min: 0, max: 1, step: 0.05, dataset: { field: "pits" } }, change("pits")),
        numberField(t("nerve"), settings.nerve, { min: 0, max: 1, step: 0.05, title: t("about nerve"), dataset: { field: "nerve" } }, change("nerve"))),
      button(t("another world"), () => { settings.seed = (settings.seed + 1) % 2 ** 31; this.drawForm(); this.load(); }, { name: "another world" }));
  }

  end() {
    this.stepper.end();
  }
}

/** A share as people say it; what is almost nothing is not nothing, nor is what is almost certain. */
function percent(share, digits = 0) {
  const text = figure(100 * share, digits);
  if (share > 0 && text === "0") return "<1%";
  return share < 1 && text === "100" ? ">99%" : `${text}%`;
}

function goldAt(x, y) {
  return svg("path", { class: "cave-gold", d: `M${x} ${y - 16}l14 16l-14 16l-14 -16z`, dataset: { thing: "gold" } });
}

export const words = withSteps({
  en: {
    title: "The Wumpus world", "ten actions": "Ten actions", "run to": "Run to", counter: "{step} of {all}", "what happens": "What happens",
    "what it knows": "What can be known", "the cave": "The cave", "cave hidden": "The cave, hidden", "show truth": "Show it", "hide truth": "Hide it", hidden: "hidden", "the world": "The world",
    feels: "It feels", stench: "stench", breeze: "breeze", glitter: "glitter", bump: "bump", scream: "scream",
    score: "score", actions: "actions", arrow: "arrow", gold: "gold", yes: "yes", no: "no", carried: "carried",
    visited: "visited", "proven safe": "proven safe", ok: "ok", pit: "pit", wumpus: "wumpus", free: "nothing there",
    does: "It did:", "action left": "turn left", "action right": "turn right", "action forward": "forward", "action grab": "grab", "action release": "release", "action shoot": "shoot", "action climb": "climb",
    "reason safe": "There is a square that is proven safe.", "reason hunt": "An arrow may open a way.", "reason dare": "Nothing is safe; a risk of {risk} is taken.",
    "reason home": "The rest is too dangerous, so it goes home.", "reason gold": "It has the gold and goes home.", "reason glitter": "It glitters: the gold is here.",
    "it died": "It died. Score {score}.", "out with gold": "It came out with the gold. Score {score}.", "out without": "It came out without the gold. Score {score}.", "it was too slow": "Nobody waits for it any longer. Score {score}.",
    agent: "Agent", "agent reasoning": "Reasoning", "agent reasoning, never daring": "Reasoning, never daring", "agent reckless": "Reckless", "agent random": "Random",
    "about reasoning": "Goes where it is proven safe, shoots where that opens a way, dares a risk up to its nerve, and climbs out otherwise.",
    "about reasoning, never daring": "Goes only where it is proven safe; it never dies.",
    "about reckless": "Goes to the nearest square it has not seen, whatever it smells. The map shows what it could have known.",
    "about random": "Does anything. The map shows what it could have known.",
    seed: "Seed", width: "Width", "pit chance": "Chance of a pit", nerve: "Nerve", "about nerve": "The greatest chance of death that the reasoning agent takes", "another world": "Another world",
    "keys wumpus": "Pits make their neighbours breezy, the wumpus makes its own smelly. Green is proven safe, red has a chance to die: of a pit, of the wumpus, exact over all caves that agree with what was felt. Keys: → step, ← back, Shift → ten, space runs, Home and End.",
    "many worlds": "Many worlds", "about worlds": "Every agent in the same random worlds: mean scores with their 95% intervals. Gold +1000, death −1000, an action −1, the arrow −10.",
    worlds: "Worlds", compare: "Compare agents", "mean score": "mean score", interval: "95% interval", deaths: "deaths",
  },
  zh: {
    title: "Wumpus 世界", "ten actions": "十个动作", "run to": "运行到", counter: "第 {step} 个，共 {all} 个", "what happens": "正在发生什么",
    "what it knows": "可以知道的", "the cave": "洞穴", "cave hidden": "洞穴（未显示）", "show truth": "显示", "hide truth": "隐藏", hidden: "未显示", "the world": "世界",
    feels: "感知", stench: "臭气", breeze: "微风", glitter: "闪光", bump: "碰撞", scream: "惨叫",
    score: "得分", actions: "动作", arrow: "箭", gold: "金子", yes: "有", no: "无", carried: "已拿到",
    visited: "到过", "proven safe": "已证明安全", ok: "安全", pit: "陷阱", wumpus: "怪兽", free: "空",
    does: "动作：", "action left": "左转", "action right": "右转", "action forward": "前进", "action grab": "拾取", "action release": "放下", "action shoot": "射箭", "action climb": "爬出",
    "reason safe": "有一格已证明安全。", "reason hunt": "一箭也许能打开通路。", "reason dare": "没有安全的格；冒 {risk} 的险。",
    "reason home": "其余太危险，于是回家。", "reason gold": "金子到手，于是回家。", "reason glitter": "有闪光：金子在这里。",
    "it died": "它死了。得分 {score}。", "out with gold": "它带着金子出来了。得分 {score}。", "out without": "它没拿到金子就出来了。得分 {score}。", "it was too slow": "没有人再等它了。得分 {score}。",
    agent: "智能体", "agent reasoning": "推理", "agent reasoning, never daring": "推理，从不冒险", "agent reckless": "鲁莽", "agent random": "随机",
    "about reasoning": "走已证明安全的格；射箭若能开路就射；在胆量之内冒险；否则爬出。",
    "about reasoning, never daring": "只走已证明安全的格，从不死亡。",
    "about reckless": "不管闻到什么，总走最近的没见过的格。地图显示它本可以知道的。",
    "about random": "随便做什么。地图显示它本可以知道的。",
    seed: "随机种子", width: "宽度", "pit chance": "陷阱概率", nerve: "胆量", "about nerve": "推理智能体愿冒的最大死亡概率", "another world": "换一个世界",
    "keys wumpus": "陷阱旁边有微风，怪兽旁边有臭气。绿色已证明安全，红色有死亡的可能：来自陷阱或怪兽，是对所有符合感知的洞穴的精确概率。按键：→ 下一步，← 上一步，Shift → 十个，空格运行，Home 与 End。",
    "many worlds": "许多世界", "about worlds": "所有智能体进入同样的随机世界：平均得分及 95% 区间。金子 +1000，死亡 −1000，每个动作 −1，箭 −10。",
    worlds: "世界数", compare: "比较智能体", "mean score": "平均得分", interval: "95% 区间", deaths: "死亡",
  },
});
