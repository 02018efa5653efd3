"""Latency: of processing, measured, and from exposure to pose, estimated from the robots' turns."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

#: Latencies that the estimate considers, in seconds.
RANGE = (0.02, 0.35)
STEP = 0.002
#: A parabola is fitted to this number of steps on both sides of the best one.
FIT = 10
#: Turns in radians between two images that tell something: five times the error of a heading.
MIN_TURN = 0.025


class ProcessingTime:
    """Median and worst time from the arrival of an image to its poses."""

    def __init__(self, images: int = 300) -> None:
        """`images`: number of the last images that count."""
        self.seconds: deque[float] = deque(maxlen=images)

    def add(self, seconds: float) -> None:
        self.seconds.append(seconds)

    @property
    def median(self) -> float:
        return float(np.median(self.seconds)) if self.seconds else 0.0

    @property
    def worst(self) -> float:
        return max(self.seconds, default=0.0)


class TotalLatency:
    """Time from the exposure to the arrival of the poses.

    Robots report the turn rate that they drive. The camera sees the same turn later. The latency is the delay with which the integrals
    of the reported rates fit the turns between images best, with one factor per robot for wheels that differ from their calibration.
    """

    def __init__(self, seconds: float = 30.0) -> None:
        """`seconds`: age at which reports and images are forgotten."""
        self.memory = seconds
        self.rates: dict[int, deque[tuple[float, float]]] = {}
        self.headings: dict[int, deque[tuple[float, float]]] = {}

    def report(self, robot: int, time: float, turn_rate: float) -> None:
        """Takes a robot's turn rate in rad/s. `time`: clock of the PC, at the moment of the turn."""
        self.store(self.rates, robot, time, turn_rate)

    def observe(self, robot: int, time: float, heading: float) -> None:
        """Takes a heading from an image. `time`: arrival of its pose."""
        known = self.headings.get(robot)
        if known:
            heading = known[-1][1] + math.remainder(heading - known[-1][1], math.tau)
        self.store(self.headings, robot, time, heading)

    def store(self, series: dict[int, deque[tuple[float, float]]], robot: int, time: float, value: float) -> None:
        queue = series.setdefault(robot, deque())
        queue.append((time, value))
        while queue[0][0] < time - self.memory:
            queue.popleft()

    def estimate(self) -> float | None:
        """Returns the latency in seconds; None as long as robots turned too little."""
        delays = np.arange(RANGE[0], RANGE[1], STEP)
        unexplained, total, count = np.zeros(len(delays)), 0.0, 0
        for robot, headings in self.headings.items():
            rates = np.array(self.rates.get(robot, ()))
            if len(rates) < 10 or len(headings) < 10:
                continue
            times, angles = np.array(headings).T
            within = (times - RANGE[1] > rates[0, 0]) & (times - RANGE[0] < rates[-1, 0])
            times, turns = times[within], np.diff(angles[within])
            count += int(np.sum(np.abs(turns) > MIN_TURN))
            total += float(turns @ turns)
            for index, delay in enumerate(delays):
                driven = np.diff(integral(rates, times - delay))
                power = float(driven @ driven)
                factor = float(driven @ turns) / power if power > 0 else 0.0
                unexplained[index] += float(np.sum((turns - factor * driven) ** 2))
        if count < 50 or not unexplained.any():
            return None
        best = int(np.argmin(unexplained))
        if best in (0, len(delays) - 1) or unexplained[best] > 0.5 * total:
            return None
        near = slice(max(0, best - FIT), best + FIT + 1)
        curvature, slope, _ = np.polyfit(delays[near] - delays[best], unexplained[near], 2)
        return float(delays[best] - slope / (2 * curvature)) if curvature > 0 else None


def integral(rates: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Returns the integral of rates (times and values as n × 2) up to each time. Between two values, a rate changes linearly."""
    knots, values = rates.T
    steps, slopes = np.diff(knots), np.diff(values) / np.maximum(np.diff(knots), 1e-9)
    sums = np.concatenate([[0.0], np.cumsum(steps * (values[:-1] + values[1:]) / 2)])
    index = np.clip(np.searchsorted(knots, times, side="right") - 1, 0, len(steps) - 1)
    since = times - knots[index]
    return sums[index] + since * (values[index] + since * slopes[index] / 2)
