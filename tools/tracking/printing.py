"""Markers and the calibration board as a PDF with true lengths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import UsageError
from .calibrate import SQUARES, board
from .markers import COUNT, DICTIONARY

#: Width and height of the papers in millimeters.
PAPERS = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
#: Margin in millimeters that printers leave blank, and the height of the text on a page.
MARGIN, TEXT = 5.0, 22.0
#: Pixels per cell. A viewer that smooths pictures blurs 1/20 of a cell.
PIXELS_PER_CELL = 20
MM_PER_INCH = 25.4


class Page:
    """Page with millimeters from its lower left corner as coordinates."""

    def __init__(self, paper: tuple[float, float]) -> None:
        from matplotlib.figure import Figure

        self.width, self.height = paper
        self.figure = Figure(figsize=(self.width / MM_PER_INCH, self.height / MM_PER_INCH))
        self.axes = self.figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self.axes.set(xlim=(0, self.width), ylim=(0, self.height))
        self.axes.axis("off")

    def picture(self, pixels: np.ndarray, left: float, bottom: float, width: float, height: float) -> None:
        """Draws a black and white picture."""
        extent = (left, left + width, bottom, bottom + height)
        self.axes.imshow(pixels, cmap="gray", vmin=0, vmax=255, extent=extent, interpolation="none", aspect="auto", zorder=2)
        self.axes.set(xlim=(0, self.width), ylim=(0, self.height))

    def text(self, x: float, y: float, words: str, size: float = 9.0, angle: float = 0.0) -> None:
        """Writes centered text."""
        self.axes.text(x, y, words, ha="center", va="center", fontsize=size, rotation=angle)

    def rectangle(self, left: float, bottom: float, width: float, height: float) -> None:
        """Draws a line to cut along."""
        corners = [(left, bottom), (left + width, bottom), (left + width, bottom + height), (left, bottom + height), (left, bottom)]
        self.axes.plot(*zip(*corners), color="0.6", linewidth=0.4, clip_on=False)

    def ruler(self) -> None:
        """Draws 100 mm, with which the printer's scale is checked."""
        middle, bottom = self.width / 2, MARGIN + 4
        for x in (middle - 50, middle + 50):
            self.axes.plot([x, x], [bottom - 2, bottom + 2], color="0", linewidth=0.5)
        self.axes.plot([middle - 50, middle + 50], [bottom, bottom], color="0", linewidth=0.5)
        self.text(middle, bottom + 4, "100 mm: print at 100 %, and measure")


def marker_picture(marker: int) -> np.ndarray:
    """Returns a marker as gray levels."""
    import cv2

    return cv2.aruco.generateImageMarker(DICTIONARY, marker, 6 * PIXELS_PER_CELL)


def marker_pages(markers: Sequence[int], side: float, border: float, paper: tuple[float, float]) -> list[Page]:
    """Returns pages with markers in their white borders. `side`, `border`: in millimeters."""
    whole = side + 2 * border
    columns = int((paper[0] - 2 * MARGIN) // whole)
    rows = int((paper[1] - 2 * MARGIN - TEXT) // whole)
    if columns < 1 or rows < 1:
        raise UsageError(f"a marker of {side:g} mm with a border of {border:g} mm does not fit on the paper")
    pages = []
    for first in range(0, len(markers), columns * rows):
        page = Page(paper)
        page.ruler()
        left = (paper[0] - columns * whole) / 2
        for index, marker in enumerate(markers[first : first + columns * rows]):
            row, column = divmod(index, columns)
            x, y = left + column * whole, paper[1] - MARGIN - (row + 1) * whole
            page.rectangle(x, y, whole, whole)
            page.picture(marker_picture(marker), x + border, y + border, side, side)
            page.text(x + whole / 2, y + whole - border / 3, f"▲ front · {marker}", min(9.0, 2 * border))
        pages.append(page)
    return pages


def board_page(square: float, paper: tuple[float, float]) -> Page:
    """Returns a page with the board. `square`: side of a square in millimeters."""
    width, height = SQUARES[0] * square, SQUARES[1] * square
    if width > paper[0] - 2 * MARGIN or height > paper[1] - 2 * MARGIN - TEXT:
        raise UsageError(f"a board with squares of {square:g} mm does not fit on the paper")
    page = Page(paper)
    page.ruler()
    cells = 8 * PIXELS_PER_CELL
    pixels = board(square / 1000).generateImage((SQUARES[0] * cells, SQUARES[1] * cells))
    page.picture(pixels, (paper[0] - width) / 2, paper[1] - MARGIN - height, width, height)
    page.text(paper[0] / 2, paper[1] - MARGIN - height - 4, f"squares of {square:g} mm: glue it on a flat plate")
    return page


def write_pdf(path: str, pages: Sequence[Page]) -> None:
    """Writes pages."""
    try:
        from matplotlib.backends.backend_pdf import PdfPages
    except ImportError as error:
        raise UsageError("printing needs matplotlib: pip install matplotlib") from error
    try:
        with PdfPages(path) as file:
            for page in pages:
                file.savefig(page.figure)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def parse_markers(text: str) -> list[int]:
    """Parses numbers and ranges such as `0-9,45`."""
    markers: list[int] = []
    try:
        for part in text.split(","):
            first, _, last = part.partition("-")
            markers.extend(range(int(first), int(last or first) + 1))
    except ValueError:
        markers = []
    if not markers or min(markers) < 0 or max(markers) >= COUNT or len(set(markers)) < len(markers):
        raise UsageError(f"markers must be different numbers between 0 and {COUNT - 1} such as 0-9, got {text}")
    return markers
