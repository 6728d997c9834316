"""What methods and types are called in the stream, against what reflection says in the traced program."""

import collections
import os

from house import Timeline, folder, managed, report_of, tracerd

TEXT_MAX = 1023  # TRD_TEXT_MAX without the NUL
RING_BYTES = "4194304"  # thousands of definitions within a few milliseconds


def trace(runtime, program, *arguments, options=()):
    environment = dict(os.environ, TRACERD_RING_BYTES=RING_BYTES)
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


def test_names_of_methods_are_those_of_the_source(runtime):
    timeline, report = trace(runtime, "generics")
    assert report["runtime"].startswith(runtime), report["runtime"]
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
    assert any(len(method["names"][0]) > TEXT_MAX for method in report["names"])
    assert not [name for name in told if "?" in name], told


def test_names_of_ten_thousand_types_are_those_of_reflection(runtime):
    timeline, report = trace(runtime, "generics", 10000, options=("--clr", "class"))
    told = {event["args"]["type"]["id"]: event["args"]["name"] for event in timeline.events("clr:type", report["pid"])}
    names = {told[event["args"]["type"]["id"]] for event in timeline.events("clr:class_load", report["pid"])}
    expected = {cut(name) for name in report["types"]}
    assert len(expected) > 10000, len(expected)
    assert expected <= names, sorted(expected - names)[:20]
    assert not [name for name in names if "?" in name], [name for name in names if "?" in name][:20]
