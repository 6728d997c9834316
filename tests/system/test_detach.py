"""Attached and detached again and again while the program's threads raise events as fast as they can."""

import os

from house import Timeline, finish, folder, managed, start, stopped_at_end, wait_until
from test_crash import BUFFER, counted
from test_life import attached, detach, state_of

TURNS = int(os.environ.get("TRACERD_TEST_ATTACHES", "20"))
THREADS = 2
EACH = 300  # exceptions while attached, at least


def maps_of_profiler(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
        return {line.split(None, 5)[5].rstrip("\n") for line in maps if "libtracerd_profiler" in line}


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def threads(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def test_program_under_load_is_attached_to_twenty_times_and_each_time_counts_hold(runtime):
    with folder() as place:
        counters = place / "counters"
        program = start(*managed(runtime, "crasher", counters, THREADS, "wait"),
                        env={**os.environ, "TRACERD_CLR_BUFFER": BUFFER})
        with stopped_at_end(program):
            word, pid = program.stdout.readline().split()
            assert word == "ready"
            pid, libraries, usage = int(pid), set(), []
            for turn in range(TURNS):
                out = place / f"{turn}.ndjson"
                before = sum(counted(counters, THREADS))
                with attached(pid, out, "--clr", "exception") as tracer:
                    first = sum(counted(counters, THREADS))
                    wait_until(lambda: sum(counted(counters, THREADS)) >= first + EACH, "exceptions")
                    libraries |= maps_of_profiler(pid)
                    last = sum(counted(counters, THREADS))
                    detach(tracer)
                after = sum(counted(counters, THREADS))
                timeline = Timeline(out)
                timeline.check_sums()
                info, = timeline.events("clr:runtime_info", pid)
                assert info["args"]["mode"]["name"] == "attach", info
                seen = timeline.count("clr:exception_thrown", pid)
                # A thread may have been past the runtime's look at what is wanted, or between callback and count.
                assert last - first - THREADS <= seen <= after - before + THREADS, (turn, first, seen, last)
                assert timeline.count("clr:exception_caught", pid) <= seen + THREADS
                usage.append((descriptors(pid), threads(pid)))
            assert program.poll() is None and state_of(pid) in "RS"
            went_on = sum(counted(counters, THREADS))
            wait_until(lambda: sum(counted(counters, THREADS)) > went_on, "the program to go on")
    # One copy of the library for all of them, and nothing that grows with every turn.
    assert len(libraries) == 1, libraries
    assert usage[-1][0] <= usage[0][0] and usage[-1][1] <= usage[0][1] + 1, usage
    print(f"last turn: {last - first} while attached, {seen} seen; descriptors and threads {usage[0]} {usage[-1]}")
