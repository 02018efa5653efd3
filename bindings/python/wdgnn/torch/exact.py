"""The arithmetic of `wdgnn-core` in torch, bit for bit: 32-bit floats, and all sums in the order of the robots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor


if TYPE_CHECKING:
    from .network import Network

# Coefficients of tanh x ≈ x·P(x²)/Q(x²) in wdgnn-core/src/math.rs.
P = (0.13382686, 3.4974567e-3, 2.0635807e-5, 1.338427e-8)
Q = (0.46716008, 2.5884357e-2, 3.2885158e-4, 7.7902405e-7)
TANH_ONE = 9.02


def tanh(x: Tensor) -> Tensor:
    """Hyperbolic tangent of `wdgnn-core`, a rational approximation."""
    y = x * x
    p, q = torch.full_like(x, P[3]), torch.full_like(x, Q[3])
    for a, b in zip((P[2], P[1], P[0], 1.0), (Q[2], Q[1], Q[0], 1.0)):
        p, q = p * y + torch.tensor(a), q * y + torch.tensor(b)
    return torch.where(x.abs() >= TANH_ONE, x.sign(), (x * p / q).clamp(-1.0, 1.0))


def accumulate(start: Tensor, inputs: Tensor, weights: Tensor) -> Tensor:
    """Computes `start + inputs · weights`, adding one input after the other."""
    sums = start.expand(*inputs.shape[:-1], weights.shape[-1])
    for x, row in zip(inputs.unbind(-1), weights):
        sums = sums + x.unsqueeze(-1) * row
    return sums


def exchange(delay_line: Tensor, adjacency: Tensor, scale: str | float) -> Tensor:
    """Taps 1 … K of every robot: the sum of its own taps for closed scales, then of its neighbors' taps by address."""
    sent = delay_line[..., :-1, :]
    closed = scale == "closed"
    sums = sent.clone() if closed else torch.zeros_like(sent)
    for other, receives in zip(sent.unbind(-3), adjacency.unbind(-1)):
        sums = sums + torch.where(receives[..., None, None] > 0.0, other.unsqueeze(-3), torch.tensor(0.0))
    if closed or scale == "mean":
        return sums / (adjacency.sum(-1) + float(closed)).clamp(min=1.0)[..., None, None]
    return sums if scale == "sum" else sums * torch.tensor(float(scale))


def forward(
    network: Network, features: Tensor, adjacency: Tensor, delay_lines: list[Tensor]
) -> tuple[Tensor, list[Tensor]]:
    """One tick of `network`, folded as on the robots. Returns the outputs and the new delay lines."""
    if network.header["activation"] == "tanh-libm":
        raise ValueError("exact arithmetic supports the activations tanh and relu, got tanh-libm")
    activate = torch.relu if network.header["activation"] == "relu" else tanh
    zero = torch.zeros(network.readout.shape[-1])
    folded = accumulate(zero, network.wide.flatten(0, 1), network.readout)
    bias = network.alpha_wide * network.wide_bias + network.beta
    constant = accumulate(network.readout_bias, bias, network.readout)
    signal, filled = features, []
    for weights, layer_bias, delay_line in zip(network.filters, network.biases, delay_lines):
        taps = torch.cat([signal.unsqueeze(-2), exchange(delay_line, adjacency, network.header["scale"])], dim=-2)
        filled.append(taps)
        signal = activate(accumulate(layer_bias, taps.flatten(-2), weights.flatten(0, 1)))
    deep = accumulate(zero, signal, network.readout)
    wide = accumulate(zero, filled[0].flatten(-2), folded)
    return constant + (network.alpha_deep * deep + network.alpha_wide * wide), filled
