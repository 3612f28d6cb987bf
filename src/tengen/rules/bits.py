"""Sets of cells as the bits of a 64-bit word: on every target one or two machine instructions."""

from __future__ import annotations

import numpy as np
from numba.core import config, types
from numba.extending import intrinsic, overload

from tengen.rules.compiler import AS_HELPER

ONE = np.uint64(1)


def count_bits(word):
    """How many bits are set."""
    return int(word).bit_count()


def lowest_bit(word):
    """The index of the lowest set bit of a word that is not zero."""
    return (int(word) & -int(word)).bit_length() - 1


def highest_bit_distance(word):
    """How many zeros stand above the highest set bit of a word that is not zero."""
    return 64 - int(word).bit_length()


if not config.DISABLE_JIT:

    @intrinsic
    def _population(typing_context, word):
        def generate(context, builder, signature, arguments):
            return builder.ctpop(arguments[0])

        return types.uint64(types.uint64), generate

    @intrinsic
    def _trailing_zeros(typing_context, word):
        def generate(context, builder, signature, arguments):
            return builder.cttz(arguments[0], context.get_constant(types.boolean, 0))

        return word(word), generate

    @intrinsic
    def _leading_zeros(typing_context, word):
        def generate(context, builder, signature, arguments):
            return builder.ctlz(arguments[0], context.get_constant(types.boolean, 1))

        return types.uint64(types.uint64), generate

    @overload(highest_bit_distance, jit_options=AS_HELPER)
    def _highest_bit_distance(word):
        return lambda word: _leading_zeros(np.uint64(word))

    @overload(count_bits, jit_options=AS_HELPER)
    def _count_bits(word):
        return lambda word: np.int64(_population(np.uint64(word)))

    @overload(lowest_bit, jit_options=AS_HELPER)
    def _lowest_bit(word):
        if word == types.uint32:  # half the work for a GPU
            return lambda word: np.int64(_trailing_zeros(word))
        return lambda word: np.int64(_trailing_zeros(np.uint64(word)))
