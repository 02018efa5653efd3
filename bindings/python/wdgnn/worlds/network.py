"""Networks of `wdgnn.Swarm` as controllers of a world."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from .._native import Model, Swarm
from .world import Array, World


class Network:
    """One `wdgnn.Swarm` per swarm of the world: the robots' own code decides, the world moves.

    `model`: weight file, name or `Model` [that for the bodies of the world, else that of the profile].
    `online`: whether the robots learn in flight.
    `options`: further options of `wdgnn.Swarm`, such as `radius`, `profile` or `faults`.

    >>> world = PointMass(starts(robots=10, speed=1.0))
    >>> flight = fly(world, Network(online=False), ticks=200)
    >>> bool(flight.variation[-1] < 0.05 * flight.variation[0])
    True
    """

    def __init__(
        self, model: Model | str | PathLike[str] | None = None, *, online: bool = True, **options: Any
    ) -> None:
        self.options = {"model": model, "online": online, **options}

    def begin(self, world: World) -> None:
        """Prepares for a flight."""
        options = dict(self.options)
        if options.get("profile", "exact") == "exact":
            options["model"] = options["model"] or world.model
        self.swarms = [Swarm(robots=world.robots, seed=1 + index, **options) for index in range(world.swarms)]

    def commands(self, tick: int, states: Array) -> Array:
        """Commands for measured states. They also end the robots' tick before."""
        commands = []
        for swarm, rows in zip(self.swarms, states):
            if tick == 0:
                swarm.states[:] = rows
            else:
                swarm.step(states=rows)
            swarm.decide()
            commands.append(swarm.commands.astype(float))
        return np.stack(commands)
