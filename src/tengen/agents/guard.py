"""Ends engines, with all that they have started: also when whoever started them was killed and cannot do it.

An engine is told a word of its own in its environment, which whatever it starts inherits. So its processes are found
where they have a session of their own, or lost their parent. Other systems than Linux do not show environments: there
only the engine's process group is ended, and on Windows, which has no such groups, only the engine itself. What empties
its environment, or changes its user, is not found either.

As a program this reads lines `+GROUP WORD` and `-GROUP WORD` from its starter: engines that have begun, and that were
ended. When there are no more lines the starter is gone, and what is left of its engines is ended. It needs nothing else
of ours, and begins quickly.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading

WORD = "TENGEN_ENGINE"  # in an engine's environment
ROUNDS = 100  # of looking for processes that began while others were ended
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows any signal kills at once
GROUP_OF_ITS_OWN = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)  # for Windows, where there are no sessions


def kill_group(group: int, number: int = KILL) -> None:
    """Sends a signal to all processes of a group, if there are any; on Windows to its first one alone."""
    send = getattr(os, "killpg", os.kill)
    with contextlib.suppress(OSError):  # they have ended, or are somebody else's by now
        send(group, number)


def end_engine(group: int, word: str) -> None:
    """Kills an engine's process group, and every process that was started by it."""
    kill_group(group)
    for _ in range(ROUNDS):
        if not (left := processes_of(word)):
            return
        for process in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, KILL)


def processes_of(word: str) -> list[int]:
    """The processes that were told a word; a process that has died has no environment."""
    found, wanted = [], f"{WORD}={word}".encode()
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                if wanted in file.read().split(b"\0"):
                    found.append(int(name))
    return found


class EngineGuard:
    """A process that outlives us for a moment if we are killed, and ends our engines then."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._engines: set[str] = set()  # those that have begun and not ended

    def begun(self, group: int, word: str) -> None:
        """From now on this engine ends with us."""
        with self._lock:
            self._engines.add(engine := f"{group} {word}")
            self._tell(f"+{engine}")

    def ended(self, group: int, word: str) -> None:
        """This engine has ended; its number may be another's by now."""
        with self._lock:
            self._engines.discard(engine := f"{group} {word}")
            self._tell(f"-{engine}")

    def _tell(self, *lines: str) -> None:
        with contextlib.suppress(OSError):  # without a guard engines end all the same, if we do it
            if self._process is None or self._process.poll() is not None:  # somebody may have ended it
                self._process, lines = self._started(), tuple(f"+{engine}" for engine in self._engines)
            assert self._process.stdin is not None
            self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())
            self._process.stdin.flush()

    def _started(self) -> subprocess.Popen[bytes]:
        """A new guard. If we are an engine ourselves, it does not end with us: it is not told our word."""
        return subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={name: value for name, value in os.environ.items() if name != WORD},
            start_new_session=True,  # who ends us by the keyboard does not end it
            creationflags=GROUP_OF_ITS_OWN,
        )


guard = EngineGuard()


def main() -> None:
    engines: set[str] = set()
    for line in sys.stdin:
        (engines.add if line[0] == "+" else engines.discard)(line[1:])
    for engine in engines:
        group, word = engine.split()
        end_engine(int(group), word)


if __name__ == "__main__":
    main()
