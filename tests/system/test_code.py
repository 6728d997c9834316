"""Whose code lies where: what the profiler tells beside what the runtime itself writes down in its perf map, and the stacks
of user space named by it."""

import contextlib
import json
import os
import pathlib

from house import (TRACERD, Idle, Timeline, attached, finish, folder, managed, need_kernel, wait_until)

PERF_MAP = {"DOTNET_PerfMapEnabled": "1", "COMPlus_PerfMapEnabled": "1"}
PROGRAM = "Tracerd.Managed.Tiering."
FIRST_BODY, LATER_BODY, LOOP_BEGIN, LOOP_END, IN_DYNAMIC, IN_FRAMEWORK = map(str, range(1000, 1006))


def environment():
    return {**os.environ, **PERF_MAP}


def forget_map(pid):
    for name in ("perf-{}.map", "perfinfo-{}.map"):
        pathlib.Path("/tmp", name.format(pid)).unlink(missing_ok=True)


@contextlib.contextmanager
def tiering(runtime, prefix=(), variables=None):
    """The program, and its perf map taken away at the end."""
    program = Idle(runtime, prefix, managed(runtime, "tiering"), env=variables or environment())
    try:
        yield program
    finally:
        if program.process.poll() is None:
            program.process.kill()
            program.process.wait()
        forget_map(program.pid)


def bodies_written_down(report, size=None):
    """{(address, size): name} of every method the runtime compiled, up to that byte of its map; its own stubs are no
    methods."""
    return parse_map(pathlib.Path(report["map"]).read_bytes()[:size])


def parse_map(data):
    bodies = {}
    for line in data.decode("utf-8", "replace").splitlines():
        address, size, name = line.split(" ", 2)
        if "::" in name and name.endswith("]") and "IL_STUB" not in name:
            bodies[int(address, 16), int(size, 16)] = name
    return bodies


def bodies_told(timeline, report, until_settled=False):
    """{(address, size): [args, …]} of every run of code; the map loses what is compiled while the runtime shuts down."""
    bodies = {}
    for event in timeline.events("clr:code", report["pid"]):
        args = event["args"]
        if args["method"]["id"] != "0x0" and not (until_settled and int(event["ts"]) > report["settled_ns"]):
            bodies.setdefault((int(args["address"], 16), int(args["size"])), []).append(args)
    return bodies


def name_of(args):
    return args["method"].get("name", "")


def check_bodies(timeline, report, but=()):
    """All that were written down when the program's story was over, none that never was; the program's by their names."""
    written = {body: name for body, name in bodies_written_down(report, report["map_size"]).items()
               if not any(word in name for word in but)}
    known = bodies_written_down(report)
    told = bodies_told(timeline, report)
    for all_args in told.values():
        assert len({args["version"] for args in all_args}) == 1, f"one body, several numbers: {all_args}"
    missing = {name for body, name in written.items() if body not in told}
    assert not missing, f"the runtime compiled these, nobody told of them: {sorted(missing)[:5]}"
    invented = [args for body, all_args in bodies_told(timeline, report, True).items() for args in all_args
                if body not in known and args["kind"]["name"] != "precompiled" and "IL_STUB" not in name_of(args)]
    assert not invented, f"told, and the runtime knows nothing of it: {invented[:3]}"
    for body, name in written.items():
        method = name.split("::", 1)[1].split("(", 1)[0].split("[", 1)[0]
        if "Tiering::" in name:
            assert all(name_of(args) == PROGRAM + method for args in told[body]), (name, told[body])


def kinds_of(told, method):
    return sorted({(args["version"], args["kind"]["name"]) for all_args in told.values() for args in all_args
                   if name_of(args) == method})


def check_story(runtime, told):
    outer = kinds_of(told, PROGRAM + "Outer")
    assert outer[:2] == [(0, "jit"), (1, "recompiled")], outer
    loop = kinds_of(told, PROGRAM + "RunLoop")
    assert len(loop) >= (1 if runtime == "3.1" else 2), f"8 and later replace a loop while it runs: {loop}"


def gone_methods(timeline, report):
    """Ids of the dropped dynamic methods, those of the unloaded ones."""
    made = {args["method"]["id"] for all_args in bodies_told(timeline, report).values() for args in all_args
            if name_of(args) == "dynamicClass.tiering_gone"}
    unloaded = [event["args"]["method"] for event in timeline.events("clr:method_unload", report["pid"])]
    return made, {method["id"] for method in unloaded if method.get("name") == "dynamicClass.tiering_gone"}


def test_code_every_body_the_runtime_writes_down_is_told_from_the_start(runtime):
    with folder() as place:
        out = place / "out.ndjson"
        with tiering(runtime, (TRACERD, "run", "-q", "--no-kernel", "-o", out, "--")) as program:
            program.ask("go")
            report = program.end()
            timeline = Timeline(out)
            check_bodies(timeline, report)
            told = bodies_told(timeline, report)
            check_story(runtime, told)
            assert kinds_of(told, "dynamicClass.tiering_dynamic") == [(0, "dynamic")]
            assert not any(event.get("catch_up") for event in timeline.events("clr:code", program.pid))
            made, unloaded = gone_methods(timeline, report)
            assert len(made) >= 1 and unloaded == made, (made, unloaded)


