"""The flight recorder: what a recording holds is what the program did, and what the test itself wrote into the kernel's
buffer with its own stamps, from the window's begin to the end of the time behind the trigger."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

from house import (TRACEFS, TRACERD, Idle, Timeline, finish, folder, instances, managed, need_kernel, report_of, start,
                   stopped_at_end, tracerd, wait_for_line)
from test_lines import check

ASKED = "Tracerd.Managed.AskedFor"
SECOND = 1_000_000_000


class Marks(threading.Thread):
    """Writes a mark each 5 ms into the instance of that tracerd, with its number and its own time."""

    def __init__(self, process):
        super().__init__(daemon=True)
        own, = [name for name in instances() if name.startswith(f"tracerd-{process.pid}-")]
        self.path = TRACEFS / "instances" / own / "trace_marker"
        self.told = []  # (number, time before the write, time behind it)
        self.is_over = threading.Event()

    def run(self):
        with open(self.path, "wb", buffering=0) as marker:
            while not self.is_over.wait(0.005):
                begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
                try:
                    marker.write(f"mark {len(self.told)} {begin}".encode())
                except OSError:  # the instance is gone
                    return
                self.told.append((len(self.told), begin, time.clock_gettime_ns(time.CLOCK_MONOTONIC)))

    def end(self):
        self.is_over.set()
        self.join()
        return self.told


@contextlib.contextmanager
def armed(idle, out, *options):
    """tracerd, attached with an armed recorder, and the marks."""
    process = start(TRACERD, "--pid", idle.pid, "-o", out, *options)
    with stopped_at_end(process):
        wait_for_line(process, "attached")
        process.marks = Marks(process)
        process.marks.start()
        yield process


def end(process):
    """Its messages from the start of the recording on, and what the marks' writer knows."""
    told = process.marks.end()
    process.send_signal(signal.SIGINT)
    return finish(process)[1], told


def number_of(record):
    return int(re.search(r"mark (\d+) ", record["args"]["buf"])[1])


def marks_in(timeline):
    return [number_of(record) for record in timeline.events("ftrace:print")]


def trigger_of(timeline):
    trigger, = [record for record in timeline.kind("def") if record["name"] == "trigger"]
    return trigger


def check_marks(timeline, told, before_s, after_s):
    """Each mark of the window and of the time behind it, once and in order; not much of what was before."""
    at = int(trigger_of(timeline)["ts"])
    have = marks_in(timeline)
    assert have == list(range(have[0], have[-1] + 1)), f"not each mark once: {have}"
    wanted = [number for number, begin, finished in told
              if begin > at - before_s * SECOND and finished < at + after_s * SECOND]
    assert wanted and set(wanted) <= set(have), f"missing of the window: {sorted(set(wanted) - set(have))}"
    oldest = told[have[0]][1]
    # The recorder keeps a second more, since it learns of a trigger late.
    assert oldest > at - (before_s + 2) * SECOND, f"{(at - oldest) / SECOND} s before the trigger are there"


def test_flight_records_the_window_and_what_comes_behind(runtime):
    need_kernel()
    with folder() as place:
        idle = Idle(runtime)
        with armed(idle, place / "out.ndjson", "--flight", "2s", "--after", "1s", "--trigger", "clr:gc_start") as process:
            idle.ask("throw")  # so that its method is told long before the window
            time.sleep(3.5)
            for _ in range(3):
                idle.ask("throw")
            idle.ask("gc")
            wait_for_line(process, "recorded")
            said, told = end(process)
        report = idle.end()
        timeline = Timeline(place / "out.000001.ndjson")
    timeline.check_sums()
    timeline.check_order()
    check_marks(timeline, told, 2, 1)
    assert trigger_of(timeline)["args"]["event"] == "clr:gc_start"
    assert timeline.count("clr:gc_start") == report["gc"][0] == 1, report
    thrown = [event["args"]["type"] for event in timeline.events("clr:exception_thrown")]
    assert thrown == [ASKED] * 3 and report["thrown"] == {ASKED: 4}, f"{thrown} of {report}"
    caught = {event["args"]["method"]["name"] for event in timeline.events("clr:exception_caught")}
    assert caught == {"Tracerd.Managed.Idle.Throw"}, caught
    known, = [event for event in timeline.events("clr:method") if event["args"]["name"] == "Tracerd.Managed.Idle.Throw"]
    assert known.get("catch_up") is True, known
    assert "1 recordings" in said, said


