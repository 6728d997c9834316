"""One run, recorded in every form at once: each holds what the NDJSON holds, as its own readers see it."""

import collections
import json
import os
import pathlib
import re

from house import (BUILD, SOURCE, TRACERD, Timeline, finish, folder, managed, need, need_kernel, need_program, run, start,
                   tracerd)
from test_dat import OF_THE_FILE, check_same, lines_of, names, reported

PROTO = pathlib.Path(__file__).resolve().parents[1] / "data"


def record(place, runtime, *forms):
    """The timeline of a run, whose other forms lie in `place`."""
    outputs = [part for form in ("ndjson", *forms) for part in ("-o", place / f"out.{form}")]
    tracerd("run", "--max-delay", "30s", *outputs, "--", *managed(runtime, "story"))
    return Timeline(place / "out.ndjson")


def decode(path):
    """Perfetto's packets as protoc prints them, each a text."""
    need_program("protoc")
    with open(path, "rb") as trace:
        text, _ = run("protoc", f"--proto_path={PROTO}", "--decode=Trace", "perfetto.proto", stdin=trace)
    return re.split(r"^packet \{\n", text, flags=re.M)[1:]


def plain(text):
    """protoc writes bytes that are no ASCII as octal escapes."""
    return text.encode("ascii").decode("unicode_escape").encode("latin-1").decode("utf-8")


def names_in(packets, kind):
    """What texts were interned as; each id and each text once."""
    names = {}
    for packet in packets:
        for iid, name in re.findall(rf"{kind} {{\s+iid: (\d+)\s+name: \"(.*)\"", packet):
            assert iid not in names and name not in names.values(), f"{name} is interned twice"
            names[iid] = name
    return names


def perfetto_counts(packets):
    """Events of the CLR, spans and kernel events by name."""
    names = names_in(packets, "event_names")
    instants, spans, kernel = (collections.Counter() for _ in range(3))
    for packet in packets:
        kind = re.search(r"^\s+type: TYPE_(\w+)", packet, re.M)
        name = re.search(r"^\s+name_iid: (\d+)\n\s+track_uuid|^\s+type: TYPE_\w+\n\s+name_iid: (\d+)", packet, re.M)
        if kind and kind[1] == "INSTANT" and name and "flow_ids" not in packet:
            instants[names[name[1] or name[2]]] += 1
        if kind and kind[1] == "SLICE_BEGIN":
            spans[names[name[1] or name[2]]] += 1
        if "ftrace_events {" in packet:
            kernel.update(re.findall(r"^      \w+ \{|^        event_name: \".*\"", packet, re.M))
    return instants, spans, kernel


def clr_counts(timeline, kind):
    return collections.Counter(record["name"].split(":", 1)[1] for record in timeline.kind(kind)
                               if record["src"] == "clr" or kind == "span")


def kernel_counts(timeline):
    """As perfetto_counts finds them: messages by their name, the others by the name in them."""
    own = {"sched:sched_switch", "sched:sched_wakeup", "sched:sched_waking", "sched:sched_wakeup_new",
           "irq:softirq_entry", "irq:softirq_exit", "irq:softirq_raise", "irq:irq_handler_entry", "irq:irq_handler_exit",
           "ftrace:print", "raw_syscalls:sys_enter", "raw_syscalls:sys_exit"}
    counts = collections.Counter()
    for record in timeline.kind("ev"):
        if record["src"] != "ftrace":
            continue
        if record["name"] in own:
            counts[f"      {record['name'].split(':')[1]} {{"] += 1
        else:
            counts["      generic {"] += 1
            counts[f"        event_name: \"{record['name']}\""] += 1
    return counts


def flows_of_lines(timeline):
    """(thread, waking, run) of threads whose process was known when they were woken."""
    known, waking, flows = set(), {}, []
    for line in timeline.records:
        if line["k"] not in ("ev", "span"):
            continue
        if line.get("pid", -1) >= 0 and line.get("tid", 0) > 0:
            known.add(line["tid"])
        if line["k"] == "span":
            continue
        if line["name"] == "sched:sched_waking" and line.get("pid", -1) >= 0 and line.get("tid", 0) > 0 and line["args"]["pid"] in known:
            waking[line["args"]["pid"]] = line["ts"]
        if line["name"] == "sched:sched_switch" and line["args"]["next_pid"] in waking:
            flows.append((line["args"]["next_pid"], waking.pop(line["args"]["next_pid"]), line["ts"]))
    return flows


