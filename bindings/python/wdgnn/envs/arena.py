"""One swarm with observations, actions and rewards, the base of the environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from .._native import Swarm

#: Bound of the observation space. Larger observations are clipped.
MAX_OBSERVATION = 1.0e4


class Arena:
    """A swarm in episodes of `ticks` ticks.

    `observe`: `"taps"` for the input of the robot's network, or `"states"` for the robot's own state.
    `guard`: whether actions pass the safety gate of the robots. With the gate, a policy behaves on a robot as in training.
    `options`: options of `Swarm`, such as robots, faults and profile.

    The reward of a robot is minus its cost. The mean cost of all robots is the score: for flocking, a robot's cost is the squared
    distance of its velocity from the mean velocity in m²/s².
    """

    def __init__(
        self, task: str = "flocking", *, ticks: int = 200, observe: str = "taps", guard: bool = True, **options: Any
    ) -> None:
        if observe not in ("taps", "states"):
            raise ValueError(f"unknown observation {observe}, use taps or states")
        options.setdefault("online", False)
        options.setdefault("purpose", "training")
        self.swarm = Swarm(task, **options)
        self.ticks, self.observe, self.guard = ticks, observe, guard
        self._start = options.get("start", 0)
        size = self.observations().shape[1]
        self.observation_space = spaces.Box(-MAX_OBSERVATION, MAX_OBSERVATION, (size,), np.float32)
        limits = self.swarm.limits
        self.action_space = spaces.Box(-limits, limits, limits.shape, np.float32)

    def reset(self, seed: int | None = None) -> np.ndarray:
        """Starts the first episode of a seed, or the next episode without one. Returns the observations."""
        self._start = 0 if seed is not None else self._start + 1
        self.swarm.reset(seed=seed, start=self._start)
        self.swarm.decide()
        return self.observations()

    def observations(self) -> np.ndarray:
        """Observations, one row per robot."""
        values = self.swarm.taps if self.observe == "taps" else self.swarm.states
        return np.clip(values.reshape(len(self.swarm), -1), -MAX_OBSERVATION, MAX_OBSERVATION)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
        """Runs a tick with these actions, one row per robot. Returns observations, rewards and whether the episode has ended."""
        self.swarm.step(np.ascontiguousarray(actions, np.float32), guard=self.guard)
        rewards = -self.costs()
        ended = self.swarm.tick >= self.ticks
        if not ended:
            self.swarm.decide()
        return self.observations(), rewards, ended

    def costs(self) -> np.ndarray:
        """Cost of every robot. The mean of the costs is the score."""
        swarm = self.swarm
        if not swarm.task.startswith("flocking"):
            return np.full(len(swarm), swarm.score)
        velocities = swarm.states[:, swarm.states.shape[1] // 2 :].astype(np.float64)
        return np.square(velocities - velocities.mean(axis=0)).sum(axis=1)
