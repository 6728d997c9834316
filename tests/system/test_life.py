"""What the two sides do to each other when one of them comes late, goes away, hangs, or is killed."""

import collections
import contextlib
import json
import os
import signal
import socket

from house import (BUILD, TRACERD, Idle, Timeline, attached, detach, finish, folder, instances, managed, need_kernel,
                   parse, report_of, run, start, stopped_at_end, tracerd, wait_for_line, wait_until)

EXIT_RUNS = int(os.environ.get("TRACERD_TEST_EXIT_RUNS", "20"))  # per runtime
PROFILER = BUILD / "lib" / "libtracerd_profiler.so"


def with_profiler(socket_path):
    """The environment of a process that loads the profiler by itself, as one under the service does."""
    return {**os.environ, "CORECLR_ENABLE_PROFILING": "1", "CORECLR_PROFILER_PATH": str(PROFILER),
            "CORECLR_PROFILER": "{8A1F5C3E-6B0D-4B7E-9C55-3D1E0F2A7B41}", "TRACERD_SOCKET": str(socket_path)}


def asked_for(timeline, pid):
    return sum(event["args"]["type"] == "Tracerd.Managed.AskedFor" for event in timeline.events("clr:exception_thrown", pid))


# Attaching


def test_attach_running_program_is_seen_until_ctrl_c_and_again(runtime):
    with folder() as place, contextlib.ExitStack() as stack:
        idle = Idle(runtime)
        stack.enter_context(stopped_at_end(idle.process))
        idle.ask("throw")
        for turn in (1, 2):
            with attached(idle.pid, place / f"{turn}.ndjson") as process:
                for _ in range(turn):
                    idle.ask("throw")
                idle.ask("gc")
                idle.ask(f"thread later-{turn}")
                detach(process)
            idle.ask("throw")
            timeline = Timeline(place / f"{turn}.ndjson")
            assert asked_for(timeline, idle.pid) == turn, timeline.kind("ev")
            assert timeline.count("clr:gc_start", idle.pid) == timeline.count("clr:gc_end", idle.pid) == 1
            names = [event["args"]["name"] for event in timeline.events("clr:thread_name", idle.pid)]
            assert f"later-{turn}" in names, names
            info, = timeline.events("clr:runtime_info", idle.pid)
            assert info["args"]["mode"]["name"] == "attach", info
            timeline.check_sums()
        report = idle.end()
        assert report["thrown"] == {"Tracerd.Managed.AskedFor": 6}, report
        assert report["runtime"].startswith(runtime), report


def test_attach_ends_with_the_program(runtime):
    with folder() as place, contextlib.ExitStack() as stack:
        idle = Idle(runtime)
        stack.enter_context(stopped_at_end(idle.process))
        with attached(idle.pid, place / "out.ndjson") as process:
            idle.ask("throw")
            idle.end()
            finish(process)
        timeline = Timeline(place / "out.ndjson")
        assert asked_for(timeline, idle.pid) == 1, timeline.kind("ev")
        timeline.check_sums()


def test_attach_with_kernel_shows_both_halves():
    need_kernel()
    with folder() as place, contextlib.ExitStack() as stack:
        idle = Idle("10")
        stack.enter_context(stopped_at_end(idle.process))
        with stopped_at_end(start(TRACERD, "--pid", idle.pid, "-o", place / "out.ndjson")) as process:
            wait_for_line(process, "attached")
            idle.ask("throw")
            detach(process)
        idle.end()
        timeline = Timeline(place / "out.ndjson")
        assert asked_for(timeline, idle.pid) == 1
        assert any(event.get("pid") == idle.pid for event in timeline.events("sched:sched_switch"))
        timeline.check_order()
        timeline.check_sums()


def test_attach_duration_ends_it_and_the_program_goes_on():
    with folder() as place, contextlib.ExitStack() as stack:
        idle = Idle("10")
        stack.enter_context(stopped_at_end(idle.process))
        tracerd("--pid", idle.pid, "-o", place / "out.ndjson", "--no-kernel", "--duration", "300ms")
        Timeline(place / "out.ndjson").check_sums()
        idle.ask("throw")
        idle.end()


