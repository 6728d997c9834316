"""Disks that fail and processes that are killed, at every place of a small recording: what was finished is readable, what is not
is told, and nobody else suffers."""

import contextlib
import json
import os
import random
import re
import signal
import struct
import time

from house import (BUILD, SOURCE, TRACERD, Timeline, finish, folder, need, need_kernel, need_program, parse, run, start, stopped_at_end,
                   tracerd, wait_until)
from test_parts import small_disk

DEMO = SOURCE / "tests" / "data" / "demo.ndjson"
LAYER = BUILD / "bin" / "tests" / "libfault_layer.so"
PLACES = 24  # of a form, where it fails


def with_fault(kind, after, name):
    need(LAYER.exists(), f"{LAYER}, which the build makes")
    return {**os.environ, "LD_PRELOAD": str(LAYER), "FAULT": f"{kind}:{after}:{name}"}


def places_in(size, count=PLACES):
    """Beginning and end, and some between, the same ones each time."""
    return sorted({0, 1, size - 1, *random.Random(6).sample(range(size), min(count, size))})


def events_of(lines):
    return [re.sub(r'"seq":\d+,', "", line) for line in lines if '"k":"ev"' in line]


def make_dat(place):
    """A small trace.dat, so that a .dat can be made of it."""
    need_kernel()
    tracerd("run", "-q", "-e", "sched:*", "-o", place / "in.dat", "--", "sh", "-c", "for i in $(seq 400); do /bin/true; done",
            expected=None)
    return place / "in.dat"


def read_back(path, place):
    """Events of a file that may have no end, and what was said."""
    replay = start(TRACERD, "replay", "-q", "-o", place / "back.ndjson", path)
    _, said = finish(replay, expected=None)
    assert replay.returncode in (0, 3, 4), replay.returncode
    back = place / "back.ndjson"
    assert (replay.returncode == 0) == (said == ""), (replay.returncode, said)
    return events_of(back.read_text().splitlines()) if back.exists() else [], said


def packets(bytes_):
    """Whole packets of a Perfetto trace that may be cut, and how many bytes they take."""
    at, count = 0, 0
    while at < len(bytes_):
        if bytes_[at] != 0x0a:
            raise AssertionError(f"no packet at {at}")
        size, shift, begin = 0, 0, at + 1
        while begin < len(bytes_) and bytes_[begin] & 0x80:
            size |= (bytes_[begin] & 0x7f) << shift
            shift += 7
            begin += 1
        if begin >= len(bytes_) or begin + 1 + (size | bytes_[begin] << shift) > len(bytes_):
            break
        at, count = begin + 1 + (size | bytes_[begin] << shift), count + 1
    return count, at


def is_prefix(part, whole):
    return whole[:len(part)] == part


def check_lines(path, place, whole):
    events, said = read_back(path, place)
    assert is_prefix(events, whole["events"]), said
    assert said.count("\n") == 1, said
    return events


def check_ndjson(path, place, whole, after):
    lines = path.read_bytes()
    # Without its last end of a line it is still all there.
    if b"\n" in lines and path.stat().st_size < len(whole["bytes"]) - 1:
        events = check_lines(path, place, whole)
        assert len(events) == len(events_of(lines[:lines.rindex(b"\n")].decode().splitlines()))


def check_zst(path, place, whole, after):
    """Whatever lies in frames that are whole, as another program sees it, comes back."""
    size = path.stat().st_size
    if size < 4:
        return
    events = check_lines(path, place, whole)
    seen, _ = run("zstd", "-dcq", path, expected=None)
    assert len(events) >= len(events_of(seen.splitlines()[:-1])), (len(events), size)


def check_pftrace(path, place, whole, after):
    cut = path.read_bytes()
    assert is_prefix(cut, whole["bytes"])
    need_program("protoc")
    count, size = packets(cut)
    (place / "whole-packets").write_bytes(cut[:size])
    with open(place / "whole-packets", "rb") as trace:
        text, _ = run("protoc", f"--proto_path={SOURCE}/tests/data", "--decode=Trace", "perfetto.proto", stdin=trace)
    assert len(re.findall(r"^packet \{", text, re.M)) == count


def check_chrome(path, place, whole, after):
    cut = path.read_bytes()
    assert is_prefix(cut, whole["bytes"])
    if cut.count(b"\n") > 1:
        json.loads(cut[:cut.rindex(b"\n")].rstrip(b",") + b"]}")


