"""Threads: which kernel thread a managed one is, its name, its whole life."""

import collections
import contextlib
import os
import pathlib
import shutil
import subprocess

from house import TRACERD, attached, finish, folder, managed, need, report_of, start, stopped_at_end, wait_until
from matrix import ATTACH, STARTUP, Cell, finish_with_marker, observe, row, wait_until_ready

OWN = "Tracerd.Managed.OnThread"
THREADS = 8


def ids_of_names(cell):
    """{name: the CLR's ids of the threads that were given it}, of the program's own names."""
    ids = {name: set() for name in cell.facts["names"]}
    for args in cell.args("thread_name"):
        if args["name"] in ids:
            ids[args["name"]].add(args["thread"]["id"])
    return ids


def check_threads(cell, tids):
    """`tids` are those of the program's threads in our numbers, in the order of its names."""
    created = collections.Counter(args["thread"]["id"] for args in cell.args("thread_created"))
    destroyed = collections.Counter(args["thread"]["id"] for args in cell.args("thread_destroyed"))
    assigned = {(event["args"]["thread"]["id"], event["args"]["os_tid"], event["tid"])
                for event in cell.events("thread_assigned")}
    ids = ids_of_names(cell)
    for name, tid in zip(cell.facts["names"], tids):
        assert any((thread, tid, tid) in assigned for thread in ids[name]), f"{name} is {tid}: {ids[name]} {assigned}"
    # What still lives at the end was created and not destroyed; nothing was destroyed that was not created.
    assert all(count <= created[thread] for thread, count in destroyed.items()), (created, destroyed)
    ended = sum(event["tid"] in set(tids) for event in cell.events("thread_destroyed"))
    assert ended == len(tids), f"{ended} threads ended of {len(tids)}"
    thrown = collections.Counter(event["tid"] for event in cell.events("exception_thrown")
                                 if event["args"]["type"] == OWN)
    assert thrown == collections.Counter(tids), (thrown, tids)


def test_conformance_tid_equality():
    """8 threads: the OS thread the stream names is the one that the thread reads from /proc about itself."""
    def check(runtime, mode):
        cell = observe(runtime, mode, "threads", THREADS)
        check_threads(cell, cell.facts["tids"])
        return f"{len(cell.facts['tids'])} threads"

    row(check)


def test_conformance_500_threads():
    """500 at once: each with its id, its name, its one exception, its end."""
    def check(runtime, mode):
        cell = observe(runtime, mode, "threads", 500)
        check_threads(cell, cell.facts["tids"])
        return f"{len(cell.facts['tids'])} threads, {len(cell.events('thread_destroyed'))} ends"

    row(check)


# In a PID namespace of its own


def tasks_of(pid):
    """{tid as the process sees it: tid as we see it}"""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            for line in (task / "status").read_text().splitlines():
                if line.startswith("NSpid:"):
                    found[int(line.split()[-1])] = int(task.name)
    return found


def below(pid):
    """The .NET process among the children of `pid`, and theirs."""
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == pid:
                if b"app.dll" in (entry / "cmdline").read_bytes() and b"unshare" not in (entry / "cmdline").read_bytes():
                    return int(entry.name)
                found = below(int(entry.name))
                if found:
                    return found
    return None


def hold_and_let_go(process, out):
    """Reads on to "holding", takes the numbers from /proc, lets the program end when the stream has its threads: (host
    pid, numbers, its output). A thread that ends before its first events are read can no more be looked up."""
    line = process.stdout.readline()
    while line != "holding\n":
        assert line, process.stderr.read()
        line = process.stdout.readline()
    pid = below(process.pid)
    numbers = tasks_of(pid)
    wait_until(lambda: out.read_text(encoding="utf-8").count(OWN) >= 2 * THREADS, "the exceptions of every thread")
    process.stdin.write("go\n")
    process.stdin.flush()
    return pid, numbers, finish_with_marker(process)[0]


def in_namespace(runtime, mode, place):
    command = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child",
               *managed(runtime, "conformance", "threads", THREADS, "hold")]
    out = place / "out.ndjson"
    if mode == STARTUP:
        process = start(TRACERD, "run", "-o", out, "--no-kernel", "--", *command, stdin=subprocess.PIPE)
    else:
        process = start(*command, stdin=subprocess.PIPE)
    with stopped_at_end(process), contextlib.ExitStack() as stack:
        inner_pid = wait_until_ready(process)
        if mode == ATTACH:
            tracer = stack.enter_context(attached(below(process.pid), out))
        process.stdin.write("go\n")
        process.stdin.flush()
        pid, numbers, output = hold_and_let_go(process, out)
        if mode == ATTACH:
            finish(tracer)
    assert inner_pid != pid and report_of(output)["pid"] == inner_pid
    cell = Cell(runtime, mode, output, out)
    cell.pid = pid
    return cell, numbers


def test_conformance_tid_equality_in_a_pid_namespace():
    """The program knows its threads by other numbers than we: the stream has ours."""
    need(os.geteuid() == 0 and shutil.which("unshare"), "root and unshare, for a PID namespace")

    def check(runtime, mode):
        with folder() as place:
            cell, numbers = in_namespace(runtime, mode, place)
        inner = cell.facts["tids"]
        check_threads(cell, [numbers[tid] for tid in inner])
        cell.timeline.check_sums()
        return f"{len(inner)} threads, {inner[0]} there is {numbers[inner[0]]} here"

    row(check, modes=(STARTUP, ATTACH))
