"""Environments for reinforcement learning: swarms whose commands come from outside.

`parallel_env` is PettingZoo's parallel API, every robot an agent; `SwarmVectorEnv` is Gymnasium's vector API, every robot of
several swarms an environment of its own, as one policy that all robots share is trained.
"""

from .parallel import SwarmParallelEnv, parallel_env
from .vector import SwarmVectorEnv

__all__ = ["SwarmParallelEnv", "SwarmVectorEnv", "parallel_env"]