def test_flight_every_form_holds_the_same(runtime):
    need_kernel()
    with folder() as place:
        idle = Idle(runtime)
        outputs = [part for form in ("ndjson.zst", "dat", "pftrace", "json") for part in ("-o", place / f"out.{form}")]
        with armed(idle, place / "out.ndjson", *outputs, "--flight", "5s", "--after", "500ms", "--trigger",
                   f'clr:exception_thrown && type == "{ASKED}"') as process:
            idle.ask("gc")
            idle.ask("throw")
            wait_for_line(process, "recorded")
            end(process)
        idle.end()
        names = {path.name for path in place.iterdir()}
        assert names == {f"out.000001.{form}" for form in ("ndjson", "ndjson.zst", "dat", "pftrace", "json")}, names
        timeline = Timeline(place / "out.000001.ndjson")
        check(place / "out.000001.ndjson")
        same = subprocess.run(["zstdcat", place / "out.000001.ndjson.zst"], check=True, capture_output=True).stdout
        assert same == (place / "out.000001.ndjson").read_bytes()
        tracerd("replay", place / "out.000001.dat", "-o", place / "again.ndjson")
        again = Timeline(place / "again.ndjson")
        chrome = json.loads((place / "out.000001.json").read_text(encoding="utf-8"))
        assert (place / "out.000001.pftrace").stat().st_size > 10000
    timeline.check_sums()
    timeline.check_order()

    def content(lines):
        return sorted(json.dumps([line["ts"], line["name"], line.get("tid"), line["args"]]) for line in lines.kind("ev"))

    assert content(timeline) == content(again)
    assert any("exception_thrown" in str(event.get("name")) for event in chrome["traceEvents"])
    assert timeline.spans("clr:gc_pause") and again.spans("clr:gc_pause")


def test_flight_fires_when_a_thread_waits_too_long():
    need_kernel()
    with folder() as place:
        idle = Idle("10")
        with armed(idle, place / "out.ndjson", "--flight", "3s", "--after", "500ms", "--trigger",
                   'sched:offcpu && dur > 200ms && thread == "napper"') as process:
            idle.ask("sleep short 150")
            idle.ask("sleep napper 20")
            idle.ask("sleep napper 300")
            wait_for_line(process, "recorded")
            end(process)
        report = idle.end()
        timeline = Timeline(place / "out.000001.ndjson")
    timeline.check_sums()
    timeline.check_order()
    at = int(trigger_of(timeline)["ts"])
    tid = report["threads"][-1]["tid"]
    span, = [span for span in timeline.spans("sched:offcpu") if span["tid"] == tid and span["dur"] > 200_000_000]
    assert span["thread"] == "napper" and span["args"]["state"] == "S", (span, report)
    assert 300_000_000 <= span["dur"], span
    # The kernel's own events say the same.
    left, = [event for event in timeline.events("sched:sched_switch") if event["ts"] == span["ts"]]
    assert left["args"]["prev_pid"] == tid and left["cpu"] == span["args"]["from_cpu"], left
    back_ns = int(span["ts"]) + span["dur"]
    wakings = [int(event["ts"]) for event in timeline.events("sched:sched_waking")
               if event["args"]["pid"] == tid and int(span["ts"]) < int(event["ts"]) <= back_ns]
    assert span["args"].get("runnable_ns") == (back_ns - wakings[0] if wakings else None), (wakings, span)
    woken = wakings[0] if wakings else int(span["ts"]) + 1_000_000
    back = [event for event in timeline.events("sched:sched_switch")
            if woken < int(event["ts"]) <= at and event["args"]["next_pid"] == tid]
    if span["args"].get("seen"):
        # The kernel left that switch out: the thread's own first event is what ends it, of all kinds sooner than of
        # those that the trigger looks at.
        own = min(int(event["ts"]) for event in timeline.kind("ev")
                  if event["src"] == "ftrace" and event["tid"] == tid and int(event["ts"]) > woken)
        assert not back and own == back_ns <= at, (own, span, back)
    else:
        assert back_ns == at and [(int(event["ts"]), event["cpu"]) for event in back] == [(at, span["args"]["to_cpu"])], back


