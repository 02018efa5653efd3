"""Decoder and encoder of robot frames by `docs/wire-format.md`, in Python with the standard library only.

It was written from that document and shares no code with the robots, so agreement shows that the document is complete.
"""

import math
import struct
from dataclasses import dataclass, field

from aes_ccm import Ccm

VERSION = 1
LARGEST = 2.0**60
SMALLEST_NORMAL = 2.0**-126
LARGEST_HALF = 65504.0
LONGEST_SEALED = 512
SENDERS = 64
LATE_TICKS = 2
GUARD_TICKS = 2
FORGET_TICKS = 25
TOLD_BITS = 24
# Degree of a robot that is an obstacle only, and the bit for it in headers without a degree.
ONLY_A_BODY, BODY = 255, 0x80

# version, profile, counts of state, tap and wide numbers, model, sender, boot, sequence, degree
HEADER = struct.Struct("<BBBHHIHIIB")
# version and profile, part, model, sender, boot, sequence, degree
HALF_HEADER = struct.Struct("<BBIHIIB")
SHORT_HEADER_BYTES = 8
# Offset of the model in a header, by header length; the short header has none.
MODEL_AT = {HEADER.size: 7, HALF_HEADER.size: 2}
SHORT_PIECE = 6
PACKET_BYTES = 57


class Refused(Exception):
    """A rejected frame, with the name of the error in the document."""


@dataclass
class Shape:
    """Counts of the numbers in a message."""

    state: int
    taps: int
    wide: int


@dataclass
class Beacon:
    """Message of a robot. Spans `(from, to)` mark the numbers that the frame carried; all others are 0."""

    sender: int
    boot: int
    sequence: int
    degree: int
    state: list
    taps: list
    wide: list
    tap_span: tuple = (0, 0)
    wide_span: tuple = (0, 0)


def _flushed(numbers):
    return [0.0 if abs(x) < SMALLEST_NORMAL else x for x in numbers]


def _singles(numbers):
    return struct.pack(f"<{len(numbers)}f", *_flushed(numbers))


def _halves(numbers):
    limited = (max(-LARGEST_HALF, min(LARGEST_HALF, x)) for x in _flushed(numbers))
    return struct.pack(f"<{len(numbers)}e", *limited)


def _read(content, at, count, code):
    numbers = list(struct.unpack_from(f"<{count}{code}", content, at))
    for x in numbers:
        if not math.isfinite(x) or abs(x) > LARGEST or 0.0 < abs(x) < SMALLEST_NORMAL:
            raise Refused("not-admissible")
    return numbers, at + count * struct.calcsize("<" + code)


def _placed(numbers, span, count):
    start, end = span
    return [0.0] * start + numbers + [0.0] * (count - end)


def _check_length(frame, length):
    if len(frame) < length:
        raise Refused("truncated")
    if len(frame) > length:
        raise Refused("trailing")


def _check_first(frame, code):
    if frame[0] & 0x0F != VERSION:
        raise Refused("version")
    if frame[0] >> 4 != code:
        raise Refused("profile")


class Exact:
    """All numbers in f32."""

    frames = 1
    header_bytes = HEADER.size

    def __init__(self, code):
        self.code = code

    def identity(self, frame, now=0):
        if len(frame) < HEADER.size:
            raise Refused("too-short")
        *_, sender, boot, sequence, _ = HEADER.unpack_from(frame)
        return sender, boot, sequence

    def encode(self, shape, model, beacon, exchange=0, index=0):
        counts = (shape.state, shape.taps, shape.wide)
        identity = (beacon.sender, beacon.boot, beacon.sequence, beacon.degree)
        header = HEADER.pack(VERSION, self.code, *counts, model, *identity)
        return header + _singles(beacon.state + beacon.taps + beacon.wide)

    def decode(self, shape, model, frame, now=0):
        self.identity(frame)
        version, code, *counts, found, sender, boot, sequence, degree = HEADER.unpack_from(frame)
        if version != VERSION:
            raise Refused("version")
        if code != self.code:
            raise Refused("profile")
        if counts != [shape.state, shape.taps, shape.wide]:
            raise Refused("dimensions")
        _check_length(frame, HEADER.size + 4 * (shape.state + shape.taps + shape.wide))
        if found != model:
            raise Refused("model")
        state, at = _read(frame, HEADER.size, shape.state, "f")
        taps, at = _read(frame, at, shape.taps, "f")
        wide, at = _read(frame, at, shape.wide, "f")
        return Beacon(sender, boot, sequence, degree, state, taps, wide, (0, shape.taps), (0, shape.wide))


