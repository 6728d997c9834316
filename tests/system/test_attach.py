"""Attaching to processes that are hard to reach: every event they were told to make is there, under the host's numbers."""

import contextlib
import os
import pathlib
import shutil
import signal

from house import (BUILD, TRACERD, Idle, Timeline, finish, folder, managed, need, need_program, start, stopped_at_end,
                   tracerd, wait_until)
from targets import NOBODY, NOBODY_IS, NOOP, descendant, in_own_namespaces, with_noop_profiler

ASKED = "Tracerd.Managed.AskedFor"


@contextlib.contextmanager
def attached(pid, out):
    """tracerd, from when it says that it is attached; its stderr so far is in `said`."""
    process = start(TRACERD, "--pid", pid, "-o", out, "--no-kernel")
    with stopped_at_end(process):
        process.said = ""
        for line in process.stderr:
            process.said += line
            if "attached to process" in line:
                break
        else:
            raise AssertionError(f"it ended with {process.wait()} before it attached: {process.said}")
        yield process


def check_story(idle, pid, place):
    """Attach, have it throw, collect and start a thread, detach: the timeline has just that of process `pid`."""
    with attached(pid, place / "out.ndjson") as process:
        for _ in range(3):
            idle.ask("throw")
        idle.ask("gc")
        idle.ask("thread reached")
        process.send_signal(signal.SIGINT)
        finish(process)
    timeline = Timeline(place / "out.ndjson")
    timeline.check_sums()
    timeline.check_order()
    assert {event["pid"] for event in timeline.kind("ev")} == {pid}, "events of another pid"
    thrown = [event["args"]["type"] for event in timeline.events("clr:exception_thrown", pid)]
    assert thrown == [ASKED] * 3, thrown
    assert timeline.count("clr:gc_start", pid) == timeline.count("clr:gc_end", pid) == 1
    named, = [event for event in timeline.events("clr:thread_name", pid) if event["args"]["name"] == "reached"]
    info, = timeline.events("clr:runtime_info", pid)
    assert info["args"]["mode"]["name"] == "attach", info
    assert not list(pathlib.Path(f"/proc/{pid}/root/tmp").glob(f"tracerd-{process.pid}-*")), "a directory was left behind"
    report = idle.end()
    assert report["thrown"] == {ASKED: 3} and report["gc"][0] == 1, report
    own, = [thread["tid"] for thread in report["threads"] if thread["name"] == "reached"]
    assert {event["tid"] for event in timeline.events("clr:exception_thrown", pid)} == {pid}, "Main is the first thread"
    return process.said, named.get("tid"), own


def test_attach_into_own_pid_and_mount_namespace(runtime):
    need(os.geteuid() == 0, "root, for namespaces")
    need_program("unshare")
    with folder() as place:
        idle = Idle(runtime, prefix=in_own_namespaces(place), env={**os.environ, "TMPDIR": str(place)})
        with stopped_at_end(idle.process), folder() as outside:
            assert idle.pid == 1, "it is in our pid namespace"
            pid = descendant(idle.process.pid)
            assert not list(place.iterdir()), "it is in our mount namespace"
            _, tid, own = check_story(idle, pid, outside)
            # The host's number of a thread; one that has ended before it could be looked up has none.
            assert tid is None or own < pid < tid, (own, pid, tid)


def test_attach_into_own_mount_namespace_where_the_library_cannot_be_seen():
    need(os.geteuid() == 0, "root, for namespaces")
    need_program("unshare")
    with folder() as place:
        # A copy of the library in a place that the target has covered.
        hidden = place / "hidden"
        hidden.mkdir()
        shutil.copy(BUILD / "lib" / "libtracerd_profiler.so", hidden / "libtracerd_profiler.so")
        script = f'mount -t tmpfs none {hidden} && exec "$@"'
        idle = Idle("8", prefix=("unshare", "--mount", "sh", "-c", script, "sh"))
        with stopped_at_end(idle.process):
            os.environ["TRACERD_PROFILER"] = str(hidden / "libtracerd_profiler.so")
            try:
                _, tid, own = check_story(idle, idle.pid, place)
            finally:
                del os.environ["TRACERD_PROFILER"]
            assert tid == own, (tid, own)


