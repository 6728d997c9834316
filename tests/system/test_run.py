"""tracerd run: the whole timeline of a program that knows its own story."""

import collections
import json
import os
import subprocess

from house import Timeline, folder, managed, need, need_kernel, need_program, report_of, run, start, tracerd
from house import BUILD, TRACERD


PATIENT = ("--max-delay", "30s")  # where order is the question, a busy machine must not be the answer
SMALLEST_BUFFER = "64K/16K"
ROOMY = {**os.environ, "TRACERD_CLR_BUFFER": "64M/4M"}  # nor must it where every event is counted


def trace(command, *options, expected=0, **keywords):
    """Runs it under tracerd: the timeline and what the program wrote."""
    with folder() as place:
        out, err = tracerd("run", "-o", place / "out.ndjson", *options, "--", *command, expected=expected, **keywords)
        return Timeline(place / "out.ndjson"), out, err


def story_of(timeline, report):
    """What the program says of itself against what stands in the stream."""
    pid = report["pid"]
    starts = timeline.events("clr:gc_start", pid)
    assert len(starts) == report["gc"][0], f"{len(starts)} collections, {report['gc']}"
    for generation in (1, 2):
        of_it = [start for start in starts if generation in start["args"]["generations"]]
        assert len(of_it) == report["gc"][generation], f"generation {generation}: {len(of_it)}, {report['gc']}"
    assert [start["args"]["number"] for start in starts] == list(range(1, len(starts) + 1))
    assert timeline.count("clr:gc_end", pid) == len(starts)
    for name in ("clr:exception_thrown", "clr:exception_caught"):
        types = collections.Counter(event["args"]["type"] for event in timeline.events(name, pid))
        assert types == report["thrown"], f"{name}: {types}, {report['thrown']}"


def threads_of(timeline, report):
    names = {(event["args"]["name"], event["tid"]) for event in timeline.events("clr:thread_name", report["pid"])}
    for thread in report["threads"]:
        assert (thread["name"], thread["tid"]) in names, f"{thread} is not among {names}"


def test_run_story_counts_match(runtime):
    timeline, out, _ = trace(managed(runtime, "story"), "--no-kernel")
    report = report_of(out)
    assert report["runtime"].startswith(runtime), report
    story_of(timeline, report)
    threads_of(timeline, report)
    timeline.check_order()
    timeline.check_sums()
    info, = timeline.events("clr:runtime_info", report["pid"])
    assert info["args"]["mode"]["name"] == "startup", info
    assert len(timeline.events("clr:shutdown", report["pid"])) == 1


def test_run_story_methods_are_named_and_their_compilation_balances(runtime):
    timeline, out, _ = trace(managed(runtime, "story"), "--no-kernel")
    report = report_of(out)
    starts = timeline.events("clr:jit_start", report["pid"])
    ends = timeline.events("clr:jit_end", report["pid"])
    assert len(starts) == len(ends) > 0
    compiled = [collections.Counter(json.dumps(event["args"]["method"]) for event in events) for events in (starts, ends)]
    assert compiled[0] == compiled[1]
    text = json.dumps(timeline.records)
    for method in [*report["methods"], "story_dynamic"]:
        assert method in text, f"{method} is nowhere in the timeline"


def test_run_with_kernel_counts_match(runtime):
    need_kernel()
    timeline, out, _ = trace(managed(runtime, "story"))
    report = report_of(out)
    story_of(timeline, report)
    threads_of(timeline, report)
    timeline.check_order()
    timeline.check_sums()
    assert timeline.count("sched:sched_switch") > 0


def test_run_kernel_events_of_managed_threads_carry_their_name(runtime):
    need_kernel()
    timeline, out, _ = trace(managed(runtime, "story"), "-e", "sched:*")
    report = report_of(out)
    for thread in report["threads"]:
        named = next(index for index, record in enumerate(timeline.records)
                     if record.get("name") == "clr:thread_name" and record["tid"] == thread["tid"])
        gone = next((index for index, record in enumerate(timeline.records)
                     if record.get("name") == "clr:thread_destroyed" and record["tid"] == thread["tid"]), None)
        after = [record for record in timeline.records[named + 1:gone]
                 if record["k"] == "ev" and record["src"] == "ftrace" and record["tid"] == thread["tid"]]
        assert after, f"no kernel event of {thread} after its name"
        wrong = [record for record in after
                 if (record.get("thread"), record["pid"]) != (thread["name"], report["pid"])]
        assert not wrong, f"{thread}: {len(wrong)} of {len(after)}: {wrong[:3]}"


