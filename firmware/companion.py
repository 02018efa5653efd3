#!/usr/bin/env python3
"""Companion for up to ten robots: simulates their bodies and sends them their poses.

    firmware/companion.py --port /dev/ttyACM0 --port /dev/ttyACM1

Robots are point masses that start at rest on a ring. After some seconds (--kick, or the key k and Enter) each robot gets a random
velocity, and the robots flock. The robots' commands set the time: each carries its tick, and a body moves by 10 ms per tick, also if
this program is late.

Requires Python 3. Uses pyserial if it is installed; Windows requires it.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import random
import select
import sys
import time
from dataclasses import dataclass, field
from typing import Iterator, TextIO

from companion_link import Command, Port, Status, key_frames, key_message, open_port, pose_message, read_message

TICK = 0.01
MAX_ROBOTS = 10
KEY_PERIOD = 0.1  # seconds between two key updates
KICK_TICKS = 70  # duration of a kick; robots reject neighbors whose velocity jumps within a tick
BRAKE = 10.0  # deceleration of a stopping robot in m/s²
MAX_GAP = 5  # a longer gap between ticks means that the robot restarted or joined the swarm's clock
SILENCE = 0.05  # seconds without a command after which a robot gets a pose anyway
VERDICTS = ["clear", "limited", "not finite", "alone, holding", "alone, slowing", "alone, stopping", "blind", "failsafe, slowing", "failsafe, stopping"]


@dataclass
class Robot:
    """A robot with its simulated body and its last messages."""

    port: Port
    position: list[float]
    velocity: list[float] = field(default_factory=lambda: [0.0, 0.0])
    acceleration: list[float] = field(default_factory=lambda: [0.0, 0.0])
    kick: list[float] | None = None
    kick_ticks_left: int = 0
    braking: bool = False
    buffer: bytes = b""
    pose_number: int = 0
    ticks: int = 0
    last_tick: int | None = None
    status: Status | None = None
    restarts: int = 0
    damaged: int = 0
    last_pose: float = 0.0

    def messages(self) -> Iterator[Command | Status]:
        """Returns the messages that arrived since the last call."""
        *frames, self.buffer = (self.buffer + self.port.read()).split(b"\0")
        self.buffer = self.buffer[-64:]
        for frame in filter(None, frames):
            message = read_message(frame)
            if message is None:
                self.damaged += 1
            else:
                yield message

    def send_pose(self, now: float) -> None:
        """Sends the robot its pose."""
        self.port.write(pose_message(self.position, self.velocity, self.pose_number))
        self.pose_number += 1
        self.last_pose = now

    def execute(self, command: Command) -> None:
        """Moves the body up to the command's tick, then applies the command."""
        elapsed = 1 if self.last_tick is None else command.tick - self.last_tick
        if elapsed < -MAX_GAP:
            self.restarts += 1
        self.last_tick = command.tick
        for _ in range(elapsed if 0 < elapsed <= MAX_GAP else 1):
            self.move()
        self.braking = command.stop
        self.acceleration = [number if math.isfinite(number) else 0.0 for number in command.acceleration]

    def move(self) -> None:
        """Moves the body by one tick."""
        acceleration = self.acceleration
        if self.kick_ticks_left and self.kick:
            acceleration = [speed / (KICK_TICKS * TICK) for speed in self.kick]
            self.kick_ticks_left -= 1
        elif self.braking:
            limit = BRAKE * TICK
            acceleration = [-max(-limit, min(limit, speed)) / TICK for speed in self.velocity]
        for axis in (0, 1):
            self.position[axis] += TICK * self.velocity[axis] + 0.5 * TICK * TICK * acceleration[axis]
            self.velocity[axis] += TICK * acceleration[axis]
        self.ticks += 1

    def summary(self) -> str:
        """Returns the status as text."""
        if self.status is None:
            return "no status"
        status = self.status
        verdict = VERDICTS[status.verdict] if status.verdict < len(VERDICTS) else f"verdict {status.verdict}"
        restarts = f", {self.restarts} restarts" if self.restarts else ""
        key = f", key {status.epoch}" if status.epoch else ""
        return f"tick {status.tick}, neighbors {status.neighbors}, synchronized {status.synchronized}, {verdict}{key}{restarts}"


class World:
    """All robots."""

    def __init__(self, ports: list[Port], ring: float, speed: float, seed: int | None) -> None:
        angle = 2 * math.pi / len(ports)
        positions = [[ring * math.cos(angle * index), ring * math.sin(angle * index)] for index in range(len(ports))]
        self.robots = [Robot(port, position) for port, position in zip(ports, positions)]
        self.speed = speed
        self.random = random.Random(seed)

    def time(self) -> float:
        """Returns the simulated time in seconds."""
        return TICK * max(robot.ticks for robot in self.robots)

    def variation(self) -> float:
        """Returns the mean squared deviation from the mean velocity in m²/s²."""
        count = len(self.robots)
        mean = [sum(robot.velocity[axis] for robot in self.robots) / count for axis in (0, 1)]
        return sum((robot.velocity[axis] - mean[axis]) ** 2 for robot in self.robots for axis in (0, 1)) / count

    def kick(self) -> None:
        """Accelerates each robot to a random velocity."""
        for robot in self.robots:
            wanted = [self.random.uniform(-self.speed, self.speed) for _ in (0, 1)]
            robot.kick = [wanted[axis] - robot.velocity[axis] for axis in (0, 1)]
            robot.kick_ticks_left = KICK_TICKS

    def serve(self, timeout: float) -> None:
        """Waits for messages, at most `timeout` seconds, and answers commands with poses."""
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
                    robot.execute(message)
                    commands += 1
            if commands or now - robot.last_pose > SILENCE:
                robot.send_pose(now)

    def summary(self) -> str:
        """Returns the status of all robots in one line."""
        robots = "".join(f" | {index}: {robot.summary()}" for index, robot in enumerate(self.robots))
        return f"{self.time():7.2f} s  variation {self.variation():.4f} m²/s²{robots}"

    def picture(self, width: int = 64, height: int = 24) -> str:
        """Returns a top view of the robots, drawn as their numbers."""
        center = [sum(robot.position[axis] for robot in self.robots) / len(self.robots) for axis in (0, 1)]
        radius = max(max(abs(robot.position[axis] - center[axis]) for axis in (0, 1)) for robot in self.robots)
        scale = 1.2 * max(radius, 0.5)
        rows = [[" "] * width for _ in range(height)]
        for index, robot in enumerate(self.robots):
            x, y = ((robot.position[axis] - center[axis]) / scale for axis in (0, 1))
            rows[int((1 - y) / 2 * (height - 1))][int((1 + x) / 2 * (width - 1))] = str(index)
        return "\x1b[H\x1b[2J" + "\n".join("".join(row) for row in rows) + f"\n{2 * scale:.1f} m across\n"


