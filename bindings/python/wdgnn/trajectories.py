"""Trajectories that `host-sim run|eval --trajectories FILE` writes.

>>> import pathlib, tempfile
>>> file = pathlib.Path(tempfile.mkdtemp(), "run.csv")
>>> rows = ["expert,0,0,2.5,0,1,1,0.5,1.0,3.0,4.0", "expert,1,0.01,1.5,0,1,1,0.53,1.04,3.0,4.0"]
>>> heading = "controller,tick,seconds,score,robot,present,honest,position_x,position_y,velocity_x,velocity_y"
>>> _ = file.write_text("\\n".join([heading, *rows, ""]))
>>> (flight,) = read(file)
>>> flight.controller, flight.position.shape, flight.score.tolist()
('expert', (2, 1, 2), [2.5, 1.5])
"""

from __future__ import annotations

import csv
import os
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

#: Columns that a file has for every task.
COLUMNS = ("controller", "tick", "seconds", "score", "robot", "present", "honest", "position_x", "position_y")


class Flight(NamedTuple):
    """One flight of one swarm. The first axis of every array is the tick, the second one the robot."""

    controller: str
    #: Time of every tick, in seconds.
    seconds: np.ndarray
    #: Score of the swarm at every tick; less is better.
    score: np.ndarray
    #: Positions in meters: x, y, and z in three dimensions.
    position: np.ndarray
    #: Velocities in m/s. Differences of positions where the robots' states have no velocities.
    velocity: np.ndarray
    #: Whether a robot takes part: not before it joins, and not after it is killed.
    present: np.ndarray
    #: Whether a robot is honest: not a liar, and not flown by another model.
    honest: np.ndarray


def read(path: str | os.PathLike[str], controllers: Collection[str] = ()) -> list[Flight]:
    """Reads the flights of a file, one per controller: of all controllers, or of the given ones in their order.

    Raises `ValueError` if the file has no trajectories, or lacks one of the controllers.
    """
    name = os.fspath(path)
    with open(path, newline="") as file:
        heading, *rows = list(csv.reader(file)) or [[]]
    missing = [name for name in COLUMNS if name not in heading]
    if missing or not rows:
        raise ValueError(f"{name} has no trajectories: {'missing ' + ', '.join(missing) if missing else 'no rows'}")
    try:
        columns = dict(zip(heading, zip(*rows, strict=True), strict=True))
        flown = np.array(columns.pop("controller"))
        numbers = {key: np.array(column, dtype=float) for key, column in columns.items()}
        flights = {key: _flight(key, {of: values[flown == key] for of, values in numbers.items()}) for key in dict.fromkeys(flown)}
    except ValueError as error:
        raise ValueError(f"{name} is damaged: {error}") from None
    if unknown := [key for key in controllers if key not in flights]:
        raise ValueError(f"{name} has no controller {', '.join(unknown)}, only {', '.join(flights)}")
    return [flights[key] for key in controllers or flights]


def _flight(controller: str, columns: dict[str, np.ndarray]) -> Flight:
    robots = int(columns["robot"].max()) + 1
    grid = {name: values.reshape(-1, robots) for name, values in columns.items()}

    def vectors(quantity: str) -> list[np.ndarray]:
        return [grid[f"{quantity}_{axis}"] for axis in "xyz" if f"{quantity}_{axis}" in grid]

    seconds = grid["seconds"][:, 0]
    position = np.stack(vectors("position"), axis=-1)
    if vectors("velocity"):
        velocity = np.stack(vectors("velocity"), axis=-1)
    elif len(seconds) > 1:
        velocity = np.gradient(position, seconds, axis=0)
    else:
        velocity = np.zeros_like(position)
    present, honest = grid["present"] > 0, grid["honest"] > 0
    return Flight(str(controller), seconds, grid["score"][:, 0], position, velocity, present, honest)
