"""Trains a network in torch, runs it in the simulator and on emulated microcontrollers.

    python bindings/python/examples/train_fly_flash.py --out my.wdgnn

The last run uses the firmware with the new weights in flash, on one emulated Cortex-M4F per robot in QEMU. Its digest must equal
that of the run in Python. Needs this repository, Rust with the target thumbv7em-none-eabihf, and qemu-system-arm.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess

import torch
from through_time import braking, train

import wdgnn
from wdgnn.torch import Network

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]


def host_sim(*arguments: str) -> dict:
    """Runs `host-sim` and returns its JSON output."""
    program = os.environ.get("HOST_SIM")
    command = [program] if program else ["cargo", "run", "--quiet", "-p", "host-sim", "--"]
    finished = subprocess.run([*command, *arguments, "--json"], cwd=REPOSITORY, capture_output=True, text=True)
    if finished.returncode != 0:
        raise SystemExit(finished.stderr)
    return json.loads(finished.stdout)


def mean(rows: list[dict]) -> float:
    """Mean total of the episodes."""
    return sum(row["total"] for row in rows) / len(rows)


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("my.wdgnn"), help="weight file to write [my.wdgnn]")
    parser.add_argument("--steps", type=int, default=200, help="training steps [200]")
    parser.add_argument("--flights", type=int, default=10, help="test episodes [10]")
    parser.add_argument("--robots", type=int, default=10, help="emulated robots [10]")
    parser.add_argument("--ticks", type=int, default=100, help="ticks of the emulated run [100]")
    options = parser.parse_args()

    torch.manual_seed(1)
    network = braking(Network.untrained())
    print(f"untrained: {mean(wdgnn.fly(model=network.to_model(), starts=range(options.flights))):.2f}")
    model = train(network, options.steps).save(options.out)
    total = mean(wdgnn.fly(model=model, starts=range(options.flights)))
    expert = mean(wdgnn.fly(controller="expert", starts=range(options.flights)))
    print(f"trained:   {total:.2f} total velocity variation, expert {expert:.2f}")

    path = str(options.out.resolve())
    flock = host_sim("eval", "--model", path, "--swarms", str(options.flights), "--seed", "1")
    ours = flock["controllers"]["wd-gnn-online"]["total"]["mean"]
    print(f"host-sim eval --model {options.out}: {ours:.2f}")

    swarm = wdgnn.Swarm(robots=options.robots, model=model)
    swarm.run(options.ticks)
    condition = ("--robots", str(options.robots), "--ticks", str(options.ticks), "--model", path)
    emulated = host_sim("run", "--target", "qemu", *condition)["digest"]
    print(f"digest in Python {swarm.digest()}, of emulated Cortex-M4Fs {emulated}")
    if emulated != swarm.digest():
        raise SystemExit("the digests differ")


if __name__ == "__main__":
    main()
