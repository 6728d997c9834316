"""Everything comes and goes, with a profiler that has a sanitizer in it, and under valgrind where the runtime runs there.

TRACERD_TEST_SOAK_S: how long each takes; 600 is what a release is held against.
"""

import collections
import os
import re
import signal
import subprocess

from house import BUILD, TRACERD, folder, managed, need, need_program, parse, report_of, start, stopped_at_end

SECONDS = int(os.environ.get("TRACERD_TEST_SOAK_S", "30"))
LIMIT_S = 10 * SECONDS + 170  # ctest's own for these is longer
PROFILER = BUILD / "lib" / "libtracerd_profiler_asan.so"


def number(report, name):
    value, = [entry.split("=")[1] for entry in report["methods"] if entry.startswith(name + "=")]
    return int(value)


class Tally:
    """The counts of a stream that is too long to be held."""

    def __init__(self, path, pid):
        self.names, self.thrown, self.named, self.loads, told = collections.Counter(), 0, 0, 0, 0
        record = {}
        with open(path, encoding="utf-8", errors="strict", newline="\n") as lines:
            for seq, line in enumerate(lines):
                record = parse(line)
                assert record["seq"] == seq, record
                told += int(record["n"]) if record["k"] == "lost" else 0
                if record["k"] == "ev" and record["pid"] == pid:
                    self.add(record["name"], record["args"])
        assert record["k"] == "bye", record
        self.lost = int(record["lost"])
        assert told == self.lost, record
        for ledger in [record, *record["sources"]]:
            assert int(ledger["produced"]) == int(ledger["delivered"]) + int(ledger["lost"]), ledger
            assert "losses_uncounted" not in ledger, ledger

    def add(self, name, args):
        self.names[name] += 1
        self.thrown += name == "clr:exception_thrown" and args["type"] == "Tracerd.Managed.Churned"
        self.named += name == "clr:thread_name" and args["name"].startswith("churn-")
        self.loads += name == "clr:module_load" and args["path"].endswith("/churn/app.dll")


def check(path, report):
    """What the program counted, as far as nothing was lost; what was lost is told."""
    tally = Tally(path, report["pid"])
    unloads = tally.names["clr:module_unload"]
    for seen, truth in ((tally.thrown, report["thrown"]["Tracerd.Managed.Churned"]),
                        (tally.named, number(report, "threads")),
                        (tally.names["clr:gc_start"], report["gc"][0]),
                        (tally.loads - 1, number(report, "loads"))):
        # A collection may come between the program's own count and its end.
        assert truth - tally.lost <= seen <= truth + 1, (seen, truth, tally.lost)
    assert 0 < unloads <= number(report, "loads")
    print(f"{tally.thrown} exceptions, {tally.named} threads, {tally.names['clr:gc_start']} collections, "
          f"{tally.loads} loads, {unloads} unloads, {tally.lost} lost of {tally.names.total()}")


def soak(place, runtime, profiler, tool, **environment):
    """The program below `tool`, which is put between tracerd and it."""
    signal.alarm(LIMIT_S)
    process = start(TRACERD, "run", "-q", "-o", place / "out.ndjson", "--no-kernel", "--",
                    *tool, *managed(runtime, "churn", SECONDS),
                    env={**os.environ, "TRACERD_PROFILER": str(profiler), **environment})
    with stopped_at_end(process):
        out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, (process.returncode, err[-4000:])
    return place / "out.ndjson", report_of(out)


def sanitizer():
    path = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=False).stdout.strip()
    need(os.path.isabs(path), "libasan.so of gcc")
    return path


def test_soak_with_a_sanitizer_in_the_profiler_finds_nothing(runtime):
    need_program("gcc")
    need(PROFILER.exists(), f"{PROFILER}, which the build makes")
    with folder() as place:
        # For tracerd as well, which tries whether the library can be loaded at all.
        environment = {"LD_PRELOAD": sanitizer(), "ASAN_OPTIONS": f"detect_leaks=0:log_path={place}/found",
                       "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={place}/found"}
        try:
            path, report = soak(place, runtime, PROFILER, (), **environment)
        finally:
            found = "".join(file.read_text(errors="replace") for file in place.glob("found*"))
            assert not found, found[:8000]
        check(path, report)


def soak_under_valgrind(runtime):
    with folder() as place:
        # The heap is kept small for valgrind's sake.
        tool = ("env", "DOTNET_GCHeapHardLimit=0x10000000", "COMPlus_GCHeapHardLimit=0x10000000",
                "DOTNET_EnableWriteXorExecute=0", "valgrind", "-q", "--smc-check=all-non-file", "--undef-value-errors=no",
                f"--log-file={place}/found.%p")
        path, report = soak(place, runtime, BUILD / "lib" / "libtracerd_profiler.so", tool)
        found = "".join(file.read_text(errors="replace") for file in place.glob("found*"))
        ours = [part for part in re.split(r"==\d+== \n", found) if "libtracerd_profiler" in part]
        assert not ours, "\n".join(ours)[:8000]
        check(path, report)


# What valgrind says of the runtime's own code is not ours to judge: only what has the profiler on its stack. Under valgrind
# 3.19 this program ends with SIGSEGV after some seconds on 8.0.34 and on 9.0.23 (four times of four) without any profiler,
# and on 3.1.3 with one that does nothing: in the runtime's own code, so these are left out.


def test_soak_under_valgrind_finds_nothing_in_the_profiler_on_10():
    need_program("valgrind")
    soak_under_valgrind("10")
