"""A native program that hosts several .NET runtimes: the first is traced, the others are not, and nothing is disturbed."""

import json
import pathlib

from house import BUILD, Timeline, folder, managed, need, run, tracerd

HOST = BUILD / "bin" / "tests" / "two_runtimes"
VERSIONS = {"8": 8, "9": 9, "10": 10}


def directory(runtime):
    """Where its libcoreclr.so is, as the runtime itself names it."""
    out, _ = run(managed(runtime, "hello")[0], "--list-runtimes")
    lines = [line for line in out.splitlines() if line.startswith(f"Microsoft.NETCore.App {VERSIONS[runtime]}.")]
    need(lines, f"the .NET runtime {runtime}")
    version, place = lines[-1].split(" ", 2)[1:]
    return str(pathlib.Path(place.strip("[]")) / version)


def hosted(*runtimes, program="values"):
    return [HOST, managed("10", program)[1], *map(directory, runtimes)]


def reports(out):
    """What the program in each runtime printed, in their order; and how each ended."""
    lines = out.splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")], [line for line in lines if line.startswith("host ")]


def trace_two(first, second, *options):
    with folder() as place:
        out, err = tracerd("run", "--no-kernel", *options, "-o", place / "out.ndjson", "--", *hosted(first, second),
                           expected=100)
        own, ends = reports(out)
        assert ends == ["host 0 ended with 0", "host 1 ended with 0"], ends
        assert len(own) == 2 and all(report["wrong"] == 0 for report in own), own
        timeline = Timeline(place / "out.ndjson")
    timeline.check_sums()
    info, = timeline.events("clr:runtime_info")
    assert info["args"]["major"] == VERSIONS[first], info
    # Each of the two programs throws one.
    assert timeline.count("clr:exception_thrown") == timeline.count("clr:shutdown") == 1
    said, = [line for line in err.splitlines() if "more than one .NET runtime" in line]
    for runtime in (first, second):
        # As the kernel names it, which sees through links.
        assert str((pathlib.Path(directory(runtime)) / "libcoreclr.so").resolve()) in said, said


def test_host_of_two_runtimes_has_the_first_traced_and_says_so():
    trace_two("8", "10")
    trace_two("10", "9")


def test_host_of_two_runtimes_with_follow_has_the_first_traced_and_says_so():
    """The second one is told to load the profiler, too, which is at work already."""
    trace_two("8", "10", "--follow", "--provider", "Tracerd-Nobody")
    trace_two("10", "8", "--follow")


def test_host_of_one_runtime_is_a_program_like_any_other():
    with folder() as place:
        out, err = tracerd("run", "--no-kernel", "-o", place / "out.ndjson", "--", *hosted("9"), expected=100)
        assert reports(out)[1] == ["host 0 ended with 0"] and "more than one" not in err, (out, err)
        assert Timeline(place / "out.ndjson").count("clr:exception_thrown") == 1
