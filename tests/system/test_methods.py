"""tracerd run --methods: the calls of a program that writes down its own."""

import collections
import os
import pathlib
import re
import signal

from house import TRACERD, Idle, Timeline, folder, managed, need, report_of, run, stopped_at_end, tracerd

TRACED = "Tracerd.Managed.Traced."
SIGNS = {"clr:method_enter": ">", "clr:method_leave": "<", "clr:method_tailcall": "~"}


def trace(runtime, *arguments, options=("--methods", TRACED + "*"), categories="thread", expected=0):
    with folder() as place:
        out, _ = tracerd("run", "--no-kernel", "--clr", categories, *options, "-o", place / "out.ndjson", "--",
                         *managed(runtime, "calls", *arguments), expected=expected)
        return Timeline(place / "out.ndjson"), report_of(out)


def label(name):
    """Box`1<System.Int32>.Put -> Box.Put; the state machine of an async method as that method."""
    assert name.startswith(TRACED), name
    name = re.sub(r"[+.]<(\w+)>d__\d+\.MoveNext$", r".\1", name[len(TRACED):])
    name = re.sub(r" \(.*\)$", "", name)
    while re.search(r"<[^<>]*>|\[[^\[\]]*\]", name):
        name = re.sub(r"<[^<>]*>|\[[^\[\]]*\]", "", name)
    return re.sub(r"`\d+", "", name)


def sign(event):
    if event["args"].get("unwound"):
        return "!"
    return SIGNS[event["name"]]


def told(timeline, pid):
    """What the stream says each thread did, in the program's own words."""
    calls = collections.defaultdict(list)
    for event in timeline.kind("ev"):
        if event["name"] in SIGNS and event["pid"] == pid:
            calls[event["tid"]].append(sign(event) + label(event["args"]["method"]["name"]))
    return calls


def same(written, seen):
    """A tail call may stand for any leave: the compiler makes them where nothing says so."""
    return written == seen or (written[0] == "<" and seen == "~" + written[1:])


def compare(timeline, report):
    calls = told(timeline, report["pid"])
    written = collections.defaultdict(list)
    for thread in report["calls"]:
        written[thread["tid"]] += thread["log"]
    assert calls.keys() == written.keys(), f"threads {sorted(calls)}, {sorted(written)}"
    for tid, log in written.items():
        for at, (own, seen) in enumerate(zip(log, calls[tid])):
            assert same(own, seen), f"{tid}: {own}, but the stream says {seen}; {log[at-6:at+6]}, {calls[tid][at-6:at+6]}"
        assert len(log) == len(calls[tid]), f"{tid}: {len(log)} written, {len(calls[tid])} in the stream"
    assert report["wrong"] == 0, f"{report['wrong']} results spoiled by a hook"
    return calls


def test_methods_every_call_stands_in_the_stream_as_the_program_wrote_it(runtime):
    timeline, report = trace(runtime)
    calls = compare(timeline, report)
    assert len(calls) >= 5, calls.keys()
    timeline.check_order()
    timeline.check_sums()
    methods = {line[1:] for log in calls.values() for line in log}
    assert {"Plain.Many", "Failing.Through", "Tail.Odd", "Box.Keep", "Later.Run"} <= methods, methods
    signs = collections.Counter(line[0] for log in calls.values() for line in log)
    assert signs["!"] > 30 and signs["~"] >= 100, signs


def tree(log):
    """(method, depth) of each call in the order in which they end, and which of them an exception ended."""
    open_calls, ended = [], []
    for line in log:
        if line[0] == ">":
            open_calls.append(line[1:])
        else:
            assert open_calls.pop() == line[1:], f"{line} is not the innermost: the program's own log is wrong"
            ended.append((line[1:], len(open_calls), line[0] == "!"))
    assert not open_calls, open_calls
    return ended


