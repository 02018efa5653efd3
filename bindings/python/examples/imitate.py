"""Imitation learning in forty lines: the network learns the expert's commands in the states that the network reaches."""

import sys

import torch

import wdgnn
from wdgnn.torch import Network


def train(network: Network, rounds: int = 40, robots: int = 30, ticks: int = 60, seed: int = 1) -> Network:
    """Trains with data-set aggregation: every round adds the states of one episode of the network."""
    optimizer = torch.optim.Adam(network.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, rounds, 1e-4)
    taps, commands = [], []
    for start in range(rounds):
        swarm = wdgnn.Swarm(robots=robots, model=network.to_model(), online=False, purpose="training", seed=seed, start=start)
        # The first round follows the expert. Later rounds follow the network.
        for _ in range(ticks):
            swarm.decide()
            expert = swarm.expert()
            taps.append(torch.from_numpy(swarm.taps.copy()).flatten(1))
            commands.append(torch.from_numpy(expert))
            swarm.step(expert if start == 0 else None)
        all_taps, all_commands = torch.cat(taps), torch.cat(commands)
        for _ in range(100):
            batch = torch.randint(len(all_taps), (512,))
            # The commands of the expert are limited, so larger outputs are no error.
            outputs = network.infer(all_taps[batch]).clamp(-12.0, 12.0)
            loss = torch.nn.functional.smooth_l1_loss(outputs, all_commands[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    return network


if __name__ == "__main__":
    torch.manual_seed(1)
    path = sys.argv[1] if len(sys.argv) > 1 else "imitation.wdgnn"
    train(Network.untrained(like="flocking-wd-gnn")).save(path)
    rows = wdgnn.fly(model=path, starts=range(10)), wdgnn.fly(controller="expert", starts=range(10))
    totals = [sum(row["total"] for row in episodes) / len(episodes) for episodes in rows]
    print(f"{path}: {totals[0]:.2f} total velocity variation, expert {totals[1]:.2f}")
