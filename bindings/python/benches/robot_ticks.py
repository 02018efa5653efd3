"""Robot-ticks per CPU second of `wdgnn.Swarm` and of an equivalent swarm in PyTorch.

    python bindings/python/benches/robot_ticks.py

In both, every robot senses, exchanges taps, infers, averages its wide parameters with those of its neighbors and takes a learning
step at every tick. The swarm in PyTorch is one batch, without neighbor tables, plausibility checks, guard and frames.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import wdgnn


def measure(name: str, robots: int, ticks: int, run: Callable[[int], object]) -> None:
    """Prints the speed of `run(ticks)` after a warm-up."""
    run(max(ticks // 20, 2))
    start, wall = time.process_time(), time.perf_counter()
    run(ticks)
    seconds, wall = time.process_time() - start, time.perf_counter() - wall
    rate = robots * ticks / seconds
    print(f"{name:<28} {robots:6} robots  {rate:12,.0f} robot-ticks per CPU second  {robots * ticks / wall:12,.0f} per second")


def torch_swarm(robots: int) -> Callable[[int], None]:
    """Function that runs a swarm in PyTorch for a number of ticks."""
    import torch

    from wdgnn.torch import Flock, Network

    torch.set_num_threads(1)
    network = Network.load("flocking-wd-gnn").requires_grad_(False)
    flock, rule = Flock(network.header), network.header["learning"]
    offline = (network.wide @ network.readout).flatten(0, 1)
    constant = (network.alpha_wide * network.wide_bias + network.beta) @ network.readout + network.readout_bias
    state = torch.from_numpy(wdgnn.Swarm(robots=robots).states.copy()).chunk(2, dim=-1)
    memory = {"state": state, "delay_line": network.initial_delay_lines(robots)[0], "wide": offline.expand(robots, -1, -1).clone()}

    def run(ticks: int) -> None:
        for _ in range(ticks):
            positions, velocities = memory["state"]
            adjacency = flock.adjacency(positions)
            features = flock.observe(positions, velocities, adjacency)
            delay_line = torch.cat([features.unsqueeze(-2), network.exchange(memory["delay_line"], adjacency)], dim=-2)
            taps = delay_line.flatten(-2)
            deep = torch.tanh(taps @ network.filters[0].flatten(0, 1) + network.biases[0]) @ network.readout
            wide = torch.einsum("ni,nio->no", taps, memory["wide"])
            outputs = constant + network.alpha_deep * deep + network.alpha_wide * wide
            # Gradient of the velocity variance of a robot and its neighbors after the tick.
            near = adjacency + torch.eye(robots)
            count = near.sum(-1, keepdim=True)
            after = velocities + flock.period * outputs.clamp(-flock.limit, flock.limit)
            deviation = after - (adjacency @ velocities + after) / count
            gradient = 2.0 * flock.period / count * deviation * network.alpha_wide
            mixed = near @ memory["wide"].flatten(1) / count
            stepped = mixed.view_as(memory["wide"]) - rule["step"] * taps.unsqueeze(-1) * gradient.unsqueeze(-2)
            off = stepped - offline
            reach = rule["ball"] * offline.norm()
            norm = off.flatten(1).norm(dim=-1).clamp(min=1.0e-9)
            memory["wide"] = offline + off * (reach / norm).clamp(max=1.0)[:, None, None]
            memory["state"], memory["delay_line"] = flock.step(positions, velocities, outputs), delay_line

    return run


if __name__ == "__main__":
    swarm = wdgnn.Swarm(robots=50)
    measure("wdgnn, online", 50, 4000, swarm.run)
    measure("wdgnn, online, step by step", 50, 2000, lambda ticks: [swarm.step() for _ in range(ticks)])
    measure("wdgnn, offline", 50, 4000, wdgnn.Swarm(robots=50, online=False).run)
    faulty = wdgnn.Swarm(robots=50, profile="dot154", faults={"drop_chance": 0.1})
    measure("wdgnn, radio with losses", 50, 400, faulty.run)
    for robots in (1000, 5000):
        measure("wdgnn, online", robots, 60_000 // robots, wdgnn.Swarm(robots=robots).run)
    try:
        for robots, ticks in ((50, 400), (1000, 20)):
            measure("PyTorch, online", robots, ticks, torch_swarm(robots))
    except ImportError:
        sys.exit("torch is not installed: skipping PyTorch")
