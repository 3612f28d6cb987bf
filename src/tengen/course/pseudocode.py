"""UCT's pseudocode as the lecture prints it, its lines lit as a simulation goes through them.

A panel is a call of one function: its lines, ▶ before those that are run, and beside them what they did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tengen.course.mcts_narration import KINDS, State
from tengen.course.traces import Simulation, Trace

CODE = {
    "UCTSEARCH(s₀)": (
        "create root node v₀ with state s₀",
        "while within computational budget do",
        "    vₗ ← TREEPOLICY(v₀)",
        "    Δ ← DEFAULTPOLICY(s(vₗ))",
        "    BACKUP(vₗ, Δ)",
        "return a(BESTCHILD(v₀, 0))",
    ),
    "TREEPOLICY(v)": (
        "while v is nonterminal do",
        "    if v not fully expanded then",
        "        return EXPAND(v)",
        "    else",
        "        v ← BESTCHILD(v, Cp)",
        "return v",
    ),
    "EXPAND(v)": (
        "choose a ∈ untried actions from A(s(v))",
        "add a new child v′ to v",
        "    with s(v′) = f(s(v), a) and a(v′) = a",
        "return v′",
    ),
    "BESTCHILD(v, c)": ("return argmax of Q(v′)/N(v′) + c·√(2 ln N(v) / N(v′)) over children v′ of v",),
    "DEFAULTPOLICY(s)": (
        "while s is non-terminal do",
        "    choose a ∈ A(s) uniformly at random",
        "    s ← f(s, a)",
        "return reward for state s",
    ),
    "BACKUPNEGAMAX(v, Δ)": (
        "while v is not null do",
        "    N(v) ← N(v) + 1",
        "    Q(v) ← Q(v) + Δ",
        "    Δ ← −Δ",
        "    v ← parent of v",
    ),
}
LIT, DARK = "▶ ", "  "


def panel(function: str, told: Mapping[int, str]) -> Iterator[str]:
    """A function with the lines that are run, and what they do."""
    lines = CODE[function]
    width = max(map(len, lines)) if len(lines) > 1 else 0
    yield f"function {function}"
    for i, line in enumerate(lines):
        words = f"   {told[i]}" if told.get(i) else ""
        yield f"  {LIT if i in told else DARK}{line.ljust(width)}{words}".rstrip()
    yield ""


def panels(trace: Trace, number: int = 1) -> Iterator[str]:
    """One simulation of a UCT trace, from the root down and back."""
    state = State(trace, number - 1)
    simulation = trace.simulations[number - 1]
    names = Names(state)
    yield from panel("UCTSEARCH(s₀)", {0: "", 1: f"simulation {number}", 2: ""})
    yield from way_down(state, simulation, names)
    said = f"{KINDS[simulation.verdict.kind]} {simulation.verdict.value:+.3g} for {player(trace, simulation)}, to move"
    yield from panel("UCTSEARCH(s₀)", {3: ""})
    yield from panel("DEFAULTPOLICY(s)", {0: "", 1: "", 2: "", 3: said})
    yield from panel("UCTSEARCH(s₀)", {4: ""})
    state.follow(simulation)
    for update in simulation.backup:
        name = names.of(update.id)
        told = {0: f"v is {name}", 1: f"N = {update.visits}", 2: f"Q = {update.value:.3g} ({update.added:+.3g})"}
        yield from panel("BACKUPNEGAMAX(v, Δ)", told | {3: "what one wins the other loses", 4: ""})
    yield from panel("UCTSEARCH(s₀)", {5: "in the end, the child with the greatest mean"})


class Names:
    """What nodes are called: as on their cards, before the simulation."""

    def __init__(self, state: State):
        is_lecture = state.trace.search == "lecture"
        self.names = {card: state.figures(card)[0] if is_lecture and card else state.name(card) for card in state.cards}

    def of(self, card: int) -> str:
        return self.names.get(card, "the new node")


def player(trace: Trace, simulation: Simulation) -> str:
    return trace.players[simulation.verdict.player]


def way_down(state: State, simulation: Simulation, names: Names) -> Iterator[str]:
    """TREEPOLICY: by BESTCHILD where all children are there, by EXPAND where one is missing."""
    for above, below in zip(simulation.path, simulation.path[1:], strict=False):
        called = f"v is {names.of(above)}"
        if below not in state.cards:
            yield from panel("TREEPOLICY(v)", {0: called, 1: "a child is missing", 2: ""})
            told = {0: simulation.opened[0].name, 1: "0/0", 2: "", 3: ""}
            yield from panel("EXPAND(v)", told)
            return
        yield from panel("TREEPOLICY(v)", {0: called, 1: "all children are there", 3: "", 4: f"v is {names.of(below)}"})
        rivals = [card for card in state.children(above) if state.cards[card].score is not None]
        rivals.sort(key=lambda card: -(state.cards[card].score or 0.0))
        yield from panel("BESTCHILD(v, c)", {0: ""})
        yield "    " + ", ".join(f"{names.of(card)}: {state.cards[card].score:.3f}" for card in rivals)
        yield ""
    yield from panel("TREEPOLICY(v)", {0: f"{names.of(simulation.path[-1])} is the end of the game", 5: ""})