def readable(runtime, place):
    """A host of this runtime that other users can reach: the tests' own may lie in root's home."""
    if runtime == "10":
        return managed(runtime, "idle")
    shutil.copytree(BUILD / "managed" / runtime, place / "dotnet")
    return [str(place / "dotnet" / "dotnet"), *managed(runtime, "idle")[1:]]


def test_attach_as_root_to_the_process_of_another_user():
    need(os.geteuid() == 0, "root, to be two users")
    need_program("setpriv")
    for runtime in ("8", "10"):
        with folder() as place:
            place.chmod(0o755)
            command = readable(runtime, place)
            (place / "home").mkdir()
            os.chown(place / "home", NOBODY, NOBODY)
            idle = Idle(runtime, prefix=NOBODY_IS, command=command, env={**os.environ, "HOME": str(place / "home")})
            with stopped_at_end(idle.process):
                assert os.stat(f"/proc/{idle.pid}").st_uid == NOBODY
                _, tid, own = check_story(idle, idle.pid, place)
                assert tid == own, (tid, own)


def test_attach_as_another_user_is_refused_and_says_whose_it_is():
    need(os.geteuid() == 0, "root, to be two users")
    need_program("setpriv")
    idle = Idle("10")
    with stopped_at_end(idle.process):
        process = start(*NOBODY_IS, TRACERD, "--pid", idle.pid, "-o", "/dev/null", "--no-kernel")
        _, err = finish(process, 3)
        assert "uid 0" in err and "as root" in err, err
        idle.ask("throw")
        assert idle.end()["thrown"] == {ASKED: 1}


def test_attach_beside_another_main_profiler_joins_as_notification_only():
    for runtime in ("8", "9", "10"):
        idle = Idle(runtime, env=with_noop_profiler())
        with stopped_at_end(idle.process), folder() as place:
            assert str(NOOP) in pathlib.Path(f"/proc/{idle.pid}/maps").read_text(), "the other profiler is not loaded"
            said, tid, own = check_story(idle, idle.pid, place)
            assert "notification-only" in said and str(NOOP) in said, said
            assert tid == own, (tid, own)


def test_attach_beside_another_main_profiler_on_3_1_says_that_there_is_no_room():
    idle = Idle("3.1", env=with_noop_profiler())
    with stopped_at_end(idle.process), folder() as place:
        _, err = tracerd("--pid", idle.pid, "-o", place / "out.ndjson", "--no-kernel", expected=3)
        assert "room for one profiler only" in err, err
        idle.ask("throw")
        assert idle.end()["thrown"] == {ASKED: 1}


def test_attach_to_a_stopped_process_waits_and_traces_when_it_goes_on():
    idle = Idle("10")
    with stopped_at_end(idle.process), folder() as place:
        idle.process.send_signal(signal.SIGSTOP)
        process = start(TRACERD, "--pid", idle.pid, "-o", place / "out.ndjson", "--no-kernel")
        with stopped_at_end(process):
            wait_until(lambda: (place / "out.ndjson").exists() and (place / "out.ndjson").stat().st_size > 0, "its hello")
            idle.process.send_signal(signal.SIGCONT)
            assert "attached to process" in process.stderr.readline()
            idle.ask("throw")
            process.send_signal(signal.SIGINT)
            finish(process)
        assert Timeline(place / "out.ndjson").count("clr:exception_thrown", idle.pid) == 1


def test_attach_to_a_process_with_another_version_of_the_profiler_says_so():
    """One slot, and in it a library under the name of its content, as an installed one has: it is ours all the same."""
    with folder() as place:
        other = place / "libtracerd_profiler-0123456789abcdef.so"
        shutil.copy(BUILD / "lib" / "libtracerd_profiler.so", other)
        idle = Idle("3.1", prefix=(TRACERD, "run", "--no-kernel", "-o", place / "out.ndjson", "--"),
                    env={**os.environ, "TRACERD_PROFILER": str(other)})
        with stopped_at_end(idle.process):
            _, err = tracerd("--pid", idle.pid, "--no-kernel", "-o", place / "second.ndjson", expected=3)
            assert "is traced by another tracerd already" in err, err
            idle.end()
