"""Environment with the parallel API of PettingZoo."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from .arena import Arena


class SwarmParallelEnv(ParallelEnv):
    """A swarm whose robots are the agents `robot_0`, `robot_1`, ….

    A killed robot is terminated, and the end of an episode truncates all robots.

    >>> env = SwarmParallelEnv("flocking", robots=3, ticks=10)
    >>> observations, infos = env.reset(seed=1)
    >>> observations["robot_0"].shape
    (24,)
    >>> observations, rewards, *_ = env.step({agent: env.action_space(agent).sample() for agent in env.agents})
    >>> all(reward <= 0.0 for reward in rewards.values())
    True

    `options`: options of `Arena` and `wdgnn.Swarm`.
    """

    metadata = {"name": "wdgnn_v0", "render_modes": [], "is_parallelizable": True}
    render_mode = None

    def __init__(self, task: str = "flocking", **options: Any) -> None:
        self.arena = Arena(task, **options)
        self.possible_agents = [f"robot_{robot}" for robot in range(len(self.arena.swarm))]
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Space:
        """Observation space, which all robots share."""
        return self.arena.observation_space

    def action_space(self, agent: str) -> spaces.Space:
        """Action space, which all robots share: a command."""
        return self.arena.action_space

    def reset(self, seed: int | None = None, options: dict | None = None) -> tuple[dict, dict]:
        """Starts the first episode of a seed, or the next episode without one."""
        observations = self.arena.reset(seed)
        self.agents = list(self.possible_agents)
        return self._by_agent(observations), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, np.ndarray]) -> tuple[dict, dict, dict, dict, dict]:
        """Runs a tick. Robots without an action have the command 0."""
        commands = np.zeros_like(self.arena.swarm.commands)
        for agent, action in actions.items():
            commands[self._index(agent)] = action
        observations, rewards, ended = self.arena.step(commands)
        alive = self.arena.swarm.alive
        agents = self.agents
        killed = {agent: not alive[self._index(agent)] for agent in agents}
        results = (
            self._by_agent(observations),
            {agent: float(rewards[self._index(agent)]) for agent in agents},
            killed,
            {agent: ended for agent in agents},
            {agent: {} for agent in agents},
        )
        self.agents = [] if ended else [agent for agent in agents if not killed[agent]]
        return results

    def state(self) -> np.ndarray:
        """States of all robots, one row per robot."""
        return self.arena.swarm.states.copy()

    @staticmethod
    def _index(agent: str) -> int:
        return int(agent.removeprefix("robot_"))

    def _by_agent(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        return {agent: rows[self._index(agent)].copy() for agent in self.agents}


def parallel_env(task: str = "flocking", **options: Any) -> SwarmParallelEnv:
    """Returns a `SwarmParallelEnv`. This is the usual name of a PettingZoo environment."""
    return SwarmParallelEnv(task, **options)
