"""Python in a process of its own that may not connect to anything: what does, is killed."""

import ctypes
import os
import platform
import struct
import subprocess
import sys

CONNECT = {  # by machine: what Linux calls it, and the number of the system call
    "x86_64": (0xC000003E, 42),
    "aarch64": (0xC00000B7, 203),
}
KILL, ALLOW = 0x80000000, 0x7FFF0000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
IS_POSSIBLE = sys.platform.startswith("linux") and platform.machine() in CONNECT
WHERE = "what a process connects to is watched on Linux alone, on x86-64 and on 64-bit ARM"


def forbid_connections():
    """From now on this process is killed by SIGSYS as it connects to anything: every lookup begins with that, too."""
    machine, connect = CONNECT[platform.machine()]
    steps = [  # of a filter: load the machine's word, then the system call's number; compare each; decide
        (0x20, 0, 0, 4),
        (0x15, 0, 3, machine),
        (0x20, 0, 0, 0),
        (0x15, 0, 1, connect),
        (0x06, 0, 0, KILL),
        (0x06, 0, 0, ALLOW),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    for call in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)):
        if libc.prctl(*call) != 0:
            raise OSError(ctypes.get_errno(), "a filter of system calls could not be set")


def run_apart(home, code):
    """Python, with a home of its own, that may not connect; nothing says that it runs in a test or for a CI."""
    code = f"import offline; offline.forbid_connections()\n{code}"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(home),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, timeout=300)


def files_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
