"""Command `python -m wdgnn.worlds`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from .._native import PROFILES, Error
from .compare import Condition, as_json, compare, table
from .world import WORLDS, world_class


def numbers(text: str) -> list[float]:
    """Positive numbers between commas.

    >>> numbers("1,2.5")
    [1.0, 2.5]
    """
    values = [float(word) for word in text.split(",")]
    if not all(0.0 < value < 1000.0 for value in values):
        raise argparse.ArgumentTypeError(f"must be positive numbers between commas, got {text}")
    return values


def parser() -> argparse.ArgumentParser:
    """Options of the command.

    >>> parser().parse_args(["compare", "rotorpy", "--robots", "25"]).robots
    25
    """
    program = argparse.ArgumentParser("python -m wdgnn.worlds", description="Swarms in simulators that others wrote.")
    commands = program.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "compare",
        help="compare networks with tuned baselines in a world",
        description="Compares networks with tuned baselines. Prints one table per speed: means over seeds ± standard errors, the"
        " largest tilt and the smallest distance. Baselines are tuned for each speed and body on the seeds of the table.",
        epilog="example: python -m wdgnn.worlds compare rotorpy --robots 10 --speeds 1,2,3 --seeds 10",
    )
    add = command.add_argument
    add("world", choices=WORLDS, help="world")
    add("--robots", type=int, default=10, metavar="N", help="robots per swarm [%(default)s]")
    add("--speeds", type=numbers, metavar="V,…", help="starting speeds per axis in m/s [those of the world]")
    add("--seeds", type=int, default=10, metavar="N", help="number of starts [%(default)s]")
    add("--first-seed", type=int, default=1, metavar="N", help="seed of the first start [%(default)s]")
    add("--seconds", type=float, default=4.0, help="length of a flight [%(default)s]")
    add("--radius", type=float, default=2.0, metavar="M", help="radio range in m [%(default)s]")
    add("--weights", action="append", metavar="FILE", help="weight file or name of a network; repeatable [that for these bodies]")
    add("--profile", choices=PROFILES, default="exact", help="link profile; baselines exchange at its rate [%(default)s]")
    add("--laws", default="averaging,smith-1,smith-3", metavar="LAW,…", help="baselines [%(default)s]")
    add("--unguarded", action="store_true", help="add each network without collision avoidance, as in the baselines")
    add("--mass", type=float, metavar="F", help="true mass relative to the assumed one [1]")
    add("--lag", type=float, metavar="F", help="lag of motors and attitude relative to the vehicle's [1]")
    add("--delay", type=float, metavar="S", help="extra delay of commands in s [0]")
    add("--noise", type=float, default=0.0, metavar="V", help="noise of measured velocities in m/s [%(default)s]")
    add("--json", action="store_true", help="print JSON with the metrics of every seed")
    add("--plot", metavar="FILE", help="write a figure: variation and commands over time")
    command.set_defaults(run=run_compare)
    return program


def run_compare(options: argparse.Namespace) -> None:
    """Runs `compare` and prints its results."""
    bodies = {name: value for name in ("mass", "lag", "delay") if (value := getattr(options, name)) is not None}
    if options.plot:
        from . import figure  # before the flights, so that a missing matplotlib costs no time
    if min(options.robots, options.seeds) < 1 or options.first_seed < 0 or options.seconds < 0.5:
        raise ValueError("robots and seeds must be at least 1, first-seed at least 0, seconds at least 0.5")
    laws = options.laws.split(",")
    if unknown := set(laws) - {"averaging", "smith-1", "smith-2", "smith-3"}:
        raise ValueError(f"unknown law {unknown.pop()}, use one of averaging, smith-1, smith-2, smith-3")
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    kind = world_class(options.world)
    found = []
    for speed in options.speeds or kind.speeds:
        condition = Condition(
            options.world,
            robots=options.robots,
            speed=speed,
            seeds=seeds,
            radius=options.radius,
            noise=options.noise,
            seconds=options.seconds,
            bodies=bodies,
        )
        rows = compare(
            condition,
            weights=options.weights or [None],
            profile=options.profile,
            laws=laws,
            unguarded=options.unguarded,
            report=lambda title: print(title, file=sys.stderr) if sys.stderr.isatty() else None,
        )
        found.append((condition, rows))
        if not options.json:
            body = "".join(f", {name} {value:g}" for name, value in bodies.items())
            noise = f", noise {options.noise:g} m/s" if options.noise else ""
            print(f"{options.world}: {options.robots} robots, ±{speed:g} m/s, {options.seeds} starts{body}{noise}")
            print(table(rows), "\n", flush=True)
    if options.json:
        json.dump([as_json(condition, rows) for condition, rows in found], sys.stdout, indent=1)
        print()
    if options.plot:
        figure.curves(found).savefig(options.plot, dpi=150)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command, and returns its exit code.

    >>> main(["compare", "point", "--robots", "0"])
    2
    """
    options = parser().parse_args(arguments)
    try:
        options.run(options)
    except (ValueError, TypeError, ModuleNotFoundError, OSError, Error) as error:
        print(f"wdgnn.worlds: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
