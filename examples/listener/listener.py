"""Prints the messages of a capture: `python3 listener.py CAPTURE [KEY MODEL]`.

KEY is the key file of a swarm with sealed frames, MODEL its weight file. `main.rs` prints the same lines.
`wdgnn_frames.py` is made by `host-sim schema --format python`.
"""

import pathlib
import struct
import sys

import wdgnn_frames

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests/interop"))
from aes_ccm import Ccm  # noqa: E402

# Bytes before and after a frame, by link type.
LINK_TYPES = {147: (0, 0), 195: (10, 2), 230: (10, 0)}
# Bytes of the header and of the tag, by first byte.
SEALED = {0x01: (22, 8), 0x21: (17, 8), 0x31: (17, 8), 0x41: (8, 4), 0x51: (17, 8)}


def frames(capture):
    """Times in microseconds and frames of a pcap file."""
    before, after = LINK_TYPES[struct.unpack_from("<I", capture, 20)[0]]
    at = 24
    while at < len(capture):
        seconds, fraction, length = struct.unpack_from("<III", capture, at)
        packet = capture[at + 16 : at + 16 + length]
        yield seconds * 1_000_000 + fraction, packet[before : length - after]
        at += 16 + length


def open_sealed(frame, key, model, tick):
    """Header and decrypted content of a sealed frame."""
    header_bytes, tag_bytes = SEALED[frame[0]]
    header = wdgnn_frames.decode(wdgnn_frames.identify(frame), frame)
    sequence = header["sequence"]
    if frame[0] == 0x41:
        # The header has the low 24 bits.
        sequence += round((4 * tick - sequence) / 2**24) * 2**24
    else:
        model = struct.pack("<I", header["model"])
    nonce = struct.pack("<HII", header["sender"], header["boot"], sequence) + bytes(3)
    content = Ccm(key, tag_bytes).open(nonce, model + frame[:header_bytes], frame[header_bytes:])
    return None if content is None else frame[:header_bytes] + content


def read_key(path):
    """A key file has 16 bytes or 32 hexadecimal digits."""
    content = pathlib.Path(path).read_bytes()
    return content if len(content) == 16 else bytes.fromhex(content.decode())


def main(capture, key=None, model=None):
    # A weight file ends with its checksum, the name of the model.
    secret = (read_key(key), pathlib.Path(model).read_bytes()[-4:]) if key else None
    for microseconds, data in frames(pathlib.Path(capture).read_bytes()):
        tick = microseconds // 10_000
        if secret and data[0] in SEALED:
            data = open_sealed(data, *secret, tick)
        name = wdgnn_frames.identify(data) if data else None
        if name is None:
            print(f"tick {tick}: refused")
            continue
        frame = wdgnn_frames.decode(name, data)
        if "state" not in frame:
            print(f"tick {tick}: sealed or control frame of {len(data)} bytes")
            continue
        x, y, vx, vy = frame["state"]
        profile = name.removesuffix("Frame").lower()
        sender = frame["sender"]
        print(f"tick {tick}: {profile} from {sender}: position {x:.3f} {y:.3f}, velocity {vx:.3f} {vy:.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
