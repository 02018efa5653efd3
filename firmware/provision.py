#!/usr/bin/env python3
"""Builds and flashes robots: one image for all, and a provisioning page for each.

    firmware/provision.py --board nrf52840 --robots 0-9 --key swarm.key --personal-keys keys --flash

builds the image with the group key and writes one file per robot, with the image and the provisioning page (address, swarm size and
personal key; firmware/src/board/nrf52/provisioning.rs). --flash flashes the robots over a debug probe (probe-rs) and verifies the
page. --drive copies the file to the board's USB drive.

    firmware/provision.py --board nrf52840 --gateway --flash

makes a gateway, through which simulated robots join real ones (host-sim run --gateway). It has no key and no provisioning page.

    firmware/provision.py --board microbit-v2 --buggy --robots 0-9 --chassis maqueen --key swarm.key
    firmware/provision.py --board microbit-v2 --buggy --gateway --key swarm.key

makes robots with wheels under a camera, and their gateway (docs/build-a-swarm.md).

The files contain the key: protect them like the key. Requires Python 3 and Rust; --flash requires probe-rs.
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

from boards import Board, Image, ImageError, boards, load
from image_files import Segments, intel_hex, uf2

WORKSPACE = Path(__file__).resolve().parent.parent
TARGET = "thumbv7em-none-eabihf"
MAX_ADDRESS = 65_535
MAX_ROBOTS = 10  # slots of one radio channel; a larger swarm gets a warning
MAX_ROSTER = 64
CHASSIS = {"maqueen": 1, "cutebot": 2, "h-bridge": 3}
WHEELS_OFFSET = 2048
# Wheels of a Maqueen (wdgnn_drive::buggy::Settings::MAQUEEN); a calibration replaces them.
WHEELS = {
    "track_mm": 72.0, "full_speed_mm_s": 350, "min_speed_mm_s": 70, "dead_zone": 0.2, "lag_ms": 80, "gain": [1.0, 1.0], "cruise_mm_s": 150,
}
BOARDS = {name: board for name, board in boards().items() if board.chip}  # boards that can be flashed


def bad_usage(message: str) -> NoReturn:
    """Exits with code 2: the options are invalid."""
    print(f"provision.py: {message}", file=sys.stderr)
    sys.exit(2)


def failed(message: str) -> NoReturn:
    """Exits with code 1: a step failed."""
    print(f"provision.py: {message}", file=sys.stderr)
    sys.exit(1)


def addresses(text: str) -> list[int]:
    """Parses addresses such as 0-9 or 1,4,7-9."""
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part.strip())
        if not match:
            bad_usage(f"--robots must be addresses such as 0-9 or 1,4,7-9, got {text}")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last > MAX_ADDRESS:
            bad_usage(f"--robots must be ascending addresses from 0 to {MAX_ADDRESS}, got {part.strip()}")
        found.extend(range(first, last + 1))
    repeated = sorted({address for address in found if found.count(address) > 1}) if len(found) < 5000 else []
    if repeated or len(set(found)) < len(found):
        bad_usage(f"--robots must not repeat an address, got {', '.join(map(str, repeated)) or text}")
    return found


def check_key(path: Path) -> None:
    """Checks that a key file has 16 bytes or 32 hexadecimal digits. Never prints its content."""
    if not path.is_file():
        bad_usage(f"there is no key file {path}: create one with `openssl rand -hex 16 > {path}`")
    content = path.read_bytes()
    if re.fullmatch(rb"[0-9a-fA-F]{16}", content.strip()):
        bad_usage(f"{path} must have 32 hexadecimal digits, got 16, which is half a key: use `openssl rand -hex 16`")
    if len(content) != 16 and not re.fullmatch(rb"[0-9a-fA-F]{32}", content.strip()):
        bad_usage(f"{path} must have 16 bytes or 32 hexadecimal digits")


def provisioning_page(address: int, swarm_size: int, keys: bytes = b"") -> bytes:
    """Returns a provisioning page. A swarm size of 0 accepts every address."""
    plain = b"wdgn" + struct.pack("<HHHH", 2, address, swarm_size, 0)
    return plain + struct.pack("<I", zlib.crc32(plain)) + keys


def personal_key_part(address: int, options: argparse.Namespace) -> bytes:
    """Returns the page's part with the personal key and the epoch of the image's group key; empty without key rotation."""
    if not options.personal_keys:
        return b""
    path = options.personal_keys / f"robot-{address}.key"
    check_key(path)
    content = path.read_bytes()
    key = content if len(content) == 16 else bytes.fromhex(content.strip().decode())
    plain = key + struct.pack("<I", options.epoch)
    return plain + struct.pack("<I", zlib.crc32(plain)) + roster_part(address, options)


def roster_part(address: int, options: argparse.Namespace) -> bytes:
    """Returns the page's part with the pairwise keys of the peers; empty without peer authentication."""
    if not options.peer_auth:
        return b""
    path = options.personal_keys / f"robot-{address}.roster"
    lines = path.read_text().split() if path.is_file() else []
    if not 0 < len(lines) <= MAX_ROSTER or not all(re.fullmatch("[0-9a-fA-F]{32}", line) for line in lines):
        bad_usage(f"{path} is not a roster of up to {MAX_ROSTER} keys: create it with `host-sim key robots`")
    plain = struct.pack("<I", len(lines)) + b"".join(bytes.fromhex(line) for line in lines)
    return plain + struct.pack("<I", zlib.crc32(plain))


