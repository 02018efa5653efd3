#!/usr/bin/env python3
"""Boards and their images.

    firmware/boards.py run IMAGE      flash the image's board and show its log, or start QEMU (cargo's runner)
    firmware/boards.py check IMAGE    check the image against its board's budget

A board is a folder in firmware/src/board. Its map.x defines the memory of an image, which the linker stores in the image as symbols,
with the name of the board. Its board.json has these keys:

    chip          name of the chip in probe-rs
    drive         true if the board has a USB drive that accepts images
    uf2_family    UF2 family of the drive, if it accepts UF2 files
    dfu           true if the bootloader is used with nrfutil
    runner        command that starts an image, if not probe-rs; the image's path is appended
    budget        maximum bytes of flash and static RAM of a robot image
    gateway_budget    maximum bytes of flash and static RAM of a gateway image
    buggy_budget, buggy_gateway_budget    limits with the feature buggy
"""

from __future__ import annotations

import json
import os
import struct
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "src/board"
IS_FOR = "_board_is_"
IS_GATEWAY = "_image_is_gateway"
IS_BUGGY = "_image_is_buggy"


@dataclass(frozen=True)
class Board:
    """A board. Its name is that of its cargo feature without `board-`."""

    name: str
    chip: str = ""
    drive: bool = False
    uf2_family: str = ""
    dfu: bool = False
    runner: str = ""
    budget: dict[str, int] = field(default_factory=dict)
    gateway_budget: dict[str, int] = field(default_factory=dict)
    buggy_budget: dict[str, int] = field(default_factory=dict)
    buggy_gateway_budget: dict[str, int] = field(default_factory=dict)

    @property
    def feature(self) -> str:
        return f"board-{self.name}"


def boards() -> dict[str, Board]:
    """Returns all boards by name."""
    found: dict[str, Board] = {}
    for file in sorted(FOLDER.glob("*/board.json")):
        keys: dict[str, Any] = json.loads(file.read_text())
        name = file.parent.name.replace("_", "-")
        found[name] = Board(name, **keys)
    return found


class ImageError(Exception):
    """A file is not a firmware image."""


@dataclass(frozen=True)
class Image:
    """A firmware image."""

    segments: list[tuple[int, bytes]]
    """Flash content by start address."""
    ram: int
    """Bytes of static RAM."""
    symbols: dict[str, int]

    @property
    def board(self) -> str:
        """Name of the board that the image was linked for."""
        names = [name[len(IS_FOR) :] for name in self.symbols if name.startswith(IS_FOR)]
        return names[0].replace("_", "-") if names else "unknown"

    @property
    def is_gateway(self) -> bool:
        """Whether this is the image of a gateway."""
        return IS_GATEWAY in self.symbols

    @property
    def is_buggy(self) -> bool:
        """Whether this is an image for robots with wheels under a camera."""
        return IS_BUGGY in self.symbols

    @property
    def flash(self) -> int:
        """Size in flash in bytes."""
        return sum(len(content) for _, content in self.segments)


def load(path: Path) -> Image:
    """Reads an ELF file."""
    try:
        file = path.read_bytes()
        if file[:6] != b"\x7fELF\x01\x01":
            raise ImageError(f"{path} is not a firmware image (32-bit ELF)")
        segment_table, section_table = struct.unpack_from("<2I", file, 28)
        segment_bytes, segment_count, section_bytes, section_count = struct.unpack_from("<4H", file, 42)
        segments = []
        for index in range(segment_count):
            kind, offset, _, address, size = struct.unpack_from("<5I", file, segment_table + index * segment_bytes)
            if kind == 1 and size:
                segments.append((address, file[offset : offset + size]))
        headers = [struct.unpack_from("<10I", file, section_table + index * section_bytes) for index in range(section_count)]
        # Sections in memory (flag 2) that are writable (flag 1), such as .data and .bss.
        ram = sum(size for _, _, flags, _, _, size, *_ in headers if flags & 3 == 3)
        symbols = {}
        for _, kind, _, _, offset, size, names, *_ in headers:
            if kind == 2:
                for at in range(offset, offset + size, 16):
                    name, value = struct.unpack_from("<2I", file, at)
                    start = headers[names][4] + name
                    symbols[file[start : file.index(b"\0", start)].decode()] = value
    except (OSError, struct.error, ValueError, IndexError) as error:
        raise ImageError(f"cannot read {path}: {error}") from error
    return Image(sorted(segments), ram, symbols)


def main() -> int:
    """Runs or checks an image."""
    if len(sys.argv) < 3 or sys.argv[1] not in ("run", "check"):
        print(__doc__, file=sys.stderr)
        return 2
    path = Path(sys.argv[2])
    try:
        image = load(path)
    except ImageError as error:
        print(f"boards.py: {error}", file=sys.stderr)
        return 2
    board = boards().get(image.board)
    if not board:
        print(f"boards.py: {path} is not for a known board", file=sys.stderr)
        return 2
    if sys.argv[1] == "run":
        command = [*(board.runner or f"probe-rs run --chip {board.chip}").split(), *sys.argv[2:]]
        try:
            os.execvp(command[0], command)
        except OSError as error:
            print(f"boards.py: cannot start {command[0]}: {error}", file=sys.stderr)
            return 1
    used = {"flash": image.flash, "ram": image.ram}
    kinds = [kind for kind, is_kind in (("buggy", image.is_buggy), ("gateway", image.is_gateway)) if is_kind]
    name, budget = ", ".join([board.name, *kinds]), getattr(board, "_".join([*kinds, "budget"]))
    print(f"{name}: " + ", ".join(f"{used[kind]} of {limit} bytes of {kind}" for kind, limit in budget.items()))
    return int(any(used[kind] > limit for kind, limit in budget.items()))


if __name__ == "__main__":
    sys.exit(main())
