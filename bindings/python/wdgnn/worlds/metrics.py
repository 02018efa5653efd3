"""Metrics of a flight, one number per swarm."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .flight import Flight
from .world import Array

#: Metrics by name: title with unit, and a format.
METRICS = {
    "total": ("total variation", "{:.4g}"),
    "late_variation": ("last 0.5 s", "{:.5f}"),
    "late_command": ("rms command", "{:.2f}"),
    "tilt": ("largest tilt", "{:.0f}°"),
    "distance": ("smallest distance", "{:.3f}"),
    "new_close": ("new pairs < 10 cm", "{:.2f}"),
}

#: Distance below which a pair is close, in m.
CLOSE = 0.1
#: Length of the end of a flight in s.
LATE = 0.5


def measure(flight: Flight) -> dict[str, NDArray[np.float64]]:
    """Metrics of each swarm.

    `total`: sum of the velocity variation over all ticks, in m²/s².
    `late_variation`: mean velocity variation of the last 0.5 s in m²/s².
    `late_command`: root mean square of the commands' length in the last 0.5 s, in m/s².
    `tilt`: largest tilt in degrees.
    `distance`: smallest distance of two robots in m.
    `new_close`: number of pairs that come within 10 cm and did not start so.

    >>> row = measure(fly(PointMass(starts(robots=5, seeds=[1, 2])), Averaging(gain=10.0), ticks=100))
    >>> {name: numbers.shape for name, numbers in row.items()} == {name: (2,) for name in METRICS}
    True
    """
    late = round(LATE / flight.period)
    variation = flight.variation
    smallest = nearest(flight)
    start = pairs(flight.states[0])
    fresh = (smallest < CLOSE) & (start >= CLOSE)
    return {
        "total": variation.sum(axis=0),
        "late_variation": variation[-late:].mean(axis=0),
        "late_command": np.sqrt((flight.commands[-late:] ** 2).sum(axis=-1).mean(axis=(0, 2))),
        "tilt": flight.tilt.max(axis=(0, 2)),
        "distance": smallest.min(axis=-1, initial=np.inf),
        "new_close": fresh.sum(axis=-1).astype(float),
    }


def pairs(states: Array) -> Array:
    """Distance of each pair of robots, [swarm, pair]."""
    one, other = np.triu_indices(states.shape[1], 1)
    return np.linalg.norm(states[:, one, :2] - states[:, other, :2], axis=-1)


def nearest(flight: Flight) -> Array:
    """Smallest distance of each pair in the whole flight, [swarm, pair]."""
    smallest = pairs(flight.states[0])
    for states in flight.states[1:]:
        np.minimum(smallest, pairs(states), out=smallest)
    return smallest
