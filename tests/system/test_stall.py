"""A process that is stopped holds nobody back beyond --max-delay, and the stream says that it goes on without it."""

import json
import os
import signal
import time

from house import Idle, Timeline, attached, finish, folder, need_kernel, wait_until

DELAY_NS = 250_000_000


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def lines_of(path):
    with open(path, encoding="utf-8") as stream:
        return [json.loads(line) for line in stream if line.endswith("\n")]


def stalls(path, pid):
    return [line for line in lines_of(path) if line["k"] == "stall" and line["source"] == f"clr {pid}"]


def last_kernel_ns(path):
    return max([int(line["ts"]) for line in lines_of(path) if line.get("src") == "ftrace" and "ts" in line], default=0)


def test_stall_of_a_stopped_process_is_told_and_the_kernels_events_go_on(runtime):
    need_kernel()
    idle = Idle(runtime)
    with folder() as place:
        out = place / "out.ndjson"
        with attached(idle.pid, out, "--all", "-e", "sched:sched_switch", kernel=True) as process:
            idle.ask("throw")
            os.kill(idle.pid, signal.SIGSTOP)
            stopped = now()
            try:
                wait_until(lambda: stalls(out, idle.pid), "the stall to be told")
                # The kernel's events of the time in which the process stood still are there while it does.
                wait_until(lambda: last_kernel_ns(out) > stopped + 2 * DELAY_NS, "the kernel's events to go on")
                stall, = stalls(out, idle.pid)
                assert "to" not in stall, stall
                # Its last word came before it stood still; a mark may have been under way.
                assert stopped - 4 * DELAY_NS < int(stall["from"]) <= stopped + DELAY_NS, (stopped, stall)
            finally:
                continued = now()
                os.kill(idle.pid, signal.SIGCONT)
            wait_until(lambda: len(stalls(out, idle.pid)) == 2, "the end of the stall to be told")
            idle.ask("throw")
            process.send_signal(signal.SIGINT)
            finish(process, expected=None)  # on a busy machine it may not be let go in time
        timeline = Timeline(out)
        first, second = [line for line in timeline.kind("stall") if line["source"] == f"clr {idle.pid}"][:2]
        assert second["from"] == first["from"] and int(second["to"]) >= continued, (continued, second)
        assert timeline.count("clr:exception_thrown", idle.pid) == 2
        timeline.check_order()
    idle.end()
