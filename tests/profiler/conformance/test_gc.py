"""Collections, suspensions and what the collector is asked to pay."""

from matrix import observe, row


def check_collections(cell):
    """Every collection the runtime counts, its generation and reason, begun and ended, in order."""
    starts, ends = cell.args("gc_start"), cell.args("gc_end")
    counts = cell.collections()
    assert 0 < len(ends) <= len(starts) <= len(ends) + 2, (len(starts), len(ends))
    # A background collection is announced as one with the younger one that it begins with, and may begin behind the
    # program's count: each that is told may be one more than counted. Without any the numbers are the same.
    # One that has not ended when the program does may be a background one as well.
    background = sum(end["background"] for end in ends) + len(starts) - len(ends)
    for generation in (0, 1, 2):
        of_it = sum(generation in start["generations"] for start in starts)
        assert 0 <= of_it - counts[generation] <= background, f"generation {generation}: {of_it}, {counts}, {background}"
    numbers = [start["number"] for start in starts]
    assert numbers == list(range(1, len(starts) + 1)), numbers
    assert [end["number"] for end in ends] == numbers[:len(ends)], ends
    assert all(set(start["generations"]) <= {0, 1, 2, 3, 4} for start in starts), starts
    induced = sum(start["reason"]["name"] == "induced" for start in starts)
    assert induced == sum(cell.facts["asked"]), (induced, cell.facts)
    return counts


def check_suspensions(cell):
    """Begun, complete, ended, one after the other; each collection that is not a background one inside of one."""
    stopped = {end["number"] for end in cell.args("gc_end") if not end["background"]}
    order = ["suspend_begin", "suspend_end", "resume_begin", "resume_end"]
    state = 0
    whole = 0
    for event in cell.timeline.kind("ev"):
        name = event["name"].removeprefix("clr:")
        if event["pid"] != cell.pid or name not in (*order, "suspend_aborted", "gc_start"):
            continue
        if name == "gc_start":
            assert state == 2 or event["args"]["number"] not in stopped, f"a collection begins while threads run: {event}"
        elif name == "suspend_aborted":
            assert state == 1, event
            state = 0
        else:
            assert name == order[state], (event, order[state])
            state = (state + 1) % len(order)
            whole += state == 0
    assert state == 0, f"the last suspension stands at {state}"
    return whole


def test_conformance_gc_balance():
    """Row 1: collections against the runtime's own counters; suspensions whole and around them."""
    def check(runtime, mode):
        cell = observe(runtime, mode, "gc-balance")
        counts = check_collections(cell)
        return f"collections {counts}, {check_suspensions(cell)} suspensions"

    row(check)


def configured(server, concurrent):
    """3.1 knows the older prefix only."""
    return {prefix + name: str(value) for prefix in ("COMPlus_", "DOTNET_")
            for name, value in (("gcServer", server), ("gcConcurrent", concurrent))}


def test_conformance_gc_modes():
    """The same with the server's collector, and with background collection off."""
    def check(runtime, mode):
        figures = []
        for server, concurrent in ((0, 0), (1, 0), (1, 1)):
            cell = observe(runtime, mode, "gc-balance", environment=configured(server, concurrent))
            assert cell.facts["server"] == server, cell.facts
            assert cell.facts["latency"] == ("Interactive" if concurrent else "Batch"), cell.facts
            figures.append(f"{'server' if server else 'workstation'}{' concurrent' if concurrent else ''} "
                           f"{check_collections(cell)}")
            check_suspensions(cell)
        return ", ".join(figures)

    row(check)


def test_conformance_gc_heapwalk_off():
    """Row 2, turned round: nobody pays for heap walks. Asked for, they switch background collection off, and the runtime
    then says Batch, as it does in gc-modes where it is configured off."""
    def check(runtime, mode):
        cell = observe(runtime, mode, "gc-balance")
        assert cell.facts["latency"] == "Interactive", cell.facts
        walks = {event["name"] for event in cell.timeline.kind("ev")
                 if any(word in event["name"] for word in ("survived", "moved", "references"))}
        assert not walks, f"told without having been asked for: {walks}"
        return f"latency mode {cell.facts['latency']}"

    row(check)
