"""Decodes every golden frame with the module of `host-sim schema --format python`: `python3 test_frames.py FOLDER`."""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, sys.argv.pop())
import wdgnn_frames  # noqa: E402

GOLDEN = json.loads((pathlib.Path(__file__).parent / "vectors.json").read_text())
GOOD = [vector for vector in GOLDEN["vectors"] if "refused" not in vector]


class GeneratedModule(unittest.TestCase):
    def test_good_frames_are_identified_decoded_and_encoded_again(self):
        self.assertGreater(len(GOOD), 100)
        for vector in GOOD:
            with self.subTest(vector["name"]):
                data = bytes.fromhex(vector["frame"])
                name = wdgnn_frames.identify(data)
                expected = ("sealed" if vector["sealed"] else "") + vector["profile"] + "frame"
                self.assertEqual(name.lower(), expected)
                self.assertEqual(wdgnn_frames.encode(name, wdgnn_frames.decode(name, data)), data)

    def test_open_frames_have_the_golden_numbers(self):
        for vector in GOOD:
            if vector["sealed"]:
                continue
            with self.subTest(vector["name"]):
                data, message = bytes.fromhex(vector["frame"]), vector["beacon"]
                frame = wdgnn_frames.decode(wdgnn_frames.identify(data), data)
                self.assertEqual(frame["sender"], message["sender"])
                self.assertEqual(frame["state"], message["state"])
                numbers = frame.get("numbers") or frame["taps"] + frame["wide"]
                self.assertEqual(numbers, message["taps"] + message["wide"])

    def test_other_lengths_are_errors(self):
        for vector in GOOD:
            data = bytes.fromhex(vector["frame"])
            name = wdgnn_frames.identify(data)
            for other in (data[:-1], data + b"\0", b""):
                with self.assertRaises(ValueError):
                    wdgnn_frames.decode(name, other)


if __name__ == "__main__":
    unittest.main()