def test_code_every_body_the_runtime_writes_down_is_told_after_an_attach(runtime):
    with folder() as place:
        out = place / "out.ndjson"
        with tiering(runtime) as program:
            with attached(program.pid, out) as tracer:
                program.ask("go")
                report = program.end()
                finish(tracer)
            timeline = Timeline(out)
            # Dynamic methods from before are in no list that the runtime gives; their frames are asked about.
            check_bodies(timeline, report, but=("tiering_dynamic",))
            check_story(runtime, bodies_told(timeline, report))
            caught_up = [event["args"]["method"].get("name") for event in timeline.events("clr:code", program.pid)
                         if event.get("catch_up")]
            assert {PROGRAM + name for name in ("Main", "Outer", "Middle", "Leaf")} <= set(caught_up), caught_up
            made, unloaded = gone_methods(timeline, report)
            assert len(made) >= 1 and unloaded == made, (made, unloaded)


def stacks_behind(records, tid, place):
    """Of each fsync of that descriptor, the names in the stack that follows it on the thread."""
    mine = [record for record in records if record.get("k") == "ev" and record.get("tid") == tid]
    for call, stack in zip(mine, mine[1:]):
        if call["name"] == "syscalls:sys_enter_fsync" and call["args"]["fd"] == place:
            assert stack["name"] == "ftrace:user_stack", stack
            yield [frame.get("sym", "?").rsplit("+", 1)[0] for frame in stack["args"]["caller"]]


def whole_lines(path):
    lines = path.read_text("utf-8").splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def images_of(pid):
    """Where assemblies are mapped to be run; the JIT's code lies elsewhere."""
    ranges = []
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text("utf-8").splitlines():
        fields = line.split(maxsplit=5)
        if "x" in fields[1] and fields[-1].endswith(".dll"):
            ranges.append(tuple(int(end, 16) for end in fields[0].split("-")))
    return ranges


def check_kinds(timeline, pid, images):
    kinds = {}
    for event in timeline.events("clr:code", pid):
        args = event["args"]
        if args["method"]["id"] != "0x0":
            address = int(args["address"], 16)
            inside = any(begin <= address < end for begin, end in images)
            kinds.setdefault(args["kind"]["name"], []).append((inside, name_of(args)))
    assert all(inside for inside, _ in kinds["precompiled"]), kinds["precompiled"]
    for kind in ("jit", "recompiled", "dynamic"):
        assert not any(inside for inside, _ in kinds.get(kind, [])), (kind, kinds[kind])


def wait_until_caught_up(out, *methods):
    def told():
        names = {record["args"]["method"].get("name") for record in whole_lines(out) if record.get("name") == "clr:code"}
        return {PROGRAM + method for method in methods} <= names
    wait_until(told, "the methods that were compiled before")


def ask_until_all_is_named(program, out):
    """A method that came compiled with the framework, or a dynamic one from before, is known once somebody asked."""
    def named():
        program.ask("again")
        records = whole_lines(out)
        return (any("List" in stack[1] and stack[1].endswith(".ForEach")
                    for stack in stacks_behind(records, program.pid, IN_FRAMEWORK)) and
                any(stack[1] == "dynamicClass.tiering_dynamic"
                    for stack in stacks_behind(records, program.pid, IN_DYNAMIC)))
    wait_until(named, "the framework's method and the dynamic one to be named in a stack")


def check_stacks(runtime, records, pid):
    def only_stack(place):
        stacks = list(stacks_behind(records, pid, place))
        assert len(stacks) == 1, stacks
        return stacks[0]

    # The frame of Leaf itself is not in a chain that begins in libc, which keeps no frame pointer.
    assert only_stack(FIRST_BODY)[1:4] == [PROGRAM + name for name in ("Middle", "Outer", "Main")]
    assert only_stack(LATER_BODY)[1] == PROGRAM + "Middle"
    assert only_stack(LOOP_BEGIN)[1:3] == [PROGRAM + name for name in ("RunLoop", "Main")]
    assert only_stack(LOOP_END)[1] == PROGRAM + "RunLoop"
    assert runtime == "3.1" or only_stack(LATER_BODY)[2] == PROGRAM + "Outer"


KERNEL = ("--user-stacks", "-e", "syscalls:sys_enter_fsync")


def test_code_user_stacks_name_every_kind_of_managed_frame_from_the_start(runtime):
    need_kernel()
    with folder() as place:
        out = place / "out.ndjson"
        with tiering(runtime, (TRACERD, "run", "-q", *KERNEL, "-o", out, "--")) as program:
            program.ask("go")
            ask_until_all_is_named(program, out)
            images = images_of(program.pid)
            program.end()
            timeline = Timeline(out)
            check_stacks(runtime, timeline.records, program.pid)
            check_kinds(timeline, program.pid, images)


def test_code_user_stacks_name_every_kind_of_managed_frame_after_an_attach(runtime):
    need_kernel()
    with folder() as place:
        out = place / "out.ndjson"
        with tiering(runtime) as program:
            with attached(program.pid, out, *KERNEL, kernel=True) as tracer:
                wait_until_caught_up(out, "Leaf", "Middle", "Outer", "Main")
                program.ask("go")
                ask_until_all_is_named(program, out)
                program.end()
                finish(tracer)
            check_stacks(runtime, Timeline(out).records, program.pid)
