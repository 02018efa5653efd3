"""Errors and detection rates on rendered images, for which the true poses are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from conftest import Scene, images, true_calibration

from tracking.geometry import Calibration
from tracking.markers import Detector, Sighting

STRAIGHT = (0.0, 0.0, 2300.0)


def scattered(frames: int, speed: float, seed: int, spacing: tuple[float, float] = (420.0, 700.0)) -> list[tuple[float, ...]]:
    """Returns ten robots with random headings that drive, per frame."""
    random = np.random.default_rng(seed)
    rows = []
    for frame in range(frames):
        for marker in range(10):
            x, y = (marker % 5 - 2) * spacing[0] + random.uniform(-70, 70), (marker // 5 - 0.5) * spacing[1] + random.uniform(-70, 70)
            angle = random.uniform(-math.pi, math.pi)
            velocity = speed * math.cos(angle), speed * math.sin(angle)
            rows.append((1e3 * frame / 30, marker, x, y, math.degrees(angle), *velocity))
    return rows


class Result:
    """Comparison of detections with the truth."""

    def __init__(self, rows: list[tuple[float, ...]], found: list[list[Sighting]], calibration: Calibration) -> None:
        truth: dict[float, dict[int, tuple[float, ...]]] = {}
        for row in rows:
            truth.setdefault(row[0], {})[int(row[1])] = row
        self.robots = len(rows)
        self.false = 0
        centers, headings = [], []
        for robots, sightings in zip(truth.values(), found):
            for sighting, pose in zip(sightings, calibration.poses(np.array([each.corners for each in sightings]))):
                true = robots.get(sighting.marker)
                if true is None or math.hypot(pose.x - true[2] / 1e3, pose.y - true[3] / 1e3) > 0.03:
                    self.false += 1
                    continue
                centers.append(1e3 * math.hypot(pose.x - true[2] / 1e3, pose.y - true[3] / 1e3))
                headings.append(math.degrees(math.remainder(pose.heading - math.radians(true[4]), math.tau)))
        self.rate = len(centers) / self.robots
        #: Root mean square errors in millimeters and degrees.
        self.center = math.sqrt(np.mean(np.square(centers)))
        self.heading = math.sqrt(np.mean(np.square(headings)))
        self.worst_heading = float(np.abs(headings).max())


def search(scene: Scene, rows: list[tuple[float, ...]], calibration: Calibration, *options: str) -> Result:
    """Detects robots in rendered images, each image on its own."""
    detector = Detector(calibration.lens.size)
    found = [detector.search(image) for image in images(scene.robots(rows, *options))]
    return Result(rows, found, calibration)


def look(scene: Scene, rows: list[tuple[float, ...]], calibration: Calibration, *options: str) -> Result:
    """Detects robots in windows around expected positions, which are wrong by up to 10 mm."""
    detector = Detector(calibration.lens.size)
    random = np.random.default_rng(5)
    found = []
    for index, image in enumerate(images(scene.robots(rows, *options))):
        places = np.array([row[2:4] for row in rows[10 * index : 10 * index + 10]]) / 1e3
        centers, sides = calibration.footprints(places + random.uniform(-0.01, 0.01, places.shape))
        sightings = []
        for marker, (center, side) in enumerate(zip(centers, sides)):
            sightings += [each for each in detector.look(image, center, float(side)) if each.marker == marker]
        found.append(sightings)
    return Result(rows, found, calibration)


# Conditions and bounds: root mean square errors in mm and degrees, smallest detection rate.
CONDITIONS = {
    "plain": (["--floor", "carpet"], (0.1, 0.15, 0.99)),
    "tiles with shadows": (["--floor", "tiles", "--shadow", "0.6", "--light-gradient", "0.2,-0.1"], (0.1, 0.15, 0.99)),
    "dark planks": (["--floor", "planks", "--brightness", "0.2"], (0.12, 0.16, 0.99)),
    "overexposed": (["--floor", "carpet", "--brightness", "1.6"], (0.1, 0.16, 0.99)),
    "noisy": (["--floor", "carpet", "--noise", "8,6"], (0.14, 0.18, 0.99)),
    "out of focus": (["--floor", "carpet", "--blur", "1.5"], (0.6, 0.5, 0.75)),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_errors_stay_in_bounds_in_each_light(scene: Scene, name: str) -> None:
    options, (center, heading, rate) = CONDITIONS[name]
    calibration = true_calibration(STRAIGHT)
    result = look(scene, scattered(6, 200.0, 1), calibration, "--position", "0,0,2300", "--exposure", "8", *options)
    print(f"{name}: {result.center:.2f} mm, {result.heading:.2f}°, {result.rate:.3f}")
    assert result.false == 0
    assert result.rate >= rate
    assert result.center < center
    assert result.heading < heading


def test_a_tilted_camera_with_a_wide_lens_measures_without_bias(scene: Scene) -> None:
    position, target, distortion = (0.0, -1500.0, 2100.0), (0.0, 0.0, 70.0), (-0.3, 0.12, 0.001, -0.0005, -0.02)
    calibration = true_calibration(position, target, 950.0, distortion)
    options = ["--position", "0,-1500,2100", "--target", "0,0,70", "--focal", "950", "--distortion", "-0.3,0.12,0.001,-0.0005,-0.02"]
    result = look(scene, scattered(8, 200.0, 2, (360.0, 600.0)), calibration, *options)
    assert result.false == 0
    assert result.rate >= 0.98
    print(f"tilted: {result.center:.2f} mm, {result.heading:.2f}°, {result.rate:.3f}")
    assert result.center < 0.2
    assert result.heading < 0.2


SIZES = [(41, 0, 0.45, 0.88), (54, 0, 0.9, 0.96), (54, 250, 0.9, 0.96), (80, 250, 0.98, 0.99)]


@pytest.mark.parametrize(("side", "moving", "alone", "tracked"), SIZES)
def test_windows_detect_small_and_moving_markers(scene: Scene, side: int, moving: int, alone: float, tracked: float) -> None:
    # 41, 54 and 80 mm are 15, 20 and 30 pixels.
    calibration = true_calibration((0.0, 0.0, 2500.0), side=side)
    options = ["--position", "0,0,2500", "--marker-side", str(side), "--border", str(side / 8), "--floor", "planks", "--exposure", "12"]
    rows = scattered(10, moving, 3)
    in_image, in_windows = search(scene, rows, calibration, *options), look(scene, rows, calibration, *options)
    print(f"{side} mm, {moving} mm/s: {in_image.rate:.3f}, {in_windows.rate:.3f}, {in_windows.center:.2f} mm, {in_windows.heading:.2f}°")
    assert in_image.false == in_windows.false == 0
    assert in_image.rate >= alone
    assert in_windows.rate >= tracked
    assert in_windows.heading < 12.0 / side**0.7


def test_poses_are_those_at_the_height_of_the_markers(scene: Scene) -> None:
    # Example: with the floor's homography, a marker 70 mm high is off by 36 mm at 1 m from the axis of a camera at 2 m.
    calibration = true_calibration((0.0, 0.0, 2000.0))
    image = images(scene.robots([(0.0, 4, 1000.0, 0.0, 30.0)], "--position", "0,0,2000", "--focal", "900"))[0]
    corners = Detector(calibration.lens.size).search(image)[0].corners[None]
    pose = calibration.poses(corners)[0]
    assert math.hypot(pose.x - 1.0, pose.y) < 0.0005
    # Blur shrinks a black square on white by up to a pixel, here 2.1 mm.
    assert abs(pose.side - 0.08) < 0.003
    on_floor = calibration.points(corners.reshape(4, 2), 0.0).mean(axis=0)
    assert 0.033 < on_floor[0] - 1.0 < 0.039
