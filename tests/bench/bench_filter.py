"""What it saves that the kernel filters: the same filter in words that it has, and in words that only tracerd has, in turns
over the same number of system calls. Prints what was recorded, and the processor time of tracerd and of the program.
TRACERD_BENCH_CALLS: system calls of a run (1000000). TRACERD_BENCH_TURNS: of each (5)."""

import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from house import TRACERD, Timeline, folder, need_kernel, start  # noqa: E402

CALLS = int(os.environ.get("TRACERD_BENCH_CALLS", "1000000"))
TURNS = int(os.environ.get("TRACERD_BENCH_TURNS", "5"))
PROGRAM = """
import os, resource, sys
for _ in range(int(sys.argv[1])):
    os.getppid()
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime)
"""
FILTERS = {"in the kernel": "id == 39", "in tracerd": "id + 0 == 39"}  # getpid, which it seldom calls


def one_run(expression):
    with folder() as place:
        with start(TRACERD, "run", "-q", "--no-clr", "-e", "raw_syscalls:sys_enter", "--filter", expression,
                   "-o", place / "out.ndjson", "--", sys.executable, "-c", PROGRAM, CALLS) as process:
            out, error = process.stdout.read(), process.stderr.read()
            # All that it waited for is in here, so the program's own is taken away again.
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, error
        bye = Timeline(place / "out.ndjson").bye
    program = float(out)
    return int(bye["produced"]), usage.ru_utime + usage.ru_stime - program, program


def bench_filter():
    need_kernel()
    figures = {where: [] for where in FILTERS}
    for _ in range(TURNS):
        for where, expression in FILTERS.items():
            figures[where].append(one_run(expression))
    medians = {where: [statistics.median(column) for column in zip(*runs)] for where, runs in figures.items()}
    for where, (produced, tracerd_s, program_s) in medians.items():
        print(f"  filtered {where:13}: {produced:9.0f} events recorded, tracerd {tracerd_s:6.2f} s, the program {program_s:6.2f} s")
    here, there = medians["in tracerd"], medians["in the kernel"]
    assert there[0] < CALLS <= here[0], (there, here)
    print(f"  {CALLS} calls: in the kernel {here[1] / there[1]:.1f} times less of tracerd, {here[2] / there[2]:.2f} times less of the program")


if __name__ == "__main__":
    sys.argv = [sys.argv[0], __file__, "bench_filter"]
    from house import _main
    sys.exit(_main())
