"""The recording that `bootstrap.sh demo` falls back on is of the sample, whole, and within its size."""

import collections

from house import SOURCE, Timeline, folder, run, tracerd

CAPTURE = SOURCE / "tests" / "data" / "demo.ndjson"


def test_demo_recording_replays_to_the_story_it_tells():
    assert CAPTURE.stat().st_size < 300_000
    with folder() as place:
        _, err = tracerd("replay", "--summary", "-o", place / "out.ndjson", CAPTURE)
        timeline = Timeline(place / "out.ndjson")
    assert timeline.count("clr:gc_start") == timeline.count("clr:gc_end") == len(timeline.spans("clr:gc_pause")) == 6
    assert collections.Counter(event["args"]["type"] for event in timeline.events("clr:exception_thrown")) == {
        "Tracerd.Managed.PlannedFailure": 4, "System.InvalidOperationException": 3}
    assert timeline.count("sched:sched_switch") > 0
    assert "PlannedFailure" in err and "GC pauses" in err, err
    timeline.check_order()
    timeline.check_sums()


def test_bootstrap_without_a_word_says_which_there_are():
    _, err = run("sh", SOURCE / "bootstrap.sh", expected=1)
    assert "demo" in err and "test" in err and len(err.splitlines()) == 1, err
