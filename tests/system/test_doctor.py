"""tracerd doctor: every step tells the truth about a machine or a process that we made, and the first missing one is named."""

import contextlib
import json
import os
import re
import pathlib
import signal

from house import (BUILD, TRACERD, Idle, finish, folder, need, need_kernel, need_program, run, start, stopped_at_end,
                   wait_until)
from targets import NOBODY, NOBODY_IS, NOOP, descendant, in_own_namespaces, with_noop_profiler


def doctor(*arguments, expected=0, prefix=(), **options):
    """The report as an object, and its steps by name; expected is the exit code."""
    out, err = run(*prefix, TRACERD, "doctor", "--json", *arguments, expected=expected, **options)
    report = json.loads(out)
    assert out.count("\n") == 1 and err == "", (out, err)
    steps = {step["name"]: step for step in report["steps"]}
    assert len(steps) == len(report["steps"]), "a name twice"
    missing = [step["name"] for step in report["steps"] if step["verdict"] == "no" and step["needed"]]
    assert report["ok"] == (not missing) == (expected == 0), report
    assert report["first"] == (missing[0] if missing else None), report
    assert all(bool(step.get("advice")) == (step["verdict"] == "no") for step in report["steps"]), report
    return report, steps


def verdicts(steps, *names):
    return [steps[name]["verdict"] for name in names]


# The machine

def test_doctor_where_all_is_there_says_ok_and_leaves_nothing_behind():
    need_kernel()
    process = start(TRACERD, "doctor", "--json")
    out, _ = finish(process)
    steps = {step["name"]: step for step in json.loads(out)["steps"]}
    kernel = ("tracefs", "own instance", "clock", "pid filter", "events", "ring", "library", "library format",
              "library needs", "place for sockets")
    assert verdicts(steps, *kernel) == ["ok"] * len(kernel), steps
    assert steps["library"]["found"] == str(BUILD / "lib" / "libtracerd_profiler.so"), steps
    for place in (steps["own instance"]["found"], steps["place for sockets"]["found"].split()[0]):
        assert f"tracerd-{process.pid}-" in place, place
        assert not os.path.exists(place), f"{place} was left behind"


def test_doctor_text_has_the_same_steps_and_names_the_first_missing():
    with folder() as place:
        damaged = place / "libtracerd_profiler.so"
        damaged.write_bytes(b"no library")
        environment = {**os.environ, "TRACERD_PROFILER": str(damaged)}
        report, _ = doctor("--no-kernel", expected=3, env=environment)
        out, err = run(TRACERD, "doctor", "--no-kernel", expected=3, env=environment)
        assert err == ""
        lines = [line.split("  ") for line in out.splitlines() if re.match(r"  \S", line)]
        told = [line[1].split()[0] for line in lines]
        assert [step["verdict"] for step in report["steps"]] == [word for word in told if word in ("ok", "no", "-")], out
        first = next(step for step in report["steps"] if step["name"] == report["first"])
        assert f"First missing: {report['first']}: " in out, out
        assert f"What to do: {first['advice']}" in out, out


def test_doctor_library_that_is_none_or_not_there_is_the_first_missing():
    with folder() as place:
        for path, first in ((place / "nowhere.so", "library"), (place / "text.so", "library format"),
                            (place / "foreign.so", "library format")):
            if path.name == "text.so":
                path.write_text("no library\n")
            if path.name == "foreign.so":
                content = bytearray((BUILD / "lib" / "libtracerd_profiler.so").read_bytes())
                content[18:20] = (183 if content[18] != 183 else 62).to_bytes(2, "little")  # e_machine
                path.write_bytes(content)
            report, steps = doctor("--no-kernel", expected=3, env={**os.environ, "TRACERD_PROFILER": str(path)})
            assert report["first"] == first, report


def test_doctor_library_whose_own_libraries_are_missing_names_them():
    need_program("gcc")
    with folder() as place:
        for name, more in (("absent", ()), ("needy", ("-Wl,--no-as-needed", f"-L{place}", "-labsent"))):
            run("gcc", "-shared", "-o", place / f"lib{name}.so", "-x", "c", "/dev/null", *more)
        (place / "libabsent.so").unlink()
        report, steps = doctor("--no-kernel", expected=3,
                               env={**os.environ, "TRACERD_PROFILER": str(place / "libneedy.so")})
        assert report["first"] == "library needs", report
        assert "libabsent.so" in steps["library needs"]["found"], report


