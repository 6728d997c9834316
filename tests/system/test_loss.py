"""produced = delivered + lost, hop by hop, against what the kernel itself counted and what the program wrote down."""

import contextlib
import re
import signal
import subprocess
import sys
import threading
import time

from house import (TRACEFS, TRACERD, Timeline, finish, folder, instances, managed, need_kernel, parse, start, stopped_at_end,
                   wait_for_line, wait_until)
from test_crash import counted
from test_life import with_profiler
from test_run import SMALLEST_BUFFER
from test_service import connect, service, stop

# Makes as many system calls as it is told, then waits for the next word in silence.
CALLER = "import os\nwhile True:\n count = int(input())\n for _ in range(count): os.getppid()\n print('done', flush=True)\n"


class Caller:
    """A process that makes system calls when told, with tracerd at its side; both end with the block."""

    def __init__(self, stack, out, *options):
        self.process = stack.enter_context(stopped_at_end(start(sys.executable, "-c", CALLER, stdin=subprocess.PIPE)))
        self.call(1)
        before = instances()
        self.tracerd = stack.enter_context(stopped_at_end(
            start(TRACERD, "--pid", self.process.pid, "--no-clr", "-e", "raw_syscalls:*", "-o", out, *options)))
        mine = lambda: [name for name in instances() - before if name.startswith(f"tracerd-{self.tracerd.pid}-")]
        wait_until(mine, "the instance")
        self.place = TRACEFS / "instances" / mine()[0]
        # A new instance records by itself; tracerd stops it, and lets it go when all is set.
        for file in ("events/raw_syscalls/sys_enter/enable", "events/raw_syscalls/sys_exit/enable", "tracing_on"):
            wait_until(lambda: (self.place / file).read_text()[0] == "1", f"{file} of the instance")

    def call(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def kernel_counts(self):
        """(events the kernel was to record, those it lost) by its own statistics; the sum does not depend on who reads."""
        time.sleep(0.1)  # the caller sleeps in its read() by then
        made = lost = 0
        for path in self.place.glob("per_cpu/cpu*/stats"):
            values = dict(line.split(": ") for line in path.read_text().splitlines())
            dropped = sum(int(values[name]) for name in ("overrun", "commit overrun", "dropped events"))
            made += int(values["entries"]) + int(values["read events"]) + dropped
            lost += dropped
        return made, lost

    def end(self, status):
        self.tracerd.send_signal(signal.SIGINT)
        said = self.tracerd.stderr.read()
        finish(self.tracerd, status)
        return said


def check_kernel(timeline, made, lost):
    ledger, = [source for source in timeline.bye["sources"] if source["source"] == "ftrace"]
    assert int(ledger["produced"]) == made, f"the kernel counts {made}: {ledger}"
    assert int(ledger["lost"]) == lost, f"the kernel lost {lost}: {ledger}"
    assert len(timeline.kind("ev")) == made - lost
    assert sum(int(record["n"]) for record in timeline.kind("lost")) == lost
    timeline.check_sums(lost=None)


def test_loss_of_a_small_kernel_buffer_is_what_the_kernel_counts():
    need_kernel()
    with folder() as place:
        with contextlib.ExitStack() as stack:
            caller = Caller(stack, place / "out.ndjson", "--kernel-buffer", "64K")
            for _ in range(5):
                caller.call(60000)
            made, lost = caller.kernel_counts()
            caller.end(4 if lost else 0)
        check_kernel(Timeline(place / "out.ndjson"), made, lost)
    assert made >= 600000, made
    print(f"made {made}, lost {lost}")


def test_loss_while_tracerd_is_stopped_is_what_the_kernel_counts():
    need_kernel()
    with folder() as place:
        with contextlib.ExitStack() as stack:
            caller = Caller(stack, place / "out.ndjson", "--kernel-buffer", "256K")
            caller.call(1000)
            for _ in range(2):
                caller.tracerd.send_signal(signal.SIGSTOP)
                caller.call(200000)
                caller.tracerd.send_signal(signal.SIGCONT)
                caller.call(1000)
            made, lost = caller.kernel_counts()
            caller.end(4)
        timeline = Timeline(place / "out.ndjson")
        check_kernel(timeline, made, lost)
    assert lost > 100000, f"it lost {lost} of {made} only"
    for record in timeline.kind("lost"):
        assert int(record["from"]) <= int(record["to"]), record
    print(f"made {made}, lost {lost} in {len(timeline.kind('lost'))} places")


def test_loss_is_not_what_the_flight_recorder_discards():
    """What came in is recorded, discarded or lost: together what the kernel counted."""
    need_kernel()
    with folder() as place:
        with contextlib.ExitStack() as stack:
            caller = Caller(stack, place / "out.ndjson", "--flight", "1s,2M", "--after", "200ms")
            for _ in range(4):
                caller.call(60000)
            caller.tracerd.send_signal(signal.SIGUSR1)
            wait_for_line(caller.tracerd, "recorded")
            caller.call(60000)
            made, lost = caller.kernel_counts()
            said = caller.end(4 if lost else 0)
        timeline = Timeline(place / "out.000001.ndjson")
    timeline.check_sums(lost=None)
    recorded, discarded = (int(re.search(pattern, said)[1])
                           for pattern in (r"recordings with (\d+) events", r"(\d+) events left the window"))
    assert recorded == len(timeline.kind("ev")) > 1000, said
    assert recorded + discarded == made - lost, f"{said}: the kernel made {made} and lost {lost}"
    print(f"made {made}, lost {lost}, recorded {recorded}, discarded {discarded}")


THREADS = 2
EVENTS_EACH = 3  # clr:exception_thrown, _from, _caught


def open_stream(stack, place):
    consumer = stack.enter_context(connect(place))
    consumer.settimeout(60)
    return stack.enter_context(consumer.makefile(encoding="utf-8", newline="\n"))


def thrown_in(lines, pid, enough):
    seen = 0
    for line in lines:
        record = parse(line)
        seen += record.get("name") == "clr:exception_thrown" and record["pid"] == pid
        if seen >= enough:
            break
    return seen


def test_loss_between_a_killed_service_and_the_next_is_told(runtime):
    """The application goes on and counts in shared memory; the next service tells the rest of it, or how much is lost."""
    with folder() as place, contextlib.ExitStack() as stack:
        counters = place / "counters"
        with service(place, clr=["exception"]) as first:
            lines = open_stream(stack, place)
            program = stack.enter_context(stopped_at_end(
                start(*managed(runtime, "crasher", counters, THREADS, "wait"),
                      env={**with_profiler(place / "run" / "profiler.sock"), "TRACERD_CLR_BUFFER": SMALLEST_BUFFER})))
            pid = int(program.stdout.readline().split()[1])
            seen = thrown_in(lines, pid, 100)
            assert seen == 100
            first.kill()
            first.wait()
        killed = sum(counted(counters, THREADS))
        wait_until(lambda: sum(counted(counters, THREADS)) > killed + 5000, "exceptions that nobody hears of")
        with service(place, clr=["exception"]) as second:
            lines = open_stream(stack, place)
            assert thrown_in(lines, pid, 100) == 100
            rest = []
            reader = threading.Thread(target=lambda: rest.extend(lines), daemon=True)
            reader.start()  # who does not read loses its own lines, which is not looked at here
            program.kill()
            program.wait()
            wait_for_line(second, "left")
            stop(second)
            reader.join()
        end = sum(counted(counters, THREADS))
    ledger, = [source for source in parse(rest[-1])["sources"] if source["source"] == f"clr {pid}"]
    produced, delivered, lost = (int(ledger[name]) for name in ("produced", "delivered", "lost"))
    assert produced == delivered + lost and lost > 0, ledger
    # What came after the first one's death is told by the second, and nothing that the first one's consumer had.
    assert EVENTS_EACH * (end - killed) <= produced <= EVENTS_EACH * (end - seen + THREADS) + 10, (
        f"{ledger}: it threw {end}, {killed} of them by the death of the first, which told of {seen}")
    print(f"threw {end}, {killed} before the kill: {ledger}")
