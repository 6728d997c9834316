"""Where managed code meets other code: native callbacks and the finalizer's thread."""

from matrix import observe, row


def of_type(cell, name):
    return [event for event in cell.events("exception_thrown") if event["args"]["type"] == "Tracerd.Managed." + name]


def test_conformance_pinvoke():
    """Managed callbacks of a native function: their exceptions, on the thread that called out."""
    def check(runtime, mode):
        cell = observe(runtime, mode, "pinvoke")
        thrown = of_type(cell, "InCallback")
        assert len(thrown) == cell.facts["compared"] > 0, (len(thrown), cell.facts)
        assert {event["tid"] for event in thrown} == {cell.facts["tid"]}
        caught = [args for args in cell.args("exception_caught") if args["method"]["name"].endswith("Borders.Compare")]
        assert len(caught) == len(thrown), (len(caught), len(thrown))
        return f"{len(thrown)} exceptions inside callbacks of qsort"

    row(check)


def test_conformance_finalizers():
    """Finalizers run on a thread the stream knows, and what happens in them is told as that thread's."""
    count = 20

    def check(runtime, mode):
        cell = observe(runtime, mode, "finalizers", count)
        thrown = of_type(cell, "InFinalizer")
        assert len(thrown) == count, len(thrown)
        assert {event["tid"] for event in thrown} == {cell.facts["tid"]} != {cell.pid}
        known = [event for event in cell.events("thread_assigned") if event["args"]["os_tid"] == cell.facts["tid"]]
        assert known, "the finalizer's thread is not among the threads"
        return f"{count} exceptions on thread {cell.facts['tid']}"

    row(check)
