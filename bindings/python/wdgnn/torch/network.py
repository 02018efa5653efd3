"""A Wide-and-Deep graph neural network as a torch module, over the delayed taps that robots exchange."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .._native import Model
from . import exact
from .shift import echoed, is_closed

Chains = list[Tensor]


class Network(nn.Module):
    """`u = Rᵀ(α_D · deep + α_W · (Bᵀz + b) + β) + ρ`, with the parameters of a weight file, each as the file has it.

    One call is one tick of a whole swarm, or of many: `features` are `[..., robots, features]`, `heard` is `[..., robots, robots]`, 1
    where the robot of the row hears that of the column. What passes from one tick to the next are the chains: every layer's taps
    `[..., robots, taps, features]`, of which tap k is what came from k hops away, k exchanges ago.
    """

    def __init__(self, header: dict[str, Any]) -> None:
        """An untrained network of a header, as `Model.header` gives one."""
        super().__init__()
        self.header = dict(header)
        #: The step and the ball of learning in flight, in the measure of α_W·C; none where the header's are to stay as they are.
        self.measure: tuple[float, float] | None = None
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
        """The network of a model, of the name of one that comes with the package, or of a file."""
        if not isinstance(model, Model):
            model = Model.named(str(model)) if str(model) in Model.names() else Model.load(model)
        network = cls(model.header)
        network.take(model.numbers)
        return network

    @classmethod
    def untrained(cls, like: Model | str = "through-wd-gnn", **header: Any) -> Network:
        """A network with the header of another, but for what is given, such as `layers=[(2, 16), (2, 16)], hidden=16`.

        Step and ball of learning in flight are the other's in the measure of the command that they move, whatever the parameters come
        to be.
        """
        other = cls.load(like)
        network = cls({**other.header, **header})
        rule, alpha = other.header["learning"], float(other.alpha_wide.detach())
        network.measure = (rule["step"] * alpha**2, rule["ball"] * abs(alpha) * other.folded_norm())
        return network

    def _in_order(self) -> list[nn.Parameter]:
        layers = [part for layer in zip(self.filters, self.biases) for part in layer]
        ends = [self.wide, self.wide_bias, self.readout, self.readout_bias]
        return [self.alpha_deep, self.alpha_wide, self.beta, *layers, *ends]

    def numbers(self) -> np.ndarray:
        """All parameters in the file's order."""
        return torch.cat([part.detach().flatten() for part in self._in_order()]).cpu().numpy()

    @torch.no_grad()
    def take(self, numbers: np.ndarray) -> None:
        """Takes over parameters in the file's order."""
        rest = torch.from_numpy(np.array(numbers, dtype=np.float32))
        if rest.numel() != sum(part.numel() for part in self._in_order()):
            raise ValueError(f"{rest.numel()} numbers are not this network's")
        for part in self._in_order():
            part.copy_(rest[: part.numel()].reshape(part.shape))
            rest = rest[part.numel() :]

    @torch.no_grad()
    def folded_norm(self) -> float:
        """‖C‖ with C = BR, what robots keep of the wide part."""
        return float((self.wide @ self.readout).norm())

    def to_model(self) -> Model:
        """The weight file in memory, for `Swarm(model=...)`."""
        header = self.header
        reach = abs(float(self.alpha_wide.detach())) * self.folded_norm()
        if self.measure and reach > 0.0:
            step, ball = self.measure
            rule = dict(header["learning"], step=step / float(self.alpha_wide.detach()) ** 2, ball=ball / reach)
            header = dict(header, learning=rule)
        return Model(header, self.numbers())

    def save(self, path: str | os.PathLike[str]) -> Model:
        """Writes a weight file, which `host-sim flock --model` and the firmware take."""
        model = self.to_model()
        model.save(path)
        return model

    def start(self, *shape: int) -> Chains:
        """Chains of robots that have heard nothing yet: `shape` ends with how many there are."""
        inputs = [self.header["features"], *(features for _, features in self.header["layers"])]
        return [torch.zeros(*shape, taps, size) for (taps, _), size in zip(self.header["layers"], inputs)]

    def exchange(self, chain: Tensor, heard: Tensor) -> Tensor:
        """Taps 1…K from everybody's taps of the exchange before."""
        said = chain[..., :-1, :]
        scale = self.header["scale"]
        if is_closed(scale):
            heard = heard + torch.eye(heard.shape[-1], dtype=heard.dtype)
        sums = torch.einsum("...ij,...jkf->...ikf", heard, said)
        if is_closed(scale) or scale == "mean":
            return echoed(sums / heard.sum(-1).clamp(min=1.0)[..., None, None], scale)
        return sums if scale == "sum" else sums * float(scale)

    def _activate(self, x: Tensor) -> Tensor:
        return torch.relu(x) if self.header["activation"] == "relu" else torch.tanh(x)

    def hidden(self, taps: Tensor) -> Tensor:
        """What the readout reads, for the taps of a network of one layer, `[..., taps, features]` or flat."""
        if len(self.filters) != 1:
            raise ValueError("the taps of further layers are not those of the first")
        taps = taps.flatten(-2) if taps.shape[-1] == self.header["features"] else taps
        deep = self._activate(taps @ self.filters[0].flatten(0, 1) + self.biases[0])
        return self._combine(deep, taps)

    def _combine(self, deep: Tensor, taps: Tensor) -> Tensor:
        wide = taps @ self.wide.flatten(0, 1) + self.wide_bias
        return self.alpha_deep * deep + self.alpha_wide * wide + self.beta

    def infer(self, taps: Tensor) -> Tensor:
        """The output of a network of one layer for its taps, such as `Swarm.taps`."""
        return self.hidden(taps) @ self.readout + self.readout_bias

    def forward(self, features: Tensor, heard: Tensor, chains: Chains | None = None) -> tuple[Tensor, Chains]:
        """One tick: outputs, and the chains for the next one."""
        chains = self.start(*features.shape[:-1]) if chains is None else chains
        signal, filled = features, []
        for weights, bias, chain in zip(self.filters, self.biases, chains):
            chain = torch.cat([signal.unsqueeze(-2), self.exchange(chain, heard)], dim=-2)
            filled.append(chain)
            signal = self._activate(chain.flatten(-2) @ weights.flatten(0, 1) + bias)
        return self._combine(signal, filled[0].flatten(-2)) @ self.readout + self.readout_bias, filled

    @torch.no_grad()
    def exactly(self, features: Tensor, heard: Tensor, chains: Chains | None = None) -> tuple[Tensor, Chains]:
        """`forward` in the robots' own arithmetic, sum by sum in their order: the same bits, and slow."""
        return exact.forward(self, features, heard, self.start(*features.shape[:-1]) if chains is None else chains)

    def extra_repr(self) -> str:
        header = self.header
        layers = ", ".join(f"{taps} taps to {features}" for taps, features in header["layers"])
        return f"{header['features']} features, {layers}, {header['outputs']} outputs, {header['activation']}, {header['scale']}"