class _HalfHeader:
    """Header with a part number, shared by the half-precision encodings."""

    header_bytes = HALF_HEADER.size

    def identity(self, frame, now=0):
        if len(frame) < HALF_HEADER.size:
            raise Refused("too-short")
        *_, sender, boot, sequence, _ = HALF_HEADER.unpack_from(frame)
        return sender, boot, sequence

    def _header(self, part, model, beacon):
        identity = (beacon.sender, beacon.boot, beacon.sequence, beacon.degree)
        return HALF_HEADER.pack(VERSION | self.code << 4, part, model, *identity)

    def _open(self, shape, frame):
        """Part, model and identity fields of the header."""
        self.identity(frame)
        _check_first(frame, self.code)
        _, part, found, *identity = HALF_HEADER.unpack_from(frame)
        if part >= self._parts(shape):
            raise Refused("dimensions")
        return part, found, identity


class Half(_HalfHeader):
    """State in f32, taps and a run of wide parameters in half precision."""

    frames = 1

    def __init__(self, code, run):
        self.code, self.run = code, run

    def _span(self, shape, part):
        run = min(self.run, shape.wide)
        return part * run, min((part + 1) * run, shape.wide)

    def _parts(self, shape):
        return -(-shape.wide // min(self.run, shape.wide))

    def encode(self, shape, model, beacon, exchange=0, index=0):
        part = exchange % self._parts(shape)
        start, end = self._span(shape, part)
        return self._header(part, model, beacon) + _singles(beacon.state) + _halves(beacon.taps) + _halves(beacon.wide[start:end])

    def decode(self, shape, model, frame, now=0):
        part, found, identity = self._open(shape, frame)
        start, end = self._span(shape, part)
        _check_length(frame, HALF_HEADER.size + 4 * shape.state + 2 * (shape.taps + end - start))
        if found != model:
            raise Refused("model")
        state, at = _read(frame, HALF_HEADER.size, shape.state, "f")
        taps, at = _read(frame, at, shape.taps, "e")
        wide, at = _read(frame, at, end - start, "e")
        wide = _placed(wide, (start, end), shape.wide)
        return Beacon(*identity, state, taps, wide, (0, shape.taps), (start, end))


def _nearest(told, around):
    """Number nearest to `around` with these low bits."""
    half = 1 << TOLD_BITS - 1
    found = around - half + (told - around + half) % (2 * half)
    return found if found >= 0 else found + 2 * half


class Esb32:
    """Frames of 28 bytes: the state and six numbers, in half precision."""

    code = 4
    frames = 4
    header_bytes = SHORT_HEADER_BYTES

    def identity(self, frame, now=0):
        if len(frame) < SHORT_HEADER_BYTES:
            raise Refused("too-short")
        sender, boot = struct.unpack_from("<BH", frame, 1)
        return sender, boot, _nearest(int.from_bytes(frame[4:7], "little"), self.frames * now)

    def _spans(self, shape, piece):
        """The runs of taps and of wide parameters that a piece carries, or `None` when there is no such piece."""
        tap_pieces = -(-shape.taps // SHORT_PIECE)
        index, count = (piece, shape.taps) if piece < tap_pieces else (piece - tap_pieces, shape.wide)
        span = index * SHORT_PIECE, min((index + 1) * SHORT_PIECE, count)
        if span[0] >= count:
            return None
        return (span, (0, 0)) if piece < tap_pieces else ((0, 0), span)

    def encode(self, shape, model, beacon, exchange=0, index=0):
        tap_pieces, wide_pieces = -(-shape.taps // SHORT_PIECE), -(-shape.wide // SHORT_PIECE)
        piece = index if index < tap_pieces else tap_pieces + exchange % wide_pieces
        tap_span, wide_span = self._spans(shape, piece)
        header = struct.pack("<BBH", VERSION | self.code << 4, beacon.sender, beacon.boot)
        header += (beacon.sequence % (1 << TOLD_BITS)).to_bytes(3, "little")
        header += bytes([piece | (BODY if beacon.degree == ONLY_A_BODY else 0)])
        numbers = beacon.taps[slice(*tap_span)] + beacon.wide[slice(*wide_span)]
        numbers += [0.0] * (SHORT_PIECE - len(numbers))
        return header + _halves(beacon.state) + _halves(numbers)

    def decode(self, shape, model, frame, now=0):
        sender, boot, sequence = self.identity(frame, now)
        _check_first(frame, self.code)
        spans = self._spans(shape, frame[7] & ~BODY)
        if spans is None:
            raise Refused("dimensions")
        _check_length(frame, SHORT_HEADER_BYTES + 2 * shape.state + 2 * SHORT_PIECE)
        (tap_span, wide_span), at = spans, SHORT_HEADER_BYTES
        state, at = _read(frame, at, shape.state, "e")
        taps, at = _read(frame, at, tap_span[1] - tap_span[0], "e")
        wide, at = _read(frame, at, wide_span[1] - wide_span[0], "e")
        if any(frame[at:]):
            raise Refused("not-admissible")
        taps, wide = _placed(taps, tap_span, shape.taps), _placed(wide, wide_span, shape.wide)
        degree = ONLY_A_BODY if frame[7] & BODY else 0
        return Beacon(sender, boot, sequence, degree, state, taps, wide, tap_span, wide_span)


class P2p57(_HalfHeader):
    """Two frames of at most 57 bytes with their tag: the state, half of the taps and a few wide parameters, in half precision."""

    code = 5
    frames = 2

    def _runs(self, shape):
        """Numbers of taps and of wide parameters in a frame."""
        taps = -(-shape.taps // 2)
        return taps, (PACKET_BYTES - 8 - HALF_HEADER.size - 2 * shape.state) // 2 - taps

    def _parts(self, shape):
        parts = -(-shape.wide // self._runs(shape)[1])
        return parts + parts % 2

    def _spans(self, shape, part):
        taps, wide = self._runs(shape)
        first, start = min(part % 2 * taps, shape.taps), min(part * wide, shape.wide)
        return (first, min(first + taps, shape.taps)), (start, min(start + wide, shape.wide))

    def encode(self, shape, model, beacon, exchange=0, index=0):
        part = (2 * exchange + index) % self._parts(shape)
        tap_span, wide_span = self._spans(shape, part)
        header = self._header(part, model, beacon)
        return header + _halves(beacon.state + beacon.taps[slice(*tap_span)] + beacon.wide[slice(*wide_span)])

    def decode(self, shape, model, frame, now=0):
        part, found, identity = self._open(shape, frame)
        tap_span, wide_span = self._spans(shape, part)
        (first, last), (start, end) = tap_span, wide_span
        _check_length(frame, HALF_HEADER.size + 2 * (shape.state + last - first + end - start))
        if found != model:
            raise Refused("model")
        state, at = _read(frame, HALF_HEADER.size, shape.state, "e")
        taps, at = _read(frame, at, last - first, "e")
        wide, at = _read(frame, at, end - start, "e")
        taps, wide = _placed(taps, tap_span, shape.taps), _placed(wide, wide_span, shape.wide)
        return Beacon(*identity, state, taps, wide, tap_span, wide_span)


PROFILES = {
    "exact": Exact(0),
    "exact-unfolded": Exact(1),
    "dot154": Half(2, 12),
    "espnow": Half(3, 0xFFFF),
    "esb32": Esb32(),
    "p2p57": P2p57(),
}


@dataclass
class Sealed:
    """Frames of a profile, authenticated and encrypted with the group key, with replay protection."""

    profile: object
    key: bytes
    robots: int = 0
    last: dict = field(default_factory=dict)
    since: int | None = None

    def __post_init__(self):
        self.tag_bytes = 4 if isinstance(self.profile, Esb32) else 8
        self.cipher = Ccm(self.key, self.tag_bytes)

    def _around(self, model, frame, identity):
        """Nonce, associated data, and the bytes after the header."""
        sender, boot, sequence = identity
        header, rest = frame[: self.profile.header_bytes], frame[self.profile.header_bytes :]
        nonce = struct.pack("<HII", sender, boot, sequence) + bytes(3)
        return nonce, struct.pack("<I", model) + header, rest

    def encode(self, shape, model, beacon, exchange=0, index=0):
        frame = self.profile.encode(shape, model, beacon, exchange, index)
        identity = beacon.sender, beacon.boot, beacon.sequence
        nonce, associated, content = self._around(model, frame, identity)
        return frame[: self.profile.header_bytes] + self.cipher.seal(nonce, associated, content)

    def decode(self, shape, model, frame, now):
        sender, boot, sequence = self.profile.identity(frame, now)
        frames = self.profile.frames
        if self.robots and sender >= self.robots:
            raise Refused("unknown-sender")
        began = max(0, now - GUARD_TICKS)
        self.since = began if self.since is None else min(self.since, began)
        said = sequence // frames
        if said < max(self.since, now - LATE_TICKS) or said > now + GUARD_TICKS:
            raise Refused("out-of-window")
        if sender in self.last:
            last, _ = self.last[sender]
            if sequence <= last and last // frames <= now + GUARD_TICKS:
                raise Refused("replayed")
        elif len(self.last) == SENDERS and self._forgettable(now) is None:
            raise Refused("too-many-senders")
        if len(frame) > LONGEST_SEALED:
            raise Refused("trailing")
        place = MODEL_AT.get(self.profile.header_bytes)
        told = model if place is None else int.from_bytes(frame[place : place + 4], "little")
        nonce, associated, rest = self._around(told, frame, (sender, boot, sequence))
        if len(rest) < self.tag_bytes:
            raise Refused("too-short")
        content = self.cipher.open(nonce, associated, rest)
        if content is None:
            raise Refused("forged")
        try:
            beacon = self.profile.decode(shape, model, frame[: self.profile.header_bytes] + content, now)
        except Refused as refused:
            # Authentic frames of another model also update the sequence.
            if refused.args[0] == "model":
                self._remember(sender, sequence, now)
            raise
        self._remember(sender, sequence, now)
        return beacon

    def _remember(self, sender, sequence, now):
        if sender not in self.last and len(self.last) == SENDERS:
            del self.last[self._forgettable(now)]
        self.last[sender] = (sequence, now)

    def _forgettable(self, now):
        """Sender that was silent for longest, if longer than `FORGET_TICKS`."""
        sender, (_, heard) = max(self.last.items(), key=lambda item: abs(now - item[1][1]))
        return sender if abs(now - heard) > FORGET_TICKS else None


# kind, command, sender, boot, sequence, age
POSE_HEADER = struct.Struct("<BBHIIH")
POSE_KIND = 0x61
POSES = 11
NO_ROBOT = 255


@dataclass
class SealedPoses:
    """Pose frames of a tracking system, with replay protection."""

    key: bytes
    next: int = 0

    def decode(self, frame, now):
        """Fields of the header, and the poses: robot, x and y in millimeters, heading in 1/65,536 of a turn."""
        _check_length(frame, POSE_HEADER.size + 7 * POSES + 8)
        kind, command, sender, boot, sequence, age = POSE_HEADER.unpack_from(frame)
        if kind != POSE_KIND:
            raise Refused("profile")
        if not now - LATE_TICKS <= sequence <= now + GUARD_TICKS:
            raise Refused("out-of-window")
        header, rest = frame[: POSE_HEADER.size], frame[POSE_HEADER.size :]
        nonce = struct.pack("<HII", sender, boot, sequence) + bytes((POSE_KIND, 0, 0))
        content = Ccm(self.key, 8).open(nonce, header, rest)
        if content is None:
            raise Refused("forged")
        robots, numbers = content[:POSES], struct.unpack_from(f"<{2 * POSES}H{POSES}h", content, POSES)
        x, y, headings = numbers[:POSES], numbers[POSES : 2 * POSES], numbers[2 * POSES :]
        entries = zip(robots, x, y, headings)
        poses = [[robot, x - 32768, y - 32768, heading] for robot, x, y, heading in entries if robot != NO_ROBOT]
        if poses:
            if sequence < self.next <= now + GUARD_TICKS + 1:
                raise Refused("replayed")
            self.next = sequence + 1
        names = {"command": command, "sender": sender, "boot": boot, "sequence": sequence, "age": age}
        return names | {"poses": poses}
