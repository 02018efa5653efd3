"""Worlds, laws and metrics of `wdgnn.worlds`, and the command `python -m wdgnn.worlds`."""

import doctest
import importlib
import importlib.util
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import wdgnn
from wdgnn import worlds
from wdgnn.worlds import Averaging, Network, PointMass, Smith, World, fly, measure, open_world, starts
from wdgnn.worlds.world import WORLDS

NAMES = {name: getattr(worlds, name) for name in worlds.__all__} | {"np": np, "wdgnn": wdgnn}
MODULES = ["worlds", "worlds.flight", "worlds.laws", "worlds.metrics", "worlds.network", "worlds.world", "worlds.compare"]


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_modules_run(module):
    module = importlib.import_module(f"wdgnn.{module}")
    results = doctest.testmod(module, extraglobs=NAMES)
    assert results.attempted > 0 and results.failed == 0


def every_world():
    for name, (module, _, packages) in WORLDS.items():
        missing = [package for package in packages if importlib.util.find_spec(package) is None]
        skip = pytest.mark.skipif(bool(missing), reason=f"the world {name} needs {', '.join(missing)}: pip install 'wdgnn[{name}]'")
        yield pytest.param(name, module, marks=skip)


@pytest.mark.parametrize(("name", "module"), list(every_world()))
def test_every_world_flies_a_swarm(name, module):
    found = importlib.import_module(f"wdgnn.worlds.{module}")
    assert doctest.testmod(found, extraglobs=NAMES).failed == 0
    speed = found.__dict__[WORLDS[name][1]].speeds[0]
    start = starts(robots=6, speed=speed, seeds=[1, 2])
    world = open_world(name, start)
    assert isinstance(world, World)
    np.testing.assert_allclose(world.states, start, atol=1e-6)
    flight = fly(world, Averaging(gain=5.0), ticks=200)
    assert (flight.variation[-1] < 0.1 * flight.variation[0]).all()
    # Swarms do not affect each other, and delays shift commands.
    alone = fly(open_world(name, start[:1]), Averaging(gain=5.0), ticks=50)
    np.testing.assert_allclose(alone.states[:, 0], flight.states[:50, 0], atol=1e-4)
    late = open_world(name, start, delay=0.03)
    for _ in range(3):
        late.step(np.full((2, 6, 2), 1.0))
    still = open_world(name, start)
    for _ in range(3):
        still.step(np.zeros((2, 6, 2)))
    np.testing.assert_allclose(late.states, still.states, atol=1e-9)
    with pytest.raises(ValueError, match=f"the world {name} has no option color, use one of "):
        open_world(name, start, color=1.0)


