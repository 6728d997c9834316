"""The profiler for arm64 in a real runtime of arm64, on an emulator: hooks in methods, their arguments and results.

The profiler in the emulator talks to the service of this machine's own tracerd."""

import os
import subprocess
import sys

from house import BUILD, SOURCE, Timeline, finish, folder, managed, need, need_program, report_of, start, stopped_at_end, wait_until
from test_methods import TRACED, compare as compare_calls
from test_service import connect, service, stop

sys.path.append(str(SOURCE / "tests" / "profiler" / "conformance"))
from test_arguments import GIVEN, compare as compare_values  # noqa: E402

HOST, PROFILER = BUILD / "arm64" / "two_runtimes", BUILD / "arm64" / "libtracerd_profiler.so"
SYSROOT = "/usr/aarch64-linux-gnu"
MAIN_CLASS = "{8A1F5C3E-6B0D-4B7E-9C55-3D1E0F2A7B41}"
EMULATED_S = 150


def trace(place, version, program, **variables):
    """(timeline, report) of the program in the emulator, its profiler connected to a service."""
    runtime = BUILD / "managed" / f"arm64-{version}"
    need((runtime / "libcoreclr.so").exists(), f"the .NET runtime {version} for arm64 (ninja managed)")
    need(PROFILER.exists(), "the profiler for arm64 (aarch64-linux-gnu-gcc, ninja arm64)")
    need_program("qemu-aarch64")
    environment = {
        **os.environ, "CORECLR_ENABLE_PROFILING": "1", "CORECLR_PROFILER": MAIN_CLASS,
        "CORECLR_PROFILER_PATH": str(PROFILER), "TRACERD_CLR": "default,method",
        "TRACERD_SOCKET": str(place / "run" / "profiler.sock"),
        # What the emulator has no memory or no mappings for.
        "DOTNET_EnableWriteXorExecute": "0", "DOTNET_GCHeapHardLimit": "0x10000000",
        "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1", **variables}
    with service(place, clr=["default", "method"]) as process, connect(place) as consumer, open(place / "out.ndjson", "wb") as file:
        copier = start("cat", stdin=consumer.fileno(), stdout=file)
        with stopped_at_end(copier):
            host = subprocess.run(["qemu-aarch64", "-L", SYSROOT, HOST, managed("10", program)[1], runtime],
                                  env=environment, capture_output=True, text=True, timeout=EMULATED_S, check=False)
            assert host.returncode == 100, (host.returncode, host.stdout[-500:], host.stderr[-500:])
            wait_until(lambda: b'"clr:shutdown"' in (place / "out.ndjson").read_bytes(), "what the profiler had to say")
            stop(process)
            finish(copier)
    out = host.stdout[:host.stdout.rindex("host 0 ended with 0")]
    return Timeline(place / "out.ndjson"), report_of(out)


def test_arm64_every_call_stands_in_the_stream_as_the_program_wrote_it():
    with folder() as place:
        timeline, report = trace(place, 10, "calls", TRACERD_METHODS=TRACED + "*")
    assert len(compare_calls(timeline, report)) >= 5
    timeline.check_order()
    timeline.check_sums()


def values(version):
    with folder() as place:
        timeline, report = trace(place, version, "values", TRACERD_METHODS=GIVEN + "*,!*ctor", TRACERD_ARGUMENTS="1")
    assert compare_values(str(version), timeline, report) > 70
    timeline.check_sums()


def test_arm64_arguments_and_results_are_those_the_methods_wrote_9():
    values(9)


def test_arm64_arguments_and_results_are_those_the_methods_wrote_10():
    values(10)
