"""Categories: what was not asked for does not come, and what is asked for while the program runs does."""

import contextlib
import struct
import subprocess
import time

import diagnostics
import probe
from house import folder, managed, report_of, start, stopped_at_end
from matrix import (ATTACH, MAIN_CLASS, PROFILER, STARTUP, finish_with_marker, need_mode, observe, read_to, row, say,
                    wait_until_ready, with_our_profiler)

SURE = ("thread", "loader", "jit", "gc", "exception")  # what the program `everything` does on any runtime
ASK_FOR_MORE = {"method", "provider"}  # say nothing without a pattern or a name
ALWAYS = "runtime"
# A method is named before something refers to it, whatever that is.
NAMES = {"method"}


def test_conformance_mask_honoured():
    """Row 4: each category alone: its events, those of the runtime itself, and names; no other."""
    bits = probe.categories()
    of = {"clr:" + name: category for category, name in probe.event_names().values()}
    assert set(SURE) <= set(bits), bits

    def check(runtime, mode):
        wanted = sorted(set(bits) - ASK_FOR_MORE) if mode == STARTUP else SURE
        figures = []
        for category in wanted:
            cell = observe(runtime, mode, "everything", options=("--clr", category))
            told = [event["name"] for event in cell.timeline.kind("ev")]
            strange = {name for name in told if of[name] not in (category, ALWAYS) and name[4:] not in NAMES}
            assert not strange, f"--clr {category}: {strange}"
            count = sum(of[name] == category for name in told)
            assert count > 0 or category not in SURE, f"--clr {category}: nothing came"
            figures.append(f"{category} {count}")
        return ", ".join(figures)

    row(check)


def client_data(path, mask):
    """As proto/attach.h draws it."""
    text = str(path).encode() + b"\0"
    return struct.pack("<IHHIII", 0x41445254, probe.VERSION, 20 + len(text), mask, 0, 0) + text


class Toggled:
    """The program `toggle` with the profiler connected to a probe."""

    def __init__(self, stack, runtime, mode, mask):
        need_mode(runtime, mode)
        self.probe = probe.Probe(stack.enter_context(folder()))
        stack.callback(self.probe.close)
        self.process = stack.enter_context(stopped_at_end(
            start(*managed(runtime, "conformance", "toggle"), stdin=subprocess.PIPE,
                  env=with_our_profiler(mode, self.probe.path))))
        pid = wait_until_ready(self.process)
        if mode == ATTACH:
            assert diagnostics.attach(pid, PROFILER, MAIN_CLASS, client_data(self.probe.path, mask)) == diagnostics.OK
        self.probe.accept(mask)
        self.probe.switch(mask)
        say(self.process, "go")

    def turn(self):
        """One collection, one exception, one thread: the events of what happened just then."""
        begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        say(self.process, "again")
        read_to(self.process, "done")
        return [event for event in self.probe.since(begin) if not event.catch_up]


def test_conformance_mask_toggle():
    """Row 17: categories switched while the program runs: from then on these and no others, again and again."""
    bits = probe.categories()
    script = (("gc",), ("exception",), ("gc", "exception", "thread"), (), ("thread",), ("gc",), ("exception", "gc"))
    count = {"gc": "gc_start", "exception": "exception_thrown", "thread": "thread_name"}

    def check(runtime, mode):
        with contextlib.ExitStack() as stack:
            program = Toggled(stack, runtime, mode, bits["gc"])
            for step in script:
                program.probe.switch(sum(bits[category] for category in step))
                events = program.turn()
                strange = {event.name for event in events if event.category not in (*step, ALWAYS)
                           and event.name not in NAMES}
                assert not strange, f"{step}: {strange}"
                for category, name in count.items():
                    number = sum(event.name == name for event in events)
                    assert number == (category in step), f"{step}: {number} {name}"
            say(program.process, "end")
            output, _ = finish_with_marker(program.process)
        assert report_of(output)["turns"] == len(script)
        return f"{len(script)} times switched, each time as told"

    row(check)
