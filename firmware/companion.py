#!/usr/bin/env python3
"""One PC as the companion of up to ten robots: it tells each where it is, and moves it as the robot commands.

    firmware/companion.py --port /dev/ttyACM0 --port /dev/ttyACM1

Robots are point masses here, which start on a ring, at rest, and are thrown at random after a while (--kick, or the key k and Enter):
flocking is what they do from there on. The messages are those of protocol/src/companion.rs. The world's clock is the robots' own:
every command tells its tick, and a body moves by 10 ms per tick, however late this program is.

Needs nothing but Python 3; takes pyserial where it is installed (needed on Windows).
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import random
import select
import struct
import sys
import time
import zlib
from dataclasses import dataclass, field
from typing import Iterator, Protocol, TextIO

try:
    import serial  # type: ignore[import-not-found,import-untyped]
except ImportError:
    serial = None

BAUD = 460_800
TICK = 0.01
POSE, COMMAND, STATUS, KEY = 1, 2, 3, 4
MOST_ROBOTS = 10
KEY_SECONDS = 0.1  # from one frame with a key to the next
THROW_TICKS = 70  # a throw takes so long: robots do not believe that another became fast from one tick to the next
BRAKE = 10.0  # m/s²: how a robot comes to rest by its own means
MOST_TICKS = 5  # a gap in the ticks that is longer is no flight: the robot was restarted, or has joined the swarm's time
SILENT = 0.05  # a robot that says nothing for so long (seconds) is told its pose all the same
VERDICTS = ["clear", "limited", "no number", "alone, holding", "alone, slowing", "alone, stopping", "blind", "failsafe, slowing", "failsafe, stopping"]


def cobs_encode(plain: bytes) -> bytes:
    """Consistent overhead byte stuffing, with the zero that ends a frame. For less than 254 bytes."""
    return b"".join(bytes([len(piece) + 1]) + piece for piece in plain.split(b"\0")) + b"\0"


def cobs_decode(frame: bytes) -> bytes | None:
    """A frame without its zero."""
    pieces = []
    while frame:
        length = frame[0]
        if length == 0 or length > len(frame):
            return None
        pieces.append(frame[1:length])
        frame = frame[length:]
    return b"\0".join(pieces)


def pose_message(position: list[float], velocity: list[float], number: int) -> bytes:
    """What a companion says."""
    plain = struct.pack("<B4fHH", POSE, *position, *velocity, number & 0xFFFF, 0)
    return cobs_encode(plain + struct.pack("<I", zlib.crc32(plain)))


def key_message(frame: bytes) -> bytes:
    """What a companion hands over from the operator: a frame that brings the swarm's next key."""
    plain = bytes([KEY]) + frame
    return cobs_encode(plain + struct.pack("<I", zlib.crc32(plain)))


def key_frames(path: str) -> list[bytes]:
    """The frames that `host-sim key rekey` wrote, a line each."""
    with open(path, encoding="ascii") as file:
        frames = [bytes.fromhex(line) for line in file.read().split()]
    if not frames or any(len(frame) != 40 or frame[0] != 0xF1 for frame in frames):
        raise ValueError("it has no frames for this radio: make them with `host-sim key rekey --profile dot154`")
    return frames


@dataclass
class Command:
    """What a robot wants to be done."""

    acceleration: list[float]
    tick: int
    stop: bool


@dataclass
class Status:
    """How a robot was in a tick."""

    tick: int
    neighbours: int
    company: int
    verdict: int
    epoch: int


def read_message(frame: bytes) -> Command | Status | None:
    """Whatever a robot says; None for what is damaged or unknown."""
    content = cobs_decode(frame)
    if content is None or len(content) < 5 or zlib.crc32(content[:-4]) != struct.unpack("<I", content[-4:])[0]:
        return None
    plain = content[:-4]
    if plain[0] == COMMAND and len(plain) == 14:
        ax, ay, tick, stop = struct.unpack("<2fIB", plain[1:])
        return Command([ax, ay], tick, stop != 0)
    if plain[0] == STATUS and len(plain) == 15:
        tick, _pose, _heard, _refused, neighbours, company, verdict, _sensed, _turn, epoch = struct.unpack("<IH8B", plain[1:])
        return Status(tick, neighbours, company, verdict, epoch)
    return None