def test_attach_to_no_process_and_to_no_dotnet_say_so():
    with folder() as place:
        dead = start("true")
        finish(dead)
        for pid, word in ((dead.pid, "no process"), (os.getpid(), ".NET")):
            _, err = tracerd("--pid", pid, "-o", place / "out.ndjson", "--no-kernel", expected=3)
            assert word in err and len(err.strip().splitlines()) == 1, err


# tracerd is absent, killed, hung


def test_absent_tracerd_leaves_the_program_as_it_is(runtime):
    command = managed(runtime, "hello", 5)
    with folder() as place:
        out, err = run(*command, expected=5, env=with_profiler(place / "nobody.sock"))
        assert (out, err) == run(*command, expected=5)


def test_killed_tracerd_leaves_the_program_as_it_is(runtime):
    with folder() as place, contextlib.ExitStack() as stack:
        tracer, idle = run_idle(stack, place, runtime)
        idle.ask("throw")
        tracer.kill()
        assert tracer.wait() == -signal.SIGKILL
        for line in ("throw", "gc", "thread orphan", "throw"):
            idle.ask(line)
        # The program is nobody's child any more: its report is what can be read of its end.
        idle.process.stdin.close()
        report = report_of(idle.process.stdout.read())
        assert report["thrown"] == {"Tracerd.Managed.AskedFor": 3}, report


def test_hung_tracerd_holds_nothing_up_and_loses_nothing(runtime):
    with folder() as place, contextlib.ExitStack() as stack:
        tracer, idle = run_idle(stack, place, runtime)
        tracer.send_signal(signal.SIGSTOP)
        for _ in range(50):
            idle.ask("throw")
        idle.ask("gc")
        tracer.send_signal(signal.SIGCONT)
        report = idle.end()
        timeline = Timeline(place / "out.ndjson")
        assert asked_for(timeline, idle.pid) == report["thrown"]["Tracerd.Managed.AskedFor"] == 50
        assert timeline.count("clr:gc_start", idle.pid) == report["gc"][0]
        timeline.check_sums()


def test_hung_tracerd_does_not_keep_the_program_from_ending(runtime):
    """The program ends while nobody reads; what its rings held is there afterwards."""
    with folder() as place, contextlib.ExitStack() as stack:
        tracer, idle = run_idle(stack, place, runtime)
        tracer.send_signal(signal.SIGSTOP)
        for _ in range(5):
            idle.ask("throw")
        idle.process.stdin.close()
        idle.process.stdin = None
        wait_until(lambda: state_of(idle.pid) == "Z", "the end of the program")
        tracer.send_signal(signal.SIGCONT)
        out, _ = finish(tracer)
        timeline = Timeline(place / "out.ndjson")
        assert asked_for(timeline, report_of(out)["pid"]) == 5


def state_of(pid):
    """As the kernel has it; Z is a process that ended and that its parent has not looked at yet."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0]


def run_idle(stack, place, runtime, *options):
    """`tracerd run` of the program idle: both as processes; the one that is talked to is the program."""
    idle = Idle(runtime, prefix=(TRACERD, "run", "-q", "-o", place / "out.ndjson", "--no-kernel", *options, "--"))
    stack.enter_context(stopped_at_end(idle.process))
    return idle.process, idle


# The program is killed, forks, races to its end


def test_killed_program_has_everything_it_wrote_drained(runtime):
    with folder() as place, contextlib.ExitStack() as stack:
        tracer, idle = run_idle(stack, place, runtime)
        for _ in range(25):
            idle.ask("throw")
        os.kill(idle.pid, signal.SIGKILL)
        finish(tracer, expected=128 + signal.SIGKILL)
        timeline = Timeline(place / "out.ndjson")
        assert asked_for(timeline, idle.pid) == 25
        timeline.check_sums()


def test_forking_program_is_itself_and_its_children_are_themselves(runtime):
    """A bare fork shares the parent's rings: nothing of the child may show, or harm. A .NET child has a stream of its own."""
    with folder() as place:
        out, _ = tracerd("run", "-q", "-o", place / "out.ndjson", "--no-kernel", "--follow", "--",
                         *managed(runtime, "forker", managed(runtime, "story")[1]))
        report = report_of(out)
        timeline = Timeline(place / "out.ndjson")
    for name in ("clr:exception_thrown", "clr:exception_caught"):
        types = collections.Counter(event["args"]["type"] for event in timeline.events(name, report["pid"]))
        assert types == report["thrown"], f"{name}: {types}, {report['thrown']}"
    child, = {event["pid"] for event in timeline.events("clr:runtime_info")} - {report["pid"]}
    assert timeline.count("clr:gc_start", child) == 6
    assert timeline.count("clr:exception_thrown", child) == 7
    timeline.check_sums()


