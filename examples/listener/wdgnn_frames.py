"""Radio frames of wdgnn, made by `host-sim schema --format python`.

Dimensions are those of the flocking network. All numbers are little-endian.
"""

import re
import struct

_FORMATS = {"u8": "B", "u16": "H", "u24": "3s", "u32": "I", "f16": "e", "f32": "f"}


class Frame:
    """First byte and length of a frame, and its fields: `degree:u8 taps:f16[18]`."""

    def __init__(self, first, length, fields):
        self.first, self.length = first, length
        self.fields = [
            (name, kind, int(count) if count else None)
            for name, kind, count in re.findall(r"(\w+):(\w+)(?:\[(\d+)\])?", fields)
        ]
        formats = (_FORMATS[kind] * (count or 1) for _, kind, count in self.fields)
        self.struct = struct.Struct("<" + "".join(formats))


FRAMES = {
    "ExactFrame": Frame(0x01, 302, """
        version:u8 profile:u8 state_numbers:u8 tap_numbers:u16 wide_numbers:u16 model:u32 sender:u16
        boot:u32 sequence:u32 degree:u8 state:f32[4] taps:f32[18] wide:f32[48]
    """),
    "Dot154Frame": Frame(0x21, 93, """
        version_and_profile:u8 part:u8 model:u32 sender:u16 boot:u32 sequence:u32 degree:u8 state:f32[4]
        taps:f16[18] wide:f16[12]
    """),
    "EspNowFrame": Frame(0x31, 165, """
        version_and_profile:u8 part:u8 model:u32 sender:u16 boot:u32 sequence:u32 degree:u8 state:f32[4]
        taps:f16[18] wide:f16[48]
    """),
    "Esb32Frame": Frame(0x41, 28, """
        version_and_profile:u8 sender:u8 boot:u16 sequence:u24 piece:u8 state:f16[4] numbers:f16[6]
    """),
    "P2p57Frame": Frame(0x51, 49, """
        version_and_profile:u8 part:u8 model:u32 sender:u16 boot:u32 sequence:u32 degree:u8 state:f16[4]
        taps:f16[9] wide:f16[3]
    """),
    "SealedExactFrame": Frame(0x01, 310, """
        version:u8 profile:u8 state_numbers:u8 tap_numbers:u16 wide_numbers:u16 model:u32 sender:u16
        boot:u32 sequence:u32 degree:u8 ciphertext:u8[280] tag:u8[8]
    """),
    "SealedDot154Frame": Frame(0x21, 101, """
        version_and_profile:u8 part:u8 model:u32 sender:u16 boot:u32 sequence:u32 degree:u8
        ciphertext:u8[76] tag:u8[8]
    """),
    "SealedEspNowFrame": Frame(0x31, 173, """
        version_and_profile:u8 part:u8 model:u32 sender:u16 boot:u32 sequence:u32 degree:u8
        ciphertext:u8[148] tag:u8[8]
    """),
    "SealedEsb32Frame": Frame(0x41, 32, """
        version_and_profile:u8 sender:u8 boot:u16 sequence:u24 piece:u8 ciphertext:u8[20] tag:u8[4]
    """),
    "SealedP2p57Frame": Frame(0x51, 57, """
        version_and_profile:u8 part:u8 model:u32 sender:u16 boot:u32 sequence:u32 degree:u8
        ciphertext:u8[32] tag:u8[8]
    """),
    "KeyUpdateFrame": Frame(0xf1, 40, """
        kind:u8 robot:u16 epoch:u8 first_tick:u32 key:u8[16] tag:u8[8] confirmation:u8[8]
    """),
    "ShortKeyUpdateFrame": Frame(0xf1, 32, """
        kind:u8 robot:u16 epoch:u8 first_tick:u32 key:u8[16] tag:u8[4] confirmation:u8[4]
    """),
    "IdentityProofFrame": Frame(0xa1, 63, """
        version_and_profile:u8 part:u8 model:u32 sender:u16 boot:u32 sequence:u32 degree:u8 state:f32[4]
        proofs_0_robot:u8 proofs_0_tag:u8[4] proofs_1_robot:u8 proofs_1_tag:u8[4] proofs_2_robot:u8
        proofs_2_tag:u8[4] proofs_3_robot:u8 proofs_3_tag:u8[4] proofs_4_robot:u8 proofs_4_tag:u8[4]
        proofs_5_robot:u8 proofs_5_tag:u8[4]
    """),
    "PoseFrame": Frame(0x61, 91, """
        kind:u8 command:u8 sender:u16 boot:u32 sequence:u32 age:u16 robots:u8[11] x:u16[11] y:u16[11]
        headings:u16[11]
    """),
    "SealedPoseFrame": Frame(0x61, 99, """
        kind:u8 command:u8 sender:u16 boot:u32 sequence:u32 age:u16 ciphertext:u8[77] tag:u8[8]
    """),
}


def identify(data):
    """Name of the frame type with this first byte and length, or None."""
    for name, frame in FRAMES.items():
        if data and data[0] == frame.first and len(data) == frame.length:
            return name
    return None


def decode(name, data):
    """Fields of a frame. Raises ValueError for another first byte or length."""
    frame = FRAMES[name]
    if len(data) != frame.length or data[0] != frame.first:
        raise ValueError(f"not a {name}")
    numbers = [
        int.from_bytes(number, "little") if isinstance(number, bytes) else number
        for number in frame.struct.unpack(data)
    ]
    values = {}
    for field, _, count in frame.fields:
        values[field] = numbers[:count] if count else numbers[0]
        numbers = numbers[count or 1 :]
    return values


def encode(name, values):
    """Bytes of a frame with these fields."""
    frame = FRAMES[name]
    numbers = []
    for field, kind, count in frame.fields:
        items = values[field] if count else [values[field]]
        numbers += [item.to_bytes(3, "little") if kind == "u24" else item for item in items]
    return frame.struct.pack(*numbers)
