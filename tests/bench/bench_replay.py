"""How fast a trace.dat is read: tracerd replay to NDJSON against trace-cmd report to text, on the same file, in turns.
The file is made here, of this kernel's events. Runs of each: TRACERD_BENCH_RUNS; system calls recorded:
TRACERD_BENCH_CALLS."""

import os
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


def seconds(*command):
    before = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - before


def bench_replay():
    need_kernel()
    need_program("trace-cmd")
    with folder() as place:
        file = record(place)
        kinds, _ = run(TRACERD, "replay", "-q", "-e", "*:*", "-o", "-", file)
        events = kinds.count('"k":"ev"')
        report, _ = run("trace-cmd", "report", "-i", file)
        reported = sum(": " in line and line.startswith(" ") for line in report.splitlines())
        assert events == reported, f"{events} events here, {reported} lines there"
        times = [[], []]
        for _ in range(RUNS):
            times[0].append(seconds("trace-cmd", "report", "-i", file))
            times[1].append(seconds(TRACERD, "replay", "-q", "-e", "*:*", "-o", "/dev/null", file))
        theirs, ours = map(statistics.median, times)
        print(f"{events} events, {file.stat().st_size / 1e6:.0f} MB, {RUNS} runs, medians")
        print(f"trace-cmd report   {theirs:6.2f} s {events / theirs / 1e6:6.2f} M events/s")
        print(f"tracerd replay     {ours:6.2f} s {events / ours / 1e6:6.2f} M events/s   {theirs / ours:.1f} times as many")


if __name__ == "__main__":
    sys.argv = [sys.argv[0], __file__, "bench_replay"]
    from house import _main
    sys.exit(_main())
