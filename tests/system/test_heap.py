"""The heap after each collection, and what collections cost and are spared."""

from house import Timeline, folder, managed, report_of, tracerd

GENERATIONS = ("gen0", "gen1", "gen2", "large", "pinned")


def observe(runtime, categories, *arguments):
    with folder() as place:
        out, _ = tracerd("run", "-q", "-o", place / "out.ndjson", "--no-kernel", "--clr", categories, "--",
                         *managed(runtime, "heap", *arguments))
        return report_of(out), Timeline(place / "out.ndjson")


def heap_of(event, what):
    return [int(event["args"][f"{generation}_{what}"]) for generation in GENERATIONS]


def test_heap_is_what_the_collector_says_it_is(runtime):
    report, timeline = observe(runtime, "gc")
    heaps = {event["args"]["number"]: event for event in timeline.events("clr:gc_heap", report["pid"])}
    assert len(heaps) == report["gc"][0] == timeline.count("clr:gc_end", report["pid"]), (len(heaps), report)
    for step in report["steps"]:
        heap = heaps[step["collections"]]
        used, reserved = heap_of(heap, "used"), heap_of(heap, "reserved")
        assert all(a <= b for a, b in zip(used, reserved)), heap
        assert used[3] >= step["large"] * report["large"], (heap, step)
        assert not heap["args"]["partial"]
        if runtime != "3.1":
            assert used == step["sizes"], (used, step)
    timeline.check_sums()


def test_heap_stats_are_those_of_the_collector(runtime):
    report, timeline = observe(runtime, "gc,gcheap")
    stats = timeline.events("clr:gc_stats", report["pid"])
    finalized = [event["args"]["count"] for event in timeline.events("clr:finalizers_end", report["pid"])]
    unavailable = [event["args"] for event in timeline.events("clr:unavailable", report["pid"])]
    assert report["finalized"] == 500, report
    if runtime == "3.1":
        assert not stats and not finalized
        assert len(unavailable) == 1 and "gcheap" in str(unavailable[0]["categories"]), unavailable
        return
    assert not unavailable
    heaps = timeline.events("clr:gc_heap", report["pid"])
    assert len(stats) == len(heaps) == report["gc"][0], (len(stats), len(heaps), report["gc"])
    told = {heap["args"]["number"]: (event["args"], int(heap["args"]["pinned_used"]))
            for event, heap in zip(stats, heaps)}
    for step in report["steps"]:
        args, pinned_bytes = told[step["collections"]]
        promoted = sum(int(args[f"promoted{part}"]) for part in ("0", "1", "2", "_large", "_pinned"))
        # What is on the pinned heap survives; the runtime leaves it out here.
        assert promoted + (0 if int(args["promoted_pinned"]) else pinned_bytes) == step["promoted"], (args, step)
        assert args["pinned_objects"] == step["pinned"] and int(args["finalization_count"]) == step["pending"], (args, step)
    steps = {step["what"]: told[step["collections"]][0] for step in report["steps"]}
    assert steps["handles"]["handles"] - steps["sieve"]["handles"] == 300, steps
    assert int(steps["finalizers"]["finalization_count"]) >= 500, steps
    assert max(finalized) >= 500 and sum(finalized) >= report["finalized"], finalized
    timeline.check_sums()


def test_heap_survivors_are_told_where_the_runtime_tells_them(runtime):
    report, timeline = observe(runtime, "gc,gcheap")
    survived = {event["args"]["number"]: event["args"] for event in timeline.events("clr:gc_survived", report["pid"])}
    if runtime != "3.1":
        # Only under a flag that turns background collections off.
        assert not survived
        return
    assert len(survived) == len(report["steps"]), survived
    sieve, = [survived[step["collections"]] for step in report["steps"] if step["what"] == "sieve"]
    # Every other of 40000 arrays of 100 bytes: 20000 runs of one object, 124 bytes with its head, aligned to 128.
    assert 20000 <= sieve["moved_ranges"] <= 21000, sieve
    assert 20000 * 124 <= int(sieve["moved_bytes"]) <= 20000 * 140, sieve


def test_heap_observed_keeps_its_background_collections(runtime):
    """Row 2 of the conformance list: MONITOR_GC, which turns them off, is not taken."""
    report, timeline = observe(runtime, "default,gcheap,unwind", "5")
    assert report["interactive"], report
    assert timeline.count("clr:gc_start", report["pid"]) == report["gc"][0], report
    background = {event["args"]["number"]: event["args"]["background"]
                  for event in timeline.events("clr:gc_end", report["pid"])}
    told = {number: runs for number, runs in background.items() if number > report["steps"][-1]["collections"]}
    beside = {collection["number"]: collection["background"] for collection in report["beside"]}
    assert {number: told[number] for number in beside} == beside, (told, beside)
    assert runtime == "3.1" or any(beside.values()), beside
    assert not any(background[step["collections"]] for step in report["steps"]), background
