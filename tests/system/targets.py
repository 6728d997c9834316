"""Processes that are hard to reach: of another user, in other namespaces, with another profiler."""

import os
import pathlib

from house import BUILD, wait_until

NOBODY = 65534
NOBODY_IS = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all")
NOOP = BUILD / "lib" / "libnoop_profiler.so"
PROFILER = BUILD / "lib" / "libtracerd_profiler.so"


def with_noop_profiler(**more):
    """The environment of a process whose main profiler is the one that does nothing."""
    return {**os.environ, "CORECLR_ENABLE_PROFILING": "1", "CORECLR_PROFILER_PATH": str(NOOP),
            "CORECLR_PROFILER": "{8A1F5C3E-6B0D-4B7E-9C55-3D1E0F2A7B41}", **more}


def in_own_namespaces(place):
    """Before a command: it is pid 1 of its own, and what lies in the folder `place` only it sees."""
    return ("unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c",
            f'mount -t tmpfs none {place} && exec "$@"', "sh")


def descendant(pid):
    """Our number of the last in a chain of only children, as `unshare --fork` makes them."""
    def children(of):
        return pathlib.Path(f"/proc/{of}/task/{of}/children").read_text(encoding="utf-8").split()

    wait_until(lambda: children(pid), f"a child of {pid}")
    while children(pid):
        pid = int(children(pid)[0])
    return pid
