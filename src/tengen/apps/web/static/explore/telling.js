// A told tree search, brought to any step of it and back: cards with their numbers, and what siblings compare by.

const PHASES = { puct: ["select", "expand", "backup"], gumbel: ["select", "expand", "backup"], uct: ["select", "expand", "simulate", "backup"] };
PHASES.lecture = PHASES.uct;

export class Telling {
  constructor(part) {
    this.trace = part.trace;
    this.total = part.total;
    this.phases = PHASES[part.trace.search];
    this.simulations = [];
    this.cards = new Map();
    this.terms = new Map(); // id of a card -> what the cards below it are compared by
    this.undo = []; // one list of functions for each step done
    for (const card of part.trace.cards) this.add(card);
    for (const terms of part.trace.terms) this.terms.set(terms.at, terms);
    this.take(part);
  }

  /** More simulations of the same search. */
  take(part) {
    if (part.begin === this.simulations.length) this.simulations.push(...part.trace.simulations);
  }

  get count() {
    return this.simulations.length * this.phases.length;
  }

  get step() {
    return this.undo.length;
  }

  add(card) {
    const above = this.cards.get(card.parent);
    const name = card.name || card.move;
    const path = !above ? "" : above.path ? `${above.path}/${name}` : name;
    this.cards.set(card.id, { ...card, path, children: [] });
    above?.children.push(card.id);
  }

  /** Goes forth or back to a step. */
  goTo(step) {
    while (this.step > step) for (const back of this.undo.pop().reverse()) back();
    while (this.step < step && this.step < this.count) this.undo.push(this.forth(this.at(this.step)));
  }

  /** The simulation and phase that come after so many steps. */
  at(step) {
    const number = Math.floor(step / this.phases.length);
    return { simulation: this.simulations[number], phase: this.phases[step % this.phases.length], number: number + 1 };
  }

  /** What was done last; null at the beginning. */
  get now() {
    return this.step === 0 ? null : this.at(this.step - 1);
  }

  /** What is lit: the path of what is being done; after the backup, too. */
  get lit() {
    if (!this.now) return [];
    return this.now.simulation.path.filter((id) => this.cards.has(id));
  }

  forth({ simulation, phase }) {
    const back = [];
    const put = (map, key, value) => {
      const had = map.get(key);
      back.push(() => (had === undefined ? map.delete(key) : map.set(key, had)));
      map.set(key, value);
    };
    if (phase === "expand") {
      for (const card of simulation.opened) {
        this.add(card);
        const above = this.cards.get(card.parent);
        above.children.sort((one, other) => one - other);
        back.push(() => {
          this.cards.delete(card.id);
          above.children = above.children.filter((id) => id !== card.id);
        });
      }
      const leaf = simulation.path.at(-1);
      if (simulation.board && this.cards.has(leaf)) put(this.cards, leaf, { ...this.cards.get(leaf), board: simulation.board });
    }
    if (phase === "backup") {
      for (const update of simulation.backup) {
        const { visits, value, proven } = update;
        put(this.cards, update.id, { ...this.cards.get(update.id), visits, value, proven });
      }
      const root = this.cards.get(0);
      if (!simulation.backup.some((update) => update.id === 0)) put(this.cards, 0, { ...root, visits: root.visits + 1 });
      for (const terms of simulation.terms) put(this.terms, terms.at, terms);
    }
    return back;
  }

  /** Q of a card; null if it was never visited. */
  mean(card) {
    return card.visits && card.parent !== null ? card.value / card.visits : null;
  }

  /** A card's summand of what it is compared by ("u", "score", …); null where nothing is known yet. */
  term(card, name) {
    const terms = this.terms.get(card.parent);
    const place = terms?.cards.indexOf(card.id) ?? -1;
    return place < 0 ? null : (terms[name][place] ?? null);
  }
}
