"""Training examples reduce the score, and a trained network runs on emulated microcontrollers."""

import pathlib
import subprocess
import sys

import pytest
import torch

import wdgnn
from wdgnn.torch import Network

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))

import imitate  # noqa: E402
import through_time  # noqa: E402


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(1)
    torch.set_num_threads(1)


def total(network):
    rows = wdgnn.fly(model=network.to_model(), robots=25, online=False, starts=range(5))
    return sum(row["total"] for row in rows)


def test_imitation_reduces_the_score():
    network = Network.untrained(like="flocking-wd-gnn")
    before = total(network)
    imitate.train(network, rounds=4)
    assert total(network) < 0.5 * before


def test_training_through_time_reduces_the_score():
    network = through_time.braking(Network.untrained())
    before = total(network)
    through_time.train(network, steps=8, episodes=4, ticks=40)
    assert total(network) < 0.9 * before


def test_ppo_reduces_the_score():
    import ppo

    network = Network.untrained()
    with torch.no_grad():
        for part in (*network.filters, network.wide):
            part *= 0.1
    before = total(network)
    ppo.train(network, robot_ticks=160_000, print_every=1000)
    assert total(network) < 0.9 * before


def test_training_loops_have_at_most_forty_lines():
    for name in ("imitate.py", "through_time.py"):
        body = (EXAMPLES / name).read_text().split("def train")[1].split("\n\n\n")[0]
        assert len(body.splitlines()) <= 40, name


def test_a_network_trained_in_torch_runs_on_emulated_microcontrollers(tmp_path):
    out = tmp_path / "mine.wdgnn"
    options = ["--out", str(out), "--steps", "2", "--flights", "2", "--robots", "4", "--ticks", "30"]
    finished = subprocess.run(
        [sys.executable, str(EXAMPLES / "train_fly_flash.py"), *options], capture_output=True, text=True, cwd=tmp_path
    )
    assert finished.returncode == 0, finished.stderr
    assert "digest in Python" in finished.stdout and out.exists()