def wheels_part(address: int, options: argparse.Namespace) -> bytes:
    """Returns the numbers of a robot's wheels (firmware/src/board/nrf52/provisioning.rs)."""
    numbers = dict(WHEELS)
    if options.wheels:
        try:
            content = json.loads(options.wheels.read_text())
            numbers |= content.get("all", {}) | content.get(str(address), {})
        except (OSError, ValueError, AttributeError) as error:
            bad_usage(f"--wheels {options.wheels}: {error}")
    if unknown := set(numbers) - set(WHEELS):
        bad_usage(f"--wheels must have {', '.join(WHEELS)}, got {', '.join(sorted(unknown))}")
    try:
        plain = struct.pack(
            "<6H2hH4hH",
            CHASSIS[options.chassis],
            round(10 * numbers["track_mm"]),
            *(round(numbers[name]) for name in ("full_speed_mm_s", "min_speed_mm_s")),
            round(1000 * numbers["dead_zone"]),
            round(numbers["lag_ms"]),
            *(round(1000 * gain) for gain in numbers["gain"]),
            round(numbers["cruise_mm_s"]),
            *(round(sign * side * 500) for sign in (-1, 1) for side in options.arena),
            0,
        )
    except (TypeError, ValueError, struct.error) as error:
        bad_usage(f"--wheels: {error}")
    return plain + struct.pack("<I", zlib.crc32(plain))


def arena(text: str) -> tuple[float, float]:
    """Parses a width and a height in meters."""
    width, height = (float(part) for part in text.split(","))
    if not (0.5 <= width <= 20 and 0.5 <= height <= 20):
        raise ValueError
    return width, height


