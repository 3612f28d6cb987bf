"""What becomes machine code, and that it answers as Numba's own would."""

import numpy as np
from numba import njit
from numba.core.codegen import JITCodeLibrary

from tengen import load_game
from tengen.rules.compiler import EntryCompiler
from tengen.rules.contract import JIT_OPTIONS, kernel, legal


@kernel
def double(number):
    return 2 * number


@kernel
def count_fours(number):
    count = 0
    for i in range(double(number)):
        count += double(double(i)) == number
    return count


def both_ways(number):
    return count_fours(number), double(number)


def count_first_moves(game, states, actions):
    return legal(game, states[0], actions)


def machine_code(monkeypatch, function, *arguments):
    """What a function answers as an entry point, and the names of what Numba makes machine code of meanwhile."""
    made, make = [], JITCodeLibrary._finalize_specific

    def listen(library):
        if library.name != "nrt":  # Numba's runtime, once in each process
            made.append(library.name)
        make(library)

    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", listen)
    return njit(pipeline_class=EntryCompiler, **JIT_OPTIONS)(function)(*arguments), made


def test_helpers_are_no_machine_code_of_their_own(monkeypatch):
    assert machine_code(monkeypatch, both_ways, 8) == ((1, 16), ["both_ways"])


def test_rules_are_no_machine_code_of_their_own(monkeypatch):
    game = load_game("tictactoe")
    arguments = game.parameters, game.start().states, np.empty(game.actions, np.int32)
    assert machine_code(monkeypatch, count_first_moves, *arguments) == (9, ["count_first_moves"])


def test_python_may_call_a_helper():
    """As a method of a user's game may do."""
    assert double(4) == 8 and double(0.5) == 1.0
    assert count_fours(number=8) == 1
