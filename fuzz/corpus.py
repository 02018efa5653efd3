"""Writes the fuzzers' first inputs: the golden frames and the trained networks. `python3 fuzz/corpus.py`, once."""

import json
import pathlib
import struct
import zlib

HERE = pathlib.Path(__file__).parent
GOLDEN = json.loads((HERE / "../tests/interop/vectors.json").read_text())


def cobs(frame):
    """Of frames with a zero in every 254 bytes, which is what is taken here."""
    return b"".join(bytes([len(run) + 1]) + run for run in frame.split(b"\0"))


def write(target, name, content):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def main():
    stream, packets = b"", b""
    for number, vector in enumerate(GOLDEN["vectors"]):
        frame = bytes.fromhex(vector["frame"])
        write("sealed_frame" if vector["sealed"] else "frame", f"golden-{number:03}", frame)
        if vector["profile"] == "dot154" and not vector["sealed"] and len(frame) < 256:
            write("robot", f"golden-{number:03}", (bytes([len(frame)]) + frame + b"\0") * 3)
        if number % 4 == 0 and 0 < len(frame) < 254:
            stream += cobs(frame) + b"\0"
            packets += struct.pack("<IIII", 5, number, len(frame), len(frame)) + frame
    write("sniffer", "serial", stream)
    write("sniffer", "capture", struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 147) + packets)
    for model in (HERE / "../models").glob("*.wdgnn"):
        write("weights", model.stem, model.read_bytes())
    pose = struct.pack("<4fI", 1.0, -2.0, 0.5, 0.0, 1500)
    write("companion", "pose", cobs(pose + struct.pack("<I", zlib.crc32(pose))))


if __name__ == "__main__":
    main()
