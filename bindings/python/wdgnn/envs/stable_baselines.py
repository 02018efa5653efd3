"""Swarms as a vector environment of stable-baselines3, and a policy whose actor is the network of the robots.

The actor is a `wdgnn.torch.Network`: `network.save("ppo.wdgnn")` writes the trained policy as a weight file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

from ..torch import Network
from .vector import SwarmVectorEnv


class SwarmVecEnv(VecEnv):
    """`SwarmVectorEnv` with the interface of stable-baselines3."""

    def __init__(self, task: str = "flocking", **options: Any) -> None:
        self.env = SwarmVectorEnv(task, **options)
        super().__init__(self.env.num_envs, self.env.single_observation_space, self.env.single_action_space)

    def reset(self) -> np.ndarray:
        return self.env.reset()[0]

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict]]:
        seen, rewards, _, truncated, infos = self.env.step(self._actions)
        final: list[dict] = [{} for _ in range(self.num_envs)]
        for index in np.flatnonzero(truncated):
            final[index] = {"terminal_observation": infos["final_obs"][index], "TimeLimit.truncated": True}
        return seen, rewards, truncated, final

    def close(self) -> None:
        pass

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.env, attr_name, None)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        setattr(self.env, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        return [getattr(self.env, method_name)(*args, **kwargs)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs


class _Extractor(nn.Module):
    """Layers between the observation and the heads of actor and critic."""

    def __init__(self, network: Network, size: int) -> None:
        super().__init__()
        self.network = network
        self.latent_dim_pi, self.latent_dim_vf = network.header["hidden"], 64
        self.value = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())

    def forward(self, taps: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.forward_actor(taps), self.forward_critic(taps)

    def forward_actor(self, taps: torch.Tensor) -> torch.Tensor:
        return self.network.hidden(taps)

    def forward_critic(self, taps: torch.Tensor) -> torch.Tensor:
        return self.value(taps)


class _Readout(nn.Module):
    """Readout of the network as the head of the actor."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.readout, self.readout_bias = network.readout, network.readout_bias

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden @ self.readout + self.readout_bias


class WideDeepPolicy(ActorCriticPolicy):
    """A policy whose mean action is the output of `network`.

    `PPO(WideDeepPolicy, env, policy_kwargs={"network": network})` trains the network.
    """

    def __init__(self, *args: Any, network: Network, **kwargs: Any) -> None:
        # In a list, so that torch does not register its parameters a second time.
        self._network = [network]
        super().__init__(*args, ortho_init=False, **kwargs)

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = _Extractor(self._network[0], self.features_dim)

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        self.action_net = _Readout(self._network[0])
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)
