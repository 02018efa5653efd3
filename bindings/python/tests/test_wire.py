"""Comparison of `wire.Link` with golden frames and with the second implementation in tests/interop."""

import json
import pathlib
import random
import sys

import pytest

from wdgnn import Swarm, wire

INTEROP = pathlib.Path(__file__).resolve().parents[3] / "tests" / "interop"
sys.path.insert(0, str(INTEROP))

import wdgnn_wire  # noqa: E402

GOLDEN = json.loads((INTEROP / "vectors.json").read_text())
MODEL, KEY = GOLDEN["model"], bytes.fromhex(GOLDEN["key"])
GOOD = [vector for vector in GOLDEN["vectors"] if "refused" not in vector]
BAD = [vector for vector in GOLDEN["vectors"] if "refused" in vector]


def receiver(vector):
    return wire.Link("flocking", vector["profile"], MODEL, KEY if vector["sealed"] else None)


@pytest.mark.parametrize("vector", GOOD, ids=lambda vector: vector["name"])
def test_valid_frames_are_decoded_and_encoded_to_identical_bytes(vector):
    link = receiver(vector)
    message = link.decode(bytes.fromhex(vector["frame"]), vector["now"])
    expected = vector["beacon"]
    assert (message.sender, message.boot, message.sequence) == (expected["sender"], expected["boot"], expected["sequence"])
    assert message.state == expected["state"]
    assert message.taps[slice(*message.tap_range)] == expected["taps"]
    assert message.wide[slice(*message.wide_range)] == expected["wide"]
    assert link.encode(message, vector["exchange"], vector["index"]).hex() == vector["frame"]


@pytest.mark.parametrize("vector", BAD, ids=lambda vector: vector["name"])
def test_invalid_frames_are_rejected_for_the_right_reason(vector):
    link = receiver(vector)
    for earlier in vector["before"]:
        try:
            link.decode(bytes.fromhex(earlier["frame"]), earlier["now"])
        except wire.FrameError:
            pass
    with pytest.raises(wire.FrameError) as error:
        link.decode(bytes.fromhex(vector["frame"]), vector["now"])
    assert str(error.value) == vector["refused"]
    assert vector["refused"] in wire.FRAME_ERRORS


@pytest.mark.parametrize("profile", wire.PROFILES)
@pytest.mark.parametrize("key", [None, KEY], ids=["unsealed", "sealed"])
def test_both_implementations_agree_on_frames_and_noise(profile, key):
    generator = random.Random(7)
    theirs = wdgnn_wire.PROFILES[profile]
    theirs = wdgnn_wire.Sealed(theirs, key) if key else theirs
    link = wire.Link("flocking", profile, MODEL, key)
    shape = wdgnn_wire.Shape(*link.sizes)

    def verdict(read, frame):
        try:
            read(frame)
            return "accepted"
        except (wire.FrameError, wdgnn_wire.Refused) as error:
            return str(error)

    for sequence in range(1, 50):
        numbers = [[generator.randrange(-800, 800) / 64 for _ in range(count)] for count in link.sizes]
        sender, exchange, index = sequence % 5, generator.randrange(9), generator.randrange(link.frames_per_exchange)
        message = wire.Message(sender, 0, sequence, 0, *numbers)
        frame = link.encode(message, exchange, index)
        theirs_beacon = wdgnn_wire.Beacon(sender, 0, sequence, 0, *numbers)
        assert frame == theirs.encode(shape, MODEL, theirs_beacon, exchange, index)
        noisy = bytearray(frame)
        noisy[generator.randrange(len(noisy))] ^= 1 << generator.randrange(8)
        noisy = bytes(noisy[: generator.choice([len(noisy), generator.randrange(len(noisy))])])
        now = sequence // link.frames_per_exchange

        def we_read(frame):
            return link.decode(frame, now)

        def they_read(frame):
            return theirs.decode(shape, MODEL, frame, now)

        assert verdict(we_read, noisy) == verdict(they_read, noisy)
        assert verdict(we_read, frame) == verdict(they_read, frame) == "accepted"


def test_frames_of_a_swarm_are_decoded():
    swarm = Swarm(robots=4, faults={"skew": 1})
    swarm.step()
    link = wire.Link("flocking", "exact", swarm.model)
    senders = [link.decode(frame).sender for sent in swarm.frames for frame in sent]
    assert senders == [0, 1, 2, 3]
    with pytest.raises(wire.FrameError, match="model"):
        wire.Link("flocking", "exact", 1).decode(swarm.frames[0][0])


def test_wrong_lengths_are_rejected():
    with pytest.raises(ValueError, match="do not fit the frames of profile esb32"):
        wire.Link("flocking-3d", "esb32", 1)
    link = wire.Link("flocking-3d", "exact", 1)
    assert link.sizes == (6, 27, 108)
    with pytest.raises(ValueError, match="6, 27 and 108"):
        link.encode(wire.Message(1, 0, 0, 0, [0.0], [], []))
    assert repr(link) == "<wdgnn.wire.Link flocking-3d on exact, model 00000001>"