def build(board: Board, options: argparse.Namespace) -> Path:
    """Builds the image and returns the path of the ELF file."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WDGNN_")}
    # An incremental build is larger and needs more stack.
    environment["CARGO_INCREMENTAL"] = "0"
    if options.key:
        environment["WDGNN_KEY"] = str(options.key.resolve())
        environment["WDGNN_KEY_ROTATION"] = "on" if options.personal_keys else "off"
    else:
        environment["WDGNN_UNSEALED"] = "1"
    if options.model:
        environment["WDGNN_MODEL"] = str(options.model.resolve())
    if options.debug_port_open:
        environment["WDGNN_DEBUG_PORT"] = "open"
    program, features = ("gateway", f"{board.feature},gateway") if options.gateway else ("robot", board.feature)
    if options.buggy:
        program, features = "pose_gateway" if options.gateway else "robot", f"{board.feature},buggy"
    command = [os.environ.get("CARGO", "cargo"), "build", "-p", "wdgnn-firmware", "--bin", program, "--release", "--target", TARGET]
    command += ["--no-default-features", "--features", features, "--message-format=json-render-diagnostics"]
    try:
        built = subprocess.run(command, cwd=WORKSPACE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        failed(f"cannot start cargo: {error}")
    if built.returncode:
        failed(f"cannot build the firmware:\n{built.stderr}")
    for line in reversed(built.stdout.splitlines()):
        executable = json.loads(line).get("executable") if line.startswith("{") else None
        if executable:
            return Path(executable)
    failed("cargo built no image")


def load_image(board: Board, path: Path, gateway: bool, buggy: bool) -> Image:
    """Loads an image and checks its board: the image of another board could overwrite the bootloader."""
    try:
        image = load(path)
    except ImageError as error:
        bad_usage(str(error))
    if image.board != board.name:
        failed(f"--image must be an image for {board.name}, got one for {image.board}")
    if image.is_gateway and not gateway:
        bad_usage(f"{path} is a gateway image: use --gateway instead of --robots")
    if image.is_buggy != buggy:
        bad_usage(f"{path} {'requires' if image.is_buggy else 'excludes'} --buggy")
    if gateway and not image.is_gateway:
        bad_usage(f"{path} is a robot image: use --robots instead of --gateway")
    return image


def write_private(path: Path, content: bytes) -> None:
    """Writes a file that only its owner can read, because it contains a key."""
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def probe_rs(arguments: list[str]) -> str:
    """Runs probe-rs and returns its output."""
    try:
        ran = subprocess.run(["probe-rs", *arguments], stdout=subprocess.PIPE, text=True)
    except OSError as error:
        failed(f"cannot start probe-rs ({error}): install it with `cargo install probe-rs-tools --locked`")
    if ran.returncode:
        failed(f"`probe-rs {arguments[0]}` failed; a board with a closed debug port needs --erase")
    return ran.stdout


def download(board: Board, file: Path, probe: str | None, erase: bool) -> list[str]:
    """Flashes a file over a debug probe and returns the probe-rs options of the target."""
    target = ["--chip", board.chip, *(["--probe", probe] if probe else [])]
    probe_rs(["download", *target, "--binary-format", "hex", "--verify", *(["--allow-erase-all"] if erase else []), str(file)])
    return target


def flash(board: Board, file: Path, page_address: int, address: int, page: bytes, probe: str | None, erase: bool) -> None:
    """Flashes a robot. Verifies the provisioning page before the first start, at which the image may close the debug port."""
    target = download(board, file, probe, erase)
    printed = probe_rs(["read", *target, "b8", hex(page_address), str(len(page))])
    found = bytes(int(byte, 16) for byte in re.findall(r"(?<![\w:])[0-9a-fA-F]{2}(?![\w:])", printed))
    if found != page:
        # Prints only the first 16 bytes, because a key follows.
        shown = found[:16].hex() or "nothing"
        failed(f"robot {address} was flashed, but its provisioning page reads back as {shown} instead of {page[:16].hex()}")
    probe_rs(["reset", *target])
    print(f"robot {address} is flashed and verified")


def wait_for_board(address: int) -> None:
    """Waits until the user has connected the next board."""
    try:
        input(f"connect the board of robot {address} and press Enter ")
    except EOFError:
        failed(f"cannot ask for the board of robot {address}: give one --probe per robot, or one robot at a time")


def parser() -> argparse.ArgumentParser:
    """Defines the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--board", required=True, choices=BOARDS, help="board to build for")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--robots", metavar="ADDRESSES", help="addresses of the robots, such as 0-9 or 1,4,7-9")
    target.add_argument("--gateway", action="store_true", help="make a gateway instead of robots")
    parser.add_argument("--buggy", action="store_true", help="make robots with wheels under a camera, or their gateway")
    parser.add_argument("--chassis", choices=CHASSIS, help="chassis of the robots; it is never detected, because two of them share an address")
    parser.add_argument("--wheels", type=Path, metavar="FILE", help="wheels by address, from `tools/tracker.py wheels`")
    parser.add_argument("--arena", type=arena, default=(3.0, 2.0), metavar="W,H", help="floor between the walls in meters, with the "
                        "origin of poses in its middle [default: 3,2]")
    parser.add_argument("--swarm", type=int, metavar="N", help="swarm size; robots reject addresses from N on, 0 accepts every address "
                        "[default: largest address of --robots plus 1]")
    parser.add_argument("--key", type=Path, metavar="FILE", help="group key: 16 bytes or 32 hexadecimal digits")
    parser.add_argument("--personal-keys", type=Path, metavar="FOLDER", help="personal keys from `host-sim key robots`, for key rotation")
    parser.add_argument("--peer-auth", action="store_true", help="enable peer authentication, with the rosters in --personal-keys")
    parser.add_argument("--no-key-rotation", action="store_true", help="make robots without personal keys; a new group key requires "
                        "flashing all robots")
    parser.add_argument("--epoch", type=int, default=0, metavar="N", help="epoch of the group key [default: 0]")
    parser.add_argument("--unsealed", action="store_true", help="make robots without a key, which accept every frame")
    parser.add_argument("--model", type=Path, metavar="FILE", help="weight file [default: the model of the link profile]")
    parser.add_argument("--image", type=Path, metavar="FILE", help="use this ELF file instead of building an image")
    parser.add_argument("--debug-port-open", action="store_true", help="leave the debug port of a sealed image open, for debugging")
    parser.add_argument("--out", type=Path, default=WORKSPACE / "target/provisioned", metavar="FOLDER",
                        help="output folder [default: target/provisioned]")
    parser.add_argument("--flash", action="store_true", help="flash with probe-rs")
    parser.add_argument("--probe", action="append", default=[], metavar="SELECTOR", help="probe, as printed by `probe-rs list`; once per robot")
    parser.add_argument("--erase", action="store_true", help="erase the whole chip first, which opens a closed debug port")
    parser.add_argument("--drive", type=Path, metavar="FOLDER", help="copy the file to the board's USB drive")
    return parser


