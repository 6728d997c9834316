"""One event of one number by LTTng-UST and by the profiler's writer, in turns: nanoseconds on the thread that writes it.
LTTng records into memory it writes over (a snapshot session), with its own session daemon for this run."""

import json
import os
import signal
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from house import BUILD, folder, need, need_program, run, start, stopped_at_end, wait_until  # noqa: E402

RUNS = int(os.environ.get("TRACERD_BENCH_RUNS", "5"))
TESTS = BUILD / "bin" / "tests"


def bench_lttng():
    for program in ("lttng", "lttng-sessiond", "setpriv"):
        need_program(program)
    need((TESTS / "bench_lttng_ust").exists(), "liblttng-ust-dev when this was built")
    with folder() as place:
        # Not root's daemon, which others may use: one of a user without a name, with a home of its own.
        os.chmod(place, 0o777)
        as_user = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups") if os.geteuid() == 0 else ()
        home = {**os.environ, "LTTNG_HOME": str(place), "HOME": str(place), "LTTNG_UST_REGISTER_TIMEOUT": "-1"}

        def command(*words, **options):
            return run(*as_user, *words, env=home, **options)

        with stopped_at_end(start(*as_user, "lttng-sessiond", "--no-kernel", env=home)) as daemon:
            wait_until(lambda: start(*as_user, "lttng", "--no-sessiond", "list", env=home).wait() == 0, "the session daemon")
            for words in (("create", "bench", "--snapshot", "--output", place / "out"),
                          ("enable-channel", "--userspace", "--subbuf-size", "1M", "--num-subbuf", "4", "channel"),
                          ("enable-event", "--userspace", "--channel", "channel", "tracerd_bench:number"), ("start",)):
                command("lttng", "--no-sessiond", *words)
            ours, theirs = [], []
            for _ in range(RUNS):
                ours.append(json.loads(run(TESTS / "bench_ring")[0]))
                theirs.append(json.loads(command(TESTS / "bench_lttng_ust")[0])["event_ns"])
            command("lttng", "--no-sessiond", "snapshot", "record")
            recorded = sum(file.stat().st_size for file in place.glob("out/**/channel_*"))
            assert recorded > 1 << 20, f"LTTng recorded {recorded} bytes only"
            command("lttng", "--no-sessiond", "destroy", "bench")
            daemon.send_signal(signal.SIGTERM)
            daemon.wait()
    print(f"clock {min(each['clock_ns'] for each in ours):.1f} ns, event {statistics.median(each['event_ns'] for each in ours):.1f} ns,"
          f" LTTng-UST event {statistics.median(theirs):.1f} ns   (medians of {RUNS} runs)")


if __name__ == "__main__":
    sys.argv = [sys.argv[0], __file__, "bench_lttng"]
    from house import _main
    sys.exit(_main())
