"""Comparison of networks with tuned baselines in a world."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from .._native import Model, Swarm
from .flight import Controller, Flight, fly, starts
from .laws import Averaging, Smith
from .metrics import METRICS, measure
from .network import Network
from .world import Array, open_world, world_class

#: Largest number of robots that are computed together while a law is tuned.
MOST_ROWS = 4000
#: Settings of the safety gate without collision avoidance.
UNGUARDED = {"separation": 0.0, "repulsion": 0.0}
#: Number of gains and horizons of a search.
GAINS, HORIZONS = 8, 6


@dataclasses.dataclass(frozen=True)
class Condition:
    """World, swarm and deviations of the bodies. `bodies` are options of the world, such as `{"lag": 1.2}`.

    >>> Condition("point", robots=5, speed=1.0, seeds=[1, 2]).starts().shape
    (2, 5, 4)
    """

    world: str
    robots: int = 10
    speed: float = 1.0
    seeds: Sequence[int] = tuple(range(1, 11))
    radius: float = 2.0
    noise: float = 0.0
    seconds: float = 4.0
    bodies: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def starts(self) -> Array:
        """Starts of all seeds, [swarm, robot, 4]."""
        return starts(robots=self.robots, speed=self.speed, seeds=self.seeds, radius=self.radius)

    def fly(self, controller: Controller, start: Array | None = None) -> Flight:
        """Flight from these starts, or those of all seeds."""
        world = open_world(self.world, self.starts() if start is None else start, **self.bodies)
        return fly(world, controller, ticks=round(self.seconds / world.period), noise=self.noise)


def tune(condition: Condition, law: Callable[[Array], Controller], grid: Array) -> Array:
    """Row of `grid` with the smallest total variation, over all seeds of the condition.

    `law` makes a controller from one row of parameters per swarm. Parameters whose flights miss the mean by noise still win.

    >>> condition = Condition("point", robots=5, seeds=[1, 2], seconds=1.0)
    >>> tune(condition, lambda rows: Averaging(rows[:, 0]), np.array([[1.0], [5.0], [25.0]])).tolist()
    [25.0]
    """
    start = condition.starts()
    swarms = len(start)
    many = max(1, MOST_ROWS // (swarms * condition.robots))
    totals = []
    for first in range(0, len(grid), many):
        rows = grid[first : first + many]
        flight = condition.fly(law(np.repeat(rows, swarms, axis=0)), np.tile(start, (len(rows), 1, 1)))
        totals += list(measure(flight)["total"].reshape(len(rows), swarms).mean(axis=1))
    return grid[int(np.argmin(totals))]


def tuned_averaging(condition: Condition, interval: int = 1) -> tuple[Averaging, str]:
    """One-hop averaging with its best gain, and its description.

    >>> averaging, title = tuned_averaging(Condition("point", robots=5, seeds=[1], seconds=0.5))
    >>> title.startswith("averaging, gain ")
    True
    """

    def law(rows: Array) -> Averaging:
        return Averaging(rows[:, 0], interval=interval, radius=condition.radius)

    low, high = world_class(condition.world).gains
    coarse = np.geomspace(low, high, GAINS)
    (gain,) = tune(condition, law, coarse[:, None])
    step = (high / low) ** (1.0 / (GAINS - 1))
    (gain,) = tune(condition, law, np.geomspace(gain / step**0.75, gain * step**0.75, 7)[:, None])
    return Averaging(gain, interval=interval, radius=condition.radius), f"averaging, gain {gain:.3g}"


def tuned_smith(condition: Condition, hops: int, interval: int = 1) -> tuple[Smith, str]:
    """Averaging with a Smith predictor with its best gain and horizon, and its description.

    >>> smith, title = tuned_smith(Condition("point", robots=5, seeds=[1], seconds=0.2), hops=1)
    >>> title.startswith("Smith predictor, 1 hop, gain ")
    True
    """

    def law(rows: Array) -> Smith:
        return Smith(rows[:, 0], rows[:, 1], hops=hops, interval=interval, radius=condition.radius)

    kind = world_class(condition.world)
    low, high = kind.gains
    gains, horizons = np.geomspace(low, 2.5 * high, GAINS), np.linspace(*kind.horizons, HORIZONS)
    grid = np.array([(gain, horizon) for gain in gains for horizon in horizons])
    gain, horizon = tune(condition, law, grid)
    step, width = (gains[1] / gains[0]) ** 0.5, 0.5 * (horizons[1] - horizons[0])
    near = [(gain * step**i, max(horizon + width * k, 1e-3)) for i in (-1, 0, 1) for k in (-1, 0, 1)]
    gain, horizon = tune(condition, law, np.array(near))
    title = f"Smith predictor, {hops} hop{'s' * (hops > 1)}, gain {gain:.3g}, {1000 * horizon:.0f} ms"
    return Smith(gain, horizon, hops=hops, interval=interval, radius=condition.radius), title


@dataclasses.dataclass(frozen=True)
class Row:
    """Results of one controller: its title, metrics per seed, and its flight."""

    title: str
    metrics: dict[str, Array]
    flight: Flight


def compare(
    condition: Condition,
    *,
    weights: Sequence[Model | str | PathLike[str] | None] = (None,),
    profile: str = "exact",
    laws: Sequence[str] = ("averaging", "smith-1", "smith-3"),
    unguarded: bool = False,
    report: Callable[[str], Any] = lambda _: None,
) -> list[Row]:
    """Flies tuned baselines and each network, offline and learning. The first row is tuned one-hop averaging.

    `weights`: weight files, names or models [the one for these bodies, else that of the profile].
    `profile`: link profile of the networks. Baselines exchange at its rate.
    `laws`: baselines besides averaging.
    `unguarded`: whether to add each network without collision avoidance, which the baselines do not have either.
    `report`: called with the title of each finished row.

    >>> rows = compare(Condition("point", robots=5, seeds=[1, 2], seconds=0.5), laws=["averaging"])
    >>> [row.title.split(",")[0] for row in rows]
    ['averaging', 'flocking-wd-gnn', 'flocking-wd-gnn']
    """
    options = {"profile": profile, "radius": condition.radius}
    own = world_class(condition.world).model if profile == "exact" else None
    models = [Swarm(robots=2, model=model or own, **options).model for model in weights]
    interval = max(model.header["interval"] for model in models)
    rows = []

    def add(title: str, controller: Controller) -> None:
        flight = condition.fly(controller)
        rows.append(Row(title, measure(flight), flight))
        report(title)

    averaging, title = tuned_averaging(condition, interval)
    add(title, averaging)
    for law in laws:
        if law != "averaging":
            smith, title = tuned_smith(condition, int(law.removeprefix("smith-")), interval)
            add(title, smith)
    for model in models:
        name = model.path.rsplit("/", 1)[-1].removesuffix(".wdgnn")
        for guard, suffix in [(None, ""), (UNGUARDED, ", unguarded")][: 1 + unguarded]:
            for online in (False, True):
                title = f"{name}, {'learning' if online else 'offline'}{suffix}"
                add(title, Network(model, online=online, guard=guard, **options))
    return rows


def ratio(row: Row, reference: Row) -> tuple[float, float]:
    """Ratio of two totals, and its standard error over paired seeds.

    >>> flight = fly(PointMass(starts(robots=5)), Averaging(5.0), ticks=50)
    >>> rows = [Row("", {"total": np.array(totals)}, flight) for totals in ([1.0, 2.0], [2.0, 4.0])]
    >>> ratio(*rows)
    (0.5, 0.0)
    """
    own, other = row.metrics["total"], reference.metrics["total"]
    value = own.sum() / other.sum()
    return float(value), standard_error((own - value * other) / other.mean())


def standard_error(numbers: Array) -> float:
    """Standard error of the mean. Zero for one number.

    >>> standard_error(np.array([1.0, 3.0]))
    1.0
    """
    if len(numbers) < 2:
        return 0.0
    return float(numbers.std(ddof=1) / np.sqrt(len(numbers)))


def table(rows: Sequence[Row]) -> str:
    """Table of a comparison. Numbers are means over seeds ± standard errors.

    >>> print(table(compare(Condition("point", robots=5, seeds=[1], seconds=0.5), laws=["averaging"])).splitlines()[0][:10])
    controller
    """
    head = ["controller", "ratio", *(title for title, _ in METRICS.values())]
    lines = [head]
    for row in rows:
        value, error = ratio(row, rows[0])
        cells = [row.title, f"{value:.3f} ± {error:.3f}"]
        for name, (_, form) in METRICS.items():
            numbers = row.metrics[name]
            worst = {"tilt": np.max, "distance": np.min}.get(name)
            cell = form.format(float(worst(numbers) if worst else numbers.mean()))
            if name == "total":
                cell += f" ± {standard_error(numbers):.2g}"
            cells.append(cell)
        lines.append(cells)
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    padded = (
        "  ".join(cell.ljust(width) if index == 0 else cell.rjust(width) for index, (cell, width) in enumerate(zip(line, widths)))
        for line in lines
    )
    return "\n".join(line.rstrip() for line in padded)


def as_json(condition: Condition, rows: Sequence[Row]) -> dict[str, Any]:
    """Comparison as numbers, with the metrics of every seed.

    >>> condition = Condition("point", robots=5, seeds=[1], seconds=0.5)
    >>> result = as_json(condition, compare(condition, laws=["averaging"]))
    >>> result["rows"][0]["ratio"]
    1.0
    """
    results = []
    for row in rows:
        value, error = ratio(row, rows[0])
        metrics = {name: numbers.tolist() for name, numbers in row.metrics.items()}
        results.append({"controller": row.title, "ratio": value, "ratio_error": error, **metrics})
    described = dataclasses.asdict(condition) | {"seeds": list(condition.seeds), "bodies": dict(condition.bodies)}
    return {**described, "rows": results}
