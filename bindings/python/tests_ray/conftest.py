"""Fixture with a local Ray cluster."""

import pytest
import ray
from ray.cluster_utils import Cluster


@pytest.fixture(scope="module")
def machines():
    """A head without processors, and two machines with one processor each."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    workers = [cluster.add_node(num_cpus=1) for _ in range(2)]
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster, workers
    ray.shutdown()
    cluster.shutdown()
