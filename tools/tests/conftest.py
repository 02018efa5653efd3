"""Rendered images, from the example `render` of `wdgnn-camera`."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from tracking.geometry import Calibration, Floor, Lens, Shape  # noqa: E402

SIZE = (1280, 720)
COLUMNS = ("time_ms", "marker", "x_mm", "y_mm", "heading_deg", "vx_mm_s", "vy_mm_s", "turn_deg_s")


def render_command() -> list[str]:
    """Returns the command of the renderer."""
    program = os.environ.get("RENDER")
    if program:
        return [program]
    return ["cargo", "run", "--quiet", "--manifest-path", str(ROOT / "Cargo.toml"), "-p", "wdgnn-camera", "--example", "render", "--"]


class Scene:
    """Camera and arena of rendered images."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def render(self, kind: str, columns: tuple[str, ...], rows: list[tuple[float, ...]], *options: str) -> Path:
        """Renders the rows of a table of poses. Returns the folder of images."""
        self.count += 1
        table, images = self.folder / f"{self.count}.csv", self.folder / f"images{self.count}"
        with open(table, "w", newline="") as file:
            csv.writer(file).writerows([columns, *rows])
        subprocess.run([*render_command(), kind, str(table), "--folder", str(images), *options], check=True, timeout=120)
        return images

    def robots(self, rows: list[tuple[float, ...]], *options: str) -> Path:
        """Renders robots."""
        return self.render("robots", COLUMNS[: len(rows[0])], rows, *options)

    def board(self, views: list[tuple[float, ...]], *options: str) -> Path:
        """Renders the board."""
        return self.render("board", ("x_mm", "y_mm", "z_mm", "rx", "ry", "rz"), views, *options)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Renderer in a temporary folder."""
    return Scene(tmp_path)


def true_calibration(
    position: tuple[float, float, float],
    target: tuple[float, float, float] = (0.0, 0.0, 0.0),
    focal: float = 900.0,
    distortion: tuple[float, ...] = (0.0,) * 5,
    side: float = 80.0,
) -> Calibration:
    """Returns the calibration of a rendered camera, with lengths in millimeters as for `render`."""
    at, towards = np.array(position) / 1e3, np.array(target) / 1e3
    forward = (towards - at) / np.linalg.norm(towards - at)
    right = np.cross(forward, [0.0, 1.0, 0.0])
    right /= np.linalg.norm(right)
    rotation = np.array([right, np.cross(forward, right), forward])
    matrix = [[focal, 0.0, (SIZE[0] - 1) / 2], [0.0, focal, (SIZE[1] - 1) / 2], [0.0, 0.0, 1.0]]
    floor = Floor(rotation.tolist(), (-rotation @ at).tolist())
    return Calibration(Lens(SIZE, matrix, list(distortion)), floor, Shape(side / 1e3, 0.07))


def images(folder: Path) -> list[np.ndarray]:
    """Returns the images of a folder."""
    found = [cv2.imread(str(file), cv2.IMREAD_GRAYSCALE) for file in sorted(folder.iterdir())]
    assert found and all(image is not None for image in found)
    return found
