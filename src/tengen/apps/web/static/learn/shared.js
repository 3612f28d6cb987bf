// What both pages of this folder need: states, times, and asking again and again.
import { el, refill } from "../dom.js";
import { gameTitle } from "../play/session.js";

export const words = {
  en: {
    running: "running", stopping: "stopping", stopped: "stopped", complete: "complete", failed: "failed",
    stop: "Stop", "stop at once": "Stop at once", resume: "Go on", seconds: "{n} s", minutes: "{n} min", hours: "{h} h {m} min",
  },
  zh: {
    running: "进行中", stopping: "正在停止", stopped: "已停止", complete: "已完成", failed: "失败",
    stop: "停止", "stop at once": "立即停止", resume: "继续", seconds: "{n} 秒", minutes: "{n} 分钟", hours: "{h} 小时 {m} 分",
  },
};

export function duration(seconds, t) {
  if (seconds < 120) return t("seconds", { n: Math.round(seconds) });
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return t("minutes", { n: minutes });
  return t("hours", { h: Math.floor(minutes / 60), m: minutes % 60 });
}

/** Whether the process of a run or a contest has not ended. */
export function isAlive(state) {
  return state === "running" || state === "stopping";
}

export function chip(state, t) {
  return el("span", { class: `chip run-state ${state}`, dataset: { state } }, t(state));
}

/** The first line of what is shown of a run or a contest, with tools beside it. */
export function titleLine(work, t, ...tools) {
  const game = work.game ? el("span", { class: "muted" }, gameTitle(work.game, t)) : null;
  return el("div", { class: "row spread" }, el("div", { class: "row" }, el("h2", {}, work.name), chip(work.state, t), game), ...tools);
}

/** The button by which a run or a contest is stopped, or gone on with: `act` is told "stop" or "resume". */
export function actButton(work, t, act, mayResume) {
  const button = (kind, what, text, disabled) =>
    el("button", { class: kind, type: "button", dataset: { focus: "act" }, disabled, onclick: () => act(what) }, t(text));
  if (work.can_resume) return button("button primary", "resume", "resume", !mayResume);
  if (work.is_ours) return button("button", "stop", work.state === "stopping" ? "stop at once" : "stop", false);
  return work.state === "running" ? el("span", { class: "note" }, t("other terminal")) : null;
}

/** Draws a place anew, and gives the keyboard back to what it was on. */
export function refillFocused(place, ...parts) {
  const focused = document.activeElement?.dataset?.focus;
  refill(place, ...parts);
  if (focused) place.querySelector(`[data-focus="${focused}"]`)?.focus();
}

/** A card with a form that can be folded; where there is little room and something to see, it is. */
export function folded(title, hasMore, ...children) {
  const isWide = matchMedia("(min-width: 900px)").matches;
  return el("details", { open: isWide || !hasMore }, el("summary", {}, el("h2", {}, title)), ...children);
}

/** Calls `look` now and then; `look` says in how many milliseconds again. A page that nobody sees asks rarely. */
export class Watch {
  constructor(look) {
    this.look = look;
    this.isOver = false;
    this.isBusy = false;
    this.isWanted = false;
    this.again = () => !document.hidden && this.now();
    document.addEventListener("visibilitychange", this.again);
  }

  /** Looks at once; if it is looking already, once more after that. */
  async now() {
    if (this.isOver) return;
    if (this.isBusy) {
      this.isWanted = true;
      return;
    }
    this.isBusy = true;
    clearTimeout(this.timer);
    let pause = 5000;
    do {
      this.isWanted = false;
      try {
        pause = await this.look();
      } catch (reason) {
        console.info(reason.message); // the server may be gone for a moment: what is shown stays
      }
    } while (this.isWanted && !this.isOver);
    this.isBusy = false;
    if (!this.isOver) this.timer = setTimeout(() => this.now(), document.hidden ? 30_000 : pause);
  }

  end() {
    this.isOver = true;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.again);
  }
}

/** Tells a screen reader what it has not been told yet. */
export function teller(announce) {
  let told = null;
  return (text) => {
    if (text !== told && told !== null) announce?.(text);
    told = text;
  };
}

/** What the address says after its question mark. */
export function wish(name) {
  return new URLSearchParams(location.hash.split("?")[1] ?? "").get(name);
}

/** Keeps what is shown in the address, without showing the page anew. */
export function setAddress(page, values) {
  const wishes = new URLSearchParams(Object.entries(values).filter(([, value]) => value));
  history.replaceState(null, "", `#/${page}${wishes.size ? `?${wishes}` : ""}`);
}
