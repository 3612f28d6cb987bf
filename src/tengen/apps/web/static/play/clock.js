// A clock for every move: whoever takes longer than is allowed has lost. What a position has used up it keeps.

const TICK = 100; // milliseconds between two looks at the clock
const LOW = 10; // seconds that are few
const [LEAST, MOST] = [1, 3600]; // seconds that a link may allow
export const CLOCKS = ["", "10", "30", "60", "180"]; // seconds a move; the first is no clock

/** The seconds a move that a link or a setting allows; null is no clock. */
export function secondsOf(text) {
  const seconds = Number(text);
  return seconds >= LEAST && seconds <= MOST ? seconds : null;
}

export class MoveClock {
  /** `onTick()` is called while it runs, `onOut(node, player)` when the player's time at the node is over. */
  constructor({ onTick, onOut }) {
    Object.assign(this, { onTick, onOut, node: null, timer: null });
  }

  /** Runs for a player at a node; if it does already, nothing changes. */
  run(node, player, allowed) {
    if (this.node === node) return;
    this.stop();
    const began = performance.now() - 1000 * node.spent;
    this.node = node;
    this.timer = setInterval(() => {
      node.spent = (performance.now() - began) / 1000;
      if (node.spent < allowed) {
        this.onTick();
        return;
      }
      this.stop();
      this.onOut(node, player);
    }, TICK);
  }

  stop() {
    clearInterval(this.timer);
    Object.assign(this, { node: null, timer: null });
  }
}

/** What is left of a move's time, as text, and whether that is little. */
export function timeLeft(allowed, spent) {
  const left = Math.max(0, Math.ceil(allowed - spent));
  return { text: `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`, isLow: left <= LOW };
}
