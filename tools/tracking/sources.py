"""Images from a webcam, a video, a folder, or raw frames on a pipe."""

from __future__ import annotations

import re
import struct
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import cv2
import numpy as np

from . import UsageError

#: Header of a raw frame: `GRAY`, width, height, time of the middle of the exposure in microseconds.
HEADER = struct.Struct("<4sHHQ")
SUFFIXES = {".pgm", ".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff"}
#: Images per second of a folder whose file names are no times, and of a webcam.
RATE = 30.0


@dataclass(frozen=True)
class Frame:
    """Gray image."""

    gray: np.ndarray
    #: Seconds. A webcam's are those of the arrival of the image on the clock `time.monotonic`.
    time: float
    #: Whether the image comes from a camera, which does not wait.
    live: bool = False


class Source:
    """Images in the order of their times."""

    #: Whether images come from a camera, which does not wait.
    live = False

    def frames(self) -> Iterator[Frame]:
        """Yields all images."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Frame]:
        return self.frames()


class Folder(Source):
    """Image files. A name that ends with at least six digits is a time in microseconds."""

    def __init__(self, path: Path) -> None:
        self.files = sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
        if not self.files:
            raise UsageError(f"{path} has no images")

    def frames(self) -> Iterator[Frame]:
        for index, file in enumerate(self.files):
            image = cv2.imread(str(file), cv2.IMREAD_GRAYSCALE)
            if image is None:
                raise UsageError(f"{file} is no image")
            digits = re.search(r"\d{6,}$", file.stem)
            yield Frame(image, int(digits[0]) / 1e6 if digits else index / RATE)


class Video(Source):
    """Video file."""

    def __init__(self, path: Path) -> None:
        self.capture = cv2.VideoCapture(str(path))
        if not self.capture.isOpened():
            raise UsageError(f"{path} is neither a video nor a folder of images")

    def frames(self) -> Iterator[Frame]:
        rate = self.capture.get(cv2.CAP_PROP_FPS) or RATE
        index = 0
        while True:
            good, image = self.capture.read()
            if not good:
                return
            yield Frame(gray(image), index / rate)
            index += 1


class Pipe(Source):
    """Raw frames, as the example `render` of `wdgnn-camera` writes them with `--pipe`."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def frames(self) -> Iterator[Frame]:
        while header := self.file.read(HEADER.size):
            if len(header) < HEADER.size or header[:4] != b"GRAY":
                raise UsageError("the pipe has no frame header where one should start")
            _, width, height, time_us = HEADER.unpack(header)
            pixels = self.file.read(width * height)
            if len(pixels) < width * height:
                raise UsageError("the pipe ended within a frame")
            yield Frame(np.frombuffer(pixels, np.uint8).reshape(height, width), time_us / 1e6)


class Webcam(Source):
    """Webcam. A thread reads all images, and only the newest is used, because old images are late."""

    live = True

    def __init__(self, number: int, size: tuple[int, int], exposure: float | None) -> None:
        self.capture = cv2.VideoCapture(number)
        if not self.capture.isOpened():
            raise UsageError(f"cannot open webcam {number}")
        # Compressed images: USB 2 carries 1280 × 720 pixels uncompressed only ten times per second.
        self.capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        self.capture.set(cv2.CAP_PROP_FRAME_WIDTH, size[0])
        self.capture.set(cv2.CAP_PROP_FRAME_HEIGHT, size[1])
        self.capture.set(cv2.CAP_PROP_FPS, RATE)
        self.capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        if exposure is not None:
            # 1 is manual in Video4Linux; the unit of the exposure is 0.1 ms.
            self.capture.set(cv2.CAP_PROP_AUTO_EXPOSURE, 1)
            self.capture.set(cv2.CAP_PROP_EXPOSURE, 10 * exposure)
        self.newest: Frame | None = None
        self.ended = False
        self.arrived = threading.Condition()

    def frames(self) -> Iterator[Frame]:
        threading.Thread(target=self.read, daemon=True).start()
        while True:
            with self.arrived:
                self.arrived.wait_for(lambda: self.newest or self.ended)
                frame, self.newest = self.newest, None
            if frame is None:
                raise UsageError("the webcam was disconnected")
            yield frame

    def read(self) -> None:
        """Reads images until the webcam fails."""
        good = True
        while good:
            good, image = self.capture.read()
            now = time.monotonic()
            with self.arrived:
                if good:
                    self.newest = Frame(gray(image), now, live=True)
                self.ended = not good
                self.arrived.notify()


def gray(image: np.ndarray) -> np.ndarray:
    """Returns a gray image."""
    return cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) if image.ndim == 3 else image


def open_source(name: str, size: tuple[int, int] = (1280, 720), exposure: float | None = None) -> Source:
    """Opens `webcam:N`, `pipe:PATH` (`pipe:-` is the standard input), a video or a folder of images."""
    kind, _, rest = name.partition(":")
    if kind == "webcam":
        if not rest.isdigit():
            raise UsageError(f"--source webcam:N needs a number, got {name}")
        return Webcam(int(rest), size, exposure)
    if kind == "pipe":
        try:
            return Pipe(sys.stdin.buffer if rest == "-" else open(rest, "rb"))
        except OSError as error:
            raise UsageError(f"cannot read {rest}: {error.strerror}") from error
    path = Path(name)
    if not path.exists():
        raise UsageError(f"--source {name}: no such file or folder")
    return Folder(path) if path.is_dir() else Video(path)
