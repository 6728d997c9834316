"""Exceptions: in which order, where, on which thread."""

import collections

from house import SOURCE
from matrix import observe, row


def told_order(cell, tid):
    """What the stream says happened, in the words of the program."""
    steps = []
    for event in cell.timeline.kind("ev"):
        if event["tid"] != tid or not event["name"].startswith("clr:exception_"):
            continue
        args = event["args"]
        if event["name"] == "clr:exception_thrown":
            steps.append(f"throw {args['type']}")
        elif event["name"] == "clr:exception_caught":
            steps.append(f"catch {args['type']} {args['method']['name']}")
    return steps


def test_conformance_exception_order():
    """Row 21: throw and catch as the program's own handlers noted them, to the method; the same on every runtime."""
    def check(runtime, mode):
        cell = observe(runtime, mode, "exception-order")
        order = cell.facts["order"]
        assert told_order(cell, cell.pid) == order, (told_order(cell, cell.pid), order)
        types = collections.Counter(args["type"] for args in cell.args("exception_thrown"))
        assert types == cell.facts["thrown"], (types, cell.facts["thrown"])
        return f"{len(order)} steps in order, {sum(types.values())} thrown"

    row(check)


ALL_STEPS = SOURCE / "tests" / "data" / "exceptions" / "conformance.txt"
STEP_NAMES = ("exception_from", "exception_found", "search_enter", "search_leave", "filter_enter", "filter_leave",
              "unwind_enter", "unwind_leave", "finally_enter", "finally_leave", "catch_leave")


def all_steps(cell, tid):
    """As told_order, with every step of the search and the unwind."""
    steps = []
    for event in cell.timeline.kind("ev"):
        name, args = event["name"][len("clr:"):], event["args"]
        if event["tid"] != tid:
            continue
        if name == "exception_thrown":
            steps.append(f"throw {args['type']}")
        elif name == "exception_caught":
            steps.append(f"catch {args['type']} {args['method']['name']}")
        elif name in STEP_NAMES:
            steps.append(f"{name} {args['method']['name']}")
    return steps


def test_conformance_exception_steps():
    """Row 21, whole: search, filters, catcher found, unwinding, finally blocks, catch, in the one order that all runtimes
    have, however the profiler came in."""
    def check(runtime, mode):
        cell = observe(runtime, mode, "exception-order", options=("--clr", "default,unwind"))
        steps = all_steps(cell, cell.pid)
        expected = ALL_STEPS.read_text(encoding="utf-8").splitlines()
        assert steps == expected, [pair for pair in zip(steps, expected) if pair[0] != pair[1]][:3]
        own = [step for step in steps if step.split()[0] in ("throw", "catch")]
        assert own == cell.facts["order"], (own, cell.facts["order"])
        return f"{len(steps)} steps in order"

    row(check)
