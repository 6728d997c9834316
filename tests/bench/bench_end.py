"""What tracing adds to the end of a process: from the last instruction of its Main to the moment its parent sees it gone,
untraced, with a profiler that does nothing, and with ours while its daemon is alive, is stopped (SIGSTOP), or was never
there. In turns; p50, p99 and the longest, in milliseconds.

The program says the time as the last thing it does (`overhead end` of tests/managed), the end is that of its pidfd. What
the daemon has of the process must be all of it in the end, stopped or not. Turns: TRACERD_BENCH_RUNS. Runtimes:
TRACERD_BENCH_RUNTIMES. TRACERD_BENCH_PREFIX as in bench_overhead.py."""

import json
import os
import select
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from house import TRACERD, Timeline, finish, folder, managed, start  # noqa: E402
from targets import PROFILER, with_noop_profiler  # noqa: E402

RUNS = int(os.environ.get("TRACERD_BENCH_RUNS", "100"))
RUNTIMES = os.environ.get("TRACERD_BENCH_RUNTIMES", "8,9,10").split(",")
PREFIX = os.environ.get("TRACERD_BENCH_PREFIX", "").split()


def ways(command, place):
    """(name, command, environment, whether the daemon is stopped)"""
    trace = [TRACERD, "run", "-q", "--no-kernel", "-o", place / "out.ndjson", "--", *command]
    alone = with_noop_profiler(CORECLR_PROFILER_PATH=str(PROFILER), TRACERD_SOCKET=str(place / "nobody"))
    return (("untraced", command, None, False), ("no-op profiler", command, with_noop_profiler(), False),
            ("daemon alive", trace, None, False), ("daemon stopped", trace, None, True),
            ("no daemon", command, alone, False))


def end_of(command, environment, stop, place):
    """Milliseconds from the last instruction to the end."""
    process = start(*PREFIX, *command, env=environment, stdin=subprocess.PIPE)
    pidfd = os.pidfd_open(json.loads(process.stdout.readline())["pid"])
    try:
        if stop:
            process.send_signal(signal.SIGSTOP)
        process.stdin.write("\n")
        process.stdin.flush()
        last_ns = json.loads(process.stdout.readline())["end_ns"]
        select.select([pidfd], [], [])
        taken_ns = time.monotonic_ns() - last_ns
    finally:
        os.close(pidfd)
        if stop:
            process.send_signal(signal.SIGCONT)
    finish(process)
    if command[0] == TRACERD:
        Timeline(place / "out.ndjson").check_sums()
    return taken_ns / 1e6


def show(name, values, base):
    values = sorted(values)

    def at(share):
        return values[min(len(values) - 1, int(len(values) * share))]
    print(f"  {name:16} p50 {at(0.5):6.2f}  p99 {at(0.99):6.2f}  longest {values[-1]:6.2f}"
          + ("" if base is None else f"   p50 {at(0.5) - base:+.2f} to untraced"), flush=True)
    return at(0.5)


def bench_end():
    signal.alarm(0)
    for runtime in RUNTIMES:
        with folder() as place:
            all_ways = ways(managed(runtime, "overhead", "end"), place)
            figures = {name: [] for name, *_ in all_ways}
            for _ in range(RUNS):
                for name, command, environment, stop in all_ways:
                    figures[name].append(end_of(command, environment, stop, place))
        print(f"{runtime}, {RUNS} ends each, ms")
        base = None
        for name, values in figures.items():
            p50 = show(name, values, base)
            base = p50 if base is None else base


if __name__ == "__main__":
    sys.argv = [sys.argv[0], __file__, "bench_end"]
    from house import _main
    sys.exit(_main())
