"""What hooked methods are given and return, against what they wrote down themselves."""

import json

from house import RUNTIMES, Timeline, folder, managed, report_of, tracerd

GIVEN = "Tracerd.Managed.Given."
OPTIONS = ("run", "--no-kernel", "--clr", "thread,jit", "--methods", GIVEN + "*,!*ctor", "--arguments")
# What 3.1 would spoil when a hook looks at it: floating-point arguments in more than two registers, structs by value. Such
# methods are not hooked there, nor those whose signature is not read.
def is_hooked(runtime, line):
    return runtime != "3.1" or line[0][1:] not in {"Plain.Many", "Plain.TooMany"} and (
        line[0][1:].partition(".")[0] != "Structs" or line[0][1:] == "Structs.Made") and line[1] != FLOATS and (
        not isinstance(line[1], dict) or line[1].get("value") != FLOATS)


FLOATS = "0000803f00000040"  # of Generic.Same


def name_of(event):
    """Generic.Same<Box<X>> -> Generic.Same"""
    name, depth, kept = event["args"]["method"]["name"], 0, ""
    assert name.startswith(GIVEN), name
    for c in name[len(GIVEN):]:
        depth += c == "<"
        kept += c if depth == 0 else ""
        depth -= c == ">"
    return kept


def told(timeline, pid):
    lines = []
    for event in timeline.kind("ev"):
        if event["pid"] != pid or not event["name"].startswith("clr:method_") or "method" not in event["args"]:
            continue
        if event["name"] == "clr:method_enter":
            lines.append([">" + name_of(event), event["args"].get("arguments", "nothing"), event])
        elif event["name"] == "clr:method_leave":
            sign = "!" if event["args"]["unwound"] else "<"
            lines.append([sign + name_of(event), event["args"].get("returned", "nothing"), event])
    return lines


def compare(runtime, timeline, report):
    lines = told(timeline, report["pid"])
    written = [line for line in report["values"] if is_hooked(runtime, line)]
    assert report["wrong"] == 0, f"{runtime}: {report['wrong']} results spoiled by a hook"
    assert len(lines) == len(written), (runtime, len(lines), len(written))
    for (name, value, event), (own_name, own_value) in zip(lines, written):
        assert name == own_name, (runtime, name, own_name)
        # Of a struct that comes in registers 3.1 says that it lies where only a part of it does: it is left out.
        is_left_out = runtime == "3.1" and name == "<Structs.Made"
        own_value = "nothing" if is_left_out else own_value
        assert value == own_value, f"{runtime} {name}: {json.dumps(value)}, but the program wrote {json.dumps(own_value)}"
        assert ("cut" in event) == (is_left_out or name[1:] == "Plain.Long"), event
    return len(lines)


def test_conformance_arguments_and_results():
    for runtime in RUNTIMES:
        with folder() as place:
            out, _ = tracerd(*OPTIONS, "-o", place / "out.ndjson", "-o", place / "out.dat", "--",
                             *managed(runtime, "values"))
            timeline = Timeline(place / "out.ndjson")
            count = compare(runtime, timeline, report_of(out))
            timeline.check_sums()
            # And the same out of a trace.dat.
            tracerd("replay", "-o", place / "again.ndjson", place / "out.dat")
            compare(runtime, Timeline(place / "again.ndjson"), report_of(out))
            print(f"{runtime:>4} startup  {count} calls and returns, each value as the program wrote it")
