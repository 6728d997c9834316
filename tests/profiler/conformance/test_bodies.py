"""Native code: every body of every method, whose it is and when it goes; what the JIT asks about inlining."""

import contextlib
import pathlib
import struct
import subprocess

import diagnostics
import probe
from house import BUILD, TRACERD, Timeline, attached, finish, folder, managed, need, start, stopped_at_end
from matrix import (ATTACH, MAIN_CLASS, NOTIFICATION, PROFILER, finish_with_marker, need_mode, observe, read_to, row, say,
                    wait_until_ready, with_other_profiler, with_our_profiler)
from test_categories import client_data
from test_code import PERF_MAP, bodies_told, check_bodies, check_story, environment, forget_map, parse_map, tiering


def tell_bodies(runtime, mode, out):
    """The program `tiering` in this cell; its report. Its perf map goes with it, so it is compared here."""
    variables = with_other_profiler(environment()) if mode == NOTIFICATION else environment()
    prefix = () if mode == ATTACH else (TRACERD, "run", "-q", "--no-kernel", "-o", out, "--")
    with tiering(runtime, prefix, variables) as program:
        if mode == ATTACH:
            with attached(program.pid, out) as tracer:
                program.ask("go")
                report = program.end()
                finish(tracer)
        else:
            program.ask("go")
            report = program.end()
        timeline = Timeline(out)
        timeline.check_sums()
        check_bodies(timeline, report, but=("tiering_dynamic",) if mode == ATTACH else ())
    return timeline, report


def test_conformance_codemap_multi_body():
    """Row 15: bodies of one method, by tiering and by OSR, against the runtime's own perf map: none missing, none invented,
    no address 0, precompiled ones among them."""
    def check(runtime, mode):
        need_mode(runtime, mode)
        with folder() as place:
            timeline, report = tell_bodies(runtime, mode, place / "out.ndjson")
        told = bodies_told(timeline, report)
        check_story(runtime, told)
        assert all(address and size for address, size in told), "a run of code without address or size"
        again = {args["method"]["id"] for all_args in told.values() for args in all_args if args["version"] > 0}
        assert again, "no method has a second body"
        return f"{len(told)} runs of code, {len(again)} methods compiled again"

    row(check)


def test_conformance_alc_unload_expires_code():
    """Row 12: the code of a collectible context is that of a module which is unloaded; nothing is told of it afterwards."""
    contexts = 5

    def check(runtime, mode):
        cell = observe(runtime, mode, "alc-unload", contexts)
        unloads = {event["args"]["module"]["id"]: int(event["ts"]) for event in cell.events("module_unload")}
        assert len(unloads) == contexts, unloads
        module_of, dead, runs = {}, set(), 0
        for record in cell.timeline.kind("ev"):
            args = record["args"]
            if record["name"] == "clr:method":
                module_of[args["method"]["id"]] = args["module"]["id"]
            elif record["name"] == "clr:code" and module_of.get(args["method"]["id"]) in unloads:
                runs += 1
                assert int(record["ts"]) < unloads[module_of[args["method"]["id"]]], record
                dead.add(module_of[args["method"]["id"]])
        assert dead == set(unloads), f"no code of {set(unloads) - dead}"
        return f"{runs} runs of code in {contexts} modules, all gone with them"

    row(check)


def test_conformance_inlining_note():
    """Row 16: the JIT asks before it inlines, nobody objects, and it inlines: the program has no frame of the small method.
    What it may not inline it does not ask about. Off unless asked for."""
    caller = "Tracerd.Managed.Inlining.Caller"

    def check(runtime, mode):
        cell = observe(runtime, mode, "inlining", options=("--clr", "default,inlining"))
        callees = [args["callee"].get("name") for args in cell.args("inlining") if args["method"].get("name") == caller]
        assert "Tracerd.Managed.Inlining.Small" in callees, callees
        assert "Tracerd.Managed.Inlining.Kept" not in callees, callees
        assert bool(cell.events("precompiled")) == (mode != ATTACH), "first uses of precompiled code, from the start only"
        return f"{len(cell.args('inlining'))} questions, {len(cell.args('precompiled'))} searches for precompiled code"

    row(check)


CODE = struct.Struct("<QQQQIBB")
METHOD = struct.Struct("<QQIHH")
IL_OFFSET = struct.Struct("<QQIIi")


def library_address(pid):
    """Executable memory that is nobody's of the runtime's methods."""
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines():
        if " r-xp " in line and "libc.so" in line:
            return int(line.split("-")[0], 16) + 64
    raise AssertionError(f"no libc in {pid}")


def names_in(events):
    names = {}
    for event in events:
        if event.name == "method":
            method, _, _, offset, size = METHOD.unpack_from(event.data)
            names[method] = event.data[offset:offset + size - 1].decode()
    return names


def own_bodies(pid):
    """What the runtime has written down so far of the program's own methods."""
    written = parse_map(pathlib.Path(f"/tmp/perf-{pid}.map").read_bytes())
    return {body: name for body, name in written.items()
            if " [app] Tracerd.Managed.Tiering::" in name and "::.c" not in name}


def codes_in(events):
    """{(address, size): method}"""
    codes = (CODE.unpack_from(event.data) for event in events if event.name == "code")
    return {(address, size): method for method, address, size, *_ in codes}


