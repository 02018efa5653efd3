"""Scale of the sums over neighbors: `"sum"`, `"mean"`, `"closed"`, a factor, or `("echo", share)`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

Scale = Any


def share(scale: Scale) -> float:
    """Share of the last tap that is added to the tap before it."""
    return float(scale[1]) if isinstance(scale, (tuple, list)) else 0.0


def is_closed(scale: Scale) -> bool:
    """Whether a sum includes the robot's own taps."""
    return scale == "closed" or isinstance(scale, (tuple, list))


def echoed(taps: Tensor, scale: Scale) -> Tensor:
    """Adds the share of the last tap to the tap before it, for taps 1 … K with K ≥ 2."""
    if share(scale) == 0.0 or taps.shape[-2] < 2:
        return taps
    first, before, last = taps[..., :-2, :], taps[..., -2:-1, :], taps[..., -1:, :]
    return torch.cat([first, before + torch.tensor(share(scale)) * last, last], dim=-2)
