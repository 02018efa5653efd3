"""Gateway of the robots: poses over a serial line (`wdgnn_protocol::tracker`)."""

from __future__ import annotations

import math
import os
import struct
import sys
import zlib
from collections.abc import Mapping
from typing import BinaryIO

from . import UsageError
from .leader import Leader
from .tracks import Track

BAUD = 1_000_000
#: First byte and entries of a pose frame (`docs/wire-format.md`).
KIND = 0x61
ENTRIES = 11
NO_ROBOT, LEADER = 255, 254
#: Commands to the swarm.
NONE, START, STOP = range(3)
#: Bits per byte on the line.
BYTE_BITS = 10


def cobs(content: bytes) -> bytes:
    """Returns bytes without zeros, and a final zero."""
    encoded = bytearray()
    for run in content.split(b"\0"):
        while len(run) >= 254:
            encoded += b"\xff" + run[:254]
            run = run[254:]
        encoded += bytes([len(run) + 1]) + run
    return bytes(encoded) + b"\0"


def message(robots: Mapping[int, Track], leader: Leader | None, age: float, command: int = NONE) -> bytes:
    """Returns the message with the poses of an image that is `age` seconds old when the message ends."""
    entries = []
    for marker, track in sorted(robots.items()):
        assert track.measured
        turn = round(track.measured.heading / math.tau * 65536) % 65536
        entries.append((marker, millimeters(track.measured.x), millimeters(track.measured.y), turn))
    entries = entries[: ENTRIES - 1]
    if leader:
        entries.append((LEADER, millimeters(leader.x), millimeters(leader.y), 0))
    entries += [(NO_ROBOT, 0, 0, 0)] * (ENTRIES - len(entries))
    header = struct.pack("<BBHIIH", KIND, 0, 0, 0, 0, min(65535, round(1e4 * age)))
    lists = zip(*entries)
    content = bytes([command]) + header + bytes(next(lists))
    content += b"".join(struct.pack(f"<{ENTRIES}H", *numbers) for numbers in lists)
    return cobs(content + zlib.crc32(content).to_bytes(4, "little"))


def millimeters(meters: float) -> int:
    """Returns a coordinate as frames have it."""
    return max(1, min(65535, round(1e3 * meters) + 32768))


class Gateway:
    """Serial line to a gateway; `-` is the standard output."""

    def __init__(self, port: str, latency: float) -> None:
        """`latency`: seconds from the exposure to the arrival of an image."""
        self.latency = latency
        self.command = NONE
        self.parity = 0
        self.line: BinaryIO = sys.stdout.buffer if port == "-" else open_serial(port)
        self.seconds = 0.0 if port == "-" else 120 * BYTE_BITS / BAUD

    def send(self, robots: Mapping[int, Track], leader: Leader | None, waited: float) -> None:
        """Sends the poses of an image that arrived `waited` seconds ago."""
        age = self.latency + waited + self.seconds
        if len(robots) >= ENTRIES:
            # A frame has ten poses: even and odd markers take turns.
            self.parity ^= 1
            robots = {marker: track for marker, track in robots.items() if marker % 2 == self.parity}
        self.line.write(message(robots, leader, age, self.command))
        self.line.flush()
        self.command = NONE


def open_serial(port: str) -> BinaryIO:
    """Opens a serial port for writing."""
    try:
        import serial
    except ImportError:
        return open_posix(port)
    try:
        return serial.Serial(port, BAUD, timeout=0, write_timeout=1)
    except serial.SerialException as error:
        raise UsageError(f"cannot open {port}: {error}") from error


def open_posix(port: str) -> BinaryIO:
    """Opens a serial port without pyserial, which Windows needs."""
    try:
        import termios
        import tty
    except ImportError as error:
        raise UsageError("--gateway needs pyserial: run pip install pyserial") from error
    try:
        line = open(os.open(port, os.O_RDWR | os.O_NOCTTY), "wb", buffering=0)
        tty.setraw(line)
        mode = termios.tcgetattr(line)
        mode[4] = mode[5] = getattr(termios, f"B{BAUD}")
        termios.tcsetattr(line, termios.TCSANOW, mode)
    except (OSError, termios.error, AttributeError) as error:
        raise UsageError(f"cannot open {port}: {error}") from error
    return line