def data_of(dat):
    """Where the data of a whole trace.dat begin, and how many bytes they are: its directory tells."""
    header = re.match(rb"\x17\x08\x44tracing7\0.{6}\w+\0\0", dat, re.S).end()
    at = struct.unpack_from("<Q", dat, header)[0] + 16
    begin, size = None, 0
    while (option := struct.unpack_from("<HI", dat, at))[0]:
        at += 6
        if option[0] == 3:
            texts = dat.index(b"\0", dat.index(b"\0", at + 8) + 1) + 1
            for cpu in range(struct.unpack_from("<II", dat, texts)[1]):
                offset, bytes_ = struct.unpack_from("<QQ", dat, texts + 8 + 20 * cpu + 4)
                begin, size = begin or offset, size + bytes_
        at += option[1]
    return begin, size


DIRECTORY = 4096  # and more than the directory of a few CPUs has


def check_dat(path, place, whole, after):
    events, said = read_back(path, place)
    assert set(events) <= set(whole["events"]) and len(events) == len(set(events)), said
    begin, size = data_of(whole["bytes"])
    if after > begin + whole["pages"] + DIRECTORY:  # all has been written, what is left is to put it in order
        assert len(events) == len(whole["events"]), (after, begin, size, said)
    if after > begin:  # trace-cmd cannot tell what is cut before
        seen, _ = run("trace-cmd", "report", "-R", "-i", path, expected=None)
        assert len(re.findall(r"^.*\s\[\d+\]\s", seen, re.M)) in (0, len(events)), (len(events), said)