def test_methods_spans_are_the_call_tree_the_program_wrote(runtime):
    timeline, report = trace(runtime)
    spans = collections.defaultdict(list)
    for span in timeline.spans("clr:call"):
        assert "incomplete" not in span, span
        spans[span["tid"]].append((label(span["args"]["method"]["name"]), span["args"]["depth"],
                                   span["args"].get("unwound", False)))
    logs = collections.defaultdict(list)
    for thread in report["calls"]:
        logs[thread["tid"]] += thread["log"]
    assert spans == {tid: tree(log) for tid, log in logs.items()}


def test_methods_each_instantiation_over_a_value_type_is_a_method_of_its_own(runtime):
    timeline, report = trace(runtime, "generic")
    compare(timeline, report)
    ids = {event["args"]["method"]["id"] for event in timeline.events("clr:method_enter")
           if label(event["args"]["method"]["name"]) == "Box.Keep"}
    assert len(ids) == 3, ids  # int, Pair, and one body for all that are references


def need_tsc():
    source = pathlib.Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    need(source.exists() and source.read_text() == "tsc\n", "a kernel that goes by the time stamp counter")


def within_the_program_s_own_times(timeline, report, error_ns):
    enters, leaves = ([int(event["ts"]) for event in timeline.kind("ev") if event["name"] == name
                       and event["args"]["method"]["name"] == TRACED + "Plain.Timed"]
                      for name in ("clr:method_enter", "clr:method_leave"))
    leaves = leaves or [int(event["ts"]) for event in timeline.events("clr:method_tailcall")
                        if event["args"]["method"]["name"] == TRACED + "Plain.Timed"]
    assert len(enters) == len(leaves) == len(report["times"]) == 300
    for enter, leave, (before, after) in zip(enters, leaves, report["times"]):
        assert before - error_ns <= enter <= leave <= after + error_ns, (before, enter, leave, after, error_ns)


def test_methods_are_told_with_the_time_the_program_read_itself(runtime):
    timeline, report = trace(runtime, "times")
    within_the_program_s_own_times(timeline, report, 0)


def test_methods_stamped_with_the_counter_are_as_exact_as_the_stream_says(runtime):
    need_tsc()
    timeline, report = trace(runtime, "times", options=("--methods", TRACED + "*", "--stamp", "tsc"))
    source, = timeline.bye["sources"]
    error_ns = int(source["stamp_error_ns"])
    within_the_program_s_own_times(timeline, report, error_ns)
    assert 0 < error_ns < 1000000, source


def test_methods_stamped_with_the_counter_every_call_stands_in_order(runtime):
    need_tsc()
    timeline, report = trace(runtime, options=("--methods", TRACED + "*", "--stamp", "tsc"))
    compare(timeline, report)
    timeline.check_order()
    timeline.check_sums()


def fibonacci(n):
    inner = fibonacci(n - 1) + fibonacci(n - 2) if n > 1 else []
    return [">Plain.Fibonacci", *inner, "<Plain.Fibonacci"]


def killed(runtime, *options):
    """What it did between its report and its end was in no hands but its own rings."""
    timeline, report = trace(runtime, "failing", "killed", options=("--methods", TRACED + "*", *options), expected=128 + 9)
    main, = (thread["log"] for thread in report["calls"])
    main += fibonacci(8)
    compare(timeline, report)
    timeline.check_order()
    timeline.check_sums()


def test_methods_of_a_killed_process_are_all_there(runtime):
    killed(runtime)


def test_methods_of_a_killed_process_stamped_with_the_counter_are_all_there(runtime):
    need_tsc()
    killed(runtime, "--stamp", "tsc")


