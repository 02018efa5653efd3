"""Runs, arrays, options and results of `Swarm`."""

import gc
import json
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


def run_swarm(ticks=60, **options):
    swarm = Swarm(**options)
    swarm.run(ticks)
    return swarm


@pytest.mark.parametrize("task", wdgnn.TASKS)
def test_every_task_has_the_digest_of_the_simulator(digest, task, tmp_path):
    swarm = run_swarm(task=task, robots=12, seed=5)
    swarm.model.save(tmp_path / "model.wdgnn")
    arguments = ["--task", task, "--robots", "12", "--ticks", "60", "--seed", "5"]
    assert swarm.digest() == digest(*arguments, "--model", str(tmp_path / "model.wdgnn"))


def test_the_default_network_is_that_of_eval(host_sim, tmp_path):
    arguments = ["--robots", "10", "--ticks", "20", "--swarms", "1", "--seed", "1", "--report", str(tmp_path / "eval.html")]
    evaluated = json.loads(host_sim("eval", "--json", *arguments))
    total = run_swarm(ticks=20, robots=10, seed=1, online=False).results()["total"]
    assert evaluated["controllers"]["wd-gnn"]["total"]["mean"] == pytest.approx(total, rel=1e-6)


def test_faults_and_keys_have_the_digest_of_the_simulator(digest, tmp_path):
    key = tmp_path / "swarm.key"
    key.write_text("00112233445566778899aabbccddeeff")
    arguments = "--robots 10 --ticks 60 --profile dot154 --fault drop-chance=0.3 --fault burst=3 --fault kill=3@20 --fault reboot=4@30 --fault liars=STATE:0.1"
    faults = {"drop_chance": 0.3, "burst": 3, "kill": "3@20", "reboot": ["4@30"], "liars": "STATE:0.1"}
    options = {"robots": 10, "profile": "dot154", "faults": faults}
    Swarm(**options).model.save(tmp_path / "model.wdgnn")
    arguments += f" --model {tmp_path / 'model.wdgnn'}"
    assert run_swarm(**options).digest() == digest(*arguments.split())
    sealed = run_swarm(**options, key=key.read_bytes())
    assert sealed.digest() == digest(*arguments.split(), "--key", str(key))
    assert sealed.alive == [robot != 3 for robot in range(10)]
    assert sealed.results()["violations"] == 0


def test_steps_and_runs_give_identical_results():
    by_run, by_step = run_swarm(ticks=40, robots=15), Swarm(robots=15)
    for tick in range(40):
        assert by_step.tick == tick
        if tick % 3 == 0:
            by_step.decide()
        by_step.step()
    assert by_step.digest() == by_run.digest()
    np.testing.assert_array_equal(by_step.states, by_run.states)


def test_only_online_swarms_change_their_parameters():
    online, offline = run_swarm(robots=15), run_swarm(robots=15, online=False)
    assert online.online and not offline.online
    assert online.results()["disagreement"] > 0.0
    assert offline.results()["disagreement"] is None
    np.testing.assert_array_equal(offline.wide, np.tile(offline.offline_wide, (15, 1)))
    assert np.abs(online.wide - online.offline_wide).max() > 0.0


def test_arrays_keep_their_memory_and_are_updated():
    swarm = Swarm(robots=8)
    states, commands = swarm.states, swarm.commands
    before = states.copy()
    swarm.run(5)
    assert states is swarm.states and commands is swarm.commands
    assert not np.array_equal(states, before)
    assert states.dtype == np.float32 and commands.shape == (8, 2)


def test_external_commands_are_applied():
    swarm = Swarm(robots=6)
    velocities = swarm.states[:, 2:].copy()
    commands = np.linspace(-5.0, 5.0, 12).reshape(6, 2)
    swarm.step(commands)
    np.testing.assert_allclose(swarm.states[:, 2:], velocities + 0.01 * commands, rtol=1e-6)
    np.testing.assert_array_equal(swarm.commands, commands.astype(np.float32))


def test_network_outputs_through_the_guard_equal_the_robots_commands():
    own, external = Swarm(robots=20, online=False), Swarm(robots=20, online=False)
    for _ in range(50):
        external.decide()
        external.step(external.outputs.copy(), guard=True)
        own.step()
    assert external.digest() == own.digest()


def test_changed_states_apply_at_the_next_tick():
    swarm = Swarm(robots=10)
    swarm.states[:, 2:] = 1.5
    assert swarm.score != 0.0, "the change applies at the next tick"
    swarm.decide()
    assert swarm.scores[0] == 0.0