class Port(Protocol):
    """A serial line that never waits."""

    def read(self) -> bytes: ...

    def write(self, message: bytes) -> None: ...

    def fileno(self) -> int | None: ...


class Terminal:
    """A serial line by the operating system's own means."""

    def __init__(self, path: str) -> None:
        import termios
        import tty

        self.file = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self.file)
        settings = termios.tcgetattr(self.file)
        settings[4] = settings[5] = getattr(termios, "B460800")
        termios.tcsetattr(self.file, termios.TCSANOW, settings)
        termios.tcflush(self.file, termios.TCIOFLUSH)

    def read(self) -> bytes:
        try:
            return os.read(self.file, 4096)
        except BlockingIOError:
            return b""

    def write(self, message: bytes) -> None:
        try:
            os.write(self.file, message)
        except BlockingIOError:
            pass  # a line that nobody reads: the next pose is newer

    def fileno(self) -> int | None:
        return self.file


class PySerial:
    """A serial line by pyserial."""

    def __init__(self, path: str) -> None:
        self.line = serial.Serial(path, BAUD, timeout=0, write_timeout=0)
        self.line.reset_input_buffer()

    def read(self) -> bytes:
        return self.line.read(4096)

    def write(self, message: bytes) -> None:
        try:
            self.line.write(message)
        except serial.SerialTimeoutException:
            pass

    def fileno(self) -> int | None:
        return self.line.fileno() if hasattr(self.line, "fileno") else None


@dataclass
class Robot:
    """A robot, its body, and what it said last."""

    port: Port
    position: list[float]
    velocity: list[float] = field(default_factory=lambda: [0.0, 0.0])
    acceleration: list[float] = field(default_factory=lambda: [0.0, 0.0])
    thrown: list[float] | None = None
    throw_left: int = 0
    braking: bool = False
    buffer: bytes = b""
    number: int = 0
    ticks: int = 0
    last_tick: int | None = None
    status: Status | None = None
    restarts: int = 0
    damaged: int = 0
    spoken: float = 0.0

    def messages(self) -> Iterator[Command | Status]:
        """What has come since this was last asked."""
        *frames, self.buffer = (self.buffer + self.port.read()).split(b"\0")
        self.buffer = self.buffer[-64:]
        for frame in filter(None, frames):
            message = read_message(frame)
            if message is None:
                self.damaged += 1
            else:
                yield message

    def tell(self, now: float) -> None:
        """Tells the robot where it is."""
        self.port.write(pose_message(self.position, self.velocity, self.number))
        self.number += 1
        self.spoken = now

    def obey(self, command: Command) -> None:
        """Moves the body up to this tick, and from there on as it is commanded."""
        passed = 1 if self.last_tick is None else command.tick - self.last_tick
        if passed < -MOST_TICKS:
            self.restarts += 1
        self.last_tick = command.tick
        for _ in range(passed if 0 < passed <= MOST_TICKS else 1):
            self.move()
        self.braking = command.stop
        self.acceleration = [number if math.isfinite(number) else 0.0 for number in command.acceleration]

    def move(self) -> None:
        """Moves the body by a tick."""
        acceleration = self.acceleration
        if self.throw_left and self.thrown:
            acceleration = [speed / (THROW_TICKS * TICK) for speed in self.thrown]
            self.throw_left -= 1
        elif self.braking:
            most = BRAKE * TICK
            acceleration = [-max(-most, min(most, speed)) / TICK for speed in self.velocity]
        for axis in (0, 1):
            self.position[axis] += TICK * self.velocity[axis] + 0.5 * TICK * TICK * acceleration[axis]
            self.velocity[axis] += TICK * acceleration[axis]
        self.ticks += 1

    def words(self) -> str:
        """How it is."""
        if self.status is None:
            return "says nothing"
        status = self.status
        verdict = VERDICTS[status.verdict] if status.verdict < len(VERDICTS) else f"verdict {status.verdict}"
        restarts = f", {self.restarts} restarts" if self.restarts else ""
        key = f", key {status.epoch}" if status.epoch else ""
        return f"tick {status.tick}, neighbours {status.neighbours}, company {status.company}, {verdict}{key}{restarts}"


