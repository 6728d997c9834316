"""What methods and types are called in the stream, against what reflection says in the traced program."""

import collections
import os
import pathlib

from house import BUILD, Idle, Timeline, attached, finish, folder, host, managed, report_of, start, stopped_at_end, tracerd

TEXT_MAX = 1023  # TRD_TEXT_MAX without the NUL
BUFFER = "64M/4M"  # thousands of definitions within a few milliseconds


def trace(runtime, program, *arguments, options=()):
    environment = dict(os.environ, TRACERD_CLR_BUFFER=BUFFER)
    with folder() as place:
        out, _ = tracerd("run", "--no-kernel", "-o", place / "out.ndjson", *options, "--",
                         *managed(runtime, program, *arguments), env=environment)
        timeline = Timeline(place / "out.ndjson")
    timeline.check_sums()
    assert not timeline.kind("lost"), timeline.kind("lost")
    return timeline, report_of(out)


def cut(text):
    return text.encode()[:TEXT_MAX].decode(errors="ignore")


def form_of(event):
    return sorted(event["args"]["form"]["names"])


def check_methods(timeline, report):
    """Each method the program ran has the name, metadata name and form that it says."""
    told = collections.defaultdict(list)
    for event in timeline.events("clr:method", report["pid"]):
        told[event["args"]["name"]].append(event)
    missing = []
    for method in report["names"]:
        names = [cut(name) for name in method["names"]]
        same = [event for name in names for event in told[name]
                if event["args"]["raw"] == ("" if method["raw"] == event["args"]["name"] else method["raw"])
                and form_of(event) == sorted(method["form"])]
        if not same:
            near = [(event["args"]["name"], event["args"]["raw"], form_of(event))
                    for event in timeline.events("clr:method", report["pid"])
                    if event["args"]["raw"] == method["raw"] or event["args"]["name"] in names]
            missing.append((method, near))
        for event in same:
            assert event.get("cut") is (True if len(method["names"][0].encode()) > TEXT_MAX else None), event
    assert not missing, "\n".join(map(str, missing))
    assert not [name for name in told if "?" in name], told


def test_names_of_methods_are_those_of_the_source(runtime):
    timeline, report = trace(runtime, "generics")
    assert report["runtime"].startswith(runtime), report["runtime"]
    assert any(len(method["names"][0]) > TEXT_MAX for method in report["names"])
    check_methods(timeline, report)


def test_names_of_statements_at_top_level_are_those_of_the_source(runtime):
    timeline, report = trace(runtime, "toplevel")
    assert len(report["names"]) == 7, report
    check_methods(timeline, report)


def test_names_of_ten_thousand_types_are_those_of_reflection(runtime):
    timeline, report = trace(runtime, "generics", 10000, options=("--clr", "class"))
    told = {event["args"]["type"]["id"]: event["args"]["name"] for event in timeline.events("clr:type", report["pid"])}
    names = {told[event["args"]["type"]["id"]] for event in timeline.events("clr:class_load", report["pid"])}
    expected = {cut(name) for name in report["types"]}
    assert len(expected) > 10000, len(expected)
    assert expected <= names, sorted(expected - names)[:20]
    assert not [name for name in names if "?" in name], [name for name in names if "?" in name][:20]


def test_names_of_what_was_unloaded_do_not_come_again(runtime):
    rounds = 30
    timeline, report = trace(runtime, "collectible", rounds, options=("--clr", "default,class"))
    assert report["gone"] == 2 * rounds, report
    loads, unloads = (collections.Counter(event["args"]["type"].get("name") for event in timeline.events(name, report["pid"]))
                      for name in ("clr:class_load", "clr:class_unload"))
    assert len(report["classes"]) == 7, report
    for name in report["classes"]:
        assert loads[name] == unloads[name] == rounds, f"{name}: {loads[name]} loads, {unloads[name]} unloads"
    collectible = {event["args"]["module"]["id"] for event in timeline.events("clr:module_load", report["pid"])
                   if "collectible" in event["args"]["flags"]["names"]}
    unloaded = [event["args"]["module"]["id"] for event in timeline.events("clr:module_unload", report["pid"])]
    assert set(unloaded) == collectible and len(unloaded) >= 2 * rounds, (len(unloaded), len(collectible))
    compiled = collections.Counter(event["args"]["method"]["name"] for event in timeline.events("clr:jit_start", report["pid"]))
    caught = collections.Counter((event["args"]["type"], event["args"]["method"]["name"])
                                 for event in timeline.events("clr:exception_caught", report["pid"]))
    for name in report["emitted"]:
        assert compiled[f"{name}.Thrower.Run"] == 1, compiled
        assert caught[f"{name}.Failure", f"{name}.Thrower.Run"] == 1, caught
    dynamic = [event["args"]["method"] for event in timeline.events("clr:jit_start", report["pid"])
               if event["args"]["method"]["name"].startswith("dynamicClass.dynamic ")]
    assert [method["name"] for method in dynamic] == [f"dynamicClass.dynamic {i}" for i in range(rounds)], dynamic
    assert len({method["id"] for method in dynamic}) < rounds, "no id came again"


def test_names_without_the_loader_category_do_not_come_again_either(runtime):
    timeline, report = trace(runtime, "collectible", 20, options=("--clr", "exception"))
    thrown = collections.Counter(event["args"]["type"] for event in timeline.events("clr:exception_thrown", report["pid"]))
    for name in report["emitted"]:
        assert thrown[f"{name}.Failure"] == 1, thrown


def test_names_of_application_domains_are_told_at_start_and_at_attach(runtime):
    timeline, report = trace(runtime, "story", options=("--clr", "loader"))
    from_start = timeline.events("clr:appdomain_created", report["pid"])
    idle = Idle(runtime)
    with stopped_at_end(idle.process), folder() as place:
        with attached(idle.pid, place / "out.ndjson", "--clr", "loader") as tracer:
            idle.end()
            finish(tracer)
        timeline = Timeline(place / "out.ndjson")
    at_attach = timeline.events("clr:appdomain_created", idle.pid)
    names = [{event["args"]["name"] for event in events} for events in (from_start, at_attach)]
    assert all(event["args"]["status"] == 0 for event in from_start + at_attach)
    # The program's own domain gets the name of the program once that runs.
    assert names[0] and "" not in names[0] | names[1], names
    assert len(at_attach) == 1 and at_attach[0].get("catch_up") is True, at_attach


def assemblies(runtime):
    """Those of the framework, which are precompiled, and of our own programs, which are not."""
    framework = pathlib.Path(host(runtime)).resolve().parent / "shared" / "Microsoft.NETCore.App"
    found = list(framework.glob(f"{runtime}.*/*.dll")) + list((BUILD / "managed" / "apps").glob("*/app.dll"))
    assert len(found) > 150, found
    return sorted(map(str, found))


def test_names_read_from_assemblies_are_those_that_reflection_reads(runtime):
    files = assemblies(runtime)
    expected, _ = finish(start(*managed("10", "metadata", *files)))
    found, _ = finish(start(BUILD / "bin" / "tests" / "metadata_dump", *files))
    assert expected.count("\nM ") > 100000, expected[:200]
    if found != expected:
        pairs = zip(found.splitlines(), expected.splitlines())
        raise AssertionError(next(pair for pair in pairs if pair[0] != pair[1]))
