"""The workload of `host-sim bench` in PyTorch (f32, one thread), measured in one run with host-sim.

    python -m venv peer && peer/bin/pip install torch numpy
    peer/bin/python host-sim/benches/peer/peer.py target/debug/host-sim

Times are processor time (`time.process_time`), the minimum of several runs. Without the path of the program, only PyTorch is measured.

Training: forward pass, backward pass and Adam step of a batch of 200,000 samples in the WD-GNN (six features, three hops, 32 hidden features).
Simulation: in each tick, every robot computes features, exchanges taps, infers, averages parameters with its neighbors and takes a learning step.
The PyTorch version uses one batch of dense matrices, without neighbor tables, plausibility checks, collision avoidance and frames.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time

import torch

FEATURES, TAPS, HIDDEN, OUTPUTS, SAMPLES = 6, 4, 32, 2, 200_000
PERIOD, LIMIT, RADIUS = 0.01, 10.0, 2.0


def shortest(runs: int, work) -> float:
    work()
    best = math.inf
    for _ in range(runs):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def batch() -> float:
    """Seconds of a training batch."""
    inputs = FEATURES * TAPS
    taps, labels = torch.rand(SAMPLES, inputs) * 2 - 1, torch.rand(SAMPLES, OUTPUTS) * 2 - 1
    draw = lambda *shape: torch.nn.Parameter(torch.rand(*shape) * 0.6 - 0.3)  # noqa: E731
    alphas, filters, bias = draw(3), draw(inputs, HIDDEN), draw(HIDDEN)
    wide, wide_bias, readout, readout_bias = draw(inputs, HIDDEN), draw(HIDDEN), draw(HIDDEN, OUTPUTS), draw(OUTPUTS)
    parameters = [alphas, filters, bias, wide, wide_bias, readout, readout_bias]
    adam = torch.optim.Adam(parameters, lr=1.0e-4)

    def step() -> None:
        adam.zero_grad(set_to_none=True)
        deep = torch.tanh(torch.addmm(bias, taps, filters)) @ readout
        # Folded, as in host-sim: the wide part has two columns instead of 32.
        folded = wide @ readout
        constant = (alphas[1] * wide_bias + alphas[2]) @ readout + readout_bias
        outputs = constant + alphas[0] * deep + alphas[1] * (taps @ folded)
        loss = torch.nn.functional.huber_loss(outputs.clamp(-LIMIT, LIMIT), labels, delta=5.0)
        loss.backward()
        adam.step()

    return shortest(15, step)


def flight(swarms: int, robots: int, ticks: int) -> float:
    """Robot steps per second of several swarms in one batch."""
    torch.manual_seed(1)
    # On a disc, with the density of the initial rings.
    across = math.sqrt(robots) * 1.05 / math.sqrt(math.pi)
    angle, reach = torch.rand(swarms, robots) * math.tau, across * torch.rand(swarms, robots).sqrt()
    positions = torch.stack([reach * angle.cos(), reach * angle.sin()], dim=-1)
    velocities = torch.rand(swarms, robots, 2) * 6 - 3
    filters, bias = torch.rand(FEATURES * TAPS, HIDDEN) * 0.2 - 0.1, torch.zeros(HIDDEN)
    readout, offline = torch.rand(HIDDEN, OUTPUTS) * 0.2 - 0.1, torch.rand(FEATURES * TAPS, OUTPUTS) * 0.02 - 0.01
    memory = {
        "positions": positions,
        "velocities": velocities,
        "chain": torch.zeros(swarms, robots, TAPS, FEATURES),
        "wide": offline.expand(swarms, robots, -1, -1).clone(),
    }
    itself = torch.eye(robots)

    def fly() -> None:
        for _ in range(ticks):
            positions, velocities = memory["positions"], memory["velocities"]
            apart = positions.unsqueeze(-2) - positions.unsqueeze(-3)
            square = apart.square().sum(-1)
            heard = ((square <= RADIUS * RADIUS) & (itself == 0)).float()
            degree = heard.sum(-1, keepdim=True)
            inverse = heard / square.clamp(min=1.0e-2)
            features = torch.cat(
                [
                    degree * velocities - heard @ velocities,
                    (apart * (inverse * inverse).unsqueeze(-1)).sum(-2),
                    (apart * inverse.unsqueeze(-1)).sum(-2),
                ],
                dim=-1,
            )
            before = memory["chain"][..., : TAPS - 1, :].flatten(-2)
            exchanged = (heard @ before / degree.clamp(min=1.0)).unflatten(-1, (TAPS - 1, FEATURES))
            chain = torch.cat([features.unsqueeze(-2), exchanged], dim=-2)
            taps = chain.flatten(-2)
            outputs = torch.tanh(taps @ filters + bias) @ readout
            outputs = outputs + (taps.unsqueeze(-2) @ memory["wide"]).squeeze(-2)
            commands = outputs.clamp(-LIMIT, LIMIT)
            near, count = heard + itself, degree + 1.0
            after = velocities + PERIOD * commands
            gradient = 2.0 * PERIOD / count * (after - (heard @ velocities + after) / count)
            mixed = (near @ memory["wide"].flatten(-2) / count).unflatten(-1, offline.shape)
            stepped = mixed - taps.unsqueeze(-1) * gradient.unsqueeze(-2)
            off = stepped - offline
            norm = off.flatten(-2).norm(dim=-1).clamp(min=1.0e-9)
            memory["wide"] = offline + off * (offline.norm() / norm).clamp(max=1.0)[..., None, None]
            memory["chain"] = chain
            memory["positions"] = positions + PERIOD * velocities + 0.5 * PERIOD * PERIOD * commands
            memory["velocities"] = after

    return swarms * robots * ticks / shortest(5, fly)


def main() -> None:
    torch.set_num_threads(1)
    torch.set_grad_enabled(True)
    ours = {}
    if len(sys.argv) > 1:
        command = [sys.argv[1], "bench", "--json", "--largest", "2000"]
        ours = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print(f"{'':34}{'PyTorch':>12}{'wdgnn':>12}{'times':>8}   torch {torch.__version__}, one thread, CPU time")

    def row(what: str, theirs: float, mine: float | None, less: bool, unit: str) -> None:
        times = "" if mine is None else f"{theirs / mine if less else mine / theirs:8.1f}"
        print(f"{what:34}{theirs:12.4g}{'' if mine is None else f'{mine:12.4g}':>12}{times:>8}   {unit}")

    row("batch of 200,000 samples", batch(), ours.get("train_cpu_seconds_per_batch"), True, "CPU s")
    torch.set_grad_enabled(False)
    steps = ours.get("robot_steps_per_cpu_second", {})
    for swarms, robots, ticks in ((1, 50, 200), (8, 50, 100), (1, 500, 20), (1, 2000, 4)):
        what = f"{robots} robots" if swarms == 1 else f"{swarms} swarms of {robots} robots"
        row(what, flight(swarms, robots, ticks), steps.get(str(robots)), False, "robot-steps per CPU s")


if __name__ == "__main__":
    main()