def test_a_tick_has_one_decision():
    swarm = Swarm(robots=4)
    swarm.decide()
    first = swarm.commands.copy()
    with pytest.raises(wdgnn.Error, match=r"^tick 0 is decided: end it with step\(\), or with step\(states=\.\.\.\)"):
        swarm.decide()
    swarm.step()
    swarm.decide()
    assert swarm.tick == 1 and not np.array_equal(swarm.commands, first)


def test_states_that_change_after_the_decision_are_rejected():
    swarm = Swarm(robots=4)
    swarm.decide()
    swarm.states[:, 2:] += 1.0
    for call in (swarm.step, swarm.expert, lambda: swarm.run(1)):
        with pytest.raises(ValueError, match=r"states changed after decide\(\): pass states from outside with step\(states="):
            call()
    swarm.step(states=Swarm(robots=4).states)
    assert swarm.tick == 1


def test_states_from_outside_end_a_tick_without_motion():
    own, outside = Swarm(robots=12), Swarm(robots=12)
    for _ in range(30):
        own.decide()
        commands, states = own.commands.copy(), own.states.copy()
        states[:, :2] += 0.01 * states[:, 2:] + 0.5 * 0.01**2 * commands
        states[:, 2:] += 0.01 * commands
        own.step()
        outside.decide()
        outside.step(states=states)
        np.testing.assert_allclose(outside.states, own.states, atol=1e-6)
        outside.states[:] = own.states      # to the last bit
    assert outside.digest() == own.digest() and outside.tick == 30 and len(outside.scores) == 30


def test_arrays_may_have_any_layout():
    states, commands = np.arange(16.0).reshape(4, 4), np.arange(8.0).reshape(4, 2)
    for shuffled in (np.asfortranarray, lambda rows: np.repeat(rows, 2, axis=0)[::2], lambda rows: rows.T.astype(np.float32).T):
        swarm = Swarm(robots=4)
        np.testing.assert_array_equal(swarm.guard(shuffled(commands)), swarm.guard(commands))
        swarm.step(shuffled(commands), states=shuffled(states))
        np.testing.assert_array_equal(swarm.states, states)
        np.testing.assert_array_equal(swarm.commands, commands)


def test_a_tick_from_outside_needs_no_decision_before():
    swarm = Swarm(robots=4)
    commands = np.full((4, 2), 0.5, np.float32)
    swarm.step(commands, states=np.ones((4, 4)))
    assert swarm.tick == 1 and (swarm.states == 1.0).all() and (swarm.commands == 0.5).all()


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_states_must_be_finite(number):
    message = f"^states must be finite, got {str(number).lower()} for robot 2$"
    swarm = Swarm(robots=4)
    swarm.states[2, 1] = number
    for call in (swarm.decide, swarm.step, swarm.expert, lambda: swarm.run(3)):
        with pytest.raises(ValueError, match=message):
            call()
    states = swarm.states.copy()
    swarm.states[2, 1] = 0.0
    with pytest.raises(ValueError, match=message):
        swarm.step(states=states)
    with pytest.raises(ValueError, match=r"states must have the shape \[4, 4\], got \[4, 2\]"):
        swarm.step(states=states[:, :2])
    assert swarm.tick == 0
    swarm.run(5)
    assert swarm.tick == 5 and np.isfinite(swarm.states).all()


@pytest.mark.parametrize("controller", ["network", "averaging-1-hop", "expert"])
def test_guarded_commands_are_applied_under_every_controller(controller):
    swarm = Swarm(robots=6, controller=controller)
    swarm.step(np.full((6, 2), 50.0), guard=True)
    assert swarm.commands.max() == 10.0
    # Two robots approach each other; the others are far away.
    swarm.states[:, :2] = 10.0 * np.arange(12).reshape(6, 2)
    swarm.states[:, 2:] = 0.0
    swarm.states[:2] = [[0.0, 0.0, 1.0, 0.0], [0.16, 0.0, -1.0, 0.0]]
    guarded = swarm.guard(np.zeros((6, 2)))
    assert guarded[0, 0] < -1.0 and guarded[1, 0] > 1.0 and not guarded[2:].any()
    assert swarm.tick == 1
    swarm.step(np.zeros((6, 2)), guard=True)
    np.testing.assert_array_equal(swarm.commands[:2], guarded[:2])


def test_settings_of_the_guard_replace_those_of_the_model():
    shown = []
    for guard in ({}, {"separation": 0.5, "horizon": 1.0}, {"separation": 0.0, "repulsion": 0.0}):
        for controller in ("network", "expert"):
            swarm = Swarm(robots=2, radius=1.0, controller=controller, guard=guard)
            swarm.states[:] = [[0.0, 0.0, 0.3, 0.0], [0.6, 0.0, -0.3, 0.0]]
            shown.append(np.linalg.norm(swarm.guard(np.zeros((2, 2)))[0]))
    assert shown[0] == shown[1] == shown[4] == shown[5] == 0.0 and shown[2] == shown[3] > 0.1
    settings = Swarm(robots=2, guard={"separation": 0.25, "strength": 3.0}).model.header["settings"]
    assert settings[3] == 0.25 and settings[7] == 3.0


