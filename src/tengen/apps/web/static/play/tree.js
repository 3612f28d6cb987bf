// The game as a tree of moves: what was played, what was taken back, what else was tried. It knows no rules.

class Node {
  constructor(move, parent) {
    this.move = move; // null at the root
    this.shown = null; // as players write it, and who made it, once a view has said so
    this.mover = null;
    this.parent = parent;
    this.children = []; // the last one played or chosen comes first
    this.comment = "";
    this.resigned = null; // the player who gave up here …
    this.isLate = false; // … or whose time was over
    this.spent = 0; // seconds of the move's time that are used up
    this.thoughts = {}; // what agents thought of the position, by their names
  }

  /** The move as players write it, as far as that is known. */
  get text() {
    return this.shown ?? this.move;
  }

  get ply() {
    return this.path.length;
  }

  /** The moves from the start. */
  get path() {
    const moves = [];
    for (let node = this; node.parent; node = node.parent) moves.push(node.move);
    return moves.reverse();
  }
}

export class GameTree {
  constructor(game, moves = []) {
    this.game = game; // a spec
    this.root = new Node(null, null);
    this.current = this.root;
    this.players = ["", ""]; // as a record names them
    this.result = ""; // as a record has it, where the rules do not say …
    this.end = null; // … and the node that it belongs to
    for (const move of moves) this.play(move);
  }

  /** Goes on by a move: along a line that is there, or a new one beside it. It becomes the main one from here. */
  play(move) {
    const { current } = this;
    current.resigned = null; // whoever plays on has not
    const known = current.children.find((child) => child.move === move);
    const child = known ?? new Node(move, current);
    current.children = [child, ...current.children.filter((other) => other !== child)];
    this.current = child;
    return child;
  }

  /** Notes what the view of the position that is shown says of the moves that led to it. */
  learn({ shown, movers }) {
    let node = this.current;
    for (let ply = node.ply - 1; ply >= 0; ply--, node = node.parent) {
      node.shown = shown?.[ply] ?? null;
      node.mover = movers?.[ply] ?? null;
    }
  }

  /** Puts a line of moves below a node, as a variation if another is there; returns its nodes. */
  graft(node, moves) {
    const nodes = [];
    for (const move of moves) {
      const parent = nodes.at(-1) ?? node;
      let child = parent.children.find((known) => known.move === move);
      if (!child) parent.children.push((child = new Node(move, parent)));
      nodes.push(child);
    }
    return nodes;
  }

  /** Goes to a node; the line to it becomes the main one. */
  select(node) {
    this.current = node;
    for (let child = node; child.parent; child = child.parent) {
      const { parent } = child;
      parent.resigned = null;
      parent.children = [child, ...parent.children.filter((other) => other !== child)];
    }
  }

  /** The nodes of the main line, which leads through where we are; the root is the first. */
  get line() {
    return this.lineFrom(this.root);
  }

  /** A node, and the line that goes on from it, to its end or to where somebody resigned. */
  lineFrom(node) {
    const nodes = [node];
    while (nodes.at(-1).resigned === null && nodes.at(-1).children.length) nodes.push(nodes.at(-1).children[0]);
    return nodes;
  }

  /** Whether nothing was played after where we are, or counts no more because somebody resigned. */
  get isAtEnd() {
    return this.current.resigned !== null || this.current.children.length === 0;
  }

  back() {
    if (this.current.parent) this.select(this.current.parent);
  }

  forward() {
    if (!this.isAtEnd) this.current = this.current.children[0];
  }

  toStart() {
    this.current = this.root;
  }

  toEnd() {
    this.current = this.line.at(-1);
  }

  /** Takes a node and all that follows it out of the tree. */
  remove(node) {
    if (!node.parent) return;
    const isOnPath = (at) => at !== null && (at === node || isOnPath(at.parent));
    if (isOnPath(this.current)) this.current = node.parent;
    node.parent.children = node.parent.children.filter((other) => other !== node);
  }
}
