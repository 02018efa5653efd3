"""Training through time in forty lines: whole flights in torch, and the derivative of their score."""

import sys

import torch

import wdgnn
from wdgnn.torch import Flock, Network


def starts(count: int, robots: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Positions and velocities of swarms that are about to set off."""
    swarm = wdgnn.Swarm(robots=robots, purpose="training", seed=seed)
    states = []
    for start in range(count):
        swarm.reset(start=start)
        states.append(torch.from_numpy(swarm.states.copy()))
    return torch.stack(states).chunk(2, dim=-1)


def train(network: Network, steps: int = 200, flights: int = 8, robots: int = 25, ticks: int = 60) -> Network:
    """Makes the sum of the scores of flights less, relative to where they began."""
    flock = Flock(network.header)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps, 2e-4)
    for step in range(steps):
        positions, velocities = starts(flights, robots, seed=step)
        first, loss, chains = flock.variation(velocities), 0.0, None
        for _ in range(ticks):
            heard = flock.heard(positions)
            # Keeping apart is the guard's business: no derivative goes through positions.
            outputs, chains = network(flock.observe(positions, velocities, heard), heard, chains)
            positions, velocities = flock.step(positions.detach(), velocities, outputs)
            loss = loss + (flock.variation(velocities) / first).mean() / ticks
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
    return network


def cautious(network: Network) -> Network:
    """From random weights a swarm may fly apart, and nothing is learned from that: both parts begin as a brake to the mean."""
    with torch.no_grad():
        for part in (*network.filters, network.wide):
            part *= 0.1
            part[:, 2:] = 0.0  # positions are none of its business
        for axis in range(2):
            network.wide[:, axis] -= 30.0 * network.readout[:, axis] / network.readout[:, axis].square().sum() / 4.0
    # Heeding what came of commands is for robots that lag, and costs those that do not.
    network.header["learning"] = dict(network.header["learning"], heeds=False)
    return network


if __name__ == "__main__":
    torch.manual_seed(1)
    path = sys.argv[1] if len(sys.argv) > 1 else "through.wdgnn"
    train(cautious(Network.untrained())).save(path)
    rows = wdgnn.fly(model=path, starts=range(10)), wdgnn.fly(controller="expert", starts=range(10))
    totals = [sum(row["total"] for row in flights) / len(flights) for flights in rows]
    print(f"{path}: {totals[0]:.2f} of velocity variation, expert {totals[1]:.2f}")
