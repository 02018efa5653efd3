"""Detection of ArUco markers in an image, in windows around expected positions and in one tile of the rest.

A window is enlarged before the detection. With markers of 30 pixels, this reduces the error of the center from 0.07 to 0.02 pixels and
of the heading from 0.35° to 0.12°. Of markers of 20 pixels, 97 % are detected instead of 75 %. Ten windows take 4 ms, an image 20 ms
(rendered images of `wdgnn-camera`, 12 ms of exposure, one core).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np

#: Number of markers in the dictionary.
COUNT = 50
#: Half of a window's width, relative to a marker's side. With 1.1, corners of markers are cut; 1.6 only takes longer.
WINDOW = 1.3
#: A window is enlarged if its marker is smaller, in pixels.
ENLARGE_BELOW = 60.0
#: Rows and columns of tiles.
TILES = 2

DICTIONARY = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)


@dataclass(frozen=True)
class Sighting:
    """Marker in an image."""

    marker: int
    #: Pixels of the corners, from the upper left one clockwise, as 4 × 2 numbers. Pixel (0, 0) is the center of the first pixel.
    corners: np.ndarray

    @property
    def center(self) -> np.ndarray:
        """Intersection of the diagonals: the image of the marker's middle."""
        a, b, c, d = (np.append(corner, 1.0) for corner in self.corners)
        x, y, w = np.cross(np.cross(a, c), np.cross(b, d))
        return np.array([x / w, y / w])

    @property
    def side(self) -> float:
        """Mean side in pixels."""
        return float(np.linalg.norm(self.corners - np.roll(self.corners, 1, axis=0), axis=1).mean())


def parameters() -> cv2.aruco.DetectorParameters:
    """Returns the detector's parameters: OpenCV's, with differences that were measured on rendered images."""
    chosen = cv2.aruco.DetectorParameters()
    # Corners from the contour's lines: more precise than all other methods, except one that takes half a second.
    chosen.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_CONTOUR
    # Bits are read in the middle of their cells: 94 % instead of 60 % of moving markers of 16 pixels are detected.
    chosen.perspectiveRemoveIgnoredMarginPerCell = 0.3
    chosen.perspectiveRemovePixelPerCell = 8
    return chosen


def find(detector: cv2.aruco.ArucoDetector, image: np.ndarray) -> list[Sighting]:
    """Returns all markers in an image."""
    corners, markers, _ = detector.detectMarkers(image)
    # OpenCV 4 and 5 differ in the shape of both arrays.
    numbers = [] if markers is None else np.ravel(markers)
    return [Sighting(int(marker), np.reshape(four, (4, 2)).astype(float)) for marker, four in zip(numbers, corners)]


class Detector:
    """Detects markers in successive images of one camera."""

    def __init__(self, size: tuple[int, int], largest: float = 120.0) -> None:
        """`size`: width and height in pixels. `largest`: side of the largest marker in pixels, by which tiles overlap."""
        self.size = size
        self.tile_number = 0
        self.everywhere = cv2.aruco.ArucoDetector(DICTIONARY, parameters())
        in_window = parameters()
        # Perimeters relative to the window's width: markers from 0.5 to 1.5 of the expected side.
        in_window.minMarkerPerimeterRate = 4 * 0.5 / (2 * WINDOW)
        in_window.maxMarkerPerimeterRate = 4 * 1.5 / (2 * WINDOW)
        self.in_window = cv2.aruco.ArucoDetector(DICTIONARY, in_window)
        self.overlap = round(1.5 * largest)

    def look(self, image: np.ndarray, center: np.ndarray, side: float) -> list[Sighting]:
        """Returns the markers in the window around an expected marker."""
        half = round(WINDOW * side) + 2
        left, top = (max(0, round(float(at)) - half) for at in center)
        right, bottom = (round(float(at)) + half for at in center)
        window = image[top : max(0, bottom), left : max(0, right)]
        if min(window.shape) < side:
            return []
        scale = 2 if side < ENLARGE_BELOW else 1
        if scale > 1:
            window = cv2.resize(window, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
        found = find(self.in_window, window)
        return [Sighting(each.marker, (each.corners + 0.5) / scale - 0.5 + [left, top]) for each in found]

    def search(self, image: np.ndarray) -> list[Sighting]:
        """Returns all markers in an image, each measured in a window of its own."""
        return self.measured(image, find(self.everywhere, image))

    def measured(self, image: np.ndarray, rough: list[Sighting]) -> list[Sighting]:
        """Returns markers with the precision of windows."""
        found = []
        for each in rough:
            again = [seen for seen in self.look(image, each.center, each.side) if seen.marker == each.marker]
            found.append(again[0] if again else each)
        return found

    def detect(self, image: np.ndarray, expected: Mapping[int, tuple[np.ndarray, float]]) -> list[Sighting]:
        """Returns the markers around the expected ones (center and side by marker) and in the next tile.

        Four successive images search the whole image; without expected markers, each image does.
        """
        if not expected:
            return self.search(image)
        found: list[Sighting] = []
        for center, side in expected.values():
            merge(found, self.look(image, center, side))
        tile, corner = self.next_tile(image)
        rough = [Sighting(each.marker, each.corners + corner) for each in find(self.everywhere, tile)]
        merge(found, self.measured(image, [each for each in rough if is_new(found, each)]))
        return found

    def next_tile(self, image: np.ndarray) -> tuple[np.ndarray, list[int]]:
        """Returns the next part of an image, and its upper left corner."""
        row, column = divmod(self.tile_number, TILES)
        self.tile_number = (self.tile_number + 1) % (TILES * TILES)
        spans = []
        for index, length in ((column, self.size[0]), (row, self.size[1])):
            first = max(0, index * length // TILES - self.overlap // 2)
            spans.append((first, min(length, (index + 1) * length // TILES + self.overlap // 2)))
        (left, right), (top, bottom) = spans
        return image[top:bottom, left:right], [left, top]


def is_new(found: list[Sighting], seen: Sighting) -> bool:
    """Returns whether no marker was found at this place with this number."""
    return all(each.marker != seen.marker or np.linalg.norm(each.center - seen.center) > 0.5 * seen.side for each in found)


def merge(found: list[Sighting], more: list[Sighting]) -> None:
    """Appends the markers that are new."""
    found.extend([each for each in more if is_new(found, each)])
