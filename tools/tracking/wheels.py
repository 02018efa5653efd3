"""Calibration of wheels from the log of a robot's calibration drive (`wdgnn_drive::calibration`)."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import UsageError

#: Steps of the drive: duties, seconds of driving and standing; then a spin.
DUTIES = [0.1 + 0.05 * step for step in range(9)]
DRIVING, STANDING = 0.8, 0.4
SPIN_DUTY, SPINNING = 0.4, 2.0
STEP = 2 * (DRIVING + STANDING)
#: Time in seconds at the start of a step in which the motors accelerate.
SETTLING = 0.4
#: Speed in m/s above which a robot moves.
MOVING = 0.02
#: Interval of the search for the start, in seconds.
SEARCH = 0.02


@dataclass(frozen=True)
class Motion:
    """Speeds of a robot between images."""

    times: np.ndarray
    forward: np.ndarray
    turn: np.ndarray

    def mean(self, start: float, end: float) -> tuple[float, float]:
        """Returns the mean speed and turn rate of a time."""
        within = (self.times >= start) & (self.times < end)
        if within.sum() < 3:
            raise UsageError("the log has too few images: the camera must see the robot during the whole drive")
        return float(self.forward[within].mean()), float(self.turn[within].mean())


def read(path: str) -> dict[int, np.ndarray]:
    """Returns the poses in a log of `tracker.py track --csv`: time, x, y and heading, by marker."""
    poses: dict[int, list[tuple[float, ...]]] = {}
    try:
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                pose = tuple(float(row[name]) for name in ("time_ms", "x_mm", "y_mm", "heading_deg"))
                poses.setdefault(int(row["marker"]), []).append(pose)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path} is not a log of `tracker.py track --csv`") from error
    scale = np.array([1e-3, 1e-3, 1e-3, np.pi / 180])
    return {marker: np.array(rows) * scale for marker, rows in poses.items()}


def motion(poses: np.ndarray) -> Motion:
    """Returns speeds from differences of poses."""
    times, x, y, heading = poses.T
    heading = np.unwrap(heading)
    steps = np.maximum(np.diff(times), 1e-3)
    middle = (heading[1:] + heading[:-1]) / 2
    forward = (np.diff(x) * np.cos(middle) + np.diff(y) * np.sin(middle)) / steps
    return Motion((times[1:] + times[:-1]) / 2, forward, np.diff(heading) / steps)


def start_of(drive: Motion) -> float:
    """Returns the start of the drive: the time at which the signs of its steps fit best."""
    best, found = 0.0, None
    for start in np.arange(drive.times[0] - STEP, drive.times[-1] - len(DUTIES) * STEP, SEARCH):
        since = drive.times - start
        within = (since >= 0) & (since < len(DUTIES) * STEP)
        phase = since % STEP
        signs = np.where(phase < DRIVING, 1.0, 0.0) - np.where((phase >= STEP / 2) & (phase < STEP / 2 + DRIVING), 1.0, 0.0)
        weights = np.where(within, 0.1 + 0.05 * np.floor(since / STEP), 0.0)
        fit = float(np.sum(signs * weights * drive.forward))
        if fit > best:
            best, found = fit, start
    if found is None:
        raise UsageError("the log has no calibration drive")
    return found


def fit(poses: np.ndarray) -> dict[str, object]:
    """Returns the wheels of a robot, as `firmware/provision.py --wheels` reads them."""
    drive = motion(poses)
    start = start_of(drive)
    rows = []
    for index, duty in enumerate(DUTIES):
        for sign, offset in ((1, 0.0), (-1, STEP / 2)):
            begin = start + index * STEP + offset
            forward, turn = drive.mean(begin + SETTLING, begin + DRIVING)
            rows.append((duty, sign * forward, sign * turn))
    duties, forward, turn = np.array(rows).T
    moves = forward > MOVING
    if moves.sum() < 6:
        raise UsageError("the robot hardly moved: check chassis and battery")
    spin = drive.mean(start + len(DUTIES) * STEP + SETTLING, start + len(DUTIES) * STEP + SPINNING)[1]
    slope, offset = np.polyfit(duties[moves], forward[moves], 1)
    # Duty at which wheels begin to move: between the last standing and the first moving step.
    first = float(duties[moves].min())
    standing = duties[~moves]
    dead_zone = (first + float(standing.max())) / 2 if len(standing) else first
    track = 2 * (slope * SPIN_DUTY + offset) / spin
    skew = float(np.polyfit(forward[moves], turn[moves] * track / 2, 1)[0])
    return {
        "track_mm": round(float(1e3 * track), 1),
        "full_speed_mm_s": round(1e3 * (slope + offset)),
        "min_speed_mm_s": max(1, round(1e3 * (slope * dead_zone + offset))),
        "dead_zone": round(dead_zone, 3),
        "gain": [round(1 - skew, 3), round(1 + skew, 3)],
    }


def calibrate(path: str, output: str) -> dict[str, object]:
    """Writes the wheels of all robots in a log, next to those that the file already has."""
    file = Path(output)
    try:
        found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        found |= {str(marker): fit(poses) for marker, poses in sorted(read(path).items()) if len(poses) > 100}
        if not found:
            raise UsageError(f"{path} has no robot")
        file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot update {output}: {error}") from error
    return found
