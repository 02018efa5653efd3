"""Flies a swarm in a simulator that others wrote, and plots its paths.

    python examples/outside_world.py rotorpy --out rotorpy.png      # pip install 'wdgnn[rotorpy,plot]'
    python examples/outside_world.py dotbot --out dotbot.png
"""

import argparse

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import wdgnn
from wdgnn import worlds


def fly(name: str, robots: int, seconds: float, online: bool) -> np.ndarray:
    """Positions and velocities of a swarm at every tick, [tick, robot, 4]."""
    speed = worlds.world.world_class(name).speeds[0]
    swarm = wdgnn.Swarm(robots=robots, speed=speed, seed=3, online=online)
    world = worlds.open_world(name, swarm.states[None])  # a world of one swarm
    states = []
    for _ in range(round(seconds / world.period)):
        swarm.decide()  # the robots sense, exchange messages, infer and learn
        states.append(swarm.states.copy())
        swarm.step(states=world.step(swarm.commands[None])[0])  # the other simulator moves them
    return np.array(states)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("world", choices=worlds.world.WORLDS)
    options.add_argument("--robots", type=int, default=10)
    options.add_argument("--seconds", type=float, default=3.0)
    options.add_argument("--out", default="outside.png")
    chosen = options.parse_args()
    figure = Figure(figsize=(11, 5.5), layout="constrained")
    FigureCanvasAgg(figure)
    for panel, online in zip(figure.subplots(1, 2), (False, True)):
        states = fly(chosen.world, chosen.robots, chosen.seconds, online)
        panel.plot(states[..., 0], states[..., 1], linewidth=1)
        panel.quiver(*states[-1].T, angles="xy", width=0.004)
        panel.set_aspect("equal")
        panel.set_xlabel("x in m")
        panel.set_ylabel("y in m")
        variation = states[:, :, 2:].var(axis=1).sum()
        panel.set_title(f"{chosen.world}, {'learning' if online else 'offline'}: total variation {variation:.3g} m²/s²")
    figure.savefig(chosen.out, dpi=120)
    print(chosen.out)


if __name__ == "__main__":
    main()
