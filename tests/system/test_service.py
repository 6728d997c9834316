"""The service: its sockets, its consumers, its unit."""

import contextlib
import json
import os
import signal
import socket
import stat

from house import (BUILD, TRACEFS, TRACERD, finish, folder, instances, need_kernel, need_program, parse, run, start, stopped_at_end, tracerd,
                   wait_until)


@contextlib.contextmanager
def service(place, **keys):
    """Runs until the end of the block; without kernel events unless asked for."""
    config = place / "config.json"
    config.write_text(json.dumps({"runtime_dir": str(place / "run"), "kernel": False, **keys}))
    with stopped_at_end(start(TRACERD, "-c", config)) as process:
        line = process.stderr.readline()
        assert "listening" in line, line + process.stderr.read()
        yield process


def stop(process):
    process.send_signal(signal.SIGTERM)
    finish(process)


def connect(place):
    consumer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    consumer.connect(str(place / "run" / "stream.sock"))
    return consumer


def read_all(consumer):
    """Everything up to the end of the stream, parsed."""
    with consumer.makefile("r", encoding="utf-8", newline="\n") as lines:
        return [parse(line) for line in lines]


MARKER_BYTES = 900


def make_noise(service, amount, first=0):
    """Numbered marks in the service's own kernel buffer."""
    instance, = (name for name in instances() if name.startswith(f"tracerd-{service.pid}-"))
    with open(TRACEFS / "instances" / instance / "trace_marker", "w") as marker:
        for number in range(first, first + amount):
            marker.write(f"mark {number} ".ljust(MARKER_BYTES, "."))
            marker.flush()


def test_service_consumer_gets_hello_first_and_bye_last():
    with folder() as place, service(place) as process, connect(place) as consumer:
        first = consumer.recv(1 << 16)
        assert first.startswith(b'{"v":1,"k":"hello"'), first
        stop(process)
        lines = read_all(consumer)
        assert lines[-1]["k"] == "bye", lines
        assert list((place / "run").iterdir()) == [], "the sockets are removed"


def test_service_hanging_consumer_loses_its_lines_and_nobody_elses():
    need_kernel()
    with folder() as place, service(place, kernel=True, events=["signal:*"]) as process, contextlib.ExitStack() as stack:
        with connect(place) as reader, connect(place) as hanging, open(place / "read.ndjson", "wb") as kept:
            cat = start("cat", stdin=reader.fileno(), stdout=kept)
            reader.close()
            arrived = Arrived(stack.enter_context(open(place / "read.ndjson", "rb")))
            # More than a queue and a socket hold; in steps that `cat` can follow.
            for step in range(100):
                make_noise(process, 500, step * 500)
                last = f"mark {step * 500 + 499} ".encode()
                wait_until(lambda: arrived.has(last), "the reader to follow")
            # It wakes up: what it gets from here on has the loss in its place.
            hanging.settimeout(60)
            with hanging.makefile("r", encoding="utf-8", newline="\n") as stream:
                before = parse(stream.readline())
                while (loss := parse(stream.readline())).get("stream") != "client":
                    before = loss
                assert loss["k"] == "lost" and loss["n"] > 0, loss
                assert before["seq"] == loss["seq"] - loss["n"], (before, loss)
                after = parse(stream.readline())
                assert after["seq"] == loss["seq"] + 1, (loss, after)
                process.send_signal(signal.SIGTERM)
                losses = [loss] + [line for line in map(parse, stream) if line.get("stream") == "client"]
            finish(process)
            finish(cat)
        bye = check_whole(place / "read.ndjson")
        missed = sum(loss["n"] for loss in losses)
        assert [row["lost"] for row in bye["outputs"]] == [str(missed)], (bye, missed)


class Arrived:
    """A file that grows, read once from its beginning."""

    def __init__(self, file):
        self.file = file
        self.seen = b""

    def has(self, text):
        self.seen = self.seen[-len(text):] + self.file.read()
        return text in self.seen


