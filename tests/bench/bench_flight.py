"""What an armed flight recorder costs beside a stream of the same events, in turns under one load: processor seconds a
million events, and memory. TRACERD_BENCH_SECONDS, _ROUNDS."""

import os
import re
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from bench_live import LOAD, ROUNDS, RING_KB, SYSTEMS, account_in, load_of, lost_in, measured  # noqa: E402
from house import TRACERD, folder, need_kernel, need_program  # noqa: E402

WAYS = {
    "flight, CLR's": ("--flight", "30s", "--trigger", "clr:gc_pause && dur > 50ms"),
    "flight, offcpu": ("--flight", "30s", "--trigger", "sched:offcpu && dur > 100s"),
    ".dat": (),
    ".ndjson": ("--summary",),
}


def events_of(way, said, out):
    """Events that came in, and those the kernel could not keep."""
    if way == ".dat":
        return lost_in(out)
    if way == ".ndjson":
        return account_in(said)
    discarded = re.search(r"(\d+)\s+events left the window", said)
    lost = re.search(r"ftrace: (\d+) events of", said)
    return int(discarded[1]), int(lost[1]) if lost else 0


def turn(way):
    with folder() as place:
        out = "/dev/null" if way == ".ndjson" else place / "out.dat"
        events = [part for system in SYSTEMS for part in ("-e", f"{system}:*")]
        said, cpu, memory = measured(TRACERD, "run", "--all", "--no-clr", "--kernel-buffer", f"{RING_KB}K", *events, *WAYS[way],
                                     "-o", out, "--", *LOAD)
        kept, lost = events_of(way, said, out)
    return (cpu - load_of(said)) * 1e6 / (kept + lost), memory, kept, lost


def bench_flight():
    need_kernel()
    need_program("stress-ng")
    turns = {way: [] for way in WAYS}
    for _ in range(ROUNDS):
        for way in WAYS:
            turns[way].append(turn(way))
    streamed = statistics.median(row[0] for row in turns[".ndjson"])
    print(f"{'':16} {'CPU s a million':>16} {'of .ndjson':>11} {'memory MiB':>11} {'events':>10} {'lost':>10}")
    for way, rows in turns.items():
        cost, memory, kept, lost = (statistics.median(row[i] for row in rows) for i in range(4))
        print(f"{way:16} {cost:16.3f} {cost / streamed:10.0%} {memory:11.1f} {kept:10.0f} {lost:10.0f}")


if __name__ == "__main__":
    sys.argv = [sys.argv[0], __file__, "bench_flight"]
    from house import _main
    sys.exit(_main())
