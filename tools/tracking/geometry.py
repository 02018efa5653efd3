"""Camera and floor: from pixels to poses in the arena.

Arena coordinates are meters, x to the right and y up in the image of a camera that looks down, z up. A heading is in radians,
counter-clockwise from the x axis.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import cv2
import numpy as np

from . import UsageError

#: Corners of a marker relative to its side, as x + iy with x to its front: upper left, upper right, lower right, lower left.
CORNERS = np.array([0.5 + 0.5j, 0.5 - 0.5j, -0.5 - 0.5j, -0.5 + 0.5j])
#: A webcam's lens (k₁ = −0.3) needs 30 at its corners.
MAX_ITERATIONS = 60


@dataclass(frozen=True)
class Lens:
    """Camera matrix and distortion, as OpenCV defines them."""

    #: Width and height of the images in pixels.
    size: tuple[int, int]
    matrix: list[list[float]]
    distortion: list[float]
    #: Root mean square error of the calibration in pixels, and its number of images.
    error_px: float = 0.0
    images: int = 0

    def rays(self, pixels: np.ndarray) -> np.ndarray:
        """Returns the directions (x, y, 1) of pixels as n × 2 numbers."""
        focal, center = np.diag(self.matrix)[:2], np.array(self.matrix)[:2, 2]
        k1, k2, p1, p2, k3 = self.distortion
        seen = (np.asarray(pixels, dtype=float).reshape(-1, 2) - center) / focal
        rays = seen
        # OpenCV's function stops after five iterations, which leaves 0.1 pixels at the corners of a webcam's image.
        for _ in range(MAX_ITERATIONS):
            x, y = rays.T
            square = x * x + y * y
            radial = 1 + square * (k1 + square * (k2 + square * k3))
            shift = np.column_stack([2 * p1 * x * y + p2 * (square + 2 * x * x), p1 * (square + 2 * y * y) + 2 * p2 * x * y])
            previous, rays = rays, (seen - shift) / radial[:, None]
            if np.abs(rays - previous).max(initial=0.0) < 1e-9:
                break
        return rays


@dataclass(frozen=True)
class Floor:
    """Pose of the arena in the camera's axes."""

    rotation: list[list[float]]
    translation: list[float]
    error_px: float = 0.0

    def homography(self, height: float) -> np.ndarray:
        """Returns the matrix from a plane at this height above the floor to directions."""
        rotation = np.array(self.rotation)
        return np.column_stack([rotation[:, 0], rotation[:, 1], height * rotation[:, 2] + self.translation])

    @property
    def camera(self) -> np.ndarray:
        """Position of the camera in the arena."""
        return -np.array(self.rotation).T @ np.array(self.translation)


@dataclass(frozen=True)
class Shape:
    """Markers on the robots, in meters."""

    side: float = 0.08
    height: float = 0.07


@dataclass(frozen=True)
class Pose:
    """Measured pose of a marker."""

    x: float
    y: float
    heading: float
    #: Measured side in meters.
    side: float
    #: Root mean square distance of the corners from those of a square, in meters.
    residual: float


@dataclass(frozen=True)
class Calibration:
    """Camera over an arena."""

    lens: Lens
    floor: Floor | None = None
    shape: Shape = Shape()

    def poses(self, corners: np.ndarray) -> list[Pose]:
        """Returns the poses of markers with these corners (n × 4 × 2 pixels)."""
        points = self.points(corners, self.shape.height).reshape(-1, 4, 2)
        planes = points[..., 0] + 1j * points[..., 1]
        found = []
        for plane in planes:
            middle = plane.mean()
            # Least squares of a scaled and turned square.
            turn = np.mean((plane - middle) * CORNERS.conj()) / np.mean(np.abs(CORNERS) ** 2)
            residual = np.sqrt(np.mean(np.abs(plane - middle - turn * CORNERS) ** 2))
            found.append(Pose(middle.real, middle.imag, float(np.angle(turn)), float(abs(turn)), float(residual)))
        return found

    def points(self, pixels: np.ndarray, height: float) -> np.ndarray:
        """Returns the points of the arena at this height that pixels show."""
        assert self.floor
        rays = self.lens.rays(pixels)
        plane = np.linalg.solve(self.floor.homography(height), np.column_stack([rays, np.ones(len(rays))]).T)
        return (plane[:2] / plane[2]).T

    def pixels(self, points: np.ndarray, height: float) -> np.ndarray:
        """Returns the pixels of points of the arena (n × 2 meters) at this height."""
        assert self.floor
        solid = np.column_stack([np.reshape(points, (-1, 2)), np.full(np.size(points) // 2, height)]).astype(float)
        turned, _ = cv2.Rodrigues(np.array(self.floor.rotation))
        projected, _ = cv2.projectPoints(
            solid, turned, np.array(self.floor.translation), np.array(self.lens.matrix), np.array(self.lens.distortion)
        )
        return projected.reshape(-1, 2)

    def footprints(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the pixels of markers at points of the arena (n × 2), and their mean sides in pixels."""
        half = 0.5 * self.shape.side
        around = np.array([[0, 0], [half, 0], [-half, 0], [0, half], [0, -half]])
        seen = self.pixels((np.reshape(points, (-1, 1, 2)) + around).reshape(-1, 2), self.shape.height).reshape(-1, 5, 2)
        sides = np.linalg.norm(seen[:, 1] - seen[:, 2], axis=1) + np.linalg.norm(seen[:, 3] - seen[:, 4], axis=1)
        return seen[:, 0], sides / 2

    def largest_side(self) -> float:
        """Returns the side of the largest marker that images can show, in pixels."""
        width, height = self.lens.size
        pixels = np.array([[x * (width - 1) / 2, y * (height - 1) / 2] for x in range(3) for y in range(3)])
        return float(self.footprints(self.points(pixels, self.shape.height))[1].max())

    def save(self, path: str) -> None:
        """Writes the calibration as JSON."""
        try:
            Path(path).write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error

    @classmethod
    def load(cls, path: str) -> Calibration:
        """Reads a calibration."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            lens = content["lens"]
            floor = Floor(**content["floor"]) if content.get("floor") else None
            return cls(Lens(**{**lens, "size": tuple(lens["size"])}), floor, Shape(**content["shape"]))
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path} is not a calibration: make one with `tracker.py calibrate lens`") from error
