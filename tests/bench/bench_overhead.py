"""What tracing adds to one operation: `overhead` of tests/managed untraced, with a profiler that does nothing (the
runtime's own price), under tracerd run, and under dotnet-trace with the matching keywords, in turns.

Prints medians and ratios to the untraced one. The time is the processor's for the thread that does the work, since on a
machine that does other things too the clock measures those as well; of hello's start to end, in which several processes
take part, it is the clock's lower quartile. What the trace holds is checked against what the program did.

TRACERD_BENCH_RUNS: turns (5). TRACERD_BENCH_SCALE: operations, 1 is the full number. TRACERD_BENCH_RUNTIMES: 8,9,10.
TRACERD_BENCH_MODES: exceptions,gc,contend,jit,startup,hello,idle.
jit compiles small methods one after the other, the worst case for names; startup is a program that uses some 1500 methods
of the framework with nothing precompiled (DOTNET_ReadyToRun=0), by the processor time of the whole process. The tool is fetched by `dotnet tool install` where it is missing;
TRACERD_BENCH_FETCH=0 leaves it out. TRACERD_BENCH_PREFIX: before each command, as in "chrt -f 1" on a machine that is busy."""

import json
import os
import signal
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from house import BUILD, TRACERD, folder, managed  # noqa: E402
from targets import with_noop_profiler  # noqa: E402

RUNS = int(os.environ.get("TRACERD_BENCH_RUNS", "5"))
SCALE = float(os.environ.get("TRACERD_BENCH_SCALE", "1"))
RUNTIMES = os.environ.get("TRACERD_BENCH_RUNTIMES", "8,9,10").split(",")
TOOL_VERSION = "9.0.661903"
TOOL = BUILD / "bench-tools" / "dotnet-trace"
PREFIX = os.environ.get("TRACERD_BENCH_PREFIX", "").split()
IDLE_S = max(1, round(10 * SCALE))

# mode: operations, CLR categories, keywords and level of Microsoft-Windows-DotNETRuntime, event and count per operation
MODES = {
    "exceptions": (200000, "exception", "0x8000:4", "clr:exception_thrown"),
    "gc": (20000, "gc", "0x1:4", "clr:gc_start"),
    "contend": (20000, "contention", "0x4000:4", "clr:contention_start"),
    "jit": (20000, "jit", "0x10:5", "clr:jit_end"),
    "startup": (3, "jit", "0x10:5", None),
    "hello": (None, "default", None, None),
    "idle": (None, "default", None, None),
}
CHOSEN = os.environ.get("TRACERD_BENCH_MODES", ",".join(MODES)).split(",")
PROFILER = "Microsoft-Windows-DotNETRuntime"
ALL_KEYWORDS = "0x1C019:4"  # what the default categories are: GC, loader, JIT, contention, exceptions, threading


def fetch_tool():
    """The path of dotnet-trace, or None with the reason printed."""
    if not TOOL.exists() and os.environ.get("TRACERD_BENCH_FETCH", "1") != "0":
        subprocess.run(["dotnet", "tool", "install", "dotnet-trace", "--version", TOOL_VERSION, "--tool-path", TOOL.parent],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                       env={**os.environ, "DOTNET_NOLOGO": "1", "DOTNET_CLI_TELEMETRY_OPTOUT": "1"})
    if TOOL.exists():
        return TOOL
    print(f"dotnet-trace {TOOL_VERSION} is missing (dotnet tool install dotnet-trace --tool-path {TOOL.parent}): without it")
    return None


def ways(mode, command, place, tool):
    """(name, command, environment) of each."""
    _, categories, keywords, _ = MODES[mode]
    yield "untraced", command, None
    yield "no-op profiler", command, with_noop_profiler()
    if mode == "startup":
        yield "no-op that opens metadata", command, with_noop_profiler(TRACERD_NOOP_OPENS="1")
    yield "tracerd", [TRACERD, "run", "-q", "--no-kernel", "--clr", categories, "-o", place / "out.ndjson", "--", *command], None
    if tool:
        yield ("dotnet-trace", [tool, "collect", "--show-child-io", "--providers", f"{PROFILER}:{keywords or ALL_KEYWORDS}",
                                "--rundown", "false", "-o", place / "out.nettrace", "--", *command],
               {**os.environ, "DOTNET_ROLL_FORWARD": "LatestMajor"})