def check_whole(path):
    """No number is missing, so nothing was lost. Returns `bye`."""
    with open(path, encoding="utf-8", newline="\n") as stream:
        lines = [parse(line) for line in stream]
    assert lines[0]["k"] == "hello" and lines[-1]["k"] == "bye"
    for before, after in zip(lines[1:], lines[2:]):
        assert after["seq"] == before["seq"] + 1, (before, after)
    return lines[-1]


def test_service_consumer_that_never_reads_does_not_hold_up_the_end():
    need_kernel()
    with folder() as place, service(place, kernel=True, events=["signal:*"]) as process, connect(place):
        make_noise(process, 2000)
        stop(process)


def test_service_second_signal_ends_it_at_once():
    with folder() as place, service(place) as process:
        # Both are pending when it goes on: the first asks, the second does not.
        for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
            process.send_signal(number)
        _, said = finish(process, expected=None)
        assert process.returncode in (128 + signal.SIGINT, 128 + signal.SIGTERM), process.returncode
        assert "again" in said, said


def test_service_one_consumer_too_many_is_turned_away():
    with folder() as place, service(place, clients_max=2) as process:
        with connect(place) as one, connect(place) as two:
            assert one.recv(10) and two.recv(10)
            with connect(place) as three:
                assert three.recv(10) == b""
            assert "turned away" in process.stderr.readline()
        # Room again once the others are gone.
        wait_until(lambda: connect_and_read(place), "a consumer's place to be free again")
        stop(process)


def connect_and_read(place):
    with connect(place) as consumer:
        return consumer.recv(10) != b""


def test_service_second_start_is_refused_and_harms_nothing():
    with folder() as place, service(place) as process:
        _, said = tracerd("-c", place / "config.json", expected=3)
        assert said.count("\n") == 1 and "already" in said, said
        assert connect_and_read(place)
        stop(process)


def test_service_replaces_the_sockets_of_a_crash():
    with folder() as place:
        with service(place) as process:
            process.kill()
            process.wait()
        assert (place / "run" / "stream.sock").exists()
        with service(place) as process:
            assert connect_and_read(place)
            stop(process)


def test_service_sockets_have_their_modes():
    with folder() as place, service(place) as process:
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (place / "run").iterdir()}
        assert modes == {"profiler.sock": 0o666, "stream.sock": 0o660}, modes
        stop(process)


def test_service_tells_systemd_when_it_is_ready_and_when_it_stops():
    with folder() as place, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(str(place / "notify"))
        notify.settimeout(60)
        os.environ["NOTIFY_SOCKET"] = str(place / "notify")
        try:
            with service(place) as process:
                assert notify.recv(4096) == b"READY=1"
                while (said := notify.recv(4096)).startswith(b"STATUS="):
                    process.send_signal(signal.SIGTERM)
                assert said == b"STOPPING=1", said
                finish(process)
        finally:
            del os.environ["NOTIFY_SOCKET"]


def test_service_unit_is_accepted_by_systemd():
    need_program("systemd-analyze")
    out, said = run("systemd-analyze", "verify", BUILD / "systemd" / "built" / "tracerd.service")
    assert out + said == "", out + said


def test_service_valgrind_finds_nothing():
    need_program("valgrind")
    with folder() as place:
        config = place / "config.json"
        config.write_text(json.dumps({"runtime_dir": str(place / "run"), "kernel": False}))
        command = ("valgrind", "-q", "--leak-check=full", "--error-exitcode=99", TRACERD, "-c", config)
        with stopped_at_end(start(*command)) as process:
            assert "listening" in process.stderr.readline()
            with connect(place) as reader, connect(place):
                assert reader.recv(1 << 16)
                process.send_signal(signal.SIGTERM)
                assert read_all(reader)[-1]["k"] == "bye"
            _, said = finish(process)
            assert said == "", said
