"""Exceptions: in which order, where, on which thread."""

import collections

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
