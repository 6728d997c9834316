"""A ring for each thread: what they take of memory, and that threads that come and go lose nothing by it."""

import os
import signal

from house import TRACERD, Timeline, finish, folder, managed, report_of, start, stopped_at_end

MIB = 1 << 20
MEMORY_MAX = 8 * MIB  # for 64 threads, by default
FIRST_BYTES = 20 << 10  # head and first window of a ring
TYPE = "Tracerd.Managed.Crowded"


def arena_memory(pid):
    """Bytes of the arena that are in memory, as the kernel counts the mapping."""
    total, inside = 0, False
    with open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as smaps:
        for line in smaps:
            first = line.split()[0]
            if "-" in first:
                inside = "/memfd:tracerd-arena" in line
            elif inside and first == "Rss:":
                total += int(line.split()[1]) << 10
    return total


def crowd(runtime, how, count, each, *options, unread=False):
    """The program run to its end: its timeline, its report, and the memory of the arena while all threads had a ring.
    `unread`: until then tracerd stands still, so that everything stays in the rings or is lost."""
    os.environ.pop("TRACERD_CLR_BUFFER", None)  # of the size they have by themselves
    prefix = ("sh", "-c", 'kill -STOP $PPID; exec "$@"', "sh") if unread else ()
    with folder() as place:
        process = start(TRACERD, "run", "-q", "-o", place / "out.ndjson", "--no-kernel", *options, "--", *prefix,
                        *managed(runtime, "crowd", how, count, each), stdin=-1)
        with stopped_at_end(process):
            word, pid = process.stdout.readline().split()
            assert word == "ready"
            memory = arena_memory(pid)
            process.send_signal(signal.SIGCONT)
            process.stdin.write("\n")
            process.stdin.flush()
            out, _ = finish(process)
        return Timeline(place / "out.ndjson"), report_of(out), memory


def check(timeline, report, count):
    """Threads and exceptions are those of the program, as far as nothing was lost, and what was lost is told."""
    timeline.check_sums(lost=None)
    lost = int(timeline.bye["lost"])
    pid = report["pid"]
    seen = sum(event["args"]["type"] == TYPE for event in timeline.events("clr:exception_thrown", pid))
    assert report["thrown"][TYPE] - lost <= seen <= report["thrown"][TYPE]
    if lost == 0:
        # A thread names itself: the event is on it.
        named = {event["args"]["name"]: event["tid"] for event in timeline.events("clr:thread_name", pid)}
        assigned = {event["args"]["os_tid"] for event in timeline.events("clr:thread_assigned", pid)}
        crowd_threads = [thread for thread in report["threads"] if thread["name"].startswith("crowd-")]
        assert len(crowd_threads) == count
        for thread in crowd_threads:
            assert named[thread["name"]] == thread["tid"] and thread["tid"] in assigned, thread
    return lost


def test_500_threads_one_after_the_other_share_some_rings(runtime):
    timeline, report, memory = crowd(runtime, "sequential", 500, 2)
    lost = check(timeline, report, 500)
    assert lost == 0, timeline.bye
    assert memory <= MEMORY_MAX, memory
    print(f"{memory >> 10} KiB")


def test_500_threads_at_once_have_a_ring_each(runtime):
    timeline, report, memory = crowd(runtime, "together", 500, 2)
    lost = check(timeline, report, 500)
    assert lost == 0, timeline.bye
    assert memory >= 500 * 4096, "each has touched its own"
    print(f"{memory >> 10} KiB")


def test_rings_of_64_threads_that_were_full_take_no_more_than_8_mib():
    """Each thread writes many times what it has at first, and nobody reads: all of them would grow."""
    timeline, report, memory = crowd("10", "together", 64, 2000, "--clr", "exception", unread=True)
    lost = check(timeline, report, 64)
    assert lost > 0 and memory > 2 * 64 * FIRST_BYTES, f"the rings were not full: {memory}, {lost}"
    assert memory <= MEMORY_MAX, memory
    print(f"{memory >> 10} KiB, {lost} lost")


def test_buffer_that_is_asked_for_decides_what_is_kept(runtime):
    """The same events that nobody reads: little memory holds some of them, much all."""
    for buffer, most, is_enough in (("512K/16K", MIB // 2, False), ("256M/16M", 256 * MIB, True)):
        timeline, report, memory = crowd(runtime, "together", 8, 2000, "--clr-buffer", buffer, unread=True)
        lost = check(timeline, report, 8)
        assert (lost == 0) == is_enough, f"{buffer}: {lost}"
        assert memory <= most, f"{buffer}: {memory}"
        print(f"{buffer}: {memory >> 10} KiB, {lost} lost")
