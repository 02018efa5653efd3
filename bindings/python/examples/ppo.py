"""PPO of stable-baselines3 with the network of the robots as the shared policy."""

import sys

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

import wdgnn
from wdgnn.envs.stable_baselines import SwarmVecEnv, WideDeepPolicy
from wdgnn.torch import Network


def total(network: Network, episodes: int = 10) -> float:
    """Mean total velocity variation over test episodes."""
    rows = wdgnn.fly(model=network.to_model(), online=False, starts=range(episodes))
    return sum(row["total"] for row in rows) / len(rows)


class PrintTotal(BaseCallback):
    """Prints the total of the network after every `every` rollouts."""

    def __init__(self, network: Network, every: int = 10) -> None:
        super().__init__()
        self.network, self.every, self.rollouts = network, every, 0

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.rollouts += 1
        if self.rollouts % self.every == 0:
            print(f"{self.num_timesteps} robot-ticks: total {total(self.network):.1f}", flush=True)


def train(network: Network, robot_ticks: int = 4_000_000, swarms: int = 8, robots: int = 25, print_every: int = 10) -> Network:
    """Trains the network with proximal policy optimization."""
    env = SwarmVecEnv(robots=robots, swarms=swarms, ticks=100, model=network.to_model())
    agent = PPO(
        WideDeepPolicy,
        env,
        policy_kwargs={"network": network, "log_std_init": 1.0},
        n_steps=100,
        batch_size=2000,
        n_epochs=5,
        learning_rate=lambda left: 1e-3 * left,
        gamma=0.95,
        gae_lambda=0.9,
        device="cpu",
    )
    agent.learn(robot_ticks, callback=PrintTotal(network, print_every))
    return network


if __name__ == "__main__":
    torch.manual_seed(1)
    path, ticks = (sys.argv[1] if len(sys.argv) > 1 else "ppo.wdgnn"), int(sys.argv[2]) if len(sys.argv) > 2 else 4_000_000
    network = Network.untrained()
    with torch.no_grad():
        # Features grow with 1/d⁴ at short distances: small weights limit the first outputs.
        for part in (*network.filters, network.wide):
            part *= 0.1
    print(f"untrained: total {total(network):.1f}")
    train(network, ticks).save(path)
    expert = sum(row["total"] for row in wdgnn.fly(controller="expert", starts=range(10))) / 10.0
    print(f"{path}: total {total(network):.1f}, expert {expert:.1f}")
