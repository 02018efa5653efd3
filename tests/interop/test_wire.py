"""Decodes and encodes, or rejects, every golden frame: `python3 test_wire.py`."""

import json
import pathlib
import unittest

from aes_ccm import Aes128, Ccm
from wdgnn_wire import PROFILES, Beacon, Refused, Sealed, SealedPoses, Shape

GOLDEN = json.loads((pathlib.Path(__file__).parent / "vectors.json").read_text())
SHAPE = Shape(**GOLDEN["shape"])
MODEL, KEY = GOLDEN["model"], bytes.fromhex(GOLDEN["key"])


def receiver(vector):
    profile = PROFILES[vector["profile"]]
    return Sealed(profile, KEY) if vector["sealed"] else profile


def read(codec, frame, now):
    return codec.decode(SHAPE, MODEL, frame, now)


def told(beacon):
    """Content of a frame in the format of `vectors.json`."""
    (taps_from, taps_to), (wide_from, wide_to) = beacon.tap_span, beacon.wide_span
    return {
        "sender": beacon.sender,
        "boot": beacon.boot,
        "sequence": beacon.sequence,
        "degree": beacon.degree,
        "state": beacon.state,
        "taps_from": taps_from,
        "taps": beacon.taps[taps_from:taps_to],
        "wide_from": wide_from,
        "wide": beacon.wide[wide_from:wide_to],
    }


class GoldenFrames(unittest.TestCase):
    def each(self, refused):
        found = [vector for vector in GOLDEN["vectors"] if ("refused" in vector) == refused]
        self.assertGreater(len(found), 50)
        for vector in found:
            with self.subTest(vector["name"]):
                yield vector, bytes.fromhex(vector["frame"])

    def test_good_frames_are_decoded_and_encoded(self):
        for vector, frame in self.each(refused=False):
            codec = receiver(vector)
            beacon = read(codec, frame, vector["now"])
            self.assertEqual(told(beacon), vector["beacon"])
            written = codec.encode(SHAPE, MODEL, beacon, vector["exchange"], vector["index"])
            self.assertEqual(written.hex(), vector["frame"])

    def test_bad_frames_are_rejected_with_their_error(self):
        for vector, frame in self.each(refused=True):
            codec = receiver(vector)
            for earlier in vector["before"]:
                try:
                    read(codec, bytes.fromhex(earlier["frame"]), earlier["now"])
                except Refused:
                    pass
            with self.assertRaises(Refused) as refusal:
                read(codec, frame, vector["now"])
            self.assertEqual(str(refusal.exception), vector["refused"])

    def test_changed_bytes_of_a_sealed_frame_are_rejected(self):
        vector = next(v for v in GOLDEN["vectors"] if v["sealed"] and v["profile"] == "dot154")
        frame = bytearray.fromhex(vector["frame"])
        for offset in range(len(frame)):
            frame[offset] ^= 0x80
            with self.assertRaises(Refused):
                read(receiver(vector), bytes(frame), vector["now"])
            frame[offset] ^= 0x80
        read(receiver(vector), bytes(frame), vector["now"])


class GoldenPoses(unittest.TestCase):
    def test_pose_frames_are_read_or_rejected_with_their_error(self):
        self.assertGreater(len(GOLDEN["poses"]), 9)
        for vector in GOLDEN["poses"]:
            with self.subTest(vector["name"]):
                codec, frame = SealedPoses(KEY), bytes.fromhex(vector["frame"])
                for earlier in vector["before"]:
                    codec.decode(bytes.fromhex(earlier), vector["now"])
                try:
                    self.assertEqual(codec.decode(frame, vector["now"]), vector["content"])
                except Refused as refused:
                    self.assertEqual(str(refused), vector["refused"])


class AuthenticatedEncryption(unittest.TestCase):
    def check(self, key, tag_bytes, nonce, associated, content, sealed):
        nonce = bytes.fromhex(nonce)
        ccm = Ccm(key, tag_bytes)
        self.assertEqual(ccm.seal(nonce, associated, content).hex(), sealed)
        self.assertEqual(ccm.open(nonce, associated, bytes.fromhex(sealed)), content)
        self.assertIsNone(ccm.open(nonce, associated + b"\0", bytes.fromhex(sealed)))

    def test_fips_197_appendix_c_1(self):
        block = bytes.fromhex("00112233445566778899aabbccddeeff")
        self.assertEqual(Aes128(bytes(range(16))).encrypt(block).hex(), "69c4e0d86a7b0430d8cdb78070b4c55a")

    def test_rfc_3610_packets_1_and_2(self):
        key, associated = bytes(range(0xC0, 0xD0)), bytes(range(8))
        sealed = "588c979a61c663d2f066d0c2c0f989806d5f6b61dac38417e8d12cfdf926e0"
        self.check(key, 8, "00000003020100a0a1a2a3a4a5", associated, bytes(range(0x08, 0x1F)), sealed)
        sealed = "72c91a36e135f8cf291ca894085c87e3cc15c439c9e43a3ba091d56e10400916"
        self.check(key, 8, "00000004030201a0a1a2a3a4a5", associated, bytes(range(0x08, 0x20)), sealed)

    def test_nist_sp_800_38c_examples_1_and_2(self):
        key = bytes(range(0x40, 0x50))
        self.check(key, 4, "10111213141516", bytes(range(8)), bytes(range(0x20, 0x24)), "7162015b4dac255d")
        sealed = "d2a1f0e051ea5f62081a7792073d593d1fc64fbfaccd"
        self.check(key, 6, "1011121314151617", bytes(range(16)), bytes(range(0x20, 0x30)), sealed)


class Numbers(unittest.TestCase):
    def test_overflows_of_half_precision_are_the_largest_number(self):
        beacon = Beacon(1, 0, 0, 0, [0.0] * 4, [1.0e9] + [-1.0e9] * 17, [0.0] * 48)
        read = PROFILES["dot154"].decode(SHAPE, MODEL, PROFILES["dot154"].encode(SHAPE, MODEL, beacon))
        self.assertEqual(read.taps, [65504.0] + [-65504.0] * 17)


if __name__ == "__main__":
    unittest.main()