def test_doctor_as_an_ordinary_user_says_that_the_kernel_needs_root():
    need_kernel()
    need_program("setpriv")
    report, steps = doctor(expected=3, prefix=NOBODY_IS)
    assert report["first"] == "own instance", report
    assert "root" in steps["own instance"]["advice"], report
    assert verdicts(steps, "clock", "pid filter", "events", "ring") == ["-"] * 4, report
    report, _ = doctor("--no-kernel", prefix=NOBODY_IS)
    assert not {"tracefs", "own instance"} & {step["name"] for step in report["steps"]}, report


# A process

CLR_STEPS = ("runtime", "diagnostics", "diagnostics socket", "answer", "architecture", "C library", "file system",
             "profiler slot")


def test_doctor_of_a_dotnet_process_knows_its_runtime(runtime):
    need_kernel()
    idle = Idle(runtime)
    with stopped_at_end(idle.process):
        report, steps = doctor("--pid", idle.pid)
        assert report["pid"] == idle.pid
        assert verdicts(steps, *CLR_STEPS) == ["ok"] * len(CLR_STEPS), report
        own = idle.end()["runtime"]
        assert f"CoreCLR {own} in " in steps["runtime"]["found"], (own, report)
        # 3.1 does not know the question.
        assert runtime == "3.1" or f".NET {own}" in steps["answer"]["found"], (own, report)


def test_doctor_of_no_process_says_so():
    dead = start("true")
    finish(dead)
    report, steps = doctor("--no-kernel", "--pid", dead.pid, expected=3)
    assert report["first"] == "process", report
    assert verdicts(steps, "user", "/proc entries", "state", *CLR_STEPS) == ["-"] * (3 + len(CLR_STEPS)), report


def test_doctor_of_a_process_that_is_not_dotnet_says_so():
    with stopped_at_end(start("sleep", "1000")) as sleeper:
        report, steps = doctor("--no-kernel", "--pid", sleeper.pid, expected=3)
        assert report["first"] == "runtime", report
        assert verdicts(steps, *CLR_STEPS[1:]) == ["-"] * (len(CLR_STEPS) - 1), report
        assert "(sleep)" in steps["process"]["found"], report
        doctor("--no-clr", "--pid", sleeper.pid)


def test_doctor_of_another_users_process_says_whose_it_is():
    need_program("setpriv")
    need(os.geteuid() == 0, "root, to be two users")
    with stopped_at_end(start("sleep", "1000")) as sleeper:
        report, steps = doctor("--no-kernel", "--pid", sleeper.pid, expected=3, prefix=NOBODY_IS)
        assert report["first"] == "user", report
        assert "uid 0" in steps["user"]["found"] and str(NOBODY) in steps["user"]["found"], report
    with stopped_at_end(start(*NOBODY_IS, "sleep", "1000")) as sleeper:
        wait_until(lambda: os.stat(f"/proc/{sleeper.pid}").st_uid == NOBODY, "the other user")
        _, steps = doctor("--no-clr", "--pid", sleeper.pid)
        assert str(NOBODY) in steps["user"]["found"], steps


def test_doctor_of_a_process_with_diagnostics_off_names_the_variable():
    # 8 knows the parts apart, 6 and later the whole; in each the socket is missing.
    for runtime, name in (("8", "DOTNET_EnableDiagnostics"), ("10", "DOTNET_EnableDiagnostics_IPC")):
        idle = Idle(runtime, env={**os.environ, name: "0"})
        with stopped_at_end(idle.process):
            report, steps = doctor("--no-kernel", "--pid", idle.pid, expected=3)
            assert report["first"] == "diagnostics", report
            assert f"{name}=0" in steps["diagnostics"]["found"], report
            assert verdicts(steps, "diagnostics socket", "answer") == ["-", "-"], report


def test_doctor_of_a_stopped_process_does_not_ask_it():
    idle = Idle("10")
    with stopped_at_end(idle.process):
        idle.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: open(f"/proc/{idle.pid}/stat", encoding="utf-8").read().rsplit(")", 1)[1].split()[0] == "T",
                   "the process to stop")
        report, steps = doctor("--no-kernel", "--pid", idle.pid, expected=3)
        assert report["first"] == "state" and f"kill -CONT {idle.pid}" in steps["state"]["advice"], report
        assert verdicts(steps, "runtime", "diagnostics socket", "answer") == ["ok", "ok", "-"], report
        idle.process.send_signal(signal.SIGCONT)
        doctor("--no-kernel", "--pid", idle.pid)


