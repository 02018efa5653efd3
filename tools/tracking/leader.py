"""Virtual leader: a point that robots follow, dragged with the mouse or read from a file."""

from __future__ import annotations

import csv
from dataclasses import dataclass

import numpy as np

from . import UsageError

#: Time in seconds over which the velocity of the mouse is averaged.
SMOOTHING = 0.2
#: Speed limit in m/s, so that a jump of the mouse stays a motion that buggies can follow.
MAX_SPEED = 0.25


@dataclass
class Leader:
    """Position in meters and velocity in m/s."""

    x: float
    y: float
    vx: float = 0.0
    vy: float = 0.0


class MouseLeader:
    """Leader that follows the mouse while the left button is down, and stands otherwise. The right button removes it."""

    def __init__(self) -> None:
        self.leader: Leader | None = None
        self.target: np.ndarray | None = None
        self.last: float | None = None

    def press(self, point: np.ndarray) -> None:
        """Starts a drag at a point of the arena."""
        self.target = np.array(point, dtype=float)
        if self.leader is None:
            self.leader = Leader(*self.target)

    def move(self, point: np.ndarray) -> None:
        """Drags to a point of the arena."""
        if self.target is not None:
            self.target = np.array(point, dtype=float)

    def release(self) -> None:
        """Ends a drag."""
        self.target = None

    def remove(self) -> None:
        """Removes the leader."""
        self.leader = self.target = None

    def at(self, time: float) -> Leader | None:
        """Returns the leader at a time, which must not decrease."""
        step = 0.0 if self.last is None else time - self.last
        self.last = time
        if self.leader is None or step <= 0:
            return self.leader
        here = np.array([self.leader.x, self.leader.y])
        wanted = np.zeros(2) if self.target is None else (self.target - here) / SMOOTHING
        speed = float(np.linalg.norm(wanted))
        velocity = wanted * min(1.0, MAX_SPEED / speed) if speed > 0 else wanted
        self.leader = Leader(*(here + velocity * step), *velocity)
        return self.leader


class PathLeader:
    """Leader on a path of points with times; in between, it moves straight."""

    def __init__(self, path: str) -> None:
        """`path`: CSV file with the columns time_ms, x_mm and y_mm."""
        try:
            with open(path, encoding="utf-8", newline="") as file:
                rows = [[float(row[name]) for name in ("time_ms", "x_mm", "y_mm")] for row in csv.DictReader(file)]
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from error
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"{path} must have numbers in the columns time_ms, x_mm and y_mm") from error
        if len(rows) < 2 or any(after[0] <= before[0] for before, after in zip(rows, rows[1:])):
            raise UsageError(f"{path} must have at least two rows with increasing time_ms")
        self.points = np.array(rows) / 1e3

    def at(self, time: float) -> Leader | None:
        """Returns the leader at a time; None outside the path."""
        times = self.points[:, 0]
        if not times[0] <= time < times[-1]:
            return None
        index = int(np.searchsorted(times, time, side="right")) - 1
        start, end = self.points[index], self.points[index + 1]
        velocity = (end[1:] - start[1:]) / (end[0] - start[0])
        return Leader(*(start[1:] + velocity * (time - start[0])), *velocity)
