"""Radio frames of wdgnn, made by `host-sim schema --format python`.

Dimensions are those of the flocking network. All numbers are little-endian.
"""

import struct

# Per frame: first byte, length, key, fields (name, type, count or None for one number).
FRAMES = {
    "ExactFrame": (
        0x01,
        302,
        "e5d8fa2712fd0738",
        (
            ("version", "u8", None),
            ("profile", "u8", None),
            ("state_numbers", "u8", None),
            ("tap_numbers", "u16", None),
            ("wide_numbers", "u16", None),
            ("model", "u32", None),
            ("sender", "u16", None),
            ("boot", "u32", None),
            ("sequence", "u32", None),
            ("degree", "u8", None),
            ("state", "f32", 4),
            ("taps", "f32", 18),
            ("wide", "f32", 48),
        ),
    ),
    "Dot154Frame": (
        0x21,
        93,
        "1e90947634829593",
        (
            ("version_and_profile", "u8", None),
            ("part", "u8", None),
            ("model", "u32", None),
            ("sender", "u16", None),
            ("boot", "u32", None),
            ("sequence", "u32", None),
            ("degree", "u8", None),
            ("state", "f32", 4),
            ("taps", "f16", 18),
            ("wide", "f16", 12),
        ),
    ),
    "EspNowFrame": (
        0x31,
        165,
        "79b5332f39826acb",
        (
            ("version_and_profile", "u8", None),
            ("part", "u8", None),
            ("model", "u32", None),
            ("sender", "u16", None),
            ("boot", "u32", None),
            ("sequence", "u32", None),
            ("degree", "u8", None),
            ("state", "f32", 4),
            ("taps", "f16", 18),
            ("wide", "f16", 48),
        ),
    ),
    "Esb32Frame": (
        0x41,
        28,
        "8b84812532ce6cb8",
        (
            ("version_and_profile", "u8", None),
            ("sender", "u8", None),
            ("boot", "u16", None),
            ("sequence", "u24", None),
            ("piece", "u8", None),
            ("state", "f16", 4),
            ("numbers", "f16", 6),
        ),
    ),
    "P2p57Frame": (
        0x51,
        49,
        "b52f7841235b5471",
        (
            ("version_and_profile", "u8", None),
            ("part", "u8", None),
            ("model", "u32", None),
            ("sender", "u16", None),
            ("boot", "u32", None),
            ("sequence", "u32", None),
            ("degree", "u8", None),
            ("state", "f16", 4),
            ("taps", "f16", 9),
            ("wide", "f16", 3),
        ),
    ),
    "SealedExactFrame": (
        0x01,
        310,
        "8449a5411522113d",
        (
            ("version", "u8", None),
            ("profile", "u8", None),
            ("state_numbers", "u8", None),
            ("tap_numbers", "u16", None),
            ("wide_numbers", "u16", None),
            ("model", "u32", None),
            ("sender", "u16", None),
            ("boot", "u32", None),
            ("sequence", "u32", None),
            ("degree", "u8", None),
            ("ciphertext", "u8", 280),
            ("tag", "u8", 8),
        ),
    ),
    "SealedDot154Frame": (
        0x21,
        101,
        "0f959da63d3f1d61",
        (
            ("version_and_profile", "u8", None),
            ("part", "u8", None),
            ("model", "u32", None),
            ("sender", "u16", None),
            ("boot", "u32", None),
            ("sequence", "u32", None),
            ("degree", "u8", None),
            ("ciphertext", "u8", 76),
            ("tag", "u8", 8),
        ),
    ),
    "SealedEspNowFrame": (
        0x31,
        173,
        "061e7c7bc0437421",
        (
            ("version_and_profile", "u8", None),
            ("part", "u8", None),
            ("model", "u32", None),
            ("sender", "u16", None),
            ("boot", "u32", None),
            ("sequence", "u32", None),
            ("degree", "u8", None),
            ("ciphertext", "u8", 148),
            ("tag", "u8", 8),
        ),
    ),
    "SealedEsb32Frame": (
        0x41,
        32,
        "527aef68d50c9b5d",
        (
            ("version_and_profile", "u8", None),
            ("sender", "u8", None),
            ("boot", "u16", None),
            ("sequence", "u24", None),
            ("piece", "u8", None),
            ("ciphertext", "u8", 20),
            ("tag", "u8", 4),
        ),
    ),
    "SealedP2p57Frame": (
        0x51,
        57,
        "6a624cd6bcffb028",
        (
            ("version_and_profile", "u8", None),
            ("part", "u8", None),
            ("model", "u32", None),
            ("sender", "u16", None),
            ("boot", "u32", None),
            ("sequence", "u32", None),
            ("degree", "u8", None),
            ("ciphertext", "u8", 32),
            ("tag", "u8", 8),
        ),
    ),
    "KeyUpdateFrame": (
        0xf1,
        40,
        "390142cef50d9a4b",
        (
            ("kind", "u8", None),
            ("robot", "u16", None),
            ("epoch", "u8", None),
            ("first_tick", "u32", None),
            ("key", "u8", 16),
            ("tag", "u8", 8),
            ("confirmation", "u8", 8),
        ),
    ),
    "ShortKeyUpdateFrame": (
        0xf1,
        32,
        "49d50e665eb2f795",
        (
            ("kind", "u8", None),
            ("robot", "u16", None),
            ("epoch", "u8", None),
            ("first_tick", "u32", None),
            ("key", "u8", 16),
            ("tag", "u8", 4),
            ("confirmation", "u8", 4),
        ),
    ),
    "IdentityProofFrame": (
        0xa1,
        63,
        "780c700f9ff12f8f",
        (
            ("version_and_profile", "u8", None),
            ("part", "u8", None),
            ("model", "u32", None),
            ("sender", "u16", None),
            ("boot", "u32", None),
            ("sequence", "u32", None),
            ("degree", "u8", None),
            ("state", "f32", 4),
            ("proofs_0_robot", "u8", None),
            ("proofs_0_tag", "u8", 4),
            ("proofs_1_robot", "u8", None),
            ("proofs_1_tag", "u8", 4),
            ("proofs_2_robot", "u8", None),
            ("proofs_2_tag", "u8", 4),
            ("proofs_3_robot", "u8", None),
            ("proofs_3_tag", "u8", 4),
            ("proofs_4_robot", "u8", None),
            ("proofs_4_tag", "u8", 4),
            ("proofs_5_robot", "u8", None),
            ("proofs_5_tag", "u8", 4),
        ),
    ),
}