def flows_of_packets(packets):
    tids, begins, flows = {}, {}, []
    for packet in packets:
        if track := re.search(r"uuid: (\d+)\s+thread {\s+pid: \d+\s+tid: (\d+)", packet):
            tids[track[1]] = int(track[2])
        if flow := re.search(r" (flow_ids|terminating_flow_ids): (\d+)", packet):
            time, track = re.search(r"timestamp: (\d+)", packet)[1], re.search(r"track_uuid: (\d+)", packet)[1]
            if flow[1] == "flow_ids":
                begins[flow[2]] = time
            else:
                flows.append((tids[track], begins.pop(flow[2]), time))
    return flows


def test_recordings_perfetto_has_arrows_from_wakers_to_woken():
    need_kernel()
    with folder() as place:
        timeline = record(place, "10", "pftrace")
        flows = flows_of_lines(timeline)
        assert len(flows) > 10
        assert flows_of_packets(decode(place / "out.pftrace")) == flows


def test_recordings_perfetto_holds_what_the_lines_hold(runtime):
    need_kernel()
    with folder() as place:
        timeline = record(place, runtime, "pftrace")
        packets = decode(place / "out.pftrace")
        instants, spans, kernel = perfetto_counts(packets)
        assert instants == clr_counts(timeline, "ev")
        assert spans == clr_counts(timeline, "span")
        assert kernel == kernel_counts(timeline)
        assert sum("TYPE_SLICE_END" in packet for packet in packets) == sum(spans.values())
        times = [int(time) for packet in packets for time in re.findall(r"^  timestamp: (\d+)", packet, re.M)]
        stamps = {int(line["ts"]) for line in timeline.records if "ts" in line}
        ends = {int(line["ts"]) + line["dur"] for line in timeline.kind("span")}
        assert times and set(times) <= stamps | ends
        named = {plain(name) for name in re.findall(r'thread_name: "(.*)"', "".join(packets))}
        assert {line["thread"] for line in timeline.kind("ev") if "thread" in line} <= named


