"""Interface of a world, and a world of point masses."""

from __future__ import annotations

import abc
import importlib
import inspect
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

#: Worlds by name: module, class and the packages that they need.
WORLDS = {
    "point": ("world", "PointMass", ()),
    "rotorpy": ("rotorpy", "RotorPy", ("rotorpy",)),
    "dotbot": ("dotbot", "DotBot", ("dotbot",)),
    "crazyflow": ("crazyflow", "Crazyflow", ("crazyflow", "jax")),
}


class World(abc.ABC):
    """Bodies of several swarms in a plane. Robots of different swarms do not meet.

    `starts`: positions in m and velocities in m/s at the start, [swarm, robot, 4].
    `delay`: time between a command and its effect in s, in whole ticks.

    >>> world = PointMass(np.zeros((1, 2, 4)), delay=0.01)
    >>> world.step(np.full((1, 2, 2), 5.0))[0, 0]          # the first command has no effect yet
    array([0., 0., 0., 0.])
    >>> world.step(np.zeros((1, 2, 2)))[0, 0].round(6).tolist()
    [0.00025, 0.00025, 0.05, 0.05]
    """

    #: Duration of a tick in s.
    period = 0.01
    #: Maximum command per axis in m/s².
    limit = 10.0
    #: Horizons in s between which the Smith predictor is tuned.
    horizons = (0.02, 0.16)
    #: Starting speeds of a comparison in m/s.
    speeds = (1.0, 2.0, 3.0)
    #: Gains in 1/s between which averaging is tuned.
    gains = (2.0, 40.0)
    #: Name of the network for these bodies; `None` for that of the profile.
    model: str | None = None

    def __init__(self, starts: ArrayLike, *, delay: float = 0.0) -> None:
        states = np.array(starts, float)
        if states.ndim != 3 or states.shape[2] != 4 or not np.isfinite(states).all():
            raise ValueError(f"starts must be finite and have the shape [swarm, robot, 4], got {list(states.shape)}")
        self.swarms, self.robots = states.shape[:2]
        self._waiting = np.zeros((round(delay / self.period), self.swarms, self.robots, 2))
        self.begin(states)

    @abc.abstractmethod
    def begin(self, starts: Array) -> None:
        """Places the bodies."""

    @property
    @abc.abstractmethod
    def states(self) -> Array:
        """True positions in m and velocities in m/s, [swarm, robot, 4]."""

    @abc.abstractmethod
    def move(self, commands: Array) -> None:
        """Moves all bodies for one tick. Commands are accelerations in m/s², [swarm, robot, 2]."""

    @property
    def tilt(self) -> Array:
        """Angle between each body and the upright in degrees, [swarm, robot]. Zero for vehicles on the ground."""
        return np.zeros((self.swarms, self.robots))

    def step(self, commands: ArrayLike) -> Array:
        """Moves all bodies for one tick, and returns their states. Commands are limited, and take effect after the delay."""
        commands = np.clip(np.asarray(commands, float), -self.limit, self.limit)
        if commands.shape != (self.swarms, self.robots, 2) or not np.isfinite(commands).all():
            expected = [self.swarms, self.robots, 2]
            raise ValueError(f"commands must be finite and have the shape {expected}, got {list(commands.shape)}")
        if len(self._waiting):
            due = self._waiting[0].copy()
            self._waiting[:-1] = self._waiting[1:]
            self._waiting[-1] = commands
            commands = due
        self.move(commands)
        return self.states


class PointMass(World):
    """Bodies that accelerate by the command within a tick, as in `wdgnn.Swarm`.

    >>> swarm = wdgnn.Swarm(robots=5, controller="averaging-1-hop")
    >>> world = PointMass(swarm.states[None])
    >>> for _ in range(20):
    ...     swarm.step()
    ...     states = world.step(swarm.commands[None])
    >>> bool(np.abs(states[0] - swarm.states).max() < 1e-5)
    True
    """

    def begin(self, starts: Array) -> None:
        """Places the bodies."""
        self._states = starts

    @property
    def states(self) -> Array:
        """True positions and velocities, [swarm, robot, 4]."""
        return self._states

    def move(self, commands: Array) -> None:
        """Moves all bodies for one tick."""
        positions, velocities = self._states[..., :2], self._states[..., 2:]
        positions = positions + self.period * velocities + 0.5 * self.period**2 * commands
        self._states = np.concatenate([positions, velocities + self.period * commands], axis=-1)


def open_world(name: str, starts: ArrayLike, **options: Any) -> World:
    """World with this name. A package that is not installed raises `ModuleNotFoundError` with the command to install it.

    >>> open_world("point", starts(robots=5)).states.shape
    (1, 5, 4)
    >>> open_world("chess", np.zeros((1, 2, 4)))
    Traceback (most recent call last):
    ValueError: unknown world chess, use one of point, rotorpy, dotbot, crazyflow
    """
    kind = world_class(name)
    valid = [option for option in inspect.signature(kind).parameters if option != "starts"]
    if unknown := sorted(set(options) - set(valid)):
        raise ValueError(f"the world {name} has no option {unknown[0]}, use one of {', '.join(valid)}")
    return kind(starts, **options)


def world_class(name: str) -> type[World]:
    """Class of the world with this name.

    >>> world_class("point").limit
    10.0
    """
    if name not in WORLDS:
        raise ValueError(f"unknown world {name}, use one of {', '.join(WORLDS)}")
    module, kind, packages = WORLDS[name]
    try:
        return getattr(importlib.import_module(f".{module}", __package__), kind)
    except ModuleNotFoundError as error:
        if error.name not in packages:
            raise
        raise ModuleNotFoundError(
            f"the world {name} needs the package {error.name}: pip install 'wdgnn[{name}]'", name=error.name
        ) from error