def test_run_our_own_thread_is_not_what_is_told(runtime):
    """Once it is known to the kernel: it starts before the daemon knows of it."""
    need_kernel()
    timeline, out, _ = trace(managed(runtime, "story"))
    ours = {event["args"]["next_pid"] for event in timeline.events("sched:sched_switch")
            if event["args"]["next_comm"] == "tracerd-sender"}
    wakings = [event for event in timeline.events("sched:sched_waking") if event["args"]["comm"] == "tracerd-sender"]
    idle = [event for event in timeline.events("sched:sched_switch")
            if {event["args"]["prev_pid"], event["args"]["next_pid"]} in [{0, tid} for tid in ours]]
    marks = 20  # while `story` runs there are some dozens of them
    assert len(wakings) < marks and len(idle) < marks, (len(wakings), len(idle))
    assert any(event["args"]["next_comm"] != "tracerd-sender" for event in timeline.events("sched:sched_switch"))


def test_run_all_tells_of_the_whole_machine():
    """A process of ours that has nothing to do with the traced one writes, without end."""
    need_kernel()
    bystander = start("dd", "if=/dev/zero", "of=/dev/null", "bs=1")
    try:
        for options, expected in (((), False), (("--all",), True)):
            timeline, _, _ = trace(managed("10", "hello"), "-e", "raw_syscalls:sys_enter", *options)
            seen = any(event["tid"] == bystander.pid for event in timeline.events("raw_syscalls:sys_enter"))
            assert seen == expected, options
    finally:
        bystander.kill()
        bystander.wait()


def test_run_suspension_collection_and_switches_stand_in_time_order(runtime):
    """suspend_begin ≤ suspend_end ≤ gc_start ≤ gc_end ≤ resume_begin ≤ resume_end, with switches of the
    suspended threads among them; each collection's pause is a span of its own."""
    need_kernel()
    timeline, out, _ = trace(managed(runtime, "storm", 4, 100), "-e", "sched:sched_switch", *PATIENT)
    order = ("clr:suspend_begin", "clr:suspend_end", "clr:gc_start", "clr:gc_end", "clr:resume_begin", "clr:resume_end")
    report = report_of(out)
    pid, tids = report["pid"], {thread["tid"] for thread in report["threads"]}
    state, complete, switches = 0, 0, 0
    for record in timeline.kind("ev"):
        if record["name"] == "sched:sched_switch":
            switches += state > 0 and record["tid"] in tids
        elif record["pid"] == pid and record["name"] in order:
            if record["name"] == "clr:suspend_begin" and record["args"]["reason"]["name"] != "gc":
                continue
            if record["name"] != order[state]:
                # Suspensions for other reasons have no collection inside.
                assert record["args"].get("reason", {}).get("name") != "gc", (record, order[state])
                continue
            state = (state + 1) % len(order)
            complete += state == 0
    assert complete == report["gc"][0], f"{complete} whole collections, {report['gc']}"
    assert switches > 0, "no thread of the program is switched during any suspension"
    assert len(timeline.spans("clr:gc_pause")) == report["gc"][0]
    timeline.check_order(late=0)


def test_run_alternating_markers_and_exceptions_stay_alternating(runtime):
    need_kernel()
    turns = 400
    # The instance is named after tracerd, which is the application's parent.
    script = 'exec "$0" "$1" /sys/kernel/tracing/instances/tracerd-$PPID-*/trace_marker "$2"'
    dotnet, app = managed(runtime, "alternate")
    timeline, out, _ = trace(["sh", "-c", script, dotnet, app, str(turns)], "-e", "ftrace:print", "-e", "sched:sched_switch",
                             *PATIENT, env=ROOMY)
    report = report_of(out)
    seen = []
    for record in timeline.kind("ev"):
        if record["name"] == "ftrace:print" and record["args"]["buf"].startswith("turn "):
            assert record["tid"] == report["pid"], record
            seen.append(("marker", int(record["args"]["buf"].split()[1]) % 7))
        elif record["name"] == "clr:exception_thrown" and ".Turn" in record["args"]["type"]:
            seen.append(("exception", int(record["args"]["type"][-1])))
    wanted = [(kind, turn % 7) for turn in range(turns) for kind in ("marker", "exception")]
    assert len(seen) == len(wanted), f"{len(seen)} of {len(wanted)}"
    for at, (got, right) in enumerate(zip(seen, wanted)):
        assert got == right, f"at {at}: {got}, not {right}"
    timeline.check_order(late=0)


def test_run_marker_longer_than_a_record_keeps_every_byte():
    """The kernel cuts a long marker into records: every piece, in order, none glued (C7)."""
    need_kernel()
    text = "".join(f"{number:05d}," for number in range(500))
    script = 'set -- "$1" /sys/kernel/tracing/instances/tracerd-$PPID-*/trace_marker; printf %s "$1" >"$2"'
    timeline, _, _ = trace(["sh", "-c", script, "sh", text], "-e", "ftrace:print", "--no-clr")
    pieces = [event["args"]["buf"] for event in timeline.events("ftrace:print")]
    # A piece ends with the line end that the kernel adds where the text has none.
    assert "".join(piece.rstrip("\n") for piece in pieces) == text, pieces
    timeline.check_sums()