def test_doctor_of_a_frozen_process_does_not_ask_it():
    freezer = pathlib.Path("/sys/fs/cgroup/freezer")
    need(os.geteuid() == 0 and (freezer / "cgroup.procs").exists(), "root and the freezer of cgroup version 1")
    group = freezer / f"tracerd-test-doctor-{os.getpid()}"
    idle = Idle("10")
    with stopped_at_end(idle.process):
        group.mkdir()
        try:
            (group / "cgroup.procs").write_text(str(idle.pid))
            (group / "freezer.state").write_text("FROZEN")
            wait_until(lambda: (group / "freezer.state").read_text() == "FROZEN\n", "the process to freeze")
            report, steps = doctor("--no-kernel", "--pid", idle.pid, expected=3)
            assert report["first"] == "state" and "Thaw" in steps["state"]["advice"], report
            (group / "freezer.state").write_text("THAWED")
            doctor("--no-kernel", "--pid", idle.pid)
            idle.end()
        finally:
            (group / "freezer.state").write_text("THAWED")
            idle.process.kill()
            idle.process.wait()
            group.rmdir()


def test_doctor_of_a_process_whose_socket_is_gone_names_where_it_should_be():
    with folder() as place:
        idle = Idle("8", env={**os.environ, "TMPDIR": str(place)})
        with stopped_at_end(idle.process):
            socket, = place.glob("dotnet-diagnostic-*-socket")
            _, steps = doctor("--no-kernel", "--pid", idle.pid)
            assert steps["diagnostics socket"]["found"] == f"{socket} (TMPDIR {place})", steps
            socket.unlink()
            report, steps = doctor("--no-kernel", "--pid", idle.pid, expected=3)
            assert report["first"] == "diagnostics socket" and "Restart" in steps["diagnostics socket"]["advice"], report


def test_doctor_of_a_process_in_other_namespaces_finds_its_way_in():
    need(os.geteuid() == 0, "root, for namespaces")
    need_program("unshare")
    with folder() as place:
        idle = Idle("8", prefix=in_own_namespaces(place), env={**os.environ, "TMPDIR": str(place)})
        with stopped_at_end(idle.process):
            assert idle.pid == 1
            pid = descendant(idle.process.pid)
            report, steps = doctor("--no-kernel", "--pid", pid)
            assert f"NSpid {pid} 1" in steps["pid namespace"]["found"], report
            assert f"/proc/{pid}/root" in steps["mount namespace"]["found"], report
            assert steps["diagnostics socket"]["found"].startswith(f"/proc/{pid}/root{place}/dotnet-diagnostic-1-"), report
            assert "pid 1 to itself" in steps["answer"]["found"], report
            assert "gets a copy" in steps["file system"]["found"], report
            inside = os.listdir(f"/proc/{pid}/root{place}")
            assert not [name for name in inside if name.startswith("tracerd-")], inside
            assert not list(place.iterdir()), "the socket is seen outside: this is no other mount namespace"
            idle.end()


def test_doctor_of_a_process_with_another_profiler_says_who_holds_the_slot():
    for runtime, expected in (("8", 0), ("10", 0), ("3.1", 3)):
        idle = Idle(runtime, env=with_noop_profiler())
        with stopped_at_end(idle.process):
            report, steps = doctor("--no-kernel", "--pid", idle.pid, expected=expected)
            assert str(NOOP) in steps["profiler slot"]["found"], report
            assert report["first"] == ("profiler slot" if expected else None), report


def test_doctor_of_a_process_that_is_traced_already_says_so_and_not_afterwards():
    for runtime in ("3.1", "10"):
        idle = Idle(runtime)
        with stopped_at_end(idle.process):
            with stopped_at_end(start(TRACERD, "--pid", idle.pid, "-o", "/dev/null", "--no-kernel")) as tracer:
                assert "attached to process" in tracer.stderr.readline()
                report, steps = doctor("--no-kernel", "--pid", idle.pid, expected=3)
                assert report["first"] == "profiler slot" and "traced already" in steps["profiler slot"]["found"], report
                tracer.send_signal(signal.SIGINT)
                finish(tracer)
            wait_until(lambda: "tracerd-sender" not in names_of_threads(idle.pid), "the profiler to leave")
            doctor("--no-kernel", "--pid", idle.pid)


def names_of_threads(pid):
    names = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):
            names.append((task / "comm").read_text(encoding="utf-8").strip())
    return names