@pytest.mark.parametrize("controller", ["network", "averaging-1-hop"])
def test_actuators_have_delay_and_lag(controller):
    swarm = Swarm(robots=4, controller=controller, faults={"actuator_delay": 3})
    before = swarm.states[:, 2:].copy()
    commands = np.full((4, 2), 2.0)
    for _ in range(3):
        swarm.step(commands)
    np.testing.assert_array_equal(swarm.states[:, 2:], before)
    swarm.step(commands)
    np.testing.assert_allclose(swarm.states[:, 2:], before + 0.02, rtol=1e-5)
    slow = Swarm(robots=4, controller=controller, faults={"actuator_lag": 0.1})
    for _ in range(10):
        slow.step(commands)
    # The velocity follows the integral of a first-order response over 0.1 s.
    gained = slow.states[:, 2:] - before
    np.testing.assert_allclose(gained, 2.0 * 0.1 * np.exp(-1.0), rtol=0.15)


def test_actuator_faults_are_those_of_eval(host_sim, tmp_path):
    arguments = ["--robots", "10", "--ticks", "60", "--swarms", "1", "--seed", "1", "--actuator-delay", "8"]
    evaluated = json.loads(host_sim("eval", "--json", *arguments, "--report", str(tmp_path / "eval.html")))
    swarm = run_swarm(robots=10, seed=1, faults={"actuator_delay": 8})
    assert evaluated["controllers"]["wd-gnn-online"]["total"]["mean"] == pytest.approx(swarm.results()["total"], rel=1e-6)


def test_bodies_are_those_of_eval(host_sim, tmp_path):
    arguments = ["--swarms", "1", "--seed", "1", "--body", "quadrotor,lag=1.2"]
    evaluated = json.loads(host_sim("eval", "--json", *arguments, "--report", str(tmp_path / "eval.html")))
    swarm = Swarm(body="quadrotor,lag=1.2")
    swarm.run(400)
    assert len(swarm.states) == 10
    assert evaluated["controllers"]["wd-gnn-online"]["total"]["mean"] == pytest.approx(swarm.results()["total"], rel=1e-6)
    with pytest.raises(ValueError, match="body must be point, quadrotor or differential, .*, got boat"):
        Swarm(body="boat")
    with pytest.raises(ValueError, match="body needs task flocking, got flocking-3d"):
        Swarm("flocking-3d", body="quadrotor")


def test_links_connect_robots_within_the_radio_range():
    swarm = Swarm(robots=20, radius=1.5)
    places = swarm.states[:, :2].copy()
    swarm.decide()
    near = np.linalg.norm(places[:, None] - places[None], axis=-1) <= 1.5
    np.fill_diagonal(near, False)
    senders, receivers = swarm.links
    found = np.zeros_like(near)
    found[receivers, senders] = True
    np.testing.assert_array_equal(found, near)


def test_equal_seeds_give_equal_runs():
    swarm = run_swarm(robots=10, seed=1)
    first = swarm.digest()
    swarm.reset(seed=2)
    assert swarm.tick == 0 and swarm.seed == 2
    swarm.run(60)
    assert swarm.digest() != first
    swarm.reset(seed=1)
    swarm.run(60)
    assert swarm.digest() == first


def test_starts_for_training_and_testing_differ():
    assert not np.array_equal(Swarm(robots=5, purpose="training").states, Swarm(robots=5).states)