@pytest.mark.parametrize(("name", "module"), [world for world in every_world() if world.values[0] != "crazyflow"])
def test_the_example_draws_the_paths_in_every_world(name, module, tmp_path):
    pytest.importorskip("matplotlib")
    example = pathlib.Path(__file__).resolve().parents[1] / "examples" / "outside_world.py"
    arguments = [name, "--robots", "4", "--seconds", "0.2", "--out", str(tmp_path / "paths.png")]
    shown = subprocess.run([sys.executable, str(example), *arguments], capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert (tmp_path / "paths.png").read_bytes().startswith(b"\x89PNG")


def test_rotorpy_vehicles_move_as_in_rotorpy():
    pytest.importorskip("rotorpy", reason="needs rotorpy: pip install 'wdgnn[rotorpy]'")
    start = starts(robots=3, speed=2.0)
    for bodies in ({}, {"mass": 1.2, "lag": 1.3}):
        together = fly(open_world("rotorpy", start, **bodies), Averaging(gain=10.0), ticks=80)
        exact = fly(open_world("rotorpy", start, exact=True, **bodies), Averaging(gain=10.0), ticks=80)
        # RotorPy integrates with a relative tolerance of 1e-3.
        np.testing.assert_allclose(together.states, exact.states, atol=1e-4)
        np.testing.assert_allclose(together.tilt, exact.tilt, atol=1e-2)
        assert together.tilt.max() > 20.0


def test_dotbots_stop_at_each_other_and_follow_a_wanted_velocity():
    pytest.importorskip("dotbot", reason="needs pydotbot: pip install 'wdgnn[dotbot]'")
    meeting = [[[0.0, 0.0, 0.1, 0.0], [0.3, 0.0, -0.1, 0.0]]]
    world = open_world("dotbot", meeting)
    for _ in range(300):
        states = world.step(np.zeros((1, 2, 2)))
    # The bodies have a radius of 50 mm, and the photodiodes are ahead of their centers.
    assert 0.0 < states[0, 1, 0] - states[0, 0, 0] < 0.1 and np.abs(states[0, :, 2:]).max() < 1e-9
    turning = open_world("dotbot", [[[0.0, 0.0, 0.1, 0.0]]])
    for tick in range(200):
        states = turning.step([[[0.0, 0.1 if tick < 100 else 0.0]]])
    np.testing.assert_allclose(states[0, 0, 2:], [0.1, 0.1], atol=5e-3)


def test_networks_in_a_world_of_points_fly_as_in_the_simulator():
    swarm = wdgnn.Swarm(robots=8, seed=3, speed=1.0)
    flight = fly(PointMass(swarm.states[None]), Network(), ticks=100)
    swarm.run(100)
    assert flight.variation.sum() == pytest.approx(swarm.results()["total"], rel=1e-3)
    assert measure(flight)["distance"][0] == pytest.approx(swarm.results()["min_distance"], rel=1e-3)


def test_a_smith_predictor_with_a_short_horizon_is_averaging():
    start = starts(robots=8, seeds=[1, 2])
    plain, smith = (fly(PointMass(start), law, ticks=50) for law in (Averaging(10.0), Smith(10.0, 1e-6)))
    np.testing.assert_allclose(plain.states, smith.states, atol=1e-4)


def test_averaging_knows_the_swarm_over_enough_hops():
    line = np.zeros((1, 4, 4))
    line[0, :, 0] = 1.5 * np.arange(4)
    line[0, 3, 2] = 4.0
    heard = []
    for hops in (1, 2, 3):
        averaging = Averaging(gain=1.0, hops=hops)
        averaging.begin(PointMass(line))
        heard.append([averaging.commands(tick, line)[0, 0, 0] for tick in range(4)])
    # Robot 3 is three hops away from robot 0, and its velocity arrives at the third exchange.
    assert heard == [[0.0] * 4, [0.0] * 4, [0.0, 0.0, 1.0, 1.0]]


def test_laws_exchange_at_the_rate_of_the_radio():
    pair, faster = np.zeros((1, 2, 4)), np.zeros((1, 2, 4))
    faster[0, 1, 2] = 1.0
    averaging = Averaging(gain=2.0, interval=3)
    averaging.begin(PointMass(pair))
    commands = [averaging.commands(tick, (1 + tick) * faster)[0, 0, 0] for tick in range(5)]
    assert commands == [1.0, 1.0, 1.0, 4.0, 4.0]


def test_metrics_by_hand():
    states = np.zeros((100, 1, 3, 4))
    states[:, 0, :, 0] = [0.0, 1.0, 1.05]
    states[40, 0, 0, 0] = 0.95          # comes close to both, which start close to each other
    states[:, 0, 0, 2] = 3.0
    commands = np.zeros((100, 1, 3, 2))
    commands[-1, 0, 0] = [3.0, 4.0]
    row = measure(worlds.Flight(states, commands, np.zeros((100, 1, 3)), 0.01))
    assert row["total"][0] == pytest.approx(100 * 2.0) and row["late_variation"][0] == pytest.approx(2.0)
    assert row["late_command"][0] == pytest.approx(np.sqrt(25.0 / 150.0))
    assert row["distance"][0] == pytest.approx(0.05) and row["new_close"][0] == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PointMass(np.zeros((2, 4))), r"starts must be finite and have the shape \[swarm, robot, 4\], got \[2, 4\]"),
        (lambda: PointMass(np.full((1, 2, 4), np.nan)), "starts must be finite"),
        (lambda: PointMass(np.zeros((1, 2, 4))).step(np.zeros((2, 2))), r"commands must .* shape \[1, 2, 2\], got \[2, 2\]"),
        (lambda: PointMass(np.zeros((1, 2, 4))).step(np.full((1, 2, 2), np.nan)), "commands must be finite"),
    ],
)
def test_invalid_arrays_are_rejected(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "wdgnn.worlds", *arguments], capture_output=True, text=True)


def test_the_command_prints_a_table_json_and_a_figure(tmp_path):
    pytest.importorskip("matplotlib")
    arguments = ["compare", "point", "--robots", "5", "--seeds", "2", "--speeds", "1,2", "--seconds", "0.5", "--laws", "averaging"]
    shown = command(*arguments, "--plot", str(tmp_path / "flight.png"))
    assert shown.returncode == 0, shown.stderr
    assert "point: 5 robots, ±2 m/s, 2 starts" in shown.stdout and "1.000 ± 0.000" in shown.stdout
    assert (tmp_path / "flight.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads(command(*arguments, "--json", "--noise", "0.05", "--delay", "0.08", "--unguarded").stdout)
    assert [case["speed"] for case in found] == [1.0, 2.0]
    assert [row["controller"].split(", ", 1)[1] for row in found[0]["rows"][1:]] == [
        "offline",
        "learning",
        "offline, unguarded",
        "learning, unguarded",
    ]
    assert len(found[0]["rows"][1]["total"]) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["point", "--weights", "missing.wdgnn"], "wdgnn.worlds: cannot read missing.wdgnn"),
        (["point", "--laws", "magic"], "wdgnn.worlds: unknown law magic, use one of averaging"),
        (["point", "--speeds", "0"], "must be positive numbers between commas, got 0"),
        (["chess"], "invalid choice: 'chess'"),
    ],
)
def test_invalid_commands_print_one_line(arguments, message):
    shown = command("compare", *arguments, "--robots", "3", "--seeds", "1", "--seconds", "0.5")
    assert shown.returncode == 2 and message in shown.stderr.splitlines()[-1]
    assert "Traceback" not in shown.stderr
