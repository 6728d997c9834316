"""--filter: against the kernel's own filter on the same events, against a filter in Python on the lines, and its refusals."""

import contextlib
import json
import os
import pathlib
import subprocess

from house import TRACEFS, Timeline, finish, folder, need_kernel, need_program, run, start, tracerd, wait_until
from test_replay import drain, made_files

# For each event: the kernel's filter file, and the same in ours where the line's own names come first.
KERNEL_FILTERS = {
    "sched_switch": ('(prev_state & 1 && next_prio <= 120) || prev_comm ~ "tr*"', None),
    "sched_waking": ('comm == "sh" || target_cpu == 0 && pid > 100', 'comm == "sh" || target_cpu == 0 && args.pid > 100'),
    "sched_process_fork": ("!(child_pid < 0)", None),
    "sched_process_exit": ('comm != "true"', None),
    "sched_stat_runtime": ("runtime >= 0x186a0", None),
}


@contextlib.contextmanager
def traced_twice(pid):
    """Two instances that see the same process and what it forks; the second with the kernel's filters."""
    instances = [TRACEFS / "instances" / f"tracerd-test-filter-{os.getpid()}-{which}" for which in ("all", "some")]
    for instance in instances:
        instance.mkdir()
    try:
        for instance in instances:
            (instance / "trace_clock").write_text("mono")
            (instance / "set_event_pid").write_text(str(pid))
            (instance / "options" / "event-fork").write_text("1")
        for event, (text, _) in KERNEL_FILTERS.items():
            (instances[1] / "events" / "sched" / event / "filter").write_text(text)
            for instance in instances:
                (instance / "events" / "sched" / event / "enable").write_text("1")
        yield instances
    finally:
        for instance in instances:
            instance.rmdir()


def restored(instance, place):
    """What the instance holds, as a file."""
    place.mkdir()
    pages = drain(instance, place)
    header, path = place / "header.dat", place / "trace.dat"
    run("trace-cmd", "restore", "-c", "-o", header)
    run("trace-cmd", "restore", "-i", header, "-o", path, *pages)
    return path


def events(path):
    """Per CPU in order, without the times: each instance stamps for itself."""
    streams = {}
    for event in Timeline(path).kind("ev"):
        streams.setdefault(event["cpu"], []).append((event["tid"], event["name"], json.dumps(event["args"])))
    return streams


def test_filter_keeps_what_the_kernels_filter_keeps():
    need_kernel()
    need_program("trace-cmd")
    ours = " || ".join(f'name == "sched:{event}" && ({mine or kernel})' for event, (kernel, mine) in KERNEL_FILTERS.items())
    with folder() as place:
        shell = start("sh", "-c", "read go; i=0; while [ $i -lt 60 ]; do true & /bin/true; i=$((i+1)); done; wait; "
                      "echo done; read end", stdin=subprocess.PIPE)
        with traced_twice(shell.pid) as (every, some):
            shell.stdin.write("\n")
            shell.stdin.flush()
            assert shell.stdout.readline() == "done\n"
            # The two are switched off one after the other: only a shell that sleeps is the same in both.
            wait_until(lambda: pathlib.Path(f"/proc/{shell.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "S",
                       "the shell to sleep")
            for instance in (every, some):
                (instance / "tracing_on").write_text("0")
            shell.stdin.write("\n")
            shell.stdin.flush()
            finish(shell)
            all_path, some_path = restored(every, place / "all"), restored(some, place / "some")
        tracerd("replay", "-q", "--filter", ours, "-o", place / "ours.ndjson", all_path)
        tracerd("replay", "-q", "-o", place / "kernels.ndjson", some_path)
        tracerd("replay", "-q", "-o", place / "all.ndjson", all_path)
        mine, kernels, every = (events(place / f"{name}.ndjson") for name in ("ours", "kernels", "all"))
        assert mine == kernels
        kept, seen = (sum(map(len, streams.values())) for streams in (mine, every))
        assert 100 < kept < seen - 100, (kept, seen)


def test_filter_leaves_the_lines_that_a_filter_on_the_lines_leaves():
    cases = [("prev_state & S && next_prio == 120",
              lambda line: "S" in line["args"].get("prev_state", {}).get("names", ()) and line["args"]["next_prio"] == 120),
             ("cpu == 0 && name ~ \"raw_syscalls:*\" && id < 3",
              lambda line: line["cpu"] == 0 and line["name"].startswith("raw_syscalls:") and int(line["args"]["id"]) < 3),
             ("args[0] == 1", lambda line: int(line["args"].get("args", ["0"])[0]) == 1),
             ("!(comm == \"true\") || next_comm ~ \"[!s]*\"",
              lambda line: line["args"].get("comm", "true") != "true" or line["args"].get("next_comm", "s")[0] != "s"),
             ("prev_state == \"S\"", lambda line: line["args"].get("prev_state", {}).get("names") == ["S"]),
             ("tid % 2", lambda line: line["tid"] % 2 == 1)]
    with made_files() as files:
        for text, wanted in cases:
            place = files[0].parent
            tracerd("replay", "-q", "-o", place / "all.ndjson", files[0])
            tracerd("replay", "-q", "--filter", text, "-o", place / "some.ndjson", files[0])
            every, some = Timeline(place / "all.ndjson"), Timeline(place / "some.ndjson")
            expected = [{**line, "seq": 0} for line in every.kind("ev") if wanted(line)]
            assert [{**line, "seq": 0} for line in some.kind("ev")] == expected, text
            assert 0 < len(expected) < len(every.kind("ev")), (text, len(expected))
            assert int(some.bye["filtered"]) == len(every.kind("ev")) - len(expected)
            if "prev_state & S" in text:
                continue  # a recording does not know which names a field may have
            tracerd("replay", "-q", "--filter", text, "-o", place / "again.ndjson", place / "all.ndjson")
            again = Timeline(place / "again.ndjson")
            assert [{**line, "seq": 0} for line in again.kind("ev")] == expected, text


def test_filter_that_no_event_can_meet_is_refused_in_one_sentence():
    cases = [("next_pdi == 1", "position 1: no event has a field `next_pdi`; near it: `next_pid`"),
             ("next_pid = 1", "position 10: an operator is expected, found `=`"),
             ("next_comm == 1", "position 1: `next_comm` is no number in any event that has it")]
    with made_files() as files:
        for text, sentence in cases:
            out, said = tracerd("replay", "--filter", text, "-o", files[0].parent / "out.ndjson", files[0], expected=2)
            assert f"--filter: {sentence}" in said and said.count("\n") == 1 and not out, said
