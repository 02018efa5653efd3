"""World of DotBots: robots with two wheels, with the bodies of DotBot's simulator."""

from __future__ import annotations

import math

import numpy as np
from dotbot.kinematics import LEVER_ARM_EFFECTIVE_MM, forward, track_effective_mm
from dotbot.sim.plant import DUTY_BREAKAWAY, DUTY_PER_MM_S, DUTY_RUN, TICK_S, WHEEL_TAU_S, FleetPlant
from numpy.typing import ArrayLike

from .world import Array, World

#: Distance between the swarms in mm. They never meet.
APART = 1e6
#: Largest difference between the wanted and the true velocity in mm/s, which limits the windup.
WINDUP = 150.0
#: Wheel speed below which a wheel shall stand, in mm/s.
STANDING = 2.0
MM = 1000.0


class DotBot(World):
    """DotBots of Inria's simulator (`dotbot.sim.plant.FleetPlant`): motors with a lag of 50 ms, a dead zone and contacts.

    A state is that of the robot's photodiode, 51.5 mm ahead of the axle, which can move in every direction. The wanted velocity
    is the integral of the commands; wheels get the duty that holds their part of it.

    `lag`: time constant of the wheels relative to the simulator's.

    >>> world = DotBot(starts(robots=5, speed=0.1))
    >>> flight = fly(world, Averaging(gain=10.0), ticks=200)
    >>> bool(flight.variation[-1] < 0.02 * flight.variation[0])
    True
    """

    speeds = (0.1, 0.25)
    horizons = (0.005, 0.08)
    gains = (2.0, 200.0)

    def __init__(self, starts: ArrayLike, *, lag: float = 1.0, delay: float = 0.0) -> None:
        self._lag = lag
        super().__init__(starts, delay=delay)
        if not math.isclose(self.period, TICK_S):
            raise RuntimeError(f"the simulator of DotBot must have ticks of {self.period} s, got {TICK_S}")

    def begin(self, starts: Array) -> None:
        """Places the robots, which roll in the direction that they face."""
        x, y, vx, vy = np.moveaxis(starts.reshape(-1, 4), -1, 0) * MM
        heading = np.degrees(np.arctan2(-vx, vy))
        ahead = np.stack(forward(heading), axis=1)
        self._offset = np.repeat(APART * np.arange(self.swarms), self.robots)
        axle = np.stack([x + self._offset, y], axis=1) - LEVER_ARM_EFFECTIVE_MM * ahead
        self._plant = FleetPlant(axle[:, 0], axle[:, 1], heading, rng=np.random.default_rng(1))
        self._plant.speed[:] = np.hypot(vx, vy)
        self._plant._gain = -math.expm1(-TICK_S / (self._lag * WHEEL_TAU_S))
        self._wanted = np.stack([vx, vy], axis=1)
        self._nowhere = np.zeros(len(x), bool)

    def _axes(self) -> tuple[Array, Array]:
        """Directions in which the photodiode moves when a robot rolls and when it turns."""
        radians = np.radians(self._plant.heading_deg)
        ahead = np.stack(forward(self._plant.heading_deg), axis=1)
        return ahead, np.stack([-np.cos(radians), -np.sin(radians)], axis=1)

    def _velocities(self) -> Array:
        """Velocities of the photodiodes in mm/s."""
        left, right = self._plant.speed
        ahead, aside = self._axes()
        turn = (left - right) / track_effective_mm(left, right)
        return 0.5 * (left + right)[:, None] * ahead + LEVER_ARM_EFFECTIVE_MM * turn[:, None] * aside

    @property
    def states(self) -> Array:
        """True positions and velocities of the photodiodes, [swarm, robot, 4]."""
        x, y = self._plant.photodiode()
        places = np.stack([x - self._offset, y], axis=1)
        return (np.concatenate([places, self._velocities()], axis=1) / MM).reshape(self.swarms, self.robots, 4)

    def move(self, commands: Array) -> None:
        """Moves all robots for one tick."""
        now = self._velocities()
        wanted = self._wanted + self.period * MM * commands.reshape(-1, 2)
        self._wanted = now + np.clip(wanted - now, -WINDUP, WINDUP)
        ahead, aside = self._axes()
        roll = (self._wanted * ahead).sum(axis=1)
        turn = (self._wanted * aside).sum(axis=1) / LEVER_ARM_EFFECTIVE_MM
        # The track depends on the ratio of the wheels' speeds: two rounds are within 0.1 %.
        track = np.full_like(roll, 85.0)
        for _ in range(2):
            track = track_effective_mm(roll + 0.5 * turn * track, roll - 0.5 * turn * track)
        wheels = np.stack([roll + 0.5 * turn * track, roll - 0.5 * turn * track])
        duty = np.sign(wheels) * (DUTY_RUN + DUTY_PER_MM_S * np.abs(wheels))
        # A wheel at rest needs more duty to break away.
        rests = (np.abs(self._plant.speed) < 1.0) & (np.abs(duty) < DUTY_BREAKAWAY)
        duty = np.where(rests, np.sign(wheels) * DUTY_BREAKAWAY, duty)
        stands = np.abs(wheels) < STANDING
        self._plant.pwm[:] = np.where(stands, 0.0, np.clip(duty, -100.0, 100.0))
        self._plant.brake[:] = stands
        self._plant.step(self._nowhere)
