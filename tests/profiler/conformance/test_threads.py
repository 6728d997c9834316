"""Threads: which kernel thread a managed one is, its name, its whole life."""

import collections

from matrix import observe, row

OWN = "Tracerd.Managed.OnThread"


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
        cell = observe(runtime, mode, "threads", 8)
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
