"""World of Crazyflow's Crazyflies, commanded by attitude and thrust."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from crazyflow.control import Control
from crazyflow.dynamics import Dynamics
from crazyflow.sim import Sim
from crazyflow.sim import functional as setters
from numpy.typing import ArrayLike

from .world import Array, World

DRONE = "cf2x_L250"
GRAVITY = 9.81
#: Steps of 2 ms per tick.
STEPS = 5
#: Gains that hold the height, in 1/s² and 1/s, and the height in m.
HEIGHT_GAINS = (4.0, 3.0)
HEIGHT = 5.0
#: Ticks of hovering before a flight, in which rotors and controllers reach their rest.
SETTLING = 150


class Crazyflow(World):
    """Crazyflies of Crazyflow: rigid bodies with rotor dynamics and the attitude controller of the firmware.

    An acceleration is flown as the attitude and thrust that cause it at rest. Vehicles hold their height.

    `mass`: true mass relative to the one that the vehicle assumes.

    >>> world = Crazyflow(starts(robots=3, speed=1.0))
    >>> flight = fly(world, Averaging(gain=6.0), ticks=100)
    >>> bool(flight.variation[-1] < 0.2 * flight.variation[0])
    True
    """

    model = "quadrotor-wd-gnn"

    def __init__(self, starts: ArrayLike, *, mass: float = 1.0, delay: float = 0.0) -> None:
        self._mass = mass
        super().__init__(starts, delay=delay)

    def begin(self, starts: Array) -> None:
        """Places the vehicles, which have hovered before."""
        data, self._advance = simulation(self.swarms, self.robots)
        self._assumed_mass = float(np.ravel(data.params.mass)[0])
        data = data.replace(params=data.params.replace(mass=data.params.mass * self._mass))
        grid = jnp.zeros((self.swarms, self.robots, 3)).at[..., 2].set(HEIGHT)
        self._data = data.replace(states=data.states.replace(pos=grid))
        for _ in range(SETTLING):
            self.move(np.zeros((self.swarms, self.robots, 2)))
        place, velocity = np.array(self._data.states.pos), np.array(self._data.states.vel)
        place[..., :2], velocity[..., :2] = starts[..., :2], starts[..., 2:]
        self._data = self._data.replace(states=self._data.states.replace(pos=jnp.array(place), vel=jnp.array(velocity)))

    @property
    def states(self) -> Array:
        """True positions and velocities in the plane, [swarm, robot, 4]."""
        states = self._data.states
        return np.concatenate([np.asarray(states.pos)[..., :2], np.asarray(states.vel)[..., :2]], axis=-1).astype(float)

    @property
    def tilt(self) -> Array:
        """Angle between thrust and the upright in degrees, [swarm, robot]."""
        x, y, *_ = np.moveaxis(np.asarray(self._data.states.quat, float), -1, 0)
        return np.degrees(np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0)))

    def move(self, commands: Array) -> None:
        """Moves all vehicles for one tick."""
        states = self._data.states
        stiffness, damping = HEIGHT_GAINS
        height, climb = np.asarray(states.pos, float)[..., 2], np.asarray(states.vel, float)[..., 2]
        up = GRAVITY + stiffness * (HEIGHT - height) - damping * climb
        force = np.concatenate([commands, up[..., None]], axis=-1)
        length = np.linalg.norm(force, axis=-1)
        roll = np.arcsin(-force[..., 1] / length)
        pitch = np.arctan2(force[..., 0], force[..., 2])
        wanted = np.stack([roll, pitch, np.zeros_like(roll), self._assumed_mass * length], axis=-1)
        self._data = self._advance(self._data, jnp.array(wanted, jnp.float32))


@lru_cache(maxsize=8)
def simulation(swarms: int, robots: int) -> tuple[Any, Any]:
    """Data at rest, and a compiled function that advances them by one tick. One world of Crazyflow per swarm.

    >>> data, advance = simulation(1, 3)
    >>> data.states.pos.shape
    (1, 3, 3)
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = Sim(n_worlds=swarms, n_drones=robots, drone=DRONE, dynamics=Dynamics.first_principles, control=Control.attitude)
    step = sim.build_step_fn()
    return sim.data, jax.jit(lambda data, wanted: step(setters.attitude_control(data, wanted), n_steps=STEPS))
