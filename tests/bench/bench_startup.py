"""What tracing adds to the start and end of a hello-world: the same program untraced, with a profiler that does nothing
(the runtime's own price), and under tracerd run, in turns, so that whatever else the machine does meets all of them.
Prints medians and their ratio to the untraced one. Runs of each: TRACERD_BENCH_RUNS."""

import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from house import BUILD, RUNTIMES, TRACERD, folder, managed, need_kernel  # noqa: E402

RUNS = int(os.environ.get("TRACERD_BENCH_RUNS", "15"))
NOOP = {**os.environ, "CORECLR_ENABLE_PROFILING": "1", "CORECLR_PROFILER": "{8A1F5C3E-6B0D-4B7E-9C55-3D1E0F2A7B41}",
        "CORECLR_PROFILER_PATH": str(BUILD / "lib" / "libnoop_profiler.so")}


def seconds(command, environment):
    before = time.monotonic()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - before


def bench_startup():
    need_kernel()
    assert (BUILD / "lib" / "libnoop_profiler.so").exists()
    print(f"{'runtime':8} {'untraced':>10} {'no-op profiler':>18} {'run --no-kernel':>18} {'run':>18}   ({RUNS} runs, medians)")
    with folder() as place:
        for runtime in RUNTIMES:
            hello = managed(runtime, "hello")
            trace = [TRACERD, "run", "-q", "-o", place / "out.ndjson"]
            ways = ((hello, None), (hello, NOOP), ([*trace, "--no-kernel", "--", *hello], None), ([*trace, "--", *hello], None))
            times = [[] for _ in ways]
            for _ in range(RUNS):
                for (command, environment), list_of_times in zip(ways, times):
                    list_of_times.append(seconds(command, environment))
            medians = [statistics.median(each) for each in times]
            print(f"{runtime:8} {medians[0] * 1000:8.1f}ms" + "".join(
                f" {median * 1000:9.1f}ms {median / medians[0]:5.2f}x" for median in medians[1:]))


if __name__ == "__main__":
    sys.argv = [sys.argv[0], __file__, "bench_startup"]
    from house import _main
    sys.exit(_main())
