// Bandits: arms that pay or do not, UCB1 and Thompson's sampling beside simpler policies, and what each comes to regret.
import { el, svg, refill, toast, loadSheet } from "../dom.js";
import { figure, numberField, segments, titled, toggle } from "./small.js";
import { Stepper, withSteps } from "./stepper.js";

const CHART = { height: 280, left: 48, right: 16, top: 12, bottom: 32 };
const HIGHEST_BOUND = 3; // the right end of an arm's bar

export async function show(root, context) {
  await loadSheet("explore/explore.css");
  const page = new BanditsPage(root, context);
  await page.load();
  return () => page.end();
}

class BanditsPage {
  constructor(root, { t, api }) {
    Object.assign(this, { t, api });
    this.settings = { means: [0.3, 0.5, 0.7], steps: 500, runs: 100, exploration: 1, epsilon: 0.1, seed: 1 };
    this.policy = "ucb1";
    this.hasBound = false;
    this.stepper = new Stepper({
      t,
      count: () => this.settings.steps,
      stride: () => 10, target: () => 1,
      most: () => this.settings.steps,
      show: (step) => this.showStep(step),
      names: { whole: "ten pulls", target: "run to", counter: "counter" },
    });
    this.arms = el("div", { class: "arms" });
    this.story = el("div", { class: "story", "aria-live": "polite" });
    this.chart = el("div", { class: "chart-place" });
    this.observer = new ResizeObserver(() => this.drawChart());
    this.observer.observe(this.chart);
    this.table = el("div", { class: "scrolls" });
    this.form = el("div", { class: "explore-form" });
    this.build(root);
    this.drawForm();
  }

  build(root) {
    const { t } = this;
    const policies = ["ucb1", "thompson", "greedy", "epsilon", "random"].map((value) => ({ value, label: t(`policy ${value}`), title: t(`about ${value}`) }));
    const bound = toggle(t("show bound"), "bound", (isOn) => {
      this.hasBound = isOn;
      this.drawChart();
    });
    refill(root, el("div", { class: "explore" },
      el("section", { class: "card explore-main", "aria-label": t("title") },
        el("div", { class: "row spread" }, el("h1", {}, t("title")), segments(t("policy"), policies, this.policy, (policy) => { this.policy = policy; this.showStep(this.stepper.step); })),
        this.stepper.element, this.arms, el("p", { class: "note" }, t("keys bandits")),
        el("div", { class: "row spread" }, el("h2", {}, t("regret")), bound), this.chart),
      el("aside", { class: "explore-side stack" },
        titled(t("what happens"), this.story),
        titled(t("regret of all"), this.table, el("p", { class: "note" }, t("note regret")))),
      el("section", { class: "card stack explore-settings" }, el("h2", {}, t("the arms")), this.form)));
  }

  load() {
    return this.stepper.load(this.api.post("api/explore/bandits", this.settings), (contest) => { this.contest = contest; });
  }

  get play() {
    return this.contest.plays.find((each) => each.policy === this.policy);
  }

  /** How often each arm was pulled in so many steps, and what it paid. */
  tally(step) {
    const tally = this.contest.means.map(() => ({ pulls: 0, total: 0 }));
    const { arms, rewards } = this.play;
    for (let i = 0; i < step; i++) {
      tally[arms[i]].pulls += 1;
      tally[arms[i]].total += rewards[i];
    }
    return tally;
  }

  showStep(step) {
    if (!this.contest) return;
    this.step = step;
    const { play, contest } = this;
    const tally = this.tally(step);
    const next = step < play.arms.length ? play.bounds[step] : null;
    const last = step > 0 ? play.arms[step - 1] : null;
    refill(this.arms, contest.means.map((mean, arm) => this.armOf(arm, mean, tally[arm], next, last)));
    refill(this.story, this.storyOf(step, tally, next));
    this.drawChart();
    this.drawTable();
  }

