"""Both halves at once: what the kernel saw of a thread while the runtime saw it wait, or wait for it."""

import collections

from matrix import observe, row

EVENTS = ("-e", "sched:sched_switch", "-e", "raw_syscalls:*", "--max-delay", "30s")


def during(cell, begin, end):
    return [event for event in cell.timeline.kind("ev") if begin <= int(event["ts"]) <= end]


def blocked_interval(cell, call, begin, end):
    """From entering to leaving the one system call of this number between two moments that the program took itself, and
    how long the thread was off the CPU in it."""
    tid = cell.facts["tid"]
    of_it = [event for event in during(cell, begin, end) if event["src"] == "ftrace"]
    enters = [event for event in of_it if event["name"] == "raw_syscalls:sys_enter" and event["tid"] == tid
              and int(event["args"]["id"]) == call]
    exits = [event for event in of_it if event["name"] == "raw_syscalls:sys_exit" and event["tid"] == tid
             and int(event["args"]["id"]) == call]
    assert len(enters) == len(exits) == 1, f"call {call}: {len(enters)} entered, {len(exits)} left"
    entered, left = int(enters[0]["ts"]), int(exits[0]["ts"])
    switches = [event for event in of_it if event["name"] == "sched:sched_switch" and entered < int(event["ts"]) < left]
    out = [int(event["ts"]) for event in switches if event["args"]["prev_pid"] == tid
           and "S" in event["args"]["prev_state"]["names"]]
    # A switch from the idle task this kernel (6.18, in a virtual machine) mostly does not tell, of any task and without any
    # filter: then leaving the call is what shows the thread back on a CPU.
    back = [int(event["ts"]) for event in switches if event["args"]["next_pid"] == tid] or [left]
    assert out and out[0] < back[-1], f"call {call}: never off the CPU in {len(switches)} switches"
    assert {event["pid"] for event in enters + exits} == {cell.pid}
    return entered, left, back[-1] - out[0]


def marks(cell, method):
    """When the method caught the exception before its call, and when it threw the one behind it; of its last run."""
    caught = [event for event in cell.events("exception_caught")
              if event["args"]["method"]["name"] == "Tracerd.Managed.Waiting." + method]
    before = [event for event in caught if event["args"]["type"].endswith(".Before")][-1]
    after = [event for event in caught if event["args"]["type"].endswith(".After")][-1]
    assert before["tid"] == after["tid"] == cell.facts["tid"]
    return int(before["ts"]), int(after["ts"])


def test_conformance_blocked_in_known_syscall():
    """A method sleeps, another reads from an empty pipe: the system call, the switch away and back stand between what
    the runtime told of that method, on that thread, within the times the program took."""
    def check(runtime, mode):
        cell = observe(runtime, mode, "blocked", options=EVENTS, kernel=True)
        figures = []
        for index, method in enumerate(("SleepInCall", "ReadInCall")):
            begin, end = int(cell.facts["from"][index]), int(cell.facts["to"][index])
            entered, left, off = blocked_interval(cell, cell.facts["calls"][index], begin, end)
            before, after = marks(cell, method)
            assert before < begin <= entered < left <= end < after, (before, begin, entered, left, end, after)
            # A sleep is never shorter than asked for.
            assert index or left - entered >= cell.facts["sleep_ns"], (left - entered, cell.facts["sleep_ns"])
            figures.append(f"{method} {(left - entered) / 1e6:.2f} ms of the program's {(end - begin) / 1e6:.2f}, "
                           f"off CPU {off / 1e6:.2f}")
            late = [event for event in during(cell, before, after) if event.get("late")]
            assert not late, f"late between the marks: {late[0]}"
        cell.timeline.check_order()
        return ", ".join(figures)

    row(check)


def on_cpu(cell, begin, end):
    """{tid: ns on a CPU} of everybody that was switched in or out, between two moments."""
    since, sums = {}, collections.Counter()
    for event in cell.timeline.events("sched:sched_switch"):
        ts = int(event["ts"])
        left, came = event["args"]["prev_pid"], event["args"]["next_pid"]
        if left in since:
            sums[left] += max(0, min(ts, end) - max(since.pop(left), begin))
        since[came] = ts
    for tid, ts in since.items():
        sums[tid] += max(0, end - max(ts, begin))
    return sums


def test_conformance_gc_straggler():
    """A thread in a long native call that keeps collections waiting: of the program's threads, the one on a CPU between
    suspend_begin and suspend_end is that one."""
    def check(runtime, mode):
        cell = observe(runtime, mode, "gc-straggler", options=EVENTS, kernel=True)
        own = {event["tid"] for event in cell.timeline.kind("ev") if event.get("pid") == cell.pid}
        begins = [int(event["ts"]) for event in cell.events("suspend_begin") if event["args"]["reason"]["name"] == "gc"]
        ends = [int(event["ts"]) for event in cell.events("suspend_end") if event["args"]["reason"]["name"] == "gc"]
        assert len(begins) == len(ends) >= cell.facts["collections"], (begins, ends)
        begin, end = max(zip(begins, ends), key=lambda pair: pair[1] - pair[0])
        times = on_cpu(cell, begin, end)
        others = {tid: ns for tid, ns in times.items() if tid in own and tid != cell.facts["main"]}
        worst = max(others, key=others.get, default=None)
        assert worst == cell.facts["tid"] and others[worst] > 0, (cell.facts["tid"], others)
        return (f"longest wait {(end - begin) / 1e6:.2f} ms, thread {worst} on a CPU for {others[worst] / 1e6:.2f} of it, "
                f"the others {sum(others.values()) / 1e6 - others[worst] / 1e6:.2f}")

    row(check)
