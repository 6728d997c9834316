"""Files of other clocks beside tracerd's own recording of the same load. The truth is a third one: texts written to each
buffer's trace_marker, with CLOCK_MONOTONIC read before and after by who wrote them."""

import contextlib
import os
import sys
import time

from house import (BUILD, TRACEFS, TRACERD, Timeline, finish, folder, need_kernel, run, start, stopped_at_end, tracerd)
from test_replay import drain

# Not tai: it goes with the time of day, which somebody may set meanwhile.
CLOCKS = ("local", "global", "perf", "boot", "mono_raw", "x86-tsc", "uptime", "counter")
TRUTHS = 30
# Children that come, sleep and go: no two moments are alike.
LOAD = """
import subprocess, sys, time, random
end = time.monotonic() + 1.0
while time.monotonic() < end:
    subprocess.run(["/bin/true"])
    time.sleep(random.random() / 200)
"""


class Buffer:
    """An instance on a clock of its own."""

    def __init__(self, clock):
        self.clock, self.truths = clock, []
        self.path = TRACEFS / "instances" / f"tracerd-test-align-{os.getpid()}-{clock}"
        self.path.mkdir()
        (self.path / "tracing_on").write_text("0")
        (self.path / "trace_clock").write_text(clock)
        (self.path / "buffer_size_kb").write_text("8192")
        (self.path / "events" / "sched" / "sched_switch" / "enable").write_text("1")
        (self.path / "tracing_on").write_text("1")
        self.marker = os.open(self.path / "trace_marker", os.O_WRONLY)

    def mark(self):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        os.write(self.marker, b"truth %d" % len(self.truths))
        self.truths.append((before, time.clock_gettime_ns(time.CLOCK_MONOTONIC)))

    def stop(self):
        (self.path / "tracing_on").write_text("0")

    def save(self, place):
        raw, path = place / f"{self.clock}.raw", place / f"{self.clock}.dat"
        raw.mkdir()
        run(BUILD / "bin" / "tests" / "wrap_pages", self.clock, path, *drain(self.path, raw))
        return path

    def remove(self):
        os.close(self.marker)
        self.path.rmdir()


@contextlib.contextmanager
def buffers(clocks):
    made = []
    try:
        for clock in clocks:
            made.append(Buffer(clock))
        yield made
    finally:
        for buffer in made:
            buffer.stop()
            buffer.remove()


def record(place, name, made=()):
    """tracerd records the load, and what belongs to it; the buffers see the whole machine."""
    out = place / name
    process = start(TRACERD, "run", "--no-clr", "-q", "-e", "sched:sched_switch", "-o", out, "--", sys.executable, "-c", LOAD)
    with stopped_at_end(process):
        while process.poll() is None:
            for buffer in made:
                if len(buffer.truths) < TRUTHS:
                    buffer.mark()
            time.sleep(0.02)
        finish(process)
    return out


def offered(clocks):
    known = (TRACEFS / "trace_clock").read_text().replace("[", "").replace("]", "").split()
    assert {"local", "global", "boot"} <= set(known), known
    return [clock for clock in clocks if clock in known]


def aligned_source(timeline, name):
    source, = (source for source in timeline.records[0]["sources"] if source["source"] == name)
    return source


def check_truths(timeline, buffer, error_ns):
    """Each text stands between the readings of the clock around its writing, give or take what is stated."""
    seen, worst = 0, 0
    for event in timeline.events("ftrace:print"):
        word, number = event["args"]["buf"].split()
        before, after = buffer.truths[int(number)]
        ts = int(event["ts"])
        worst = max(worst, before - ts, ts - after)
        seen += 1
        assert word == "truth" and before - error_ns <= ts <= after + error_ns, (buffer.clock, before, ts, after, error_ns)
    assert seen == len(buffer.truths) > 5, (buffer.clock, seen)
    return worst


def test_align_clocks_by_switches_within_the_stated_bound():
    need_kernel()
    with folder() as place, buffers(offered(CLOCKS)) as made:
        mine = record(place, "mine.ndjson", made)
        for buffer in made:
            buffer.stop()
        for buffer in made:
            path, out = buffer.save(place), place / f"{buffer.clock}.ndjson"
            _, said = tracerd("replay", "-o", out, mine, path)
            timeline = Timeline(out)
            timeline.check_order()
            source = aligned_source(timeline, path.name)
            if buffer.clock == "counter":
                assert source["unaligned"] is True and "unaligned" in said and "aligned" not in source, (source, said)
                continue
            assert source["aligned"]["by"] == "switches" and "unaligned" not in source, (source, said)
            assert said.count("\n") == 1 and "aligned with that of mine.ndjson" in said, said
            assert not any("unaligned" in event for event in timeline.kind("ev"))
            error_ns = int(source["aligned"]["error_ns"])
            worst = check_truths(timeline, buffer, error_ns)
            print(f"{buffer.clock}: {source['aligned']['pairs']} pairs, stated {error_ns} ns, outside its bracket by {worst} ns")
            ledger, = (ledger for ledger in timeline.bye["sources"] if ledger["source"] == path.name)
            assert int(ledger["stamp_error_ns"]) == error_ns, ledger


def test_align_another_run_of_the_same_load_is_not_aligned():
    need_kernel()
    with folder() as place, buffers(["local"]) as made:
        record(place, "while.ndjson", made)
        made[0].stop()
        later = record(place, "later.ndjson")
        out = place / "out.ndjson"
        _, said = tracerd("replay", "-o", out, later, made[0].save(place))
        timeline = Timeline(out)
        source = aligned_source(timeline, "local.dat")
        assert source["unaligned"] is True and "aligned" not in source, source
        assert "unaligned" in said, said
        assert all(event["unaligned"] is True for event in timeline.events("ftrace:print"))
        assert not any("unaligned" in event for event in timeline.kind("ev") if event.get("pid") and event["name"] != "ftrace:print")


def test_align_by_marks_that_were_written_into_the_buffer():
    """As atrace writes them. Without one switch that both saw."""
    need_kernel()
    with folder() as place, buffers(offered(("local", "global"))) as made:
        for buffer in made:
            (buffer.path / "events" / "sched" / "sched_switch" / "enable").write_text("0")
            for _ in range(2):
                for _ in range(10):
                    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
                    os.write(buffer.marker, b"trace_event_clock_sync: parent_ts=%d.%09d\n" % divmod(now, 10**9))
                buffer.mark()
                time.sleep(0.2)
            buffer.stop()
        mine = record(place, "mine.ndjson")
        for buffer in made:
            path, out = buffer.save(place), place / f"{buffer.clock}.ndjson"
            tracerd("replay", "-o", out, "--filter", 'buf ~ "truth*" || name ~ "sched:*"', mine, path)
            timeline = Timeline(out)
            aligned = aligned_source(timeline, path.name)["aligned"]
            assert aligned["by"] == "marks", aligned
            truths = timeline.events("ftrace:print")
            assert len(truths) == 2
            for event in truths:
                before, after = buffer.truths[int(event["args"]["buf"].split()[1])]
                assert before - int(aligned["error_ns"]) <= int(event["ts"]) <= after + int(aligned["error_ns"]), (event, aligned)
            print(f"{buffer.clock}: stated {aligned['error_ns']} ns")
