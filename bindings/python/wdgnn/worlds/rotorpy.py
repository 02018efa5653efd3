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

    model = "quadrotor-wd-gnn"

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
        vehicle = self._vehicle
        # One column per vehicle, in the order of RotorPy's packed state.
        body = np.zeros((16 + vehicle.num_rotors, self.swarms * self.robots))
        flat = starts.reshape(-1, 4).T
        body[0:2], body[3:5] = flat[:2], flat[2:]
        body[9] = 1.0
        body[ROTORS] = np.sqrt(self._mass * vehicle.g / (vehicle.num_rotors * vehicle.k_eta))
        self._body = body

    @property
    def states(self) -> Array:
        """True positions and velocities in the plane, [swarm, robot, 4]."""
        return self._body[[0, 1, 3, 4]].T.reshape(self.swarms, self.robots, 4)

    @property
    def heights(self) -> Array:
        """Heights above the start in m, [swarm, robot]."""
        return self._body[2].reshape(self.swarms, self.robots)

    @property
    def tilt(self) -> Array:
        """Angle between thrust and the upright in degrees, [swarm, robot]."""
        upright = np.clip(rotations(self._body[QUATERNION])[2, 2], -1.0, 1.0)
        return np.degrees(np.arccos(upright)).reshape(self.swarms, self.robots)

    def move(self, commands: Array) -> None:
        """Moves all vehicles for one tick."""
        stiffness, damping = HEIGHT_GAINS
        up = self._vehicle.g - stiffness * self._body[2] - damping * self._body[5]
        wanted = np.concatenate([commands.reshape(-1, 2).T, up[None]])
        if self._exact:
            vehicles = zip(self._body.T, wanted.T)
            self._body = np.stack([self._step_one(row, command) for row, command in vehicles], axis=1)
            return
        rotors = self._rotor_commands(self._body, wanted)
        h, y = self.period, self._body
        k1 = self._rates(y, rotors)
        k2 = self._rates(y + 0.5 * h * k1, rotors)
        k3 = self._rates(y + 0.5 * h * k2, rotors)
        k4 = self._rates(y + h * k3, rotors)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        y[QUATERNION] /= np.sqrt((y[QUATERNION] ** 2).sum(axis=0))
        y[ROTORS] = np.clip(y[ROTORS], self._vehicle.rotor_speed_min, self._vehicle.rotor_speed_max)
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
        rotation, rates = rotations(body[QUATERNION]), body[RATES]
        force = wanted * self._assumed_mass
        thrust = (force * rotation[:, 2]).sum(axis=0)
        up = force / np.sqrt((force**2).sum(axis=0))
        side = cross(up, np.array([1.0, 0.0, 0.0])[:, None] + np.zeros_like(up))
        side /= np.sqrt((side**2).sum(axis=0))
        goal = np.stack([cross(side, up), side, up], axis=1)
        # Skew part of goal' · rotation: the attitude error.
        first, second = ((2, 0, 1), (1, 2, 0))
        error = 0.5 * np.stack(
            [(goal[:, i] * rotation[:, k] - rotation[:, i] * goal[:, k]).sum(axis=0) for i, k in zip(first, second)]
        )
        turn = vehicle.inertia @ (-vehicle.kp_att * error - vehicle.kd_att * rates)
        moment = turn + cross(rates, vehicle.inertia @ rates)
        squares = vehicle.TM_to_f @ np.concatenate([thrust[None], moment]) / vehicle.k_eta
        speeds = np.sign(squares) * np.sqrt(np.abs(squares))
        return np.clip(speeds, vehicle.rotor_speed_min, vehicle.rotor_speed_max)

    def _rates(self, body: Array, rotors: Array) -> Array:
        """Time derivative of the packed states."""
        vehicle = self._vehicle
        rates, speeds = body[RATES], body[ROTORS]
        rotation = rotations(body[QUATERNION])
        air = sum(rotation[axis] * body[3 + axis] for axis in range(3))
        # Air at each rotor, and its force, [rotor, vehicle] per axis.
        p, q, r = rates
        x, y, z = vehicle.rotor_geometry.T[:, :, None]
        local = air[0] + q * z - r * y, air[1] + r * x - p * z, air[2] + p * y - q * x
        drag = np.diag(vehicle.rotor_drag_matrix)
        fx, fy, fz = (-drag[axis] * speeds * local[axis] for axis in range(3))
        squares = speeds**2
        fz += vehicle.k_eta * squares + vehicle.k_h * (local[0] ** 2 + local[1] ** 2)
        moment = np.stack([(y * fz - z * fy).sum(axis=0), (z * fx - x * fz).sum(axis=0), (x * fy - y * fx).sum(axis=0)])
        moment[2] += vehicle.k_m * (vehicle.rotor_dir @ squares)
        moment[0] -= vehicle.k_flap * (speeds * local[1]).sum(axis=0)
        moment[1] += vehicle.k_flap * (speeds * local[0]).sum(axis=0)
        force = np.stack([fx.sum(axis=0), fy.sum(axis=0), fz.sum(axis=0)])
        force -= np.diag(vehicle.drag_matrix)[:, None] * np.sqrt((air**2).sum(axis=0)) * air
        change = np.zeros_like(body)
        change[PLACE] = body[VELOCITY]
        change[VELOCITY] = sum(rotation[:, axis] * force[axis] for axis in range(3)) / self._mass
        change[5] -= vehicle.g
        x, y, z, w = body[QUATERNION]
        change[6] = 0.5 * (w * p + y * r - z * q)
        change[7] = 0.5 * (w * q + z * p - x * r)
        change[8] = 0.5 * (w * r + x * q - y * p)
        change[9] = 0.5 * (-x * p - y * q - z * r)
        change[RATES] = vehicle.inv_inertia @ (moment - cross(rates, vehicle.inertia @ rates))
        change[ROTORS] = (rotors - speeds) / vehicle.tau_m
        return change


def cross(a: Array, b: Array) -> Array:
    """Cross products of the columns of two arrays.

    >>> cross(np.eye(3)[:, :1], np.eye(3)[:, 1:2]).ravel().tolist()
    [0.0, 0.0, 1.0]
    """
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def rotations(quaternions: Array) -> Array:
    """Rotation matrices of quaternions (x, y, z, w) of any length, [3, 3, robot].

    >>> rotations(np.array([[0.0], [0.0], [0.0], [2.0]]))[..., 0].tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    x, y, z, w = quaternions / np.sqrt((quaternions**2).sum(axis=0))
    xx, yy, zz, xy, xz, yz, xw, yw, zw = x * x, y * y, z * z, x * y, x * z, y * z, x * w, y * w, z * w
    return np.stack(
        [
            np.stack([1 - 2 * (yy + zz), 2 * (xy - zw), 2 * (xz + yw)]),
            np.stack([2 * (xy + zw), 1 - 2 * (xx + zz), 2 * (yz - xw)]),
            np.stack([2 * (xz - yw), 2 * (yz + xw), 1 - 2 * (xx + yy)]),
        ]
    )