class World:
    """All robots."""

    def __init__(self, ports: list[Port], ring: float, speed: float, seed: int | None) -> None:
        turn = 2 * math.pi / len(ports)
        places = [[ring * math.cos(turn * index), ring * math.sin(turn * index)] for index in range(len(ports))]
        self.robots = [Robot(port, place) for port, place in zip(ports, places)]
        self.speed = speed
        self.random = random.Random(seed)

    def time(self) -> float:
        """Seconds that the robots have lived through."""
        return TICK * max(robot.ticks for robot in self.robots)

    def variation(self) -> float:
        """The mean squared deviation from the mean velocity, in m²/s²."""
        count = len(self.robots)
        mean = [sum(robot.velocity[axis] for robot in self.robots) / count for axis in (0, 1)]
        return sum((robot.velocity[axis] - mean[axis]) ** 2 for robot in self.robots for axis in (0, 1)) / count

    def throw(self) -> None:
        """Everybody gets a velocity by chance, within the time of a throw."""
        for robot in self.robots:
            wanted = [self.random.uniform(-self.speed, self.speed) for _ in (0, 1)]
            robot.thrown = [wanted[axis] - robot.velocity[axis] for axis in (0, 1)]
            robot.throw_left = THROW_TICKS

    def serve(self, timeout: float) -> None:
        """Waits for robots to speak, for so long at most, and answers."""
        files = [robot.port.fileno() for robot in self.robots]
        if None in files:
            time.sleep(0.001)
        else:
            select.select(files, [], [], timeout)
        now = time.monotonic()
        for robot in self.robots:
            commands = 0
            for message in robot.messages():
                if isinstance(message, Status):
                    robot.status = message
                else:
                    robot.obey(message)
                    commands += 1
            if commands or now - robot.spoken > SILENT:
                robot.tell(now)

    def line(self) -> str:
        """How everybody is, in one line."""
        robots = "".join(f" | {index}: {robot.words()}" for index, robot in enumerate(self.robots))
        return f"{self.time():7.2f} s  variation {self.variation():.4f} m²/s²{robots}"

    def picture(self, width: int = 64, height: int = 24) -> str:
        """Everybody from above, by number."""
        middle = [sum(robot.position[axis] for robot in self.robots) / len(self.robots) for axis in (0, 1)]
        away = max(max(abs(robot.position[axis] - middle[axis]) for axis in (0, 1)) for robot in self.robots)
        scale = 1.2 * max(away, 0.5)
        rows = [[" "] * width for _ in range(height)]
        for index, robot in enumerate(self.robots):
            x, y = ((robot.position[axis] - middle[axis]) / scale for axis in (0, 1))
            rows[int((1 - y) / 2 * (height - 1))][int((1 + x) / 2 * (width - 1))] = str(index)
        return "\x1b[H\x1b[2J" + "\n".join("".join(row) for row in rows) + f"\n{2 * scale:.1f} m across\n"


def open_port(path: str) -> Port:
    """Opens a serial line, or ends the program with a sentence."""
    try:
        return PySerial(path) if serial else Terminal(path)
    except (OSError, ImportError) as error:
        sys.exit(f"companion.py: {path} cannot be opened: {error}")


