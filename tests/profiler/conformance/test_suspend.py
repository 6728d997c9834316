"""What asks the runtime for threads and modules while it stops and starts all of them."""

import subprocess

from house import attached, detach, folder, managed, start, stopped_at_end, Timeline, wait_until
from matrix import ATTACH, finish_with_marker, read_to, row, say, wait_until_ready

ATTACHES = 5
COLLECTIONS = 20  # seen by each of them


def tids_of(pid):
    return {int(tid) for tid in subprocess.run(["ls", f"/proc/{pid}/task"], capture_output=True, text=True,
                                               check=True).stdout.split()}


def has_collections(path):
    return path.exists() and path.read_text(encoding="utf-8").count('"clr:gc_end"') >= COLLECTIONS


def check_catch_up(timeline, pid, tids):
    """The threads and modules that were there are told, each once, while collections went on."""
    created = [event["args"]["thread"]["id"] for event in timeline.events("clr:thread_created", pid) if event.get("catch_up")]
    assigned = {event["args"]["os_tid"] for event in timeline.events("clr:thread_assigned", pid) if event.get("catch_up")}
    modules = [event["args"]["module"] for event in timeline.events("clr:module_load", pid) if event.get("catch_up")]
    names = [str(module) for module in modules]
    assert len(created) == len(set(created)) >= 4 and len(names) == len(set(names)) >= 2, (created, names)
    assert len(assigned & tids) >= 4, (assigned, tids)
    starts, ends = timeline.count("clr:gc_start", pid), timeline.count("clr:gc_end", pid)
    assert ends >= COLLECTIONS and abs(starts - ends) <= 2, (starts, ends)
    timeline.check_sums()
    return starts


def test_conformance_enum_in_suspend():
    """Row 9, turned round: the profiler enumerates on a thread of its own and never in a callback. It attaches again and
    again while three threads collect without pause: it is never held up, nor does it hold them up."""
    def check(runtime, mode):
        collections = 0
        process = start(*managed(runtime, "conformance", "collecting"), stdin=subprocess.PIPE)
        with stopped_at_end(process), folder() as place:
            pid = wait_until_ready(process)
            say(process, "go")
            read_to(process, "holding")
            for turn in range(ATTACHES):
                out = place / f"{turn}.ndjson"
                with attached(pid, out, "--clr", "thread,loader,gc") as tracer:
                    wait_until(lambda: has_collections(out), f"{COLLECTIONS} collections in {out}")
                    tids = tids_of(pid)
                    detach(tracer)
                collections += check_catch_up(Timeline(out), pid, tids)
            say(process, "stop")
            finish_with_marker(process)
        return f"{ATTACHES} attaches, {collections} collections meanwhile"

    row(check, modes=(ATTACH,))
