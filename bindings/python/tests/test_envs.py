"""Environments keep to the interfaces that they are for, and pay for what robots do."""

import numpy as np
import pytest
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from pettingzoo.test import parallel_api_test, parallel_seed_test

from wdgnn import Swarm
from wdgnn.envs import SwarmVectorEnv, parallel_env
from wdgnn.envs.arena import Arena

LOSSES = {"faults": {"kill": ["2@10"], "drop_chance": 0.2}, "profile": "dot154"}


@pytest.mark.parametrize(
    ("task", "options"),
    [("flocking", {}), ("flocking", LOSSES), ("flocking-3d", {}), ("coverage", {"observe": "states"})],
)
def test_pettingzoo_s_own_test_passes(task, options):
    parallel_api_test(parallel_env(task, robots=5, ticks=30, **options), num_cycles=100)


def test_pettingzoo_s_seeds_are_seeds():
    parallel_seed_test(lambda: parallel_env(robots=4, ticks=20), num_cycles=30)


def test_a_robot_that_is_lost_is_terminated_and_the_others_fly_on():
    env = parallel_env(robots=5, ticks=30, **LOSSES)
    env.reset(seed=1)
    ended = {}
    for tick in range(30):
        results = env.step({agent: np.zeros(2, np.float32) for agent in env.agents})
        ended.update({agent: tick for agent, gone in results[2].items() if gone})
    assert list(ended) == ["robot_2"] and not env.agents
    assert all(results[3].values()) and len(results[3]) == 4


def test_a_network_flown_from_outside_is_the_network_flown():
    arena, swarm = Arena(robots=12, seed=4), Swarm(robots=12, seed=4, online=False, purpose="training")
    arena.begin(seed=4)
    for _ in range(40):
        arena.step(arena.swarm.outputs.copy())
        swarm.step()
    assert arena.swarm.digest() == swarm.digest()


@pytest.mark.parametrize("task", ["flocking", "coverage"])
def test_shares_are_shares_of_the_score(task):
    arena = Arena(task, robots=9)
    assert arena.shares().mean() == pytest.approx(arena.swarm.score)


def test_gymnasium_s_vector_environment_keeps_its_spaces_and_begins_anew_by_itself():
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


def test_the_next_flight_is_another_one_and_a_seed_the_same():
    env = SwarmVectorEnv(swarms=2, robots=4)
    first, _ = env.reset(seed=2)
    second, _ = env.reset()
    again, _ = env.reset(seed=2)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, again)


def test_what_is_not_to_be_seen_is_told():
    with pytest.raises(ValueError, match="there is no observation smell"):
        Arena(observe="smell")