def fly(world: World, options: argparse.Namespace, table: TextIO | None) -> None:
    """Until the time is over, or Ctrl-C."""
    writer = csv.writer(table) if table else None
    if writer:
        writer.writerow(["seconds", "robot", "x", "y", "vx", "vy", "tick", "neighbours", "company", "verdict"])
    kick = options.kick if options.kick >= 0 else math.inf
    reported, drawn, told, brought = 0.0, 0.0, time.monotonic(), 0
    keys = sys.stdin if sys.stdin and sys.stdin.isatty() and os.name == "posix" else None
    while not options.seconds or world.time() < options.seconds:
        world.serve(0.01)
        now = world.time()
        if options.rekey and now >= brought * KEY_SECONDS:
            # To one robot: the swarm hands it on.
            world.robots[0].port.write(key_message(options.rekey[brought % len(options.rekey)]))
            brought += 1
        if now >= kick:
            kick = math.inf
            world.throw()
            print(f"{now:7.2f} s  thrown, at up to {options.speed} m/s per axis", flush=True)
        if keys and select.select([keys], [], [], 0)[0] and keys.readline().strip() == "k":
            kick = now
        if options.draw and now - drawn >= 0.1:
            drawn = now
            print(world.picture() + world.line().replace(" | ", "\n"), flush=True)
        if now - reported < 1.0 and time.monotonic() - told < 3.0:
            continue
        reported, told = float(int(now)), time.monotonic()
        if not options.draw:
            print(world.line(), flush=True)
        for index, robot in enumerate(world.robots if writer else []):
            status = robot.status or Status(0, 0, 0, 0, 0)
            words = VERDICTS[status.verdict] if status.verdict < len(VERDICTS) else status.verdict
            numbers = [f"{number:.4f}" for number in (now, *robot.position, *robot.velocity)]
            assert writer
            writer.writerow([numbers[0], index, *numbers[1:], status.tick, status.neighbours, status.company, words])


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", action="append", required=True, metavar="PATH", help="a robot's serial line; once per robot")
    parser.add_argument("--speed", type=float, default=2.0, metavar="M/S", help="how fast robots are thrown, per axis at most")
    parser.add_argument("--ring", type=float, default=1.5, metavar="METRES", help="the ring that they start on")
    parser.add_argument("--radius", type=float, metavar="METRES", help="the radios' range, for the record: the air is the robots'")
    parser.add_argument("--kick", type=float, default=3.0, metavar="SECONDS", help="throw them after so long; negative: by key only")
    parser.add_argument("--seconds", type=float, default=0.0, help="end after so long; 0: with Ctrl-C")
    parser.add_argument("--seed", type=int, help="of the throw")
    parser.add_argument("--rekey", metavar="FILE", help="bring the swarm its next key: frames of `host-sim key rekey`, over and over, to the first robot")
    parser.add_argument("--csv", metavar="FILE", help="write where everybody is, once a second")
    parser.add_argument("--draw", action="store_true", help="draw the robots in the terminal")
    options = parser.parse_args()
    if len(options.port) > MOST_ROBOTS:
        parser.error(f"one air carries {MOST_ROBOTS} robots, not {len(options.port)}")
    if len(set(options.port)) < len(options.port):
        parser.error("a port was given twice")
    if options.rekey:
        try:
            options.rekey = key_frames(options.rekey)
        except (OSError, ValueError) as error:
            parser.error(f"--rekey {options.rekey}: {error}")
    world = World([open_port(path) for path in options.port], options.ring, options.speed, options.seed)
    reach = f", radios reach {options.radius} m" if options.radius else ""
    print(f"{len(world.robots)} robots on a ring of {options.ring} m{reach}", flush=True)
    try:
        if options.csv:
            with open(options.csv, "w", newline="", encoding="utf-8") as table:
                fly(world, options, table)
        else:
            fly(world, options, None)
    except KeyboardInterrupt:
        print()
    silent = [path for path, robot in zip(options.port, world.robots) if robot.status is None]
    for path in silent:
        print(f"companion.py: the robot at {path} said nothing", file=sys.stderr)
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
