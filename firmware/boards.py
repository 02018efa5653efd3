#!/usr/bin/env python3
"""What programs on a PC know about boards and their images.

    firmware/boards.py run IMAGE      cargo's runner: flashes the board that the image is for, or starts the emulated one
    firmware/boards.py check IMAGE    whether the image is within its board's budget

A board is a folder in firmware/src/board. Its board.json says how it is flashed and what an image may take; which flash is the image's
is in its map.x, which the linker leaves in the image as symbols. So an image tells by itself what it is for.

    chip          the chip's name in probe-rs
    drive         true for a board that shows a drive which takes images
    uf2_family    of a board whose drive takes UF2 files
    dfu           true for a board whose bootloader is talked to by nrfutil
    runner        the command that starts an image, where that is not probe-rs; the image's path goes behind it
    budget        bytes of flash and of static RAM that the image of this repository may take, sealed or not
    gateway_budget    the same for an image that makes a gateway of the board
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


@dataclass(frozen=True)
class Board:
    """A board, by the name that its cargo feature has behind `board-`."""

    name: str
    chip: str = ""
    drive: bool = False
    uf2_family: str = ""
    dfu: bool = False
    runner: str = ""
    budget: dict[str, int] = field(default_factory=dict)
    gateway_budget: dict[str, int] = field(default_factory=dict)

    @property
    def feature(self) -> str:
        return f"board-{self.name}"


def boards() -> dict[str, Board]:
    """All of them."""
    found: dict[str, Board] = {}
    for file in sorted(FOLDER.glob("*/board.json")):
        facts: dict[str, Any] = json.loads(file.read_text())
        name = file.parent.name.replace("_", "-")
        found[name] = Board(name, **facts)
    return found


class NoImage(Exception):
    """Why a file is not a robot's image."""


@dataclass(frozen=True)
class Image:
    """A robot's image."""

    pieces: list[tuple[int, bytes]]
    """What goes into flash, by address."""
    ram: int
    """Bytes of RAM that are taken from the start on."""
    symbols: dict[str, int]

    @property
    def board(self) -> str:
        """The board that it was linked for."""
        names = [name[len(IS_FOR) :] for name in self.symbols if name.startswith(IS_FOR)]
        return names[0].replace("_", "-") if names else "unknown"

    @property
    def is_gateway(self) -> bool:
        """Whether it makes a gateway of its board, in place of a robot."""
        return IS_GATEWAY in self.symbols

    @property
    def flash(self) -> int:
        """Bytes of flash."""
        return sum(len(content) for _, content in self.pieces)


def load(path: Path) -> Image:
    """Reads an ELF file."""
    try:
        file = path.read_bytes()
        if file[:6] != b"\x7fELF\x01\x01":
            raise NoImage(f"{path} is no firmware image (ELF, 32 bits)")
        segments, sections = struct.unpack_from("<2I", file, 28)
        segment_bytes, segment_count, section_bytes, section_count = struct.unpack_from("<4H", file, 42)
        pieces = []
        for index in range(segment_count):
            kind, offset, _, address, size = struct.unpack_from("<5I", file, segments + index * segment_bytes)
            if kind == 1 and size:
                pieces.append((address, file[offset : offset + size]))
        headers = [struct.unpack_from("<10I", file, sections + index * section_bytes) for index in range(section_count)]
        # Sections such as .data and .bss: in memory (2) and writable (1).
        ram = sum(size for _, _, flags, _, _, size, *_ in headers if flags & 3 == 3)
        symbols = {}
        for _, kind, _, _, offset, size, names, *_ in headers:
            if kind == 2:
                for at in range(offset, offset + size, 16):
                    name, value = struct.unpack_from("<2I", file, at)
                    begins = headers[names][4] + name
                    symbols[file[begins : file.index(b"\0", begins)].decode()] = value
    except (OSError, struct.error, ValueError, IndexError) as error:
        raise NoImage(f"{path} cannot be read: {error}") from error
    return Image(sorted(pieces), ram, symbols)


def main() -> int:
    """Runs or checks an image."""
    if len(sys.argv) < 3 or sys.argv[1] not in ("run", "check"):
        print(__doc__, file=sys.stderr)
        return 2
    path = Path(sys.argv[2])
    try:
        image = load(path)
    except NoImage as error:
        print(f"boards.py: {error}", file=sys.stderr)
        return 2
    board = boards().get(image.board)
    if not board:
        print(f"boards.py: {path} does not say which board it is for", file=sys.stderr)
        return 2
    if sys.argv[1] == "run":
        command = [*(board.runner or f"probe-rs run --chip {board.chip}").split(), *sys.argv[2:]]
        try:
            os.execvp(command[0], command)
        except OSError as error:
            print(f"boards.py: {command[0]} cannot be started ({error})", file=sys.stderr)
            return 1
    taken = {"flash": image.flash, "ram": image.ram}
    name, budget = (f"{board.name}, gateway", board.gateway_budget) if image.is_gateway else (board.name, board.budget)
    print(f"{name}: " + ", ".join(f"{taken[what]} of {most} bytes of {what}" for what, most in budget.items()))
    return int(any(taken[what] > most for what, most in budget.items()))


if __name__ == "__main__":
    sys.exit(main())
