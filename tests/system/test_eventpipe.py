"""What only EventPipe tells: locks, thread pool, allocation, event sources; against what the program itself counted."""

import contextlib
import math
import os
import pathlib
import signal

from house import Timeline, attached, detach, finish, folder, managed, report_of, start, stopped_at_end, tracerd, wait_until

WITHOUT = ("3.1",)  # runtimes that have no EventPipe for profilers


def trace(runtime, program, *arguments, clr, options=(), **keywords):
    """Runs the program under tracerd: the timeline and its report."""
    with folder() as place:
        out, _ = tracerd("run", "-q", "-o", place / "out.ndjson", "--no-kernel", "--clr", clr, *options, "--",
                         *managed(runtime, program, *arguments), **keywords)
        timeline = Timeline(place / "out.ndjson")
    timeline.check_sums()
    if "--filter" not in options:  # which may leave out what came late
        timeline.check_order()
    return timeline, report_of(out)


def states_that_there_is_none(timeline, *categories):
    """Said once, at the start, and nothing of it comes."""
    said, = timeline.events("clr:unavailable")
    assert said["args"]["categories"]["names"] == list(categories), said
    for name in ("clr:contention_", "clr:pool_", "clr:allocation_", "clr:event", "Tracerd-Test"):
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
        states_that_there_is_none(trace(runtime, "pool", 2, clr="threadpool", options=SOURCES)[0], "threadpool", "provider")
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


SOURCES = ("--provider", "Tracerd-Test", "--provider", "Tracerd-Test-Self")


def test_sources_payload_of_every_type_comes_out_by_name(runtime):
    timeline, report = trace(runtime, "sources", 0, 1, clr="runtime", options=SOURCES)
    if runtime in WITHOUT:
        states_that_there_is_none(timeline, "provider")
        return
    of = {name: [event["args"] for event in timeline.events(f"Tracerd-Test:{name}", report["pid"])]
          for name in ("Numbers", "Others", "Texts", "Bytes", "Nothing")}
    assert of["Numbers"] == [{
        "yes": True, "letter": "\u00e4", "i8": -128, "u8": 255, "i16": -32768, "u16": 65535, "i32": -2 ** 31,
        "u32": 2 ** 32 - 1, "i64": str(-2 ** 63), "u64": str(2 ** 64 - 1)}]
    assert of["Others"] == [{
        "single": 0.1, "number": math.pi, "guid": "01234567-89ab-cdef-0123-456789abcdef",
        "when": "2020-02-29T12:34:56.0000000Z", "colour": 7, "pointer": str(0x123456789ab)}]
    assert of["Nothing"] == [{}]
    # .NET describes no event that has an array: what it wrote comes as it is, with the array's length first.
    assert of["Bytes"] == [{"payload": "04000000" "0001feff" "2a000000"}]
    described, = timeline.events("Tracerd-Test-Self:Described", report["pid"])
    assert described["args"] == {"Inner.Depth": 2, "Inner.Name": "in\u00f1er", "Yes": True, "Last": 2.5}
    schema, = [event["args"] for event in timeline.events("clr:event_schema", report["pid"])
               if event["args"]["event"] == "Numbers"]
    assert (schema["provider"], schema["event_id"], schema["version"]) == ("Tracerd-Test", 1, 3), schema
    assert schema["level"]["name"] == "informational" and int(schema["keywords"]) & 7 == 1, schema


