"""trace.dat as an output: against the lines of the same run, trace-cmd's report, and our own reading of it."""

import collections
import contextlib
import os
import re
import signal

from house import (BUILD, TRACERD, Timeline, folder, managed, need, need_kernel, need_program, parse, run, start, stopped_at_end,
                   tracerd, wait_until)

REPORT_LINE = re.compile(r"\s\[\d+\]\s+(?:\S+\s+)?\d+\.\d+:\s+(\S+):")
# It stands in the file only: whose thread it is.
OF_THE_FILE = "thread_owner"


def reported(path):
    """Events by name as trace-cmd counts them, of both buffers. -R: no plugins, one line an event."""
    out, _ = run("trace-cmd", "report", "-R", "-i", path)
    counts = collections.Counter(match[1] for line in out.splitlines() if (match := REPORT_LINE.search(line)))
    del counts[OF_THE_FILE]
    return counts


def names(timeline):
    """trace-cmd knows an EventSource's event as clr:event: its fields are the reader's to tell."""
    counts = collections.Counter()
    for event in timeline.kind("ev"):
        system, name = event["name"].split(":", 1)
        counts[name if event["src"] == "ftrace" or system == "clr" else "event"] += 1
    return counts


def lines_of(path):
    """What the stream tells, without its numbering and what is about the run itself."""
    lines = path.read_text().splitlines(keepends=True)
    return [re.sub(r'"seq":\d+,', "", line) for line in lines if parse(line)["k"] not in ("hello", "bye", "hb")]


def check_same(first, second):
    assert len(first) == len(second), (len(first), len(second))
    for number, (before, after) in enumerate(zip(first, second)):
        assert before == after, f"line {number}: {before} came back as {after}"


def check_recording(place, command, *options):
    dat, lines, back = place / "a.dat", place / "a.ndjson", place / "b.ndjson"
    # What came late, for lack of a processor, has no place in a file that is ordered by time.
    tracerd("run", "-q", "--max-delay", "10s", *options, "-o", dat, "-o", lines, "--", *command)
    timeline = Timeline(lines)
    tracerd("replay", "-q", "-o", back, dat)
    check_same(lines_of(lines), lines_of(back))
    counts, report = names(timeline), reported(dat)
    assert counts == report, (counts - report, report - counts)
    return timeline


def test_dat_of_kernel_and_runtime_is_read_back_the_same_by_both_readers(runtime):
    need_kernel()
    need_program("trace-cmd")
    with folder() as place:
        timeline = check_recording(place, managed(runtime, "story"))
    assert timeline.count("clr:gc_start") > 0 and timeline.count("sched:sched_switch") > 0


def test_dat_compressed_is_read_back_the_same_by_all_readers():
    need_kernel()
    need_program("trace-cmd")
    judge = BUILD / "bin" / "tests" / "kshark_counts"
    need(judge.exists(), "libkshark-dev and libjson-c-dev, when this was configured")
    with folder() as place:
        timeline = check_recording(place, managed("10", "story"), "--compress", "zstd")
        assert b"zstd" in (place / "a.dat").read_bytes()[:32]
        out, _ = run(judge, place / "a.dat")
        assert sum(int(line.split()[2]) for line in out.splitlines() if OF_THE_FILE not in line) == len(timeline.kind("ev"))
        # The kernel's pages as they are, and what becomes of them.
        plain, packed = place / "plain.dat", place / "packed.dat"
        tracerd("run", "-q", "-o", plain, "--", "sh", "-c", LOOP, expected=None)
        tracerd("convert", "-q", plain, "-o", packed, "--compress", "zstd", expected=None)
        back = [place / "plain.ndjson", place / "packed.ndjson"]
        for dat, lines in zip((plain, packed), back):
            tracerd("replay", "-q", "-o", lines, dat, expected=None)
        check_same(*map(lines_of, back))
        assert names(Timeline(back[1])) == reported(packed)

        # What is left are symbols and formats, and a part of the data.
        data = data_size(plain)
        assert data_size(packed) < data / 2 and packed.stat().st_size < plain.stat().st_size - data / 2


