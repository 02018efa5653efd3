"""World of RotorPy's Crazyflies, commanded by accelerations (`cmd_acc`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from rotorpy.vehicles.crazyflie_params import quad_params
from rotorpy.vehicles.multirotor import Multirotor

from .world import Array, World

# Numbers of RotorPy's packed state: place, velocity, quaternion, body rates, wind, rotor speeds.
PLACE, VELOCITY, QUATERNION, RATES, ROTORS = slice(0, 3), slice(3, 6), slice(6, 10), slice(10, 13), slice(16, 20)
#: Gains that hold the height, in 1/s² and 1/s.
HEIGHT_GAINS = (4.0, 3.0)


class RotorPy(World):
    """Crazyflies of RotorPy 3 at a constant height.

    The vehicles' own controller turns accelerations into rotor speeds once per tick, as in RotorPy. All vehicles are computed
    together: the equations and parameters are those of `rotorpy.vehicles.multirotor.Multirotor`, integrated by one step of
    Runge-Kutta 4 per tick. With `exact`, `Multirotor.step` itself moves each vehicle, 150 times slower; tests compare both.

    `mass`: true mass relative to the one that the vehicle assumes.
    `lag`: time scale of motors and attitude controller, relative to the Crazyflie's.
    `drag`: scale of the rotors' drag.

    >>> world = RotorPy(starts(robots=5, speed=1.0), lag=1.2)
    >>> flight = fly(world, Averaging(gain=8.0), ticks=100)
    >>> bool(10.0 < flight.tilt.max() < 60.0)
    True
    """

    def __init__(
        self,
        starts: ArrayLike,
        *,
        mass: float = 1.0,
        lag: float = 1.0,
        drag: float = 1.0,
        delay: float = 0.0,
        exact: bool = False,
    ) -> None:
        self._exact = exact
        # Motors and attitude that are `lag` times slower: the closed loop is scaled in time.
        slower = {
            "tau_m": quad_params["tau_m"] * lag,
            "kp_att": quad_params["kp_att"] / lag**2,
            "kd_att": quad_params["kd_att"] / lag,
            "k_d": quad_params["k_d"] * drag,
            "k_z": quad_params["k_z"] * drag,
        }
        self._vehicle = Multirotor({**quad_params, **slower}, control_abstraction="cmd_acc")
        self._assumed_mass = self._vehicle.mass
        self._mass = self._vehicle.mass * mass
        super().__init__(starts, delay=delay)

    def begin(self, starts: Array) -> None:
        """Places the vehicles, upright and hovering."""
        body = np.zeros((self.swarms * self.robots, 20))
        flat = starts.reshape(-1, 4)
        body[:, 0:2], body[:, 3:5] = flat[:, :2], flat[:, 2:]
        body[:, 9] = 1.0
        vehicle = self._vehicle
        body[:, ROTORS] = np.sqrt(self._mass * vehicle.g / (vehicle.num_rotors * vehicle.k_eta))
        self._body = body

    @property
    def states(self) -> Array:
        """True positions and velocities in the plane, [swarm, robot, 4]."""
        return np.concatenate([self._body[:, 0:2], self._body[:, 3:5]], axis=1).reshape(self.swarms, self.robots, 4)

    @property
    def heights(self) -> Array:
        """Heights above the start in m, [swarm, robot]."""
        return self._body[:, 2].reshape(self.swarms, self.robots)

    @property
    def tilt(self) -> Array:
        """Angle between thrust and the upright in degrees, [swarm, robot]."""
        upright = np.clip(rotations(self._body[:, QUATERNION])[:, 2, 2], -1.0, 1.0)
        return np.degrees(np.arccos(upright)).reshape(self.swarms, self.robots)

    def move(self, commands: Array) -> None:
        """Moves all vehicles for one tick."""
        stiffness, damping = HEIGHT_GAINS
        wanted = np.empty((len(self._body), 3))
        wanted[:, :2] = commands.reshape(-1, 2)
        wanted[:, 2] = self._vehicle.g - stiffness * self._body[:, 2] - damping * self._body[:, 5]
        if self._exact:
            self._body = np.stack([self._step_one(row, command) for row, command in zip(self._body, wanted)])
            return
        rotors = self._rotor_commands(self._body, wanted)
        h, y = self.period, self._body
        k1 = self._rates(y, rotors)
        k2 = self._rates(y + 0.5 * h * k1, rotors)
        k3 = self._rates(y + 0.5 * h * k2, rotors)
        k4 = self._rates(y + h * k3, rotors)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        y[:, QUATERNION] /= np.linalg.norm(y[:, QUATERNION], axis=1, keepdims=True)
        limits = self._vehicle.rotor_speed_min, self._vehicle.rotor_speed_max
        y[:, ROTORS] = np.clip(y[:, ROTORS], *limits)
        self._body = y

    def _step_one(self, row: Array, command: Array) -> Array:
        """Moves one vehicle by RotorPy's own code."""
        vehicle = self._vehicle
        state: dict[str, Any] = Multirotor._unpack_state(row)
        vehicle.mass = self._assumed_mass
        rotors = vehicle.get_cmd_motor_speeds(state, {"cmd_acc": command})
        vehicle.mass, vehicle.weight = self._mass, np.array([0.0, 0.0, -self._mass * vehicle.g])
        vehicle.control_abstraction = "cmd_motor_speeds"
        state = vehicle.step(state, {"cmd_motor_speeds": rotors}, self.period)
        vehicle.control_abstraction = "cmd_acc"
        return Multirotor._pack_state(state)

    def _rotor_commands(self, body: Array, wanted: Array) -> Array:
        """Rotor speeds for wanted accelerations, gravity included: RotorPy's controller `cmd_acc`."""
        vehicle = self._vehicle
        rotation, rates = rotations(body[:, QUATERNION]), body[:, RATES]
        force = wanted * self._assumed_mass
        thrust = (force * rotation[:, :, 2]).sum(axis=1)
        up = force / np.linalg.norm(force, axis=1, keepdims=True)
        side = np.cross(up, [1.0, 0.0, 0.0])
        side /= np.linalg.norm(side, axis=1, keepdims=True)
        goal = np.stack([np.cross(side, up), side, up], axis=-1)
        product = np.swapaxes(goal, 1, 2) @ rotation
        skew = 0.5 * (product - np.swapaxes(product, 1, 2))
        error = np.stack([-skew[:, 1, 2], skew[:, 0, 2], -skew[:, 0, 1]], axis=1)
        turn = (-vehicle.kp_att * error - vehicle.kd_att * rates) @ vehicle.inertia.T
        moment = turn + np.cross(rates, rates @ vehicle.inertia.T)
        squares = np.concatenate([thrust[:, None], moment], axis=1) @ vehicle.TM_to_f.T / vehicle.k_eta
        speeds = np.sign(squares) * np.sqrt(np.abs(squares))
        return np.clip(speeds, vehicle.rotor_speed_min, vehicle.rotor_speed_max)

    def _rates(self, body: Array, rotors: Array) -> Array:
        """Time derivative of the packed states."""
        vehicle = self._vehicle
        quaternion, rates, speeds = body[:, QUATERNION], body[:, RATES], body[:, ROTORS]
        rotation = rotations(quaternion)
        air = np.einsum("nji,nj->ni", rotation, body[:, VELOCITY])
        local = air[:, None] + np.cross(rates[:, None], vehicle.rotor_geometry)
        forces = -speeds[..., None] * (local @ vehicle.rotor_drag_matrix.T)
        forces[..., 2] += vehicle.k_eta * speeds**2 + vehicle.k_h * (local[..., 0] ** 2 + local[..., 1] ** 2)
        body_drag = np.linalg.norm(air, axis=1, keepdims=True) * (air @ vehicle.drag_matrix.T)
        moment = np.cross(vehicle.rotor_geometry, forces).sum(axis=1)
        moment[:, 2] += vehicle.k_m * (speeds**2 @ vehicle.rotor_dir)
        if vehicle.k_flap:
            moment -= vehicle.k_flap * (speeds[..., None] * np.cross(local, [0.0, 0.0, 1.0])).sum(axis=1)
        change = np.zeros_like(body)
        change[:, PLACE] = body[:, VELOCITY]
        change[:, VELOCITY] = np.einsum("nij,nj->ni", rotation, forces.sum(axis=1) - body_drag) / self._mass
        change[:, 5] -= vehicle.g
        x, y, z, w = quaternion.T
        p, q, r = rates.T
        change[:, QUATERNION] = 0.5 * np.stack(
            [w * p + y * r - z * q, w * q + z * p - x * r, w * r + x * q - y * p, -x * p - y * q - z * r], axis=1
        )
        spin = rates @ vehicle.inertia.T
        change[:, RATES] = (moment - np.cross(rates, spin)) @ vehicle.inv_inertia.T
        change[:, ROTORS] = (rotors - speeds) / vehicle.tau_m
        return change


def rotations(quaternions: Array) -> Array:
    """Rotation matrices of quaternions (x, y, z, w) of any length, [robot, 3, 3].

    >>> rotations(np.array([[0.0, 0.0, 0.0, 2.0]]))[0].tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    x, y, z, w = (quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)).T
    entries = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(entries), -1, 0)
