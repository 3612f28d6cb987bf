"""What runs beside a student's code, in a process of its own: it calls the functions that the grader asks for.

It is started as a script with nothing but Python's library, limits itself before it loads the file, and answers one
JSON line for each. The limits stop mistakes and simple tricks; whoever grades strangers does so in a container.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

REFUSED = {
    "os.fork": "processes",
    "os.forkpty": "processes",
    "os.posix_spawn": "processes",
    "os.spawn": "processes",
    "os.exec": "processes",
    "os.system": "processes",
    "os.startfile": "processes",
    "subprocess.Popen": "processes",
    "pty.spawn": "processes",
    "os.kill": "signals",
    "os.killpg": "signals",
    "signal.pthread_kill": "signals",
    "socket.__new__": "the network",
    "socket.connect": "the network",
    "ctypes.dlsym": "foreign code",
    "ctypes.dlsym/handle": "foreign code",
    "os.remove": "files",
    "os.rename": "files",
    "os.rmdir": "files",
    "os.mkdir": "files",
    "os.link": "files",
    "os.symlink": "files",
    "os.truncate": "files",
    "os.chmod": "files",
    "os.chown": "files",
    "os.chdir": "files",
}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
LONGEST_ANSWER = 1_000_000  # characters


class Disallowed(PermissionError):
    """Something that an assignment does not need."""


def set_limits(memory: int, seconds: int) -> None:
    """What the system enforces: memory, processor time, no files, no processes. Nothing where it has no such limits."""
    try:
        import resource
    except ImportError:  # Windows
        return
    wanted = {"RLIMIT_AS": memory, "RLIMIT_CPU": seconds, "RLIMIT_FSIZE": 0, "RLIMIT_CORE": 0, "RLIMIT_NOFILE": 64}
    for name, most in {**wanted, "RLIMIT_NPROC": 0}.items():
        if hasattr(resource, name):
            limit = getattr(resource, name)
            _, hard = resource.getrlimit(limit)
            kept = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(limit, (kept, kept))


def guard(path: str) -> None:
    """Refuses processes, the network, and files but Python's own, and says what is refused. It cannot be undone."""
    import _posixsubprocess  # beneath what the events name

    def refuse(*_: Any) -> None:
        raise Disallowed("not allowed here: processes")

    _posixsubprocess.fork_exec = refuse  # type: ignore[assignment,unused-ignore]
    allowed = tuple(
        os.path.realpath(each) + os.sep for each in {*sys.path, sys.prefix, sys.base_prefix} if os.path.isdir(each)
    )
    own = {os.path.realpath(path), os.devnull, "/dev/urandom"}
    ours = os.path.realpath(__file__).partition(os.path.join("course", "grading"))[0]  # solutions stand there

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event in REFUSED:
            raise Disallowed(f"not allowed here: {REFUSED[event]} ({event})")
        if event == "ctypes.dlopen" and arguments[0]:
            raise Disallowed("not allowed here: foreign code")
        if event == "import" and arguments[0].split(".")[0] == "tengen":
            raise Disallowed("the work is yours to do: tengen is not to be imported")
        if event == "open" and not isinstance(arguments[0], int):
            name, mode, flags = arguments
            is_writing = (mode and set(mode) & set("wax+")) or (flags or 0) & WRITING
            real = os.path.realpath(os.fsdecode(name))
            if is_writing or not (real in own or real.startswith(allowed)) or real.startswith(ours):
                raise Disallowed(f"not allowed here: files ({os.fsdecode(name)})")

    sys.addaudithook(watch)


def load(path: str) -> dict[str, Any]:
    """The names that a file defines."""
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec")
    module = type(sys)("student")
    module.__file__ = path
    sys.modules["student"] = module  # dataclasses look it up
    exec(code, module.__dict__)
    return module.__dict__


def error_text(reason: BaseException, path: str) -> str:
    """An exception in a line, with the last line of the student's file that it came through."""
    line, trace = 0, reason.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    where = f" (line {line})" if line else ""
    return f"{type(reason).__name__}: {reason}{where}"[:500]


def answer(names: dict[str, Any], request: dict[str, Any], path: str) -> dict[str, Any]:
    """Calls what is asked for."""
    function = names.get(request["call"])
    if not callable(function):
        return {"error": f"there is no function {request['call']}"}
    try:
        told = {"answer": function(*request["arguments"])}
        if len(json.dumps(told)) > LONGEST_ANSWER:
            return {"error": "the answer is too long"}
        return told
    except MemoryError:
        return {"error": "it needs more memory than is allowed"}
    except (TypeError, ValueError) as reason:
        return {"error": error_text(reason, path)}
    except BaseException as reason:  # SystemExit, too: whatever it is, it is told
        return {"error": error_text(reason, path)}


def main() -> None:
    """FILE MEMORY SECONDS: answers requests from stdin on what was stdout; the student's own output is dropped."""
    path, memory, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    set_limits(memory, seconds)
    names: dict[str, Any] = {}
    try:
        if os.name == "posix":
            guard(path)
        names = load(path)
        first: dict[str, Any] = {"answer": sorted(name for name, each in names.items() if callable(each))}
    except BaseException as reason:
        first = {"error": error_text(reason, path)}
    answers.write(json.dumps(first) + "\n")
    answers.flush()
    for line in requests:
        answers.write(json.dumps(answer(names, json.loads(line), path)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
