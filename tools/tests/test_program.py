"""The program `tracker.py` on folders, pipes and videos."""

from __future__ import annotations

import csv
import io
import json
import math
import struct
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
import tracker
from conftest import ROOT, Scene, images, render_command, true_calibration

from tracking.leader import MAX_SPEED, Leader, MouseLeader
from tracking.picture import draw, move_leader
from tracking.recording import COLUMNS
from tracking.tracks import Track

POSITION = (0.0, 0.0, 2300.0)
AIM = ["--position", "0,0,2300"]


@pytest.fixture
def calibration(tmp_path: Path) -> Path:
    """File with the true calibration."""
    file = tmp_path / "camera.json"
    true_calibration(POSITION).save(str(file))
    return file


def drive(frames: int) -> list[tuple[float, ...]]:
    """Returns three robots that drive straight with 0.2 m/s, per frame."""
    rows = []
    for frame in range(frames):
        for robot in range(3):
            angle = 0.4 + 2.0 * robot
            along = 200.0 * frame / 30
            x, y = 350.0 * (robot - 1) + along * math.cos(angle), along * math.sin(angle)
            rows.append((1e3 * frame / 30, robot, x, y, math.degrees(angle), 200 * math.cos(angle), 200 * math.sin(angle), 0.0))
    return rows


