"""Prints the messages of a swarm: `python3 listener.py SOURCE [KEY MODEL]`.

SOURCE is a capture (pcap), or the events of a gateway in a file or at a serial port. KEY is the key file of a swarm with
sealed frames, MODEL its weight file. `main.rs` prints the same lines.
`wdgnn_frames.py` is made by `host-sim schema --format python`.
"""

import pathlib
import struct
import sys
import zlib

import wdgnn_frames

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests/interop"))
from aes_ccm import Ccm  # noqa: E402

# First bytes of a capture.
PCAP = bytes.fromhex("d4c3b2a1")
# Bytes before and after a frame, by link type.
LINK_TYPES = {147: (0, 0), 195: (10, 2), 230: (10, 0)}
# Bytes of the header and of the tag, by first byte.
SEALED = {0x01: (22, 8), 0x21: (17, 8), 0x31: (17, 8), 0x41: (8, 4), 0x51: (17, 8), 0x61: (14, 8)}
POSES = 0x61


def frames(capture):
    """Times in microseconds and frames of a pcap file."""
    before, after = LINK_TYPES[struct.unpack_from("<I", capture, 20)[0]]
    at = 24
    while at < len(capture):
        seconds, fraction, length = struct.unpack_from("<III", capture, at)
        packet = capture[at + 16 : at + 16 + length]
        yield seconds * 1_000_000 + fraction, packet[before : length - after]
        at += 16 + length


def varint(content):
    """First number of postcard bytes, and the bytes behind it."""
    number = shift = 0
    for at, byte in enumerate(content):
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, content[at + 1 :]
    raise ValueError("the number is incomplete")


def event(line):
    """Time in microseconds and frame of a gateway's event; None for other events and damaged bytes."""
    content = b""
    while line:
        code = line[0]
        run, line = line[1:code], line[code:]
        content += run + (b"\0" if line and code < 255 else b"")
    content, checksum = content[:-4], content[-4:]
    if not content or zlib.crc32(content).to_bytes(4, "little") != checksum or content[0] > 3:
        return None
    kind, (time, rest) = content[0], varint(content[1:])
    for _ in ("quality", "slot"):
        rest = rest[1 + rest[0] :]
    # A message has its profile in front, a rejected frame its reason; all but messages have their length.
    return time, rest[{0: 1, 1: 1, 2: 1, 3: 2}[kind] :]


def events(port):
    """Times in microseconds and frames of a gateway's events."""
    waiting = b""
    while chunk := port.read1(4096):
        *lines, waiting = (waiting + chunk).split(b"\0")
        yield from filter(None, map(event, lines))


def open_sealed(frame, key, model, tick):
    """Header and decrypted content of a sealed frame."""
    header_bytes, tag_bytes = SEALED[frame[0]]
    header = wdgnn_frames.decode(wdgnn_frames.identify(frame), frame)
    sequence = header["sequence"]
    if frame[0] == 0x41:
        # The header has the low 24 bits.
        sequence += round((4 * tick - sequence) / 2**24) * 2**24
    else:
        model = b"" if frame[0] == POSES else struct.pack("<I", header["model"])
    kind = POSES if frame[0] == POSES else 0
    nonce = struct.pack("<HIIBH", header["sender"], header["boot"], sequence, kind, 0)
    content = Ccm(key, tag_bytes).open(nonce, model + frame[:header_bytes], frame[header_bytes:])
    return None if content is None else frame[:header_bytes] + content


def poses(frame):
    """Robots with x and y in meters and heading in degrees."""
    entries = zip(frame["robots"], frame["x"], frame["y"], frame["headings"])
    text = ""
    for robot, x, y, heading in entries:
        if robot < 255:
            degrees = (heading - 65536 * (heading >> 15)) * 360 / 65536
            text += f", {robot} at {(x - 32768) / 1000:.3f} {(y - 32768) / 1000:.3f} {degrees:.2f}"
    return text


def read_key(path):
    """A key file has 16 bytes or 32 hexadecimal digits."""
    content = pathlib.Path(path).read_bytes()
    return content if len(content) == 16 else bytes.fromhex(content.decode())


def main(source, key=None, model=None):
    # A weight file ends with its checksum, the name of the model.
    secret = (read_key(key), pathlib.Path(model).read_bytes()[-4:]) if key else None
    file = pathlib.Path(source).open("rb")
    for microseconds, data in frames(file.read()) if file.peek(4)[:4] == PCAP else events(file):
        time = f"{microseconds / 1e6:.3f} s"
        if secret and data[0] in SEALED:
            data = open_sealed(data, *secret, microseconds // 10_000)
        name = wdgnn_frames.identify(data) if data else None
        if name is None:
            print(f"{time}: refused")
            continue
        frame = wdgnn_frames.decode(name, data)
        if "robots" in frame:
            print(f"{time}: poses from {frame['sender']}{poses(frame)}")
            continue
        if "state" not in frame:
            print(f"{time}: sealed or control frame of {len(data)} bytes")
            continue
        x, y, vx, vy = frame["state"]
        profile = name.removesuffix("Frame").lower()
        sender = frame["sender"]
        print(f"{time}: {profile} from {sender}: position {x:.3f} {y:.3f}, velocity {vx:.3f} {vy:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
