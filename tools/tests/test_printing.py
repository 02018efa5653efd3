"""Lengths on the printed pages, measured in their pixels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pypdfium2
import pytest
import tracker

from tracking.calibrate import BoardFinder
from tracking.markers import COUNT, Detector

DPI = 200.0
PX_PER_MM = DPI / 25.4


def pages(path: Path) -> list[np.ndarray]:
    """Returns the pages of a PDF as gray images."""
    document = pypdfium2.PdfDocument(str(path))
    return [document[index].render(scale=DPI / 72, grayscale=True).to_numpy().squeeze() for index in range(len(document))]


def pictures(path: Path) -> list[tuple[float, float]]:
    """Returns width and height in millimeters of all pictures in a PDF."""
    document = pypdfium2.PdfDocument(str(path))
    boxes = [each.get_bounds() for page in document for each in page.get_objects() if each.type == pypdfium2.raw.FPDF_PAGEOBJ_IMAGE]
    return [((right - left) * 25.4 / 72, (top - bottom) * 25.4 / 72) for left, bottom, right, top in boxes]


def print_pdf(tmp_path: Path, *arguments: str) -> list[np.ndarray]:
    file = tmp_path / "markers.pdf"
    assert tracker.main(["print", "--output", str(file), *arguments]) == 0
    return pages(file)


@pytest.mark.parametrize(("paper", "width"), [("a4", 210.0), ("letter", 215.9)])
def test_markers_have_true_lengths_and_all_numbers(tmp_path: Path, paper: str, width: float) -> None:
    found = {}
    sheets = print_pdf(tmp_path, "--markers", "0-4,45", "--paper", paper)
    for sheet in sheets:
        assert abs(sheet.shape[1] / PX_PER_MM - width) < 0.2
        detector = Detector((sheet.shape[1], sheet.shape[0]))
        for each in detector.search(sheet):
            found[each.marker] = each.side / PX_PER_MM
            # The white border is clear.
            left, top = (round(float(at)) for at in each.corners.min(axis=0))
            assert sheet[top + 10, left - round(9 * PX_PER_MM) : left - 4].min() > 200
    assert sorted(found) == [0, 1, 2, 3, 4, 45]
    assert np.allclose(pictures(tmp_path / "markers.pdf"), [(80.0, 80.0)] * 6, atol=0.01)
    # Drawn pictures are up to two pixels larger.
    assert all(abs(side - 80.0) < 0.26 for side in found.values()), found
    assert len(sheets) == 2


def test_the_board_has_true_lengths_and_a_ruler(tmp_path: Path) -> None:
    (sheet,) = print_pdf(tmp_path, "--board", "--square", "30")
    view = BoardFinder(0.03).find(sheet)
    assert view
    points, pixels = view
    assert len(points) == 24
    across = np.argmin(points[:, 0] + points[:, 1]), np.argmax(points[:, 0] + points[:, 1])
    length, expected = (np.linalg.norm(np.diff(each[list(across)], axis=0)) for each in (pixels, points))
    assert np.allclose(pictures(tmp_path / "markers.pdf"), [(150.0, 210.0)], atol=0.01)
    assert abs(length / PX_PER_MM - 1e3 * expected) < 0.26
    # The longest dark line below the board is the ruler of 100 mm.
    dark = [np.flatnonzero(row < 128) for row in sheet[-round(15 * PX_PER_MM) :]]
    assert abs(max(np.ptp(row) if len(row) else 0 for row in dark) / PX_PER_MM - 100.0) < 0.4


def test_markers_that_cannot_be_printed_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in [
        (["--markers", "0-50"], f"between 0 and {COUNT - 1}"),
        (["--markers", "3,3"], "different numbers"),
        (["--markers", "x"], "got x"),
        (["--markers", "1", "--side", "300"], "does not fit"),
        (["--board", "--square", "50"], "does not fit"),
        (["--board", "--output", str(tmp_path / "none" / "a.pdf")], "cannot write"),
        ([], "nothing to print"),
    ]:
        assert tracker.main(["print", *arguments]) == 2
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 1 and message in lines[0], lines


