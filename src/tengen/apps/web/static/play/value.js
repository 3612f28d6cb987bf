// Small pictures of what an agent thinks: a bar of chances, a line of moves, marks on the board.
import { el } from "../dom.js";
import { tintsOf } from "../skins.js";
import { colourName } from "./session.js";

const WORTH_SHOWING = 0.01; // share of the search

/** Large numbers in few characters. */
export function short(number) {
  if (number < 1000) return String(number);
  if (number < 99_950) return `${(number / 1000).toFixed(number < 9950 ? 1 : 0)}k`;
  return number < 1e6 ? `${Math.round(number / 1000)}k` : `${(number / 1e6).toFixed(number < 9.95e6 ? 1 : 0)}M`;
}

/** What an agent notes of a position, in the reader's language where we know the words. */
export function noteText(note, t) {
  const parts = (note ?? "").split("; ").map((part) => {
    const [, stem, n] = /^(.*?)(?: ([+-]?\d+))?$/.exec(part);
    const key = `note ${stem}`;
    const text = t(key, { n });
    return text === key ? part : text;
  });
  return parts.join("; ");
}

export function percent(share) {
  return `${Math.round(100 * share)}`;
}

/** The chances of both players as one bar: the first player's part is on the left. */
export function chancesBar(view, winrate, t) {
  const isKnown = winrate !== null && winrate !== undefined;
  const share = isKnown ? winrate : 0.5;
  const figures = [share, 1 - share].map((part) => (isKnown ? `${percent(part)} %` : "–"));
  const texts = figures.map((figure, player) => `${colourName(view, player, t)} ${figure}`);
  const [first, second] = texts.map((text, player) => el(share >= 0.5 === (player === 0) ? "b" : "span", {}, text));
  const [one, two] = tintsOf(view);
  const kind = view.drawing === "marks" ? "pens" : `one-${one} two-${two}`;
  return el(
    "div",
    { class: ["chances", kind], role: "img", "aria-label": `${t("value")}: ${texts.join(", ")}` },
    el("div", { class: "row spread small number" }, first, second),
    el("div", { class: "chances-bar" }, el("span", { style: { width: `${100 * share}%` } })),
  );
}

/**
 * What an agent looks at, as spots on the board. `kind` is visits or policy; how bright a spot is says how much. What
 * it would play is always among them.
 */
export function heatOf(view, thought, kind, { hasText = true, most = 40 } = {}) {
  const share = (move) => (kind === "policy" ? (move.prior ?? 0) : (move.share ?? 0));
  const byShare = spotsOf(thought.moves).sort((a, b) => share(b) - share(a));
  const best = kind === "policy" ? byShare[0] : (byShare.find((spot) => spot.move === thought.moves[0]?.move) ?? thought.moves[0]);
  const shown = byShare.filter((move) => move === best || share(move) >= WORTH_SHOWING).slice(0, most);
  const largest = Math.max(...shown.map(share), WORTH_SHOWING);
  return shown.map((move) => ({
    cell: move.cell,
    share: Math.max(share(move) / largest, move === best ? 0.5 : 0),
    tone: kind === "policy" ? 0 : Math.min(1, 4 * loss(view, best, move)),
    text: hasText ? spotText(view, move, kind) : "",
    detail: hasText && kind !== "policy" && move.visits > 1 ? short(move.visits) : "",
    isBest: move === best && share(move) > 0,
  }));
}

/** Moves by the cell on which they end: those that end on the same one are one spot, with the first one's opinion. */
function spotsOf(moves) {
  const spots = new Map();
  for (const move of moves) {
    if (move.cell === null || move.cell === undefined) continue;
    const known = spots.get(move.cell);
    if (!known) spots.set(move.cell, { ...move });
    else for (const name of ["visits", "share", "prior"]) known[name] = (known[name] ?? 0) + (move[name] ?? 0);
  }
  return [...spots.values()];
}

/** Where the stone stands that an agent would move. */
export function originMarks(view, thought) {
  const cell = view.origins?.[thought.moves[0]?.move];
  return cell === undefined ? [] : [{ cell, kind: "square", tone: "good" }];
}

/** In per cent: the policy's share, or the mover's chances where the agent has an opinion. */
function spotText(view, move, kind) {
  if (kind === "policy") return percent(move.prior ?? 0);
  return move.value === null ? "" : percent(forMover(view, (move.value + 1) / 2));
}

/** A first player's share as that of whoever is to move. */
export function forMover(view, winrate) {
  return view.to_play === 0 ? winrate : 1 - winrate;
}

/** What a move would lose to the best, of a win; nothing where the agent has no opinion. */
function loss(view, best, move) {
  if (move.value === null || best.value === null) return 0;
  return Math.max(0, forMover(view, (best.value + 1) / 2) - forMover(view, (move.value + 1) / 2));
}
