"""Poses of robots in successive images."""

from __future__ import annotations

import time

import numpy as np

from . import UsageError
from .geometry import Calibration
from .latency import ProcessingTime
from .markers import Detector
from .sources import Frame
from .tracks import Limits, Track, Tracks


class Eye:
    """Detector and tracks of one camera."""

    def __init__(self, calibration: Calibration, robots: list[int], limits: Limits = Limits()) -> None:
        if calibration.floor is None:
            raise UsageError("the calibration has no floor: run `tracker.py calibrate floor`")
        self.calibration = calibration
        self.detector = Detector(calibration.lens.size, calibration.largest_side())
        self.tracks = Tracks(robots, calibration.shape.side, limits)
        self.processing = ProcessingTime()

    def process(self, frame: Frame) -> dict[int, Track]:
        """Returns the robots that an image shows, by marker."""
        began = time.perf_counter()
        height, width = frame.gray.shape
        if (width, height) != self.calibration.lens.size:
            expected = "{} × {}".format(*self.calibration.lens.size)
            raise UsageError(f"the images have {width} × {height} pixels, those of the calibration had {expected}")
        places = self.tracks.expected(frame.time)
        expected = {}
        if places:
            centers, sides = self.calibration.footprints(np.array(list(places.values())))
            expected = {marker: (center, float(side)) for marker, center, side in zip(places, centers, sides)}
        sightings = self.detector.detect(frame.gray, expected)
        poses = self.calibration.poses(np.array([each.corners for each in sightings])) if sightings else []
        found = self.tracks.update(frame.time, zip((each.marker for each in sightings), poses))
        self.processing.add(time.perf_counter() - began)
        return found