def dat_places(whole, count=PLACES):
    """Most of them behind the formats and symbols, which are written in one go."""
    begin, _ = data_of(whole["bytes"])
    end = begin + whole["pages"] + DIRECTORY  # twice as far it is put in order
    return [0, 1, begin // 2, *(begin + part * 2 * (end - begin) // count for part in range(count))]


CHECKS = {"ndjson": check_ndjson, "ndjson.zst": check_zst, "pftrace": check_pftrace, "json": check_chrome, "dat": check_dat}


def check_account(timeline, form, out):
    """What is told as written is in the file that failed."""
    timeline.check_sums()
    account, = [row for row in timeline.bye["outputs"] if row["output"] == str(out)]
    if form == "ndjson":
        assert int(account["delivered"]) <= out.read_bytes().count(b"\n"), account
        assert int(account["lost"]) > 0 or account["produced"] == timeline.bye["lines"], account


def check_form(form, kinds, *options):
    with folder() as place:
        source = make_dat(place) if form == "dat" else DEMO
        out, other = place / f"out.{form}", place / "other.ndjson"
        convert = ("convert", "-q", source, *options, "-o", out, "-o", other)
        tracerd(*convert)
        whole = {"bytes": out.read_bytes(), "events": events_of(other.read_text().splitlines())}
        if form == "dat":
            tracerd("convert", "-q", source, "-o", place / "plain.dat")
            whole["pages"] = data_of((place / "plain.dat").read_bytes())[1]
        places = dat_places(whole) if form == "dat" else places_in(len(whole["bytes"]))
        for number, after in enumerate(places):
            kind = kinds[number % len(kinds)]
            for path in (out, other):
                path.unlink(missing_ok=True)
            process = start(TRACERD, *convert, env=with_fault(kind, after, f"out.{form}"))
            _, said = finish(process, expected=None)
            if form in ("dat", "ndjson.zst") and process.returncode == 0:
                continue  # it did not write that much in all; a session's name packs to a byte more or less
            if kind == "KILL":
                assert process.returncode == -signal.SIGKILL, (after, process.returncode, said)
            else:
                assert process.returncode == 4 and said.count("\n") == 1 and str(out) in said, (after, process.returncode, said)
                assert events_of(other.read_text().splitlines()) == whole["events"], after
                check_account(Timeline(other), form, out)
            CHECKS[form](out, place, whole, after)


def test_faults_disk_errors_in_lines_cost_what_follows_only():
    check_form("ndjson", ("ENOSPC", "EIO"))


def test_faults_disk_errors_in_zst_cost_what_follows_only():
    need_program("zstd")
    check_form("ndjson.zst", ("ENOSPC", "EIO"))


def test_faults_disk_errors_in_pftrace_cost_what_follows_only():
    check_form("pftrace", ("ENOSPC", "EIO"))


def test_faults_disk_errors_in_chrome_cost_what_follows_only():
    check_form("json", ("ENOSPC", "EIO"))


def test_faults_disk_errors_in_dat_cost_what_follows_only():
    check_form("dat", ("ENOSPC", "EIO"))


def test_faults_disk_errors_in_compressed_dat_cost_what_follows_only():
    check_form("dat", ("ENOSPC",), "--compress", "zstd")


def test_faults_killed_anywhere_each_form_is_a_prefix():
    need_program("zstd")
    for form in CHECKS:
        check_form(form, ("KILL",))
    check_form("dat", ("KILL",), "--compress", "zstd")


def test_faults_killed_while_live_loses_a_moment_of_each_form():
    need_kernel()
    need_program("zstd")
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    print(f"seed {seed}")
    with folder() as place:
        outputs = [part for form in CHECKS for part in ("-o", place / f"out.{form}")]
        lines = place / "out.ndjson"
        command = [TRACERD, "run", "-q", "-e", "sched:*", *outputs, "--", "sh", "-c", "while :; do /bin/true; done"]
        with stopped_at_end(start(*command, start_new_session=True)) as process:
            try:
                beats = chance.randint(2, 4)
                wait_until(lambda: lines.exists() and lines.read_bytes().count(b'"k":"hb"') >= beats, "signs of life")
                time.sleep(chance.random() / 2)
                process.kill()
                process.wait()
                # What was traced goes on.
                assert run("pgrep", "-g", str(process.pid))[0]
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        text = lines.read_bytes().decode()
        beat = text.rindex('"k":"hb"', 0, text.rindex('"k":"hb"'))
        sure, whole = len(events_of(text[:beat].splitlines()[:-1])), events_of(text.splitlines())
        events, said = read_back(lines, place)
        assert said.count("\n") == 1 and is_prefix(events, whole) and len(events) >= len(whole) - 1, said
        events, said = read_back(place / "out.ndjson.zst", place)
        assert said.count("\n") == 1 and is_prefix(events, whole) and len(events) >= sure - 1, (len(events), sure, said)
        events, said = read_back(place / "out.dat", place)
        assert len(events) >= sure, (len(events), sure, said)
        count, size = packets((place / "out.pftrace").read_bytes())
        assert count > sure // 1000
        cut = (place / "out.json").read_bytes()
        told = json.loads(cut[:cut.rindex(b"\n")].rstrip(b",") + b"]}")["traceEvents"]
        assert sum(event["ph"] == "i" for event in told) >= sure


def test_faults_full_disk_keeps_whole_pages_of_a_dat():
    with folder() as place:
        source = make_dat(place)
        begin, size = data_of(source.read_bytes())
        (place / "disk").mkdir()
        tracerd("replay", "-q", "-o", place / "whole.ndjson", source)
        whole = events_of((place / "whole.ndjson").read_text().splitlines())
        with small_disk(place / "disk", str((begin + size // 2) // 4096 * 4096)) as disk:
            _, said = tracerd("convert", source, "-o", disk / "out.dat", expected=4)
            assert "No space left" in said and said.count("\n") == 1, said
            events, said = read_back(disk / "out.dat", place)
            seen, _ = run("trace-cmd", "report", "-R", "-i", disk / "out.dat")
        assert 0 < len(events) < len(whole) and set(events) < set(whole), (len(events), len(whole), said)
        assert len(re.findall(r"^.*\s\[\d+\]\s", seen, re.M)) == len(events)


def test_faults_short_and_interrupted_writes_change_nothing():
    with folder() as place:
        source = make_dat(place)
        for form in CHECKS:
            out = place / f"out.{form}"
            for kind, after in (("NONE", 0), ("SHORT", 1000), ("SHORT", 4097), ("EINTR", 0)):
                tracerd("convert", "-q", source, "-o", out, *(("--compress", "zstd") if form == "dat" else ()),
                        env=with_fault(kind, after, f"out.{form}") if after or kind == "EINTR" else None)
                bytes_ = out.read_bytes()
                if form == "ndjson":
                    bytes_ = b"\n".join(bytes_.splitlines()[1:])  # without the session
                elif form == "ndjson.zst":
                    bytes_ = run("zstd", "-dc", out)[0].splitlines()[1:]
                if kind == "NONE":
                    expected = bytes_
                assert bytes_ == expected, (form, kind, after)
