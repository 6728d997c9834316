"""Collections, suspensions and what the collector is asked to pay."""

from matrix import observe, row


def test_conformance_gc_balance():
    """Row 1: every collection the runtime counts, its generation and reason, begun and ended, in order."""
    def check(runtime, mode):
        cell = observe(runtime, mode, "gc-balance")
        starts, ends = cell.args("gc_start"), cell.args("gc_end")
        counts = cell.collections()
        assert 0 < len(ends) <= len(starts) <= len(ends) + 2, (len(starts), len(ends))
        assert len(starts) == counts[0], (len(starts), counts)
        for generation in (1, 2):
            of_it = sum(generation in start["generations"] for start in starts)
            assert of_it == counts[generation], f"generation {generation}: {of_it}, {counts}"
        numbers = [start["number"] for start in starts]
        assert numbers == list(range(1, len(starts) + 1)), numbers
        assert [end["number"] for end in ends] == numbers[:len(ends)], ends
        assert all(set(start["generations"]) <= {0, 1, 2, 3, 4} for start in starts), starts
        induced = sum(start["reason"]["name"] == "induced" for start in starts)
        assert induced == sum(cell.facts["asked"]), (induced, cell.facts)
        return f"collections {counts}, {induced} induced"

    row(check)
