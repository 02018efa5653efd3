"""Figures from the files that `host-sim` writes: PNG, PDF, SVG and animated GIF.

    python -m wdgnn.plot eval.json --out eval.pdf                   # host-sim eval --json > eval.json
    python -m wdgnn.plot sweep.json --out sweep.svg                 # host-sim sweep radius --json > sweep.json
    python -m wdgnn.plot run.csv --seconds 1.5 --range 2 --out run.png     # host-sim run --trajectories run.csv
    python -m wdgnn.plot run.csv --kind score --out score.png
    python -m wdgnn.plot both.csv --controllers wd-gnn,wd-gnn-online --out both.gif

Every function but `animation` and `plot` returns a `matplotlib.figure.Figure`, which has `savefig`.

>>> figure = bars({"controllers": {"expert": {"total": {"mean": 52.0, "std": 3.0}}}})
>>> figure.axes[0].get_xlabel()
'total velocity variation in m²/s²'
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .trajectories import Flight, read

try:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure
    from PIL import Image

    from . import _panels
except ImportError as error:
    MISSING = "wdgnn.plot needs matplotlib: pip install 'wdgnn[plot]'"
    if __name__ == "__main__":
        print(MISSING, file=sys.stderr)
        sys.exit(2)
    raise ModuleNotFoundError(MISSING) from error

SCORE = "velocity variation in m²/s²"
PARAMETERS = {"radius": "radio range in m", "speed": "starting speed in m/s", "robots": "number of robots"}
#: Colors of the flights of an animation.
SIDES = ("#2a8fd0", "#d1480a", "#00876a", "#c2569c")


def bars(result: Mapping[str, Any], metric: str = "total") -> Figure:
    """Mean and standard deviation of every controller: the JSON of `host-sim eval`.

    `metric` is `total` or `final`: the score summed over the flight, or at its end.
    """
    rows = sorted(result["controllers"].items(), key=lambda row: -row[1][metric]["mean"])
    figure, (panel,) = _panels.grid(1, 8, 1.2 + 0.34 * len(rows))
    for index, (controller, summary) in enumerate(rows):
        title, color = _panels.named(controller, 7)
        mean, std = summary[metric]["mean"], summary[metric]["std"]
        panel.barh(title, mean, xerr=std, color=color, height=0.7, error_kw={"ecolor": "#576273", "capsize": 3})
        panel.annotate(f"{mean:.4g}", (mean + std, index), xytext=(6, 0), textcoords="offset points", va="center")
    panel.set_xlabel(f"{metric} {result.get('score', SCORE)}")
    panel.margins(x=0.12)
    return figure


def sweep(result: Mapping[str, Any], metric: str = "total") -> Figure:
    """Every controller relative to the expert, over the values of a parameter: the JSON of `host-sim sweep`."""
    points, parameter = result["points"], result["parameter"]

    def ratio(controllers: Mapping[str, Any], name: str) -> float:
        return controllers[name][metric]["mean"] / controllers["expert"][metric]["mean"]

    values = [point["value"] for point in points]
    series = {name: (values, [ratio(point["controllers"], name) for point in points]) for name in points[0]["controllers"]}
    return lines(series, PARAMETERS.get(parameter, parameter), f"{metric} score relative to the expert", log=False)


def lines(
    series: Mapping[str, tuple[Any, Any]], x_label: str, y_label: str, *, log: bool = True, panel: Axes | None = None
) -> Figure:
    """One line per name, through its x and y values.

    >>> lines({"loss": ([1, 2, 3], [0.9, 0.5, 0.4])}, "epoch", "loss").axes[0].get_yscale()
    'log'
    """
    panel = panel or _panels.grid(1, 8, 4.5)[1][0]
    for index, (controller, (x, y)) in enumerate(series.items()):
        title, color = _panels.named(controller, index)
        width = 2.6 if controller == "wd-gnn-online" else 1.6
        dots, dashes = "o" if len(x) <= 24 else "", "--" if controller in ("limit", "bound") else "-"
        panel.plot(x, y, label=title, color=color, linewidth=width, marker=dots, linestyle=dashes)
    panel.set(xlabel=x_label, ylabel=y_label, yscale="log" if log else "linear")
    if len(series) > 1:
        panel.legend(fontsize="small", frameon=False)
    return panel.figure


def score(flights: Sequence[Flight], label: str = SCORE, panel: Axes | None = None) -> Figure:
    """The score of every flight over time, on a logarithmic axis."""
    panel = panel or _panels.grid(1, 8, 4.5)[1][0]
    lines({flight.controller: (flight.seconds, flight.score) for flight in flights}, "time in s", label, panel=panel)
    # Scores of a bound and of rounding errors must not set the range of the axis.
    lowest = [flight.score[flight.score > 0].min(initial=1.0) for flight in flights if flight.controller != "limit"]
    panel.set_ylim(bottom=max(min(lowest, default=1.0) / 2, 1e-6))
    return panel.figure


def paths(flights: Sequence[Flight]) -> Figure:
    """The trajectory of every robot from its start (dot) to its end, one panel per flight."""
    figure, panels = _panels.grid(len(flights), 4.6, 4.4, columns=3)
    for panel, flight in zip(panels, flights):
        title, color = _panels.named(flight.controller, 0)
        panel.add_collection(LineCollection(flight.position[:, :, :2].swapaxes(0, 1), colors=[color], linewidths=0.9))
        panel.plot(*flight.position[0, :, :2].T, "o", color="#1b2230", markersize=3)
        panel.set(title=title, xlabel="x in m", ylabel="y in m", aspect="equal")
    return figure


def swarm(
    flights: Sequence[Flight], seconds: float | None = None, radius: float | None = None, label: str = SCORE
) -> Figure:
    """The robots of every flight at a time (default: the end), and the score over time.

    Color and tail of a robot show the deviation from the swarm's mean velocity. Gray lines connect robots within `radius` meters.
    """
    many = len(flights) > 2
    figure, (*panels, last) = _panels.grid(len(flights) + 1, *((3.5, 3.7) if many else (5, 5.2)))
    times = flights[0].seconds
    tick = len(times) - 1 if seconds is None else int(np.abs(times - seconds).argmin())
    width = _panels.reach([flight._replace(position=flight.position[tick : tick + 1]) for flight in flights])
    name, _, unit = label.partition(" in ")
    for index, (panel, flight) in enumerate(zip(panels, flights)):
        title, color = _panels.named(flight.controller, index)
        _panels.square(panel, width, f"{title}\n{name} {flight.score[tick]:.2g} {unit}", color)
        _panels.draw(panel, flight, tick, width, radius)
        if panel.get_legend_handles_labels()[1]:
            panel.legend(loc="upper left", fontsize="small")
    score(flights, label, last)
    last.axvline(times[tick], color="#576273", linewidth=1)
    if many:
        # The titles of the panels have the colors of the lines.
        last.legend_.remove()
    bar = figure.colorbar(ScalarMappable(**_panels.DEVIATION), ax=[*panels, last], location="bottom", shrink=0.5, aspect=40)
    bar.set_label("deviation from the mean velocity in m/s")
    figure.suptitle(f"{flights[0].position.shape[1]} robots at {times[tick]:.2f} s")
    return figure


def animation(
    flights: Sequence[Flight], path: str | os.PathLike[str], *, titles: Sequence[str] = (), label: str = SCORE, stride: int = 5
) -> None:
    """Writes flights of equal length side by side, with their scores below, as an animated GIF.

    The animation shows every `stride`-th tick at the speed of the flight, and repeats.
    """
    if len(flights) > len(SIDES) or len(flights[0].seconds) < 2:
        raise ValueError(f"an animation needs 2 ticks and at most {len(SIDES)} controllers, got {len(flights)}: use --controllers")
    figure = Figure(figsize=(3.8 * len(flights), 5.6), dpi=100, layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=[1.8, 1])
    panels, chart = upper.subplots(1, len(flights), squeeze=False)[0], _panels.styled(lower.subplots())
    times, width = flights[0].seconds, _panels.reach(flights)
    score(flights, "", chart)
    chart.set_xlim(times[0], times[-1])
    chart.set_title(label, fontsize="medium", loc="left")
    if chart.legend_:
        chart.legend_.remove()
    curves = [(line, line.get_ydata()) for line in chart.get_lines()]
    titles = titles or [_panels.named(flight.controller, 0)[0] for flight in flights]
    for (line, _), color, panel, title in zip(curves, SIDES, panels, titles):
        _panels.square(_panels.styled(panel), width, title, color)
        line.set(color=color, linewidth=2.2)
    canvas, images = FigureCanvasAgg(figure), []
    for tick in range(0, len(times), stride):
        drawn = [artist for panel, flight in zip(panels, flights) for artist in _panels.draw(panel, flight, tick, width)]
        for line, values in curves:
            line.set_data(times[: tick + 1], values[: tick + 1])
        canvas.draw()
        # The layout of the first frame stays.
        figure.set_layout_engine("none")
        images.append(np.array(canvas.buffer_rgba())[..., :3])
        for artist in drawn:
            artist.remove()
    # One palette for all frames: a GIF stores only the part of a frame that changes.
    palette = Image.fromarray(np.concatenate(images[:: max(1, len(images) // 6)])).quantize(128, Image.Quantize.MAXCOVERAGE)
    frames = [Image.fromarray(image).quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    delay = 1000 * stride * float(times[1] - times[0])
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=[delay] * (len(frames) - 1) + [2000], loop=0)


def plot(
    path: str | os.PathLike[str], out: str | os.PathLike[str], *, kind: str = "swarm", controllers: Sequence[str] = (),
    metric: str = "total", seconds: float | None = None, radius: float | None = None, label: str = SCORE,
) -> None:
    """Plots a file that `host-sim` wrote. The suffix of `out` is the format.

    Trajectories are plotted as `kind`: `swarm`, `score` or `paths`, or as an animation if `out` is a GIF.
    Raises `ValueError` for a file that has nothing to plot.
    """
    with open(path, newline="") as file:
        result = json.load(file) if os.fspath(path).endswith(".json") else {"rows": list(csv.DictReader(file))}
    rows = result.get("rows") or result.get("ticks") or result.get("epochs")
    if "points" in result:
        figure = sweep(result, metric)
    elif "controllers" in result:
        figure = bars(result, metric)
    elif not isinstance(rows, list):
        raise ValueError(f"{os.fspath(path)} has nothing to plot: give the JSON of flock, fly, sweep, train or theorem, or a CSV")
    elif "position_x" in rows[0]:
        flights = read(path, controllers)
        if os.fspath(out).endswith(".gif"):
            return animation(flights, out, label=label)
        figures = {"swarm": lambda: swarm(flights, seconds, radius, label), "score": lambda: score(flights, label)}
        figure = figures.get(kind, lambda: paths(flights))()
    else:
        columns = {name: [float("nan" if row[name] in (None, "") else row[name]) for row in rows] for name in rows[0]}
        (x_label, x), *others = columns.items()
        figure = lines({name: (x, y) for name, y in others}, x_label, "value" if len(others) > 1 else others[0][0])
    figure.savefig(out, bbox_inches="tight")


def main(arguments: Sequence[str] | None = None) -> int:
    """Plots one file. Returns the exit code: 2 for a file that cannot be read, written or plotted."""
    parser = argparse.ArgumentParser(prog="python -m wdgnn.plot", description="Plot a file that host-sim wrote.")
    parser.add_argument("path", metavar="FILE", help="JSON of flock, fly, sweep, train or theorem, or CSV")
    parser.add_argument("--out", required=True, help="PNG, PDF or SVG file, or GIF of trajectories")
    parser.add_argument("--kind", choices=["swarm", "score", "paths"], default="swarm", help="figure of trajectories [swarm]")
    parser.add_argument("--controllers", type=lambda names: names.split(","), default=(), help="controllers, with commas [all]")
    parser.add_argument("--metric", choices=["total", "final"], default="total", help="score of a comparison [total]")
    parser.add_argument("--seconds", type=float, help="time of a swarm figure [the end]")
    parser.add_argument("--range", type=float, dest="radius", help="connect robots within this radio range in meters")
    parser.add_argument("--label", default=SCORE, help=f"name and unit of the score [{SCORE}]")
    try:
        plot(**vars(parser.parse_args(arguments)))
    except (KeyError, ValueError, OSError) as error:
        print(f"wdgnn.plot: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
