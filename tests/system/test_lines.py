"""What the program writes against the published schema of its lines, live and from files."""

import os
import pathlib
import re
import sys

from house import BUILD, SOURCE, Timeline, folder, managed, need, need_kernel, run, tracerd

CHECK = BUILD / "bin" / "tests" / "check_lines"
SHARED = pathlib.Path(os.environ.get("TRACERD_SHARED", SOURCE.parent / "shared"))


def check(path):
    need(CHECK.exists(), f"{CHECK}, which the build makes")
    run(CHECK, path)


def restore(text):
    """The recipe of proto/JSON.md: the bytes that a string of a line stood for."""
    return re.sub(rb"\xef[\x9c-\x9f][\x80-\xbf]",
                  lambda found: bytes([(found[0][1] & 3) << 6 | found[0][2] & 63]), text.encode())


def test_lines_of_a_live_run_follow_the_schema(runtime):
    need_kernel()
    with folder() as place:
        tracerd("run", "-q", "-o", place / "out.ndjson", "--", *managed(runtime, "story"))
        check(place / "out.ndjson")


def test_lines_of_foreign_files_follow_the_schema():
    files = sorted((SHARED / "data" / "traces").glob("*.dat"))
    if not files:  # no part of the machine, so a skip even in CI
        print(f"SKIP: captures in {SHARED}/data/traces (TRACERD_SHARED)")
        sys.exit(77)
    with folder() as place:
        for file in files:
            tracerd("replay", "-q", "-o", place / "out.ndjson", file)
            check(place / "out.ndjson")


def test_lines_of_a_replayed_recording_follow_the_schema_and_keep_every_value():
    need_kernel()
    with folder() as place:
        tracerd("run", "-q", "-o", place / "first.ndjson", "--", *managed("10", "story"))
        tracerd("replay", "-q", "-o", place / "second.ndjson", place / "first.ndjson")
        check(place / "second.ndjson")
        kinds = ("ev", "span", "def", "lost")
        first, second = ([{key: record[key] for key in record if key != "seq"} for record in
                          Timeline(place / name).records if record["k"] in kinds]
                         for name in ("first.ndjson", "second.ndjson"))
        order = lambda record: sorted((key, str(value)) for key, value in record.items())
        assert sorted(first, key=order) == sorted(second, key=order)


def test_task_name_of_bad_bytes_parses_and_can_be_had_back():
    need_kernel()
    name = b'\x01"\\\xff\xef\x9c\x80\xed\xa0\x80'
    script = f"import time\nopen('/proc/self/comm', 'wb').write({name!r})\n" + "time.sleep(0.02)\n" * 5
    with folder() as place:
        tracerd("run", "-q", "--no-clr", "-e", "sched:sched_switch", "-o", place / "out.ndjson", "--",
                sys.executable, "-c", script)
        check(place / "out.ndjson")
        seen = {restore(event["args"]["prev_comm"])
                for event in Timeline(place / "out.ndjson").events("sched:sched_switch")}
        assert name in seen, seen