def test_recordings_chrome_holds_what_the_lines_hold(runtime):
    need_kernel()
    with folder() as place:
        timeline = record(place, runtime, "json")
        with open(place / "out.json", encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        counts = collections.Counter((event["ph"], event["name"]) for event in events if event["ph"] in "Xi")
        expected = collections.Counter()
        for line in timeline.records:
            if line["k"] in ("ev", "span", "lost"):
                expected["X" if line["k"] == "span" else "i", line.get("name", "lost")] += 1
        assert counts == expected
        first = int(next(line["ts"] for line in timeline.records if line["k"] == "ev"))
        marks = [line for line in timeline.kind("ev") if line["name"] == "clr:gc_start"]
        told = [event for event in events if event["name"] == "clr:gc_start"]
        assert [round(event["ts"] * 1000) for event in told] == [int(line["ts"]) - first for line in marks]
        assert [event["args"] for event in told] == [line["args"] for line in marks]


def test_recordings_zst_gives_the_lines_back(runtime):
    need_program("zstd")
    with folder() as place:
        record(place, runtime, "ndjson.zst")
        plain = (place / "out.ndjson").read_text(encoding="utf-8")
        packed, _ = run("zstd", "-dc", place / "out.ndjson.zst")
        assert packed == plain
        again, _ = tracerd("replay", "-q", "-o", "-", place / "out.ndjson.zst")
        without_ends = lambda text: [re.sub(r'"seq":\d+,', "", line) for line in text.splitlines()[1:-1] if '"k":"hb"' not in line]
        assert without_ends(again) == without_ends(plain)


def test_recordings_zst_that_was_cut_gives_every_whole_frame():
    need_program("zstd")
    demo = PROTO / "demo.ndjson"
    with folder() as place:
        path = place / "out.ndjson.zst"
        tracerd("replay", "-q", demo, demo, demo, "-o", path)
        whole = path.read_bytes()
        for cut in range(len(whole) - 1, 40, -max(1, len(whole) // 60)):
            path.write_bytes(whole[:cut])
            replay = start(TRACERD, "replay", "-o", "-", path)
            out, said = finish(replay, expected=None)
            assert replay.returncode in (3, 4), replay.returncode
            assert said and said.count("\n") <= 4, said
            assert all(json.loads(line) for line in out.splitlines())


def duckdb(path, sql):
    """What DuckDB answers about `lines`, the recording as it is."""
    modules = BUILD / "duckdb" / "node_modules"
    need_program("node")
    need(modules.is_dir(), "DuckDB (ninja duckdb)")
    out, _ = run("node", SOURCE / "tests" / "system" / "duckdb" / "query.mjs", path, sql,
                 env={**os.environ, "NODE_PATH": str(modules)})
    return json.loads(out)


def shark_counts(path):
    judge = BUILD / "bin" / "tests" / "kshark_counts"
    need(judge.exists(), "libkshark-dev and libjson-c-dev, when this was configured")
    counts = collections.Counter()
    for line in run(judge, path)[0].splitlines():
        _, name, count = line.split()
        counts[name.split("/")[1]] += int(count)
    del counts[OF_THE_FILE]
    return counts


def check_every_form(place, lines):
    """What lies in `place` in five forms: each as its own reader counts it, against the lines."""
    for program in ("trace-cmd", "zstd", "jq", "protoc"):
        need_program(program)
    timeline = Timeline(lines)
    by_name = collections.Counter(event["name"] for event in timeline.kind("ev"))
    assert names(timeline) == reported(place / "out.dat")
    assert names(timeline) == shark_counts(place / "out.dat")
    instants, spans, kernel = perfetto_counts(decode(place / "out.pftrace"))
    assert (instants, spans, kernel) == (clr_counts(timeline, "ev"), clr_counts(timeline, "span"), kernel_counts(timeline))
    with open(place / "out.json", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    assert collections.Counter(event["name"] for event in events if event["ph"] == "i" and event["name"] != "lost") == by_name
    rows = duckdb(place / "out.ndjson.zst", "SELECT name, count(*) AS n FROM lines WHERE k = 'ev' GROUP BY name")
    assert {row["name"]: int(row["n"]) for row in rows} == by_name
    text, _ = run("sh", "-c", f"zstd -dc '{place}/out.ndjson.zst' | jq -r 'select(.k == \"ev\").name' | sort | uniq -c")
    assert {name: int(count) for count, name in (line.split(maxsplit=1) for line in text.splitlines())} == by_name
    for form in ("dat", "ndjson.zst"):
        tracerd("replay", "-q", "-o", place / "back.ndjson", place / f"out.{form}")
        check_same(lines_of(lines), lines_of(place / "back.ndjson"))
    return timeline


EVERY_FORM = ("ndjson.zst", "dat", "pftrace", "json")


def test_recordings_of_one_run_in_every_form_agree():
    need_kernel()
    with folder() as place:
        record(place, "10", *EVERY_FORM)
        timeline = check_every_form(place, place / "out.ndjson")
        timeline.check_sums()
        assert timeline.count("clr:gc_start") > 0 and timeline.count("sched:sched_switch") > 0


def test_recordings_of_a_large_file_in_every_form_agree():
    need_kernel()
    with folder() as place:
        tracerd("run", "-q", "--kernel-buffer", "32M", "-e", "sched:*", "-e", "irq:*", "-e", "raw_syscalls:*", "-o", place / "in.dat", "--",
                "sh", "-c", "for i in $(seq 300); do /bin/true; done")
        tracerd("convert", "-q", place / "in.dat", *[part for form in ("ndjson", *EVERY_FORM) for part in ("-o", place / f"out.{form}")])
        timeline = check_every_form(place, place / "out.ndjson")
        assert len(timeline.kind("ev")) > 10_000


def test_convert_gives_every_form_of_a_recording():
    demo = PROTO / "demo.ndjson"
    with folder() as place:
        outputs = [part for form in ("ndjson", "pftrace", "json", "ndjson.zst") for part in ("-o", place / f"out.{form}")]
        tracerd("convert", demo, *outputs)
        assert all((place / f"out.{form}").stat().st_size > 0 for form in ("ndjson", "pftrace", "json", "ndjson.zst"))
        instants, spans, kernel = perfetto_counts(decode(place / "out.pftrace"))
        timeline = Timeline(place / "out.ndjson")
        assert (instants, spans, kernel) == (clr_counts(timeline, "ev"), clr_counts(timeline, "span"), kernel_counts(timeline))


def test_convert_without_an_output_is_refused():
    _, said = tracerd("convert", PROTO / "demo.ndjson", expected=2)
    assert said.count("\n") == 1 and "-o" in said, said
