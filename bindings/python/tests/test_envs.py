"""Interfaces, episodes and rewards of the environments."""

import numpy as np
import pytest
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from pettingzoo.test import parallel_api_test, parallel_seed_test

from wdgnn import Swarm
from wdgnn.envs import SwarmVectorEnv, parallel_env
from wdgnn.envs.arena import Arena

FAULTS = {"faults": {"kill": ["2@10"], "drop_chance": 0.2}, "profile": "dot154"}


@pytest.mark.parametrize(
    ("task", "options"),
    [("flocking", {}), ("flocking", FAULTS), ("flocking-3d", {}), ("flocking", {"observe": "states"})],
)
def test_environments_pass_the_api_test_of_pettingzoo(task, options):
    parallel_api_test(parallel_env(task, robots=5, ticks=30, **options), num_cycles=100)


def test_equal_seeds_give_equal_episodes():
    parallel_seed_test(lambda: parallel_env(robots=4, ticks=20), num_cycles=30)


def test_a_killed_robot_is_terminated_and_the_others_continue():
    env = parallel_env(robots=5, ticks=30, **FAULTS)
    env.reset(seed=1)
    ended = {}
    for tick in range(30):
        results = env.step({agent: np.zeros(2, np.float32) for agent in env.agents})
        ended.update({agent: tick for agent, killed in results[2].items() if killed})
    assert list(ended) == ["robot_2"] and not env.agents
    assert all(results[3].values()) and len(results[3]) == 4


def test_network_outputs_as_actions_reproduce_the_run_of_the_network():
    arena, swarm = Arena(robots=12, seed=4), Swarm(robots=12, seed=4, online=False, purpose="training")
    arena.reset(seed=4)
    for _ in range(40):
        arena.step(arena.swarm.outputs.copy())
        swarm.step()
    assert arena.swarm.digest() == swarm.digest()


@pytest.mark.parametrize("task", ["flocking", "flocking-3d"])
def test_the_mean_cost_of_the_robots_is_the_score(task):
    arena = Arena(task, robots=9)
    assert arena.costs().mean() == pytest.approx(arena.swarm.score)


def test_vector_environment_stays_in_its_spaces_and_resets_itself():
    env = RecordEpisodeStatistics(SwarmVectorEnv(swarms=3, robots=4, ticks=15))
    seen, _ = env.reset(seed=2)
    env.action_space.seed(1)
    assert env.num_envs == 12 and env.observation_space.contains(seen)
    ends = []
    for _ in range(31):
        seen, rewards, terminated, truncated, infos = env.step(env.action_space.sample())
        assert env.observation_space.contains(seen) and (rewards <= 0.0).all() and not terminated.any()
        ends.append(truncated.all())
        if truncated.any():
            assert not np.array_equal(infos["final_obs"], seen)
            assert (infos["episode"]["l"] == 15).all()
    assert np.flatnonzero(ends).tolist() == [14, 29]


def test_resets_start_new_episodes_and_a_seed_repeats_one():
    env = SwarmVectorEnv(swarms=2, robots=4)
    first, _ = env.reset(seed=2)
    second, _ = env.reset()
    again, _ = env.reset(seed=2)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, again)


def test_unknown_observations_are_rejected():
    with pytest.raises(ValueError, match="unknown observation smell"):
        Arena(observe="smell")