def test_flight_fires_at_a_long_pause_and_not_at_short_ones():
    need_kernel()
    with folder() as place:
        idle = Idle("10")
        with armed(idle, place / "out.ndjson", "--flight", "5s", "--after", "200ms", "--trigger",
                   "clr:gc_pause && dur > 30ms") as process:
            idle.ask("gc")
            idle.ask("grow 3000000")  # which may pause it for long as well
            for _ in range(3):
                idle.ask("gc")
            wait_for_line(process, "recorded")
            end(process)
        idle.end()
        timeline = Timeline(place / "out.000001.ndjson")
    timeline.check_sums()
    timeline.check_order()
    at = int(trigger_of(timeline)["ts"])
    pauses = timeline.spans("clr:gc_pause")
    first = min((span for span in pauses if span["dur"] > 30_000_000), key=lambda span: int(span["ts"]))
    assert int(first["ts"]) + first["dur"] == at, pauses
    assert any(span["dur"] <= 30_000_000 for span in pauses), pauses


def test_flight_signals_too_soon_are_counted():
    need_kernel()
    with folder() as place:
        idle = Idle("10")
        with armed(idle, place / "out.ndjson", "--flight", "2s", "--after", "200ms", "--flight-every", "1s") as process:
            process.send_signal(signal.SIGUSR1)
            wait_for_line(process, "recording")
            for _ in range(2):  # one that is not taken yet swallows the next
                process.send_signal(signal.SIGUSR1)
                time.sleep(0.1)
            wait_for_line(process, "recorded")
            time.sleep(1.1)
            process.send_signal(signal.SIGUSR1)
            wait_for_line(process, "recorded")
            said, told = end(process)
        idle.end()
        first, second = (Timeline(place / f"out.00000{number}.ndjson") for number in (1, 2))
    for timeline in (first, second):
        timeline.check_sums()
        timeline.check_order()
        assert trigger_of(timeline)["args"]["cause"] == "signal"
    assert trigger_of(first)["args"]["suppressed"] == "0"
    assert trigger_of(second)["args"]["suppressed"] == "2"
    assert "2 recordings" in said and "2 triggers" in said, said
    # The second begins where the first ended: no mark is in both, none between them is missing.
    have = marks_in(first) + marks_in(second)
    assert have == list(range(have[0], have[-1] + 1)), have
    assert set(have) >= {number for number, begin, _ in told
                         if int(trigger_of(first)["ts"]) < begin < int(trigger_of(second)["ts"])}


def test_flight_fires_at_a_command_for_its_process():
    need_kernel()
    with folder() as place:
        idle = Idle("10")
        said = tracerd("trigger", "--pid", idle.pid, expected=3)[1]
        assert "no flight recorder answers" in said, said
        with armed(idle, place / "out.ndjson", "--flight", "2s", "--after", "200ms") as process:
            said = tracerd("trigger", "--pid", idle.pid)[1]
            assert "recording" in said, said
            wait_for_line(process, "recorded")
            said = tracerd("trigger", "--pid", idle.pid)[1]
            assert "too soon" in said, said
            said, _ = end(process)
        idle.end()
        timeline = Timeline(place / "out.000001.ndjson")
        tracerd("trigger", "--pid", idle.pid, expected=3)
    timeline.check_sums()
    assert trigger_of(timeline)["args"]["cause"] == "command"
    assert "1 recordings" in said and "1 triggers" in said, said