def run(*arguments: object, pipe: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Runs the program in a process of its own."""
    command = [sys.executable, str(ROOT / "tools/tracker.py"), *(str(each) for each in arguments)]
    return subprocess.run(command, input=pipe, capture_output=True, timeout=120, check=False)


def test_a_pipe_gives_poses_and_velocities_as_a_table_for_the_renderer(scene: Scene, calibration: Path, tmp_path: Path) -> None:
    rows = drive(20)
    table = tmp_path / "poses.csv"
    with open(table, "w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    raw = subprocess.run([*render_command(), "robots", str(table), "--pipe", *AIM], capture_output=True, check=True).stdout
    done = run("track", calibration, "--source", "pipe:-", "--robots", 3, "--csv", "-", pipe=raw)
    assert done.returncode == 0, done.stderr
    assert b"20 images" in done.stderr and b"rejected detections: none" in done.stderr
    found = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert len(found) == 3 * 19
    true = {(round(row[0]), row[1]): row for row in rows}
    for each in found:
        row = true[round(float(each["time_ms"])), int(each["marker"])]
        for index, name in enumerate(COLUMNS[2:4], 2):
            assert abs(float(each[name]) - row[index]) < 0.5
        assert abs(math.remainder(float(each["heading_deg"]) - row[4], 360)) < 0.5
    for each in found[-3:]:
        row = true[round(float(each["time_ms"])), int(each["marker"])]
        assert math.hypot(float(each["vx_mm_s"]) - row[5], float(each["vy_mm_s"]) - row[6]) < 20
    (tmp_path / "again.csv").write_bytes(done.stdout)
    again = subprocess.run([*render_command(), "robots", str(tmp_path / "again.csv"), "--pipe"], capture_output=True, check=True).stdout
    assert len(again) == 19 * (16 + 1280 * 720)


def test_recordings_are_sources(scene: Scene, calibration: Path, tmp_path: Path) -> None:
    folder = scene.robots(drive(8), *AIM)
    video, recorded = tmp_path / "run.mp4", tmp_path / "recorded"
    lines = tmp_path / "run.json"
    base = ["track", calibration, "--robots", 3, "--json"]
    done = run(*base, lines, "--source", folder, "--video", video, "--images", recorded)
    assert done.returncode == 0, done.stderr
    content = [json.loads(line) for line in lines.read_text().splitlines()]
    assert [len(each["robots"]) for each in content] == [0] + [3] * 7
    assert content[3]["time_s"] == 0.1 and content[3]["processing_ms"] > 0
    again = run(*base, "-", "--source", recorded)
    poses = [[robot["pose"] for robot in json.loads(line)["robots"]] for line in again.stdout.splitlines()]
    assert poses == [[robot["pose"] for robot in each["robots"]] for each in content]
    # The video has lines on its robots, so that only its pictures are checked.
    capture = cv2.VideoCapture(str(video))
    assert capture.get(cv2.CAP_PROP_FRAME_COUNT) == 8
    good, picture = capture.read()
    assert good and picture.shape == (720, 1280, 3)
    # A video of the camera's images.
    plain = tmp_path / "plain.mp4"
    writer = cv2.VideoWriter(str(plain), cv2.VideoWriter.fourcc(*"mp4v"), 30.0, (1280, 720))
    for image in images(folder):
        writer.write(cv2.cvtColor(image, cv2.COLOR_GRAY2BGR))
    writer.release()
    lossy = run(*base, "-", "--source", plain)
    for line, before in zip(lossy.stdout.splitlines()[1:], content[1:], strict=True):
        robots = json.loads(line)["robots"]
        assert np.abs(np.array([robot["pose"] for robot in robots]) - [robot["pose"] for robot in before["robots"]]).max() < 0.01


def test_a_leader_follows_its_path(scene: Scene, calibration: Path, tmp_path: Path) -> None:
    path = tmp_path / "leader.csv"
    path.write_text("time_ms,x_mm,y_mm\n50,0,0\n150,20,10\n")
    done = run("track", calibration, "--source", scene.robots(drive(5), *AIM), "--robots", 3, "--json", "-", "--leader", path)
    leaders = [json.loads(line).get("leader") for line in done.stdout.splitlines()]
    assert leaders[0] is None and leaders[1] is None
    assert np.allclose(leaders[2], [(66.667 - 50) / 5e3, (66.667 - 50) / 1e4, 0.2, 0.1], atol=1e-4)


def test_the_mouse_drags_the_leader_no_faster_than_buggies_drive() -> None:
    mouse = MouseLeader()
    assert mouse.at(0.0) is None
    move_leader(mouse, cv2.EVENT_MOUSEMOVE, np.array([5.0, 5.0]))
    assert mouse.at(0.1) is None
    move_leader(mouse, cv2.EVENT_LBUTTONDOWN, np.array([0.5, 0.0]))
    move_leader(mouse, cv2.EVENT_MOUSEMOVE, np.array([2.5, 0.0]))
    leader = None
    for step in range(2, 12):
        leader = mouse.at(0.1 * step)
        assert leader and math.hypot(leader.vx, leader.vy) <= MAX_SPEED + 1e-9
    assert leader and abs(leader.x - 0.5 - MAX_SPEED) < 1e-9
    move_leader(mouse, cv2.EVENT_LBUTTONUP, np.array([2.5, 0.0]))
    rest = mouse.at(1.3)
    assert rest and (rest.vx, rest.vy) == (0.0, 0.0)
    move_leader(mouse, cv2.EVENT_RBUTTONDOWN, np.array([0.0, 0.0]))
    assert mouse.at(1.4) is None


def test_the_picture_shows_robots_links_and_the_leader() -> None:
    calibration = true_calibration(POSITION)
    gray = np.full((720, 1280), 90, np.uint8)
    robots = {0: Track(0, 0.0, 0.0, 0.0, 0.0, vx=0.2), 1: Track(1, 0.0, 0.3, 0.0, 1.0)}
    with_link = draw(gray, calibration, robots, 0.6, None, "")
    without = draw(gray, calibration, robots, 0.2, None, "")
    (middle,) = calibration.pixels(np.array([[0.15, 0.0]]), 0.07)
    column, row = (round(float(at)) for at in middle)
    assert (with_link[row - 1 : row + 2, column] != 90).any() and (without[row - 1 : row + 2, column + 8] == 90).all()
    assert (draw(gray, calibration, robots, 0.2, Leader(0.5, 0.3), "") != without).any()


def test_errors_are_one_line_with_exit_code_2(
    scene: Scene, calibration: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = scene.robots(drive(1), *AIM)
    small = scene.robots(drive(1), *AIM, "--size", "640,360")
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.json").write_text("{}")
    (tmp_path / "text.mp4").write_text("no video")
    (tmp_path / "path.csv").write_text("time_ms,x_mm\n1,2\n")
    track = ["track", calibration, "--source"]
    cut = struct.pack("<4sHHQ", b"GRAY", 1280, 720, 0) + b"\0" * 100
    for arguments, pipe, message in [
        (["track", calibration], b"", "--source"),
        (["dance"], b"", "invalid choice"),
        ([*track, "nowhere"], b"", "--source nowhere: no such file or folder"),
        ([*track, tmp_path / "empty"], b"", "has no images"),
        ([*track, tmp_path / "text.mp4"], b"", "neither a video nor a folder"),
        ([*track, "webcam:x"], b"", "needs a number"),
        ([*track, "webcam:99"], b"", "cannot open webcam 99"),
        ([*track, "pipe:/nowhere"], b"", "cannot read /nowhere"),
        ([*track, "pipe:-"], b"no header at all", "no frame header"),
        ([*track, "pipe:-"], cut, "ended within a frame"),
        ([*track, small], b"", "640 × 360 pixels, those of the calibration had 1280 × 720"),
        ([*track, folder, "--robots", "21"], b"", "--robots"),
        ([*track, folder, "--csv", tmp_path / "none/a.csv"], b"", "cannot write"),
        ([*track, folder, "--leader", tmp_path / "path.csv"], b"", "columns time_ms, x_mm and y_mm"),
        ([*track, folder, "--window"], b"", "needs a display"),
        (["track", tmp_path / "broken.json", "--source", folder], b"", "is not a calibration"),
    ]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pipe)))
        try:
            code = tracker.main([str(each) for each in arguments])
        except SystemExit as exit_info:
            code = exit_info.code
        lines = capsys.readouterr().err.splitlines()
        assert code == 2 and len(lines) == 1 and message in lines[0], (arguments, lines)


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["print"], ["calibrate", "lens"], ["calibrate", "floor"], ["track"]):
        with pytest.raises(SystemExit) as exit_info:
            tracker.main([*command, "--help"])
        assert exit_info.value.code == 0
        assert "Examples:" in capsys.readouterr().out
