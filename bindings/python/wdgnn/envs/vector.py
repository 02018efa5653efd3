"""Gymnasium's vector API: every robot of several swarms is an environment of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .arena import Arena


class SwarmVectorEnv(VectorEnv):
    """`swarms` swarms of robots that share one policy: `num_envs` is swarms times robots.

    >>> env = SwarmVectorEnv("flocking", swarms=2, robots=5, ticks=10)
    >>> observations, infos = env.reset(seed=1)
    >>> env.num_envs, observations.shape
    (10, (10, 24))

    At the end of a flight all robots of a swarm are truncated, and the next flight begins in the same step: what was seen last is in
    `infos["final_obs"]`. Options are those of `Arena` and of `wdgnn.Swarm`.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}

    def __init__(self, task: str = "flocking", *, swarms: int = 1, seed: int = 1, **options: Any) -> None:
        self.arenas = [Arena(task, seed=seed + index, **options) for index in range(swarms)]
        first = self.arenas[0]
        self.robots = len(first.swarm)
        self.num_envs = swarms * self.robots
        self.single_observation_space, self.single_action_space = first.observation_space, first.action_space
        self.observation_space = batch_space(first.observation_space, self.num_envs)
        self.action_space = batch_space(first.action_space, self.num_envs)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        """Other flights: the first ones of this seed, or the next ones."""
        seeds = [None if seed is None else seed + index for index in range(len(self.arenas))]
        return np.concatenate([arena.begin(seed) for arena, seed in zip(self.arenas, seeds)]), {}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:
        """A tick of all swarms."""
        seen, rewards, over, final, infos = [], [], [], [], {}
        for arena, commands in zip(self.arenas, np.split(actions, len(self.arenas))):
            observations, paid, ends = arena.step(commands)
            final.append(observations)
            seen.append(arena.begin() if ends else observations)
            rewards.append(paid)
            over.append(np.full(self.robots, ends))
        truncations = np.concatenate(over)
        if truncations.any():
            infos = {"final_obs": np.concatenate(final), "_final_obs": truncations}
        nobody = np.zeros(self.num_envs, dtype=bool)
        return np.concatenate(seen), np.concatenate(rewards), nobody, truncations, infos
