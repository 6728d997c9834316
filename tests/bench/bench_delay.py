"""From an event to its line in the consumer's hands: a consumer reads tracerd's pipe and holds each line's own stamp against
its clock. Marks of the kernel (trace_marker) in a quiet machine and under a load of a million events a second, which is
traced, merged and left out by --filter; exceptions of a quiet .NET program. Default --max-delay.

Where it may, it runs with real-time priority, so that what is measured is the way and not what else the machine has to do.
TRACERD_BENCH_SECONDS: of each (5)."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from house import TRACEFS, TRACERD, Idle, instances, need_kernel, need_program, stopped_at_end, wait_until  # noqa: E402

SECONDS = int(os.environ.get("TRACERD_BENCH_SECONDS", "5"))
SYSTEMS = ("sched", "raw_syscalls", "irq", "timer")
LOAD = ("stress-ng", "-q", "--switch", "2", "--pipe", "1")
URGENT = ("chrt", "-f", "1") if os.geteuid() == 0 and shutil.which("chrt") else ()
STAMP = re.compile(r'"ts":"(\d+)"')
# In words that the kernel has not, or it would record nothing else.
MARKS_ONLY = ("--filter", 'name == "ftrace:print" || thread == "nobody"')


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


class Consumer:
    """tracerd, and what came out of it: the delay of every line that has `word` in it."""

    def __init__(self, word, *options):
        self.process = subprocess.Popen([*URGENT, TRACERD, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True)
        self.word, self.delays, self.late = word, [], None
        self.thread = threading.Thread(target=self.consume)
        self.thread.start()
        wait_until(self.find_instance, "its instance of tracefs")
        self.instance = TRACEFS / "instances" / self.find_instance()
        wait_until(lambda: (self.instance / "tracing_on").read_text() == "1\n", "the trace to begin")

    def find_instance(self):
        return next((name for name in instances() if name.startswith(f"tracerd-{self.process.pid}-")), None)

    def consume(self):
        for line in self.process.stdout:
            if self.word in line:
                self.delays.append(now() - int(STAMP.search(line)[1]))
            elif '"k":"bye"' in line:
                self.late = int(re.search(r'"late":"(\d+)"', line)[1])

    def end(self):
        self.process.send_signal(2)
        self.thread.join()
        self.process.wait()


@contextlib.contextmanager
def consumer(word, *options):
    made = Consumer(word, *options)
    with stopped_at_end(made.process):
        yield made


def mark(instance, until):
    """One every few milliseconds, never in step with whoever reads. How many."""
    count = 0
    with open(instance / "trace_marker", "wb", buffering=0) as marker:
        while now() < until:
            marker.write(b"mark")
            count += 1
            time.sleep(0.003 + 0.011 * (count * 0.618 % 1))
    return count


def tell(what, found, expected):
    assert len(found.delays) == expected, (what, len(found.delays), expected)
    delays = sorted(delay / 1e6 for delay in found.delays)
    print(f"  {what:34} {len(delays):6} {delays[len(delays) // 2]:8.1f} {delays[len(delays) * 99 // 100]:8.1f} {delays[-1]:8.1f}"
          f" {found.late:6}")


def of_marks(what, load, *options):
    target = load or ("sleep", str(SECONDS + 60))
    with consumer('"ftrace:print"', "run", "--all", "--no-clr", "-o", "-", "-e", "ftrace:*", *options, "--", *target) as found:
        count = mark(found.instance, now() + SECONDS * 10**9)
        time.sleep(0.3)
        found.end()
    tell(what, found, count)


def of_exceptions():
    idle = Idle("10")
    with consumer('"clr:exception_thrown"', "--pid", str(idle.pid), "-o", "-", "-e", "sched:sched_switch") as found:
        wait_until(lambda: idle.ask("throw") or found.delays, "the first exception")
        count, until = 0, now() + SECONDS * 10**9
        while now() < until:
            idle.ask("throw")
            count += 1
            time.sleep(0.003 + 0.011 * (count * 0.618 % 1))
        time.sleep(0.3)
        found.end()
    idle.end()
    assert len(found.delays) > count, (len(found.delays), count)
    found.delays = found.delays[-count:]
    tell("exceptions, quiet .NET 10", found, count)


def bench_delay():
    need_kernel()
    need_program("stress-ng")
    if URGENT:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    print(f"  {'milliseconds to the consumer':34} {'lines':>6} {'p50':>8} {'p99':>8} {'most':>8} {'late':>6}")
    of_marks("marks, quiet", None)
    of_marks("marks, beside all of sched", None, "-e", "sched:*", *MARKS_ONLY)
    of_marks("marks, under load", LOAD, *[part for system in SYSTEMS for part in ("-e", f"{system}:*")], *MARKS_ONLY)
    of_exceptions()


if __name__ == "__main__":
    sys.argv = [sys.argv[0], __file__, "bench_delay"]
    from house import _main
    sys.exit(_main())
