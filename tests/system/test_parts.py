"""Recordings in parts: together they are the whole, each is good by itself, and old ones make room for new ones."""

import contextlib
import json
import re
import signal

from house import (BUILD, SOURCE, TRACERD, finish, folder, need, need_kernel, need_program, parse, run, start, stopped_at_end, tracerd,
                   wait_until)
from test_service import connect, make_noise, service

DEMO = SOURCE / "tests" / "data" / "demo.ndjson"
FORMS = ("ndjson", "ndjson.zst")
CHECK = BUILD / "bin" / "tests" / "check_lines"


def text_of(path):
    """As other programs read it."""
    return run("zstd", "-dc", path)[0] if path.suffix == ".zst" else path.read_text()


COPIES = 6


def make_large(place, *options, copies=COPIES):
    """A recording of many lines, the same ones at the same times over and over: nothing in parts depends on times."""
    tracerd("convert", "-q", *[DEMO] * copies, *options, "-o", place / "whole.ndjson")
    return place / "whole.ndjson"


def parts_in(place, form):
    return sorted(place.glob(f"part.*.{form}"))


def body(text):
    """Without what tells of the run itself and of its sources' names."""
    return text.splitlines(keepends=True)[1:-1]


def replay(place, *files, expected=0):
    """The lines, and what was said."""
    _, said = tracerd("replay", "-o", place / "back.ndjson", *files, expected=expected)
    return (place / "back.ndjson").read_text(), said


def check_part(path, earlier, number):
    """A part by itself; the lines that are new in it. `earlier` are those of the parts before."""
    need(CHECK.exists(), f"{CHECK}, which the build makes")
    lines = text_of(path).splitlines(keepends=True)
    hello = parse(lines[0])
    plain = path.with_name("plain")
    plain.write_text("".join(lines))
    run(CHECK, plain)
    assert hello["part"] == number, hello
    new = [line for line in lines[1:] if parse(line)["seq"] >= hello["first_seq"]]
    repeated = lines[1:len(lines) - len(new)]
    assert repeated == [line for line in earlier if parse(line)["k"] == "def"], path
    return new


def check_all(paths, whole):
    """Parts, each by itself, and that they add up."""
    lines = whole.read_text().splitlines(keepends=True)
    together = []
    for number, path in enumerate(paths, 1):
        new = check_part(path, together, number)
        end = parse(new[-1])
        if number < len(paths):
            assert end["k"] == "next" and end["part"] == number + 1, end
            new.pop()
        together += new
    assert together[:-1] == lines[1:-1]
    assert parse(together[-1])["lines"] == parse(lines[-1])["lines"]


def test_parts_of_either_form_add_up_to_the_whole_and_are_whole_themselves():
    need_program("zstd")
    with folder() as place:
        whole = make_large(place)
        expected, _ = replay(place, whole)
        for form, limit in zip(FORMS, (256 << 10, 24 << 10)):
            tracerd("convert", "-q", *[DEMO] * COPIES, "-o", place / f"part.{form}", "--rotate", str(limit))
            paths = parts_in(place, form)
            assert [path.name for path in paths] == [f"part.{i:06}.{form}" for i in range(1, len(paths) + 1)]
            assert len(paths) > 2 and not (place / f"part.{form}").exists(), paths
            assert all(path.stat().st_size <= limit for path in paths), [path.stat().st_size for path in paths]
            check_all(paths, whole)
            back, said = replay(place, *reversed(paths))
            assert body(back) == body(expected) and said == "", said


def test_parts_by_time_begin_anew_when_theirs_is_over():
    need_kernel()
    with folder() as place:
        tracerd("run", "-q", "--rotate", "200ms", "-o", place / "part.ndjson", "--", "sh", "-c",
                "for i in $(seq 100); do sleep 0.01; done")
        begins = []
        for path in parts_in(place, "ndjson"):
            hello, *lines = [parse(line) for line in path.read_text().splitlines(keepends=True)]
            first = next(line for line in lines if line["seq"] >= hello["first_seq"])
            begins.append(int(first["ts"]) if "ts" in first else None)
        assert len(begins) > 2, begins
        assert all(later - before >= 200_000_000 for before, later in zip(begins, begins[1:]) if later), begins


