"""Two threads that call a hooked method at a steady pace, 2 million events a second together, for some seconds: how many
of their events are lost, by size of ring. TRACERD_BENCH_SECONDS; TRACERD_BENCH_CALLS of each thread in a second."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from house import RUNTIMES, TRACERD, managed, report_of, run  # noqa: E402

SECONDS = int(os.environ.get("TRACERD_BENCH_SECONDS", "4"))
CALLS = int(os.environ.get("TRACERD_BENCH_CALLS", "500000"))
RINGS = (65536, 1 << 20, 4 << 20, 16 << 20)
PLAIN = {**os.environ, "DOTNET_TieredCompilation": "0", "COMPlus_TieredCompilation": "0"}


def bench_sustained():
    command = managed(RUNTIMES[-1], "pace", 2, CALLS, SECONDS)
    print(f"{'ring':>8} {'events':>12} {'events/s':>12} {'lost':>10}   (2 threads, {SECONDS} s, load {os.getloadavg()[0]:.1f})")
    for ring in RINGS:
        out, err = run(TRACERD, "run", "--no-kernel", "--clr", "thread", "--methods", "Tracerd.Managed.Hooked.*", "-o",
                       "/dev/null", "--summary", "--", *command, env={**PLAIN, "TRACERD_RING_BYTES": str(ring)})
        report = report_of(out)
        produced, delivered, lost = map(int, re.search(r"clr \d+ +(\d+) = +(\d+) \+ +(\d+)", err).groups())
        assert produced == delivered + lost and produced >= 2 * report["calls"], err
        print(f"{ring >> 10:5} KiB {produced:12} {produced / report['seconds']:12.0f} {lost:10}")


if __name__ == "__main__":
    sys.argv = [sys.argv[0], __file__, "bench_sustained"]
    from house import _main
    sys.exit(_main())
