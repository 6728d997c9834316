"""A row of the conformance suite in every cell: runtimes x {start-up, attach, notification-only}.

A cell runs `conformance ROW` of tests/managed under tracerd. It counts when the program printed its marker *and* ended
with 100; then the row's own check compares what arrived in the stream with what the program counted. A row prints a table
of its cells and fails with all that went wrong, not with the first.
"""

import os
import subprocess
import traceback

from house import (BUILD, RUNTIMES, TRACERD, Missing, Timeline, attached, finish, folder, managed, need, need_kernel,
                   report_of, start, stopped_at_end)

STARTUP, ATTACH, NOTIFICATION = "startup", "attach", "notification"
MODES = (STARTUP, ATTACH, NOTIFICATION)
PASSED = 100
NOOP = BUILD / "lib" / "libnoop_profiler.so"
PROFILER = BUILD / "lib" / "libtracerd_profiler.so"
MAIN_CLASS = "{8A1F5C3E-6B0D-4B7E-9C55-3D1E0F2A7B41}"
NOTIFICATION_CLASS = "{8A1F5C3F-6B0D-4B7E-9C55-3D1E0F2A7B41}"


class NotThere(Exception):
    """The runtime does not offer this; the row says what is seen instead."""


class Cell:
    """One run: what the program said of itself (`facts`) beside what arrived (`timeline`)."""

    def __init__(self, runtime, mode, output, path):
        self.runtime, self.mode = runtime, mode
        self.output = output
        self.facts = report_of(output)
        self.pid = self.facts["pid"]
        self.timeline = Timeline(path)
        self.whole_life = mode != ATTACH

    def events(self, name):
        return self.timeline.events("clr:" + name, self.pid)

    def args(self, name):
        return [event["args"] for event in self.events(name)]

    def collections(self):
        """Of each generation while the profiler was there, as the runtime counts them itself."""
        before = [0, 0, 0] if self.whole_life else self.facts["gc_before"]
        return [now - then for now, then in zip(self.facts["gc"], before)]


def need_mode(runtime, mode):
    if mode == NOTIFICATION:
        need(NOOP.exists(), f"{NOOP}, which the build makes")
        if runtime == "3.1":
            raise NotThere("3.1 has no notification-only profilers")


def with_other_profiler(environment):
    """The main slot is somebody else's: a profiler that does nothing."""
    return {**environment, "CORECLR_ENABLE_PROFILING": "1", "CORECLR_PROFILER": MAIN_CLASS,
            "CORECLR_PROFILER_PATH": str(NOOP)}


def with_our_profiler(mode, socket_path, **more):
    """The environment of a program that no tracerd starts: the profiler in the slot of this cell, or, where it is to be
    attached, none."""
    environment = {**os.environ, "TRACERD_SOCKET": str(socket_path), **more}
    if mode == ATTACH:
        return environment
    if mode == NOTIFICATION:
        return {**with_other_profiler(environment), "CORECLR_ENABLE_NOTIFICATION_PROFILERS": "1",
                "CORECLR_NOTIFICATION_PROFILERS": f"{PROFILER}={NOTIFICATION_CLASS};"}
    return {**environment, "CORECLR_ENABLE_PROFILING": "1", "CORECLR_PROFILER": MAIN_CLASS,
            "CORECLR_PROFILER_PATH": str(PROFILER)}


def wait_until_ready(process):
    word, pid = process.stdout.readline().split()
    assert word == "ready", word
    return int(pid)


def say(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()


def read_to(process, sought):
    """The lines before the one sought."""
    lines = []
    for line in process.stdout:
        if line == sought + "\n":
            return lines
        lines.append(line)
    raise AssertionError(f"{process.args} ended with {process.wait()} before it said {sought!r}: {process.stderr.read()}")


def run_attached(command, options, out, environment, kernel, talk):
    process = start(*command, stdin=subprocess.PIPE, env=environment)
    with stopped_at_end(process):
        pid = wait_until_ready(process)
        with attached(pid, out, *options, kernel=kernel) as tracer:
            if talk:
                talk(process, pid)
            output, _ = finish_with_marker(process)
            finish(tracer)
    return output


def run_from_start(command, options, out, environment, kernel, talk):
    halves = () if kernel else ("--no-kernel",)
    process = start(TRACERD, "run", "-o", out, *halves, *options, "--", *command, env=environment, stdin=subprocess.PIPE)
    with stopped_at_end(process):
        if talk:
            talk(process, wait_until_ready(process))
        return finish_with_marker(process)[0]


def finish_with_marker(process):
    output, error = finish(process, expected=None)
    marked = any(line.startswith("PASSED ") for line in output.splitlines())
    assert marked and process.returncode == PASSED, (
        f"{'no ' if not marked else ''}marker and exit code {process.returncode}, not {PASSED}\n"
        f"stdout: {output[-2000:]}\nstderr: {error[-4000:]}")
    return output, error


def observe(runtime, mode, row, *arguments, options=(), environment=None, kernel=False, talk=None):
    """Runs the program in this cell; `options` are tracerd's; `kernel`: with the kernel's half, root's business;
    talk(process, pid) is called when the program is ready and the profiler there, and may speak with both."""
    if kernel:
        need_kernel()
    need_mode(runtime, mode)
    environment = {**os.environ, **(environment or {})}
    command = managed(runtime, "conformance", row, *arguments)
    with folder() as place:
        out = place / "out.ndjson"
        if mode == ATTACH:
            output = run_attached(command, options, out, environment, kernel, talk)
        else:
            if mode == NOTIFICATION:
                environment = with_other_profiler(environment)
            output = run_from_start(command, options, out, environment, kernel, talk)
        cell = Cell(runtime, mode, output, out)
    assert cell.facts["runtime"].startswith(runtime), cell.facts
    check_slot(cell)
    cell.timeline.check_sums()
    return cell


def check_slot(cell):
    """The profiler came in the way this cell is about."""
    for info in cell.args("runtime_info"):
        assert info["mode"]["name"] == ("attach" if cell.mode == ATTACH else "startup"), info
        assert info["notification_only"] == (cell.mode == NOTIFICATION), info
        assert info["major"] == (4 if cell.runtime == "3.1" else int(cell.runtime)), info
    assert cell.events("runtime_info"), "no runtime_info"


def unavailable(cell):
    """What was asked for and the runtime cannot give, as the stream states it."""
    return [name for args in cell.args("unavailable") for name in args["categories"]["names"]]


def row(check, runtimes=RUNTIMES, modes=MODES):
    """Calls check(runtime, mode) for each cell; it returns a line of figures, or raises."""
    problems, missing, passed = [], [], 0
    for runtime in runtimes:
        for mode in modes:
            try:
                need_mode(runtime, mode)
                figures = check(runtime, mode)
                passed += 1
            except NotThere as reason:
                figures = f"not there: {reason}"
            except Missing as reason:
                figures = f"missing: {reason}"
                missing.append(reason)
            except Exception as problem:
                figures = f"FAILED: {str(problem).splitlines()[0] if str(problem) else repr(problem)}"
                problems.append((f"{runtime} {mode}", problem))
            print(f"{runtime:>4}  {mode:<12}  {figures}", flush=True)
    assert not problems, f"{len(problems)} cells failed, the first is {problems[0][0]}:\n" + "".join(
        traceback.format_exception(problems[0][1]))
    if missing:
        raise missing[0]
    assert passed > 0, "no cell was run"
