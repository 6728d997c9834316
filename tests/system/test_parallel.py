"""Replay of one file in slices, on several cores and on one: the same bytes, and the same as record by record, which is how
a file goes that is merged with another."""

import json
import os

from house import TRACERD, need, need_program, run
from test_replay import made_files


def stream(*arguments, prefix=()):
    """The lines behind hello, which names the session."""
    out, _ = run(*prefix, TRACERD, "replay", "-q", *arguments)
    return out.split("\n", 1)[1]


def test_parallel_replay_gives_the_bytes_of_one_core():
    need(len(os.sched_getaffinity(0)) > 1, "a second core")
    need_program("taskset")
    one = str(min(os.sched_getaffinity(0)))
    with made_files() as files:
        for path in files:
            expected = stream(path, prefix=("taskset", "-c", one))
            assert expected.count("\n") > 5000
            assert stream(path) == expected, path


def test_parallel_replay_selects_and_counts_as_record_by_record_does():
    """The other file is a recording of which a filter left nothing."""
    with made_files() as files:
        for path in files:
            other = path.parent / "other.ndjson"
            run(TRACERD, "replay", "-q", "--filter", "cpu == 4095", "-o", other, path)
            for options in ((), ("--filter", "cpu == 1"), ("-e", "sched:sched_switch")):
                alone = stream(*options, path).splitlines()
                beside = stream(*options, path, other).splitlines()
                assert len(alone) > 1
                assert alone[:-1] == beside[:-1], (path, options)
                counts, expected = json.loads(alone[-1]), json.loads(beside[-1])
                assert counts["filtered"] == expected["filtered"]
                assert counts["sources"][0] in expected["sources"]
