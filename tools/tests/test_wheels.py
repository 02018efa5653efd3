"""Calibration of wheels from a log."""

from __future__ import annotations

import csv
import json
import math
import random
from pathlib import Path

import pytest
import tracker

from tracking.recording import COLUMNS
from tracking.wheels import DRIVING, DUTIES, SPIN_DUTY, SPINNING, STEP

#: A robot that differs from the defaults.
TRACK, FULL, MIN, DEAD, GAINS = 0.08, 0.42, 0.05, 0.17, (0.93, 1.07)


def duties(time: float) -> tuple[float, float]:
    """Returns the duties of `wdgnn_drive::calibration`."""
    if not 0 <= time < len(DUTIES) * STEP:
        return (-SPIN_DUTY, SPIN_DUTY) if 0 <= time - len(DUTIES) * STEP < SPINNING else (0.0, 0.0)
    phase = time % STEP
    duty = DUTIES[int(time / STEP)] if phase % (STEP / 2) < DRIVING else 0.0
    return (duty, duty) if phase < STEP / 2 else (-duty, -duty)


def speed(duty: float, gain: float) -> float:
    share = (abs(duty) - DEAD) / (1 - DEAD)
    return math.copysign(gain * (MIN + share * (FULL - MIN)), duty) if share >= 0 else 0.0


def write_drive(path: Path) -> None:
    """Writes the log of a drive that starts after 3.3 s."""
    generator = random.Random(1)
    x, y, heading, left, right = 0.1, 0.2, 3.0, 0.0, 0.0
    rows = []
    for step in range(3100):
        time = step / 100
        wanted = [speed(duty, gain) for duty, gain in zip(duties(time - 3.3), GAINS)]
        left, right = left + 0.125 * (wanted[0] - left), right + 0.125 * (wanted[1] - right)
        heading += 0.01 * (right - left) / TRACK
        x, y = x + 0.005 * (left + right) * math.cos(heading), y + 0.005 * (left + right) * math.sin(heading)
        if step % 3 == 0:
            noise = [generator.gauss(0, 0.5) for _ in range(2)]
            angle = math.remainder(heading + generator.gauss(0, 0.004), math.tau)
            rows.append((1e3 * time, 4, 1e3 * x + noise[0], 1e3 * y + noise[1], math.degrees(angle), 0, 0, 0))
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])


def test_a_drive_gives_the_wheels(tmp_path: Path) -> None:
    log, output = tmp_path / "drive.csv", tmp_path / "wheels.json"
    write_drive(log)
    output.write_text('{"0": {"dead_zone": 0.3}}')
    assert tracker.main(["wheels", str(log), "--output", str(output)]) == 0
    found = json.loads(output.read_text())
    wheels = found["4"]
    assert found["0"] == {"dead_zone": 0.3}
    assert abs(wheels["track_mm"] - 80) < 2.5 and abs(wheels["full_speed_mm_s"] - 420) < 15
    assert abs(wheels["dead_zone"] - DEAD) <= 0.026 and abs(wheels["min_speed_mm_s"] - 50) < 15
    assert all(abs(gain - true) < 0.012 for gain, true in zip(wheels["gain"], GAINS))


def test_logs_without_a_drive_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "drive.csv"
    with open(log, "w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *((33.0 * i, 0, 0, 0, 0, 0, 0, 0) for i in range(900))])
    assert tracker.main(["wheels", str(log), "--output", str(tmp_path / "wheels.json")]) == 2
    assert capsys.readouterr().err == "tracker.py: the log has no calibration drive\n"