  armOf(arm, truth, { pulls, total }, next, last) {
    const { t, policy, play, step } = this;
    const mean = pulls ? total / pulls : 0;
    const bound = next ? next[arm] : policy === "ucb1" ? this.boundOf(mean, pulls) : null;
    const isNext = step < play.arms.length && play.arms[step] === arm;
    const scale = 300 / (policy === "ucb1" ? HIGHEST_BOUND : 1);
    const high = policy === "ucb1" ? Math.min(bound ?? HIGHEST_BOUND, HIGHEST_BOUND) : mean;
    return el("div", { class: ["arm", isNext && "is-chosen"], dataset: { arm: arm + 1 } },
      el("span", { class: "arm-name" }, String(arm + 1)),
      svg("svg", { class: "arm-drawing", viewBox: "0 0 300 28", preserveAspectRatio: "none", role: "img", "aria-label": t("arm says", { arm: arm + 1, mean: figure(mean), pulls }) },
        svg("rect", { class: "arm-track", width: 300, height: 28, rx: 4 }),
        svg("rect", { class: "arm-bonus", x: mean * scale, width: Math.max(0, high - mean) * scale, height: 28 }),
        svg("rect", { class: "arm-mean", width: mean * scale, height: 28, rx: 2 }),
        policy === "thompson" && next && svg("path", { class: "arm-drawn", d: `M${bound * scale} 0V28` }),
        svg("path", { class: "arm-truth", d: `M${truth * scale} 0V28` })),
      el("span", { class: "reward" }, arm === last ? (play.rewards[step - 1] ? t("paid") : t("paid nothing")) : ""),
      el("span", { class: "arm-figures" }, this.figuresOf(arm, mean, pulls, bound)));
  }

  /** What UCB1 would compare an arm by after the last pull, for which nobody asks any more. */
  boundOf(mean, pulls) {
    return pulls ? mean + this.settings.exploration * Math.sqrt((2 * Math.log(this.step)) / pulls) : null;
  }

  figuresOf(arm, mean, pulls, bound) {
    const { t, policy, step, settings } = this;
    const count = [`n = `, el("b", { dataset: { field: "pulls" } }, String(pulls)), `,  X̄ = `, el("b", { dataset: { field: "mean" } }, pulls ? figure(mean) : "–")];
    if (policy === "thompson" && bound !== null) return [...count, `,  ${t("drawn")} `, el("b", { dataset: { field: "drawn" } }, figure(bound))];
    if (policy !== "ucb1") return count;
    if (!pulls) return [...count, `,  ${t("never pulled")}`];
    const c = settings.exploration === 1 ? "" : `${figure(settings.exploration)} · `;
    return [...count, `,  ${figure(mean)} + ${c}√(2 ln ${step} / ${pulls}) = `, el("b", { dataset: { field: "bound" } }, figure(bound))];
  }

  storyOf(step, tally, next) {
    const { t, play, policy } = this;
    const lines = [el("p", { class: "formula" }, t(`formula ${policy}`)), el("p", {}, t(`about ${policy}`))];
    if (step < play.arms.length) {
      const arm = play.arms[step];
      const best = next.reduce((found, bound, place) => ((bound ?? Infinity) > (next[found] ?? Infinity) ? place : found), 0);
      const isAny = policy === "random" || (policy === "epsilon" && next[arm] !== next[best]);
      lines.push(el("p", { dataset: { told: "next" } }, t(isAny ? "next by chance" : next[arm] === null ? "next untried" : policy === "thompson" ? "next drawn" : "next best", { arm: arm + 1, bound: figure(next[arm]) })));
    }
    const earned = tally.reduce((sum, { total }) => sum + total, 0);
    const regret = this.lectureRegret(step, earned);
    lines.push(el("p", {}, t("earned", { earned, step }), " ", el("b", { dataset: { field: "regret" } }, figure(regret))));
    return lines;
  }

  /** max over arms of what each would have paid so far, less what was earned. */
  lectureRegret(step, earned) {
    const paid = this.contest.means.map(() => 0);
    for (let i = 0; i < step; i++) this.contest.would_pay[i].forEach((reward, arm) => { paid[arm] += reward; });
    return step ? Math.max(...paid) - earned : 0;
  }

  // The curves.

