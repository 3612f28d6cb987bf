"""The example, broken in many ways, and what the conformance check says of each."""

from pathlib import Path

import tengen
from tengen.rules.errors import GameFileError

EXAMPLE = Path(__file__).parent.parent / "examples" / "breakthrough.py"
RULES = "@rules(Breakthrough)\n"
OUTCOME = RULES + "def outcome"
BREAKS = {  # what is changed in the example, and what the check says
    "make the record with np.dtype([...], align=True)": ("    align=True,\n", ""),
    "ply is 0 after 1 plies; play() adds one": ("    state.ply += 1\n", ""),
    "to_play is 2 after 1 plies; it is 0 or 1": ("state.to_play = 1 - player", "state.to_play = 2"),
    "but legal() finds nothing; add a pass, or end the game": (
        "                    count += 1\n",
        "                    count += 0\n",
    ),
    "they must rise, each once": ("for cell in range(cells):", "for cell in range(cells - 1, -1, -1):"),
    "two boards, but to one key": ("result ^= stone_key(cell, state.cells[cell] - 1)", "result ^= stone_key(cell, 0)"),
    "leaves cells of plane 'first player to move' unwritten": ("        planes[2, cell] = state.to_play == 0\n", ""),
    "legal, outcome, key, score, territory or encode changes the state": (
        "    return state.result\n",
        "    state.pawns[0] = 1\n    return state.result\n",
    ),
    "symmetry 1 changes what is legal": ("for dx in range(-1, 2):", "for dx in range(0, 2):"),
    "is read as": ("points.cell(text[:2]) * cells", "points.cell(text[2:]) * cells"),
    "setup() makes another position": ("        state.to_play = to_play\n", ""),
    "score() is -1 after": (OUTCOME, RULES + "def score(game, state):\n    return -1.0\n\n\n" + OUTCOME),
    "territory() writes other owners than 0, 1 and 2": (
        OUTCOME,
        RULES + "def territory(game, state, owners):\n    owners[:] = 3\n\n\n" + OUTCOME,
    ),
    "rollout() does not play to the end": (
        OUTCOME,
        RULES + "def rollout(game, state, actions, seed):\n    return seed\n\n\n" + OUTCOME,
    ),
    "raises ValueError; raise BadMove": (
        "        return points.cell(text[:2])",
        "        int(text[1])\n        return points.cell(text[:2])",
    ),
    "setup() sees another winner": ("            state.result = 1\n", "            state.result = 2\n"),
    "is it a helper that lacks @kernel?": ("@kernel\ndef target_of", "def target_of"),
    "Unknown attribute 'sise'": ("range(2 * game.size)", "range(2 * game.sise)"),
    "the record has no field 'ply'": ('        ("ply", np.int16),\n', ""),
    "a rule does not compile": ("    return state.result\n", "    return state.resultt\n"),
    "does not run: NameError": ('"""reach the far row', 'undefined\n    """reach the far row'),
    "legal() answers differently when it is asked twice": (
        "                if target >= 0:",
        "                if target >= 0 and np.random.random() < 0.8:",
    ),
    "to_play is 0 in every position: play() says who moves next (broken.py, line": (
        "state.to_play = 1 - player",
        "state.to_play = player",
    ),
    "is legal either after": (
        "range(-1, 2):",
        "range(-1, 2 if state.ply < 3 else 1):",
    ),
    "a rule makes an array, a list or a set (": (
        "cells, player = game.size * game.size, state.to_play\n",
        "cells, player = game.size * game.size, state.to_play\n    seen = [action]\n    seen.append(player)\n",
    ),
    "a rule prints (": ("    return state.result\n", "    print(state.result)\n    return state.result\n"),
    "encode() writes 0.5 into plane 'first player to move'": (
        "state.to_play == 0\n",
        "0.5 * (state.to_play == 0)\n",
    ),
    'encode() writes -1 into plane "opponent\'s pawns"': (
        "state.cells[cell] == 2 - state.to_play",
        "-(state.cells[cell] == 2 - state.to_play)",
    ),
    "has 40,625 actions; a game has 1 to 32,767": ("return self.size**4 ", "return 65 * self.size**4 "),
    "is not read as two moves: write a move_pattern that matches 'a5a5'": (
        'move_pattern = r"[a-h]\\d[a-h]\\d"\n',
        "",
    ),
    "cannot be tested: give the class a setup()": ("def setup(", "def set_up("),
    "is not a permutation of 0 to 24": ("cells[:, ::-1].ravel()", "cells.ravel() // 2"),
    "as many action_symmetries as symmetries": ("for image in self.symmetries]", "for image in self.symmetries[:1]]"),
    "no rule for play; see @rules(Breakthrough)": ("@rules(Breakthrough)\ndef play(", "@kernel\ndef play("),
    "actions are 0 to 624 (broken.py, line": (
        "actions[count] = cell * cells + target",
        "actions[count] = cell * cells + target + 625",
    ),
    "a state takes": ('("cells", np.int8, 64)', '("cells", np.int8, 6400)'),
    "it is ONGOING, FIRST, SECOND or DRAW": ("    return state.result\n", "    return state.result * 3\n"),
    "Breakthrough answers an unknown rule 'outcom'; did you mean 'outcome'?": (OUTCOME, RULES + "def outcom"),
    "Breakthrough.legal takes (game, state); the contract says (game, state, actions)": (
        "def legal(game, state, actions):",
        "def legal(game, state):",
    ),
    "IndentationError": ("    return state.result\n", "return state.result\n"),
}


def problems_of(path, *changes, example=EXAMPLE, size=5, games=3):
    """What the check says of an example after some changes."""
    text = example.read_text()
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text)
    try:
        return tengen.check(f"{path}:size={size}", games=games).problems
    except GameFileError as reason:
        return [str(reason)]
