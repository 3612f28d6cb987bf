"""Writes the notebooks of this folder: `python notebooks/make.py`. A cell that begins with # is text, others are code.

The documents' notebooks are run and keep their outputs (those named, if any are: `make.py document-c-go9`); the labs'
are kept without. A long test runs every cell.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

FOLDER = Path(__file__).parent
SAVED = "from pathlib import Path\nfrom tempfile import mkdtemp\n\nfolder = Path(mkdtemp())  # for reports"
BOARD = """from IPython.display import HTML

from tengen.report.diagrams import STYLE, draw_board


def show(position):
    return HTML(f"<style>{STYLE}</style><div style='max-width: 24rem'>{draw_board(position)}</div>")"""

LABS = {
    "bandit": [
        """# Bandits: which arm next?

Arm $i$ pays $X_{i,t} \\in \\{0, 1\\}$ at time $t$. After $n$ pulls of arms $I_1 \\dots I_n$ one regrets

$$R_n = \\max_i \\sum_{t=1}^n X_{i,t} - \\sum_{t=1}^n X_{I_t,t}$$

UCB1 takes the arm with the greatest $\\bar X_j + C\\sqrt{2 \\ln n / n_j}$. In the terminal: `tengen lab bandit`.""",
        """from tengen.apps.lab_printing import regret_chart
from tengen.course.bandit import contest

found = contest([0.3, 0.5, 0.7], steps=1000, runs=100, has_thompson=True)
for play in found.plays:
    print(f"{play.policy:10} regrets {play.regret[-1]:6.1f} ± {play.spread[-1]:5.1f}; pulls {play.pulls}")""",
        "regret_chart(found)",
        """# What is proven

UCB1's regret is at most $8\\sum \\ln n/\\Delta_i + (1 + \\pi^2/3)\\sum\\Delta_i$ on average. Does it hold
everywhere?""",
        """ucb1 = found.plays[0]
assert all(regret <= most for regret, most in zip(ucb1.regret, found.bound, strict=True))
print(f"at the end {ucb1.regret[-1]:.1f}, at most {found.bound[-1]:.1f}")""",
        """# Try it yourself

1. With `exploration=0` UCB1 is greedy. How often does greedy stay with a worse arm?
2. Bring two arms closer together. What happens to the bound, and to the regret?""",
    ],
    "minimax": [
        """# Minimax

