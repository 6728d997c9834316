"""The whole machine under a load of a million events a second and more: in order, nothing unaccounted, in little memory."""

import pathlib
import re
import time

from house import TRACERD, Timeline, folder, need_kernel, need_program, parse, run, start, stopped_at_end

SYSTEMS = ("sched", "raw_syscalls", "irq", "timer")
LOAD = ("stress-ng", "-q", "--switch", "2", "--pipe", "1", "-t", "1")
MEMORY_KB_MAX = 128 * 1024


def high_water_kb(pid):
    """The most memory it has had so far; 0 = it is gone."""
    try:
        found = re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
    except OSError:
        return 0
    return int(found[1]) if found else 0


def record_load(out, *options):
    """Traces the load, and sees that the daemon's memory stays bounded meanwhile."""
    need_kernel()
    need_program("stress-ng")
    events = [part for system in SYSTEMS for part in ("-e", f"{system}:*")]
    process = start(TRACERD, "run", "--all", "--no-clr", *events, *options, "-o", out, "--", *LOAD)
    most = 0
    with stopped_at_end(process):
        while process.poll() is None:
            most = max(most, high_water_kb(process.pid))
            time.sleep(0.05)
        said = process.stderr.read()
    assert process.returncode in (0, 4), said  # 4: on a busy machine something may be lost, and is then told
    assert 0 < most <= MEMORY_KB_MAX, f"{most} KiB"


def test_live_load_comes_in_order_and_the_account_is_whole():
    stamp = re.compile(r'"k":"ev","seq":\d+,"ts":"(\d+)","src":"ftrace","cpu":(\d+)')
    with folder() as place:
        record_load(place / "out.ndjson")
        last, events, lost, cpus = 0, 0, 0, set()
        with open(place / "out.ndjson", encoding="utf-8") as lines:
            for number, line in enumerate(lines):  # a million: not each through a parser
                found = stamp.search(line, 0, 100)
                if not found:
                    other = parse(line)
                    assert other["seq"] == number, other
                    lost += other["n"] if other["k"] == "lost" else 0
                    continue
                assert int(found[1]) >= last, line
                last = int(found[1])
                events += 1
                cpus.add(found[2])
        assert other["k"] == "bye" and other["late"] == "0", other
        assert int(other["produced"]) == int(other["delivered"]) + int(other["lost"]), other
        assert events == int(other["delivered"]) - int(other["filtered"]) > 100000, (events, other)
        assert lost == int(other["lost"]), (lost, other)
        assert len(cpus) > 1, cpus


def test_live_load_as_pages_holds_what_the_kernel_made():
    with folder() as place:
        out = place / "out.dat"
        record_load(out)
        run(TRACERD, "replay", "-q", "--filter", 'name == "timer:hrtimer_start"', "-o", place / "out.ndjson", out,
            expected=None)
        bye = Timeline(place / "out.ndjson").bye
        assert int(bye["produced"]) == int(bye["delivered"]) + int(bye["lost"]) > 100000, bye
        assert int(bye["late"]) == 0, bye
