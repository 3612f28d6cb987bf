"""What a GPU's compiler is told in its own words: addresses that stay, bits of numbers, shapes of shared memory.

A kernel that uses one of these is known by all of this module: so there is nothing else here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import config, types
from numba.extending import intrinsic

SHARED = ("actions", "weights", "planes")  # of a row, what lies in memory that a block shares


def held(arrays: Any) -> Any:
    """The same NamedTuple of arrays and records, at addresses that are computed here, once, and not at each access; but
    for those of SHARED, which are not in the GPU's own memory."""
    return arrays


def bits_of(number: Any) -> Any:
    """The bits of a float32."""
    return np.float32(number).view(np.uint32)


def shaped(array: Any, shape: tuple[int, ...]) -> Any:
    """The first bytes of an array, in another shape."""
    return array.view(np.uint8)[: np.prod(shape)].reshape(shape)


if not config.ENABLE_CUDASIM:

    @intrinsic
    def bits_of(typing: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], ir.IntType(32))

        return types.uint32(types.float32), generate

    @intrinsic
    def shaped(typing: Any, array: Any, shape: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            from numba.cuda.np.arrayobj import populate_array  # of numba-cuda, which is there if there is a GPU

            source = context.make_array(array)(context, builder, arguments[0])
            result = context.make_array(kind)(context, builder)
            sizes = [builder.extract_value(arguments[1], k) for k in range(len(shape))]
            strides = [sizes[0].type(1)]
            for size in reversed(sizes[1:]):
                strides.insert(0, builder.mul(strides[0], size))
            data = builder.bitcast(source.data, context.get_data_type(types.uint8).as_pointer())
            populate_array(result, data, sizes, strides, 1, None)
            return result._getvalue()

        kind = types.Array(types.uint8, len(shape), "C")
        return kind(array, shape), generate

    @intrinsic
    def held(typing: Any, arrays: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            parts = [builder.extract_value(arguments[0], k) for k in range(len(arrays.types))]
            for k, (name, kind) in enumerate(zip(arrays.fields, arrays.types, strict=True)):
                if name not in SHARED:
                    parts[k] = _hold(context, builder, kind, parts[k])
            return context.make_tuple(builder, arrays, parts)

        return arrays(arrays), generate


def _hold(context: Any, builder: Any, kind: types.Type, part: Any) -> Any:
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, part)
        array.data = _opaque(builder, array.data)
        return array._getvalue()
    return _opaque(builder, part) if isinstance(kind, types.Record) else part


def _opaque(builder: Any, pointer: Any) -> Any:
    """A pointer into global memory, moved by an instruction that the compiler does not look into."""
    word = ir.IntType(64)
    move = ir.InlineAsm(ir.FunctionType(word, [word]), "mov.b64 $0, $1;", "=l,l")
    number = builder.call(move, [builder.ptrtoint(pointer, word)])
    there = ir.PointerType(pointer.type.pointee, addrspace=1)
    return builder.addrspacecast(builder.inttoptr(number, there), pointer.type)