MAX takes the greatest value, MIN the least; leaves have MAX's values. In the terminal: `tengen lab minimax`.""",
        """from tengen.course.alphabeta import LECTURE, walk_position, walk_text
from tengen.course.alphabeta_narration import draw_walk, tree_text

walk = walk_text(LECTURE)
print("\\n".join(tree_text(walk, with_cuts=False)))
draw_walk(walk, with_cuts=False)""",
        """# A position of tic-tac-toe

One ply ahead, $e(s)$ = lines still open to MAX − lines still open to MIN: 4 for the centre, 3 for a corner, 2 for an
edge. Two plies ahead, MIN answers.""",
        """from tengen import load_game

start = load_game("tictactoe").start()
print("\\n".join(tree_text(walk_position(start, 1), with_cuts=False)))
print("two plies ahead:", walk_position(start, 2).value)""",
        """# Try it yourself

Change `x` and `y` in the lecture's tree. Which values change the root's?""",
        """for x in (1, 5, 100):
    print(x, walk_text(f"[[3, 12, 8], [2, x={x}, y=1], [14, 5, 2]]").value)""",
    ],
    "alphabeta": [
        """# Alpha-beta

A MIN node worth no more than $\\alpha$ is left (an alpha cut), a MAX node worth no less than $\\beta$ (a beta cut). In
the terminal: `tengen lab alphabeta`.""",
        """from tengen.course.alphabeta import LECTURE, walk_text
from tengen.course.alphabeta_narration import draw_walk, step_text, study_orders, tree_text

walk = walk_text(LECTURE)
print("\\n".join(tree_text(walk, with_cuts=True)))
draw_walk(walk)""",
        """for step in walk.steps:
    print(step_text(walk, step))""",
        """# The order of moves

Perfect ordering looks at about $b^{h/2}$ leaves, a random one at about $b^{3h/4}$, of $b^h$.""",
        """study = study_orders(branching=4, height=6, trees=3)
for name, leaves in (study.laws() | study.leaves).items():
    print(f"{name:22}", *(f"{count:8.0f}" for count in leaves))
study.chart()""",
        """# Try it yourself

Write a tree of two levels in which nothing can be pruned, and the same leaves in an order that prunes most.""",
        """print(walk_text("[[1, 2], [3, 4]]").leaves)""",
    ],
    "mcts": [
        """# Monte Carlo tree search

Select, expand, simulate, back up. The lecture's example: a root visited 21 times with children 7/10, 5/8 and 0/3. It
computes mean $+ \\sqrt{\\ln 21 / n_j}$. In the terminal: `tengen lab mcts`.""",
        """from tengen.course.mcts import SearchSettings, lecture_trace, trace
from tengen.course.mcts_narration import State, draw_trace, root_table, tell

lecture = lecture_trace()
print("\\n".join(tell(lecture, 1)))
draw_trace(lecture, 0)""",
        "draw_trace(lecture)  # after the backup: every B on the way has grown by one",
        """# Any position

The product's own UCT, one playout at a time.""",
        """from tengen import load_game

found = trace(load_game("connect4").start(), SearchSettings("uct", exploration=0.7, simulations=100))
for row in root_table(State(found)):
    print(*(f"{cell:>8}" for cell in row))
draw_trace(found, most=16)""",
    ],
    "puct": [
        """# AlphaZero's search

$Q + U$ with $U = c\\,P\\,\\sqrt{\\sum N} / (1 + N)$; the network judges leaves. The slides' example: cells 1, 4 and 5
are taken on 3×3, White is to play, $c = 5$. In the terminal: `tengen lab puct`.""",
        """from tengen.course.mcts import SearchSettings, slides_trace, trace
from tengen.course.mcts_narration import State, draw_trace, root_table, tell

slides = slides_trace(3)
print("\\n".join(tell(slides, 3)))
draw_trace(slides)""",
        """# From counts to a policy

After 400 simulations the slides have the counts below; with $\\tau = 1$, $\\pi = N / 400$.""",
        """from tengen.course.reproduce.quotes import SLIDES_FINAL
from tengen.course.reproduce.slides import numbers_of

visits = {cell: int(numbers_of(card)["N"]) for cell, card in SLIDES_FINAL.items()}
{cell: count / sum(visits.values()) for cell, count in visits.items()}""",
        "# Any position, judged by a network that comes along",
        """from tengen import load_game

found = trace(load_game("connect4").start(), SearchSettings("puct", "connect4", simulations=100))
for row in root_table(State(found)):
    print(*(f"{cell:>8}" for cell in row))
draw_trace(found, most=16)""",
    ],
    "tictactoe": [
        """# The assignment: tic-tac-toe that never loses

Alpha-beta looks at every game to its end. To play: `tengen lab tictactoe`, or with `--browser` on a board.""",
        BOARD,
        """from tengen import load_agent, load_game

game = load_game("tictactoe")
agent = load_agent("alphabeta:depth=9", game)
position = game.start()
while position.outcome is None:
    position = position.play(agent.choose(position).action)
show(position)""",
        """# The proof

Every game that any opponent can make of it, as the first player and as the second.""",
        """from tengen.course.assignments import prove_never_lost

for name, score in zip(("first", "second"), prove_never_lost(), strict=True):
    print(f"{name:7} {score.count} games: {score.wins} won, {score.draws} drawn, {score.losses} lost")
    assert score.losses == 0""",
    ],
    "reversi": [
        """# The assignment: MiniAlphaGo for Reversi

Monte Carlo tree search; a pass only when nothing flips; a minute a move, or the game is lost. To play: `tengen lab
reversi`.""",
        BOARD,
        """from tengen.course.assignments import play_reversi

record = play_reversi(("uct:playouts=500", "random"))
show(record.end())""",
        "# Who is too slow has lost",
        """late = play_reversi(("uct:time=0.5", "random"), allowed=0.1, say=lambda line: None)
print(late.result, late.ending)
assert late.result == "W+T\"""",
    ],
    "queens": [
        """# n queens by min-conflicts

Every column has its queen. An attacked one, drawn at random, moves in its column to where it is attacked least. In the
terminal: `tengen lab queens 20`.""",
        """from tengen.course.queens import growth, picture, solve, watch

for board in watch(12, seed=3, start="random"):
    print(f"step {board.steps}: {board.conflicts} conflicts")
print(picture(board))""",
        """from tengen.apps.lab_printing import draw_queens, growth_chart

draw_queens(board)""",
        """# A million

Put up greedily, a board of any size needs about fifty steps.""",
        """found = solve(1_000_000)
assert found.is_right()
print(f"{found.conflicts} pairs at first, {found.steps} steps, {found.seconds:.2f} s of one core")""",
        """rows = growth([10, 100, 1000, 10_000, 100_000], runs=3)
growth_chart(rows)""",
    ],
    "wumpus": [
        """# The Wumpus world

Gold carried out +1000, death −1000, an action −1, the arrow −10. What an agent feels is a stench beside the wumpus, a
breeze beside a pit, glitter, a bump, a scream. In the terminal: `tengen lab wumpus`.""",
        """import random

from tengen.apps.lab_printing import draw_cave
from tengen.course.wumpus import Explorer, compare, explore, random_world

world, agent = random_world(random.Random(2)), Explorer(4)
for cave, action, percept in explore(world, agent):
    print(f"{action or 'begins':8} feels {percept}; score {cave.score}   {agent.thought}")
draw_cave(agent, world)""",
        """# What follows from what was felt

Two breezes beside the start: the square between them has a pit with a chance of 0.86, the far ones with 0.31.""",
        """from tengen.course.wumpus import Knowledge, Percept

knows = Knowledge(4)
knows.feel((0, 0), Percept())
knows.feel((1, 0), Percept(breeze=True))
knows.feel((0, 1), Percept(breeze=True))
{square: round(pit, 3) for square, (pit, _) in knows.risks().items() if square in knows.frontier()}""",
        "# Many worlds, the same for all agents",
        """for each in compare(2000):
    print(f"{each.name:24} {each.mean:7.1f} ± {each.error:4.1f}   gold {each.gold:.0%}, deaths {each.deaths:.0%}")""",
    ],
}

