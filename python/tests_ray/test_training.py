"""Training on a cluster: the network's file of one machine, whatever happens to machines."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from wdgnn import cluster as wdgnn_cluster

HOST_SIM = os.environ["HOST_SIM"]

#: Every way to train, quickly, and one that takes long enough to lose a machine on the way.
WAYS = [
    ["--recipe", "through", "--epochs", "3", "--trajectories", "20"],
    ["--recipe", "ours", "--epochs", "3", "--trajectories", "12", "--robots", "12"],
    ["--recipe", "evolve", "--epochs", "3", "--robots", "8"],
]
LONG = ["--recipe", "through", "--epochs", "12", "--seed", "2"]


def words(out, way):
    return ["train", "--out", str(out), "--json", *way]


def alone(out, way):
    printed = subprocess.run([HOST_SIM, *words(out, way)], stdout=subprocess.PIPE, check=True).stdout
    return out.read_bytes(), printed


def together(out, way):
    ended = wdgnn_cluster.run(words(out, way), program=HOST_SIM, stdout=subprocess.PIPE)
    assert ended.returncode == 0
    return out.read_bytes(), ended.stdout


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way[1])
def test_many_machines_train_the_network_of_one(machines, tmp_path, way):
    out = tmp_path / "it.wdgnn"
    assert together(out, way) == alone(out, way)


def test_what_cannot_be_trained_is_told_as_on_one_machine(machines, tmp_path, capfd):
    arguments = words(tmp_path / "it.wdgnn", ["--task", "coverage", "--recipe", "through", "--epochs", "1"])
    assert wdgnn_cluster.run(arguments, program=HOST_SIM).returncode == 2
    assert "--task coverage has no derivative" in capfd.readouterr().err


def test_ctrl_c_leaves_a_network_and_a_checkpoint_from_which_one_machine_goes_on(tmp_path):
    whole, _ = alone(tmp_path / "whole.wdgnn", LONG)
    out = tmp_path / "it.wdgnn"
    checkpoint = Path(f"{out}.checkpoint")
    command = [sys.executable, "-m", "wdgnn.cluster", "--program", HOST_SIM, *words(out, LONG)]
    # As a terminal does: everybody in the foreground gets it.
    training = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    while not checkpoint.exists():
        assert training.poll() is None
        time.sleep(0.01)
    os.killpg(training.pid, signal.SIGINT)
    assert training.wait() == 130
    subprocess.run([HOST_SIM, *words(out, LONG), "--resume"], stdout=subprocess.PIPE, check=True)
    assert out.read_bytes() == whole


def test_a_machine_that_is_killed_in_the_middle_changes_nothing(machines, tmp_path):
    cluster, workers = machines
    out = tmp_path / "it.wdgnn"
    checkpoint = Path(f"{out}.checkpoint")
    results = []
    work = threading.Thread(target=lambda: results.append(together(out, LONG)))
    work.start()
    # The first checkpoint is there after five epochs of twelve. Then one of the two machines, which both fly all the time, is gone. (What Ray says to
    # be free is a tenth of a second old and more: longer than a request takes.)
    while not checkpoint.exists():
        assert work.is_alive()
        time.sleep(0.001)
    cluster.remove_node(workers[1], allow_graceful=False)
    assert work.is_alive()
    work.join()
    assert results == [alone(out, LONG)]