  drawChart() {
    const { t, contest, step, settings, hasBound } = this;
    if (!contest) return;
    const { height, left, right, top, bottom } = CHART;
    const width = Math.max(280, this.chart.clientWidth);
    const shown = contest.points.filter((point) => point <= Math.max(step, 1)).length;
    const bound = hasBound ? contest.bound.filter((value) => value !== null) : [];
    const most = Math.max(1, ...contest.plays.map((play) => play.regret.at(-1)), ...bound);
    const x = (point) => left + (point / settings.steps) * (width - left - right);
    const y = (value) => height - bottom - (value / (most * 1.05)) * (height - top - bottom);
    const line = (values) => values.map((value, place) => `${place ? "L" : "M"}${x(contest.points[place]).toFixed(1)} ${y(value).toFixed(1)}`).join("");
    const ticks = [0, 0.25, 0.5, 0.75, 1];
    refill(this.chart, svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": t("regret chart") },
      ticks.map((share) => [
        svg("path", { class: "grid-line", d: `M${left} ${y(share * most)}H${width - right}` }),
        svg("text", { x: left - 8, y: y(share * most) + 4, "text-anchor": "end" }, figure(share * most, most < 10 ? 1 : 0)),
        svg("text", { x: x(share * settings.steps), y: height - 14, "text-anchor": "middle" }, figure(share * settings.steps, 0))]),
      svg("path", { class: "axis-line", d: `M${left} ${top}V${height - bottom}H${width - right}` }),
      svg("path", { class: "now", d: `M${x(step)} ${top}V${height - bottom}` }),
      bound.length ? svg("path", { class: "curve of-bound", d: line(contest.bound) }) : null,
      contest.plays.map((play) => svg("path", { class: `curve of-${play.policy}`, d: line(play.regret.slice(0, shown)) }))));
  }

  drawTable() {
    const { t, contest, step } = this;
    const at = contest.points.findLastIndex((point) => point <= step);
    const rows = contest.plays.map((play) => el("tr", { dataset: { policy: play.policy } },
      el("td", {}, el("span", { class: "curve-name" }, el("span", { class: `dot of-${play.policy}` }), t(`policy ${play.policy}`))),
      el("td", { class: "figure", dataset: { field: "regret" } }, figure(at < 0 ? 0 : play.regret[at], 1)),
      el("td", { class: "figure" }, figure(at < 0 ? 0 : play.spread[at], 1)),
      el("td", { class: "figure" }, play.pulls.map((pulls) => figure(pulls, 0)).join(" · "))));
    const bound = contest.bound[Math.max(at, 0)];
    rows.push(el("tr", { dataset: { policy: "bound" } },
      el("td", {}, el("span", { class: "curve-name" }, el("span", { class: "dot of-bound" }), t("bound"))),
      el("td", { class: "figure", dataset: { field: "regret" } }, figure(bound ?? null, 1)), el("td", {}), el("td", {})));
    refill(this.table, el("table", { class: "table" },
      el("thead", {}, el("tr", {}, [t("policy"), t("mean regret"), "±", t("pulls")].map((name, place) => el("th", { class: place ? "figure" : "" }, name)))),
      el("tbody", {}, rows)));
  }

  // The form.

  drawForm() {
    const { t, settings } = this;
    const change = (name) => (value) => { settings[name] = value; this.load(); };
    const means = el("input", { value: settings.means.join(", "), inputmode: "text", dataset: { field: "means" }, onchange: () => {
      const values = means.value.split(/[\s,;]+/).filter(Boolean).map(Number);
      if (values.some((value) => !(value >= 0 && value <= 1))) toast(t("bad means"), "problem");
      else { settings.means = values; this.load(); }
    } });
    refill(this.form,
      el("label", { class: "field" }, el("span", {}, t("means")), means),
      el("div", { class: "fields" },
        numberField(t("pulls in all"), settings.steps, { min: 1, max: 2000, step: 1 }, change("steps")),
        numberField(t("runs"), settings.runs, { min: 1, max: 500, step: 1 }, change("runs")),
        numberField("C", settings.exploration, { min: 0, max: 100, step: 0.05 }, change("exploration")),
        numberField("ε", settings.epsilon, { min: 0, max: 1, step: 0.05 }, change("epsilon")),
        numberField(t("seed"), settings.seed, { min: 0, max: 2 ** 31, step: 1 }, change("seed"))));
  }

  end() {
    this.observer.disconnect();
    this.stepper.end();
  }
}

