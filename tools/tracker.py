#!/usr/bin/env python3
"""Tracks robots with ArUco markers under a webcam.

    tools/tracker.py print --markers 0-9,45-48 --board --output markers.pdf
    tools/tracker.py calibrate lens --source webcam:0 --output camera.json
    tools/tracker.py calibrate floor camera.json --source webcam:0 --reference 45,-1400,-900 --reference 46,1400,-900 \\
                                                 --reference 47,1400,900 --reference 48,-1400,900
    tools/tracker.py track camera.json --source webcam:0 --robots 10 --window

Needs `pip install opencv-python numpy matplotlib`; without --window, opencv-python-headless is enough.
All lengths on the command line are in millimeters. Errors print one line and exit with code 2.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import sys
import time

try:
    import cv2
    import numpy as np
except ImportError as error:
    print(f"tracker.py: {error}: run pip install opencv-python numpy matplotlib", file=sys.stderr)
    sys.exit(2)

# Messages of OpenCV would precede the line of an error.
cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)

from tracking import UsageError, calibrate, printing, wheels  # noqa: E402
from tracking.eye import Eye  # noqa: E402
from tracking.gateway import START, STOP, Gateway  # noqa: E402
from tracking.geometry import Calibration, Shape  # noqa: E402
from tracking.leader import MouseLeader, PathLeader  # noqa: E402
from tracking.markers import Detector  # noqa: E402
from tracking.picture import Window, draw  # noqa: E402
from tracking.recording import CsvLog, ImageRecorder, JsonLog, VideoRecorder, open_text, record  # noqa: E402
from tracking.sources import Source, open_source  # noqa: E402

#: Images of a live camera that a floor calibration uses.
LIVE_IMAGES = 30


def run_print(options: argparse.Namespace) -> None:
    """Writes the PDF."""
    paper = printing.PAPERS[options.paper]
    try:
        pages = [printing.board_page(options.square, paper)] if options.board else []
        if options.markers:
            pages += printing.marker_pages(printing.parse_markers(options.markers), options.side, options.border, paper)
        if not pages:
            raise UsageError("nothing to print: give --markers or --board")
        printing.write_pdf(options.output, pages)
    except ImportError as error:
        raise UsageError("printing needs matplotlib: run pip install matplotlib") from error
    print(f"{options.output}: {len(pages)} pages. Print at 100 % and measure the line of 100 mm.")


def take_views(source: Source, square: float, count: int) -> calibrate.Views:
    """Returns different views of the board with squares of this side in millimeters."""
    finder, views = calibrate.BoardFinder(square / 1e3), calibrate.Views(source.live)
    for frame in source:
        views.add(finder.find(frame.gray), frame.gray.shape)
        if source.live:
            print(f"\r{len(views.taken)} of {count} views: move the board and hold it still", end="", file=sys.stderr)
        if len(views.taken) >= count:
            break
    return views


def run_lens(options: argparse.Namespace) -> None:
    """Calibrates the lens."""
    views = take_views(open_source(options.source, tuple(map(int, options.size))), options.square, options.views)
    lens = calibrate.calibrate_lens(views)
    Calibration(lens).save(options.output)
    focal = np.diag(lens.matrix)[:2]
    print(f"{options.output}: focal lengths {focal[0]:.1f} and {focal[1]:.1f} px, error {lens.error_px:.3f} px in {lens.images} views")


def run_floor(options: argparse.Namespace) -> None:
    """Calibrates the floor."""
    calibration = Calibration.load(options.calibration)
    source = open_source(options.source, calibration.lens.size)
    shape = Shape(options.marker_side / 1e3, options.marker_height / 1e3)
    if options.reference:
        places = {int(marker): (x / 1e3, y / 1e3) for marker, x, y in options.reference}
        if len(places) < 4:
            raise UsageError(f"--reference must be given at least 4 times, got {len(places)}")
        images = (frame.gray for frame in itertools.islice(source, LIVE_IMAGES if source.live else None))
        points, pixels = calibrate.find_references(images, places, Detector(calibration.lens.size))
        heights = np.full((len(points), 1), options.height / 1e3)
        floor = calibrate.floor_from_points(calibration.lens, np.hstack([points, heights]), pixels)
    else:
        views = take_views(source, options.square, options.views)
        floor = calibrate.floor_from_boards(calibration.lens, views.taken, options.height / 1e3)
    Calibration(calibration.lens, floor, shape).save(options.output or options.calibration)
    x, y, z = 1e3 * floor.camera
    print(f"{options.output or options.calibration}: camera at {x:.0f}, {y:.0f}, {z:.0f} mm, error {floor.error_px:.3f} pixels")


def run_track(options: argparse.Namespace) -> None:
    """Tracks until the source ends."""
    calibration = Calibration.load(options.calibration)
    eye = Eye(calibration, printing.parse_markers(f"0-{options.robots - 1}"))
    mouse = MouseLeader()
    path = PathLeader(options.leader) if options.leader else None
    images, began = 0, time.monotonic()
    with contextlib.ExitStack() as files:
        table = CsvLog(open_text(options.csv, files)) if options.csv else None
        lines = JsonLog(open_text(options.json, files)) if options.json else None
        recorder = ImageRecorder(options.images) if options.images else None
        video = VideoRecorder(options.video) if options.video else None
        if video:
            files.callback(video.close)
        gateway = Gateway(options.gateway, options.latency / 1e3) if options.gateway else None
        window = Window(calibration, mouse) if options.window else None
        for frame in open_source(options.source, calibration.lens.size, options.exposure):
            robots = eye.process(frame)
            images += 1
            leader = path.at(frame.time) if path else mouse.at(frame.time)
            if gateway:
                gateway.send(robots, leader, time.monotonic() - frame.time if frame.live else 0.0)
            if table:
                table.write(frame.time, robots)
            if lines:
                content = record(frame.time, robots, eye.tracks.rejected)
                if leader:
                    content["leader"] = [leader.x, leader.y, leader.vx, leader.vy]
                content["processing_ms"] = round(1e3 * eye.processing.seconds[-1], 2)
                lines.write(content)
            if recorder:
                recorder.write(frame)
            if video or window:
                text = f"{len(robots)} of {options.robots} robots, {1e3 * eye.processing.median:.1f} ms"
                picture = draw(frame.gray, calibration, robots, options.radius / 1e3, leader, text)
                if video:
                    video.write(picture)
                if window and not window.show(picture):
                    break
                if window and gateway:
                    gateway.command = {"s": START, " ": STOP}.get(window.key, gateway.command)
    seconds = time.monotonic() - began
    rejected = ", ".join(f"{count} {reason}" for reason, count in sorted(eye.tracks.rejected.items())) or "none"
    print(
        f"{images} images in {seconds:.1f} s; processing {1e3 * eye.processing.median:.1f} ms (median), "
        f"{1e3 * eye.processing.worst:.1f} ms (worst); rejected detections: {rejected}",
        file=sys.stderr,
    )


def run_wheels(options: argparse.Namespace) -> None:
    """Calibrates wheels."""
    found = wheels.calibrate(options.log, options.output)
    for marker, numbers in found.items():
        print(f"robot {marker}: {numbers}")


def numbers(count: int):  # noqa: ANN201 - a function for argparse
    """Returns a parser of numbers with commas in between."""

    def parse(text: str) -> tuple[float, ...]:
        found = tuple(float(part) for part in text.split(","))
        if len(found) != count:
            raise ValueError
        return found

    parse.__name__ = f"{count} numbers with commas"
    return parse


class Parser(argparse.ArgumentParser):
    """Parser that prints one line on errors."""

    def error(self, message: str) -> None:  # type: ignore[override]
        print(f"tracker.py: {message}", file=sys.stderr)
        sys.exit(2)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parses and checks the options."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = Parser(description=__doc__, formatter_class=raw)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(group, name: str, run, text: str, examples: str) -> argparse.ArgumentParser:  # noqa: ANN001
        command = group.add_parser(name, help=text, description=f"{text}\n\nExamples:\n{examples}", formatter_class=raw)
        command.set_defaults(run=run)
        return command

    def option(command: argparse.ArgumentParser, name: str, text: str, default: object = None, **rest: object) -> None:
        shown = text if default is None else f"{text} [default: {default}]"
        command.add_argument(name, help=shown.replace("%", "%%"), default=default, **rest)  # type: ignore[arg-type]

    def source(command: argparse.ArgumentParser) -> None:
        text = "webcam:N, a video, a folder of images, or pipe:PATH (pipe:- reads raw frames from the standard input)"
        command.add_argument("--source", required=True, metavar="SOURCE", help=text)

    def length(command: argparse.ArgumentParser, name: str, text: str, default: float | None) -> None:
        option(command, name, text, default, type=float, metavar="MM")

    example = "  tracker.py print --markers 0-9,45-48 --board --output markers.pdf"
    each = add(commands, "print", run_print, "Writes markers and the calibration board as a PDF.", example)
    option(each, "--markers", "markers such as 0-9,45; robots have 0 to 27, references 45 to 49", metavar="LIST")
    each.add_argument("--board", action="store_true", help="print the ChArUco board of 5 × 7 squares")
    length(each, "--side", "side of a marker's black square", 80.0)
    length(each, "--border", "white border of a marker", 10.0)
    length(each, "--square", "side of a square of the board", 36.0)
    option(each, "--paper", "paper size", "a4", choices=sorted(printing.PAPERS))
    option(each, "--output", "file", "markers.pdf", metavar="FILE")

    group = commands.add_parser("calibrate", help="Calibrates the lens, then the floor.").add_subparsers(required=True, metavar="COMMAND")
    example = "  tracker.py calibrate lens --source webcam:0\n  tracker.py calibrate lens --source photos --square 35.8"
    each = add(group, "lens", run_lens, "Measures camera matrix and distortion with the ChArUco board.", example)
    source(each)
    length(each, "--square", "measured side of a square of the board", 36.0)
    option(each, "--views", "number of different views of the board", 20, type=int, metavar="COUNT")
    option(each, "--size", "width and height of a webcam's images", "1280,720", type=numbers(2), metavar="W,H")
    option(each, "--output", "file", "camera.json", metavar="FILE")
    each = add(
        group,
        "floor",
        run_floor,
        "Measures the camera's place with reference markers, or with the board lying at several places.",
        "  tracker.py calibrate floor camera.json --source webcam:0 --reference 45,-1400,-900 --reference 46,1400,-900 \\\n"
        "                             --reference 47,1400,900 --reference 48,-1400,900\n"
        "  tracker.py calibrate floor camera.json --source photos --height 70",
    )
    each.add_argument("calibration", help="file of `calibrate lens`")
    source(each)
    each.add_argument(
        "--reference",
        action="append",
        type=numbers(3),
        metavar="ID,X,Y",
        help="marker and place of its middle; at least four times. Without references, the middle of the board in the first image is the "
        "origin, and its right side points along x",
    )
    length(each, "--height", "height of the references or of the board above the floor", 0.0)
    length(each, "--square", "measured side of a square of the board", 36.0)
    option(each, "--views", "maximum number of places of the board", 10, type=int, metavar="COUNT")
    length(each, "--marker-side", "side of the robots' markers", 80.0)
    length(each, "--marker-height", "height of the robots' markers above the floor", 70.0)
    option(each, "--output", "file [default: the calibration]", metavar="FILE")

    each = add(
        commands,
        "track",
        run_track,
        "Reports the poses of robots.",
        "  tracker.py track camera.json --source webcam:0 --robots 10 --window --video run.mp4 --csv run.csv\n"
        "  tracker.py track camera.json --source webcam:0 --robots 10 --window --gateway /dev/ttyACM0\n"
        "  tracker.py track camera.json --source images --json -\n"
        "  render robots poses.csv --pipe | tracker.py track camera.json --source pipe:- --csv -",
    )
    each.add_argument("calibration", help="file of `calibrate floor`")
    source(each)
    option(each, "--robots", "number of robots; their markers count from 0", 10, type=int, metavar="COUNT", choices=range(1, 21))
    length(each, "--radius", "distance up to which robots are drawn as linked", 600.0)
    option(each, "--exposure", "exposure time of a webcam in milliseconds [default: automatic]", type=float, metavar="MS")
    each.add_argument("--window", action="store_true", help="show the picture; the mouse drags a virtual leader")
    option(each, "--leader", "path of the virtual leader: time_ms, x_mm, y_mm", metavar="CSV")
    option(each, "--csv", "write poses and velocities; `-` is the standard output", metavar="FILE")
    option(each, "--json", "write one JSON object per image; `-` is the standard output", metavar="FILE")
    option(each, "--video", "record the picture with its drawings", metavar="MP4")
    option(each, "--gateway", "send poses to the gateway at a serial port; s starts the swarm, space stops it", metavar="PORT")
    length = "time from the exposure to the arrival of an image; robots learn the rest"
    option(each, "--latency", length, 100.0, type=float, metavar="MS")
    option(each, "--images", "record the camera's images, for --source", metavar="FOLDER")

    each = add(
        commands,
        "wheels",
        run_wheels,
        "Calibrates wheels from the log of calibration drives (hold A and B of a robot for 1.5 s).",
        "  tracker.py track camera.json --source webcam:0 --csv drive.csv\n  tracker.py wheels drive.csv",
    )
    each.add_argument("log", help="file of `track --csv`")
    option(each, "--output", "file for firmware/provision.py --wheels", "wheels.json", metavar="FILE")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Runs the program."""
    options = parse(arguments)
    try:
        options.run(options)
    except UsageError as error:
        print(f"tracker.py: {error}", file=sys.stderr)
        return 2
    except cv2.error as error:
        print(f"tracker.py: OpenCV: {str(error).splitlines()[0]}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
