"""Coming, going and asking while the program is busy stopping itself."""

import contextlib
import os
import pathlib
import re
import subprocess

from house import Timeline, attached, detach, folder, managed, parse, report_of, start, stopped_at_end, wait_until
from matrix import (ATTACH, NOTIFICATION, finish_with_marker, need_mode, observe, read_to, row, say, wait_until_ready,
                    with_other_profiler, with_our_profiler)
from test_life import Service

TURNS = 5


def told_before(records, pid):
    """The kernel's ids of the threads that were told of as having been there already."""
    return {record["args"]["os_tid"] for record in records if record["k"] == "ev" and record.get("pid") == pid
            and record["name"] == "clr:thread_assigned" and record.get("catch_up")}


def lines_of(path):
    with open(path, encoding="utf-8") as lines:
        return [parse(line) for line in lines if line.endswith("\n")]


def attach_again_and_again(pid, place, tids):
    for turn in range(TURNS):
        out = place / f"{turn}.ndjson"
        with attached(pid, out) as process:
            wait_until(lambda: tids <= told_before(lines_of(out), pid), "the threads that were there before")
            detach(process)
        timeline = Timeline(out)
        timeline.check_sums()
        assert timeline.count("clr:gc_start", pid) > 0, "nothing was collected while they were told"


def restart_again_and_again(stack, service, pid, place, tids):
    for _ in range(TURNS):
        service.process.kill()
        service.process.wait()
        service = Service(stack, place)
        told, collected = set(), 0
        while not (tids <= told and collected):
            record = parse(next(service.lines))
            told |= told_before([record], pid)
            collected += record["k"] == "ev" and record["name"] == "clr:gc_start"


def test_conformance_enum_in_suspend_in_every_slot():
    """Row 9: threads and modules are enumerated, again and again, while three threads stop the runtime for collections:
    nobody waits for ever, and whoever was there is told."""
    def check(runtime, mode):
        need_mode(runtime, mode)
        with folder() as place, contextlib.ExitStack() as stack:
            service = Service(stack, place) if mode != ATTACH else None
            process = stack.enter_context(stopped_at_end(
                start(*managed(runtime, "conformance", "collecting"), stdin=subprocess.PIPE,
                      env=with_our_profiler(mode, place / "run" / "profiler.sock", TRACERD_CLR_BUFFER="64M/4M"))))
            pid = wait_until_ready(process)
            say(process, "go")
            tids = {int(tid) for tid in read_to(process, "holding")[-1].split()[1:]}
            assert len(tids) == 3, tids
            if mode == ATTACH:
                attach_again_and_again(pid, place, tids)
            else:
                restart_again_and_again(stack, service, pid, place, tids)
            say(process, "stop")
            facts = report_of(finish_with_marker(process)[0])
        return f"{TURNS} times told while there were {facts['gc'][0]} collections"

    row(check)


def work_of_us(pid):
    """What is at work in a process while the profiler is there: its thread."""
    found = set()
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found |= {f"thread {name}" for name in re.findall("tracerd.*", (task / "comm").read_text())}
    return found


def arenas_of_us(pid):
    """The rings stay for the next attach, since a thread may be on its way out of a callback: one arena, not one more
    each time."""
    links = []
    for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            links.append(os.readlink(descriptor))
    return sum("memfd:tracerd" in link for link in links), sum(link.startswith("socket:") for link in links)


def test_conformance_detach_clean():
    """Row 25: after each of several detaches the kernel shows no thread and no connection of ours, the program goes on
    and ends as planned; what happens in between is in no stream."""
    turns = 4

    def check(runtime, mode):
        need_mode(runtime, mode)
        environment = with_other_profiler(os.environ) if mode == NOTIFICATION else dict(os.environ)
        seen = set()
        with folder() as place, contextlib.ExitStack() as stack:
            process = stack.enter_context(stopped_at_end(
                start(*managed(runtime, "conformance", "toggle"), stdin=subprocess.PIPE, env=environment)))
            pid = wait_until_ready(process)
            _, sockets = arenas_of_us(pid)
            say(process, "go")
            for turn in range(turns):
                out = place / f"{turn}.ndjson"
                with attached(pid, out) as tracer:
                    say(process, "again")
                    read_to(process, "done")
                    seen |= work_of_us(pid)
                    detach(tracer)
                wait_until(lambda: not work_of_us(pid), "the profiler's thread to end")
                assert arenas_of_us(pid) == (1, sockets), f"turn {turn}: {arenas_of_us(pid)}, sockets before {sockets}"
                say(process, "again")
                read_to(process, "done")
                timeline = Timeline(out)
                timeline.check_sums()
                for name in ("clr:gc_start", "clr:exception_thrown"):
                    assert timeline.count(name, pid) == 1, f"turn {turn}: {timeline.count(name, pid)} {name}"
                info = timeline.events("clr:runtime_info", pid)[0]["args"]
                assert info["notification_only"] == (mode == NOTIFICATION), info
            say(process, "end")
            facts = report_of(finish_with_marker(process)[0])
        assert facts["turns"] == 2 * turns, facts
        assert seen, "nothing of the profiler was ever seen: the check sees nothing"
        return f"{turns} attaches and detaches; while there: {', '.join(sorted(seen))}"

    row(check, modes=(ATTACH, NOTIFICATION))


def test_conformance_shutdown_once():
    """Row 26: one shutdown, whether Main returns or another thread exits, with the number of collections."""
    def check(runtime, mode):
        for ending in ("return", "exit"):
            cell = observe(runtime, mode, "everything", ending)
            told, = cell.args("shutdown")
            assert told["collections"] == cell.collections()[0], (told, cell.collections())
        return f"once each, after {told['collections']} collections"

    row(check)