_FORMATS = {"u8": "B", "u16": "H", "u24": "3s", "u32": "I", "f16": "e", "f32": "f"}


def _format(fields):
    return "<" + "".join(_FORMATS[kind] * (count or 1) for _, kind, count in fields)


def identify(data):
    """Name of the frame type with this first byte and length, or None."""
    for name, (first, length, _, _) in FRAMES.items():
        if data and data[0] == first and len(data) == length:
            return name
    return None


def decode(name, data):
    """Fields of a frame. Raises ValueError for another first byte or length."""
    first, length, _, fields = FRAMES[name]
    if len(data) != length or data[0] != first:
        raise ValueError(f"not a {name}")
    numbers = [
        int.from_bytes(number, "little") if isinstance(number, bytes) else number
        for number in struct.unpack(_format(fields), data)
    ]
    frame = {}
    for field, _, count in fields:
        frame[field] = numbers[0] if count is None else numbers[:count]
        numbers = numbers[count or 1 :]
    return frame


def encode(name, frame):
    """Bytes of a frame with these fields."""
    fields = FRAMES[name][3]
    numbers = []
    for field, kind, count in fields:
        values = [frame[field]] if count is None else frame[field]
        numbers += [value.to_bytes(3, "little") if kind == "u24" else value for value in values]
    return struct.pack(_format(fields), *numbers)
