"""What the end-to-end tests share: the programs, the runtimes, a strict reader of the stream, and how to skip.

A test is a function `test_SITUATION_RESULT` in a file test_*.py; if it takes a parameter `runtime` it is run once for
each of RUNTIMES. `python3 house.py FILE TEST [RUNTIME]` runs one; ctest lists them all.
"""

import contextlib
import importlib.util
import inspect
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

RUNTIMES = ("3.1", "8", "9", "10")
BUILD = pathlib.Path(os.environ.get("TRACERD_BUILD", "build")).resolve()
SOURCE = pathlib.Path(__file__).resolve().parents[2]
TRACERD = BUILD / "bin" / "tracerd"
TRACEFS = pathlib.Path("/sys/kernel/tracing")
LIMIT_S = 60  # for whatever a test waits for; nothing is measured by it
# Below ctest's own, so that a test that hangs still puts its processes away.
TEST_LIMIT_S = int(os.environ.get("TRACERD_TEST_LIMIT", "170"))


class Missing(Exception):
    """This machine lacks something the test needs."""


def need(condition, what):
    if not condition:
        raise Missing(what)


def need_kernel():
    need(os.geteuid() == 0, "root, for the kernel's trace buffers")
    need((TRACEFS / "instances").is_dir(), "tracefs at /sys/kernel/tracing")


def need_program(name):
    need(shutil.which(name), f"the program {name}")


def host(runtime):
    """The `dotnet` that sees exactly this runtime."""
    program = BUILD / "managed" / runtime / "dotnet"
    need(program.exists(), f"the .NET runtime {runtime} (ninja managed)")
    return str(program)


def managed(runtime, program, *arguments):
    """The command that starts one of tests/managed."""
    return [host(runtime), str(BUILD / "managed" / "apps" / program / "app.dll"), *map(str, arguments)]


def start(*command, **options):
    """A process with text pipes; the caller waits for it."""
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen([str(part) for part in command], text=True, errors="surrogateescape", **options)


def finish(process, expected=0):
    """Waits for its end; (stdout, stderr). `expected` is its exit code, None for any."""
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"{process.args} did not end; stdout {out[-2000:]!r} stderr {err[-2000:]!r}")
    assert expected is None or process.returncode == expected, (
        f"{process.args} ended with {process.returncode}, not {expected}\nstdout: {out[-2000:]}\nstderr: {err[-4000:]}")
    return out, err


def run(*command, expected=0, **options):
    return finish(start(*command, **options), expected)


def tracerd(*arguments, expected=0, **options):
    return run(TRACERD, *arguments, expected=expected, **options)


def report_of(output):
    """The JSON line a managed program ends with."""
    return json.loads(output.rstrip("\n").rsplit("\n", 1)[-1])


def wait_until(condition, what):
    """For a state of the world that nobody announces; what is announced is read instead."""
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end, f"still waiting for {what}"
        time.sleep(0.01)


