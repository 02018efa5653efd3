"""How sums over neighbours are scaled: `"sum"`, `"mean"`, `"closed"`, a number, or `("echo", m)`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

Scale = Any


def share(scale: Scale) -> float:
    """The share of the last tap that comes back into the one before."""
    return float(scale[1]) if isinstance(scale, (tuple, list)) else 0.0


def is_closed(scale: Scale) -> bool:
    """Whether a robot's own taps go in, too."""
    return scale == "closed" or isinstance(scale, (tuple, list))


def echoed(taps: Tensor, scale: Scale) -> Tensor:
    """Taps 1…K, with the last one's share in the one before where that is not the robot's own signal."""
    if share(scale) == 0.0 or taps.shape[-2] < 2:
        return taps
    first, before, last = taps[..., :-2, :], taps[..., -2:-1, :], taps[..., -1:, :]
    return torch.cat([first, before + torch.tensor(share(scale)) * last, last], dim=-2)
