"""Exceptions from throw to catch: every step in order, with message, thrower and catcher."""

from house import SOURCE, Timeline, folder, managed, report_of, tracerd

ALL_STEPS = SOURCE / "tests" / "data" / "exceptions" / "order.txt"
PREFIX = "Tracerd.Managed.Unwinder."
# What the program cannot see of itself.
UNSEEN = {"from", "found", "search_enter", "search_leave", "filter_leave", "unwind_enter", "unwind_leave", "finally_leave",
          "catch_leave"}
NAMES = {"clr:exception_from": "from", "clr:exception_found": "found", "clr:exception_caught": "catch"}
STEPS = {f"clr:{step}" for step in ("search_enter", "search_leave", "filter_enter", "filter_leave", "unwind_enter",
                                    "unwind_leave", "finally_enter", "finally_leave", "catch_leave")}


def observe(runtime, categories):
    with folder() as place:
        out, _ = tracerd("run", "-q", "-o", place / "out.ndjson", "--no-kernel", "--clr", categories, "--",
                         *managed(runtime, "unwinder"))
        return report_of(out), Timeline(place / "out.ndjson")


def steps_of(timeline, pid):
    """The stream's steps on the program's thread, in the words of order.txt."""
    steps = []
    for event in timeline.kind("ev"):
        name, args = event["name"], event["args"]
        if event["pid"] != pid or event["tid"] != pid:
            continue
        if name == "clr:exception_thrown":
            steps.append(f"throw {args['type']}")
        elif name in NAMES or name in STEPS:
            steps.append(f"{NAMES.get(name, name[len('clr:'):])} {args['method']['name']}")
    return steps


def seen_by_program(steps):
    """Those of them that the program's own code could write down, as it wrote them."""
    return [step.replace("filter_enter", "filter").replace("finally_enter", "finally") for step in steps
            if step.split()[0] not in UNSEEN]


def test_exception_each_step_is_told_in_order(runtime):
    report, timeline = observe(runtime, "exception,unwind")
    steps = steps_of(timeline, report["pid"])
    assert seen_by_program(steps) == report["order"], (seen_by_program(steps), report["order"])
    expected = ALL_STEPS.read_text(encoding="utf-8").splitlines()
    assert steps[:len(expected)] == expected, [pair for pair in zip(steps, expected) if pair[0] != pair[1]]
    timeline.check_sums()


def test_exception_by_default_tells_thrower_and_catcher(runtime):
    report, timeline = observe(runtime, "default")
    steps = steps_of(timeline, report["pid"])
    expected = [step for step in ALL_STEPS.read_text(encoding="utf-8").splitlines()
                if step.split()[0] in ("throw", "from", "catch")]
    assert steps[:len(expected)] == expected, steps
    assert not any(event["name"] in STEPS for event in timeline.kind("ev"))
    throws = sum(step.startswith("throw ") for step in steps)
    assert throws == sum(step.startswith("throw ") for step in report["order"]) == len(timeline.events("clr:exception_from"))


def test_exception_message_is_the_one_it_was_made_with(runtime):
    report, timeline = observe(runtime, "exception")
    thrown = timeline.events("clr:exception_thrown", report["pid"])
    told = [event["args"].get("message") for event in thrown]
    made = [message[:256] if message else None for message in report["messages"]]
    assert told == made, [pair for pair in zip(told, made) if pair[0] != pair[1]]
    assert [event.get("cut") is True for event in thrown] == [len(m or "") > 256 for m in report["messages"]]
    # An exception may answer for its message with code of its own, which nobody ran.
    assert report["asked"] == 0, report
