"""PettingZoo's parallel API: every robot is an agent."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from .arena import Arena


class SwarmParallelEnv(ParallelEnv):
    """A swarm as agents `robot_0`, `robot_1`, …; a robot that is lost in flight is terminated, the end of a flight truncates.

    >>> env = SwarmParallelEnv("flocking", robots=3, ticks=10)
    >>> observations, infos = env.reset(seed=1)
    >>> observations["robot_0"].shape
    (24,)
    >>> observations, rewards, *_ = env.step({agent: env.action_space(agent).sample() for agent in env.agents})
    >>> all(reward <= 0.0 for reward in rewards.values())
    True

    Options are those of `Arena` and of `wdgnn.Swarm`.
    """

    metadata = {"name": "wdgnn_v0", "render_modes": [], "is_parallelizable": True}
    render_mode = None

    def __init__(self, task: str = "flocking", **options: Any) -> None:
        self.arena = Arena(task, **options)
        self.possible_agents = [f"robot_{robot}" for robot in range(len(self.arena.swarm))]
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Space:
        """The same for every robot."""
        return self.arena.observation_space

    def action_space(self, agent: str) -> spaces.Space:
        """The same for every robot: a command."""
        return self.arena.action_space

    def reset(self, seed: int | None = None, options: dict | None = None) -> tuple[dict, dict]:
        """Another flight."""
        seen = self.arena.begin(seed)
        self.agents = list(self.possible_agents)
        return self._by_agent(seen), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, np.ndarray]) -> tuple[dict, dict, dict, dict, dict]:
        """A tick. Robots without an action do nothing."""
        commands = np.zeros_like(self.arena.swarm.commands)
        for agent, action in actions.items():
            commands[self._index(agent)] = action
        seen, rewards, over = self.arena.step(commands)
        alive = self.arena.swarm.alive
        agents = self.agents
        gone = {agent: not alive[self._index(agent)] for agent in agents}
        results = (
            self._by_agent(seen),
            {agent: float(rewards[self._index(agent)]) for agent in agents},
            gone,
            {agent: over for agent in agents},
            {agent: {} for agent in agents},
        )
        self.agents = [] if over else [agent for agent in agents if not gone[agent]]
        return results

    def state(self) -> np.ndarray:
        """How everybody is."""
        return self.arena.swarm.states.copy()

    @staticmethod
    def _index(agent: str) -> int:
        return int(agent.removeprefix("robot_"))

    def _by_agent(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        return {agent: rows[self._index(agent)].copy() for agent in self.agents}


def parallel_env(task: str = "flocking", **options: Any) -> SwarmParallelEnv:
    """The environment by the name that PettingZoo's own have."""
    return SwarmParallelEnv(task, **options)
