"""Swarms in simulators that others wrote: states in, commands out.

    python -m wdgnn.worlds compare rotorpy --robots 10 --speeds 1,2,3 --seeds 10

prints how well a network and tuned baselines align a swarm in such a world.

| name | bodies | package |
|---|---|---|
| `rotorpy` | Crazyflies of RotorPy, commanded by accelerations (`cmd_acc`) | `wdgnn[rotorpy]` |
| `dotbot` | robots with two wheels, of DotBot's simulator | `wdgnn[dotbot]` |
| `crazyflow` | Crazyflies of Crazyflow, commanded by attitude and thrust | `wdgnn[crazyflow]` |
| `point` | point masses, as in `wdgnn.Swarm` | |

A world has the bodies of several swarms, which it moves together. A controller turns their states into commands.

>>> import numpy as np
>>> from wdgnn.worlds import Averaging, PointMass, fly, starts
>>> world = PointMass(starts(robots=10, speed=1.0, seeds=[1, 2]))
>>> flight = fly(world, Averaging(gain=10.0), ticks=400)
>>> flight.states.shape                                     # [tick, swarm, robot, number]
(400, 2, 10, 4)
>>> bool((flight.variation[-1] < 0.01 * flight.variation[0]).all())
True
"""

from .flight import Flight, fly, starts
from .laws import Averaging, Smith
from .metrics import METRICS, measure
from .network import Network
from .world import PointMass, World, open_world

__all__ = [
    "METRICS",
    "Averaging",
    "Flight",
    "Network",
    "PointMass",
    "Smith",
    "World",
    "fly",
    "measure",
    "open_world",
    "starts",
]