def parse() -> argparse.Namespace:
    """Parses and checks the options."""
    options = parser().parse_args()
    if options.drive and not BOARDS[options.board].drive:
        bad_usage(f"--drive is not available: {options.board} has no USB drive")
    if options.drive and not options.drive.is_dir():
        bad_usage(f"--drive must be a folder, got {options.drive}")
    if options.drive and options.flash:
        bad_usage("--flash and --drive exclude each other")
    if options.probe and not options.flash:
        bad_usage("--probe requires --flash")
    if options.buggy:
        check_buggy(options)
    elif options.chassis or options.wheels:
        bad_usage("--chassis and --wheels require --buggy")
    if options.gateway:
        check_gateway(options)
    else:
        options.robots = addresses(options.robots)
        check_swarm(options)
        check_keys(options)
    return options


def check_buggy(options: argparse.Namespace) -> None:
    """Checks the options of robots with wheels."""
    if options.board != "microbit-v2":
        bad_usage(f"--buggy requires --board microbit-v2, got {options.board}")
    if not options.image and not options.key:
        bad_usage("--buggy requires --key: create one with `openssl rand -hex 16 > swarm.key`")
    if not options.gateway and not options.chassis:
        bad_usage(f"--buggy requires --chassis {', '.join(CHASSIS)}")
    if options.personal_keys:
        bad_usage("--buggy excludes --personal-keys")
    options.no_key_rotation = not options.gateway
    if options.gateway and options.key:
        check_key(options.key)


def check_gateway(options: argparse.Namespace) -> None:
    """Checks the options of a gateway."""
    unused = ("key", "personal_keys", "peer_auth", "no_key_rotation", "epoch", "unsealed", "model", "debug_port_open", "swarm")
    for name in unused:
        if getattr(options, name) and not (name == "key" and options.buggy):
            bad_usage(f"--{name.replace('_', '-')} is not available with --gateway")
    if len(options.probe) > 1:
        bad_usage("--gateway takes one --probe")


def check_swarm(options: argparse.Namespace) -> None:
    """Checks swarm size, model and probes. Sets the default swarm size."""
    largest = max(options.robots)
    if options.swarm is None:
        options.swarm = largest + 1 if largest < MAX_ADDRESS else 0
    if options.swarm and not largest < options.swarm <= MAX_ADDRESS:
        bad_usage(f"--swarm must be above the largest address {largest}, got {options.swarm}")
    if options.model and not options.model.is_file():
        bad_usage(f"there is no weight file {options.model}")
    if len(options.probe) > 1 and len(options.probe) != len(options.robots):
        bad_usage(f"--probe must be given once, or once per robot ({len(options.robots)}), got {len(options.probe)}")
    if len(set(options.probe)) < len(options.probe):
        bad_usage("--probe must not be repeated with the same selector")


