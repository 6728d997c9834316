"""What only EventPipe tells: locks, thread pool, allocation, event sources; against what the program itself counted."""

from house import Timeline, folder, managed, report_of, tracerd

WITHOUT = ("3.1",)  # runtimes that have no EventPipe for profilers


def trace(runtime, program, *arguments, clr, options=()):
    """Runs the program under tracerd: the timeline and its report."""
    with folder() as place:
        out, _ = tracerd("run", "-q", "-o", place / "out.ndjson", "--no-kernel", "--clr", clr, *options, "--",
                         *managed(runtime, program, *arguments))
        timeline = Timeline(place / "out.ndjson")
    timeline.check_sums()
    timeline.check_order()
    return timeline, report_of(out)


def states_that_there_is_none(timeline, *categories):
    """Said once, at the start, and nothing of it comes."""
    said, = timeline.events("clr:unavailable")
    assert said["args"]["categories"]["names"] == list(categories), said
    for name in ("clr:contention_", "clr:pool_", "clr:allocation_"):
        assert not [record for record in timeline.kind("ev") if record["name"].startswith(name)]


def test_contention_owner_and_duration_are_those_the_threads_measured(runtime):
    timeline, report = trace(runtime, "contend", 20, 2, clr="contention,thread")
    if runtime in WITHOUT:
        states_that_there_is_none(timeline, "contention")
        return
    starts = [event for event in timeline.events("clr:contention_start", report["pid"])
              if event["tid"] == report["waiter"]]
    stops = [event for event in timeline.events("clr:contention_stop", report["pid"])
             if event["tid"] == report["waiter"]]
    assert len(starts) == len(stops) == len(report["waited_ns"]) == 20
    for start, stop, waited in zip(starts, stops, report["waited_ns"]):
        assert start["thread"] == "waiter", start
        assert start["args"]["owner"] == report["owner"], (start, report)
        assert start["args"]["native"] is False and stop["args"]["native"] is False
        assert int(start["args"]["object"], 16) != 0
        duration = int(stop["args"]["duration"])
        assert int(start["ts"]) < int(stop["ts"])
        # The program's own measure encloses what the runtime measured, which encloses our stamps but for the calls.
        assert duration <= waited, (duration, waited)
        assert int(stop["ts"]) - int(start["ts"]) <= waited, (start, stop, waited)
    spans = [span for span in timeline.spans("clr:contention") if span["tid"] == report["waiter"]]
    assert [int(span["ts"]) for span in spans] == [int(start["ts"]) for start in starts]
    for span in spans:
        assert span["args"]["owner"] == report["owner"] and span["args"]["owner_thread"] == "owner", span
    of_all = [event for event in timeline.events("clr:contention_start", report["pid"]) if not event["args"]["native"]]
    assert len(of_all) >= report["contentions"] >= 20, (len(of_all), report)
    assert len({start["args"]["lock"] for start in starts}) == 1


def test_contention_is_not_told_unless_asked_for(runtime):
    timeline, _ = trace(runtime, "contend", 2, 1, clr="default")
    assert not timeline.events("clr:contention_start") and not timeline.events("clr:unavailable")
