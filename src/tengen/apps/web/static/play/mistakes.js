// What moves lost, by what an agent thinks of the positions before and after them.

export const KINDS = [
  // shares of a win that a move lost at least
  { least: 0.2, sign: "??", kind: "blunder" },
  { least: 0.1, sign: "?", kind: "mistake" },
  { least: 0.05, sign: "?!", kind: "inaccuracy" },
];

const OUTCOMES = { first: 1, second: 0, draw: 0.5 };

/** The first player's share at a node, by an agent or by the rules; null if neither says. */
export function shareAt(node, agent) {
  if (node.outcome) return OUTCOMES[node.outcome];
  return node.thoughts[agent]?.winrate ?? null;
}

/** Remembers what an agent thinks of a node; of two thoughts the one that looked at more. */
export function keepThought(node, agent, thought) {
  const known = node.thoughts[agent];
  if (!known || thought.nodes >= known.nodes) node.thoughts[agent] = thought;
}

/** What the move to a node lost: {loss, best, kind, sign}, or null if it is not known or was the agent's own choice. */
export function lossOf(node, agent, mover) {
  if (!node.parent) return null;
  const [before, after] = [shareAt(node.parent, agent), shareAt(node, agent)];
  const best = node.parent.thoughts[agent]?.moves[0];
  if (before === null || after === null || !best || best.move === node.move) return null;
  const loss = mover === 0 ? before - after : after - before;
  const found = KINDS.find(({ least }) => loss >= least);
  return found ? { ...found, loss, best: best.move, bestText: best.text ?? best.move } : null;
}