def check_keys(options: argparse.Namespace) -> None:
    """Checks the options about keys."""
    if options.image:
        if options.key or options.unsealed or options.model:
            bad_usage("--image excludes --key, --unsealed and --model")
    elif bool(options.key) == options.unsealed:
        bad_usage("give either --key FILE, or --unsealed for robots that accept every frame")
    if options.key:
        check_key(options.key)
        if bool(options.personal_keys) == options.no_key_rotation:
            bad_usage("give either --personal-keys FOLDER (from `host-sim key robots`), or --no-key-rotation")
    if options.peer_auth and not options.personal_keys:
        bad_usage("--peer-auth requires --personal-keys FOLDER")
    if options.personal_keys and not options.key and not options.image:
        bad_usage("--personal-keys requires --key")
    if not 0 <= options.epoch <= 255:
        bad_usage(f"--epoch must be between 0 and 255, got {options.epoch}")
    for address in options.robots if options.personal_keys else []:
        check_key(options.personal_keys / f"robot-{address}.key")


def write_files(board: Board, options: argparse.Namespace, name: str, segments: Segments) -> tuple[Path, Path]:
    """Writes the files of one board and prints how to flash them. Returns the HEX file and the file for a USB drive."""
    hex_file = options.out / f"{options.board}-{name.replace(' ', '-')}.hex"
    write_private(hex_file, intel_hex(segments).encode())
    drive_file = hex_file
    if board.uf2_family:
        drive_file = hex_file.with_suffix(".uf2")
        write_private(drive_file, uf2(segments, int(board.uf2_family, 16)))
    print(f"{name}: {drive_file}")
    if board.dfu and not options.flash:
        package = hex_file.with_suffix(".zip")
        arguments = f"--hw-version 52 --sd-req 0x00 --application {hex_file} --application-version 1 {package}"
        print(f"  nrfutil nrf5sdk-tools pkg generate {arguments}")
        print(f"  nrfutil nrf5sdk-tools dfu usb-serial -pkg {package} -p /dev/ttyACM0")
    return hex_file, drive_file


def make_gateway(board: Board, options: argparse.Namespace, image: Image) -> None:
    """Writes and flashes a gateway."""
    hex_file, drive_file = write_files(board, options, "gateway", image.segments)
    if options.flash:
        target = download(board, hex_file, options.probe[0] if options.probe else None, options.erase)
        probe_rs(["reset", *target])
        print("the gateway is flashed")
    elif options.drive:
        shutil.copyfile(drive_file, options.drive / drive_file.name)
        print("the gateway image is copied; the board restarts by itself")


def make_robots(board: Board, options: argparse.Namespace, image: Image) -> None:
    """Writes and flashes all robots."""
    page_address = image.symbols["_flash_ends"]
    if options.unsealed:
        print("WARNING: unsealed robots accept every frame")
    if len(options.robots) > MAX_ROBOTS:
        print(f"WARNING: one radio channel has slots for {MAX_ROBOTS} robots in range of each other, got {len(options.robots)}")
    one_at_a_time = len(options.robots) > 1 and len(options.probe) < 2
    for index, address in enumerate(options.robots):
        page = provisioning_page(address, options.swarm, personal_key_part(address, options))
        segments = [*image.segments, (page_address, page)]
        if options.buggy:
            segments.append((page_address + WHEELS_OFFSET, wheels_part(address, options)))
        hex_file, drive_file = write_files(board, options, f"robot {address}", segments)
        if one_at_a_time and (options.flash or options.drive):
            wait_for_board(address)
        if options.flash:
            probe = options.probe[index if len(options.probe) > 1 else 0] if options.probe else None
            flash(board, hex_file, page_address, address, page, probe, options.erase)
        elif options.drive:
            shutil.copyfile(drive_file, options.drive / drive_file.name)
            print(f"the image of robot {address} is copied; the board restarts by itself")


def main() -> int:
    """Builds the image, then writes and flashes it."""
    options = parse()
    board = BOARDS[options.board]
    image = load_image(board, options.image or build(board, options), options.gateway, options.buggy)
    options.out.mkdir(parents=True, exist_ok=True)
    if options.gateway:
        make_gateway(board, options, image)
    else:
        make_robots(board, options, image)
    return 0


if __name__ == "__main__":
    sys.exit(main())