@contextlib.contextmanager
def folder():
    path = pathlib.Path(tempfile.mkdtemp(prefix="tracerd-test-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def stopped_at_end(process):
    """Whatever happens in between, the process is gone afterwards."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()


def wait_for_line(process, text):
    """Reads the process's stderr up to a line that has `text` in it."""
    seen = ""
    for line in process.stderr:
        seen += line
        if text in line:
            return
    raise AssertionError(f"{process.args} ended with {process.wait()} before it said {text!r}: {seen}")


@contextlib.contextmanager
def attached(pid, out, *options, kernel=False):
    def try_to_attach():
        process = start(TRACERD, "--pid", pid, "-o", out, *(() if kernel else ("--no-kernel",)), *options)
        try:
            wait_for_line(process, "attached")
        except AssertionError as problem:
            # A runtime may take its time to let go of the profiler of a moment ago.
            if "another profiler is active" not in str(problem):
                raise
            return None
        return process

    tried = []
    wait_until(lambda: tried.append(try_to_attach()) or tried[-1], "the runtime to take a profiler")
    with stopped_at_end(tried[-1]) as process:
        yield process


def detach(process):
    process.send_signal(signal.SIGINT)
    finish(process)


class Idle:
    """The program `idle`: obeys one line at a time."""

    def __init__(self, runtime, prefix=(), command=None, **options):
        self.process = start(*prefix, *(command or managed(runtime, "idle")), stdin=subprocess.PIPE, **options)
        word, pid = self.read().split()
        assert word == "ready"
        self.pid = int(pid)

    def read(self):
        line = self.process.stdout.readline()
        assert line, f"the application ended early: {self.process.wait()} {self.process.stderr.read()}"
        return line.rstrip("\n")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.read()
        assert answer == f"done {line}", answer

    def end(self):
        out, _ = finish(self.process)
        return report_of(out)


def _once(pairs):
    members = dict(pairs)
    assert len(members) == len(pairs), f"a key twice: {pairs}"
    return members


def _no_constant(name):
    raise AssertionError(f"{name} is not JSON")


def parse(line):
    assert line.endswith("\n"), f"a line without its end: {line!r}"
    return json.loads(line, object_pairs_hook=_once, parse_constant=_no_constant)


class Timeline:
    """A whole stream, read strictly: UTF-8, one object a line, no key twice, hello first, bye last, no gap in `seq`."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8", errors="strict", newline="\n") as lines:
            self.records = [parse(line) for line in lines]
        assert self.records, f"{path} is empty"
        assert self.records[0]["k"] == "hello", self.records[0]
        assert self.records[-1]["k"] == "bye", self.records[-1]
        assert all(record["v"] == 1 for record in self.records)
        assert [record["seq"] for record in self.records] == list(range(len(self.records)))
        self.bye = self.records[-1]

    def kind(self, kind):
        return [record for record in self.records if record["k"] == kind]

    def events(self, name, pid=None):
        return [record for record in self.kind("ev")
                if record["name"] == name and pid in (None, record.get("pid"))]

    def spans(self, name):
        return [record for record in self.kind("span") if record["name"] == name]

    def count(self, name, pid=None):
        return len(self.events(name, pid))

    def check_order(self, late=None):
        """Events stand in the order of their time, but for those that say themselves that they come late, which they may
        only where something stalled; `late` is how many of them there may be."""
        marked = [record for record in self.records if record.get("late") is True]
        times = [int(record["ts"]) for record in self.kind("ev") if record.get("late") is not True]
        for before, after in zip(times, times[1:]):
            assert before <= after, f"{after} stands behind {before}"
        assert int(self.bye["late"]) == len(marked), self.bye
        assert late is None or len(marked) == late, f"{len(marked)} late records, the first is {marked[0]}"

    def check_sums(self, lost=0):
        """produced = delivered + lost, in all and for each source; what was delivered is in the stream."""
        for ledger in [self.bye, *self.bye["sources"]]:
            assert int(ledger["produced"]) == int(ledger["delivered"]) + int(ledger["lost"]), ledger
            assert "losses_uncounted" not in ledger, ledger
        for name in ("produced", "delivered", "lost"):
            assert int(self.bye[name]) == sum(int(source[name]) for source in self.bye["sources"]), self.bye
        told = sum(int(record["n"]) for record in self.kind("lost"))
        assert told == int(self.bye["lost"]), f"lost lines tell {told}: {self.bye}"
        assert len(self.kind("ev")) == int(self.bye["delivered"]) - int(self.bye["filtered"]), self.bye
        for output in self.bye["outputs"]:
            assert int(output["produced"]) == int(output["delivered"]) + int(output["lost"]), output
            if output["output"] == str(self.path):
                # Every line before this one came here.
                assert (output["delivered"], output["lost"]) == (self.bye["lines"], "0"), self.bye
        if lost is not None:
            assert int(self.bye["lost"]) == lost, self.bye


def instances():
    """tracerd's instances in tracefs now."""
    return {entry.name for entry in (TRACEFS / "instances").iterdir() if entry.name.startswith("tracerd-")}


def _on_alarm(number, frame):
    raise TimeoutError(f"the test took longer than {TEST_LIMIT_S} s")


def _main():
    signal.signal(signal.SIGALRM, _on_alarm)
    signal.alarm(TEST_LIMIT_S)
    path, name, *runtime = sys.argv[1:]
    sys.path.insert(0, str(pathlib.Path(path).parent))
    specification = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    module = importlib.util.module_from_spec(specification)
    try:
        specification.loader.exec_module(module)
        need(TRACERD.exists(), f"{TRACERD}, which the build makes")
        test = getattr(module, name)
        assert bool(inspect.signature(test).parameters) == bool(runtime), "runtime given or missing"
        if name.startswith("test_"):
            # Where every event is counted, a busy machine must not be the answer; who looks at rings says so.
            os.environ.setdefault("TRACERD_CLR_BUFFER", "64M/4M")
        test(*runtime)
    except Exception as problem:
        # `need` may have been raised by the other copy of this module, the one the test imported.
        if type(problem).__name__ != "Missing":
            traceback.print_exc()
            return 1
        if os.environ.get("CI") == "true":
            print(f"FAIL: missing {problem}", file=sys.stderr)
            return 1
        print(f"SKIP: {problem}")
        return 77
    print(f"ok: {name} {' '.join(runtime)}")
    return 0


if __name__ == "__main__":
    sys.exit(_main())
