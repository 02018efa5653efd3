"""Logs and recordings of a run."""

from __future__ import annotations

import contextlib
import csv
import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

import cv2
import numpy as np

from . import UsageError
from .sources import RATE, Frame
from .tracks import Track

#: Columns of the CSV log. The example `render` of `wdgnn-camera` draws such a file.
COLUMNS = ("time_ms", "marker", "x_mm", "y_mm", "heading_deg", "vx_mm_s", "vy_mm_s", "turn_deg_s")


def open_text(path: str, files: contextlib.ExitStack) -> TextIO:
    """Opens a file for writing; `-` is the standard output."""
    if path == "-":
        return sys.stdout
    try:
        return files.enter_context(open(path, "w", encoding="utf-8", newline=""))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


class CsvLog:
    """Measured poses and filtered velocities, one row per robot and image."""

    def __init__(self, file: TextIO) -> None:
        self.writer = csv.writer(file)
        self.writer.writerow(COLUMNS)

    def write(self, time: float, robots: Mapping[int, Track]) -> None:
        for marker, track in sorted(robots.items()):
            assert track.measured
            pose = track.measured
            angles = math.degrees(pose.heading), math.degrees(track.turn)
            numbers = (1e3 * pose.x, 1e3 * pose.y, angles[0], 1e3 * track.vx, 1e3 * track.vy, angles[1])
            self.writer.writerow([f"{1e3 * time:.3f}", marker, *(f"{number:.3f}" for number in numbers)])


class JsonLog:
    """One JSON object per image and line."""

    def __init__(self, file: TextIO) -> None:
        self.file = file

    def write(self, record: Mapping[str, Any]) -> None:
        self.file.write(json.dumps(record, separators=(",", ":")) + "\n")
        self.file.flush()


def record(time: float, robots: Mapping[int, Track], rejected: Mapping[str, int]) -> dict[str, Any]:
    """Returns the content of a line of the JSON log."""
    poses = []
    for marker, track in sorted(robots.items()):
        assert track.measured
        pose = [track.measured.x, track.measured.y, track.measured.heading]
        velocity = [track.vx, track.vy, track.turn]
        poses.append({"marker": marker, "pose": [round(each, 6) for each in pose], "velocity": [round(each, 5) for each in velocity]})
    return {"time_s": round(time, 6), "robots": poses, "rejected": dict(rejected)}


class VideoRecorder:
    """Video of the picture with drawings."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.writer: cv2.VideoWriter | None = None

    def write(self, picture: np.ndarray) -> None:
        if self.writer is None:
            height, width = picture.shape[:2]
            self.writer = cv2.VideoWriter(self.path, cv2.VideoWriter.fourcc(*"mp4v"), RATE, (width, height))
            if not self.writer.isOpened():
                raise UsageError(f"cannot write the video {self.path}")
        self.writer.write(picture)

    def close(self) -> None:
        if self.writer:
            self.writer.release()


class ImageRecorder:
    """Folder with the images of the camera, for `--source`. Names are times in microseconds."""

    def __init__(self, path: str) -> None:
        self.folder = Path(path)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error

    def write(self, frame: Frame) -> None:
        cv2.imwrite(str(self.folder / f"{round(1e6 * frame.time):012}.png"), frame.gray)