def check_names(bodies, told, names):
    for body, name in bodies.items():
        method = "Tracerd.Managed.Tiering." + name.split("::", 1)[1].split("(", 1)[0]
        assert names.get(told.get(body)) == method, f"{name}: {names.get(told.get(body))}"


def check_il(body, report, answers):
    """The program stood at this native and this IL offset when it asked the runtime where it was."""
    runs = [IL_OFFSET.unpack_from(event.data)[1:] for event in answers if event.name == "il_offset"]
    runs = [(begin, end, il) for address, begin, end, il in runs if address == body[0]]
    native = report["native"]
    here = {il for begin, end, il in runs if begin <= native - 1 < end or begin <= native < end}
    assert report["il"] in here, f"IL {report['il']} at native {native}: {runs}"
    assert max(end for _, end, _ in runs) <= body[1], (runs, body)
    return len(runs)


@contextlib.contextmanager
def probed(runtime, mode, mask):
    """The program `tiering` with the profiler connected to a probe."""
    with contextlib.ExitStack() as stack:
        daemon = probe.Probe(stack.enter_context(folder()))
        stack.callback(daemon.close)
        variables = with_our_profiler(mode, daemon.path, **PERF_MAP)
        program = stack.enter_context(tiering(runtime, (), variables))
        if mode == ATTACH:
            data = client_data(daemon.path, mask)
            assert diagnostics.attach(program.pid, PROFILER, MAIN_CLASS, data) == diagnostics.OK
        daemon.accept(mask)
        yield program, daemon


def test_conformance_resolve_on_request():
    """The middle of every body of the program, out of the runtime's perf map, is its method's; libc is nobody's; the IL map
    agrees with StackFrame."""
    bits = probe.categories()

    def check(runtime, mode):
        need_mode(runtime, mode)
        with probed(runtime, mode, bits["jit"]) as (program, daemon):
            program.ask("go")
            bodies = own_bodies(program.pid)
            foreign = library_address(program.pid)
            answers = daemon.resolve([address + size // 2 for address, size in bodies] + [foreign], with_il=True)
            told = codes_in(answers)
            assert told.get((foreign, 0)) == 0, f"libc is somebody's: {told}"
            check_names(bodies, told, names_in(daemon.since(0)))
            where = next(body for body, name in bodies.items() if "::Where(" in name)
            runs = check_il(where, program.end(), answers)
        return f"{len(bodies)} bodies found by an address in them, {runs} runs of IL"

    row(check)


def test_conformance_code_is_told_again_to_the_next_daemon():
    """A daemon that comes later is told every body of the program that lives, with its name, once it has said welcome."""
    bits = probe.categories()

    def check(runtime, mode):
        need_mode(runtime, mode)
        with probed(runtime, mode, bits["jit"]) as (program, daemon):
            program.ask("go")
            daemon.close()
            daemon.path.unlink()
            following = probe.Probe(daemon.path.parent)
            following.accept(bits["jit"])
            following.switch(bits["jit"])
            caught_up = [event for event in following.since(0) if event.catch_up]
            check_names(own_bodies(program.pid), codes_in(caught_up), names_in(caught_up))
            program.end()
            following.close()
        return f"{len(codes_in(caught_up))} runs of code told again"

    row(check)


REJITTER = BUILD / "lib" / "librejitter.so"


def test_conformance_rejit_of_another_profiler():
    """Row 15: beside a profiler that gives a method a new body: both bodies are its, by an address in them, and the new one
    carries the number of the request."""
    bits = probe.categories()

    def check(runtime, mode):
        need_mode(runtime, mode)
        need(REJITTER.exists(), f"{REJITTER}, which the build makes")
        with contextlib.ExitStack() as stack:
            daemon = probe.Probe(stack.enter_context(folder()))
            stack.callback(daemon.close)
            variables = {**with_our_profiler(mode, daemon.path, **PERF_MAP), "CORECLR_PROFILER_PATH": str(REJITTER)}
            process = stack.enter_context(stopped_at_end(start(*managed(runtime, "conformance", "rejit", REJITTER),
                                                               stdin=subprocess.PIPE, env=variables)))
            pid = wait_until_ready(process)
            stack.callback(forget_map, pid)
            daemon.accept(bits["jit"])
            say(process, "go")
            read_to(process, "rejitted")
            written = parse_map(pathlib.Path(f"/tmp/perf-{pid}.map").read_bytes())
            bodies = {body for body, name in written.items() if "Rejit::Changed(" in name}
            answers = daemon.resolve([address + size // 2 for address, size in bodies])
            names = names_in(daemon.since(0))
            say(process, "end")
            finish_with_marker(process)
        codes = [CODE.unpack_from(event.data) for event in answers if event.name == "code"]
        rejits = {(address, size): rejit for method, address, size, rejit, *_ in codes
                  if names.get(method) == "Tracerd.Managed.Rejit.Changed"}
        assert len(bodies) == 2 and set(rejits) == bodies, (bodies, codes, names)
        assert sorted(map(bool, rejits.values())) == [False, True], rejits
        return f"bodies of ReJIT {sorted(rejits.values())}"

    row(check, modes=(NOTIFICATION,))
