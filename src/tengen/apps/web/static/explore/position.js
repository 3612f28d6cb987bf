// A board on which a position is set up by playing to it.
import { el, refill, toast } from "../dom.js";
import { Board, moveButtons } from "../board.js";
import { viewOf } from "../play/session.js";

export class PositionEditor {
  /** `onChange(game, moves)` is told every position that goes on. */
  constructor({ t, socket, onChange }) {
    Object.assign(this, { t, socket, onChange, game: null, moves: [] });
    this.place = el("div", { class: "editor-board" });
    this.words = el("p", { class: "note", role: "status" });
    const button = (name, act) => el("button", { type: "button", class: "button small", onclick: act, dataset: { action: name } }, t(name));
    this.others = el("div", { class: "row" });
    this.element = el("div", { class: "editor" }, this.place, this.others, el("div", { class: "row" },
      button("take back", () => this.go(this.moves.slice(0, -1))),
      button("clear", () => this.go([])), this.words));
  }

  /** Shows a position, without telling anybody. */
  async open(game, moves) {
    const view = await viewOf(this.socket, game, moves);
    if (game !== this.game) {
      this.board = new Board(this.place, { t: this.t, onMove: (move) => this.go([...this.moves, move]), label: this.t("position") });
      this.game = game;
    }
    this.moves = view.moves;
    this.board.show(view);
    refill(this.others, moveButtons(view, this.t, (move) => this.go([...this.moves, move]), { kind: "small" }));
    this.words.textContent = view.outcome === null
      ? this.t("to move", { player: this.t(view.colours[view.to_play]) })
      : this.t("is over");
    return view;
  }

  /** To other moves, and tells it; until that is done, no other move is taken. */
  async go(moves) {
    this.element.inert = true;
    try {
      const view = await this.open(this.game, moves);
      if (view.outcome === null) this.onChange(this.game, this.moves);
    } catch (problem) {
      toast(problem.message, "problem");
    } finally {
      this.element.inert = false;
    }
  }
}

export const words = {
  en: { position: "Position", "take back": "Take back", clear: "Clear", "to move": "{player} to move", "is over": "This game is over: take a move back." },
  zh: { position: "局面", "take back": "悔一步", clear: "清空", "to move": "轮到 {player}", "is over": "此局已结束：请悔一步。" },
};
