"""Events of an EventSource, wherever the profiler sits."""

from matrix import NotThere, observe, row, unavailable

SOURCE = "Tracerd-Conformance"
TICKS = 10000
LARGE_RING = {"TRACERD_CLR_BUFFER": "64M/4M"}  # a row about what arrives, not about what a full ring does


def test_conformance_ep_burst_in_every_slot():
    """Row 22: 10,000 events in a row and one of another kind, in order, with every field of their payload."""
    def check(runtime, mode):
        cell = observe(runtime, mode, "ticks", TICKS, options=("--clr", "runtime", "--provider", SOURCE),
                       environment=LARGE_RING)
        ticks = cell.timeline.events(f"{SOURCE}:Tick", cell.pid)
        if runtime == "3.1":
            assert not ticks, ticks[0]
            assert unavailable(cell) == ["provider"], unavailable(cell)
            raise NotThere("3.1 has none; the stream says so in clr:unavailable")
        assert [tick["args"] for tick in ticks] == [
            {"number": i, "text": f"tick \u00e4 {i % 10}", "half": i / 2} for i in range(TICKS)], len(ticks)
        assert {tick["tid"] for tick in ticks} == {cell.pid}
        last, = cell.timeline.events(f"{SOURCE}:Last", cell.pid)
        assert int(last["args"]["sum"]) == cell.facts["sum"], last
        return f"{len(ticks)} events with three fields each, and the last with the sum {cell.facts['sum']}"

    row(check)
