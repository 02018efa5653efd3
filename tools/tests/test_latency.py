"""Latency of processing, and the estimate of the total latency in rendered images."""

from __future__ import annotations

import math

import numpy as np
import pytest
from conftest import Scene, images, true_calibration

from tracking.eye import Eye
from tracking.latency import ProcessingTime, TotalLatency
from tracking.sources import Frame

#: Latency that the images have in the test, in seconds.
TRUE = 0.113


def turn_rate(robot: int, time: float) -> float:
    """Turn rates of robots that steer: sums of waves, different for each robot."""
    return 1.5 * math.sin(2 * math.pi * 0.5 * time + robot) + 1.0 * math.sin(2 * math.pi * 1.1 * time + 2.0 * robot)


def heading(robot: int, time: float) -> float:
    """Integral of the turn rate."""
    slow = -1.5 / (2 * math.pi * 0.5) * math.cos(2 * math.pi * 0.5 * time + robot)
    return slow - 1.0 / (2 * math.pi * 1.1) * math.cos(2 * math.pi * 1.1 * time + 2.0 * robot)


def test_the_total_latency_is_estimated_from_rendered_images(scene: Scene) -> None:
    calibration = true_calibration((0.0, 0.0, 2300.0))
    rows = []
    for frame in range(60):
        time = frame / 30
        for robot in range(5):
            rate = math.degrees(turn_rate(robot, time))
            rows.append((1e3 * time, robot, 400.0 * (robot - 2), 0.0, math.degrees(heading(robot, time)), 0.0, 0.0, rate))
    folder = scene.robots(rows, "--position", "0,0,2300")
    eye, latency = Eye(calibration, list(range(5))), TotalLatency()
    random = np.random.default_rng(1)
    for step in range(-20, 60):
        for robot in range(5):
            # Robots report every 50 ms, and 20 % of the reports are lost. Their wheels turn 10 % slower than they believe.
            if random.random() > 0.2:
                latency.report(robot, 0.05 * step, 1.1 * turn_rate(robot, 0.05 * step))
    assert latency.estimate() is None
    for frame, image in enumerate(images(folder)):
        for robot, track in eye.process(Frame(image, frame / 30)).items():
            assert track.measured
            latency.observe(robot, frame / 30 + TRUE, track.measured.heading)
    found = latency.estimate()
    assert found is not None
    print(f"{1e3 * found:.1f} ms")
    assert abs(found - TRUE) < 0.005


def test_robots_that_do_not_turn_tell_no_latency() -> None:
    latency = TotalLatency()
    for step in range(300):
        latency.report(0, 0.03 * step, 0.0)
        latency.observe(0, 0.03 * step, 0.001 * (step % 2))
    assert latency.estimate() is None


def test_reports_that_contradict_the_images_tell_no_latency() -> None:
    random = np.random.default_rng(2)
    latency = TotalLatency()
    for step in range(300):
        latency.report(0, 0.03 * step, random.normal(0, 3))
        latency.observe(0, 0.03 * step, random.normal(0, 1))
    assert latency.estimate() is None


def test_processing_time_has_median_and_maximum_of_the_last_images() -> None:
    processing = ProcessingTime(images=3)
    for seconds in (9.0, 1.0, 2.0, 5.0):
        processing.add(seconds)
    assert (processing.median, processing.worst) == (2.0, 5.0)
    assert (ProcessingTime().median, ProcessingTime().worst) == (0.0, 0.0)


@pytest.mark.parametrize("robots", [10])
def test_windows_find_all_robots_in_all_images(scene: Scene, robots: int) -> None:
    calibration = true_calibration((0.0, 0.0, 2300.0))
    rows = []
    for frame in range(20):
        for robot in range(robots):
            angle = 0.7 * robot
            x, y = (robot % 5 - 2) * 400 + 7 * frame * math.cos(angle), (robot // 5 - 0.5) * 600 + 7 * frame * math.sin(angle)
            rows.append((1e3 * frame / 30, robot, x, y, math.degrees(angle), 210 * math.cos(angle), 210 * math.sin(angle), 0.0))
    eye = Eye(calibration, list(range(robots)))
    folder = scene.robots(rows, "--position", "0,0,2300")
    counts = [len(eye.process(Frame(image, frame / 30))) for frame, image in enumerate(images(folder))]
    assert counts[0] == 0 and counts[1:] == [robots] * 19
    assert not eye.tracks.rejected
