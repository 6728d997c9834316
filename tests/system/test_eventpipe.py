"""What only EventPipe tells: locks, thread pool, allocation, event sources; against what the program itself counted."""

import math

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


def test_pool_grows_to_the_threads_the_program_counted(runtime):
    timeline, report = trace(runtime, "pool", 12, clr="threadpool")
    if runtime in WITHOUT:
        states_that_there_is_none(timeline, "threadpool")
        return
    assert report["threads"] >= report["items"], report
    starts = timeline.events("clr:pool_worker_start", report["pid"])
    assert len({start["tid"] for start in starts}) == len(starts) == report["threads"], (len(starts), report)
    assert max(start["args"]["active"] for start in starts) == report["threads"]
    grown = [event["args"] for event in timeline.events("clr:pool_adjustment", report["pid"])]
    # Two at once, as the program set the limit; every other one because nothing moved.
    starved = [change["workers"] for change in grown if change["reason"]["name"] == "starvation"]
    assert starved == sorted(starved) and starved[-1] >= report["items"], grown
    limits = timeline.events("clr:pool_limits", report["pid"])
    assert limits[-1]["args"]["min_workers"] == 2, limits


def test_pool_work_items_are_queued_and_taken_where_asked_for(runtime):
    if runtime in WITHOUT:
        return
    timeline, report = trace(runtime, "pool", 12, clr="threadpool",
                             options=("--provider", "System.Diagnostics.Eventing.FrameworkEventSource:2:5"))
    queued = [event["args"]["item"] for event in timeline.events("clr:pool_enqueue", report["pid"])]
    taken = [event["args"]["item"] for event in timeline.events("clr:pool_dequeue", report["pid"])]
    assert len(queued) == len(taken) == report["completed"], (len(queued), len(taken), report)
    assert sorted(queued) == sorted(taken)


PROBABILITY = 1 / 102400  # of a byte to be sampled (AllocationSampling)
DEVIATIONS = 6  # a fair sampler leaves these bounds in 1 of 500 million runs


def expect_samples(events, total, size):
    """As many samples as a coin thrown for each byte gives for `total` bytes in objects of `size`."""
    objects = total / size
    chance = 1 - (1 - PROBABILITY) ** size
    deviation = math.sqrt(objects * chance * (1 - chance))
    assert abs(len(events) - objects * chance) <= DEVIATIONS * deviation, (len(events), objects * chance, deviation)
    assert all(int(event["args"]["offset"]) < size for event in events)


def test_allocation_samples_are_as_many_as_the_bytes_make_likely(runtime):
    timeline, report = trace(runtime, "allocate", 100, clr="allocation")
    if runtime in WITHOUT:
        states_that_there_is_none(timeline, "allocation")
        return
    name = "clr:allocation_sampled" if int(runtime) >= 10 else "clr:allocation_tick"
    events = [event for event in timeline.events(name, report["pid"]) if event["tid"] == report["tid"]]
    marbles = [event for event in events if event["args"]["type"] == "Tracerd.Managed.Marble"]
    arrays = [event for event in events if event["args"]["type"] == "System.Byte[]"]
    large = [event for event in arrays if event["args"]["kind"]["name"] == "large"]
    assert {int(event["args"]["size"]) for event in marbles} == {report["marble_size"]}
    if int(runtime) >= 10:
        expect_samples(marbles, report["marble_bytes"], report["marble_size"])
        # The runtime's own code makes byte arrays too, of other sizes.
        expect_samples([event for event in arrays if event["args"]["size"] == "1024"], report["array_bytes"], 1024)
        expect_samples([event for event in large if event["args"]["size"] == "200024"], report["large_bytes"], 200024)
        return
    # One for each 100 KiB and a little: the last one may be under way on either heap, and a thread is given memory
    # in pieces of 8 KiB before it allocates.
    told = sum(int(event["args"]["amount"]) for event in timeline.events(name, report["pid"]))
    known = report["marble_bytes"] + report["array_bytes"] + report["large_bytes"]
    assert known - 2 * 300_000 <= told <= report["total_bytes"] + 300_000, (known, told, report)
    marbles_told = sum(int(event["args"]["amount"]) for event in marbles)
    assert abs(marbles_told - report["marble_bytes"]) <= 300_000, (marbles_told, report)