export const words = withSteps({
  en: {
    title: "Bandits: which arm next?", policy: "Policy", "policy ucb1": "UCB1", "policy greedy": "Greedy", "policy epsilon": "ε-greedy", "policy random": "Random", "policy thompson": "Thompson",
    "formula ucb1": "X̄ + C · √(2 ln n / nⱼ)", "formula greedy": "X̄", "formula epsilon": "1 − ε: X̄,  ε: any arm", "formula random": "any arm", "formula thompson": "θⱼ ~ Beta(1 + wins, 1 + losses)",
    "about ucb1": "The arm whose mean could still be highest: doubt counts in its favour.",
    "about greedy": "Always the arm that has paid best so far. It can stay with a worse one for ever.",
    "about epsilon": "Mostly the arm that has paid best, now and then any arm: its regret grows for ever, slowly.",
    "about random": "Any arm, whatever was learned: its regret grows as fast as time.",
    "about thompson": "Draws each arm's chance from what is known of it and takes the best draw: an arm is tried as often as it may be the best.",
    "ten pulls": "Ten pulls", "run to": "Run to", counter: "{step} of {all}", "what happens": "What happens", regret: "Regret", "regret of all": "Regret over all runs", "the arms": "The arms",
    "keys bandits": "Green is what an arm has paid on average, ochre UCB1's bonus, the blue line Thompson's draw, the red line its true chance, which no policy sees. The framed arm is next. Keys: → step, ← back, Shift → ten, space runs.",
    "arm says": "Arm {arm}: mean {mean} of {pulls} pulls", paid: "+1", "paid nothing": "0", "never pulled": "never pulled: it comes first",
    "next best": "Next is arm {arm}, with {bound}.", "next untried": "Next is arm {arm}, never pulled.", "next by chance": "Next is arm {arm}, by chance.", "next drawn": "Next is arm {arm}: its draw, {bound}, is the best.", drawn: "drawn",
    earned: "{earned} earned in {step} pulls. Regret, as the lecture has it (max ΣXᵢ less what was earned):",
    "regret chart": "Regret of each policy by pulls, on average over the runs", "show bound": "Show the bound", bound: "UCB1's bound", "mean regret": "regret", pulls: "pulls in the end",
    "note regret": "Curves are Σ(best chance − chance of the arm pulled), on average over all runs; ± is the spread between runs. The bound, 8·Σ ln n / Δ + (1 + π²/3)·ΣΔ, is proven for C = 1.",
    means: "Chance of each arm to pay", "bad means": "A chance is between 0 and 1: 0.3, 0.5, 0.7", "pulls in all": "Pulls", runs: "Runs", seed: "Seed",
  },
  zh: {
    title: "多臂老虎机：下一次拉哪个臂？", policy: "策略", "policy ucb1": "UCB1", "policy greedy": "贪心", "policy epsilon": "ε-贪心", "policy random": "随机", "policy thompson": "汤普森",
    "formula ucb1": "X̄ + C · √(2 ln n / nⱼ)", "formula greedy": "X̄", "formula epsilon": "1 − ε：X̄，ε：任一臂", "formula random": "任一臂", "formula thompson": "θⱼ ~ Beta(1 + 赢, 1 + 输)",
    "about ucb1": "选择均值仍可能最高的臂：不确定性对它有利。",
    "about greedy": "总选到目前为止回报最好的臂，可能永远停在较差的臂上。",
    "about epsilon": "多数时候选回报最好的臂，偶尔任选一臂：悔值永远缓慢增长。",
    "about random": "不管学到什么都任选一臂：悔值与时间成正比。",
    "about thompson": "按已知情况为每个臂抽取一个概率，选抽得最高的臂：一个臂越可能最好，就越常被尝试。",
    "ten pulls": "拉十次", "run to": "运行到", counter: "第 {step} 次，共 {all} 次", "what happens": "正在发生什么", regret: "悔值", "regret of all": "所有轮的悔值", "the arms": "各个臂",
    "keys bandits": "绿色是臂的平均回报，赭色是 UCB1 的加成，蓝线是汤普森的抽样，红线是真实概率，策略看不到。带框的臂是下一个。按键：→ 下一步，← 上一步，Shift → 十次，空格运行。",
    "arm says": "臂 {arm}：{pulls} 次的均值 {mean}", paid: "+1", "paid nothing": "0", "never pulled": "从未拉过：优先",
    "next best": "下一个是臂 {arm}，值 {bound}。", "next untried": "下一个是从未拉过的臂 {arm}。", "next by chance": "下一个是随机选中的臂 {arm}。", "next drawn": "下一个是臂 {arm}：抽得的 {bound} 最高。", drawn: "抽得",
    earned: "{step} 次共得 {earned}。讲义的悔值（max ΣXᵢ 减去所得）：",
    "regret chart": "各策略的悔值随次数变化，对多轮取平均", "show bound": "显示上界", bound: "UCB1 的上界", "mean regret": "悔值", pulls: "最终各臂次数",
    "note regret": "曲线是 Σ(最好的概率 − 所拉臂的概率) 对所有轮的平均；± 是各轮之间的标准差。上界 8·Σ ln n / Δ + (1 + π²/3)·ΣΔ 在 C = 1 时成立。",
    means: "各臂的中奖概率", "bad means": "概率在 0 与 1 之间：0.3, 0.5, 0.7", "pulls in all": "次数", runs: "轮数", seed: "随机种子",
  },
});
