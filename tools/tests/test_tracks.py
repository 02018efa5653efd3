"""Filter of false and swapped detections, and velocities."""

from __future__ import annotations

import math

import numpy as np

from tracking.geometry import Pose
from tracking.tracks import Tracks, links

STEP = 1 / 30


def pose(x: float, y: float, heading: float = 0.0, side: float = 0.08, residual: float = 0.0) -> Pose:
    return Pose(x, y, heading, side, residual)


def circle(time: float) -> Pose:
    """Returns the pose of a robot on a circle: 0.2 m/s, 1 rad/s."""
    return pose(0.2 * math.sin(time), 0.2 - 0.2 * math.cos(time), time)


def test_a_robot_is_reported_from_its_second_detection_on() -> None:
    tracks = Tracks([3], 0.08)
    assert tracks.update(0.0, [(3, pose(0, 0))]) == {}
    assert set(tracks.update(STEP, [(3, pose(0, 0))])) == {3}
    assert tracks.update(2 * STEP, []) == {}


def test_velocities_of_a_circle_are_found_despite_noise() -> None:
    random = np.random.default_rng(1)
    tracks, errors, turns = Tracks([0], 0.08), [], []
    for frame in range(120):
        time = frame * STEP
        true = circle(time)
        noisy = pose(true.x + random.normal(0, 0.0003), true.y + random.normal(0, 0.0003), true.heading + random.normal(0, 0.004))
        tracks.update(time, [(0, noisy)])
        if frame > 15:
            track = tracks.tracks[0]
            errors.append(math.hypot(track.vx - 0.2 * math.cos(time), track.vy - 0.2 * math.sin(time)))
            turns.append(track.turn - 1.0)
    assert math.sqrt(np.mean(np.square(errors))) < 0.025
    assert math.sqrt(np.mean(np.square(turns))) < 0.3
    assert not tracks.rejected


def test_swapped_markers_are_rejected_and_named() -> None:
    tracks = Tracks([0, 1], 0.08)
    for frame in range(5):
        tracks.update(frame * STEP, [(0, pose(0, 0)), (1, pose(0.5, 0))])
    assert tracks.update(5 * STEP, [(0, pose(0.5, 0)), (1, pose(0, 0))]) == {}
    assert tracks.rejected == {"swapped": 2}
    assert set(tracks.update(6 * STEP, [(0, pose(0, 0)), (1, pose(0.5, 0))])) == {0, 1}
    assert abs(tracks.tracks[0].x) < 1e-9


def test_false_detections_do_not_move_a_track() -> None:
    tracks = Tracks([0], 0.08)
    for frame in range(30):
        seen = [(0, circle(frame * STEP))]
        if frame > 3 and frame % 4 == 0:
            seen = [(0, pose(1.0, 0.2 * (frame % 3)))]
        if frame > 3 and frame % 4 == 1:
            seen += [(0, pose(-1.0, 0.0)), (7, pose(0, 0)), (0, pose(0, 0, side=0.05)), (0, pose(0, 0, residual=0.01))]
        tracks.update(frame * STEP, seen)
    true = circle(29 * STEP)
    assert math.hypot(tracks.tracks[0].x - true.x, tracks.tracks[0].y - true.y) < 0.002
    assert tracks.rejected == {"outlier": 7, "double": 7, "unknown": 7, "shape": 14}


def test_a_carried_robot_is_found_at_its_new_place() -> None:
    tracks = Tracks([0], 0.08)
    for frame in range(5):
        tracks.update(frame * STEP, [(0, pose(0, 0))])
    reported = [set(tracks.update((5 + frame) * STEP, [(0, pose(1, 1))])) for frame in range(4)]
    assert reported == [set(), set(), {0}, {0}]
    assert (tracks.tracks[0].x, tracks.tracks[0].vx) == (1.0, 0.0)


def test_a_lost_robot_is_expected_for_half_a_second() -> None:
    tracks = Tracks([0], 0.08)
    for frame in range(10):
        tracks.update(frame * STEP, [(0, pose(0.2 * frame * STEP, 0))])
    last = 9 * STEP
    tracks.update(last + 0.4, [])
    x, y = tracks.expected(last + 0.4)[0]
    assert abs(x - 0.2 * (last + 0.4)) < 0.01 and abs(y) < 1e-9
    tracks.update(last + 0.6, [])
    assert tracks.expected(last + 0.6) == {}


def test_headings_may_pass_half_a_turn() -> None:
    tracks = Tracks([0], 0.08)
    for frame in range(60):
        angle = 3.0 + 2.0 * frame * STEP
        tracks.update(frame * STEP, [(0, pose(0, 0, math.remainder(angle, math.tau)))])
    assert abs(tracks.tracks[0].turn - 2.0) < 0.01
    assert not tracks.rejected


def test_links_have_both_robots_in_reach() -> None:
    tracks = Tracks([0, 1, 2], 0.08)
    for frame in range(2):
        tracks.update(frame * STEP, [(0, pose(0, 0)), (1, pose(0.6, 0)), (2, pose(1.3, 0))])
    assert links(tracks.tracks, 0.61) == [(0, 1)]
