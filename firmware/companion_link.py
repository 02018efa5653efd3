"""Serial link between a robot and its companion: messages and serial ports.

crates/wdgnn-protocol/src/companion.rs defines the messages.
"""

from __future__ import annotations

import os
import struct
import zlib
from dataclasses import dataclass
from typing import Protocol

try:
    import serial  # type: ignore[import-not-found,import-untyped]
except ImportError:
    serial = None

BAUD = 460_800
POSE, COMMAND, STATUS, KEY = 1, 2, 3, 4


def cobs_encode(plain: bytes) -> bytes:
    """Encodes less than 254 bytes with COBS and appends the final zero."""
    return b"".join(bytes([len(run) + 1]) + run for run in plain.split(b"\0")) + b"\0"


def cobs_decode(frame: bytes) -> bytes | None:
    """Decodes a COBS frame without its final zero; None if it is invalid."""
    runs = []
    while frame:
        length = frame[0]
        if length == 0 or length > len(frame):
            return None
        runs.append(frame[1:length])
        frame = frame[length:]
    return b"\0".join(runs)


def pose_message(position: list[float], velocity: list[float], number: int) -> bytes:
    """Encodes a pose."""
    plain = struct.pack("<B4fHH", POSE, *position, *velocity, number & 0xFFFF, 0)
    return cobs_encode(plain + struct.pack("<I", zlib.crc32(plain)))


def key_message(frame: bytes) -> bytes:
    """Encodes a key update."""
    plain = bytes([KEY]) + frame
    return cobs_encode(plain + struct.pack("<I", zlib.crc32(plain)))


def key_frames(path: str) -> list[bytes]:
    """Reads the frames of `host-sim key rekey`, one per line."""
    with open(path, encoding="ascii") as file:
        frames = [bytes.fromhex(line) for line in file.read().split()]
    if not frames or any(len(frame) != 40 or frame[0] != 0xF1 for frame in frames):
        raise ValueError("the file has no frames for this radio: create it with `host-sim key rekey --profile dot154`")
    return frames


@dataclass
class Command:
    """Command of a robot."""

    acceleration: list[float]
    tick: int
    stop: bool


@dataclass
class Status:
    """Status of a robot after a tick."""

    tick: int
    neighbors: int
    synchronized: int
    verdict: int
    epoch: int


def read_message(frame: bytes) -> Command | Status | None:
    """Decodes a message of a robot; None if it is damaged or unknown."""
    content = cobs_decode(frame)
    if content is None or len(content) < 5 or zlib.crc32(content[:-4]) != struct.unpack("<I", content[-4:])[0]:
        return None
    plain = content[:-4]
    if plain[0] == COMMAND and len(plain) == 14:
        ax, ay, tick, stop = struct.unpack("<2fIB", plain[1:])
        return Command([ax, ay], tick, stop != 0)
    if plain[0] == STATUS and len(plain) == 15:
        tick, _pose, _heard, _refused, neighbors, synchronized, verdict, _received, _turn, epoch = struct.unpack("<IH8B", plain[1:])
        return Status(tick, neighbors, synchronized, verdict, epoch)
    return None


class Port(Protocol):
    """Non-blocking serial port."""

    def read(self) -> bytes: ...

    def write(self, message: bytes) -> None: ...

    def fileno(self) -> int | None: ...


class Terminal:
    """Serial port of the operating system."""

    def __init__(self, path: str) -> None:
        import termios
        import tty

        self.file = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self.file)
        attributes = termios.tcgetattr(self.file)
        attributes[4] = attributes[5] = getattr(termios, "B460800")
        termios.tcsetattr(self.file, termios.TCSANOW, attributes)
        termios.tcflush(self.file, termios.TCIOFLUSH)

    def read(self) -> bytes:
        try:
            return os.read(self.file, 4096)
        except BlockingIOError:
            return b""

    def write(self, message: bytes) -> None:
        try:
            os.write(self.file, message)
        except BlockingIOError:
            pass  # the buffer is full because the robot does not read; the next pose is newer

    def fileno(self) -> int | None:
        return self.file


class PySerial:
    """Serial port of pyserial."""

    def __init__(self, path: str) -> None:
        self.line = serial.Serial(path, BAUD, timeout=0, write_timeout=0)
        self.line.reset_input_buffer()

    def read(self) -> bytes:
        return self.line.read(4096)

    def write(self, message: bytes) -> None:
        try:
            self.line.write(message)
        except serial.SerialTimeoutException:
            pass  # the next pose is newer

    def fileno(self) -> int | None:
        return self.line.fileno() if hasattr(self.line, "fileno") else None


def open_port(path: str) -> Port:
    """Opens a serial port, with pyserial if it is installed."""
    return PySerial(path) if serial else Terminal(path)
