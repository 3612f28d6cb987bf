"""Where in a game's file something happens that machine code keeps to itself: an endless rule, an index too far.

Machine code has no lines. So the call that does not return, or fails, is made once more in plain Python, where every
line is seen.
"""

from __future__ import annotations

import sys
import sysconfig
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import numpy as np

from tengen.rules.game import Position
from tengen.rules.kernels import Entry
from tengen.rules.plain import run_plain

PATIENCE = 10.0  # seconds that one call of a rule may take: usual are microseconds
SECOND_LOOK = 3.0  # seconds in plain Python, until a rule is believed to be endless there, too
CALL = Entry.__call__.__code__
OURS = Path(__file__).parent.parent  # what lies here is no game of a user's, nor is it there
LIBRARIES = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")}


class Watchdog:
    """Notices that a rule does not return, while the main thread waits for it: a kernel cannot be interrupted.

    It watches until it is ended.
    """

    def __init__(self, tell: Callable[[str], None], patience: float = PATIENCE):
        self.tell, self.patience = tell, patience
        self.watched, self._is_over = threading.get_ident(), threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def end(self) -> None:
        self._is_over.set()

    def _watch(self) -> None:
        seen, since = None, time.monotonic()
        while not self._is_over.wait(self.patience / 50):
            frame = sys._current_frames().get(self.watched)
            if frame is None:
                return
            if frame is not seen or not (frame.f_code is CALL or is_a_users(path_of(frame))):
                seen, since = frame, time.monotonic()
            elif time.monotonic() - since > self.patience:
                self.tell(where_it_stays(frame, self.patience))
                return


def is_a_users(path: Path) -> bool:
    """Whether a file is a game's of somebody's own, and not one of ours, of Python's or of a library's."""
    return path.suffix == ".py" and not any(path.is_relative_to(folder) for folder in (OURS, *LIBRARIES))


def path_of(frame: FrameType) -> Path:
    return Path(frame.f_code.co_filename)


def where_it_stays(frame: FrameType, seconds: float) -> str:
    """What an endless call is, and on which line it stays."""
    if frame.f_code is not CALL:
        code = frame.f_code
        return f"{code.co_name}() does not return within {seconds:g} s ({code.co_filename}, line {frame.f_lineno})"
    place = place_in_plain_python(frame)
    return f"a rule does not return within {seconds:g} s{after(frame)}{place or ': does a loop in it never end?'}"


def after(frame: FrameType) -> str:
    """The moves that lead to a call."""
    position = position_of(frame)
    if position is None:
        return ""
    names = [position.game.action_text(action) for action in position.moves]
    return f" after {' '.join(names)}" if names else " in the first position"


def position_of(frame: FrameType) -> Position | None:
    """The position that a call of an entry point is about: a local variable of whoever calls it."""
    caller: FrameType | None = frame.f_back
    while caller is not None:
        for name in ("previous", "position"):
            if isinstance(found := caller.f_locals.get(name), Position):
                return found
        caller = caller.f_back
    return None


def place_of_failure(reason: BaseException) -> str:
    """The line on which compiled code failed, ` in play() (hex.py, line 81)`; nothing if plain Python does not fail."""
    trace: TracebackType | None = reason.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is CALL:
            return place_in_plain_python(trace.tb_frame)
        trace = trace.tb_next
    return ""


class _Late(BaseException):
    """Plain Python has taken long enough."""


def place_in_plain_python(frame: FrameType) -> str:
    """Makes a call of an entry point again, in plain Python, and says on which line it fails or stays."""
    entry, game, arguments = (frame.f_locals[name] for name in ("self", "game", "arguments"))
    position = position_of(frame)
    fresh = [unspoilt(argument, position) for argument in arguments]
    end = time.monotonic() + SECOND_LOOK

    def look(frame: FrameType, event: str, argument: Any) -> Any:
        if time.monotonic() > end:
            raise _Late
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        run_plain(entry.function, game, *fresh)
    except (Exception, _Late) as reason:
        sys.settrace(before)
        return innermost(reason)
    finally:
        sys.settrace(before)
    return ""


def unspoilt(argument: Any, position: Position | None) -> Any:
    """An argument as it was before the call: states are those of the position."""
    if not isinstance(argument, np.ndarray):
        return argument
    if argument.dtype.names is None or "to_play" not in argument.dtype.names:
        return argument.copy()
    fresh = np.zeros_like(argument)
    return fresh if position is None else np.resize(position.states, len(argument)).view(type(argument))


def innermost(reason: BaseException) -> str:
    """The innermost line of a user's file that an error went through."""
    places = [place for place in traceback.walk_tb(reason.__traceback__) if is_a_users(path_of(place[0]))]
    if not places:
        return ""
    frame, line = places[-1]
    return f", in {frame.f_code.co_name}() ({path_of(frame)}, line {line})"
