"""CPUs that go and come while they are traced: their events before and after are there, and nobody waits for them."""

import contextlib
import pathlib
import shutil
import signal
import subprocess
import time

from house import TRACERD, Timeline, finish, folder, instances, need, need_kernel, start, stopped_at_end, wait_until

SWITCH = pathlib.Path("/sys/devices/system/cpu/cpu1/online")
ONLINE = pathlib.Path("/sys/devices/system/cpu/online")


def set_online(value):
    def try_it():
        with contextlib.suppress(OSError):  # busy for a moment
            SWITCH.write_text(value)
        return SWITCH.read_text().strip() == value

    wait_until(try_it, f"CPU 1 to be {'on' if value == '1' else 'off'}")


@contextlib.contextmanager
def cpu_1_back_at_end():
    need_kernel()
    need(SWITCH.exists() and SWITCH.read_text().strip() == "1", "a second CPU that can be switched off")
    try:
        SWITCH.write_text("0")
        SWITCH.write_text("1")
    except OSError:
        need(False, "the right to switch a CPU off")
    try:
        yield
    finally:
        set_online("1")


def work_on_cpu_1(program):
    subprocess.run(["taskset", "-c", "1", program, "0.02"], check=True)


@contextlib.contextmanager
def tracing(out):
    process = start(TRACERD, "run", "--all", "--no-clr", "-e", "sched:sched_switch", "-o", out, "--", "sleep", "60")
    with stopped_at_end(process):
        wait_until(lambda: [name for name in instances() if name.startswith(f"tracerd-{process.pid}-")], "its instance")
        wait_until(lambda: out.exists() and out.stat().st_size > 0, "the trace to begin")
        yield process
        process.send_signal(signal.SIGINT)
        finish(process, expected=None)


def switches_from(timeline, name):
    """Of a thread to the idle one: the way back the kernel does not always trace."""
    return [event for event in timeline.events("sched:sched_switch") if event["args"]["prev_comm"] == name]


def test_hotplug_of_a_cpu_that_goes_and_comes_back():
    with cpu_1_back_at_end(), folder() as place:
        before, after = (shutil.copy("/bin/sleep", place / name) for name in ("cpu_before", "cpu_after"))
        with tracing(place / "out.ndjson"):
            work_on_cpu_1(before)
            set_online("0")
            assert "1" not in ONLINE.read_text().replace("-", ",").strip().split(",")
            time.sleep(1.2)  # longer than an absent CPU is left alone
            set_online("1")
            work_on_cpu_1(after)
            time.sleep(0.2)
        timeline = Timeline(place / "out.ndjson")
        for name in ("cpu_before", "cpu_after"):
            found = switches_from(timeline, name)
            assert found and {event["cpu"] for event in found[-1:]} == {1}, (name, found)
        assert switches_from(timeline, "cpu_before")[0]["ts"] < switches_from(timeline, "cpu_after")[0]["ts"]
        timeline.check_order()
        timeline.check_sums(lost=None)


def test_hotplug_of_a_cpu_that_was_off_when_the_trace_began():
    with cpu_1_back_at_end(), folder() as place:
        program = shutil.copy("/bin/sleep", place / "cpu_later")
        set_online("0")
        with tracing(place / "out.ndjson"):
            time.sleep(0.2)
            set_online("1")
            work_on_cpu_1(program)
            time.sleep(0.2)
        timeline = Timeline(place / "out.ndjson")
        found = switches_from(timeline, "cpu_later")
        assert found and found[-1]["cpu"] == 1, found
        timeline.check_order()
        timeline.check_sums(lost=None)
