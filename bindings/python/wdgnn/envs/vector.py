"""Environment with the vector API of Gymnasium."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .arena import Arena


class SwarmVectorEnv(VectorEnv):
    """Several swarms whose robots share one policy. `num_envs` is the number of swarms times the number of robots.

    >>> env = SwarmVectorEnv("flocking", swarms=2, robots=5, ticks=10)
    >>> observations, infos = env.reset(seed=1)
    >>> env.num_envs, observations.shape
    (10, (10, 24))

    The end of an episode truncates all robots of a swarm, and the next episode starts in the same step. `infos["final_obs"]` has the
    last observations of the ended episode.

    `swarms`: number of swarms.
    `seed`: seed of the first swarm; the others have the following seeds.
    `options`: options of `Arena` and `wdgnn.Swarm`.
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
        """Starts the first episodes of a seed, or the next episodes without one."""
        seeds = [None if seed is None else seed + index for index in range(len(self.arenas))]
        return np.concatenate([arena.reset(seed) for arena, seed in zip(self.arenas, seeds)]), {}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:
        """Runs a tick of all swarms. `actions` has one row per robot."""
        seen, rewards, ended, final, infos = [], [], [], [], {}
        for arena, commands in zip(self.arenas, np.split(actions, len(self.arenas))):
            observations, swarm_rewards, swarm_ended = arena.step(commands)
            final.append(observations)
            seen.append(arena.reset() if swarm_ended else observations)
            rewards.append(swarm_rewards)
            ended.append(np.full(self.robots, swarm_ended))
        truncations = np.concatenate(ended)
        if truncations.any():
            infos = {"final_obs": np.concatenate(final), "_final_obs": truncations}
        terminations = np.zeros(self.num_envs, dtype=bool)
        return np.concatenate(seen), np.concatenate(rewards), terminations, truncations, infos