def test_child_of_a_traced_program_is_not_traced_unless_followed(runtime):
    with folder() as place:
        out, _ = tracerd("run", "-q", "-o", place / "out.ndjson", "--no-kernel", "--",
                         *managed(runtime, "forker", managed(runtime, "story")[1]))
        timeline = Timeline(place / "out.ndjson")
    pids = {event["pid"] for event in timeline.kind("ev")}
    assert pids == {report_of(out)["pid"]}, pids
    timeline.check_sums()


def test_two_programs_at_once_are_told_apart():
    with folder() as place:
        story = managed("10", "story"), managed("8", "story")
        script = f"cd {place}; {' '.join(story[0])} >first & {' '.join(story[1])} >second; wait; cat first second"
        out, _ = tracerd("run", "-q", "-o", place / "out.ndjson", "--no-kernel", "--", "sh", "-c", script)
        timeline = Timeline(place / "out.ndjson")
    reports = [json.loads(line) for line in out.splitlines()]
    assert len(reports) == 2
    for report in reports:
        assert timeline.count("clr:gc_start", report["pid"]) == report["gc"][0]
        assert timeline.count("clr:exception_thrown", report["pid"]) == sum(report["thrown"].values())
        info, = timeline.events("clr:runtime_info", report["pid"])
        assert report["runtime"].startswith(f"{info['args']['major']}."), (info, report)
    timeline.check_order()
    timeline.check_sums()


def test_exit_while_threads_raise_events_never_crashes(runtime):
    """C26: callbacks go on during and after Shutdown."""
    with folder() as place:
        for turn in range(EXIT_RUNS):
            out, _ = tracerd("run", "-q", "-o", place / "out.ndjson", "--no-kernel", "--", *managed(runtime, "leaver"),
                             expected=3)
            assert out == "leaving", f"run {turn}: {out!r}"
            timeline = Timeline(place / "out.ndjson")
            assert timeline.count("clr:exception_thrown") >= 4, f"run {turn}"


# What is left behind


def test_killed_tracerd_has_its_instance_removed_by_the_next_run():
    need_kernel()
    with folder() as place, contextlib.ExitStack() as stack:
        idle = Idle("10", prefix=(TRACERD, "run", "-q", "-o", place / "out.ndjson", "--"))
        stack.enter_context(stopped_at_end(idle.process))
        mine, = {name for name in instances() if name.startswith(f"tracerd-{idle.process.pid}-")}
        idle.process.kill()
        idle.process.wait()
        tracerd("run", "-q", "-o", place / "next.ndjson", "--", "/bin/true")
        assert mine not in instances()
        idle.process.stdin.close()
        idle.process.stdout.read()


def test_run_leaves_no_instance_and_no_socket_behind():
    need_kernel()
    with folder() as place, contextlib.ExitStack() as stack:
        idle = Idle("10", prefix=(TRACERD, "run", "-q", "-o", place / "out.ndjson", "--"))
        stack.enter_context(stopped_at_end(idle.process))
        environment = dict(pair.split("=", 1) for pair in
                           open(f"/proc/{idle.pid}/environ", encoding="utf-8").read().split("\0") if "=" in pair)
        path = environment["TRACERD_SOCKET"]
        assert os.path.exists(path)
        assert any(name.startswith(f"tracerd-{idle.process.pid}-") for name in instances())
        idle.end()
        assert not any(name.startswith(f"tracerd-{idle.process.pid}-") for name in instances())
        assert not os.path.exists(os.path.dirname(path))