def report_of(output):
    """dotnet-trace writes among the program's lines."""
    for line in output.splitlines():
        start = line.find('{"pid":')
        if start >= 0:
            return json.loads(line[start:])
    raise AssertionError(f"no report in {output[-2000:]!r}")


def quartile(values):
    return sorted(values)[len(values) // 4]


def check(mode, report, stream):
    """The timeline has one event for each operation but those it says it lost; their share of all."""
    name, count, bye = f'"name":"{MODES[mode][3]}"', 0, None
    with open(stream, encoding="utf-8") as lines:
        for line in lines:
            count += name in line
            if '"k":"bye"' in line:
                bye = json.loads(line)
    produced, lost = int(bye["produced"]), int(bye["lost"])
    assert produced == int(bye["delivered"]) + lost, bye
    if mode == "contend" and count == 0:
        print("  (the profiler tells no contention yet: the figure is that of being there)")
    else:
        assert count + lost >= report["operations"], f"{count} {MODES[mode][3]}, {report['operations']} operations, {lost} lost"
    return lost / produced if produced else 0


def once(mode, name, command, environment, place, lost):
    if mode == "startup":
        environment = {**(environment or os.environ), "DOTNET_ReadyToRun": "0", "COMPlus_ReadyToRun": "0"}
    before = time.monotonic()
    done = subprocess.run([str(part) for part in PREFIX + list(command)], env=environment, stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, check=False, errors="replace")
    elapsed = time.monotonic() - before
    assert done.returncode == 0, f"{command}: {done.returncode} {done.stderr[-2000:]}"
    if mode == "hello":
        return elapsed * 1e9
    report = report_of(done.stdout)
    if name == "tracerd" and MODES[mode][3]:
        lost.append(check(mode, report, place / "out.ndjson"))
    return statistics.median(report["cpu_ns"])


def measure(mode, runtime, place, tool):
    count = MODES[mode][0]
    if mode not in ("hello", "idle", "startup"):
        count = max(100, round(count * SCALE))
    arguments = {"hello": [], "idle": [mode, IDLE_S]}.get(mode, [mode, count])
    command = managed(runtime, "hello" if mode == "hello" else "overhead", *arguments)
    all_ways = list(ways(mode, command, place, tool))
    figures, lost = {name: [] for name, _, _ in all_ways}, []
    for _ in range(RUNS):
        for name, line, environment in all_ways:
            figures[name].append(once(mode, name, line, environment, place, lost))
    result = {name: (quartile if mode == "hello" else statistics.median)(values) for name, values in figures.items()}
    return result, max(lost, default=0)


def show(mode, runtime, result, lost):
    base = result["untraced"]
    text = f"{mode:11} {runtime:4}"
    for name, value in result.items():
        if mode == "idle":
            # The process's own processor time in IDLE_S seconds.
            text += f"  {name} {value / 1e6:.2f}ms" + ("" if name == "untraced" else f" {(value - base) / (IDLE_S * 1e7):+.3f}%")
        elif mode in ("hello", "startup"):
            text += f"  {name} {value / 1e6:.1f}ms" + ("" if name == "untraced" else f" {(value - base) / 1e6:+.1f}ms {(value / base - 1) * 100:+.1f}%")
        else:
            text += f"  {name} {value:.0f}ns" + ("" if name == "untraced" else f" {(value / base - 1) * 100:+.1f}%")
    print(text + (f"  (the daemon did not keep up: {lost:.1%} lost at worst)" if lost else ""), flush=True)


def bench_overhead():
    signal.alarm(0)  # a full run takes longer than any test may
    tool = fetch_tool()
    print(f"{RUNS} turns; ratios to untraced")
    with folder() as place:
        for mode in CHOSEN:
            for runtime in RUNTIMES:
                show(mode, runtime, *measure(mode, runtime, place, tool))


if __name__ == "__main__":
    sys.argv = [sys.argv[0], __file__, "bench_overhead"]
    from house import _main
    sys.exit(_main())
