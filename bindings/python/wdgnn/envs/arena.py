"""One swarm whose commands come from outside: what robots see, and what they are paid."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from .._native import Swarm

#: Numbers are given as they are; a box says how large they can be.
LARGEST = 1.0e4


class Arena:
    """A swarm in flights of `ticks` ticks.

    `observe="taps"`: what the network of each robot reads, its own observation and what came over k hops; `"states"`: the robot's own
    state. `guard`: actions are limited, steered and kept apart as a network's output is, so that a policy meets in flight what it met
    in training. All other options are `Swarm`'s: task, robots, faults, profile, ….

    Each robot is paid minus its share of the score: for flocking, the square of its distance from the mean velocity.
    """

    def __init__(
        self, task: str = "flocking", *, ticks: int = 200, observe: str = "taps", guard: bool = True, **options: Any
    ) -> None:
        if observe not in ("taps", "states"):
            raise ValueError(f"there is no observation {observe}: there are taps, states")
        options.setdefault("online", False)
        options.setdefault("purpose", "training")
        self.swarm = Swarm(task, **options)
        self.ticks, self.observe, self.guard = ticks, observe, guard
        self._start = options.get("start", 0)
        size = self.observations().shape[1]
        self.observation_space = spaces.Box(-LARGEST, LARGEST, (size,), np.float32)
        limits = self.swarm.limits
        self.action_space = spaces.Box(-limits, limits, limits.shape, np.float32)

    def begin(self, seed: int | None = None) -> np.ndarray:
        """Another flight: the first of this seed, or the next one."""
        self._start = 0 if seed is not None else self._start + 1
        self.swarm.reset(seed=seed, start=self._start)
        self.swarm.think()
        return self.observations()

    def observations(self) -> np.ndarray:
        """One row per robot."""
        seen = self.swarm.taps if self.observe == "taps" else self.swarm.states
        return np.clip(seen.reshape(len(self.swarm), -1), -LARGEST, LARGEST)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
        """A tick by these actions, one row per robot: observations, rewards, and whether the flight is over."""
        self.swarm.step(np.ascontiguousarray(actions, np.float32), guard=self.guard)
        rewards = -self.shares()
        over = self.swarm.tick >= self.ticks
        if not over:
            self.swarm.think()
        return self.observations(), rewards, over

    def shares(self) -> np.ndarray:
        """Every robot's share of the score; their mean is the score."""
        swarm = self.swarm
        if not swarm.task.startswith("flocking"):
            return np.full(len(swarm), swarm.score)
        velocities = swarm.states[:, swarm.states.shape[1] // 2 :].astype(np.float64)
        return np.square(velocities - velocities.mean(axis=0)).sum(axis=1)