DOCUMENTS = {
    "document-a-gomoku8": [
        """# AlphaZero for 8×8 Gomoku

The paper trains a network by self-play and measures it against pure Monte Carlo tree search. `tengen reproduce 8x8`
repeats that; here is a net that was trained so, asked, searched with and matched.""",
        BOARD,
        """from tengen import load_agent, load_game
from tengen.nets.runtime import load_net

game = load_game("gomoku:size=8")
net = load_net("gomoku8", game)
logits, values = net(game.start().encode().reshape(1, -1, game.cells))
print("planes:", game.parameters.planes)
print("first choice:", game.action_text(int(logits[0].argmax())), " value:", float(values[0]))""",
        "# Its search: PUCT, no rollouts",
        """agent = load_agent("puct:net=gomoku8,simulations=400", game)
decision = agent.choose(game.from_moves("d4 e5 d5"))
print(game.action_text(decision.action), decision.value)""",
        "# Against pure Monte Carlo tree search with 1000 playouts",
        """from tengen.arena.match import score_of
from tengen.arena.tournament import Tournament, play_tournament

player, opponent = "puct:net=gomoku8,simulations=100", "uct:playouts=1000"
records = play_tournament(Tournament.of(game, (player, opponent), seed=1), 6).in_order()
score = score_of(player, records)
print(f"won {score.wins}, drew {score.draws}, lost {score.losses}")
show(records[0].end())""",
        """# Train one

`tengen train gomoku8 --minutes 10` begins; the same command goes on.""",
    ],
    "document-b-search": [
        """# AlphaZero's search, step by step on 3×3

Every number of the slides beside ours: `tengen reproduce 3x3`. Here is the same, piece by piece.""",
        """from tengen import load_game
from tengen.course.mcts import slides_trace
from tengen.course.mcts_narration import draw_trace
from tengen.course.slides import CELLS, MOVES, cell_of

game = load_game("tictactoe")
position = game.from_moves(MOVES)
position""",
        "# The first three simulations, card by card",
        "draw_trace(slides_trace(3), 1)",
        "draw_trace(slides_trace(3), 2)",
        "draw_trace(slides_trace(3), 3)",
        """# 400 simulations, and the game to its end

The slides suppose what follows; this is a search that was made. The most visited action is played, its subtree is kept,
and the search goes on.""",
        """from tengen.apps.lab_printing import print_table
from tengen.course.reproduce.slides import played_example, record_rows

root, moves = played_example()
for action, edge in sorted(root.edges.items(), key=lambda item: -item[1].visits):
    print(f"action {cell_of(game, action)}: N = {edge.visits:3}, W = {edge.total:+7.2f}, Q = {edge.mean:+.3f}")""",
        "# What the network learns from: $(s, \\pi, z)$",
        """print_table(record_rows(moves))
moves[-1].position""",
        """# Who was right about the end?

On the slides the game ends in a tie. Minimax looks at every game that is left after 9.""",
        """from tengen import load_agent

after = position.play(CELLS[9])
best = load_agent("minimax:depth=9", game).choose(after)
print("the player to move", {1: "wins", 0: "draws", -1: "loses"}[round(best.value)])""",
    ],
    "document-c-go9": [
        """# 9×9 Go, the AlphaGo way

A policy learned from records and made better by playing, a value, and PUCT that mixes values with games played to
their end: $Q = (\\lambda W + (1 - \\lambda) V) / N$ with $\\lambda = 1/2$ and $c = 4$. These nets come with Tengen.""",
        """from tengen import load_agent, load_game
from tengen.knowledge.go_planes import encode_states
from tengen.nets.policy9 import PolicyNet, ValueNet

game = load_game("go:size=9,komi=5.5")
position = game.from_moves("e5 c3 g7 g3 c7")
position""",
        "# What the nets say, at a glance",
        """import numpy as np

planes = encode_states(game, position.states)
logits = PolicyNet("go9-policy")(planes)[0]
chances = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
for action in chances.argsort()[::-1][:5]:
    print(f"{game.action_text(int(action)):5} {chances[action]:.0%}")
print(f"value for White: {float(ValueNet('go9-value')(planes)[0]):+.2f}")""",
        "# The search",
        """from tengen import Limit
from tengen.agents.agent import opinions_of

agent = load_agent("alphago", game)
decision = agent.choose(position, Limit(playouts=800))
print(game.action_text(decision.action), f"{decision.value:+.2f}")
print("then", " ".join(game.action_text(action) for action in decision.principal_variation[1:]))
for opinion in opinions_of(agent, decision)[:4]:
    print(f"{game.action_text(opinion.action):5} {opinion.visits:4} playouts, value {opinion.value:+.2f}")
position.play(decision.action)""",
        """# What each part is worth

The same position without rollouts ($\\lambda = 0$), without a value net ($\\lambda = 1$), with patterns instead of the
policy, and with random games alone.""",
        """for spec in ("alphago:lambda=0", "alphago:lambda=1,value=none", "alphago:policy=patterns", "uct"):
    choice = load_agent(spec, game).choose(position, Limit(playouts=800))
    print(f"{spec:30} {game.action_text(choice.action):4} {choice.value:+.2f}")""",
        """# A capturing race

The paper's engine was weak in these.""",
        """from tengen.course.reproduce.tactics import try_tactics

for one in try_tactics("alphago", Limit(playouts=800)):
    print(f"{one.kind:10} {one.title:40} {one.played:4} {'solved' if one.is_solved else 'missed'}")""",
        "# A GTP engine",
        """import subprocess
import sys

words = "boardsize 9\\nkomi 5.5\\nclear_board\\nplay black e5\\ngenmove white\\nshowboard\\nquit\\n"
command = [sys.executable, "-m", "tengen", "gtp", "go:size=9,komi=5.5", "alphago:playouts=400"]
print(subprocess.run(command, input=words, capture_output=True, text=True, check=True).stdout)""",
        "# Against GNU Go 3.8, where it is installed",
        """from tengen.agents.process import find_program
from tengen.arena.match import play_game

if find_program("gnugo"):
    gnugo = "gtp:gnugo --mode gtp --level 10 --chinese-rules --capture-all-dead"
    players = [load_agent(spec, game) for spec in ("alphago:playouts=400", gnugo)]
    record = play_game(game, players, names=("alphago", "gnugo"))
    print("Black is alphago; the result:", record.result)
    end = record.end()
else:
    print("gnugo is not installed")
    end = None
end""",
    ],
    "document-d-gobang": [
        """# Gobang: nine algorithms

Two minimax, three alpha-beta, three UCT, one network search: `tengen reproduce gobang` plays every pair. Here is a
small part of it.""",
        """from tengen.agents.specs import PRESETS

for name, spec in PRESETS.items():
    print(name, "=", spec)""",
        "# Its evaluation: f = 3x + 2y + z + 100·N₁ + 50·N₂ + 20·N₃, and time a move",
        """from pathlib import Path

from tengen.course.reproduce.gobang import GobangExtent, mean_time, move_times
from tengen.course.reproduce.page import Options

extent = GobangExtent(9, games=2, timed_games=1, plies=20)
options = Options(Path("gobang"), say=lambda line: None)
names = ("gobang2", "gobang5", "gobang6", "puct:net=gomoku9,simulations=100")
times = {(name, 9): move_times(name.partition(":")[0], name, 9, extent, options) for name in names}
for name in names:
    print(f"{name:36} {1000 * mean_time(times, [name], 9):8.1f} ms a move")""",
        "# Who beats whom, a few games of it on 9×9",
        """from tengen import load_game
from tengen.arena.match import score_of
from tengen.arena.tournament import Tournament, play_tournament

game = load_game("gomoku:size=9")
players = (names[-1], "gobang5", "gobang6")
records = play_tournament(Tournament.of(game, players, seed=1), 2).in_order()
for name in players:
    score = score_of(name, [record for record in records if name in record.players])
    print(f"{name:36} won {score.wins}, drew {score.draws}, lost {score.losses}")""",
    ],
    "document-e-lecture": [
        """# Adversarial search: the lecture

Every number that it works out beside ours, and its two game assignments played: `tengen reproduce lecture`.""",
        SAVED,
        """from collections import Counter

from tengen.course.reproduce import EXPERIMENTS
from tengen.course.reproduce.page import Options

said = []
claims = EXPERIMENTS["lecture"](Options(folder / "lecture", say=said.append))
print("\\n".join(line for line in said if "report:" not in line))
Counter(claim.verdict or "for the reader" for claim in claims)""",
        """# A game, formally

$S_0$, PLAYER(s), ACTIONS(s), RESULT(s, a), TERMINAL-TEST(s), UTILITY(s, p) by their names here.""",
        """from tengen import load_game

s = load_game("tictactoe").start()
print(s)
print("PLAYER", s.to_play, " ACTIONS", s.legal_actions, " TERMINAL", s.outcome is not None)
s = s.play("b2").play("a1").play("b1").play("a2").play("b3")
print("UTILITY of the first player:", s.outcome.value_for(0))""",
        """# The other assignments

[queens](queens.ipynb) · [wumpus](wumpus.ipynb) · [tictactoe](tictactoe.ipynb) · [reversi](reversi.ipynb)""",
    ],
}

