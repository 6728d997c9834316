"""Replay on several cores: the same bytes as on one."""

import os

from house import TRACERD, need, need_program, run
from test_replay import made_files


def stream(path, *prefix):
    """The lines behind hello, which names the session."""
    out, _ = run(*prefix, TRACERD, "replay", "-q", path)
    return out.split("\n", 1)[1]


def test_parallel_replay_gives_the_bytes_of_one_core():
    need(len(os.sched_getaffinity(0)) > 1, "a second core")
    need_program("taskset")
    one = str(min(os.sched_getaffinity(0)))
    with made_files() as files:
        for path in files:
            expected = stream(path, "taskset", "-c", one)
            assert expected.count("\n") > 5000
            assert stream(path) == expected, path
