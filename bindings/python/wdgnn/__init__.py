"""Swarms of robots that learn in flight, with the code of the robots.

>>> import wdgnn
>>> swarm = wdgnn.Swarm("flocking", robots=20, seed=3)
>>> swarm.run(100)
>>> bool(swarm.scores[-1] < swarm.scores[0])
True

`Swarm` is a simulated swarm, `Model` a weight file, and `fly` runs many episodes in parallel.

| module | content |
|---|---|
| `wdgnn.wire` | encoding and decoding of radio frames |
| `wdgnn.worlds` | swarms in simulators that others wrote |
| `wdgnn.envs` | environments for reinforcement learning |
| `wdgnn.torch` | the network in torch |
| `wdgnn.plot` | figures from files of `host-sim` |
| `wdgnn.export` | trajectories as ROS 2 messages |
| `wdgnn.cluster` | episodes on a Ray cluster |
"""

from ._native import PROFILES, TASKS, Error, FrameError, Model, Swarm, __version__
from .flights import fly

__all__ = ["PROFILES", "TASKS", "Error", "FrameError", "Model", "Swarm", "__version__", "fly"]