# The service


class Service:
    """tracerd without a command, in a folder of its own, without the kernel's half."""

    def __init__(self, stack, place):
        self.directory = place / "run"
        configuration = place / "tracerd.json"
        configuration.write_text(json.dumps({"runtime_dir": str(self.directory), "kernel": False}), encoding="utf-8")
        self.process = stack.enter_context(stopped_at_end(start(TRACERD, "-c", configuration)))
        wait_for_line(self.process, "listening")
        self.profilers = self.directory / "profiler.sock"
        self.reader = stack.enter_context(socket.socket(socket.AF_UNIX))
        self.reader.settimeout(60)
        self.reader.connect(str(self.directory / "stream.sock"))
        self.lines = stack.enter_context(self.reader.makefile(encoding="utf-8", newline="\n"))
        assert parse(self.lines.readline())["k"] == "hello"

    def next_event(self, name, pid):
        for line in self.lines:
            record = parse(line)
            if record["k"] == "ev" and record["name"] == name and record["pid"] == pid:
                return record
        raise AssertionError(f"the stream ended before {name} of {pid}")


def test_service_streams_a_program_that_connects(runtime):
    with folder() as place, contextlib.ExitStack() as stack:
        service = Service(stack, place)
        idle = Idle(runtime, env=with_profiler(service.profilers))
        stack.enter_context(stopped_at_end(idle.process))
        info = service.next_event("clr:runtime_info", idle.pid)
        # 3.1 says 4.0.30319 of itself, the version of the framework it descends from.
        assert info["args"]["major"] == (4 if runtime == "3.1" else int(runtime)), info
        idle.ask("throw")
        assert service.next_event("clr:exception_thrown", idle.pid)["args"]["type"] == "Tracerd.Managed.AskedFor"
        idle.end()
        service.process.send_signal(signal.SIGTERM)
        finish(service.process)
        assert parse([*service.lines][-1])["k"] == "bye"


def test_service_restarted_has_the_program_back(runtime):
    with folder() as place, contextlib.ExitStack() as stack:
        first = Service(stack, place)
        idle = Idle(runtime, env=with_profiler(first.profilers))
        stack.enter_context(stopped_at_end(idle.process))
        first.next_event("clr:runtime_info", idle.pid)
        first.process.kill()
        first.process.wait()
        idle.ask("throw")
        second = Service(stack, place)
        second.next_event("clr:runtime_info", idle.pid)
        idle.ask("thread after-the-restart")
        while second.next_event("clr:thread_name", idle.pid)["args"]["name"] != "after-the-restart":
            pass
        report = idle.end()
        assert report["thrown"] == {"Tracerd.Managed.AskedFor": 1}, report


def test_service_started_later_finds_the_program():
    with folder() as place, contextlib.ExitStack() as stack:
        (place / "run").mkdir()
        idle = Idle("10", env=with_profiler(place / "run" / "profiler.sock"))
        stack.enter_context(stopped_at_end(idle.process))
        idle.ask("throw")
        service = Service(stack, place)
        service.next_event("clr:runtime_info", idle.pid)
        idle.end()


def test_environment_of_the_runtime_is_cleared_of_what_it_has(runtime):
    """The runtime keeps a copy of its own; what is not in it need not go, and what is goes: the profiler's log has no complaint."""
    with folder() as place:
        log = place / "profiler.log"
        tracerd("run", "--no-kernel", "-o", place / "out.ndjson", "--", *managed(runtime, "hello"),
                env={**os.environ, "TRACERD_LOG": str(log)})
        said = log.read_text() if log.exists() else ""
        assert "keeps" not in said, said