def test_commands_of_the_expert_reduce_the_score():
    swarm = Swarm(robots=20)
    first = swarm.score
    for _ in range(100):
        swarm.step(swarm.expert())
    assert swarm.score < 0.1 * first
    by_name = run_swarm(ticks=100, robots=20, controller="expert")
    np.testing.assert_array_equal(by_name.states, swarm.states)
    assert by_name.wide.size == 0 and Swarm("flocking-3d", robots=5).expert().shape == (5, 3)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"robots": 0}, ValueError, "robots must be a whole number between 1 and 20000000, got 0"),
        ({"robots": -5}, ValueError, "robots must be a whole number between 1 and 20000000, got -5"),
        ({"radius": 1e38}, ValueError, "radius must be a number above 0.1 and at most 1000, got 1e38"),
        ({"task": "chess"}, ValueError, "unknown task chess, use one of flocking"),
        ({"profile": "wifi"}, ValueError, "unknown profile wifi"),
        ({"model": "missing.wdgnn"}, OSError, "cannot read missing.wdgnn"),
        ({"model": "flocking-3d"}, wdgnn.Error, "was trained for the task flocking-3d, not for flocking"),
        ({"model": "flocking-dot154"}, ValueError, "one exchange every 5 ticks, but profile exact has one every tick"),
        ({"model": "flocking-wd-gnn", "profile": "dot154"}, ValueError, "one exchange every tick, but profile dot154"),
        ({"faults": {"drop_chance": 2}}, ValueError, "drop_chance must be a number between 0 and 1, got 2"),
        ({"faults": {"drop_chance": "x"}}, ValueError, "drop_chance must be a number between 0 and 1, got x"),
        ({"faults": {"burst": 5}}, ValueError, "burst has no effect without drop_chance"),
        ({"faults": {"gremlins": 1}}, ValueError, "there is no fault gremlins: use drop_chance, burst, "),
        ({"faults": {"kill": "3"}}, ValueError, "kill must be ROBOT@TICK, such as 3@50, got 3"),
        ({"robots": 3, "faults": {"kill": "3@1"}}, ValueError, "kill names robot 3: the robots are 0 to 2"),
        ({"faults": {"actuator_delay": 2.5}}, ValueError, "actuator_delay must be a whole number between 0 and 100, got 2.5"),
        ({"faults": {"actuator_lag": -1}}, ValueError, "actuator_lag must be a number between 0 and 10, got -1"),
        ({"guard": {"separation": -1}}, ValueError, "separation must be a number between 0 and 10, got -1"),
        ({"guard": {"fear": 1}}, ValueError, "unknown guard setting fear, use one of separation, horizon, repulsion"),
        ({"key": b"short"}, ValueError, "that is not a key"),
        ({"controller": "magic"}, ValueError, "unknown controller magic, use one of network"),
        ({"purpose": "fun"}, ValueError, "unknown purpose fun"),
    ],
)
def test_invalid_options_are_rejected(options, error, message):
    with pytest.raises(error, match=message):
        Swarm(**options)


@pytest.mark.parametrize("commands", [np.zeros((5, 2)), np.zeros(8), np.full((4, 2), np.nan)])
def test_invalid_commands_are_rejected_and_no_robot_moves(commands):
    swarm = Swarm(robots=4)
    with pytest.raises((ValueError, TypeError)):
        swarm.step(commands)
    assert swarm.tick == 0


def test_fly_returns_one_row_per_episode():
    rows = wdgnn.fly(robots=6, seeds=range(1, 4), starts=[0, 1], ticks=20)
    assert [(row["seed"], row["start"]) for row in rows] == [(s, i) for s in (1, 2, 3) for i in (0, 1)]
    assert rows[0]["digest"] == run_swarm(ticks=20, robots=6).digest()
    assert len({row["digest"] for row in rows}) == 6
    assert isinstance(rows[0]["total"], float)


def test_rejected_frames_are_counted_by_reason():
    swarm = run_swarm(robots=6, key=bytes(16), faults={"forge": 2, "corrupt_chance": 0.2})
    assert set(swarm.frame_errors) <= set(wire.FRAME_ERRORS) and swarm.frame_errors["forged"] > 0
    assert swarm.results()["rejected"] == sum(swarm.frame_errors.values()) < swarm.results()["received"]
    assert Swarm(robots=6).frame_errors == {}


def test_a_swarm_outlives_the_python_object_of_its_model():
    expected = run_swarm(robots=6).digest()
    model = Model.from_bytes(bytes(Swarm(robots=6).model))
    swarm = Swarm(robots=6, model=model)
    del model
    gc.collect()
    swarm.run(60)
    assert swarm.digest() == expected


def test_repr_describes_the_swarm():
    assert "flocking: 7 robots on espnow, learning, seed 3, tick 0" in repr(Swarm(robots=7, profile="espnow", seed=3))


def test_other_threads_run_during_a_run():
    swarm = Swarm(robots=50)
    flight = threading.Thread(target=swarm.run, args=(2000,))
    loops = 0
    flight.start()
    while flight.is_alive():
        loops += 1
    assert loops > 1000, "run holds the lock of Python"


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_ctrl_c_ends_a_run_after_a_whole_tick():
    program = """
        import signal
        import wdgnn
        # Shells ignore SIGINT in background processes.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        swarm = wdgnn.Swarm(robots=50)
        try:
            print("running", flush=True)
            swarm.run(2**31)
        except KeyboardInterrupt:
            ticks = swarm.tick
            swarm.run(1)
            print(swarm.tick - ticks, len(swarm.scores) == swarm.tick)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "running\n"
    child.send_signal(signal.SIGINT)
    try:
        assert child.communicate(timeout=120)[0] == "1 True\n"
    finally:
        child.kill()