def run(world: World, options: argparse.Namespace, table: TextIO | None) -> None:
    """Runs until the end of --seconds."""
    writer = csv.writer(table) if table else None
    if writer:
        writer.writerow(["seconds", "robot", "x", "y", "vx", "vy", "tick", "neighbors", "synchronized", "verdict"])
    kick = options.kick if options.kick >= 0 else math.inf
    reported, drawn, printed, key_updates = 0.0, 0.0, time.monotonic(), 0
    keyboard = sys.stdin if sys.stdin and sys.stdin.isatty() and os.name == "posix" else None
    while not options.seconds or world.time() < options.seconds:
        world.serve(0.01)
        now = world.time()
        if options.rekey and now >= key_updates * KEY_PERIOD:
            # One robot is enough: the swarm relays key updates.
            world.robots[0].port.write(key_message(options.rekey[key_updates % len(options.rekey)]))
            key_updates += 1
        if now >= kick:
            kick = math.inf
            world.kick()
            print(f"{now:7.2f} s  kick, up to {options.speed} m/s per axis", flush=True)
        if keyboard and select.select([keyboard], [], [], 0)[0] and keyboard.readline().strip() == "k":
            kick = now
        if options.draw and now - drawn >= 0.1:
            drawn = now
            print(world.picture() + world.summary().replace(" | ", "\n"), flush=True)
        if now - reported < 1.0 and time.monotonic() - printed < 3.0:
            continue
        reported, printed = float(int(now)), time.monotonic()
        if not options.draw:
            print(world.summary(), flush=True)
        for index, robot in enumerate(world.robots if writer else []):
            status = robot.status or Status(0, 0, 0, 0, 0)
            verdict = VERDICTS[status.verdict] if status.verdict < len(VERDICTS) else status.verdict
            numbers = [f"{number:.4f}" for number in (now, *robot.position, *robot.velocity)]
            assert writer
            writer.writerow([numbers[0], index, *numbers[1:], status.tick, status.neighbors, status.synchronized, verdict])


def parse() -> argparse.Namespace:
    """Parses and checks the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", action="append", required=True, metavar="PATH", help="serial port of a robot; once per robot")
    parser.add_argument("--speed", type=float, default=2.0, metavar="M/S", help="maximum kick velocity per axis [default: 2]")
    parser.add_argument("--ring", type=float, default=1.5, metavar="METERS", help="radius of the start ring [default: 1.5]")
    parser.add_argument("--kick", type=float, default=3.0, metavar="SECONDS", help="time of the kick; negative: only by key [default: 3]")
    parser.add_argument("--seconds", type=float, default=0.0, help="duration; 0: until Ctrl-C [default: 0]")
    parser.add_argument("--seed", type=int, help="seed of the kick velocities [default: random]")
    parser.add_argument("--rekey", metavar="FILE", help="rotate the group key with the frames of `host-sim key rekey`, sent repeatedly to "
                        "the first robot")
    parser.add_argument("--csv", metavar="FILE", help="write positions and status once per second")
    parser.add_argument("--draw", action="store_true", help="draw the robots in the terminal")
    options = parser.parse_args()
    if len(options.port) > MAX_ROBOTS:
        parser.error(f"--port must be given at most {MAX_ROBOTS} times, got {len(options.port)}")
    if len(set(options.port)) < len(options.port):
        parser.error("--port must not be repeated with the same path")
    if options.rekey:
        try:
            options.rekey = key_frames(options.rekey)
        except (OSError, ValueError) as error:
            parser.error(f"--rekey {options.rekey}: {error}")
    return options


def main() -> int:
    """Runs the companion."""
    options = parse()
    ports = []
    for path in options.port:
        try:
            ports.append(open_port(path))
        except (OSError, ImportError) as error:
            sys.exit(f"companion.py: cannot open {path}: {error}")
    world = World(ports, options.ring, options.speed, options.seed)
    print(f"{len(world.robots)} robots on a ring of {options.ring} m", flush=True)
    try:
        if options.csv:
            with open(options.csv, "w", newline="", encoding="utf-8") as table:
                run(world, options, table)
        else:
            run(world, options, None)
    except KeyboardInterrupt:
        print()
    silent = [path for path, robot in zip(options.port, world.robots) if robot.status is None]
    for path in silent:
        print(f"companion.py: no status from the robot at {path}", file=sys.stderr)
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
