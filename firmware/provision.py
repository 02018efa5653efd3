#!/usr/bin/env python3
"""Makes robots of boards: one image for all, and a page of settings for each.

    firmware/provision.py --board nrf52840 --robots 0-9 --key swarm.key --personal keys --flash

builds the image with the swarm's key in it and writes a file per robot that holds the image and the robot's settings (its address and
its personal key: firmware/src/board/nrf52/settings.rs). With --flash, robots are flashed over a debug probe (probe-rs) and their settings are read back
and compared; with --drive, the file is copied to the drive that the board shows to the PC.

    firmware/provision.py --board nrf52840 --gateway --flash

makes a gateway of a board, by which simulated robots speak in the air of real ones (host-sim swarm --gateway). It has no key and no settings.

Files hold the key as the image does: keep them as you keep the key. Needs Python 3 and Rust; --flash needs probe-rs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import NoReturn

from boards import Board, Image, NoImage, boards, load

WORKSPACE = Path(__file__).resolve().parent.parent
TARGET = "thumbv7em-none-eabihf"
LARGEST_ADDRESS = 65_535
MOST_ROBOTS = 10  # on one air, which robots are told and nobody is kept from
UF2_BYTES = 256
Pieces = list[tuple[int, bytes]]
# Those that can be flashed.
BOARDS = {name: board for name, board in boards().items() if board.chip}


def bad_usage(sentence: str) -> NoReturn:
    """Ends the program: it was called wrongly."""
    print(f"provision.py: {sentence}", file=sys.stderr)
    sys.exit(2)


def failed(sentence: str) -> NoReturn:
    """Ends the program: something did not work."""
    print(f"provision.py: {sentence}", file=sys.stderr)
    sys.exit(1)


def addresses(text: str) -> list[int]:
    """Addresses such as 0-9 or 1,4,7-9."""
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part.strip())
        if not match:
            bad_usage(f"--robots {text} cannot be read: give addresses such as 0-9 or 1,4,7-9")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last > LARGEST_ADDRESS:
            bad_usage(f"--robots {part.strip()} cannot be: addresses go from 0 to {LARGEST_ADDRESS}")
        found.extend(range(first, last + 1))
    twice = sorted({address for address in found if found.count(address) > 1}) if len(found) < 5000 else []
    if twice or len(set(found)) < len(found):
        bad_usage(f"two robots cannot have one address: {', '.join(map(str, twice)) or 'some are given twice'}")
    return found


def check_key(path: Path) -> None:
    """16 bytes or 32 hexadecimal digits. What it is, nobody is told."""
    if not path.is_file():
        bad_usage(f"there is no key at {path}: make one with `openssl rand -hex 16 > {path}`")
    content = path.read_bytes()
    if re.fullmatch(rb"[0-9a-fA-F]{16}", content.strip()):
        bad_usage(f"{path} has 16 hexadecimal digits, which are half a key: write 32 of them, such as with `openssl rand -hex 16`")
    if len(content) != 16 and not re.fullmatch(rb"[0-9a-fA-F]{32}", content.strip()):
        bad_usage(f"{path} is no key: 16 bytes or 32 hexadecimal digits are")


def settings_page(address: int, robots: int, personal: bytes = b"") -> bytes:
    """What makes a robot of an image: its address, how many robots there are (0 if it is not to know), and its personal key."""
    plain = b"wdgn" + struct.pack("<HHHH", 2, address, robots, 0)
    return plain + struct.pack("<I", zlib.crc32(plain)) + personal


def personal_part(address: int, options: argparse.Namespace) -> bytes:
    """The part of a page that holds a robot's personal key and the epoch of the image's key; nothing where keys do not change."""
    if not options.personal:
        return b""
    path = options.personal / f"robot-{address}.key"
    check_key(path)
    content = path.read_bytes()
    key = content if len(content) == 16 else bytes.fromhex(content.strip().decode())
    plain = key + struct.pack("<I", options.epoch)
    return plain + struct.pack("<I", zlib.crc32(plain)) + roster_part(address, options)


def roster_part(address: int, options: argparse.Namespace) -> bytes:
    """The part of a page that holds the keys by which others prove their names to a robot; nothing where names are not proven."""
    if not options.proofs:
        return b""
    path = options.personal / f"robot-{address}.roster"
    lines = path.read_text().split() if path.is_file() else []
    if not 0 < len(lines) <= 64 or not all(re.fullmatch("[0-9a-fA-F]{32}", line) for line in lines):
        bad_usage(f"{path} is no roster: `host-sim key robots` writes one for each of up to 64 robots")
    plain = struct.pack("<I", len(lines)) + b"".join(bytes.fromhex(line) for line in lines)
    return plain + struct.pack("<I", zlib.crc32(plain))


def build(board: Board, options: argparse.Namespace) -> Path:
    """Builds the image."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WDGNN_")}
    # A build by pieces is another build: larger, and with more of the stack.
    environment["CARGO_INCREMENTAL"] = "0"
    if options.key:
        environment["WDGNN_KEY"] = str(options.key.resolve())
        environment["WDGNN_PERSONAL"] = "told" if options.personal else "none"
    else:
        environment["WDGNN_UNSEALED"] = "1"
    if options.model:
        environment["WDGNN_MODEL"] = str(options.model.resolve())
    if options.debug_port_open:
        environment["WDGNN_DEBUG_PORT"] = "open"
    program, features = ("gateway", f"{board.feature},gateway") if options.gateway else ("robot", board.feature)
    command = [os.environ.get("CARGO", "cargo"), "build", "-p", "wdgnn-firmware", "--bin", program, "--release", "--target", TARGET]
    command += ["--no-default-features", "--features", features, "--message-format=json-render-diagnostics"]
    try:
        built = subprocess.run(command, cwd=WORKSPACE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        failed(f"cargo cannot be started: {error}")
    if built.returncode:
        failed(f"the firmware does not build:\n{built.stderr}")
    for line in reversed(built.stdout.splitlines()):
        executable = json.loads(line).get("executable") if line.startswith("{") else None
        if executable:
            return Path(executable)
    failed("cargo made no image")


def load_image(board: Board, path: Path, gateway: bool) -> Image:
    """The image, if it is for this board: another one would overwrite a bootloader or the settings."""
    try:
        image = load(path)
    except NoImage as error:
        bad_usage(str(error))
    if image.board != board.name:
        failed(f"the image does not say that it is for {board.name}, but for {image.board}: is it for another board?")
    if image.is_gateway and not gateway:
        bad_usage(f"{path} is a gateway's image: give --gateway in place of --robots")
    if gateway and not image.is_gateway:
        bad_usage(f"{path} is a robot's image: give --robots in place of --gateway")
    return image


def hex_record(kind: int, address: int, content: bytes) -> str:
    record = struct.pack(">BHB", len(content), address, kind) + content
    return ":" + (record + bytes([-sum(record) & 0xFF])).hex().upper()


def intel_hex(pieces: Pieces) -> str:
    """As programmers take it."""
    lines, upper = [], -1
    for begin, content in pieces:
        at = 0
        while at < len(content):
            address = begin + at
            if address >> 16 != upper:
                upper = address >> 16
                lines.append(hex_record(4, 0, struct.pack(">H", upper)))
            # No record crosses 64 KiB.
            size = min(16, len(content) - at, 0x10000 - (address & 0xFFFF))
            lines.append(hex_record(0, address & 0xFFFF, content[at : at + size]))
            at += size
    return "\n".join([*lines, hex_record(1, 0, b""), ""])


def uf2(pieces: Pieces, family: int) -> bytes:
    """As bootloaders with a drive take it: blocks of 512 bytes that carry 256 each."""
    blocks: dict[int, bytearray] = {}
    for begin, content in pieces:
        for address, byte in enumerate(content, begin):
            block = blocks.setdefault(address // UF2_BYTES * UF2_BYTES, bytearray(b"\xff" * UF2_BYTES))
            block[address % UF2_BYTES] = byte
    file = b""
    for number, (address, block) in enumerate(sorted(blocks.items())):
        head = struct.pack("<8I", 0x0A324655, 0x9E5D5157, 0x2000, address, UF2_BYTES, number, len(blocks), family)
        file += head + bytes(block).ljust(476, b"\0") + struct.pack("<I", 0x0AB16F30)
    return file


def write_private(path: Path, content: bytes) -> None:
    """Only for its owner's eyes: there is a key in it."""
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def probe_rs(arguments: list[str]) -> str:
    """Runs probe-rs and returns what it printed."""
    try:
        ran = subprocess.run(["probe-rs", *arguments], stdout=subprocess.PIPE, text=True)
    except OSError as error:
        failed(f"probe-rs cannot be started ({error}): `cargo install probe-rs-tools --locked`")
    if ran.returncode:
        failed(f"`probe-rs {arguments[0]}` failed; a board whose debug port was closed needs --erase")
    return ran.stdout


def download(board: Board, file: Path, probe: str | None, erase: bool) -> list[str]:
    """Over a debug probe; which one, is returned for more."""
    where = ["--chip", board.chip, *(["--probe", probe] if probe else [])]
    probe_rs(["download", *where, "--binary-format", "hex", "--verify", *(["--allow-erase-all"] if erase else []), str(file)])
    return where


def flash(board: Board, file: Path, place: int, address: int, wanted: bytes, probe: str | None, erase: bool) -> None:
    """Over a debug probe. The settings are read back before the image runs for the first time: it may close the debug port."""
    where = download(board, file, probe, erase)
    printed = probe_rs(["read", *where, "b8", hex(place), str(len(wanted))])
    found = bytes(int(byte, 16) for byte in re.findall(r"(?<![\w:])[0-9a-fA-F]{2}(?![\w:])", printed))
    if found != wanted:
        # What is behind the first sixteen bytes is a key.
        shown = found[:16].hex() or "nothing"
        failed(f"robot {address} was flashed, but its settings read back as {shown}, not {wanted[:16].hex()}")
    probe_rs(["reset", *where])
    print(f"robot {address} is flashed, and its settings are as they should be")


def next_board(address: int, several: bool) -> None:
    """Lets somebody connect the next board."""
    if several:
        try:
            input(f"connect the board that becomes robot {address}, and press Enter ")
        except EOFError:
            failed(f"nobody connects the board that becomes robot {address}: give one --probe per robot, or one robot at a time")


def parse() -> argparse.Namespace:
    """The command line; whatever cannot be ends the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--board", required=True, choices=BOARDS)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--robots", metavar="ADDRESSES", help="such as 0-9 or 1,4,7-9")
    what.add_argument("--gateway", action="store_true", help="no robot: a gateway, by which simulated robots speak in the air of real ones")
    parser.add_argument("--swarm", type=int, metavar="N", help="how many robots there are, with addresses from 0 on: no other name is "
                        "heard; by default up to the largest of --robots, 0 for anybody")
    parser.add_argument("--key", type=Path, metavar="FILE", help="the swarm's key: 16 bytes or 32 hexadecimal digits")
    parser.add_argument("--personal", type=Path, metavar="FOLDER", help="robots' personal keys, as `host-sim key robots` writes them: "
                        "the swarm's key can change in flight")
    parser.add_argument("--proofs", action="store_true", help="robots prove their names to each other, by the rosters beside their personal "
                        "keys: nobody can speak in another's name for long")
    parser.add_argument("--one-key", action="store_true", help="robots that keep the swarm's key for good: losing one means flashing all")
    parser.add_argument("--epoch", type=int, default=0, metavar="N", help="which of the swarm's keys --key is [default: 0, the first]")
    parser.add_argument("--unsealed", action="store_true", help="robots without a key, which believe everybody")
    parser.add_argument("--model", type=Path, metavar="FILE", help="a weight file in place of the one that comes with the firmware")
    parser.add_argument("--image", type=Path, metavar="FILE", help="an image (ELF) that is built already")
    parser.add_argument("--debug-port-open", action="store_true", help="a sealed image that leaves the debug port open: for the bench")
    parser.add_argument("--out", type=Path, default=WORKSPACE / "target/provisioned", metavar="FOLDER", help="where files go")
    parser.add_argument("--flash", action="store_true", help="flash them with probe-rs")
    parser.add_argument("--probe", action="append", default=[], metavar="SELECTOR", help="as probe-rs takes it; once per robot")
    parser.add_argument("--erase", action="store_true", help="erase a board whose debug port is closed, with all that it keeps")
    parser.add_argument("--drive", type=Path, metavar="FOLDER", help="copy the file to the drive that the board shows")
    options = parser.parse_args()
    board = BOARDS[options.board]
    if options.drive and not board.drive:
        bad_usage(f"a {options.board} shows no drive that takes images")
    if options.drive and not options.drive.is_dir():
        bad_usage(f"there is no drive at {options.drive}")
    if options.drive and options.flash:
        bad_usage("--flash or --drive, one of them")
    if options.probe and not options.flash:
        bad_usage("--probe is for --flash")
    if options.gateway:
        given = ("key", "personal", "proofs", "one_key", "epoch", "unsealed", "model", "debug_port_open", "swarm")
        for name in given:
            if getattr(options, name):
                bad_usage(f"a gateway has no key, no network and no settings: leave --{name.replace('_', '-')} out")
        if len(options.probe) > 1:
            bad_usage("one gateway has one --probe")
        return options
    options.robots = addresses(options.robots)
    largest = max(options.robots)
    if options.swarm is None:
        options.swarm = largest + 1 if largest < LARGEST_ADDRESS else 0
    if options.swarm and not largest < options.swarm <= LARGEST_ADDRESS:
        bad_usage(f"--swarm {options.swarm} has no robot {largest}: addresses go from 0 to one less than the number of robots")
    if options.image:
        if options.key or options.unsealed or options.model:
            bad_usage("--image is an image with everything in it: leave --key, --unsealed and --model out")
    elif bool(options.key) == options.unsealed:
        bad_usage("give --key FILE; robots without a key believe everybody, and are made with --unsealed in its place")
    if options.key:
        check_key(options.key)
        if bool(options.personal) == options.one_key:
            bad_usage("give --personal FOLDER (`host-sim key robots`), so that a new key is no reason to flash; --one-key says that it is")
    if options.proofs and not options.personal:
        bad_usage("--proofs is for robots with personal keys: give --personal FOLDER, too")
    if options.personal and not options.key and not options.image:
        bad_usage("--personal is for robots with a --key")
    if not 0 <= options.epoch <= 255:
        bad_usage(f"--epoch {options.epoch} cannot be: epochs go from 0 to 255")
    for address in options.robots if options.personal else []:
        check_key(options.personal / f"robot-{address}.key")
    if options.model and not options.model.is_file():
        bad_usage(f"there is no weight file at {options.model}")
    if len(options.probe) > 1 and len(options.probe) != len(options.robots):
        bad_usage(f"{len(options.probe)} probes for {len(options.robots)} robots: give one per robot, or one for all")
    if len(set(options.probe)) < len(options.probe):
        bad_usage("a probe was given twice")
    return options


def write_file(board: Board, options: argparse.Namespace, who: str, pieces: Pieces) -> tuple[Path, Path]:
    """A file for programmers, and the one that goes to the board's drive; says which, and how a bootloader takes it."""
    file = options.out / f"{options.board}-{who.replace(' ', '-')}.hex"
    write_private(file, intel_hex(pieces).encode())
    dropped = file
    if board.uf2_family:
        dropped = file.with_suffix(".uf2")
        write_private(dropped, uf2(pieces, int(board.uf2_family, 16)))
    print(f"{who}: {dropped}")
    if board.dfu and not options.flash:
        package = file.with_suffix(".zip")
        make = f"--hw-version 52 --sd-req 0x00 --application {file} --application-version 1 {package}"
        print(f"  nrfutil nrf5sdk-tools pkg generate {make}")
        print(f"  nrfutil nrf5sdk-tools dfu usb-serial -pkg {package} -p /dev/ttyACM0")
    return file, dropped


def make_gateway(board: Board, options: argparse.Namespace, image: Image) -> None:
    """A gateway is its image, and nothing else."""
    file, dropped = write_file(board, options, "gateway", image.pieces)
    if options.flash:
        where = download(board, file, options.probe[0] if options.probe else None, options.erase)
        probe_rs(["reset", *where])
        print("the gateway is flashed")
    elif options.drive:
        shutil.copyfile(dropped, options.drive / dropped.name)
        print("the gateway is on the drive: the board takes it and starts by itself")


def main() -> int:
    """Builds, writes, flashes."""
    options = parse()
    board = BOARDS[options.board]
    image = load_image(board, options.image or build(board, options), options.gateway)
    options.out.mkdir(parents=True, exist_ok=True)
    if options.gateway:
        make_gateway(board, options, image)
        return 0
    # The settings lie behind the image's flash.
    place = image.symbols["_flash_ends"]
    if options.unsealed:
        print("THESE ROBOTS ARE UNSEALED: they believe everybody who speaks")
    if len(options.robots) > MOST_ROBOTS:
        print(f"{len(options.robots)} robots: one air has slots for {MOST_ROBOTS} within reach of each other")
    several = len(options.robots) > 1 and len(options.probe) < 2
    for index, address in enumerate(options.robots):
        page = settings_page(address, options.swarm, personal_part(address, options))
        file, dropped = write_file(board, options, f"robot {address}", [*image.pieces, (place, page)])
        if options.flash:
            next_board(address, several)
            probe = options.probe[index if len(options.probe) > 1 else 0] if options.probe else None
            flash(board, file, place, address, page, probe, options.erase)
        elif options.drive:
            next_board(address, several)
            shutil.copyfile(dropped, options.drive / dropped.name)
            print(f"robot {address} is on the drive: the board takes it and starts by itself")
    return 0


if __name__ == "__main__":
    sys.exit(main())
