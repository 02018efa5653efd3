"""Tracks of robots: rejects false and swapped detections, and estimates velocities."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .geometry import Pose


@dataclass(frozen=True)
class Limits:
    """Motion that tracks accept. The defaults are those of a Maqueen buggy (top wheel speed 0.35 m/s, track 72 mm)."""

    #: Speed in m/s and turn rate in rad/s. Detections that need more are outliers.
    speed: float = 0.35
    turn: float = 9.7
    #: Acceleration in m/s² and rad/s² that the filter expects: half of the top speed within a motor's lag of 80 ms.
    acceleration: float = 2.0
    turn_acceleration: float = 25.0
    #: Error of a detection, in meters and radians: 0.1 pixels of a marker of 30 pixels, and 0.3°.
    position_error: float = 0.0005
    heading_error: float = 0.005
    #: Largest deviation of a marker's side, relative, and of its corners from a square, relative to the side.
    side_error: float = 0.15
    shape_error: float = 0.04
    #: Detections that agree with each other and not with the track, after which the robot is at the new place.
    moves_after: int = 3
    #: Seconds without a detection after which a track ends.
    timeout: float = 0.5


@dataclass
class Track:
    """Robot with a filtered pose. Angles are in radians; the heading is not wrapped."""

    marker: int
    time: float
    x: float
    y: float
    heading: float
    vx: float = 0.0
    vy: float = 0.0
    turn: float = 0.0
    #: Number of accepted detections. One is not enough to report a robot.
    detections: int = 1
    #: Successive outliers that agree with each other.
    outliers: list[tuple[float, Pose]] = field(default_factory=list)
    #: Last accepted detection.
    measured: Pose | None = None

    @property
    def is_confirmed(self) -> bool:
        return self.detections > 1

    @property
    def speed(self) -> float:
        return math.hypot(self.vx, self.vy)

    def at(self, time: float) -> tuple[float, float, float]:
        """Returns the extrapolated position and heading."""
        step = time - self.time
        return self.x + self.vx * step, self.y + self.vy * step, self.heading + self.turn * step

    def accept(self, time: float, pose: Pose, limits: Limits) -> None:
        """Corrects the track with a detection."""
        step = time - self.time
        x, y, heading = self.at(time)
        turned = wrapped(pose.heading - heading)
        self.time, self.detections, self.measured = time, self.detections + 1, pose
        self.outliers.clear()
        if step <= 0:
            return
        gain, rate = gains(limits.acceleration * step * step / limits.position_error)
        self.x, self.y = x + gain * (pose.x - x), y + gain * (pose.y - y)
        self.vx += rate / step * (pose.x - x)
        self.vy += rate / step * (pose.y - y)
        gain, rate = gains(limits.turn_acceleration * step * step / limits.heading_error)
        self.heading = heading + gain * turned
        self.turn += rate / step * turned


def gains(index: float) -> tuple[float, float]:
    """Returns the steady gains α and β of a Kalman filter for a tracking index (Kalata 1984)."""
    r = (4 + index - math.sqrt(8 * index + index * index)) / 4
    alpha = 1 - r * r
    return alpha, 2 * (2 - alpha) - 4 * r


def wrapped(angle: float) -> float:
    """Returns an angle between −π and π."""
    return math.remainder(angle, math.tau)


class Tracks:
    """Tracks of all robots."""

    def __init__(self, robots: Iterable[int], side: float, limits: Limits = Limits()) -> None:
        """`robots`: their markers. `side`: side of a marker in meters."""
        self.robots = frozenset(robots)
        self.side = side
        self.limits = limits
        self.tracks: dict[int, Track] = {}
        #: Number of rejected detections by reason: `unknown`, `shape`, `double`, `swapped`, `outlier`; and of robots that were `moved`.
        self.rejected: Counter[str] = Counter()

    def expected(self, time: float) -> dict[int, tuple[float, float]]:
        """Returns the expected positions by marker."""
        return {marker: track.at(time)[:2] for marker, track in self.tracks.items()}

    def update(self, time: float, seen: Iterable[tuple[int, Pose]]) -> dict[int, Track]:
        """Takes the detections of one image. Returns the robots whose detections were accepted."""
        updated = {}
        for marker, pose in self.plausible(time, seen).items():
            track = self.tracks.get(marker)
            if track is None:
                self.tracks[marker] = new(marker, time, pose)
            elif self.reaches(track, time, pose):
                track.accept(time, pose, self.limits)
            elif not self.has_moved(track, time, pose):
                continue
            if self.tracks[marker].is_confirmed:
                updated[marker] = self.tracks[marker]
        for marker, track in list(self.tracks.items()):
            if time - track.time > self.limits.timeout:
                del self.tracks[marker]
        return updated

    def plausible(self, time: float, seen: Iterable[tuple[int, Pose]]) -> dict[int, Pose]:
        """Returns at most one detection per robot: the one closest to its track."""
        chosen: dict[int, Pose] = {}
        for marker, pose in seen:
            if marker not in self.robots:
                self.rejected["unknown"] += 1
            elif abs(pose.side / self.side - 1) > self.limits.side_error or pose.residual > self.limits.shape_error * self.side:
                self.rejected["shape"] += 1
            elif marker not in chosen:
                chosen[marker] = pose
            else:
                self.rejected["double"] += 1
                if self.distance(marker, time, pose) < self.distance(marker, time, chosen[marker]):
                    chosen[marker] = pose
        return chosen

    def distance(self, marker: int, time: float, pose: Pose) -> float:
        """Returns the distance of a detection from a track; infinity without a track."""
        if marker not in self.tracks:
            return math.inf
        x, y, _ = self.tracks[marker].at(time)
        return math.hypot(pose.x - x, pose.y - y)

    def reaches(self, track: Track, time: float, pose: Pose) -> bool:
        """Returns whether a robot can have moved to a detection since its last one."""
        step = max(time - track.time, 0.0)
        margin = 6 * self.limits.position_error + 0.1 * self.side
        if math.hypot(pose.x - track.x, pose.y - track.y) > self.limits.speed * step + margin:
            return False
        return abs(wrapped(pose.heading - track.heading)) < self.limits.turn * step + 20 * self.limits.heading_error

    def has_moved(self, track: Track, time: float, pose: Pose) -> bool:
        """Counts an outlier. Returns whether the robot is at a new place, where a new track starts."""
        outliers = track.outliers
        if outliers and not self.reaches(new(track.marker, *outliers[-1]), time, pose):
            outliers.clear()
        outliers.append((time, pose))
        is_other = any(
            other is not track and other.is_confirmed and math.dist(other.at(time)[:2], (pose.x, pose.y)) < 0.5 * self.side
            for other in self.tracks.values()
        )
        if len(outliers) < self.limits.moves_after:
            self.rejected["swapped" if is_other else "outlier"] += 1
            return False
        self.rejected["moved"] += 1
        self.tracks[track.marker] = new(track.marker, time, pose)
        self.tracks[track.marker].detections = len(outliers)
        return True


def new(marker: int, time: float, pose: Pose) -> Track:
    """Returns a track that starts with a detection."""
    return Track(marker, time, pose.x, pose.y, pose.heading, measured=pose)


def links(tracks: Mapping[int, Track], radius: float) -> list[tuple[int, int]]:
    """Returns the pairs of robots within a radius."""
    ordered = sorted(tracks.values(), key=lambda track: track.marker)
    return [
        (one.marker, other.marker)
        for index, one in enumerate(ordered)
        for other in ordered[index + 1 :]
        if math.hypot(one.x - other.x, one.y - other.y) <= radius
    ]
