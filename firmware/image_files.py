"""File formats for flashing: Intel HEX and UF2."""

from __future__ import annotations

import struct

UF2_BYTES = 256
Segments = list[tuple[int, bytes]]
"""Content by start address."""


def hex_record(kind: int, address: int, content: bytes) -> str:
    """Returns one line of an Intel HEX file."""
    record = struct.pack(">BHB", len(content), address, kind) + content
    return ":" + (record + bytes([-sum(record) & 0xFF])).hex().upper()


def intel_hex(segments: Segments) -> str:
    """Returns an Intel HEX file."""
    lines, upper = [], -1
    for start, content in segments:
        offset = 0
        while offset < len(content):
            address = start + offset
            if address >> 16 != upper:
                upper = address >> 16
                lines.append(hex_record(4, 0, struct.pack(">H", upper)))
            # No record crosses a 64 KiB boundary.
            size = min(16, len(content) - offset, 0x10000 - (address & 0xFFFF))
            lines.append(hex_record(0, address & 0xFFFF, content[offset : offset + size]))
            offset += size
    return "\n".join([*lines, hex_record(1, 0, b""), ""])


def uf2(segments: Segments, family: int) -> bytes:
    """Returns a UF2 file: blocks of 512 bytes with 256 bytes of content each."""
    blocks: dict[int, bytearray] = {}
    for start, content in segments:
        for address, byte in enumerate(content, start):
            block = blocks.setdefault(address // UF2_BYTES * UF2_BYTES, bytearray(b"\xff" * UF2_BYTES))
            block[address % UF2_BYTES] = byte
    file = b""
    for number, (address, block) in enumerate(sorted(blocks.items())):
        header = struct.pack("<8I", 0x0A324655, 0x9E5D5157, 0x2000, address, UF2_BYTES, number, len(blocks), family)
        file += header + bytes(block).ljust(476, b"\0") + struct.pack("<I", 0x0AB16F30)
    return file
