// Going through something that has been told: step, run, run to a number, go back; by buttons, slider and keyboard.
import { choice, el, refill, toast } from "../dom.js";
import { icon } from "../icons.js";

const PACES = [["slow", 1400], ["medium", 600], ["fast", 120]];

export class Stepper {
  /**
   * `count()` is how many steps there are, `stride()` how many make one whole (a simulation), `show(step)` shows one.
   * `reach(whole)` may fetch what is needed for that many wholes; it is awaited.
   * `target()` is how many steps one of the target field's units has: those of a whole, if it does not say.
   */
  constructor({ t, count, stride, show, reach = async () => {}, most = () => Math.ceil(count() / stride()), target = stride, names }) {
    Object.assign(this, { t, count, stride, show, reach, most, unit: target, names });
    this.step = 0;
    this.timer = null;
    this.pace = 600;
    this.build();
    this.hear = (event) => this.key(event);
    document.addEventListener("keydown", this.hear);
  }

  build() {
    const { t, names } = this;
    const button = (name, text, act, classes = "", keys = "") => el("button", {
      type: "button", class: `button ${classes}`, title: keys ? `${t(name)} (${keys})` : t(name), "aria-label": t(name), onclick: act,
      dataset: { action: name },
    }, text);
    this.slider = el("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": t("position in the search"), oninput: () => { this.stop(); this.goTo(Number(this.slider.value)); } });
    this.target = el("input", { type: "number", min: 1, inputmode: "numeric", class: "stepper-target", "aria-label": t(names.target) });
    this.runButton = button("run", icon("forward"), () => this.toggle(), "icon", t("key space"));
    this.counter = el("output", { class: "stepper-counter number" });
    this.element = el("div", { class: "stepper", role: "toolbar", "aria-label": t("steps") },
      el("div", { class: "stepper-row" },
        button("to the beginning", icon("first"), () => this.goTo(0), "icon", "Home"),
        button("back", icon("back"), () => this.move(-1), "icon", "←"),
        button("step", t("step"), () => this.move(1), "primary", "→"),
        button(names.whole, t(names.whole), () => this.whole(1), "", "Shift →"),
        this.runButton,
        el("form", { class: "stepper-form", onsubmit: (event) => { event.preventDefault(); this.runTo(Number(this.target.value)); } },
          el("label", { class: "stepper-label" }, el("span", {}, t(names.target)), this.target),
          el("button", { type: "submit", class: "button", dataset: { action: "run to" } }, t("go"))),
        choice(t("pace"), PACES.map(([name, value]) => ({ value, label: t(name) })), "600", (value) => { this.pace = Number(value); if (this.timer) { this.stop(); this.run(); } }, { class: "stepper-pace" })),
      el("div", { class: "stepper-row" }, this.slider, this.counter));
  }

  /** Fetches something else to go through, and keeps it. Meanwhile nobody steps; of several, the last asked for is taken. */
  async load(fetched, keep, refuse = () => {}) {
    this.stop();
    this.element.inert = true;
    this.fetching = fetched;
    try {
      const told = await fetched;
      if (this.fetching !== fetched) return;
      keep(told);
      this.target.value = "";
      this.refresh(0);
    } catch (problem) {
      if (this.fetching !== fetched) return;
      toast(problem.message, "problem");
      refuse(problem);
    } finally {
      if (this.fetching === fetched) this.element.inert = false;
    }
  }

  /** After the steps have changed. */
  refresh(step = this.step) {
    this.slider.max = this.count();
    this.target.max = this.most();
    if (!this.target.value || Number(this.target.value) > this.most()) this.target.value = this.most();
    this.goTo(Math.min(step, this.count()));
  }

  goTo(step) {
    this.step = Math.max(0, Math.min(step, this.count()));
    this.slider.value = this.step;
    const whole = Math.ceil(this.step / this.stride());
    this.counter.textContent = this.t(this.names.counter, { whole, step: this.step, all: this.most(), steps: this.count() });
    this.show(this.step);
  }

  async move(by) {
    this.stop();
    await this.advance(by);
  }

  async advance(by) {
    const wanted = this.step + by;
    if (by > 0 && wanted > this.count()) await this.reach(Math.ceil(wanted / this.stride()));
    this.slider.max = this.count();
    this.goTo(wanted);
  }

  /** To the end of this whole, or of the next. */
  whole(by) {
    const stride = this.stride();
    const next = by > 0 ? (Math.floor(this.step / stride) + 1) * stride : (Math.ceil(this.step / stride) - 1) * stride;
    return this.move(next - this.step);
  }

  async runTo(whole) {
    this.stop();
    const wanted = Math.max(0, Math.min(Math.round(whole) || 0, this.most()));
    await this.reach(wanted);
    this.slider.max = this.count();
    this.goTo(wanted * this.unit());
  }

  toggle() {
    if (this.timer) this.stop();
    else this.run();
  }

  run() {
    if (this.step >= this.count() && this.step >= this.most() * this.stride()) this.goTo(0);
    this.showRunButton("pause", "pause");
    let isBusy = false;
    this.timer = setInterval(async () => {
      if (isBusy) return;
      isBusy = true;
      const before = this.step;
      await this.advance(1);
      isBusy = false;
      if (this.step === before) this.stop();
    }, this.pace);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.showRunButton("run", "forward");
  }

  showRunButton(name, sign) {
    refill(this.runButton, icon(sign));
    this.runButton.setAttribute("aria-label", this.t(name));
  }

  key(event) {
    const isTaken = event.target.closest?.("input, select, textarea, [role=tree], [role=grid], dialog, summary");
    if (isTaken || this.element.inert || event.ctrlKey || event.metaKey || event.altKey) return;
    const isButton = event.target.closest?.("button, a");
    const act = {
      ArrowRight: () => (event.shiftKey ? this.whole(1) : this.move(1)),
      ArrowLeft: () => (event.shiftKey ? this.whole(-1) : this.move(-1)),
      Home: () => { this.stop(); this.goTo(0); },
      End: () => this.runTo(this.most()),
      " ": isButton ? null : () => this.toggle(),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  end() {
    this.stop();
    document.removeEventListener("keydown", this.hear);
  }
}

export const words = {
  en: {
    steps: "Steps", step: "Step", back: "Step back", run: "Run", pause: "Pause", go: "Go", pace: "Pace",
    slow: "slow", medium: "medium", fast: "fast", "to the beginning": "To the beginning",
    "position in the search": "Place in what was told", "key space": "space",
    zoom: "Zoom", "zoom in": "Larger", "zoom out": "Smaller", "zoom fit": "As large as fits",
    keys: "Keys: → step, ← back, Shift → a whole one, space runs, Home and End. In the tree: arrows walk, Enter picks, space folds, + and − zoom.",
  },
  zh: {
    steps: "步骤", step: "下一步", back: "上一步", run: "运行", pause: "暂停", go: "前往", pace: "速度",
    slow: "慢", medium: "中", fast: "快", "to the beginning": "回到开头",
    "position in the search": "进度", "key space": "空格",
    zoom: "缩放", "zoom in": "放大", "zoom out": "缩小", "zoom fit": "适合窗口",
    keys: "按键：→ 下一步，← 上一步，Shift → 前进一整轮，空格运行，Home 与 End。树中：方向键移动，回车选中，空格折叠，+ 和 − 缩放。",
  },
};

/** Words of a page together with those above. */
export function withSteps(own) {
  return { en: { ...words.en, ...own.en }, zh: { ...words.zh, ...own.zh } };
}
