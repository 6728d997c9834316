"""What a hooked method pays for telling when it is entered and left, and what one pays that is not hooked: the same calls
without a profiler, under tracerd run without and with --methods, in turns. Nanoseconds per call of the best slice (and of
the one in the middle), in slices that fit a thread's ring. TRACERD_BENCH_RUNS turns of TRACERD_BENCH_SLICES slices."""

import json
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from house import RUNTIMES, TRACERD, folder, managed, report_of, run  # noqa: E402

RUNS = int(os.environ.get("TRACERD_BENCH_RUNS", "3"))
SLICES = int(os.environ.get("TRACERD_BENCH_SLICES", "300"))
CALLS = 400  # two records of 32 bytes each: below half of the default ring
# The code that a slice runs is the optimized one from its first call on.
PLAIN = {**os.environ, "DOTNET_TieredCompilation": "0", "COMPlus_TieredCompilation": "0"}
HOOKED = ("--methods", "Tracerd.Managed.Hooked.*")
TSC = (*HOOKED, "--stamp", "tsc")
CLOCK_SOURCE = pathlib.Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")


def measure(command, trace, place):
    """The program's report; with `trace`, the options of tracerd run, the stream is held against it."""
    if trace is None:
        return report_of(run(*command, env=PLAIN)[0])
    out, _ = run(TRACERD, "run", "-q", "--no-kernel", "--clr", "thread", *trace, "-o", place / "out.ndjson", "--", *command,
                 env=PLAIN)
    report, told, lost = report_of(out), 0, 0
    with open(place / "out.ndjson", encoding="utf-8") as lines:
        for line in lines:
            told += '"name":"clr:method_enter"' in line or '"name":"clr:method_leave"' in line
            lost += int(json.loads(line)["n"]) if '"k":"lost"' in line else 0
    expected = 2 * report["calls"] if trace in (HOOKED, TSC) else 0
    assert told + lost == expected, f"{told} events of {expected}, {lost} lost"
    return report


def best(reports, method):
    return (min(report[method]["best"] for report in reports), min(report[method]["median"] for report in reports))


def bench_elt():
    ways = {"untraced": None, "traced": (), "hooked": HOOKED}
    if CLOCK_SOURCE.exists() and CLOCK_SOURCE.read_text() == "tsc\n":
        ways["tsc"] = TSC
    print(f"{'runtime':8} {'a call':>16} {'in a traced process':>22} {'beside hooked ones':>22} {'hooked: enter + leave':>24}"
          f" {'by --stamp tsc':>18}"
          f"   (ns, best and median slice of {RUNS} x {SLICES})")
    with folder() as place:
        for runtime in RUNTIMES:
            command = managed(runtime, "pairs", SLICES, CALLS)
            reports = {way: [] for way in ways}
            for _ in range(RUNS):
                for way, trace in ways.items():
                    reports[way].append(measure(command, trace, place))
            base = best(reports["untraced"], "hooked")
            pairs = [[value - without for value, without in zip(best(reports[way], "hooked"), base)]
                     for way in ("hooked", "tsc") if way in ways]
            columns = (base, best(reports["traced"], "hooked"), best(reports["hooked"], "unhooked"), *pairs)
            print(f"{runtime:8}" + "".join(f" {first:{width}.1f} {second:6.1f}"
                                           for (first, second), width in zip(columns, (9, 15, 15, 17, 11))))


if __name__ == "__main__":
    sys.argv = [sys.argv[0], __file__, "bench_elt"]
    from house import _main
    sys.exit(_main())
