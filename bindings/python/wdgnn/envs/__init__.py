"""Environments for reinforcement learning.

`parallel_env` has the parallel API of PettingZoo: every robot is an agent. `SwarmVectorEnv` has the vector API of Gymnasium: every
robot of several swarms is an environment, to train one policy that all robots share.
"""

from .parallel import SwarmParallelEnv, parallel_env
from .vector import SwarmVectorEnv

__all__ = ["SwarmParallelEnv", "SwarmVectorEnv", "parallel_env"]
