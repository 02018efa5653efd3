"""Writes the fuzzers' first inputs: golden frames, trained networks, a record, poses, keys. `python3 fuzz/corpus.py`, once."""

import json
import pathlib
import struct
import zlib

HERE = pathlib.Path(__file__).parent
MODEL = 0xDEADBEEF
GOLDEN = json.loads((HERE / "../tests/interop/vectors.json").read_text())


def cobs(frame):
    """Of frames with a zero in every 254 bytes, which is what is taken here."""
    return b"".join(bytes([len(run) + 1]) + run for run in frame.split(b"\0"))


def part(content):
    """With its CRC-32 behind it."""
    return content + struct.pack("<I", zlib.crc32(content))


def write(target, name, content):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def behind_seals():
    """For `resealed`: what plain golden frames carry behind their headers, said by three robots in six ticks."""
    headers = {"exact": 22, "dot154": 17, "espnow": 17, "esb32": 8, "p2p57": 17}
    for number, vector in enumerate(GOLDEN["vectors"]):
        frame = bytes.fromhex(vector["frame"])
        content = frame[headers[vector["profile"]] :]
        if vector["sealed"] or len(content) % 2 or len(content) > 510:
            continue
        said = b"".join(bytes([sender, 1, 0, len(content) // 2]) + content for sender in (2, 3, 4)) + bytes(4)
        write("resealed", f"golden-{number:03}", bytes([list(headers).index(vector["profile"])]) + said * 6)


def main():
    for number, vector in enumerate(GOLDEN["vectors"]):
        frame = bytes.fromhex(vector["frame"])
        write("sealed_frame" if vector["sealed"] else "frame", f"golden-{number:03}", frame)
        if vector["profile"] == "dot154" and not vector["sealed"] and len(frame) < 256:
            write("robot", f"golden-{number:03}", (bytes([len(frame)]) + frame + b"\0") * 3)
    for model in (HERE / "../models").glob("*.wdgnn"):
        write("weights", model.stem, model.read_bytes())
    behind_seals()
    header = bytes.fromhex("4188074457ffff030000")
    # Variants and fields of postcard: varints of 9,000 and 5,000, lengths of 110 and 100.
    write("gateway", "send", cobs(part(b"\1\1\xa8\x46\x6e" + header + bytes(range(100)))))
    write("gateway", "sealed", cobs(part(b"\1\1\1\xc8\1\5\x64" + bytes(range(1, 101)))))
    write("gateway", "time", cobs(part(b"\7\x88\x27\0\0")))
    head = part(struct.pack("<IIII", MODEL, 3, 4096, 10096))
    write("restart", "record", head + part(struct.pack("<48f", *[0.1] * 48)))
    write("restart", "personal", head + part(bytes(192)) + part(struct.pack("<3f", 1, 0, 0)))
    write("restart", "keys", head + part(bytes(44)) + part(bytes(192)))
    # The robot's own frame of epoch 1 and two others'; then one of an epoch that has passed, and one with a bit changed.
    rekey = b"".join(bytes([name, 1, 20, 0, 0, 0, 0, 0]) for name in (2, 1, 3))
    write("rekey", "epochs", rekey + bytes(8 * 120) + bytes([1, 2, 130, 0, 0, 0, 0, 0]) + bytes([1, 3, 9, 12, 1, 0, 0, 0]))
    pose = cobs(part(struct.pack("<B4fHH", 1, 1.0, -2.0, 0.5, 0.0, 1500, 20)))
    write("companion", "pose", pose)
    write("pose_stream", "poses", b"\x0a" + 5 * (pose + b"\0"))
    write("mac", "header", bytes.fromhex("4188074457ffff02012b") + b"what a robot says")
    write("key_file", "bytes", b"a swarm's secret")
    write("key_file", "digits", b"6120737761726d277320736563726574\n")


if __name__ == "__main__":
    main()
