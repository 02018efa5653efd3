"""Backpropagation through time in forty lines: differentiates the score of whole episodes in torch."""

import sys

import torch

import wdgnn
from wdgnn.torch import Flock, Network


def starts(count: int, robots: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Positions in m and velocities in m/s at the start of `count` episodes."""
    swarm = wdgnn.Swarm(robots=robots, purpose="training", seed=seed)
    states = []
    for start in range(count):
        swarm.reset(start=start)
        states.append(torch.from_numpy(swarm.states.copy()))
    return torch.stack(states).chunk(2, dim=-1)


def train(network: Network, steps: int = 200, episodes: int = 8, robots: int = 25, ticks: int = 60) -> Network:
    """Minimizes the mean score of episodes, relative to their first score."""
    flock = Flock(network.header)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, 2e-4)
    for step in range(steps):
        positions, velocities = starts(episodes, robots, seed=step)
        first, loss, delay_lines = flock.velocity_variation(velocities), 0.0, None
        for _ in range(ticks):
            adjacency = flock.adjacency(positions)
            # Collision avoidance is not part of the network, so positions have no gradient.
            outputs, delay_lines = network(flock.observe(positions, velocities, adjacency), adjacency, delay_lines)
            positions, velocities = flock.step(positions.detach(), velocities, outputs)
            loss = loss + (flock.velocity_variation(velocities) / first).mean() / ticks
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return network


def braking(network: Network) -> Network:
    """Initializes both parts to reduce velocity differences. With random weights, a swarm can fly apart and learn nothing."""
    with torch.no_grad():
        for part in (*network.filters, network.wide):
            part *= 0.1
            part[:, 2:] = 0.0  # ignores positions
        for axis in range(2):
            network.wide[:, axis] -= 30.0 * network.readout[:, axis] / network.readout[:, axis].square().sum() / 4.0
    # Gain adaptation helps robots with slow actuators only, which these episodes do not have.
    network.header["learning"] = dict(network.header["learning"], heeds=False)
    return network


if __name__ == "__main__":
    torch.manual_seed(1)
    path = sys.argv[1] if len(sys.argv) > 1 else "through.wdgnn"
    train(braking(Network.untrained())).save(path)
    rows = wdgnn.fly(model=path, starts=range(10)), wdgnn.fly(controller="expert", starts=range(10))
    totals = [sum(row["total"] for row in runs) / len(runs) for runs in rows]
    print(f"{path}: {totals[0]:.2f} total velocity variation, expert {totals[1]:.2f}")