def test_methods_compiled_while_the_ring_was_full_are_named_all_the_same(runtime):
    """While tracerd is stopped everything fills up; a method that is first called then has no room for its name."""
    with folder() as place:
        options = ("--no-kernel", "--clr", "gc", "--methods", "System.IO.*,Tracerd.Managed.Idle.Throw",
                   "--max-delay", "30s", "-o", place / "out.ndjson")
        idle = Idle(runtime, prefix=(TRACERD, "run", *options, "--"), env={
            **os.environ, "TRACERD_CLR_BUFFER": "64K/16K",
            # A method compiled once more would be named once more.
            "DOTNET_TieredCompilation": "0", "COMPlus_TieredCompilation": "0"})
        with stopped_at_end(idle.process):
            idle.process.send_signal(signal.SIGSTOP)
            for _ in range(2000):
                idle.ask("nothing")
            idle.ask("throw")
            idle.process.send_signal(signal.SIGCONT)
            # Until there is room again and the method has a name; if it gets none, the alarm ends this.
            while b"Tracerd.Managed.Idle.Throw" not in (place / "out.ndjson").read_bytes():
                for _ in range(100):
                    idle.ask("throw")
            idle.end()
        timeline = Timeline(place / "out.ndjson")
    timeline.check_sums(lost=None)
    assert int(timeline.bye["lost"]) > 0, "nothing was full"
    named = [event["args"]["method"].get("name") for event in timeline.events("clr:method_enter")]
    assert named[-1], f"{named.count(None)} of {len(named)} have no name"
    assert "Tracerd.Managed.Idle.Throw" in named, collections.Counter(named).most_common(5)


def test_transitions_stand_around_native_code_and_hooks_in_managed_code_only(runtime):
    """Fifty calls of abs and one of qsort, which calls back into Compare as often as the program counted."""
    timeline, report = trace(runtime, "native", categories="transition")
    calls = compare(timeline, report)
    compares = sum(log.count(">Outside.Compare") for log in calls.values())
    assert compares > 5 and {line[1:] for log in calls.values() for line in log} == {"Outside.Compare"}, calls
    seen = collections.Counter(
        (event["name"][len("clr:"):], event["args"]["reason"]["name"], event["args"]["method"]["name"].rpartition(".Traced.")[2])
        for event in timeline.kind("ev")
        if event["name"] in ("clr:to_native", "clr:to_managed") and TRACED in event["args"]["method"].get("name", ""))
    expected = {"Outside.abs": 50, "Outside.qsort": 1}
    assert seen == {
        **{("to_native", "call", method): count for method, count in expected.items()},
        **{("to_managed", "return", method): count for method, count in expected.items()},
        ("to_managed", "call", "Outside+Comparison.Invoke"): compares,
        ("to_native", "return", "Outside+Comparison.Invoke"): compares,
    }, seen


def test_methods_excluded_ones_are_not_hooked(runtime):
    timeline, report = trace(runtime, "plain", options=("--methods", f"!{TRACED}Plain.Fib*", "--methods", TRACED + "Plain.*"))
    calls = told(timeline, report["pid"])
    own = [line for thread in report["calls"] for line in thread["log"] if "Fibonacci" not in line]
    seen = [line for log in calls.values() for line in log]
    assert len(seen) == len(own) and all(map(same, own, seen)), (own, seen)


def test_methods_nothing_is_told_unless_asked(runtime):
    timeline, report = trace(runtime, "plain", options=())
    assert not told(timeline, report["pid"])


def test_methods_of_a_running_process_are_refused_in_one_sentence():
    _, err = run(TRACERD, "--pid", 1, "--methods", "A.*", expected=2)
    assert err.count("\n") == 1 and "tracerd run" in err, err


def test_methods_beside_another_main_profiler_are_refused_in_one_sentence():
    environment = {"CORECLR_ENABLE_PROFILING": "1", "CORECLR_PROFILER": "{00000000-0000-0000-0000-000000000001}"}
    _, err = run("env", *[f"{name}={value}" for name, value in environment.items()],
                 TRACERD, "run", "--methods", "A.*", "--", "true", expected=2)
    assert err.count("\n") == 1 and "main profiler slot" in err, err
