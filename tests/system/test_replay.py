"""Replay: trace.dat files against trace-cmd's own report, recordings against themselves, and whatever can be wrong with both."""

import collections
import contextlib
import os
import pathlib
import re
import signal

from house import (SOURCE, TRACEFS, TRACERD, Timeline, finish, folder, need, need_kernel, need_program, parse, run, start,
                   tracerd)

SHARED = pathlib.Path(os.environ.get("TRACERD_SHARED", SOURCE.parent / "shared")) / "data" / "traces"
REPORT_LINE = re.compile(r"\s\[\d+\]\s+(?:\S+\s+)?\d+\.\d+:\s+(\S+):")


# Files


def drain(instance, place):
    """The raw pages of every CPU, as restore takes them."""
    files = []
    for cpu in sorted((instance / "per_cpu").iterdir(), key=lambda path: int(path.name[3:])):
        files.append(place / f"{cpu.name}.raw")
        descriptor = os.open(cpu / "trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
        with open(files[-1], "wb") as out, contextlib.suppress(BlockingIOError):
            while page := os.read(descriptor, 4096):
                out.write(page.ljust(4096, b"\0"))
        os.close(descriptor)
    return files


@contextlib.contextmanager
def made_files(processes=100):
    """The same recording of this kernel as version 7, version 7 with zstd, and version 6."""
    need_kernel()
    need_program("trace-cmd")
    instance = TRACEFS / "instances" / f"tracerd-test-replay-{os.getpid()}"
    with folder() as place:
        instance.mkdir()
        try:
            (instance / "trace_clock").write_text("mono")
            (instance / "buffer_size_kb").write_text("8192")
            # What this test starts, however busy the machine is.
            (instance / "set_event_pid").write_text(str(os.getpid()))
            (instance / "options" / "event-fork").write_text("1")
            for events in ("sched", "irq", "signal", "raw_syscalls"):
                (instance / "events" / events / "enable").write_text("1")
            for _ in range(processes):
                run("true")
            (instance / "tracing_on").write_text("0")
            pages = drain(instance, place)
        finally:
            instance.rmdir()
        header, v7 = place / "header.dat", place / "v7.dat"
        run("trace-cmd", "restore", "-c", "-o", header)
        run("trace-cmd", "restore", "-i", header, "-o", v7, *pages)
        files = [v7]
        for name, options in (("v7-zstd.dat", ("--compression", "zstd")), ("v6.dat", ("--file-version", "6"))):
            run("trace-cmd", "convert", "-i", v7, "-o", place / name, *options)
            files.append(place / name)
        yield files


def reported(path):
    """Events by name as trace-cmd counts them. -R: no plugins, one line an event."""
    out, _ = run("trace-cmd", "report", "-R", "-i", path)
    return collections.Counter(match[1] for line in out.splitlines() if (match := REPORT_LINE.search(line)))


def replayed(path, place, *options, expected=0):
    out = place / "out.ndjson"
    tracerd("replay", *options, "-o", out, path, expected=expected)
    return Timeline(out)


def names(timeline):
    return collections.Counter(event["name"].split(":")[1] for event in timeline.kind("ev"))


def check_against_report(path, place):
    timeline = replayed(path, place)
    assert names(timeline) == reported(path), (path, names(timeline) - reported(path), reported(path) - names(timeline))
    timeline.check_order()
    timeline.check_sums()


def lines_between(path):
    """The lines without hello and bye, `seq` out."""
    text = path.read_text().splitlines(keepends=True)
    return [re.sub(r'"seq":\d+', '"seq":0', line) for line in text if parse(line)["k"] not in ("hello", "bye")]


def event(ts, name="sched:sched_switch", args="{}", **more):
    members = "".join(f',"{key}":{value}' for key, value in more.items())
    source = "clr" if name.startswith("clr:") else "ftrace"
    return f'{{"v":1,"k":"ev","seq":1,"ts":"{ts}","src":"{source}","cpu":0,"pid":7,"tid":7{members},"name":"{name}","args":{args}}}\n'


HELLO = '{"v":1,"k":"hello","seq":0,"clock":"mono","boot_id":"%s","host":"box"}\n'
BYE = '{"v":1,"k":"bye","seq":9}\n'


def recording(path, *lines, boot="b1", bye=BYE):
    path.write_text(HELLO % boot + "".join(lines) + bye)
    return path


# trace.dat


def test_replay_made_file_counts_equal_trace_cmd_report():
    with made_files() as files:
        for path in files:
            check_against_report(path, path.parent)


def test_replay_foreign_file_counts_equal_trace_cmd_report():
    need_program("trace-cmd")
    files = sorted(SHARED.glob("*.dat"))
    if not files:
        print(f"no foreign files in {SHARED}; the made ones are the next test's")
    with folder() as place:
        for path in files:
            check_against_report(path, place)


def cut_short(path):
    """The file without the second half of its events, which come last in all three forms."""
    content = path.read_bytes()
    events = sum(raw.stat().st_size for raw in path.parent.glob("*.raw"))
    cut = path.with_suffix(".cut.dat")
    cut.write_bytes(content[:-(20000 if "zstd" in path.name else events // 2)])
    return cut


def test_replay_truncated_file_gives_what_is_left_and_says_so():
    with made_files() as files:
        for path in files:
            whole = names(replayed(path, path.parent)).total()
            cut = cut_short(path)
            out = path.parent / "cut.ndjson"
            _, said = tracerd("replay", "-o", out, cut, expected=4)
            assert said.count("\n") >= 1 and all(line.startswith("tracerd: ") for line in said.splitlines()), said
            left = names(Timeline(out)).total()
            assert 0 < left < whole, (path, left, whole)


def test_replay_file_that_is_no_trace_is_refused_in_one_sentence():
    with folder() as place:
        for name, content in (("empty", b""), ("text", b"hello\n"), ("short", b"\x17\x08\x44"), ("zeros", bytes(4096))):
            (place / name).write_bytes(content)
            _, said = tracerd("replay", "-o", place / "out", place / name, expected=3)
            assert said.count("\n") == 1 and name in said, said


def test_replay_missing_file_costs_only_itself():
    with folder() as place:
        good = recording(place / "good.ndjson", event(5))
        _, said = tracerd("replay", place / "missing.dat", expected=3)
        assert said.count("\n") == 1 and "missing.dat" in said, said
        out = place / "out.ndjson"
        _, said = tracerd("replay", "-o", out, place / "missing.dat", good, expected=4)
        assert said.count("\n") == 1, said
        assert Timeline(out).count("sched:sched_switch") == 1


# Recordings


def test_replay_recording_comes_back_line_for_line():
    with made_files() as files:
        first, second = files[0].parent / "first.ndjson", files[0].parent / "second.ndjson"
        tracerd("replay", "-o", first, files[0])
        tracerd("replay", "-o", second, first)
        assert lines_between(first) == lines_between(second)
        Timeline(second).check_sums()


def test_replay_args_keep_their_bytes():
    args = ['{"a":"\\u00e4\\ud83d\\ude00","b":1.50e+2,"c":{"args":{"x":"}{\\""}},"d":[1, 2,  3]}', "{}", '{"n":9007199254740991}']
    with folder() as place:
        path = recording(place / "in.ndjson", *(event(10 + i, args=text) for i, text in enumerate(args)))
        replayed(path, place)
        assert lines_between(place / "out.ndjson") == lines_between(path)


def test_replay_every_kind_of_line_keeps_its_place_and_marks():
    lines = [
        event(100, thread='"wo\\"rker"', stream='"inst"', cut="true"),
        '{"v":1,"k":"span","seq":2,"ts":"50","dur":70,"src":"clr","pid":7,"tid":7,"incomplete":true,"name":"clr:gc_pause","args":{"number":3}}\n',
        '{"v":1,"k":"def","seq":3,"ts":"120","src":"clr","pid":7,"name":"method","args":{"id":"0x1","name":"A.B"}}\n',
        '{"v":1,"k":"lost","seq":4,"src":"ftrace","cpu":0,"from":"110","to":"130","n":5}\n',
        '{"v":1,"k":"lost","seq":5,"src":"ftrace","cpu":1,"from":"110","to":"130","n":null}\n',
        event(140),
    ]
    with folder() as place:
        path = recording(place / "in.ndjson", *lines)
        out = place / "out.ndjson"
        _, said = tracerd("replay", "-o", out, path, expected=4)
        timeline = Timeline(out)
        assert lines_between(out) == lines_between(path)
        assert said.count("\n") == 2 and "5 events of 7 were lost" in said and "1 places" in said, said
        assert timeline.bye["lost"] == "5" and timeline.bye["losses_uncounted"] == "1" and timeline.bye["late"] == "0"


def test_replay_damaged_lines_are_a_loss_in_their_place():
    bad = ['{"v":1,"k":"ev","seq"\n', "\0\0\0\n", "[]\n", '{"k":"ev","ts":"3"}\n', "x" * (1 << 20) + "\n"]
    with folder() as place:
        path = recording(place / "in.ndjson", event(1), *bad, event(2))
        out = place / "out.ndjson"
        _, said = tracerd("replay", "-o", out, path, expected=4)
        assert said.count("\n") == 2 and "5 lines" in said and "line 3" in said and "5 events" in said, said
        timeline = Timeline(out)
        assert [record["k"] for record in timeline.records] == ["hello", "ev", "lost", "ev", "bye"]
        assert timeline.kind("lost")[0]["n"] == 5
        assert (timeline.bye["produced"], timeline.bye["delivered"], timeline.bye["lost"]) == ("7", "2", "5")


def test_replay_recording_without_its_end_is_partial():
    with folder() as place:
        path = recording(place / "in.ndjson", event(1), event(2)[:40], bye="")
        out = place / "out.ndjson"
        _, said = tracerd("replay", "-o", out, path, expected=4)
        assert "no end" in said, said
        assert Timeline(out).count("sched:sched_switch") == 1


def test_replay_two_recordings_are_merged_by_time():
    with folder() as place:
        one = recording(place / "one.ndjson", *(event(ts) for ts in (1, 3, 5)))
        two = recording(place / "two.ndjson", *(event(ts, name="irq:irq_handler_entry") for ts in (2, 3, 6)))
        out = place / "out.ndjson"
        tracerd("replay", "-o", out, one, two)
        timeline = Timeline(out)
        assert [record["ts"] for record in timeline.kind("ev")] == ["1", "2", "3", "3", "5", "6"]
        assert [record["name"][:3] for record in timeline.kind("ev")][2:4] == ["sch", "irq"], "equal times in the order of the files"
        hello = timeline.records[0]
        assert hello["boot_id"] == "b1" and hello["host"] == "box" and hello["clock"] == "mono", hello
        assert not any("unaligned" in record for record in timeline.records)


def test_replay_recordings_of_two_boots_are_marked_as_unaligned():
    with folder() as place:
        one = recording(place / "one.ndjson", event(1))
        two = recording(place / "two.ndjson", event(2), boot="b2")
        out = place / "out.ndjson"
        _, said = tracerd("replay", "-o", out, one, two)
        assert "unaligned" in said and said.count("\n") == 1, said
        assert [record.get("unaligned") for record in Timeline(out).kind("ev")] == [None, True]


def test_replay_file_name_of_any_bytes_is_in_the_account():
    with folder() as place:
        path = pathlib.Path(os.fsdecode(os.fsencode(place) + b"/\xff \"n.ndjson"))
        recording(path, event(1))
        timeline = replayed(path, place)
        assert timeline.records[0]["sources"][0]["source"] == timeline.bye["sources"][0]["source"] == '\uf7ff "n.ndjson'


def test_replay_selects_by_glob_and_by_category():
    lines = [event(1), event(2, "irq:irq_handler_entry"), event(3, "clr:gc_start"), event(4, "clr:jit_start"),
             '{"v":1,"k":"span","seq":2,"ts":"4","dur":1,"src":"clr","pid":7,"tid":7,"name":"clr:jit","args":{}}\n']
    cases = [(("-e", "irq:*"), {"irq:irq_handler_entry", "clr:gc_start", "clr:jit_start", "clr:jit"}, 1),
             (("--clr", "gc"), {"sched:sched_switch", "irq:irq_handler_entry", "clr:gc_start"}, 1),
             (("--no-clr",), {"sched:sched_switch", "irq:irq_handler_entry"}, 2),
             (("--no-kernel", "--clr", "jit"), {"clr:jit_start", "clr:jit"}, 3)]
    with folder() as place:
        path = recording(place / "in.ndjson", *lines)
        for options, expected, filtered in cases:
            timeline = replayed(path, place, *options)
            assert {record["name"] for record in timeline.records if "name" in record} == expected, options
            assert int(timeline.bye["filtered"]) == filtered and timeline.bye["delivered"] == "4", (options, timeline.bye)


# Output


def test_replay_output_over_its_input_is_refused():
    with folder() as place:
        path = recording(place / "in.ndjson", event(1))
        before = path.read_bytes()
        _, said = tracerd("replay", "-o", path, path, expected=2)
        assert said.count("\n") == 1 and path.read_bytes() == before, said


def test_replay_full_disk_is_one_sentence():
    with folder() as place:
        path = recording(place / "in.ndjson", event(1))
        _, said = tracerd("replay", "-o", "/dev/full", path, expected=4)
        assert said.count("\n") == 1 and "No space left" in said, said


def test_replay_reader_that_goes_away_ends_it_quietly():
    with folder() as place:
        path = recording(place / "in.ndjson", *(event(ts) for ts in range(20000)))
        process = start(TRACERD, "replay", path)
        process.stdout.close()
        said = process.stderr.read()
        process.stderr.close()
        assert process.wait() == 4 and said == "", said


def test_replay_interrupted_says_so_and_ends_in_order():
    with folder() as place:
        path = recording(place / "in.ndjson", *(event(ts) for ts in range(100000)))
        process = start(TRACERD, "replay", path)
        first = os.read(process.stdout.fileno(), 1)  # it is at work, and stuck in a pipe that nobody reads
        process.send_signal(signal.SIGINT)
        out, said = finish(process, expected=4)
        assert said.count("\n") == 1 and "interrupted" in said, said
        lines = [parse(line) for line in (first.decode() + out).splitlines(keepends=True)]
        assert lines[-1]["k"] == "bye" and len(lines) < 100000


def test_replay_jq_accepts_every_line():
    need_program("jq")
    with made_files() as files:
        out = files[0].parent / "out.ndjson"
        tracerd("replay", "-o", out, files[0])
        run("jq", "-e", "-n", "reduce inputs as $line (0; . + 1)", out)


def test_replay_summary_is_for_people_and_tells_the_counts():
    with folder() as place:
        path = recording(place / "in.ndjson", event(1), event(2), event(3, "clr:exception_thrown", '{"type":"A.B"}'),
                         '{"v":1,"k":"span","seq":2,"ts":"1","dur":2000,"src":"clr","pid":7,"tid":7,"name":"clr:gc_pause","args":{}}\n')
        out, said = tracerd("replay", "--summary", path)
        assert all(parse(line + "\n") for line in out.splitlines())
        for pattern in (r"sched:sched_switch +2\n", r"A\.B +1\n", r"GC pauses +1 +2\.0 us", r"in\.ndjson +3 = +3 \+ +0\n"):
            assert re.search(pattern, said), (pattern, said)


def test_replay_valgrind_finds_nothing():
    need_program("valgrind")
    with made_files(processes=10) as files:
        out = files[0].parent / "out.ndjson"
        cut = cut_short(files[2])
        for inputs, expected in (((files[0],), 0), ((out, files[2]), 0), ((cut,), 4)):
            target = files[0].parent / f"{len(inputs)}-{expected}.ndjson"
            run("valgrind", "-q", "--leak-check=full", "--error-exitcode=99", TRACERD, "replay", "--summary", "-o", target,
                *inputs, expected=expected)
            if expected == 0 and not out.exists():
                target.rename(out)


# Command line


def test_options_wrong_words_end_with_two_and_one_line():
    for words in (["--nope"], ["frobnicate"], ["replay"], ["run"], ["replay", "-e", "sched", "x"], ["run", "--duration", "1", "x"],
                  ["--pid", "x"], ["run", "--clr", "x", "y"], ["-c", "/nonexistent.json"], ["replay", "-o"]):
        out, said = tracerd(*words, expected=2)
        assert out == "" and said.count("\n") == 1 and said.startswith("tracerd: "), (words, out, said)


def test_options_help_and_version_go_to_standard_output():
    for words, start_of_text in (("--help", "Puts"), ("--version", "tracerd ")):
        out, said = tracerd(words)
        assert out.startswith(start_of_text) and said == "", (out, said)
