"""Figure of a comparison: velocity variation and commands over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

try:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
except ImportError as error:
    raise ModuleNotFoundError("the figure needs matplotlib: pip install 'wdgnn[plot]'") from error

from .compare import Condition, Row

#: Smallest variation that is drawn, in m²/s².
FLOOR = 1e-7


def curves(found: Sequence[tuple[Condition, Sequence[Row]]]) -> Figure:
    """One column per condition: mean velocity variation above, root mean square of the commands below.

    >>> condition = Condition("point", robots=5, seeds=[1], seconds=0.5)
    >>> figure = curves([(condition, compare(condition, laws=["averaging"]))])
    >>> len(figure.axes), figure.axes[1].get_ylabel()
    (2, 'rms command in m/s²')
    """
    figure = Figure(figsize=(1.5 + 4.2 * len(found), 7.5), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(2, len(found), squeeze=False, sharex=True, sharey="row")
    for (condition, rows), (above, below) in zip(found, panels.T):
        for index, row in enumerate(rows):
            flight = row.flight
            seconds = flight.period * np.arange(len(flight.states))
            style = {"color": f"C{index}", "linewidth": 1.2, "label": row.title}
            above.semilogy(seconds, np.maximum(flight.variation.mean(axis=1), FLOOR), **style)
            below.plot(seconds, np.sqrt((flight.commands**2).sum(axis=-1).mean(axis=(1, 2))), **style)
        above.set_title(f"{condition.world}, {condition.robots} robots, ±{condition.speed:g} m/s")
        above.legend(fontsize=7, loc="upper right")
        below.set_xlabel("time in s")
    panels[0, 0].set_ylabel("velocity variation in m²/s²")
    panels[1, 0].set_ylabel("rms command in m/s²")
    return figure
