"""The Wide and Deep Graph Neural Network as a torch module."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .._native import Model
from . import exact

#: Delay line of every layer.
DelayLines = list[Tensor]


class Network(nn.Module):
    """Network `u = Rᵀ(α_D · deep + α_W · (Bᵀz + b) + β) + ρ` with the parameters of a weight file.

    One call computes one tick of one swarm, or of a batch of swarms.

    | tensor | shape | content |
    |---|---|---|
    | `features` | `[..., robots, features]` | input of every robot |
    | `adjacency` | `[..., robots, robots]` | 1 if the robot of the row receives the robot of the column |
    | `delay_lines` | `[..., robots, taps, features]` for each layer | taps of the tick: tap k comes from k hops away, k exchanges ago |

    Pass the delay lines that a call returns to the next call.
    """

    def __init__(self, header: dict[str, Any]) -> None:
        """Creates an untrained network with a header, as returned by `Model.header`."""
        super().__init__()
        self.header = dict(header)
        #: Step and ball of learning in flight in units of α_W·C. `None` keeps those of the header.
        self.learning_scale: tuple[float, float] | None = None
        inputs, hidden, outputs = header["features"], header["hidden"], header["outputs"]
        taps = header["layers"][0][0]

        def uniform(fan_in: int, *shape: int) -> nn.Parameter:
            reach = 1.0 / math.sqrt(fan_in)
            return nn.Parameter(torch.empty(*shape).uniform_(-reach, reach))

        self.alpha_deep = nn.Parameter(torch.tensor(1.0))
        self.alpha_wide = nn.Parameter(torch.tensor(1.0))
        self.beta = nn.Parameter(torch.tensor(0.0))
        self.filters, self.biases = nn.ParameterList(), nn.ParameterList()
        wide_inputs = taps * inputs
        for layer_taps, features in header["layers"]:
            self.filters.append(uniform(layer_taps * inputs, layer_taps, inputs, features))
            self.biases.append(uniform(layer_taps * inputs, features))
            inputs = features
        self.wide = uniform(wide_inputs, taps, header["features"], hidden)
        self.wide_bias = uniform(wide_inputs, hidden)
        self.readout = uniform(hidden, hidden, outputs)
        self.readout_bias = nn.Parameter(torch.zeros(outputs))

    @classmethod
    def load(cls, model: Model | str | os.PathLike[str]) -> Network:
        """Loads the network of a model, a shipped network by its name, or a file."""
        if not isinstance(model, Model):
            model = Model.named(str(model)) if str(model) in Model.names() else Model.load(model)
        network = cls(model.header)
        network.set_numbers(model.numbers)
        return network

    @classmethod
    def untrained(cls, like: Model | str = "flocking-wd-gnn", **header: Any) -> Network:
        """Creates an untrained network with the header of `like`, changed by `header`, such as `layers=[(2, 16), (2, 16)], hidden=16`.

        `to_model` scales step and ball of learning in flight, so that they have the effect on the command that they have in `like`.
        """
        other = cls.load(like)
        network = cls({**other.header, **header})
        rule, alpha = other.header["learning"], float(other.alpha_wide.detach())
        network.learning_scale = (rule["step"] * alpha**2, rule["ball"] * abs(alpha) * other.folded_norm())
        return network

    def _in_order(self) -> list[nn.Parameter]:
        layers = [part for layer in zip(self.filters, self.biases) for part in layer]
        ends = [self.wide, self.wide_bias, self.readout, self.readout_bias]
        return [self.alpha_deep, self.alpha_wide, self.beta, *layers, *ends]

    def numbers(self) -> np.ndarray:
        """All parameters in the order of the file."""
        return torch.cat([part.detach().flatten() for part in self._in_order()]).cpu().numpy()

    @torch.no_grad()
    def set_numbers(self, numbers: np.ndarray) -> None:
        """Sets all parameters, in the order of the file."""
        rest = torch.from_numpy(np.array(numbers, dtype=np.float32))
        size = sum(part.numel() for part in self._in_order())
        if rest.numel() != size:
            raise ValueError(f"the network has {size} parameters, got {rest.numel()}")
        for part in self._in_order():
            part.copy_(rest[: part.numel()].reshape(part.shape))
            rest = rest[part.numel() :]

    @torch.no_grad()
    def folded_norm(self) -> float:
        """Norm of the folded wide part C = BR, which the robots learn in flight."""
        return float((self.wide @ self.readout).norm())

    def to_model(self) -> Model:
        """Returns the weight file in memory, for `Swarm(model=...)`."""
        header = self.header
        reach = abs(float(self.alpha_wide.detach())) * self.folded_norm()
        if self.learning_scale and reach > 0.0:
            step, ball = self.learning_scale
            rule = dict(header["learning"], step=step / float(self.alpha_wide.detach()) ** 2, ball=ball / reach)
            header = dict(header, learning=rule)
        return Model(header, self.numbers())

    def save(self, path: str | os.PathLike[str]) -> Model:
        """Writes a weight file for `host-sim eval --model` and the firmware, and returns it."""
        model = self.to_model()
        model.save(path)
        return model

    def initial_delay_lines(self, *shape: int) -> DelayLines:
        """Delay lines before the first exchange. The last number of `shape` is the number of robots."""
        inputs = [self.header["features"], *(features for _, features in self.header["layers"])]
        return [torch.zeros(*shape, taps, size) for (taps, _), size in zip(self.header["layers"], inputs)]

    def exchange(self, delay_line: Tensor, adjacency: Tensor) -> Tensor:
        """Taps 1 … K of every robot, from the taps of the previous exchange."""
        sent = delay_line[..., :-1, :]
        scale = self.header["scale"]
        if scale == "closed":
            adjacency = adjacency + torch.eye(adjacency.shape[-1], dtype=adjacency.dtype)
        sums = torch.einsum("...ij,...jkf->...ikf", adjacency, sent)
        if scale == "closed" or scale == "mean":
            return sums / adjacency.sum(-1).clamp(min=1.0)[..., None, None]
        return sums if scale == "sum" else sums * float(scale)

    def _activate(self, x: Tensor) -> Tensor:
        return torch.relu(x) if self.header["activation"] == "relu" else torch.tanh(x)

    def hidden(self, taps: Tensor) -> Tensor:
        """Input of the readout of a network with one layer, for taps `[..., taps, features]` or `[..., taps · features]`."""
        if len(self.filters) != 1:
            raise ValueError("hidden and infer support networks with one layer only")
        taps = taps.flatten(-2) if taps.shape[-1] == self.header["features"] else taps
        deep = self._activate(taps @ self.filters[0].flatten(0, 1) + self.biases[0])
        return self._combine(deep, taps)

    def _combine(self, deep: Tensor, taps: Tensor) -> Tensor:
        wide = taps @ self.wide.flatten(0, 1) + self.wide_bias
        return self.alpha_deep * deep + self.alpha_wide * wide + self.beta

    def infer(self, taps: Tensor) -> Tensor:
        """Output of a network with one layer for its taps, such as `Swarm.taps`."""
        return self.hidden(taps) @ self.readout + self.readout_bias

    def forward(self, features: Tensor, adjacency: Tensor, delay_lines: DelayLines | None = None) -> tuple[Tensor, DelayLines]:
        """Computes one tick. Returns the outputs, and the delay lines for the next tick."""
        delay_lines = self.initial_delay_lines(*features.shape[:-1]) if delay_lines is None else delay_lines
        signal, filled = features, []
        for weights, bias, delay_line in zip(self.filters, self.biases, delay_lines):
            taps = torch.cat([signal.unsqueeze(-2), self.exchange(delay_line, adjacency)], dim=-2)
            filled.append(taps)
            signal = self._activate(taps.flatten(-2) @ weights.flatten(0, 1) + bias)
        return self._combine(signal, filled[0].flatten(-2)) @ self.readout + self.readout_bias, filled

    @torch.no_grad()
    def forward_exact(self, features: Tensor, adjacency: Tensor, delay_lines: DelayLines | None = None) -> tuple[Tensor, DelayLines]:
        """Slow variant of `forward` with the arithmetic of the robots: its outputs are identical to theirs, bit for bit."""
        delay_lines = self.initial_delay_lines(*features.shape[:-1]) if delay_lines is None else delay_lines
        return exact.forward(self, features, adjacency, delay_lines)

    def extra_repr(self) -> str:
        header = self.header
        layers = ", ".join(f"{taps} taps to {features}" for taps, features in header["layers"])
        return f"{header['features']} features, {layers}, {header['outputs']} outputs, {header['activation']}, {header['scale']}"
