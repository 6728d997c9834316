"""A daemon that a test plays: it speaks the profiler's protocol (proto/PROTOCOL.md), switches categories while the program
runs, and keeps what arrives. tracerd itself chooses categories once, so this is how switching is seen."""

import collections
import os
import pathlib
import re
import socket
import struct
import threading
import time

from house import LIMIT_S, SOURCE

HEADER = struct.Struct("<IB3x")
RECORD = struct.Struct("<IHHQ")
HELLO, BATCH, MARK, BYE, PONG, WELCOME, CATEGORIES, PING, RESOLVE = 0x01, 0x02, 0x03, 0x05, 0x06, 0x41, 0x42, 0x43, 0x46
MAGIC, VERSION = 0x50445254, 2
CATCH_UP = 1
MARK_INTERVAL_MS = 50
Event = collections.namedtuple("Event", "name category tid ts_ns catch_up data")


def categories():
    """{name: bit} of proto/event.h."""
    text = (SOURCE / "proto" / "event.h").read_text(encoding="utf-8")
    return {name: 1 << int(number) for number, name in re.findall(r"\b\w+\((\d+), [A-Z]+, \"(\w+)\"\)", text)}


def event_names():
    """{id: (category, name)} of proto/events.def."""
    text = (SOURCE / "proto" / "events.def").read_text(encoding="utf-8")
    return {int(number, 16): (category.lower(), name)
            for number, category, name in re.findall(r"^TRD_EVENT\((0x\w+), (\w+), \w+, \"clr:(\w+)\"", text, re.M)}


class Probe:
    def __init__(self, place):
        self.path = pathlib.Path(place) / "probe.sock"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen(1)
        self.listener.settimeout(LIMIT_S)
        self.names = event_names()
        self.events, self.mark_ns, self.pongs, self.problem, self.ended = [], 0, set(), None, False
        self.changed = threading.Condition()
        self.tokens = 0

    def accept(self, mask):
        """Welcomes the profiler, with these categories, and begins to read."""
        self.connection, _ = self.listener.accept()
        self.connection.settimeout(LIMIT_S)
        header, descriptors, _, _ = socket.recv_fds(self.connection, HEADER.size, 4)
        assert len(descriptors) == 1, descriptors
        os.close(descriptors[0])
        size, kind = HEADER.unpack(header)
        hello = self._read(size)
        assert kind == HELLO and struct.unpack_from("<I", hello)[0] == MAGIC, (kind, hello)
        self._send(WELCOME, struct.pack("<IHHII", MAGIC, VERSION, 0, mask, MARK_INTERVAL_MS))
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def switch(self, mask):
        """What was written before is not of interest any more: returns when the profiler has switched."""
        self._send(CATEGORIES, struct.pack("<II", mask, 0))
        self.tokens += 1
        self._send(PING, struct.pack("<Q", self.tokens))
        self._wait(lambda: self.tokens in self.pongs, "the answer to a ping")

    def resolve(self, addresses, with_il=False):
        """What the profiler tells when it is asked whose code lies there."""
        begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self._send(RESOLVE, struct.pack(f"<II{len(addresses)}Q", len(addresses), int(with_il), *addresses))
        self.tokens += 1
        self._send(PING, struct.pack("<Q", self.tokens))
        self._wait(lambda: self.tokens in self.pongs, "the answer to a ping")
        return [event for event in self.since(begin) if event.catch_up]

    def since(self, ts_ns):
        """Every event stamped from then to now; waits until the profiler promises that no more come."""
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self._wait(lambda: self.mark_ns > now, "a mark")
        with self.changed:
            return [event for event in self.events if ts_ns <= event.ts_ns <= now]

    def close(self):
        self.listener.close()
        if hasattr(self, "connection") and self.connection.fileno() >= 0:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.thread.join(LIMIT_S)
            self.connection.close()

    def _wait(self, condition, what):
        with self.changed:
            assert self.changed.wait_for(lambda: condition() or self.ended, LIMIT_S), f"still waiting for {what}"
            assert condition(), f"the profiler hung up before {what}: {self.problem!r}"

    def _send(self, kind, payload):
        self.connection.sendall(HEADER.pack(len(payload), kind) + payload)

    def _read(self, size):
        data = b""
        while len(data) < size:
            part = self.connection.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def _run(self):
        try:
            while True:
                size, kind = HEADER.unpack(self._read(HEADER.size))
                payload = self._read(size)
                with self.changed:
                    self._take(kind, payload)
                    self.changed.notify_all()
        except (EOFError, OSError, AssertionError, struct.error) as problem:
            with self.changed:
                self.problem, self.ended = problem, True
                self.changed.notify_all()

    def _take(self, kind, payload):
        if kind == MARK:
            self.mark_ns, = struct.unpack_from("<Q", payload)
        elif kind == PONG:
            self.pongs.add(struct.unpack_from("<Q", payload)[0])
        elif kind == BATCH:
            self._take_records(payload)

    def _take_records(self, payload):
        _, tid, _ = struct.unpack_from("<IIQ", payload)
        at = 16
        while at < len(payload):
            size, number, flags, ts_ns = RECORD.unpack_from(payload, at)
            assert size >= RECORD.size and size % 16 == 0, size
            if number:
                category, name = self.names[number]
                self.events.append(Event(name, category, tid, ts_ns, bool(flags & CATCH_UP),
                                         payload[at + RECORD.size:at + size]))
            at += size
