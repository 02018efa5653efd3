"""Swarms of robots that learn in flight: the robots' own code, from Python.

>>> import wdgnn
>>> swarm = wdgnn.Swarm("flocking", robots=20, seed=3)
>>> swarm.run(100)
>>> bool(swarm.scores[-1] < swarm.scores[0])
True

`Swarm` flies, `Model` is a weight file, `fly` many flights at once, `wdgnn.wire` what robots say, `wdgnn.envs` environments for
reinforcement learning, `wdgnn.torch` the same network in torch. `wdgnn.plot` makes figures from files of `host-sim`, `wdgnn.export`
writes trajectories as ROS 2 messages.
"""

from ._native import PROFILES, TASKS, Error, Model, Refused, Swarm, __version__
from .flights import fly

__all__ = ["PROFILES", "TASKS", "Error", "Model", "Refused", "Swarm", "__version__", "fly"]
