"""A program that dies a violent death has everything in the stream that it had counted, in shared memory, before."""

import contextlib
import os
import random
import resource
import signal
import struct

from house import TRACERD, Timeline, finish, folder, managed, start, stopped_at_end, wait_until

KILLS = int(os.environ.get("TRACERD_TEST_KILLS", "5"))  # per runtime
THREADS = 4
COUNTER_BYTES = 64
# Room for seconds of a machine that does not let the sender run: what is shown is that nothing written is lost.
BUFFER = "64M/4M"


def counted(path, threads=THREADS):
    """What each thread had caught, as the program left it."""
    with open(path, "rb") as file:
        content = file.read()
    return [struct.unpack_from("<q", content, i * COUNTER_BYTES)[0] for i in range(threads)]


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@contextlib.contextmanager
def crasher(place, runtime, how):
    """`tracerd run` of it, and its pid; it has begun to throw."""
    process = start(TRACERD, "run", "-q", "-o", place / "out.ndjson", "--no-kernel", "--clr", "exception", "--",
                    *managed(runtime, "crasher", place / "counters", THREADS, how),
                    env={**os.environ, "TRACERD_CLR_BUFFER": BUFFER}, preexec_fn=no_core)
    with stopped_at_end(process):
        word, pid = process.stdout.readline().split()
        assert word == "ready"
        yield process, int(pid)


def check(place, pid, status):
    assert status in (128 + signal.SIGKILL, 128 + signal.SIGABRT, 128 + signal.SIGSEGV), status
    counts = counted(place / "counters")
    timeline = Timeline(place / "out.ndjson")
    for name in ("clr:exception_thrown", "clr:exception_caught"):
        seen = sum(event["args"]["type"] == "Tracerd.Managed.Counted" for event in timeline.events(name, pid))
        # Each thread may have been between its callback and its count.
        assert sum(counts) <= seen <= sum(counts) + THREADS, f"{name}: {seen}, counted {counts}"
    # An event that was being written is begun and not there: it is told as lost, and nothing else is.
    assert int(timeline.bye["lost"]) <= THREADS, timeline.bye
    timeline.check_sums(lost=None)
    print(f"counted {sum(counts)}, seen {seen}, lost {timeline.bye['lost']}")
    return timeline


def test_program_killed_at_random_has_all_it_counted_in_the_stream(runtime):
    for _ in range(KILLS):
        with folder() as place, crasher(place, runtime, "wait") as (process, pid):
            target = sum(counted(place / "counters")) + random.randrange(5000)
            wait_until(lambda: sum(counted(place / "counters")) >= target, "some more exceptions")
            os.kill(pid, signal.SIGKILL)
            finish(process, expected=None)
            check(place, pid, process.returncode)


def end_by_itself(runtime, how):
    with folder() as place, crasher(place, runtime, how) as (process, pid):
        finish(process, expected=None)
        return check(place, pid, process.returncode), pid


def test_failfast_loses_nothing(runtime):
    end_by_itself(runtime, "failfast")


def test_stack_overflow_loses_nothing(runtime):
    end_by_itself(runtime, "overflow")


def test_unhandled_exception_loses_nothing_and_is_there_itself(runtime):
    timeline, pid = end_by_itself(runtime, "unhandled")
    fatal = [event for event in timeline.events("clr:exception_thrown", pid)
             if event["args"]["type"] == "Tracerd.Managed.Fatal"]
    assert len(fatal) == 1, fatal
