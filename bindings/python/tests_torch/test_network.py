"""Comparison of the network in torch with the network of the robots."""

import doctest

import numpy as np
import pytest
import torch

import wdgnn
import wdgnn.torch
from wdgnn import Model, Swarm
from wdgnn.torch import Flock, Network

# Tolerance in units in the last place of the largest output of an episode. Measured: 2.5 to 4 (shipped networks, 60 ticks).
FAST_ULP = 8.0


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(1)


def adjacency_matrix(swarm):
    adjacency = torch.zeros(len(swarm), len(swarm))
    senders, receivers = swarm.used_links
    adjacency[receivers, senders] = 1.0
    return adjacency


@pytest.mark.parametrize("name", Model.names())
def test_loading_and_saving_preserves_every_byte(name, tmp_path):
    path = tmp_path / "again.wdgnn"
    Network.load(name).save(path)
    assert path.read_bytes() == bytes(Model.named(name))


VARIANTS = {"two layers": {"layers": [(2, 16), (2, 16)], "hidden": 16}, "relu": {"activation": "relu"}, "scaled": {"scale": 0.125}}
MODELS = [
    ("flocking", "flocking-wd-gnn"),
    ("flocking", "flocking-wd-gnn"),
    ("flocking", "flocking-gnn"),
    ("flocking", "paper-graph-filter"),
    ("flocking-3d", "flocking-3d"),
    *(("flocking", name) for name in VARIANTS),
]


@pytest.mark.parametrize(("task", "name"), MODELS)
def test_forward_exact_is_identical_and_forward_is_close_to_the_robots(task, name):
    network = Network.untrained(**VARIANTS[name]) if name in VARIANTS else Network.load(name)
    swarm = Swarm(task, robots=15, model=network.to_model(), online=False)
    slow = fast = None
    largest = worst = 0.0
    for _ in range(60):
        swarm.decide()
        features, adjacency = torch.from_numpy(swarm.taps[:, 0].copy()), adjacency_matrix(swarm)
        outputs, slow = network.forward_exact(features, adjacency, slow)
        np.testing.assert_array_equal(outputs.numpy().view(np.int32), swarm.outputs.view(np.int32))
        np.testing.assert_array_equal(slow[0].numpy(), swarm.taps)
        with torch.no_grad():
            near, fast = network(features, adjacency, fast)
        worst = max(worst, float(np.abs(near.numpy() - swarm.outputs).max()))
        largest = max(largest, float(np.abs(swarm.outputs).max()))
        swarm.step()
    assert worst <= FAST_ULP * np.spacing(np.float32(largest)), worst / np.spacing(np.float32(largest))


def test_infer_computes_outputs_from_taps():
    swarm = Swarm("flocking-3d", robots=15, online=False)
    swarm.run(30)
    outputs = Network.load("flocking-3d").infer(torch.from_numpy(swarm.taps.copy())).detach().numpy()
    np.testing.assert_allclose(outputs, swarm.outputs, rtol=0.0, atol=FAST_ULP * np.spacing(np.abs(swarm.outputs).max()))


def test_batches_of_swarms_equal_single_swarms():
    network = Network.load("flocking-wd-gnn")
    features, adjacency = torch.randn(3, 7, 6), (torch.rand(3, 7, 7) > 0.5).float()
    batch, delay_lines = network(features, adjacency)
    single, _ = network(features[1], adjacency[1])
    torch.testing.assert_close(batch[1], single)
    assert [delay_line.shape for delay_line in delay_lines] == [(3, 7, 4, 6)]


def test_flock_observes_and_moves_like_the_robots():
    model = Model.named("flocking-wd-gnn")
    swarm, flock = Swarm(robots=15, model=model), Flock(model.header)
    positions, velocities = torch.from_numpy(swarm.states.copy()).chunk(2, dim=-1)
    swarm.decide()
    adjacency = flock.adjacency(positions)
    np.testing.assert_array_equal(adjacency.numpy(), adjacency_matrix(swarm).numpy())
    np.testing.assert_allclose(flock.observe(positions, velocities, adjacency), swarm.taps[:, 0], atol=1e-5)
    assert float(flock.velocity_variation(velocities)) == pytest.approx(swarm.scores[0], rel=1e-5)
    commands = torch.from_numpy(swarm.commands.copy())
    swarm.step()
    moved = torch.cat(flock.step(positions, velocities, commands), dim=-1)
    np.testing.assert_allclose(moved, swarm.states, atol=1e-6)


def test_untrained_networks_learn_in_flight_at_the_rate_of_their_template():
    network, other = Network.untrained(), Network.load("flocking-wd-gnn")
    with torch.no_grad():
        network.alpha_wide.fill_(2.0)

    def effect(model):
        alpha, rule = Network.load(model).alpha_wide.item(), model.header["learning"]
        return rule["step"] * alpha**2, rule["ball"] * alpha * Network.load(model).folded_norm()

    assert effect(network.to_model()) == pytest.approx(effect(other.to_model()), rel=1e-4)


def test_invalid_parameters_are_rejected():
    with pytest.raises(ValueError, match="parameters, got 3"):
        Network.untrained().set_numbers(np.zeros(3))
    with pytest.raises(ValueError, match="one layer only"):
        Network.untrained(**VARIANTS["two layers"]).infer(torch.zeros(1, 24))
    with pytest.raises(wdgnn.Error):
        broken = Network.untrained()
        broken.beta.data.fill_(float("nan"))
        broken.to_model()


def test_examples_of_the_module_run():
    assert doctest.testmod(wdgnn.torch).failed == 0
