"""The network in torch is the robots' network: its files to the last bit, its arithmetic too."""

import doctest

import numpy as np
import pytest
import torch

import wdgnn
import wdgnn.torch
from wdgnn import Model, Swarm
from wdgnn.torch import Flock, Network

# In units in the last place of the largest output of a flight. Measured: 2.5 to 4 (README's networks, 60 ticks).
FAST_ULP = 8.0


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(1)


def dense(swarm):
    heard = torch.zeros(len(swarm), len(swarm))
    speakers, listeners = swarm.counted
    heard[listeners, speakers] = 1.0
    return heard


@pytest.mark.parametrize("name", Model.names())
def test_file_to_torch_to_file_changes_no_bit(name, tmp_path):
    path = tmp_path / "again.wdgnn"
    Network.load(name).save(path)
    assert path.read_bytes() == bytes(Model.named(name))


OWN = {"two layers": {"layers": [(2, 16), (2, 16)], "hidden": 16}, "relu": {"activation": "relu"}, "scaled": {"scale": 0.125}}
MODELS = [
    ("flocking", "through-wd-gnn"),
    ("flocking", "flocking-wd-gnn"),
    ("flocking", "flocking-gnn"),
    ("flocking", "paper-graph-filter"),
    ("flocking-3d", "flocking-3d"),
    *(("flocking", name) for name in OWN),
]


@pytest.mark.parametrize(("task", "name"), MODELS)
def test_a_whole_flight_has_the_robots_bits_or_is_near(task, name):
    network = Network.untrained(**OWN[name]) if name in OWN else Network.load(name)
    swarm = Swarm(task, robots=15, model=network.to_model(), online=False)
    slow = fast = None
    largest = worst = 0.0
    for _ in range(60):
        swarm.think()
        features, heard = torch.from_numpy(swarm.taps[:, 0].copy()), dense(swarm)
        outputs, slow = network.exactly(features, heard, slow)
        np.testing.assert_array_equal(outputs.numpy().view(np.int32), swarm.outputs.view(np.int32))
        np.testing.assert_array_equal(slow[0].numpy(), swarm.taps)
        with torch.no_grad():
            near, fast = network(features, heard, fast)
        worst = max(worst, float(np.abs(near.numpy() - swarm.outputs).max()))
        largest = max(largest, float(np.abs(swarm.outputs).max()))
        swarm.step()
    assert worst <= FAST_ULP * np.spacing(np.float32(largest)), worst / np.spacing(np.float32(largest))


def test_taps_are_enough_for_a_network_of_one_layer():
    swarm = Swarm("coverage", robots=15, online=False)
    swarm.run(30)
    said = Network.load("coverage").infer(torch.from_numpy(swarm.taps.copy())).detach().numpy()
    np.testing.assert_allclose(said, swarm.outputs, rtol=0.0, atol=FAST_ULP * np.spacing(np.abs(swarm.outputs).max()))


def test_swarms_are_batched():
    network = Network.load("through-wd-gnn")
    features, heard = torch.randn(3, 7, 6), (torch.rand(3, 7, 7) > 0.5).float()
    together, chains = network(features, heard)
    alone, _ = network(features[1], heard[1])
    torch.testing.assert_close(together[1], alone)
    assert [chain.shape for chain in chains] == [(3, 7, 4, 6)]


def test_a_flock_in_torch_observes_and_moves_as_robots_do():
    model = Model.named("through-wd-gnn")
    swarm, flock = Swarm(robots=15, model=model), Flock(model.header)
    positions, velocities = torch.from_numpy(swarm.states.copy()).chunk(2, dim=-1)
    swarm.think()
    heard = flock.heard(positions)
    np.testing.assert_array_equal(heard.numpy(), dense(swarm).numpy())
    np.testing.assert_allclose(flock.observe(positions, velocities, heard), swarm.taps[:, 0], atol=1e-5)
    assert float(flock.variation(velocities)) == pytest.approx(swarm.scores[0], rel=1e-5)
    commands = torch.from_numpy(swarm.commands.copy())
    swarm.step()
    moved = torch.cat(flock.step(positions, velocities, commands), dim=-1)
    np.testing.assert_allclose(moved, swarm.states, atol=1e-6)


def test_what_learning_in_flight_moves_is_measured_by_the_command():
    network, other = Network.untrained(), Network.load("through-wd-gnn")
    with torch.no_grad():
        network.alpha_wide.fill_(2.0)

    def moves(model):
        alpha, rule = Network.load(model).alpha_wide.item(), model.header["learning"]
        return rule["step"] * alpha**2, rule["ball"] * alpha * Network.load(model).folded_norm()

    assert moves(network.to_model()) == pytest.approx(moves(other.to_model()), rel=1e-4)


def test_what_cannot_be_is_told():
    with pytest.raises(ValueError, match="not this network's"):
        Network.untrained().take(np.zeros(3))
    with pytest.raises(ValueError, match="further layers"):
        Network.untrained(**OWN["two layers"]).infer(torch.zeros(1, 24))
    with pytest.raises(wdgnn.Error):
        broken = Network.untrained()
        broken.beta.data.fill_(float("nan"))
        broken.to_model()


def test_examples_run():
    assert doctest.testmod(wdgnn.torch).failed == 0
