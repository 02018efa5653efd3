"""Calibration of the lens with a ChArUco board, and of the floor with reference markers or the board."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import cv2
import numpy as np

from . import UsageError
from .geometry import Floor, Lens
from .markers import DICTIONARY, Detector

#: Columns and rows of squares of the board.
SQUARES = (5, 7)
#: First marker of the board. It has 17, so that robots can have 0 to 27 and references 45 to 49.
FIRST_MARKER = 28
#: Side of the board's markers, relative to a square's.
MARKER_SHARE = 0.75
#: A view counts if it shows this many corners of the board's 24.
MIN_CORNERS = 10
#: Number of views that a calibration needs.
MIN_VIEWS = 8
#: A view must differ from all others by this share of the image's width, as mean distance of the corners.
MIN_MOTION = 0.04
#: Between two images, a board that moves less, in pixels, is at rest.
REST_PX = 1.5


def board(square: float) -> cv2.aruco.CharucoBoard:
    """Returns the board with squares of this side in meters."""
    count = SQUARES[0] * SQUARES[1] // 2
    markers = np.arange(FIRST_MARKER, FIRST_MARKER + count)
    return cv2.aruco.CharucoBoard(SQUARES, square, MARKER_SHARE * square, DICTIONARY, markers)


class BoardFinder:
    """Finds the corners of the board's squares."""

    def __init__(self, square: float) -> None:
        self.board = board(square)
        self.detector = cv2.aruco.CharucoDetector(self.board)

    def find(self, image: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Returns points on the board in meters (n × 3) and their pixels (n × 2).

        A board that is too far away is searched in the enlarged image.
        """
        for scale in (1, 2):
            large = image if scale == 1 else cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
            corners, numbers, _, _ = self.detector.detectBoard(large)
            if corners is not None and numbers is not None and len(corners) >= MIN_CORNERS:
                points, pixels = self.board.matchImagePoints(corners, numbers)
                pixels = (pixels.reshape(-1, 2).astype(np.float32) + 0.5) / scale - 0.5
                return points.reshape(-1, 3).astype(np.float32), pixels
        return None


class Views:
    """Different views of the board at rest."""

    def __init__(self, live: bool) -> None:
        """`live`: images come from a camera, so that a view must be at rest."""
        self.live = live
        self.taken: list[tuple[np.ndarray, np.ndarray]] = []
        self.last: tuple[np.ndarray, np.ndarray] | None = None
        #: Width and height of the images in pixels.
        self.size = (0, 0)

    def add(self, view: tuple[np.ndarray, np.ndarray] | None, shape: tuple[int, ...]) -> None:
        """Takes a view if it is at rest and differs from all others. `shape`: rows and columns of the image."""
        self.size = (shape[1], shape[0])
        last, self.last = self.last, view
        if view is None or (self.live and (last is None or distance(last, view) > REST_PX)):
            return
        if all(distance(other, view) >= MIN_MOTION * shape[1] for other in self.taken):
            self.taken.append(view)


def distance(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> float:
    """Returns the mean distance in pixels of the corners that two views share; infinity without any."""
    pixels = {tuple(point): pixel for point, pixel in zip(a[0].tolist(), a[1])}
    shared = [(pixels[tuple(point)], pixel) for point, pixel in zip(b[0].tolist(), b[1]) if tuple(point) in pixels]
    return float(np.mean([np.linalg.norm(one - other) for one, other in shared])) if shared else float("inf")


def calibrate_lens(views: Views) -> Lens:
    """Returns the lens that explains the views with the smallest error."""
    if len(views.taken) < MIN_VIEWS:
        raise UsageError(f"the calibration needs {MIN_VIEWS} different views of the board, got {len(views.taken)}")
    # A third radial coefficient is not determined by a few views of a small board.
    flags = cv2.CALIB_FIX_K3
    points, pixels = [each[0] for each in views.taken], [each[1] for each in views.taken]
    error, matrix, distortion, _, _ = cv2.calibrateCamera(points, pixels, views.size, None, None, flags=flags)
    return Lens(views.size, matrix.tolist(), [float(number) for number in np.ravel(distortion)[:5]], float(error), len(views.taken))


def floor_from_points(lens: Lens, points: np.ndarray, pixels: np.ndarray) -> Floor:
    """Returns the floor from points (n × 3 meters, all at one height) and their pixels."""
    height = float(points[0, 2])
    flat = points - [0.0, 0.0, height]
    rays = lens.rays(pixels)
    good, turn, shift = cv2.solvePnP(flat, rays.reshape(-1, 1, 2), np.eye(3), None, flags=cv2.SOLVEPNP_IPPE)
    if not good:
        raise UsageError("the reference points lie on a line: use four corners of the arena")
    plane = adjust(lens, np.concatenate([turn.ravel(), shift.ravel()]), [(flat, pixels)])
    return lowered(lens, plane, [(flat, pixels)], height)


def floor_from_boards(lens: Lens, views: Sequence[tuple[np.ndarray, np.ndarray]], height: float) -> Floor:
    """Returns the floor from views of the board that lies at several places, all at one height.

    The middle of the first board is the origin, and its right side points along x. All views share one plane, because a single small
    board determines the plane's tilt with an error of 0.3°: 10 mm at the other end of an arena of 3 m.
    """
    if not views:
        raise UsageError("no image shows the board")
    middle = board_middle(views)
    # The board's y axis points down and its z axis into the floor.
    flat = [((points - middle) * [1.0, -1.0, -1.0], pixels) for points, pixels in views]
    starts = []
    for points, pixels in flat:
        good, turn, shift = cv2.solvePnP(points, lens.rays(pixels).reshape(-1, 1, 2), np.eye(3), None, flags=cv2.SOLVEPNP_IPPE)
        if not good:
            raise UsageError("an image shows too little of the board")
        starts.append(np.concatenate([turn.ravel(), shift.ravel()]))
    rotation, _ = cv2.Rodrigues(starts[0][:3])
    places = []
    for start in starts[1:]:
        other, _ = cv2.Rodrigues(start[:3])
        relative = rotation.T @ other
        places.append([*(rotation.T @ (start[3:] - starts[0][3:]))[:2], np.arctan2(relative[1, 0], relative[0, 0])])
    plane = adjust(lens, np.concatenate([starts[0], np.ravel(places)]), flat)
    return lowered(lens, plane, flat, height)


def board_middle(views: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Returns the middle of the board in its own coordinates, whose origin is a corner of the board."""
    # The corners between squares are multiples of a square's side.
    levels = np.unique(np.concatenate([points[:, 0] for points, _ in views]).round(6))
    square = float(np.diff(levels).min())
    return np.array([SQUARES[0] * square / 2, SQUARES[1] * square / 2, 0.0])


def residuals(lens: Lens, numbers: np.ndarray, views: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Returns the errors in pixels of a plane (six numbers) with views at places in it (three numbers each after the first)."""
    errors = []
    for index, (points, pixels) in enumerate(views):
        x, y, angle = numbers[6 + 3 * (index - 1) : 9 + 3 * (index - 1)] if index else (0.0, 0.0, 0.0)
        cosine, sine = np.cos(angle), np.sin(angle)
        placed = np.array(points, dtype=float)
        placed[:, 0], placed[:, 1] = cosine * points[:, 0] - sine * points[:, 1] + x, sine * points[:, 0] + cosine * points[:, 1] + y
        seen, _ = cv2.projectPoints(placed, numbers[:3], numbers[3:6], np.array(lens.matrix), np.array(lens.distortion))
        errors.append((seen.reshape(-1, 2) - pixels).ravel())
    return np.concatenate(errors)


def adjust(lens: Lens, numbers: np.ndarray, views: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Returns the numbers that minimize the residuals (Levenberg–Marquardt, derivatives by differences)."""
    damping, errors = 1e-3, residuals(lens, numbers, views)
    for _ in range(50):
        steps = 1e-6 * np.eye(len(numbers))
        jacobian = np.column_stack([(residuals(lens, numbers + step, views) - errors) / 1e-6 for step in steps])
        normal, gradient = jacobian.T @ jacobian, jacobian.T @ errors
        change = np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-12), gradient)
        next_errors = residuals(lens, numbers - change, views)
        if next_errors @ next_errors < errors @ errors:
            numbers, errors, damping = numbers - change, next_errors, damping / 10
        else:
            damping *= 10
        if np.abs(change).max() < 1e-9:
            break
    return numbers


