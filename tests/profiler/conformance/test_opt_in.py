"""Categories that have to be asked for: transitions into native code, beside hooked methods, and large allocations."""

import collections
import os

from house import TRACERD, run
from matrix import ATTACH, STARTUP, NotThere, observe, row, unavailable

CALLS = 100
LARGE = 20
OURS = "Tracerd.Managed.Borders"
LARGE_RING = {"TRACERD_CLR_BUFFER": "64M/4M"}


def crossings(cell):
    """How often each method of the program's was crossed, by direction and reason."""
    return collections.Counter((event["name"][4:], event["args"]["method"]["name"][len(OURS) + 1:],
                                event["args"]["reason"]["name"])
                               for event in [*cell.events("to_native"), *cell.events("to_managed")]
                               if event["args"]["method"].get("name", "").startswith(OURS))


def expected_crossings(facts):
    expected = {}
    for method, count in (("getppid", facts["called"]), ("NoArguments.Invoke", facts["called"]), ("qsort", 1), ("dlsym", 1)):
        expected["to_native", method, "call"] = expected["to_managed", method, "return"] = count
    expected["to_managed", "Comparison.Invoke", "call"] = facts["compared"]
    expected["to_native", "Comparison.Invoke", "return"] = facts["compared"]
    return expected


def test_conformance_transition_window():
    """Row 19: native functions by name and by delegate, and callbacks out of native code: each crossing, both ways."""
    def check(runtime, mode):
        if mode == ATTACH:
            _, error = run(TRACERD, "--pid", os.getpid(), "--clr", "transition", expected=2)
            assert error.count("\n") == 1 and "tracerd run" in error, error
            raise NotThere("no runtime lets an attached profiler have them, and tracerd says so")
        cell = observe(runtime, mode, "transitions", CALLS, options=("--clr", "transition"), environment=LARGE_RING)
        told = crossings(cell)
        assert told == expected_crossings(cell.facts), (told, expected_crossings(cell.facts))
        assert {event["tid"] for event in cell.events("to_native") if event["args"]["method"].get("name", "")
                .startswith(OURS)} == {cell.facts["tid"]}
        return f"{sum(told.values())} crossings of {len(told)} kinds"

    row(check)


def test_conformance_transition_vs_elt():
    """Row 20: with both asked for, a native function is crossed and not entered, a callback both crossed and entered."""
    def check(runtime, mode):
        cell = observe(runtime, mode, "transitions", CALLS, environment=LARGE_RING,
                       options=("--clr", "transition,method", "--methods", f"{OURS}.*"))
        assert crossings(cell) == expected_crossings(cell.facts), crossings(cell)
        entered = collections.Counter(args["method"]["name"][len(OURS) + 1:] for args in cell.args("method_enter"))
        left = collections.Counter(args["method"]["name"][len(OURS) + 1:] for args in cell.args("method_leave"))
        assert entered == left == {"Transitions": 1, "PInvoke": 1, "Compare": cell.facts["compared"]}, (entered, left)
        return f"{entered['Compare']} callbacks crossed and entered, {CALLS} calls crossed only"

    row(check, modes=(STARTUP,))


def test_conformance_alloc_large():
    """Row 3: arrays that are too large for the ordinary heap, and pinned ones: each is told, by type, size and heap."""
    def check(runtime, mode):
        cell = observe(runtime, mode, "alloc-large", LARGE, options=("--clr", "allocation"))
        told = [*cell.args("allocation_tick"), *cell.args("allocation_sampled")]
        if runtime == "3.1":
            assert not told and unavailable(cell) == ["allocation"], (told, unavailable(cell))
            raise NotThere("3.1 tells no allocations; the stream says so in clr:unavailable")
        kinds = collections.Counter((args["type"], args["kind"]["name"]) for args in told
                                    if args["type"].endswith(("Brick[]", "Nail[]")))
        # Told every 100 KB, or each byte with a chance of one in 100 KB: of 2 MB none is missed.
        expected = {("Tracerd.Managed.Brick[]", "large"): cell.facts["large"],
                    ("Tracerd.Managed.Nail[]", "pinned"): cell.facts["pinned"]}
        assert kinds == expected, (kinds, expected)
        sizes = [int(args["size"]) for args in told if args["type"].endswith("Brick[]")]
        assert all(cell.facts["bytes"] < size < cell.facts["bytes"] + 64 for size in sizes), sizes
        return f"{LARGE} large and {LARGE} pinned arrays"

    row(check)
