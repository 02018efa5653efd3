"""Messages for the gateway."""

from __future__ import annotations

import math
import struct
import sys
import zlib

from conftest import ROOT

sys.path.insert(0, str(ROOT / "examples/listener"))
import wdgnn_frames  # noqa: E402

from tracking.gateway import START, Gateway, cobs, message  # noqa: E402
from tracking.geometry import Pose  # noqa: E402
from tracking.leader import Leader  # noqa: E402
from tracking.tracks import Track  # noqa: E402


def track(marker: int, x: float, y: float, heading: float) -> Track:
    return Track(marker, 0.0, x, y, heading, measured=Pose(x, y, heading, 0.08, 0.0))


def decoded(line: bytes) -> tuple[int, dict]:
    """Returns the command and the frame of a message."""
    assert line[-1] == 0
    content, rest = b"", line[:-1]
    while rest:
        code = rest[0]
        run, rest = rest[1:code], rest[code:]
        content += run + (b"\0" if rest and code < 255 else b"")
    content, checksum = content[:-4], content[-4:]
    assert zlib.crc32(content) == struct.unpack("<I", checksum)[0]
    return content[0], wdgnn_frames.decode("PoseFrame", content[1:])


def test_messages_are_the_frames_of_the_schema() -> None:
    robots = {3: track(3, 0.25, -1.5, -math.pi / 4), 0: track(0, -99.0, 0.0, 2 * math.pi)}
    command, frame = decoded(message(robots, Leader(1.0, 0.5), 0.1234, START))
    assert (command, frame["kind"], frame["age"]) == (START, 0x61, 1234)
    assert frame["robots"][:4] == [0, 3, 254, 255] and frame["robots"][10] == 255
    assert frame["x"][:3] == [1, 33018, 33768] and frame["y"][:3] == [32768, 31268, 33268]
    assert frame["headings"][:2] == [0, 65536 - 8192]


def test_long_runs_without_zeros_are_split() -> None:
    for length in (0, 1, 253, 254, 255, 600):
        content = bytes(range(1, 256)) * 3
        assert 0 not in cobs(content[:length])[:-1]
    assert cobs(b"\1\0\0\2") == bytes([2, 1, 1, 2, 2, 0])


def test_twenty_robots_take_turns(tmp_path) -> None:  # noqa: ANN001
    gateway = Gateway("-", 0.1)
    file = tmp_path / "line"
    with open(file, "wb") as gateway.line:
        for _ in range(2):
            gateway.send({marker: track(marker, 0.0, 0.0, 0.0) for marker in range(20)}, None, 0.02)
    first, second = (decoded(line + b"\0")[1] for line in file.read_bytes().split(b"\0")[:2])
    assert first["age"] == 1200
    assert sorted(first["robots"][:10] + second["robots"][:10]) == list(range(20))
