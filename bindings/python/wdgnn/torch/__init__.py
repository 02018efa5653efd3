"""The network of the robots in torch.

`Network` loads and saves `.wdgnn` files. `Flock` is a differentiable model of flocking robots.

>>> import torch, wdgnn
>>> from wdgnn.torch import Network
>>> network = Network.load("flocking-wd-gnn")
>>> network.to_model() == wdgnn.Model.named("flocking-wd-gnn")
True
>>> output, delay_lines = network(torch.zeros(10, 6), torch.zeros(10, 10))
>>> output.shape
torch.Size([10, 2])
"""

from .flock import Flock
from .network import Network

__all__ = ["Flock", "Network"]
