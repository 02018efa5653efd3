"""Imitation in forty lines: robots fly by the network, the expert says what it would have done, the network learns from that."""

import sys

import torch

import wdgnn
from wdgnn.torch import Network


def train(network: Network, rounds: int = 40, robots: int = 30, ticks: int = 60, seed: int = 1) -> Network:
    """Data-set aggregation: every round adds what the network has met on its own way."""
    optimiser = torch.optim.Adam(network.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, rounds, 1e-4)
    taps, answers = [], []
    for start in range(rounds):
        swarm = wdgnn.Swarm(robots=robots, model=network.to_model(), online=False, purpose="training", seed=seed, start=start)
        # The first round follows the expert, and later ones the network, from where it errs.
        for _ in range(ticks):
            swarm.think()
            expert = swarm.expert()
            taps.append(torch.from_numpy(swarm.taps.copy()).flatten(1))
            answers.append(torch.from_numpy(expert))
            swarm.step(expert if start == 0 else None)
        all_taps, all_answers = torch.cat(taps), torch.cat(answers)
        for _ in range(100):
            batch = torch.randint(len(all_taps), (512,))
            # Where the expert gives all it has, more is as good.
            said = network.infer(all_taps[batch]).clamp(-12.0, 12.0)
            loss = torch.nn.functional.smooth_l1_loss(said, all_answers[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        schedule.step()
    return network


if __name__ == "__main__":
    torch.manual_seed(1)
    path = sys.argv[1] if len(sys.argv) > 1 else "imitation.wdgnn"
    train(Network.untrained(like="flocking-wd-gnn")).save(path)
    rows = wdgnn.fly(model=path, starts=range(10)), wdgnn.fly(controller="expert", starts=range(10))
    totals = [sum(row["total"] for row in flights) / len(flights) for flights in rows]
    print(f"{path}: {totals[0]:.2f} of velocity variation, expert {totals[1]:.2f}")
