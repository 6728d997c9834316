"""How fast a trace.dat is read: tracerd replay to NDJSON against trace-cmd report to text, on the same file, in turns.
The file is made here, of this kernel's events. Runs of each: TRACERD_BENCH_RUNS; system calls recorded:
TRACERD_BENCH_CALLS."""

import os
import signal
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from house import TRACEFS, TRACERD, folder, need_kernel, need_program, run  # noqa: E402

RUNS = int(os.environ.get("TRACERD_BENCH_RUNS", "5"))
CALLS = int(os.environ.get("TRACERD_BENCH_CALLS", "500000"))


def record(place):
    """The raw pages of an instance in which dd read and wrote CALLS times; each is an enter and an exit."""
    instance = TRACEFS / "instances" / f"tracerd-test-bench-{os.getpid()}"
    instance.mkdir()
    try:
        (instance / "trace_clock").write_text("mono")
        (instance / "buffer_size_kb").write_text(str(CALLS * 4 * 60 // 1024))
        (instance / "set_event_pid").write_text(str(os.getpid()))
        (instance / "options" / "event-fork").write_text("1")
        for events in ("sched", "raw_syscalls"):
            (instance / "events" / events / "enable").write_text("1")
        run("dd", "if=/dev/zero", "of=/dev/null", "bs=1", f"count={CALLS}")
        (instance / "tracing_on").write_text("0")
        pages = []
        for cpu in sorted((instance / "per_cpu").iterdir(), key=lambda path: int(path.name[3:])):
            pages.append(place / f"{cpu.name}.raw")
            descriptor = os.open(cpu / "trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
            with open(pages[-1], "wb") as out:
                try:
                    while page := os.read(descriptor, 4096):
                        out.write(page.ljust(4096, b"\0"))
                except BlockingIOError:
                    pass
            os.close(descriptor)
    finally:
        instance.rmdir()
    run("trace-cmd", "restore", "-c", "-o", place / "header.dat")
    run("trace-cmd", "restore", "-i", place / "header.dat", "-o", place / "trace.dat", *pages)
    return place / "trace.dat"


def peak_memory(pid, before):
    """In MB, as the process says itself: what wait4 tells begins with the memory of whoever forked it."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        sizes = [int(line.split()[1]) / 1000 for line in status if line.startswith("VmHWM")]
    return sizes[0] if sizes else before


def measure(cores, *command):
    """Elapsed seconds, processor seconds and peak memory in MB of a command whose output nobody keeps."""
    before, memory, pid = time.monotonic(), 0, 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: os.sched_setaffinity(0, cores))
    while pid == 0:
        memory = peak_memory(process.pid, memory)
        time.sleep(0.005)
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
    elapsed = time.monotonic() - before
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{command} ended with {process.returncode}"
    return elapsed, usage.ru_utime + usage.ru_stime, memory


def in_turns(rows):
    """Medians of each row's figures; every run goes once through all rows."""
    figures = {name: [] for name in rows}
    for _ in range(RUNS):
        for name, (cores, command) in rows.items():
            figures[name].append(measure(cores, *command))
    return {name: tuple(map(statistics.median, zip(*runs))) for name, runs in figures.items()}


def count_lines(pattern, *command):
    """Those that match, of an output too large to be kept."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        lines, _ = run("grep", "-c", pattern, stdin=process.stdout)
    assert process.returncode == 0, f"{command} ended with {process.returncode}"
    return int(lines)


def count_events(file):
    """As many here as there."""
    events = count_lines('"k":"ev"', TRACERD, "replay", "-q", "-o", "-", file)
    reported = count_lines("^ .*: ", "trace-cmd", "report", "-i", file)
    assert events == reported, f"{events} events here, {reported} lines there"
    return events


def bench_replay():
    signal.alarm(0)  # a large file takes longer than any test may
    need_kernel()
    need_program("trace-cmd")
    with folder() as place:
        file = record(place)
        packed = place / "packed.dat"
        run("trace-cmd", "convert", "-i", file, "-o", packed, "--compression", "zstd")
        events = count_events(file)
        every = os.sched_getaffinity(0)
        one = {max(every)}

        def ours(cores, path, *options):
            return cores, (TRACERD, "replay", "-q", *options, "-o", "/dev/null", path)

        def theirs(path, *options):
            return one, ("trace-cmd", "report", "-i", path, *options)

        pairs = [("all, one core", ours(one, file), "report", theirs(file)),
                 (f"all, {len(every)} cores", ours(every, file), "report", theirs(file)),
                 ("all, zstd, one core", ours(one, packed), "report, zstd", theirs(packed)),
                 ("one kind, one core", ours(one, file, "-e", "sched:sched_switch"),
                  "report -F", theirs(file, "-F", "sched/sched_switch"))]
        rows = {}
        for name, row, beside, other in pairs:
            rows[name], rows[beside] = row, other
        results = in_turns(rows)
        print(f"{events} events, {file.stat().st_size / 1e6:.0f} MB, {RUNS} runs, medians")
        for name, (elapsed, used, memory) in results.items():
            print(f"{name:20} {elapsed:6.2f} s, {used:6.2f} s of processor, {events / elapsed / 1e6:6.2f} M events/s, "
                  f"{memory:4.0f} MB")
        for name, _, beside, _ in pairs:
            print(f"{name} beside {beside}: {results[beside][0] / results[name][0]:.1f} times as fast, "
                  f"{results[beside][1] / results[name][1]:.1f} times by processor time")
        cores = f"all, {len(every)} cores"
        print(f"{cores} beside one: {results['all, one core'][0] / results[cores][0]:.2f} times as fast")


if __name__ == "__main__":
    sys.argv = [sys.argv[0], __file__, "bench_replay"]
    from house import _main
    sys.exit(_main())
