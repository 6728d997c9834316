"""Includes against the arrows: which room may include what (README: the shape of the house)."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)

# Rooms whose headers a room may include, itself aside. common's public API is in common/include.
ROOMS = {
    "proto": (),
    "common/include": (),
    "common": ("proto", "common/include"),
    "profiler": ("proto",),
    "daemon": ("proto", "common/include"),
}
# Libraries beyond libc, by the beginning of the header's name, and the rooms that may include them.
LIBRARIES = {
    "event-parse": ("common",), "trace-seq": ("common",), "kbuffer": ("common",), "traceevent/": ("common",),
    "zstd": ("common", "daemon"), "zlib": ("common",),
    "uv": ("daemon",), "jansson": ("daemon",), "microhttpd": ("daemon",), "systemd/": ("daemon",),
}
# Nobody knows both: sources and sinks meet in the pipeline only.
APART = (re.compile(r"daemon/source_\w+\.[ch]"), re.compile(r"daemon/sink_\w+\.[ch]"))


def room_of(path):
    name = path.relative_to(ROOT).as_posix()
    return "common/include" if name.startswith("common/include/") else name.split("/")[0]


def headers():
    """Where a quoted include may come from: room by the header's name as it is written."""
    known = {}
    for room in ROOMS:
        folder = ROOT / room
        for path in folder.rglob("*") if room != "common" else folder.glob("*"):
            if path.suffix in (".h", ".def"):
                known.setdefault(path.relative_to(folder).as_posix(), set()).add(room)
    return known


def problems_of(path, known):
    room = room_of(path)
    name = path.relative_to(ROOT).as_posix()
    for kind, included in INCLUDE.findall(path.read_text(encoding="utf-8")):
        owners = known.get(included, set())
        allowed = {room, *ROOMS[room]}
        if kind == '"' and not owners:
            yield f"{name}: \"{included}\" is nowhere in the rooms"
        if kind == '"' and owners and not owners & allowed:
            yield f"{name}: {room} must not include {included} of {', '.join(sorted(owners))}"
        if kind == "<" and included.startswith("tracerd/"):
            yield f"{name}: our own headers are included with quotes: {included}"
        for library, rooms in LIBRARIES.items():
            if kind == "<" and re.match(re.escape(library) + r"($|[/.]|(?<=/))", included) and room not in rooms:
                yield f"{name}: only {', '.join(rooms)} may include {included}"
        for this, other in (APART, APART[::-1]):
            if this.fullmatch(name) and other.fullmatch("daemon/" + included):
                yield f"{name}: sources and sinks must not know each other: {included}"


def self_test():
    """The check can fail: one violation of each kind is found."""
    cases = {
        "proto/x.h": '#include "tracerd/json.h"\n', "profiler/x.c": '#include "tracerd/json.h"\n',
        "common/x.c": "#include <uv.h>\n", "daemon/x.c": "#include <event-parse.h>\n",
        "daemon/source_x.c": '#include "sink_x.h"\n', "common/include/tracerd/x.h": '#include "event.h"\n',
    }

    class File:
        def __init__(self, name, text):
            self.name, self.text = name, text

        def relative_to(self, _):
            return pathlib.PurePosixPath(self.name)

        def read_text(self, encoding):
            return self.text

    known = {"tracerd/json.h": {"common/include"}, "event.h": {"proto"}, "sink_x.h": {"daemon"}}
    for name, text in cases.items():
        assert list(problems_of(File(name, text), known)), f"not found: {name} with {text}"


def main():
    self_test()
    known = headers()
    files = [path for room in ("proto", "common", "profiler", "daemon")
             for path in (ROOT / room).rglob("*") if path.suffix in (".c", ".h")]
    found = [problem for path in sorted(files) for problem in problems_of(path, known)]
    print("\n".join(found) if found else f"{len(files)} files, no include against the arrows")
    return bool(found) or not files


if __name__ == "__main__":
    sys.exit(main())
