"""A cluster prints the bytes of one machine, also if a machine fails."""

import os
import subprocess
import threading
import time

import pytest
import ray
from wdgnn import cluster as wdgnn_cluster

HOST_SIM = os.environ["HOST_SIM"]
SWEEP = ["sweep", "speed", "--values", "2,3,5", "--swarms", "6", "--json", "--report"]


def on_one_machine(arguments):
    return subprocess.run([HOST_SIM, *arguments], stdout=subprocess.PIPE, check=True).stdout


def test_a_cluster_prints_the_output_of_one_machine(machines, tmp_path):
    for arguments in (
        [*SWEEP, str(tmp_path / "page.html")],
        ["eval", "--swarms", "3", "--seeds", "2", "--json", "--report", str(tmp_path / "page.html")],
        ["shift", "delay", "weak", "--swarms", "1", "--seeds", "2", "--retrain", "2", "--json", "--report", str(tmp_path / "page.html")],
        ["faults", "--only", "lost", "--swarms", "2", "--ticks", "200", "--json"],
    ):
        together = wdgnn_cluster.run(arguments, shards=5, program=HOST_SIM, stdout=subprocess.PIPE)
        ended = subprocess.run([HOST_SIM, *arguments], stdout=subprocess.PIPE, check=False)
        assert (together.returncode, together.stdout) == (ended.returncode, ended.stdout), arguments[0]


def test_a_shard_that_fails_reports_its_error(machines):
    with pytest.raises(subprocess.CalledProcessError) as failed:
        wdgnn_cluster.run(["sweep", "speed", "--swarms", "0"], shards=2, program=HOST_SIM)
    assert failed.value.returncode == 2
    assert b"--swarms 0 leaves nothing to fly" in failed.value.stderr


def test_a_killed_machine_does_not_change_the_output(machines, tmp_path):
    cluster, workers = machines
    arguments = [*SWEEP, str(tmp_path / "page.html")]
    results = []
    work = threading.Thread(
        target=lambda: results.append(
            wdgnn_cluster.run(arguments, shards=12, program=HOST_SIM, stdout=subprocess.PIPE)
        )
    )
    work.start()
    # Kill one machine as soon as both are busy.
    while ray.available_resources().get("CPU", 0.0) > 0.0:
        assert work.is_alive()
        time.sleep(0.05)
    cluster.remove_node(workers[1], allow_graceful=False)
    assert work.is_alive()
    work.join()
    assert results[0].returncode == 0
    assert results[0].stdout == on_one_machine(arguments)
