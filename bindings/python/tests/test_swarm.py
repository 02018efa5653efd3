"""Swarms fly as the simulator flies them, over arrays that are there all the time."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import wdgnn
from wdgnn import Model, Swarm, wire


def flown(ticks=60, **options):
    swarm = Swarm(**options)
    swarm.run(ticks)
    return swarm


@pytest.mark.parametrize("task", wdgnn.TASKS)
def test_every_task_has_the_digest_of_the_simulator(digest, task):
    expected = digest("--task", task, "--robots", "12", "--ticks", "60", "--seed", "5")
    assert flown(task=task, robots=12, seed=5).digest() == expected


def test_faults_and_keys_have_the_digest_of_the_simulator(digest, tmp_path):
    key = tmp_path / "swarm.key"
    key.write_text("00112233445566778899aabbccddeeff")
    arguments = "--robots 10 --ticks 60 --profile dot154 --drop-chance 0.3 --burst 3 --kill 3@20 --reboot 4@30 --liars STATE:0.1"
    faults = {"drop_chance": 0.3, "burst": 3, "kill": "3@20", "reboot": ["4@30"], "liars": "STATE:0.1"}
    options = {"robots": 10, "profile": "dot154", "faults": faults}
    assert flown(**options).digest() == digest(*arguments.split())
    sealed = flown(**options, key=key.read_bytes())
    assert sealed.digest() == digest(*arguments.split(), "--key", str(key))
    assert sealed.alive == [robot != 3 for robot in range(10)]
    assert sealed.results()["violations"] == 0


def test_steps_and_runs_are_the_same_flight():
    whole, apart = flown(ticks=40, robots=15), Swarm(robots=15)
    for tick in range(40):
        assert apart.tick == tick
        if tick % 3 == 0:
            apart.think()
        apart.step()
    assert apart.digest() == whole.digest()
    np.testing.assert_array_equal(apart.states, whole.states)


def test_learning_in_flight_changes_parameters_and_off_does_not():
    learning, still = flown(robots=15), flown(robots=15, online=False)
    assert learning.online and not still.online
    assert learning.results()["disagreement"] > 0.0
    assert still.results()["disagreement"] is None
    np.testing.assert_array_equal(still.wide, np.tile(still.offline, (15, 1)))
    assert np.abs(learning.wide - learning.offline).max() > 0.0


def test_arrays_stay_where_they_are_and_follow_the_flight():
    swarm = Swarm(robots=8)
    states, commands = swarm.states, swarm.commands
    before = states.copy()
    swarm.run(5)
    assert states is swarm.states and commands is swarm.commands
    assert not np.array_equal(states, before)
    assert states.dtype == np.float32 and commands.shape == (8, 2)


def test_commands_from_outside_are_done():
    swarm = Swarm(robots=6)
    velocities = swarm.states[:, 2:].copy()
    commands = np.linspace(-5.0, 5.0, 12).reshape(6, 2)
    swarm.step(commands)
    np.testing.assert_allclose(swarm.states[:, 2:], velocities + 0.01 * commands, rtol=1e-6)
    np.testing.assert_array_equal(swarm.commands, commands.astype(np.float32))


def test_a_network_s_own_output_through_the_guard_is_its_own_command():
    own, outside = Swarm(robots=20, online=False), Swarm(robots=20, online=False)
    for _ in range(50):
        outside.think()
        outside.step(outside.outputs.copy(), guard=True)
        own.step()
    assert outside.digest() == own.digest()


def test_robots_fly_on_from_where_python_puts_them():
    swarm = Swarm(robots=10)
    swarm.states[:, 2:] = 1.5
    assert swarm.score != 0.0, "nothing happens before the next tick"
    swarm.think()
    assert swarm.scores[0] == 0.0


def test_links_are_those_within_the_radius():
    swarm = Swarm(robots=20, radius=1.5)
    places = swarm.states[:, :2].copy()
    swarm.think()
    near = np.linalg.norm(places[:, None] - places[None], axis=-1) <= 1.5
    np.fill_diagonal(near, False)
    speakers, listeners = swarm.links
    found = np.zeros_like(near)
    found[listeners, speakers] = True
    np.testing.assert_array_equal(found, near)


def test_another_seed_is_another_flight_and_the_same_is_the_same():
    swarm = flown(robots=10, seed=1)
    first = swarm.digest()
    swarm.reset(seed=2)
    assert swarm.tick == 0 and swarm.seed == 2
    swarm.run(60)
    assert swarm.digest() != first
    swarm.reset(seed=1)
    swarm.run(60)
    assert swarm.digest() == first


def test_starts_for_training_and_testing_are_never_the_same():
    assert not np.array_equal(Swarm(robots=5, purpose="training").states, Swarm(robots=5).states)


def test_the_expert_knows_better_than_nothing():
    swarm = Swarm(robots=20)
    first = swarm.score
    for _ in range(100):
        swarm.step(swarm.expert())
    assert swarm.score < 0.1 * first
    by_name = flown(ticks=100, robots=20, controller="expert")
    np.testing.assert_array_equal(by_name.states, swarm.states)
    assert by_name.wide.size == 0 and Swarm("coverage", robots=5).expert().shape == (5, 2)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"robots": 0}, ValueError, "robots must be a whole number between 1 and 20000000, got 0"),
        ({"robots": -5}, ValueError, "robots must be a whole number between 1 and 20000000, got -5"),
        ({"radius": 1e38}, ValueError, "radius must be a number above 0.1 and at most 1000, got 1e38"),
        ({"task": "chess"}, ValueError, "there is no task chess: there are flocking"),
        ({"profile": "wifi"}, ValueError, "there is no profile wifi"),
        ({"model": "missing.wdgnn"}, OSError, "cannot read missing.wdgnn"),
        ({"model": "flocking-3d"}, wdgnn.Error, "was trained for the task flocking-3d, not for flocking"),
        ({"model": "flocking-dot154"}, ValueError, "one exchange every 5 ticks, but profile exact has one every tick"),
        ({"model": "flocking-wd-gnn", "profile": "dot154"}, ValueError, "one exchange every tick, but profile dot154"),
        ({"faults": {"drop_chance": 2}}, ValueError, "drop_chance must be a number between 0 and 1, got 2"),
        ({"faults": {"drop_chance": "x"}}, ValueError, "drop_chance must be a number, got x"),
        ({"faults": {"burst": 5}}, ValueError, "burst has no effect without drop_chance"),
        ({"faults": {"gremlins": 1}}, ValueError, "there is no fault gremlins"),
        ({"faults": {"kill": "3"}}, ValueError, "kill must be ROBOT@TICK, such as 3@50, got 3"),
        ({"robots": 3, "faults": {"kill": "3@1"}}, ValueError, "kill names robot 3: the robots are 0 to 2"),
        ({"key": b"short"}, ValueError, "that is not a key"),
        ({"controller": "nobody"}, ValueError, "there is no controller nobody: there are network"),
        ({"purpose": "fun"}, ValueError, "there is no purpose fun"),
    ],
)
def test_what_cannot_be_is_an_exception_with_a_sentence(options, error, words):
    with pytest.raises(error, match=words):
        Swarm(**options)


@pytest.mark.parametrize("commands", [np.zeros((5, 2)), np.zeros(8), np.full((4, 2), np.nan)])
def test_commands_that_cannot_be_are_told_and_nobody_moves(commands):
    swarm = Swarm(robots=4)
    with pytest.raises((ValueError, TypeError)):
        swarm.step(commands)
    assert swarm.tick == 0


def test_results_are_rows_for_a_table():
    rows = wdgnn.fly(robots=6, seeds=range(1, 4), starts=[0, 1], ticks=20)
    assert [(row["seed"], row["start"]) for row in rows] == [(s, i) for s in (1, 2, 3) for i in (0, 1)]
    assert rows[0]["digest"] == flown(ticks=20, robots=6).digest()
    assert len({row["digest"] for row in rows}) == 6
    assert isinstance(rows[0]["total"], float)


def test_refused_frames_are_counted_by_reason():
    swarm = flown(robots=6, key=bytes(16), faults={"forge": 2, "corrupt_chance": 0.2})
    assert set(swarm.refusals) <= set(wire.REFUSALS) and swarm.refusals["forged"] > 0
    assert swarm.results()["refused"] == sum(swarm.refusals.values()) < swarm.results()["heard"]
    assert Swarm(robots=6).refusals == {}


def test_a_swarm_holds_the_weights_that_it_flies():
    expected = flown(robots=6).digest()
    model = Model.from_bytes(bytes(Model.named("flocking-wd-gnn")))
    swarm = Swarm(robots=6, model=model)
    del model
    gc.collect()
    swarm.run(60)
    assert swarm.digest() == expected


def test_repr_says_what_flies():
    assert "flocking: 7 robots on espnow, learning, seed 3, tick 0" in repr(Swarm(robots=7, profile="espnow", seed=3))


def test_other_threads_run_while_a_swarm_flies():
    swarm = Swarm(robots=50)
    flight = threading.Thread(target=swarm.run, args=(2000,))
    counted = 0
    flight.start()
    while flight.is_alive():
        counted += 1
    assert counted > 1000, "Python would have stood still"


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_ctrl_c_ends_a_long_flight_after_a_whole_tick():
    program = """
        import signal
        import wdgnn
        # Whoever runs tests in the background has it ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        swarm = wdgnn.Swarm(robots=50)
        try:
            print("flying", flush=True)
            swarm.run(2**31)
        except KeyboardInterrupt:
            ticks = swarm.tick
            swarm.run(1)
            print(swarm.tick - ticks, len(swarm.scores) == swarm.tick)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "flying\n"
    child.send_signal(signal.SIGINT)
    try:
        assert child.communicate(timeout=120)[0] == "1 True\n"
    finally:
        child.kill()