def test_sources_text_beyond_the_limit_is_cut_and_says_so(runtime):
    if runtime in WITHOUT:
        states_that_there_is_none(trace(runtime, "sources", 9, 1, clr="runtime", options=SOURCES)[0], "provider")
        return
    timeline, report = trace(runtime, "sources", 0, 1, clr="runtime", options=SOURCES)
    texts, = timeline.events("Tracerd-Test:Texts", report["pid"])
    assert texts["cut"] is True and set(texts["args"]) == {"first", "second"}, texts
    assert texts["args"]["first"] == "gr\u00fc\u00dfe \U0001f600"
    assert texts["args"]["second"] == "x" * ((3968 - 2 * len("gr\u00fc\u00dfe ..") - 2) // 2), len(texts["args"]["second"])


def test_sources_burst_of_several_threads_comes_whole(runtime):
    if runtime in WITHOUT:
        states_that_there_is_none(trace(runtime, "sources", 9, 1, clr="runtime", options=SOURCES)[0], "provider")
        return
    # Rings that hold all of it, so that a busy machine loses nothing either.
    timeline, report = trace(runtime, "sources", 10000, 4, clr="runtime", options=SOURCES,
                             env={**os.environ, "TRACERD_CLR_BUFFER": "64M/4M"})
    ticks = timeline.events("Tracerd-Test:Tick", report["pid"])
    lost = sum(record["n"] for record in timeline.kind("lost"))
    assert len(ticks) == report["ticks"] == 10000 and lost == 0, (len(ticks), lost)
    assert sorted(tick["args"]["number"] for tick in ticks) == list(range(10000))
    of_threads = {}
    for tick in ticks:
        of_threads.setdefault(tick["tid"], []).append(tick["args"]["number"])
    assert len(of_threads) == 4 and all(numbers == sorted(numbers) for numbers in of_threads.values())


def test_sources_keywords_and_level_choose_what_comes(runtime):
    if runtime in WITHOUT:
        states_that_there_is_none(trace(runtime, "sources", 9, 1, clr="runtime", options=SOURCES)[0], "provider")
        return
    timeline, report = trace(runtime, "sources", 100, 1, clr="runtime", options=("--provider", "Tracerd-Test:5:3"))
    names = {event["name"] for event in timeline.kind("ev") if event["name"].startswith("Tracerd-Test")}
    assert names == {"Tracerd-Test:Others"}, names  # a warning; the rest is informational or verbose


def test_sources_fields_can_be_filtered(runtime):
    if runtime in WITHOUT:
        states_that_there_is_none(trace(runtime, "sources", 9, 1, clr="runtime", options=SOURCES)[0], "provider")
        return
    timeline, report = trace(runtime, "sources", 1000, 1, clr="runtime",
                             options=(*SOURCES, "--filter", "name == \"Tracerd-Test:Tick\" && number % 10 == 3"))
    ticks = [event["args"]["number"] for event in timeline.events("Tracerd-Test:Tick", report["pid"])]
    assert ticks == list(range(3, 1000, 10)), ticks
    timeline, report = trace(runtime, "sources", 9, 1, clr="runtime", options=(*SOURCES, "--filter", "i8 == -128"))
    names = [event["name"] for event in timeline.kind("ev")]
    assert names == ["Tracerd-Test:Numbers"], names


def tids_by_comm(pid):
    """What the kernel calls the threads of the process."""
    tasks = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # it may be gone
            tasks[(task / "comm").read_text().strip()] = int(task.name)
    return tasks


def detach_with_loss(tracer):
    """A program that ticks without pause makes more than a busy machine reads: 4 says that something was lost."""
    tracer.send_signal(signal.SIGINT)
    finish(tracer, expected=None)
    assert tracer.returncode in (0, 4), tracer.returncode


def count_of(path, text):
    return path.read_bytes().count(text) if path.exists() else 0


def test_attach_tells_contention_of_threads_that_run_already(runtime):
    with folder() as place, stopped_at_end(start(*managed(runtime, "contend", 1000000, 1))) as process:
        out = place / "out.ndjson"
        assert process.stdout.readline() == f"ready {process.pid}\n"
        if runtime not in WITHOUT:  # nor does it tell the kernel how a thread is called
            wait_until(lambda: {"owner", "waiter"} <= set(tids_by_comm(process.pid)), "the two threads")
        tids = tids_by_comm(process.pid)
        with attached(process.pid, out, "--clr", "contention") as tracer:
            wanted = b"clr:unavailable" if runtime in WITHOUT else b"clr:contention_stop"
            wait_until(lambda: count_of(out, wanted) >= (1 if runtime in WITHOUT else 20), wanted)
            detach(tracer)
        assert process.poll() is None, "the program did not outlive the tracer"
        timeline = Timeline(out)
        timeline.check_sums()
        if runtime in WITHOUT:
            states_that_there_is_none(timeline, "contention")
            return
        starts = timeline.events("clr:contention_start", process.pid)
        assert len(starts) >= 20
        assert {(start["tid"], start["args"]["owner"]) for start in starts} == {(tids["waiter"], tids["owner"])}, tids


def test_attach_each_time_the_sources_are_described_anew(runtime):
    """Twice into one process: the second tracer knows nothing of what the first was told."""
    with folder() as place, stopped_at_end(start(*managed(runtime, "sources", 2000000000, 1))) as process:
        assert process.stdout.readline() == f"ready {process.pid}\n"
        for turn in range(2):
            out = place / f"{turn}.ndjson"
            wanted = b"clr:unavailable" if runtime in WITHOUT else b'"name":"Tracerd-Test:Tick"'
            with attached(process.pid, out, "--clr", "runtime", "--provider", "Tracerd-Test:2") as tracer:
                wait_until(lambda: count_of(out, wanted) > 0, f"{wanted} in {out}")
                detach_with_loss(tracer)
            assert process.poll() is None, "the program did not outlive the tracer"
            timeline = Timeline(out)
            timeline.check_sums(lost=None)
            if runtime in WITHOUT:
                states_that_there_is_none(timeline, "provider")
                continue
            schemas = [event["args"] for event in timeline.events("clr:event_schema", process.pid)]
            assert [schema["event"] for schema in schemas].count("Tick") >= 1, schemas
            numbers = [event["args"]["number"] for event in timeline.events("Tracerd-Test:Tick", process.pid)]
            assert numbers and numbers == sorted(set(numbers))
            assert not timeline.events("clr:event", process.pid)