OTHER_LABS = {  # of the lecture's other games: what a lab prints, and its picture
    "pi": [
        """# π by Monte Carlo

Of points drawn in a square about $\\pi/4$ lie in its circle; $n$ points err by about $\\sqrt{\\pi(4-\\pi)/n}$.""",
        """from tengen.apps.lecture_printing import show_pi
from tengen.course.monte_carlo_pi import estimate_pi

show_pi(estimate_pi(points=10_000, runs=20), False, 1, None, False)""",
    ],
    "taxonomy": [
        "# Kinds of games, and how large they are",
        """from tengen.apps.lecture_printing import show_taxonomy

show_taxonomy(False)""",
    ],
    "tree": [
        """# Tic-tac-toe's tree

Whole, and up to the square's eight symmetries; then the lecture's e(s) on three boards.""",
        """from tengen.apps.lecture_printing import show_boards, show_tree

show_tree(2, None, False)
show_boards(None, False)""",
    ],
    "beyond": [
        """# Beyond the horizon

Kept lines and singular extensions on random trees whose end is known.""",
        """from tengen.apps.lecture_printing import show_extensions
from tengen.course.beyond import study_extensions

show_extensions(study_extensions(trees=100), 100, False)""",
    ],
    "matrix": [
        """# Matrix games

In a zero-sum game $\\max_p \\min_q p^T A q = \\min_q \\max_p p^T A q$. Try your own payoffs.""",
        """from tengen.apps.lecture_printing import show_matrix
from tengen.course.matrix_games import read_game

show_matrix("3,-1; 0,2", read_game("3,-1; 0,2"), 1000, None, False)""",
    ],
    "expectimax": [
        """# Trees with chance

A node of chance is worth the mean of its outcomes, each weighed by its probability.""",
        """from tengen.apps.lecture_printing import show_expectimax

show_expectimax("[{0.9: 2, 0.1: 3}, {0.9: 1, 0.1: 4}]", True, False, None, False)""",
    ],
    "pig": [
        """# Pig, solved

When to roll, and when to hold? A goal of 30 points is solved in a moment, the usual 100 in some seconds.""",
        """from tengen.apps.lecture_printing import show_pig
from tengen.course.pig import solve_pig

show_pig(solve_pig(30), 10, 20, None, False)""",
    ],
    "many": [
        """# More than two players

With max^n whole tuples are backed up; a paranoid player thinks that all others are against it.""",
        """from tengen.apps.lecture_printing import show_many

for rule in ("max^n", "paranoid"):
    show_many("afraid", rule, "", None, False)""",
    ],
    "belief": [
        """# What a player knows who sees only its own marks

Phantom tic-tac-toe: the worlds that are possible, after each answer of the umpire.""",
        """from tengen.apps.lecture_printing import show_umpire_game

show_umpire_game(("belief", "random"), 3, None, False)""",
    ],
}

