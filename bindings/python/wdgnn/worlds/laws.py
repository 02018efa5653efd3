"""Baselines of a few numbers: averaging of velocities, and averaging with a Smith predictor."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .world import Array, World


class Averaging:
    """Acceleration `u = gain · (mean of own and known velocities − own velocity)`.

    A robot hears the velocities of its neighbors at once. With more hops, it also hears what they knew at the exchange before.

    `gain`: gain in 1/s, a number or one per swarm.
    `hops`: number of hops.
    `interval`: ticks between two exchanges, that of the radio. Between them, robots keep what they heard.
    `radius`: radio range in m.

    >>> averaging = Averaging(gain=10.0)
    >>> world = PointMass([[[0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]]])
    >>> averaging.begin(world)
    >>> averaging.commands(0, world.states)[0, :, 0].tolist()
    [-5.0, 5.0]
    """

    def __init__(self, gain: ArrayLike, *, hops: int = 1, interval: int = 1, radius: float = 2.0) -> None:
        self.gain = np.asarray(gain, float).reshape(-1, 1, 1)
        self.hops, self.interval, self.radius = hops, interval, radius

    def begin(self, world: World) -> None:
        """Prepares for a flight."""
        self._period, self._limit = world.period, world.limit
        self._told: list[Array] = []
        self._reached: list[Array] = []

    def commands(self, tick: int, states: Array) -> Array:
        """Commands for measured states."""
        own = states[..., 2:]
        return self._steer(tick, states[..., :2], own)

    def _steer(self, tick: int, positions: Array, own: Array) -> Array:
        """Commands toward the mean of the told velocities; `own` is what each robot tells."""
        if tick % self.interval == 0:
            self._exchange(positions, own)
        return np.clip(self.gain * ((self._sum + own) / self._count - own), -self._limit, self._limit)

    def _exchange(self, positions: Array, told: Array) -> None:
        """Updates the sum and the number of the velocities that each robot knows."""
        offsets = positions[:, :, None] - positions[:, None]
        links = (offsets**2).sum(axis=-1) <= self.radius**2
        self._told = [told, *self._told][: self.hops]
        # Robots that each robot knows over one, two, … hops. A range of h hops spans h exchanges.
        wider = [(links.astype(np.float32) @ reached.astype(np.float32)) > 0.5 for reached in self._reached]
        self._reached = [links, *wider][: self.hops]
        known = np.broadcast_to(np.eye(links.shape[1], dtype=bool), links.shape)
        self._sum, self._count = np.zeros_like(told), np.ones((*told.shape[:2], 1))
        for reached, velocities in zip(self._reached, self._told):
            fresh = (reached & ~known).astype(float)
            self._sum += fresh @ velocities
            self._count += fresh.sum(axis=-1, keepdims=True)
            known = known | reached


class Smith(Averaging):
    """Averaging of predicted velocities, with a model of the body: a Smith predictor.

    The model follows the robot's own commands with a lag of `horizon` seconds. Each robot tells and uses the velocity that it
    will have when its body has followed its past commands: `v + horizon · a`, with `a` the acceleration of the model.

    `horizon`: lag of the model in s, a number or one per swarm.

    >>> world = PointMass(starts(robots=10, speed=1.0))
    >>> flight = fly(world, Smith(gain=50.0, horizon=0.1), ticks=200)
    >>> bool(flight.variation[-1] < 0.01)
    True
    """

    def __init__(
        self, gain: ArrayLike, horizon: ArrayLike, *, hops: int = 1, interval: int = 1, radius: float = 2.0
    ) -> None:
        super().__init__(gain, hops=hops, interval=interval, radius=radius)
        self.horizon = np.asarray(horizon, float).reshape(-1, 1, 1)

    def begin(self, world: World) -> None:
        """Prepares for a flight from rest of the model."""
        super().begin(world)
        self._acceleration = np.zeros((world.swarms, world.robots, 2))

    def commands(self, tick: int, states: Array) -> Array:
        """Commands for measured states."""
        predicted = states[..., 2:] + self.horizon * self._acceleration
        commands = self._steer(tick, states[..., :2], predicted)
        self._acceleration += -np.expm1(-self._period / self.horizon) * (commands - self._acceleration)
        return commands
