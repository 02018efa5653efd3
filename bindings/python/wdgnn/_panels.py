"""Panels of figures: titles, colors, axes, and the robots of a swarm at one tick."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure

from .trajectories import Flight

#: Titles and colors of controllers. Others have their name as title, and a color of `tab10`.
CONTROLLERS = {
    "expert": ("expert (sees all robots)", "#1b2230"),
    "averaging-1-hop": ("averaging over 1 hop", "#b97a00"),
    "averaging-3-hops": ("averaging over 3 hops", "#c2569c"),
    "gnn": ("GNN alone", "#00876a"),
    "wd-gnn": ("WD-GNN, as trained", "#2a8fd0"),
    "wd-gnn-online": ("WD-GNN, learning in flight", "#d1480a"),
    "wd-gnn-online-centralised": ("WD-GNN, one center learns", "#7b3294"),
    "graph-filter": ("graph filter alone", "#7a6a00"),
    "averaging-2-hops": ("averaging over 2 hops", "#8a93a0"),
    "averaging-6-hops": ("averaging over 6 hops", "#8a93a0"),
    "flooding": ("bound with local radio: flooding", "#8a93a0"),
    "limit-guarded": ("bound: all robots known, hardest braking", "#8a93a0"),
    "limit": ("bound without collision guard", "#8a93a0"),
    "expert-guarded": ("expert with collision guard", "#8a93a0"),
}
#: Color of a robot by the difference of its velocity from the mean velocity, in m/s.
DEVIATION: dict[str, Any] = {
    "norm": LogNorm(0.02, 3.0, clip=True),
    "cmap": LinearSegmentedColormap.from_list("deviation", ["#2d9bd4", "#825ccc", "#a32a8a", "#a80028"]),
}
LIAR: dict[str, Any] = {"label": "lies", "marker": "o", "s": 190, "facecolors": "none", "edgecolors": "#d97706", "linewidths": 1.6}
ABSENT: dict[str, Any] = {"label": "absent", "marker": "x", "s": 45, "color": "#576273", "linewidths": 1.4}


def named(controller: str, index: int) -> tuple[str, Any]:
    """Title and color of a controller."""
    return CONTROLLERS.get(controller, (controller, colormaps["tab10"](index % 10)))


def styled(panel: Axes) -> Axes:
    """Gives a panel a light grid and no frame."""
    panel.grid(color="#e3e6ea", linewidth=0.7)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)
    return panel


def grid(count: int, width: float, height: float, columns: int = 4) -> tuple[Figure, list[Axes]]:
    """A figure with `count` panels of this size in inches."""
    columns = min(columns, count)
    rows = math.ceil(count / columns)
    figure = Figure(figsize=(width * columns, height * rows), dpi=110, layout="compressed")
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for panel in panels[count:]:
        panel.set_visible(False)
    return figure, [styled(panel) for panel in panels[:count]]


def reach(flights: Sequence[Flight]) -> float:
    """Half the width of a panel that shows every robot at every tick, in meters."""
    return 0.53 * max(float(np.ptp(flight.position[..., :2], axis=1).max()) for flight in flights) + 0.2


def square(panel: Axes, width: float, title: str, color: Any = "black") -> None:
    """Sets the title and the axes of a panel that shows `width` meters to every side of the swarm's center."""
    panel.set(xlim=(-width, width), ylim=(-width, width), aspect="equal", xlabel="x in m", ylabel="y in m")
    panel.set_title(title, fontsize="medium", color=color)


def draw(panel: Axes, flight: Flight, tick: int, width: float, radius: float | None = None) -> list[Any]:
    """Draws the robots at a tick, relative to the swarm's center, and returns the artists.

    Darts are robots. Color and tail show the deviation from the swarm's mean velocity. Gray lines connect robots within `radius`
    meters. Circles mark robots that lie, crosses absent robots.
    """
    present = flight.present[tick]
    position, velocity = flight.position[tick, :, :2], flight.velocity[tick, :, :2]
    position = position - (position.min(axis=0) + position.max(axis=0)) / 2
    difference = velocity - velocity[present].mean(axis=0)
    deviation = np.hypot(*difference.T)
    ahead = position + difference * np.minimum(0.4, 0.17 * width / np.maximum(deviation, 1e-6))[:, None]
    heading = velocity / np.maximum(np.hypot(*velocity.T), 1e-6)[:, None]
    across = heading[:, ::-1] * [-1, 1]
    # A dart: its tip, and two corners around a notch, in units of its size.
    corners = [heading, -0.75 * heading + 0.62 * across, -0.35 * heading, -0.75 * heading - 0.62 * across]
    darts = position[:, None] + 0.052 * width * np.stack(corners, axis=1)
    tails = LineCollection(np.stack([position, ahead], axis=1)[present], linewidths=1.4, zorder=2, **DEVIATION)
    artists: list[Any] = [tails, PolyCollection(darts[present], linewidths=0, zorder=3, **DEVIATION)]
    for collection in artists:
        collection.set_array(deviation[present])
    if radius is not None:
        near = np.hypot(*(position[:, None] - position).transpose(2, 0, 1)) <= radius
        pairs = np.argwhere(np.triu(near & present[:, None] & present, 1))
        artists.append(LineCollection(position[pairs], colors="#c3c8cf", linewidths=0.6, zorder=1))
    for collection in artists:
        panel.add_collection(collection)
    marked = [(present & ~flight.honest[tick], LIAR), (~present, ABSENT)]
    return artists + [panel.scatter(*position[robots].T, zorder=4, **style) for robots, style in marked if robots.any()]
