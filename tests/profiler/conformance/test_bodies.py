"""Native code: every body of every method, whose it is and when it goes; what the JIT asks about inlining."""

from house import TRACERD, attached, folder, finish, Timeline
from matrix import ATTACH, NOTIFICATION, need_mode, observe, row, with_other_profiler
from test_code import bodies_told, check_bodies, check_story, environment, tiering


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
