"""--clock and anchors. The time of day of the machine cannot be stepped by a test; tracerd's own reading of it can."""

import json
import os
import subprocess
import sys
import time

from house import (BUILD, TRACERD, Timeline, finish, folder, need_kernel, run, start, stopped_at_end, tracerd, wait_until)

S = 10**9
NOON = 1_800_000_000 * S  # what the time of day is ahead, at first
UP = 1000 * S
# Tells between which two moments of CLOCK_MONOTONIC it calls getppid, each time it is asked.
ASKED = """
import os, sys, time
for line in sys.stdin:
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    os.getppid()
    print(before, time.clock_gettime_ns(time.CLOCK_MONOTONIC), flush=True)
"""
GETPPID = 110


class Recording:
    """A program whose calls are recorded, with a time of day that the test steps."""

    def __init__(self, place, *options):
        self.shim, self.out = place / "shim", place / "out.ndjson"
        self.step(NOON, UP)
        self.moments = []
        environment = dict(os.environ, LD_PRELOAD=str(BUILD / "bin" / "tests" / "clock_shim.so"), CLOCK_SHIM=str(self.shim))
        # The command reads its clocks as they are.
        self.process = start(TRACERD, "run", "--no-clr", "-q", "-e", "raw_syscalls:sys_enter", "--filter", f"id == {GETPPID}",
                             "-o", self.out, *options, "--", "env", "-u", "LD_PRELOAD", sys.executable, "-u", "-c", ASKED,
                             stdin=subprocess.PIPE, env=environment)

    def step(self, realtime_ns, boot_ns):
        """What they are ahead of CLOCK_MONOTONIC from now on."""
        new = self.shim.with_suffix(".new")
        new.write_text(f"{realtime_ns}\n{boot_ns}\n")
        new.rename(self.shim)

    def call(self):
        self.process.stdin.write("now\n")
        self.process.stdin.flush()
        self.moments.append([int(number) for number in self.process.stdout.readline().split()])

    def wait_for_anchors(self, count):
        wait_until(lambda: sum('"k":"anchor"' in line for line in self.out.read_text().splitlines()) >= count, "an anchor line")

    def end(self):
        self.process.stdin.close()
        self.process.stdin = None
        finish(self.process)
        return Timeline(self.out)


def calls_of(timeline):
    return timeline.events("raw_syscalls:sys_enter")


def error_of(timeline):
    return max(int(record["anchor"]["error_ns"]) for record in timeline.records if "anchor" in record)


def check_lines(path):
    run(BUILD / "bin" / "tests" / "check_lines", path)


def check_calls(recording, timeline, ahead):
    """Each call stands between the readings around it, in a clock that is so far ahead of them."""
    calls, error = calls_of(timeline), error_of(timeline)
    assert len(calls) == len(recording.moments) == len(ahead)
    for (before, after), event, ahead_ns in zip(recording.moments, calls, ahead):
        assert before + ahead_ns - error <= int(event["ts"]) <= after + ahead_ns + error, (ahead_ns, before, event, after)


def test_clock_times_are_those_the_program_read_itself():
    need_kernel()
    for clock, ahead in (("mono", 0), ("realtime", NOON), ("boot", UP)):
        with folder() as place:
            recording = Recording(place, "--clock", clock)
            with stopped_at_end(recording.process):
                for _ in range(3):
                    recording.call()
                timeline = recording.end()
            check_lines(recording.out)
            assert timeline.records[0]["clock"] == clock, timeline.records[0]
            check_calls(recording, timeline, [ahead] * 3)


def test_clock_a_step_is_told_and_times_follow_it():
    need_kernel()
    with folder() as place:
        recording = Recording(place, "--clock", "realtime")
        with stopped_at_end(recording.process):
            recording.call()
            recording.step(NOON - 5 * S, UP)
            recording.wait_for_anchors(1)
            recording.call()
            recording.step(NOON + 3600 * S, UP + 2 * S)
            recording.wait_for_anchors(2)
            recording.call()
            timeline = recording.end()
        check_lines(recording.out)
        calls, anchors = calls_of(timeline), timeline.kind("anchor")
        assert [record["k"] for record in timeline.records if record in calls + anchors] == ["ev", "anchor", "ev", "anchor", "ev"]
        check_calls(recording, timeline, (NOON, NOON - 5 * S, NOON + 3600 * S))
        for anchor in anchors:
            assert anchor["ts"] == anchor["anchor"]["realtime"], anchor

        # Its reading undoes it exactly, and does it again.
        again, mono, boot = (place / name for name in ("again.ndjson", "mono.ndjson", "boot.ndjson"))
        for out, options in ((again, ()), (mono, ("--clock", "mono")), (boot, ("--clock", "boot"))):
            tracerd("replay", *options, "-o", out, recording.out)
            check_lines(out)
        kept = ("ev", "anchor", "lost")
        assert [record for record in Timeline(again).records if record["k"] in kept] == without_seq_gaps(timeline, kept, again)
        assert Timeline(mono).records[0]["clock"] == "mono"
        for (before, after), event in zip(recording.moments, calls_of(Timeline(mono))):
            assert before <= int(event["ts"]) <= after, (before, event, after)
        check_calls(recording, Timeline(boot), (UP, UP, UP + 2 * S))
        # And from the monotonic one to the first.
        back = place / "back.ndjson"
        tracerd("replay", "--clock", "realtime", "-o", back, mono)
        assert [event["ts"] for event in calls_of(Timeline(back))] == [event["ts"] for event in calls]


def without_seq_gaps(timeline, kinds, other):
    """Heartbeats are not repeated, so numbers differ: those of the other are put in."""
    numbers = [record["seq"] for record in Timeline(other).records if record["k"] in kinds]
    records = [record for record in timeline.records if record["k"] in kinds]
    assert len(numbers) == len(records)
    return [dict(record, seq=seq) for record, seq in zip(records, numbers)]


def test_clock_that_nothing_leads_to_is_refused_in_one_sentence():
    with folder() as place:
        path, out = place / "bare.ndjson", place / "out.ndjson"
        lines = [{"v": 1, "k": "hello", "seq": 0, "schema": 1, "program": "tracerd 0", "session": "s", "clock": "mono"},
                 {"v": 1, "k": "bye", "seq": 1, "produced": "0", "delivered": "0", "lost": "0", "filtered": "0", "late": "0",
                  "lines": "1", "sources": []}]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        for clock in ("realtime", "boot"):
            _, said = tracerd("replay", "--clock", clock, "-o", out, path, expected=2)
            assert said.count("\n") == 1 and f"--clock {clock}" in said and "bare.ndjson" in said and "anchor" in said, said
        tracerd("replay", "--clock", "mono", "-o", out, path)
        _, said = tracerd("replay", "--clock", "sundial", "-o", out, path, expected=2)
        assert said.count("\n") == 1 and "sundial" in said, said