def test_dat_of_event_sources_is_read_back_the_same(runtime):
    need_kernel()
    need_program("trace-cmd")
    with folder() as place:
        check_recording(place, managed(runtime, "sources", 0, 1), "--no-kernel", "--provider", "Tracerd-Test",
                        "--provider", "Tracerd-Test-Self")


def test_dat_of_a_killed_tracerd_opens_in_both_readers():
    need_kernel()
    need_program("trace-cmd")
    with folder() as place:
        dat, back = place / "a.dat", place / "b.ndjson"
        command = [TRACERD, "run", "-o", dat, "--", "sh", "-c", "for i in $(seq 4000); do /bin/true; done"]
        with stopped_at_end(start(*command, start_new_session=True)) as process:
            wait_until(lambda: dat.exists() and reported_if_any(dat) > 1000, "a second's events")
            process.send_signal(signal.SIGKILL)
            process.wait()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        report = reported(dat)
        tracerd("replay", "-q", "-o", back, dat, expected=None)
        assert names(Timeline(back)) == report


def reported_if_any(path):
    out, _ = run("trace-cmd", "report", "-R", "-i", path, expected=None)
    return out.count("\n")


def data_size(path):
    """Bytes of data in all buffers, by trace-cmd."""
    out, _ = run("trace-cmd", "dump", "--summary", "-i", path)
    return sum(map(int, re.findall(r"(\d+) bytes flyrecord data", out)))


PROCESSES = 500
LOOP = f"for i in $(seq {PROCESSES}); do /bin/true; done"


def record_pages(place, command, *options):
    """Nothing but .dat is asked for: pages go to the file as the kernel gave them."""
    dat, back = place / "a.dat", place / "a.ndjson"
    _, said = tracerd("run", *options, "-o", dat, "--", "sh", "-c", command, expected=None)
    tracerd("replay", "-q", "-o", back, dat, expected=None)
    timeline = Timeline(back)
    assert names(timeline) == reported(dat)
    return timeline, said


def test_dat_of_raw_pages_tells_every_process():
    need_kernel()
    need_program("trace-cmd")
    with folder() as place:
        timeline, said = record_pages(place, LOOP, "--kernel-buffer", "32M", "-e", "sched:*")
    timeline.check_sums()
    assert timeline.count("sched:sched_process_exit") >= PROCESSES, said


def test_dat_of_raw_pages_tells_all_that_the_kernel_lost_while_tracerd_was_stopped():
    need_kernel()
    need_program("trace-cmd")
    with folder() as place:
        timeline, said = record_pages(place, f"kill -STOP $PPID; {LOOP}; kill -CONT $PPID", "--kernel-buffer", "128K",
                                      "-e", "sched:*", "-e", "raw_syscalls:*")
    known = re.search(r"ftrace: (\d+) events of (\d+) were lost", said)
    assert known, said
    # A page without room for a count only says that something is missing; the sum at the end is exact all the same.
    assert int(timeline.bye["lost"]) == int(known[1]), (timeline.bye, said)
    assert int(timeline.bye["produced"]) == int(known[2]), (timeline.bye, said)
    assert len(timeline.kind("ev")) == int(known[2]) - int(known[1]), (timeline.bye, said)


def test_dat_opens_in_the_library_of_kernelshark_with_the_same_counts(runtime):
    need_kernel()
    judge = BUILD / "bin" / "tests" / "kshark_counts"
    need(judge.exists(), "libkshark-dev and libjson-c-dev, when this was configured")
    with folder() as place:
        dat, lines = place / "a.dat", place / "a.ndjson"
        tracerd("run", "-q", "-o", dat, "-o", lines, "--", *managed(runtime, "story"))
        out, _ = run(judge, dat)
        counts = collections.Counter()
        for line in out.splitlines():
            stream, name, count = line.split()
            assert (stream == "1") == name.startswith("clr/"), line
            counts[name.split("/")[1]] += int(count)
        del counts[OF_THE_FILE]
        assert counts == names(Timeline(lines))