def test_parts_that_are_missing_are_told():
    with folder() as place:
        tracerd("convert", "-q", *[DEMO] * 8, "-o", place / "part.ndjson", "--rotate", "256K")
        paths = parts_in(place, "ndjson")
        whole, _ = replay(place, *paths)
        back, said = replay(place, *paths[1:])
        assert "begins with part 2" in said and said.count("\n") == 1, said
        back, said = replay(place, *paths[:-1])
        assert f"goes on in part {len(paths)}" in said and said.count("\n") == 1, said
        back, said = replay(place, paths[0], *paths[2:], expected=4)
        first, last = re.search(r"lines from number (\d+) to (\d+)", said).groups()
        assert parse(paths[1].read_text().splitlines(keepends=True)[0])["first_seq"] == int(first), said
        assert parse(paths[2].read_text().splitlines(keepends=True)[0])["first_seq"] == int(last) + 1, said
        assert sum('"k":"lost"' in line and '"n":null' in line for line in back.splitlines()) == 1, said
        # Definitions of the part that is missing stand in the next one.
        assert back.count('"k":"def"') == whole.count('"k":"def"')


def numbers(paths):
    return [int(path.name.split(".")[1]) for path in paths]


def test_parts_that_are_old_are_deleted_and_numbers_go_on():
    with folder() as place:
        for form, keep in zip(FORMS, (1 << 20, 160 << 10)):
            convert = ("convert", *[DEMO] * 12, "-o", place / f"part.{form}", "--keep", str(keep))
            _, said = tracerd(*convert)
            paths = parts_in(place, form)
            left = numbers(paths)
            assert left == list(range(left[0], left[-1] + 1)) and left[0] > 1, left
            assert sum(path.stat().st_size for path in paths) <= keep
            assert f"{left[0] - 1} older parts" in said, said
            whole, _ = replay(place, DEMO, *[DEMO] * 11)
            back, _ = replay(place, *paths)
            tail = [re.sub(r'"seq":\d+,', "", line) for line in body(back)]
            expected = [re.sub(r'"seq":\d+,', "", line) for line in body(whole)]
            new = len([line for line in tail if '"k":"ev"' in line])
            assert [line for line in tail if '"k":"ev"' in line] == [line for line in expected if '"k":"ev"' in line][-new:]
            tracerd("convert", "-q", DEMO, "-o", place / f"part.{form}", "--keep", str(keep))
            again = numbers(parts_in(place, form))
            assert again[-1] == left[-1] + 1, (left, again)


@contextlib.contextmanager
def small_disk(place, size):
    """A file system that gets full."""
    run("mount", "-t", "tmpfs", "-o", f"size={size}", "tracerd-test", place)
    try:
        yield place
    finally:
        run("umount", "-l", place)


def test_parts_on_a_full_disk_make_room_for_each_other():
    need_kernel()  # root, to mount
    with folder() as place:
        whole = make_large(place, "--no-clr", copies=40)
        (place / "disk").mkdir()
        with small_disk(place / "disk", "1m") as disk:
            tracerd("convert", "-q", whole, "-o", disk / "part.ndjson", "--rotate", "128K", "--keep", "1G")
            paths = parts_in(disk, "ndjson")
            assert numbers(paths)[0] > 1, paths
            back, said = replay(place, *paths)
        lines = [re.sub(r'"seq":\d+,', "", line) for line in body(back) if '"k":"ev"' in line]
        events = [re.sub(r'"seq":\d+,', "", line) for line in body(whole.read_text()) if '"k":"ev"' in line]
        assert len(lines) > 100 and events[-len(lines):] == lines, said


def test_parts_of_what_is_one_file_are_refused():
    with folder() as place:
        for output in (place / "a.dat", place / "a.pftrace", place / "a.json", "-"):
            _, said = tracerd("convert", DEMO, "-o", output, "--rotate", "1M", expected=2)
            assert said.count("\n") == 1 and ".ndjson.zst" in said, said
        _, said = tracerd("convert", DEMO, "-o", place / "a.ndjson", "--rotate", "1M", "--keep", "1M", expected=2)
        assert said.count("\n") == 1 and "twice" in said, said
        assert list(place.iterdir()) == []


def test_parts_of_a_service_go_on_after_a_restart():
    need_kernel()
    with folder() as place:
        keys = {"kernel": True, "events": ["ftrace:print"], "output": str(place / "part.ndjson.zst"), "rotate": "64K", "keep": "1M"}
        sessions = []
        for turn in range(2):
            with service(place, **keys) as process, connect(place) as consumer:
                consumer.recv(1 << 16)
                make_noise(process, 600, turn * 600)
                seen = b""
                wait_until(lambda: (seen := consumer.recv(1 << 20)) and f"mark {turn * 600 + 599} ".encode() in seen, "the marks")
                process.send_signal(signal.SIGTERM)
                finish(process)
            sessions.append(parts_in(place, "ndjson.zst"))
        assert len(sessions[1]) > len(sessions[0]) > 0
        back, _ = replay(place, *sessions[1])
        marks = re.findall(r'"buf":"mark (\d+) ', back)
        assert marks == [str(number) for number in range(1200)], len(marks)
