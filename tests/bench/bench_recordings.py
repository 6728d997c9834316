"""Every form of recording at once, live under a load of some 100,000 events a second: what the tracer needs at most of
memory, what it costs and loses; then the same events converted into each form alone: bytes and time, against NDJSON.
TRACERD_BENCH_SECONDS."""

import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from house import TRACERD, Timeline, folder, need_kernel, need_program  # noqa: E402

SECONDS = int(os.environ.get("TRACERD_BENCH_SECONDS", "10"))
FORMS = ("ndjson", "ndjson.zst", "dat", "pftrace", "json")
LOAD = ("stress-ng", "--switch", "1", "--switch-freq", "20000", "-t", f"{SECONDS}s", "-q")


def with_peak(*command):
    """Its exit code, messages, seconds and the most memory it had, which is read until it is gone."""
    begin = time.monotonic()
    process = subprocess.Popen([str(part) for part in command], stderr=subprocess.PIPE, text=True)
    peak = 0
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                peak = max(peak, *(int(size) for size in re.findall(r"VmHWM:\s+(\d+)", status.read())), 0)
        except OSError:
            pass
        time.sleep(0.05)
    return process.returncode, process.stderr.read(), time.monotonic() - begin, peak / 1024


def live(place):
    outputs = [part for form in FORMS for part in ("-o", place / f"out.{form}")]
    _, said, _, peak = with_peak(TRACERD, "run", "-q", "--all", "-e", "sched:*", *outputs, "--", *LOAD)
    bye = Timeline(place / "out.ndjson").bye
    print(f"live, {len(FORMS)} forms at once: {int(bye['produced']) / SECONDS:,.0f} events/s, {int(bye['lost'])} lost, "
          f"{peak:.0f} MiB at most")
    print(said, end="", file=sys.stderr)


def alone(place):
    _, _, _, base_peak = with_peak(TRACERD, "replay", "-q", "-o", "/dev/null", place / "out.dat")
    print(f"{'form':24}{'MB':>8}{'of NDJSON':>11}{'seconds':>9}{'of NDJSON':>11}{'MiB':>6}")
    plain = None
    for form, options in (*((form, ()) for form in FORMS), ("dat", ("--compress", "zstd")), ("ndjson.zst", ("--rotate", "4M"))):
        for old in place.glob("alone.*"):
            old.unlink()
        _, _, seconds, peak = with_peak(TRACERD, "convert", "-q", place / "out.dat", *options, "-o", place / f"alone.{form}")
        size = sum(path.stat().st_size for path in place.glob("alone.*"))
        plain = plain or (size, seconds)
        print(f"{' '.join((form, *options)):24}{size / 1e6:8.1f}{size / plain[0]:11.3f}{seconds:9.2f}{seconds / plain[1]:11.2f}{peak:6.0f}")
    print(f"reading alone: {base_peak:.0f} MiB")


def main():
    need_kernel()
    need_program("stress-ng")
    with folder() as place:
        live(place)
        alone(place)


if __name__ == "__main__":
    main()
