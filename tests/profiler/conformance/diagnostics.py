"""The runtime's diagnostics socket, as far as it loads a profiler: for what tracerd itself would not do, as attaching
somebody else's, or one to a daemon that a test plays."""

import pathlib
import socket
import struct
import uuid

MAGIC = b"DOTNET_IPC_V1\0"
HEADER = struct.Struct("<14sHBBH")
PROFILER, ATTACH = 3, 1
OK = 0
ALREADY_ACTIVE = 0x8013136A


def _text(text):
    return struct.pack("<I", len(text) + 1) + (text + "\0").encode("utf-16-le")


def _socket_of(pid):
    """By its start time as well: killed processes leave theirs, and process ids come again."""
    started = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    path = pathlib.Path(f"/tmp/dotnet-diagnostic-{pid}-{started}-socket")
    assert path.exists(), f"process {pid} has no {path}"
    return str(path)


def attach(pid, library, class_id, data=b"", timeout_ms=10000):
    """The HRESULT of AttachProfiler, as an unsigned number; the profiler is in when it is 0."""
    payload = (struct.pack("<I", timeout_ms) + uuid.UUID(class_id).bytes_le + _text(str(library)) +
               struct.pack("<I", len(data)) + data)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(_socket_of(pid))
        # In one piece: a message without its payload brings some runtimes down.
        connection.sendall(HEADER.pack(MAGIC, HEADER.size + len(payload), PROFILER, ATTACH, 0) + payload)
        answer = b""
        while len(answer) < HEADER.size + 4:
            part = connection.recv(4096)
            assert part, f"the runtime hung up after {answer!r}"
            answer += part
    return struct.unpack_from("<I", answer, HEADER.size)[0]
