"""Many flights, one row of a table each."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ._native import Swarm


def fly(
    task: str = "flocking",
    *,
    seeds: Iterable[int] = (1,),
    starts: Iterable[int] = (0,),
    ticks: int = 200,
    threads: int | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    """Flies every start of every seed, on all processors, and returns a row for each, as pandas likes it.

    >>> rows = fly(robots=10, seeds=[1, 2], ticks=50)
    >>> [(row["seed"], row["ticks"], row["total"] > 0.0) for row in rows]
    [(1, 50, True), (2, 50, True)]

    `pandas.DataFrame(fly(...))` is a table; `options` are those of `Swarm`.
    """

    def one(flight: tuple[int, int]) -> dict[str, Any]:
        seed, start = flight
        swarm = Swarm(task, seed=seed, start=start, **options)
        swarm.run(ticks)
        return swarm.results()

    starts = list(starts)
    flights = [(seed, start) for seed in seeds for start in starts]
    # Swarms fly without Python's lock.
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        return list(pool.map(one, flights))