def test_run_storm_kept_and_lost_are_what_was_made(runtime):
    """Nobody reads while the storm blows, and the rings are small: what is dropped is counted exactly (C17)."""
    with folder() as place:
        # tracerd stands still until the command has ended, so the rings must overflow.
        script = "(kill -STOP $PPID; \"$@\"; kill -CONT $PPID)"
        out, _ = tracerd("run", "-q", "-o", place / "out.ndjson", "--no-kernel", "--clr", "exception", "--", "sh", "-c",
                         script, "sh", *managed(runtime, "storm", 4, 2000),
                         env={**os.environ, "TRACERD_CLR_BUFFER": SMALLEST_BUFFER})
        timeline = Timeline(place / "out.ndjson")
    report = report_of(out)
    steps = [timeline.count(f"clr:exception_{step}", report["pid"]) for step in ("thrown", "from", "caught")]
    lost = sum(record["n"] for record in timeline.kind("lost"))
    assert lost > 0, "nothing was lost: the storm is too weak to show anything"
    assert sum(steps) + lost == len(steps) * sum(report["thrown"].values()), (steps, lost, report["thrown"])
    assert timeline.bye["sources"][0]["dropped"] == {"exception": str(lost)}, timeline.bye
    timeline.check_sums(lost=None)


def test_run_output_and_status_are_the_applications(runtime):
    """All 256 byte values on stdout, no line end on stderr: the same bytes as without tracerd, and the status."""
    command = managed(runtime, "hello", 41)
    plain = subprocess.run(command, capture_output=True, check=False)
    with folder() as place:
        traced = subprocess.run([TRACERD, "run", "-q", "-o", place / "out.ndjson", "--", *command],
                                capture_output=True, check=False)
        Timeline(place / "out.ndjson")
    assert plain.returncode == 41
    assert (traced.returncode, traced.stdout, traced.stderr) == (plain.returncode, plain.stdout, plain.stderr)


def test_run_every_line_is_accepted_by_jq():
    need_program("jq")
    with folder() as place:
        tracerd("run", "-q", "-o", place / "out.ndjson", "--", *managed("10", "story"))
        kinds, _ = run("jq", "-r", ".k", place / "out.ndjson")
        with open(place / "out.ndjson", "rb") as lines:
            assert len(kinds.splitlines()) == sum(1 for _ in lines)
        assert kinds.splitlines()[0] == "hello" and kinds.splitlines()[-1] == "bye"


def test_run_stream_on_standard_output_is_whole():
    timeline_text, _ = tracerd("run", "-q", "-o", "-", "--no-kernel", "--", *managed("10", "leaver"), expected=3)
    # The application writes "leaving", without a line end, to the same output.
    lines = timeline_text.replace("leaving", "").splitlines()
    assert json.loads(lines[0])["k"] == "hello" and json.loads(lines[-1])["k"] == "bye"


def self_contained(major):
    program = BUILD / "managed" / f"self-contained-{major}" / "app"
    need(program.exists(), f"the story published self-contained for .NET {major} (ninja managed)")
    timeline, out, _ = trace([program], "--no-kernel")
    report = report_of(out)
    assert report["runtime"].startswith(f"{major}."), report
    story_of(timeline, report)
    threads_of(timeline, report)
    timeline.check_sums()


def test_run_self_contained_story_counts_match_8():
    self_contained(8)


def test_run_self_contained_story_counts_match_9():
    self_contained(9)


def test_run_command_that_is_not_there_ends_with_127():
    with folder() as place:
        _, err = tracerd("run", "-o", place / "out.ndjson", "--", place / "nothing", expected=127)
        assert "nothing" in err and len(err.strip().splitlines()) <= 2, err


def test_run_command_killed_by_a_signal_ends_with_128_and_its_number():
    with folder() as place:
        tracerd("run", "-q", "-o", place / "out.ndjson", "--no-kernel", "--", "sh", "-c", "kill -KILL $$", expected=137)
        Timeline(place / "out.ndjson").check_sums()


def test_run_program_without_dotnet_gives_its_kernel_events():
    need_kernel()
    with folder() as place:
        _, err = tracerd("run", "-o", place / "out.ndjson", "--", "/bin/true")
        assert ".NET" in err, err
        assert Timeline(place / "out.ndjson").count("sched:sched_process_exit") > 0


def test_run_valgrind_finds_nothing():
    """Memory errors and leaks of the daemon; the runtime itself is not valgrind's business."""
    need_kernel()
    need_program("valgrind")
    with folder() as place:
        command = ["valgrind", "--quiet", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect,possible",
                   "--error-exitcode=99", "--trace-children=no", TRACERD, "run", "-q", "-o", place / "out.ndjson"]
        out, _ = run(*command, "--summary", "--", *managed("10", "story"))
        timeline = Timeline(place / "out.ndjson")
        story_of(timeline, report_of(out))
        timeline.check_sums(lost=None)
