"""Flights: a controller moves the swarms of a world."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Protocol

import numpy as np

from .._native import Swarm
from .world import Array, World


class Controller(Protocol):
    """Controller of all swarms of a world.

    A controller has two methods; any object with them can fly:

    >>> class Brake:
    ...     def begin(self, world): pass
    ...     def commands(self, tick, states): return -5.0 * states[..., 2:]
    >>> bool((fly(PointMass(starts(robots=5)), Brake(), ticks=200).states[-1, ..., 2:] < 0.01).all())
    True
    """

    def begin(self, world: World) -> None:
        """Prepares for a flight from the present states of the world."""

    def commands(self, tick: int, states: Array) -> Array:
        """Commands in m/s², [swarm, robot, 2], for measured states, [swarm, robot, 4]."""


@dataclasses.dataclass(frozen=True)
class Flight:
    """Recording of a flight. Every array starts with [tick, swarm].

    >>> flight = fly(PointMass(starts(robots=5)), Averaging(gain=5.0), ticks=100)
    >>> flight.commands.shape, flight.tilt.shape, flight.variation.shape
    ((100, 1, 5, 2), (100, 1, 5), (100, 1))
    """

    #: True states at the begin of each tick, [tick, swarm, robot, 4].
    states: Array
    #: Limited commands in m/s², [tick, swarm, robot, 2].
    commands: Array
    #: Tilt at the end of each tick in degrees, [tick, swarm, robot].
    tilt: Array
    #: Duration of a tick in s.
    period: float

    @property
    def variation(self) -> Array:
        """Velocity variation in m²/s² at each tick, [tick, swarm]."""
        velocities = self.states[..., 2:]
        offsets = velocities - velocities.mean(axis=2, keepdims=True)
        return (offsets**2).sum(axis=-1).mean(axis=-1)


def fly(world: World, controller: Controller, *, ticks: int = 400, noise: float = 0.0, seed: int = 1) -> Flight:
    """Moves a world from its present states by a controller.

    `noise`: standard deviation of the measured velocities in m/s, per axis and tick.
    `seed`: seed of the noise. Flights with equal seeds have equal noise.

    >>> world = PointMass(starts(robots=5))
    >>> noisy = fly(world, Averaging(gain=5.0), ticks=100, noise=0.05)
    >>> bool(noisy.variation[-1] > 1e-5)
    True
    """
    random = np.random.default_rng(seed)
    states, commands, tilt = [], [], []
    controller.begin(world)
    for tick in range(ticks):
        states.append(world.states)
        measured = states[-1].copy()
        if noise > 0.0:
            measured[..., 2:] += noise * random.standard_normal(measured[..., 2:].shape)
        commands.append(np.clip(controller.commands(tick, measured), -world.limit, world.limit))
        world.step(commands[-1])
        tilt.append(world.tilt)
    return Flight(np.stack(states), np.stack(commands), np.stack(tilt), world.period)


def starts(*, robots: int = 10, speed: float = 1.0, seeds: Iterable[int] = (1,), radius: float = 2.0) -> Array:
    """Starts of `wdgnn.Swarm`, one per seed, [swarm, robot, 4].

    Robots stand on jittered rings, each in range of others. A velocity is the sum of one of the swarm and one of the robot,
    both uniform in ±`speed` m/s on each axis.

    >>> starts(robots=10, speed=2.0, seeds=[1, 2, 3]).shape
    (3, 10, 4)
    """
    swarms = (Swarm(robots=robots, speed=speed, radius=radius, seed=seed) for seed in seeds)
    return np.stack([swarm.states.astype(float) for swarm in swarms])
