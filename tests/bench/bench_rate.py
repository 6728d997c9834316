"""Events per second that go from two threads through the profiler, the socket and the daemon to JSON lines without loss:
`rate` raises them at a steady pace through the real library, with the default buffer, with rings that cannot grow beyond
64 KiB, and with a large buffer.

Where it may, it runs with real-time priority, so that what is measured is the work and not what else the machine has to
do; it takes a fraction of one core. Prints what was lost, what an event cost its thread, and the processor time of all
processes per event. TRACERD_BENCH_SECONDS: of each (10). TRACERD_BENCH_RATE: events per second (2000000)."""

import json
import os
import pathlib
import resource
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from house import BUILD, TRACERD, folder, parse, run  # noqa: E402

SECONDS = int(os.environ.get("TRACERD_BENCH_SECONDS", "10"))
RATE = int(os.environ.get("TRACERD_BENCH_RATE", "2000000"))
BUFFERS = ("8M/1M", "8M/64K", "64M/8M")


def processor_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def last_line(path):
    with open(path, "rb") as stream:
        stream.seek(max(0, path.stat().st_size - 65536))
        return stream.read().decode().splitlines()[-1] + "\n"


def bench_rate():
    urgent = ["chrt", "-f", "1"] if os.geteuid() == 0 and shutil.which("chrt") else []
    print(f"{RATE} events/s from two threads, {SECONDS} s" + (", with real-time priority" if urgent else ""))
    program = (BUILD / "bin" / "tests" / "rate", BUILD / "lib" / "libtracerd_profiler.so", 2, RATE, SECONDS)
    for buffer in BUFFERS:
        with folder() as place:
            before = processor_s()
            out, _ = run(*urgent, TRACERD, "run", "-q", "--no-kernel", "--clr-buffer", buffer, "-o", place / "out.ndjson", "--",
                         *program)
            spent = processor_s() - before
            report, bye = json.loads(out), parse(last_line(pathlib.Path(place / "out.ndjson")))
        produced, delivered, lost = (int(bye[name]) for name in ("produced", "delivered", "lost"))
        assert produced == delivered + lost, bye
        # And one each for the start and the end of the program.
        assert report["events"] <= produced <= report["events"] + 2, (report, bye)
        assert report["events"] > 0
        print(f"  --clr-buffer {buffer:6}: {lost / produced:8.4%} lost of {produced} in {report['seconds']:.1f} s, "
              f"{report['ns_per_event']:.0f} ns in the thread, {spent / produced * 1e9:.0f} ns of all processors")


if __name__ == "__main__":
    sys.argv = [sys.argv[0], __file__, "bench_rate"]
    from house import _main
    sys.exit(_main())