def test_flight_trigger_that_nothing_can_fire_is_refused():
    with folder() as place:
        for trigger in ("clr:gc_puase && dur > 50ms", "sched:offcpu", "net:netif_rx"):
            said = tracerd("run", "--no-kernel", "--trigger", trigger, "-o", place / "out.dat", "--", "true", expected=2)[1]
            assert said.count("\n") == 1 and "can fire it" in said and trigger in said, said
        assert not list(place.iterdir())


def test_flight_a_killed_application_is_recorded_to_its_last_event():
    need_kernel()
    with folder() as place:
        idle = Idle("10")
        with armed(idle, place / "out.ndjson", "--flight", "5s", "--after", "30s", "--trigger",
                   "clr:exception_thrown") as process:
            for _ in range(200):
                idle.ask("throw")
            os.kill(idle.process.pid, signal.SIGKILL)
            process.marks.end()
            said = finish(process, None)[1]
        idle.process.wait()
        timeline = Timeline(place / "out.000001.ndjson")
    timeline.check_sums()
    timeline.check_order()
    assert timeline.count("clr:exception_thrown") == 200, timeline.count("clr:exception_thrown")
    assert "1 recordings" in said, said


def test_flight_of_a_command_holds_its_memory_under_load():
    """The storm fills the window many times: the bound holds, what is written is whole, the rest is counted."""
    need_kernel()
    with folder() as place:
        process = start(TRACERD, "run", "--flight", "60s,4M", "--after", "300ms", "--flight-every", "1s", "-e", "sched:*", "-e",
                        "raw_syscalls:*", "-o", place / "out.ndjson", "--trigger", "clr:gc_start && number == 10", "--",
                        *managed("10", "storm", 4, 10000))
        with stopped_at_end(process):
            wait_for_line(process, "recorded")
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
            said = process.stderr.read()  # what follows may have been read together with that line
            report = report_of(finish(process)[0])
        timeline = Timeline(place / "out.000001.ndjson")
    top_kb = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])
    assert top_kb < 64 * 1024, f"a window of 4 MiB took {top_kb} kB"
    timeline.check_sums(lost=None)
    assert trigger_of(timeline)["args"]["event"] == "clr:gc_start"
    tenth, = [event for event in timeline.events("clr:gc_start") if event["args"]["number"] == 10]
    assert tenth["ts"] == trigger_of(timeline)["ts"]
    recorded, discarded = (int(re.search(pattern, said)[1])
                           for pattern in (r"recordings with (\d+) events", r"(\d+) events left the window"))
    assert recorded == int(timeline.bye["delivered"]), said
    thrown = sum(report["thrown"].values())
    assert recorded + discarded >= thrown, f"{said} of {report}"


def test_offcpu_spans_of_a_stream_are_what_its_switches_say():
    need_kernel()
    with folder() as place:
        tracerd("run", "--no-clr", "--offcpu", "100ms", "-o", place / "out.ndjson", "-o", place / "out.dat", "--", "sleep", "0.3")
        tracerd("replay", "--offcpu", "100ms", "--filter", "sched:offcpu", place / "out.dat", "-o", place / "again.ndjson")
        live, again = Timeline(place / "out.ndjson"), Timeline(place / "again.ndjson")
    span, = [span for span in live.spans("sched:offcpu") if "incomplete" not in span]
    switches = live.events("sched:sched_switch")
    left, = [event for event in switches if event["ts"] == span["ts"]]
    back, = [event for event in live.kind("ev") if int(event["ts"]) == int(span["ts"]) + span["dur"]]
    shows = back["tid"] if span["args"].get("seen") else back["args"]["next_pid"]
    assert left["args"]["prev_pid"] == shows == span["tid"], (left, back, span)
    assert span["dur"] >= 299_000_000 and span["args"]["state"] == "S", span
    same, = [found for found in again.spans("sched:offcpu") if found["ts"] == span["ts"]]
    assert (same["dur"], same["args"]) == (span["dur"], span["args"]), (same, span)
    assert not again.kind("ev")
