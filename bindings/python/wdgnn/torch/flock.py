"""Flocking robots in torch, batched and differentiable: to train through whole flights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

SHORTEST_METRES = 1.0e-3


class Flock:
    """What robots observe, and how they move, by the settings of a weight file. Tensors are `[..., robots, axes]`.

    Keeping apart is left out: it is the business of the guard that robots have, whatever their network says.
    """

    def __init__(self, header: dict[str, Any], radius: float = 2.0) -> None:
        floor, self.period, self.limit, _, _, normalised, _, _ = header["settings"]
        self.floor = max(floor, SHORTEST_METRES)
        self.normalised = normalised > 0.0
        self.radius = radius

    def heard(self, positions: Tensor) -> Tensor:
        """1 where the robot of the row is in range of that of the column."""
        near = torch.cdist(positions, positions) <= self.radius
        return near.float() * (1.0 - torch.eye(positions.shape[-2]))

    def observe(self, positions: Tensor, velocities: Tensor, heard: Tensor) -> Tensor:
        """The features: `v_i − v_j`, `(p_i − p_j)/d⁴` and `(p_i − p_j)/d²` over the neighbours."""
        offset = positions.unsqueeze(-2) - positions.unsqueeze(-3)
        drift = velocities.unsqueeze(-2) - velocities.unsqueeze(-3)
        inverse = 1.0 / offset.square().sum(-1, keepdim=True).clamp(min=self.floor**2)
        parts = torch.cat([drift, offset * inverse.square(), offset * inverse], dim=-1)
        sums = (heard.unsqueeze(-1) * parts).sum(-2)
        return sums / (1.0 + heard.sum(-1, keepdim=True)) if self.normalised else sums

    def step(self, positions: Tensor, velocities: Tensor, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Everybody moves for one tick, by what networks say, limited."""
        commands = outputs.clamp(-self.limit, self.limit)
        period = self.period
        return positions + period * velocities + 0.5 * period**2 * commands, velocities + period * commands

    @staticmethod
    def variation(velocities: Tensor) -> Tensor:
        """The velocity variation, in m²/s²: what flocking makes less of."""
        return (velocities - velocities.mean(-2, keepdim=True)).square().sum(-1).mean(-1)
