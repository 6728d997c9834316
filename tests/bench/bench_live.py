"""The same load, in turns: `trace-cmd record` and tracerd to .dat with the same ring, then tracerd to NDJSON. Events made,
lost (each by its own count, held against its file), and what the tracer itself cost. TRACERD_BENCH_SECONDS, _ROUNDS."""

import os
import re
import resource
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from house import TRACERD, folder, need_kernel, need_program  # noqa: E402

SECONDS = int(os.environ.get("TRACERD_BENCH_SECONDS", "5"))
ROUNDS = int(os.environ.get("TRACERD_BENCH_ROUNDS", "3"))
RING_KB = int(os.environ.get("TRACERD_BENCH_RING_KB", "4096"))
SYSTEMS = ("sched", "raw_syscalls", "irq", "timer")
LOAD = ("stress-ng", "--switch", "2", "--pipe", "1", "-t", f"{SECONDS}s", "--times")
# trace-cmd stops where these cannot be written (facts of this machine: ftrace_enabled is refused); in a mount namespace of
# our own they are files that take everything. Function tracing is not asked for, so they say nothing.
AS_WRITABLE = """set -e
echo 1 > $0/one; : > $0/empty
mount --bind $0/one /proc/sys/kernel/ftrace_enabled
for file in set_ftrace_filter set_ftrace_notrace set_ftrace_pid; do
    [ ! -e /sys/kernel/tracing/$file ] || mount --bind $0/empty /sys/kernel/tracing/$file
done
exec "$@"
"""


def high_water_kb(pid):
    """The most memory it has had so far."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as status:
            return int(re.search(r"VmHWM:\s+(\d+)", status.read())[1])
    except (OSError, TypeError):  # it is gone
        return 0


def measured(*command):
    """Its stdout and stderr, the processor seconds of the command without the load's, and its most memory, MiB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace")
    said, most = [], 0
    reader = threading.Thread(target=lambda: said.append(process.stdout.read()))
    reader.start()
    while process.poll() is None:
        most = max(most, high_water_kb(process.pid))
        time.sleep(0.1)
    reader.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return said[0], after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, most / 1024


def load_of(text):
    """Processor seconds stress-ng had, by its own --times."""
    users = re.search(r"([\d.]+)s user time", text)
    systems = re.search(r"([\d.]+)s system time", text)
    assert users and systems, text
    return float(users[1]) + float(systems[1])


def lost_in(path):
    """Entries and losses as the file itself says, by our reader."""
    text, _, _ = measured(TRACERD, "replay", "--summary", "-o", "/dev/null", path)
    return account_in(text)


def account_in(text):
    found = re.search(r"(\d+) = +(\d+) \+ +(\d+)", text)
    assert found, text
    return int(found[2]), int(found[3])


def trace_cmd(place):
    dat = place / "t.dat"
    events = [part for system in SYSTEMS for part in ("-e", system)]
    text, cpu, _ = measured("unshare", "-m", "--propagation", "private", "sh", "-c", AS_WRITABLE, place, "trace-cmd", "record",
                         "-q", "-C", "mono", "-b", RING_KB, *events, "-o", dat, *LOAD)
    assert dat.exists(), text
    return dat, text, cpu, 0


def to_dat(place):
    dat = place / "a.dat"
    events = [part for system in SYSTEMS for part in ("-e", f"{system}:*")]
    text, cpu, memory = measured(TRACERD, "run", "--all", "--no-clr", "--kernel-buffer", f"{RING_KB}K", *events, "-o", dat, "--", *LOAD)
    return dat, text, cpu, memory


def to_ndjson(place):
    """One thread reads, merges and formats; nobody keeps the lines."""
    events = [part for system in SYSTEMS for part in ("-e", f"{system}:*")]
    return None, *measured(TRACERD, "run", "--all", "--no-clr", "--summary", "--kernel-buffer", f"{RING_KB}K", *events, "-o",
                           "/dev/null", "--", *LOAD)


def bench_live():
    need_kernel()
    need_program("trace-cmd")
    need_program("stress-ng")
    print(f"{SECONDS} s, ring {RING_KB} KiB per CPU, load {os.getloadavg()[0]:.1f}")
    print(f"{'':12} {'made':>12} {'kept':>12} {'lost':>12} {'lost %':>7} {'tracer CPU s':>13} {'memory MiB':>11}")
    sums = {}
    for _ in range(ROUNDS):
        for tracer in (trace_cmd, to_dat, to_ndjson):
            with folder() as place:
                dat, text, cpu, memory = tracer(place)
                kept, lost = lost_in(dat) if dat else account_in(text)
                burnt = load_of(text)
            print(f"{tracer.__name__:12} {kept + lost:12} {kept:12} {lost:12} {lost * 100 / (kept + lost):7.2f}"
                  f" {cpu - burnt:13.2f} {memory:11.1f}")
            sums[tracer.__name__] = sums.get(tracer.__name__, 0) + lost
    print(f"lost in all: trace-cmd {sums['trace_cmd']}, tracerd {sums['to_dat']}")


if __name__ == "__main__":
    sys.argv = [sys.argv[0], __file__, "bench_live"]
    from house import _main
    sys.exit(_main())
