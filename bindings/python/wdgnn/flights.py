"""Parallel episodes."""

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
    """Runs one episode for each start of each seed, in parallel, and returns their `Swarm.results()`.

    `ticks`: length of an episode in ticks of 10 ms.
    `threads`: number of parallel episodes [number of processors].
    `options`: options of `Swarm`.

    >>> rows = fly(robots=10, seeds=[1, 2], ticks=50)
    >>> [(row["seed"], row["ticks"], row["total"] > 0.0) for row in rows]
    [(1, 50, True), (2, 50, True)]

    `pandas.DataFrame(fly(...))` makes a table of the rows.
    """

    def run(episode: tuple[int, int]) -> dict[str, Any]:
        seed, start = episode
        swarm = Swarm(task, seed=seed, start=start, **options)
        swarm.run(ticks)
        return swarm.results()

    starts = list(starts)
    episodes = [(seed, start) for seed in seeds for start in starts]
    # `Swarm.run` releases Python's lock, so threads run in parallel.
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        return list(pool.map(run, episodes))
