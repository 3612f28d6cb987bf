// UCT's pseudocode as the lecture prints it; the lines of a phase are lit.
import { el } from "../dom.js";

const FUNCTIONS = [ // each line with the phases that run it
  ["UCTSEARCH(s₀)", [
    ["create root node v₀ with state s₀"], ["while within computational budget do"],
    ["  vₗ ← TREEPOLICY(v₀)", "select", "expand"], ["  Δ ← DEFAULTPOLICY(s(vₗ))", "simulate"], ["  BACKUP(vₗ, Δ)", "backup"],
    ["return a(BESTCHILD(v₀, 0))"]]],
  ["TREEPOLICY(v)", [
    ["while v is nonterminal do", "select", "expand"], ["  if v not fully expanded then", "select", "expand"],
    ["    return EXPAND(v)", "expand"], ["  else v ← BESTCHILD(v, Cp)", "select"], ["return v"]]],
  ["BESTCHILD(v, c)", [["return argmax of Q(v′)/N(v′) + c·√(2 ln N(v) / N(v′))", "select"]]],
  ["EXPAND(v)", [
    ["choose a ∈ untried actions from A(s(v))", "expand"], ["add a new child v′ to v", "expand"], ["return v′", "expand"]]],
  ["DEFAULTPOLICY(s)", [
    ["while s is non-terminal do", "simulate"], ["  choose a ∈ A(s) uniformly at random", "simulate"], ["  s ← f(s, a)", "simulate"],
    ["return reward for state s", "simulate"]]],
  ["BACKUPNEGAMAX(v, Δ)", [
    ["while v is not null do", "backup"], ["  N(v) ← N(v) + 1", "backup"], ["  Q(v) ← Q(v) + Δ", "backup"], ["  Δ ← −Δ", "backup"],
    ["  v ← parent of v", "backup"]]],
];

/** The code with the lines of a phase lit; none before the first step. */
export function pseudocode(phase) {
  return FUNCTIONS.map(([name, lines]) => el("div", { class: "code", dataset: { code: name } },
    el("b", {}, name),
    lines.map(([line, ...phases]) => el("span", { class: [phases.includes(phase) && "is-lit"], "aria-current": phases.includes(phase) ? "step" : null }, line))));
}
