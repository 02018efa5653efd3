"""Calibration from rendered images, compared with the camera that rendered them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import tracker
from conftest import SIZE, Scene, true_calibration

from tracking.geometry import Calibration, Floor, Lens, Shape

DISTORTION = (-0.28, 0.1, 0.001, -0.0008, 0.0)
CAMERA = ["--focal", "950", "--center", "650,348", "--distortion", ",".join(map(str, DISTORTION))]


def true_lens() -> Lens:
    return Lens(SIZE, [[950.0, 0.0, 650.0], [0.0, 950.0, 348.0], [0.0, 0.0, 1.0]], list(DISTORTION))


def board_views(count: int, seed: int) -> list[tuple[float, ...]]:
    """Returns views of a tilted board in all parts of the image."""
    random = np.random.default_rng(seed)
    views = []
    for index in range(count):
        distance = random.uniform(330, 620)
        x, y = (index % 4 - 1.5) / 1.5 * 0.42 * distance, (index // 4 % 3 - 1) * 0.16 * distance
        views.append((x, y, distance, *random.uniform(-0.55, 0.55, 3)))
    return views


def farthest(lens: Lens, other: Lens) -> float:
    """Returns the largest distance in pixels between what both lenses see in a direction, up to the image's edges."""
    pixels = np.array([[x, y] for x in np.linspace(0, SIZE[0] - 1, 17) for y in np.linspace(0, SIZE[1] - 1, 10)])
    difference = lens.rays(pixels) - other.rays(pixels)
    # A turned camera explains a constant offset; the floor's calibration absorbs it.
    return float(950 * np.linalg.norm(difference - np.mean(difference, axis=0), axis=1).max())


def run(*arguments: object) -> None:
    assert tracker.main([str(each) for each in arguments]) == 0


def test_board_images_recover_the_lens(scene: Scene, tmp_path: Path) -> None:
    folder = scene.board(board_views(24, 1), *CAMERA)
    run("calibrate", "lens", "--source", folder, "--views", 24, "--output", tmp_path / "camera.json")
    lens, true = Calibration.load(str(tmp_path / "camera.json")).lens, true_lens()
    print(np.array(lens.matrix), lens.distortion, lens.error_px, farthest(lens, true))
    assert lens.images >= 16
    assert lens.error_px < 0.2
    for index in (0, 1):
        assert abs(lens.matrix[index][index] / 950 - 1) < 0.003
    assert abs(lens.matrix[0][2] - 650) < 2.5 and abs(lens.matrix[1][2] - 348) < 2.5
    assert farthest(lens, true) < 1.0


POSITION, TARGET = (100.0, -900.0, 2300.0), (0.0, 0.0, 70.0)
PLACES = {45: (-1200, -640), 46: (1200, -640), 47: (1200, 640), 48: (-1200, 640)}
AIM = ["--position", "100,-900,2300", "--target", "0,0,70"]


@pytest.fixture
def lens_file(tmp_path: Path) -> Path:
    """Calibration with the true lens and without a floor."""
    file = tmp_path / "camera.json"
    Calibration(true_lens()).save(str(file))
    return file


def true_floor() -> Calibration:
    floor = true_calibration(POSITION, TARGET).floor
    return Calibration(true_lens(), floor, Shape())


def worst_point(found: Calibration, true: Calibration) -> float:
    """Returns the largest error in millimeters of poses in the arena."""
    points = np.array([[x, y] for x in np.linspace(-1.2, 1.2, 7) for y in np.linspace(-0.6, 0.6, 5)])
    back = found.points(true.pixels(points, 0.07), 0.07)
    return float(1e3 * np.linalg.norm(back - points, axis=1).max())


def test_reference_markers_on_the_floor_recover_the_plane_of_the_markers(scene: Scene, lens_file: Path) -> None:
    fixed = [part for marker, (x, y) in PLACES.items() for part in ("--fixed", f"{marker},{x},{y},0,80,{7 * marker}")]
    folder = scene.robots([(0.0, 1, 0.0, 0.0, 0.0)], *CAMERA, *AIM, *fixed)
    references = [part for marker, (x, y) in PLACES.items() for part in ("--reference", f"{marker},{x},{y}")]
    run("calibrate", "floor", lens_file, "--source", folder, *references)
    found = Calibration.load(str(lens_file))
    assert found.floor
    print(worst_point(found, true_floor()), found.floor.camera, found.floor.error_px)
    assert worst_point(found, true_floor()) < 1.0
    assert np.linalg.norm(1e3 * found.floor.camera - POSITION) < 5.0


def test_a_board_at_the_height_of_the_markers_recovers_their_plane(scene: Scene, lens_file: Path) -> None:
    true = true_floor()
    assert true.floor
    rotation = np.array(true.floor.rotation)
    views = []
    for x, y, angle in [(0, 0, 0), (1000, 400, 70), (-1000, 400, 10), (1000, -400, 200), (-1000, -400, -30), (0, 450, 120)]:
        place = rotation @ np.array([x, y, 70.0]) + 1e3 * np.array(true.floor.translation)
        cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        # The board's y axis points down and its z axis into the floor.
        axes = rotation @ np.array([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]]) @ np.diag([1.0, -1.0, -1.0])
        views.append((*place, *rotation_vector(axes)))
    # The true camera has the world's axes as its own: views are relative to the camera.
    folder = scene.board(views, *CAMERA, *AIM, "--square", "50")
    run("calibrate", "floor", lens_file, "--source", folder, "--height", 70, "--square", 50)
    found = Calibration.load(str(lens_file))
    print(worst_point(found, true))
    assert worst_point(found, true) < 2.0


def rotation_vector(matrix: np.ndarray) -> np.ndarray:
    import cv2

    return cv2.Rodrigues(matrix)[0].ravel()


def test_a_calibration_is_stored_without_loss(tmp_path: Path) -> None:
    floor = Floor([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]], [0.1, 0.2, 2.0], 0.3)
    calibration = Calibration(true_lens(), floor, Shape(0.06, 0.05))
    calibration.save(str(tmp_path / "camera.json"))
    assert Calibration.load(str(tmp_path / "camera.json")) == calibration


def test_calibrations_that_cannot_work_are_refused(scene: Scene, lens_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = scene.robots([(0.0, 1, 0.0, 0.0, 0.0)])

    def refusal(*arguments: object) -> str:
        assert tracker.main([str(each) for each in arguments]) == 2
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 1
        return lines[0]

    assert "needs 8 different views of the board, got 0" in refusal("calibrate", "lens", "--source", folder)
    assert "at least 4 times, got 1" in refusal("calibrate", "floor", lens_file, "--source", folder, "--reference", "45,0,0")
    references = [part for marker, (x, y) in PLACES.items() for part in ("--reference", f"{marker},{x},{y}")]
    assert "no image shows reference marker 45, 46, 47, 48" in refusal("calibrate", "floor", lens_file, "--source", folder, *references)
    assert "no image shows the board" in refusal("calibrate", "floor", lens_file, "--source", folder)
    assert "has no floor" in refusal("track", lens_file, "--source", folder)
