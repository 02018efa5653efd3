"""A batched, differentiable model of flocking robots in torch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

#: Lower bound of the distance in the features, in m.
MIN_DISTANCE = 1.0e-3


class Flock:
    """Observation and motion of flocking robots. Tensors have the shape `[..., robots, axes]`.

    `header`: header of a weight file, as returned by `Model.header`.
    `radius`: radio range in m.

    The model has no collision avoidance, which the robots apply to the output of their network.
    """

    def __init__(self, header: dict[str, Any], radius: float = 2.0) -> None:
        floor, self.period, self.limit, _, _, normalized, _, _ = header["settings"]
        self.floor = max(floor, MIN_DISTANCE)
        self.normalized = normalized > 0.0
        self.radius = radius

    def adjacency(self, positions: Tensor) -> Tensor:
        """Adjacency matrix of the robots: 1 if row and column are in radio range of each other."""
        near = torch.cdist(positions, positions) <= self.radius
        return near.float() * (1.0 - torch.eye(positions.shape[-2]))

    def observe(self, positions: Tensor, velocities: Tensor, adjacency: Tensor) -> Tensor:
        """Features of every robot: sums of `v_i − v_j`, `(p_i − p_j)/d⁴` and `(p_i − p_j)/d²` over its neighbors."""
        offset = positions.unsqueeze(-2) - positions.unsqueeze(-3)
        drift = velocities.unsqueeze(-2) - velocities.unsqueeze(-3)
        inverse = 1.0 / offset.square().sum(-1, keepdim=True).clamp(min=self.floor**2)
        parts = torch.cat([drift, offset * inverse.square(), offset * inverse], dim=-1)
        sums = (adjacency.unsqueeze(-1) * parts).sum(-2)
        return sums / (1.0 + adjacency.sum(-1, keepdim=True)) if self.normalized else sums

    def step(self, positions: Tensor, velocities: Tensor, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Moves all robots for one tick by their limited outputs in m/s². Returns positions in m and velocities in m/s."""
        commands = outputs.clamp(-self.limit, self.limit)
        period = self.period
        return positions + period * velocities + 0.5 * period**2 * commands, velocities + period * commands

    @staticmethod
    def velocity_variation(velocities: Tensor) -> Tensor:
        """Mean squared distance of the velocities from their mean in m²/s², the score of flocking."""
        return (velocities - velocities.mean(-2, keepdim=True)).square().sum(-1).mean(-1)