def lowered(lens: Lens, numbers: np.ndarray, views: Sequence[tuple[np.ndarray, np.ndarray]], height: float) -> Floor:
    """Returns the floor below a plane at this height."""
    errors = residuals(lens, numbers, views)
    rotation, _ = cv2.Rodrigues(numbers[:3])
    if rotation[2, 2] > 0:
        raise UsageError("the floor faces away from the camera: check the numbers and places of the references")
    translation = numbers[3:6] - height * rotation[:, 2]
    return Floor(rotation.tolist(), translation.tolist(), float(np.sqrt(np.mean(errors**2) * 2)))


def find_references(
    images: Iterable[np.ndarray], places: dict[int, tuple[float, float]], detector: Detector
) -> tuple[np.ndarray, np.ndarray]:
    """Returns places of reference markers (n × 2) and their mean pixels, for all that were seen."""
    seen: dict[int, list[np.ndarray]] = {}
    for image in images:
        for each in detector.search(image):
            if each.marker in places:
                seen.setdefault(each.marker, []).append(each.center)
    missing = sorted(set(places) - set(seen))
    if missing:
        raise UsageError(f"no image shows reference marker {', '.join(map(str, missing))}")
    return np.array([places[marker] for marker in seen]), np.array([np.mean(centers, axis=0) for centers in seen.values()])
