"""Picture with robots, velocities and links, and its window."""

from __future__ import annotations

import math
from collections.abc import Mapping

import cv2
import numpy as np

from . import UsageError
from .geometry import Calibration
from .leader import Leader, MouseLeader
from .tracks import Track, links

#: Time in seconds that an arrow of a velocity looks ahead.
ARROW = 0.5
GREEN, BLUE, ORANGE, WHITE = (80, 220, 80), (230, 160, 60), (40, 140, 255), (255, 255, 255)
FONT = cv2.FONT_HERSHEY_SIMPLEX
TITLE = "tracker (Q quits, left button drags the leader, right button removes it)"


def draw(
    gray: np.ndarray, calibration: Calibration, robots: Mapping[int, Track], radius: float, leader: Leader | None, text: str
) -> np.ndarray:
    """Returns the picture in color. `radius`: length in meters up to which robots are linked. `text`: first line."""
    picture = cv2.cvtColor(gray, cv2.COLOR_GRAY2BGR)
    height = calibration.shape.height

    def pixels(*points: tuple[float, float]) -> list[tuple[int, int]]:
        seen = calibration.pixels(np.array(points), height)
        return [(round(float(x)), round(float(y))) for x, y in np.clip(seen, -30000, 30000)]

    for one, other in links(robots, radius):
        cv2.line(picture, *pixels((robots[one].x, robots[one].y), (robots[other].x, robots[other].y)), BLUE, 1, cv2.LINE_AA)
    for marker, track in robots.items():
        half = 0.5 * calibration.shape.side
        nose = track.x + half * math.cos(track.heading), track.y + half * math.sin(track.heading)
        tip = track.x + ARROW * track.vx, track.y + ARROW * track.vy
        center, front, end = pixels((track.x, track.y), nose, tip)
        cv2.line(picture, center, front, GREEN, 3, cv2.LINE_AA)
        cv2.arrowedLine(picture, center, end, ORANGE, 2, cv2.LINE_AA, tipLength=0.25)
        cv2.putText(picture, str(marker), (center[0] + 14, center[1] - 14), FONT, 0.6, GREEN, 2, cv2.LINE_AA)
    if leader:
        center, end = pixels((leader.x, leader.y), (leader.x + ARROW * leader.vx, leader.y + ARROW * leader.vy))
        cv2.circle(picture, center, 12, ORANGE, 2, cv2.LINE_AA)
        cv2.arrowedLine(picture, center, end, ORANGE, 2, cv2.LINE_AA)
    cv2.putText(picture, text, (10, 24), FONT, 0.6, WHITE, 2, cv2.LINE_AA)
    return picture


class Window:
    """Window with the picture, in which the mouse drags the leader."""

    def __init__(self, calibration: Calibration, mouse: MouseLeader) -> None:
        self.calibration, self.mouse = calibration, mouse
        #: Key that was pressed last.
        self.key = ""
        try:
            cv2.namedWindow(TITLE)
            cv2.setMouseCallback(TITLE, self.on_mouse)
        except cv2.error as error:
            raise UsageError("--window needs a display and opencv-python instead of opencv-python-headless") from error

    def on_mouse(self, event: int, x: int, y: int, _flags: int, _data: object) -> None:
        """Handles an event of the mouse."""
        move_leader(self.mouse, event, self.calibration.points(np.array([[x, y]]), self.calibration.shape.height)[0])

    def show(self, picture: np.ndarray) -> bool:
        """Shows a picture. Returns whether the user wants to go on."""
        cv2.imshow(TITLE, picture)
        key = cv2.waitKey(1)
        self.key = chr(key & 0xFF) if key >= 0 else ""
        return self.key not in ("q", "Q", "\x1b")


def move_leader(mouse: MouseLeader, event: int, point: np.ndarray) -> None:
    """Moves the leader for an event of the mouse at a point of the arena."""
    if event == cv2.EVENT_LBUTTONDOWN:
        mouse.press(point)
    elif event == cv2.EVENT_MOUSEMOVE:
        mouse.move(point)
    elif event == cv2.EVENT_LBUTTONUP:
        mouse.release()
    elif event == cv2.EVENT_RBUTTONDOWN:
        mouse.remove()
