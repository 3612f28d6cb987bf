"""The third target: a game's kernels as one WebAssembly module, which a browser or Node runs.

Numba compiles each entry point for this CPU without optimising it; the code that LLVM has then names no instruction of
this CPU, and LLVM emits it once more for wasm32, optimised for that. What a module needs to be called with stands
beside it in a table of contents: names, kinds of arguments, and the layout of records.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tengen.rules.errors import TengenError
from tengen.rules.kernels import Entry

TRIPLE = "wasm32-unknown-unknown"
FEATURES = "+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext,+mutable-globals"
STACK_BYTES = 1 << 20


class Export(NamedTuple):
    """An entry point, and arguments of the kinds that it is called with."""

    name: str
    entry: Entry
    arguments: tuple[Any, ...]


class Module(NamedTuple):
    """A WebAssembly module and how to call what it exports."""

    code: bytes
    contents: dict[str, Any]

    @property
    def digest(self) -> str:
        """Says which code it is, in a few characters."""
        return hashlib.sha256(self.code).hexdigest()[:16]


def build(exports: Iterable[Export]) -> Module:
    """Compiles entry points into one module. Numba must not optimise, so this runs in a process made for it."""
    if os.environ.get("NUMBA_OPT") != "0":
        raise TengenError("WebAssembly is built with NUMBA_OPT=0: else there are instructions of this CPU in the code")
    objects, functions, records = list[tuple[str, bytes]](), dict[str, Any](), dict[str, Any]()
    for export in exports:
        name, code, result = emitted(export)
        objects.append((name, code))
        kinds = [kind_of(value, records) for value in export.arguments]
        functions[export.name] = {"symbol": name, "arguments": kinds, "result": result}
    return Module(linked(objects), {"functions": functions, "records": records})


def emitted(export: Export) -> tuple[str, bytes, list[str]]:
    """The symbol of an entry point, its object file for wasm32, and the kinds of numbers that it returns."""
    import llvmlite.binding as llvm
    from numba import njit

    from tengen.rules.contract import JIT_OPTIONS

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    dispatcher = njit(nogil=True, **JIT_OPTIONS)(export.entry.function)
    dispatcher.compile(tuple(dispatcher.typeof_pyval(value) for value in export.arguments))
    (compiled,) = dispatcher.overloads.values()
    name = f"{export.name}_{hashlib.sha256(compiled.fndesc.mangled_name.encode()).hexdigest()[:8]}"
    module = llvm.parse_assembly(for_wasm(compiled.library.get_llvm_str()))
    for function in module.functions:
        if not function.is_declaration:
            is_asked_for = function.name == compiled.fndesc.mangled_name
            function.linkage = "external" if is_asked_for else "internal"
            if is_asked_for:
                function.name = name
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(
        opt=3, features=FEATURES, reloc="static", codemodel="default"
    )
    module.data_layout = str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes = builder.getModulePassManager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder)
    module.verify()
    return name, machine.emit_object(module), result_kinds(compiled.signature.return_type)


def result_kinds(kind: Any) -> list[str]:
    """The kinds of the numbers that an entry point returns: none, one, or those of a tuple."""
    from numba import types

    if isinstance(kind, types.NoneType):
        return []
    return [str(part) for part in kind] if isinstance(kind, types.BaseTuple) else [str(kind)]


def for_wasm(code: str) -> str:
    """LLVM's code without what only this CPU has. Kernels allocate nothing, so counting references is left out."""
    code = re.sub(r'target triple = ".*"', f'target triple = "{TRIPLE}"', code)
    code = re.sub(r'target datalayout = ".*"\n', "", code)
    code = re.sub(
        r"(define [^\n]*@NRT_(?:inc|dec)ref\(ptr [^)]*\))[^{]*\{.*?\n\}",
        r"\1 alwaysinline {\n  ret void\n}",
        code,
        flags=re.S,
    )
    code = re.sub(r"(%[^ ]+) = (tail )?call i8 @llvm.x86.atomic.sub.cc.i64\([^\n]*", r"\1 = add i8 0, 0", code)
    code = code.replace('"target-cpu"', '"no-cpu"').replace('"target-features"', '"no-features"')
    return re.sub(r"= common (local_unnamed_addr |unnamed_addr )?global", "= internal global", code)


def linked(objects: list[tuple[str, bytes]]) -> bytes:
    """One module of object files, each with the symbol that it exports."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, code in objects:
            paths.append(Path(folder, f"{name}.o"))
            paths[-1].write_bytes(code)
        out = Path(folder, "module.wasm")
        flags = ["--no-entry", "--export=__heap_base", "--allow-undefined", "--gc-sections"]
        flags += ["--strip-all", "-z", f"stack-size={STACK_BYTES}", "--stack-first"]
        flags += [f"--export={name}" for name, _ in objects]
        command = [sys.executable, "-m", "ziglang", "wasm-ld", *flags, "-o", str(out), *map(str, paths)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise TengenError(f"wasm-ld: {done.stderr.strip() or 'it failed'}")
        return out.read_bytes()


def kind_of(value: Any, records: dict[str, Any]) -> Any:
    """How an argument is written in the table of contents; records that it is made of are added to `records`."""
    if isinstance(value, np.ndarray):
        return {"array": element_of(value.dtype, records), "dimensions": value.ndim}
    if isinstance(value, tuple):
        return [kind_of(part, records) for part in value]
    return np.dtype(type(value)).name if not isinstance(value, bool) else "bool"


def element_of(kind: np.dtype[Any], records: dict[str, Any]) -> str:
    """The name of an element's type; that of a record is made of its layout."""
    if kind.names is None:
        return kind.name
    fields = {name: field_of(kind, name, records) for name in kind.names}
    layout = {"size": kind.itemsize, "fields": fields}
    name = "record" + hashlib.sha256(json.dumps(layout, sort_keys=True).encode()).hexdigest()[:8]
    records[name] = layout
    return name


def field_of(kind: np.dtype[Any], name: str, records: dict[str, Any]) -> dict[str, Any]:
    """Where a field of a record begins, what it is, and how many there are of it."""
    own, offset = kind.fields[name][:2]  # type: ignore[index]
    base = own.subdtype[0] if own.subdtype else own
    return {"offset": int(offset), "kind": element_of(base, records), "shape": list(own.shape)}


def text_of(contents: Mapping[str, Any]) -> str:
    """A table of contents as it stands in a file: the same for the same module."""
    return json.dumps(contents, sort_keys=True, separators=(",", ":"))