NOTEBOOKS = LABS | OTHER_LABS | DOCUMENTS


def notebook(cells: list[str]) -> dict[str, Any]:
    """A notebook that has not run, nbformat 4.5."""
    made = []
    for number, source in enumerate(cells, 1):
        cell = {"id": f"cell-{number}", "metadata": {}, "source": source.splitlines(keepends=True)}
        if source.startswith("#"):
            made.append({"cell_type": "markdown", **cell})
        else:
            made.append({"cell_type": "code", **cell, "execution_count": None, "outputs": []})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    facts = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": facts, "nbformat": 4, "nbformat_minor": 5}


def run(made: dict[str, Any]) -> dict[str, Any]:
    """The notebook with what its cells put out. Nothing of the machine stays in it, nor what only hides a warning."""
    import nbformat
    from nbclient import NotebookClient

    with TemporaryDirectory() as folder:
        document = nbformat.reads(text_of(made), as_version=4)
        NotebookClient(document, timeout=900, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    cells = {cell.id: cell for cell in document.cells}
    for cell in made["cells"]:
        if cell["cell_type"] == "code":
            outputs = [out for out in cells[cell["id"]].outputs if out.get("name") != "stderr"]
            cell["outputs"] = [shown(out) if "data" in out else dict(out) for out in outputs]
            cell["execution_count"] = cells[cell["id"]].execution_count
    return made


def shown(out: dict[str, Any]) -> dict[str, Any]:
    """An output without the text that stands for its picture."""
    data = {kind: value for kind, value in out["data"].items() if kind != "text/plain"} or out["data"]
    return {**out, "data": data, "metadata": {}}


def text_of(made: dict[str, Any]) -> str:
    """What the file says."""
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def main() -> None:
    chosen = sys.argv[1:] or NOTEBOOKS
    for name in chosen:
        made = notebook(NOTEBOOKS[name])
        (FOLDER / f"{name}.ipynb").write_text(text_of(run(made) if name in DOCUMENTS else made), encoding="utf-8")
        print(f"{name}.ipynb")


if __name__ == "__main__":
    main()
