"""MCAP files of `wdgnn.export`, read back with `rosbags`."""

import doctest
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("mcap_ros2")
pytest.importorskip("rosbags")

from mcap.reader import make_reader
from rosbags.highlevel import AnyReader

from wdgnn import export
from wdgnn.trajectories import read

ROBOTS, TICKS, KILLED = 6, 40, 25
MILLISECOND = 10**6


@pytest.fixture(scope="module")
def run(host_sim, tmp_path_factory):
    """Trajectories of a swarm with one killed robot and one liar, and their MCAP file."""
    folder = tmp_path_factory.mktemp("run")
    table, log = folder / "run.csv", folder / "run.mcap"
    faults = ["--fault", f"kill=3@{KILLED}", "--fault", "liars=STATE:0.17"]
    host_sim("run", "--robots", str(ROBOTS), "--ticks", str(TICKS), *faults, "--trajectories", str(table))
    assert export.main([str(table), "--out", str(log)]) == 0
    return read(table)[0], log


def test_examples_of_the_module_run():
    assert doctest.testmod(export).failed == 0


def test_every_message_is_read_back_with_its_time(run):
    _, log = run
    with AnyReader([log]) as reader:
        types = {connection.topic: connection.msgtype for connection in reader.connections}
        times = [(connection.topic, time) for connection, time, _ in reader.messages()]
    assert types["/wd_gnn_online/robot_0/odom"] == "nav_msgs/msg/Odometry"
    assert types["/wd_gnn_online/markers"] == "visualization_msgs/msg/MarkerArray"
    assert types["/wd_gnn_online/score"] == "std_msgs/msg/Float64"
    counts = Counter(topic for topic, _ in times)
    assert len(counts) == ROBOTS + 2
    assert counts["/wd_gnn_online/robot_3/odom"] == KILLED
    assert all(count == TICKS for topic, count in counts.items() if "robot_3" not in topic)
    # A tick takes 10 ms.
    assert sorted({time for _, time in times}) == [10 * MILLISECOND * tick for tick in range(TICKS)]


def test_positions_and_velocities_are_those_of_the_table(run):
    flight, log = run
    seen = 0
    with AnyReader([log]) as reader:
        for connection, time, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            tick = time // (10 * MILLISECOND)
            if connection.topic.endswith("odom"):
                robot = int(message.child_frame_id.removeprefix("robot_"))
                position, velocity = message.pose.pose.position, message.twist.twist.linear
                assert np.array_equal([position.x, position.y], flight.position[tick, robot])
                assert np.array_equal([velocity.x, velocity.y], flight.velocity[tick, robot])
                assert message.header.frame_id == "world" and message.pose.pose.orientation.w == 1.0
                assert message.header.stamp.sec * 10**9 + message.header.stamp.nanosec == time
                seen += 1
            elif connection.topic.endswith("score"):
                assert message.data == flight.score[tick]
    assert seen == ROBOTS * TICKS - (TICKS - KILLED)


def test_markers_show_robots_that_are_present_and_color_liars(run):
    flight, log = run
    with AnyReader([log]) as reader:
        connections = [connection for connection in reader.connections if connection.topic.endswith("markers")]
        arrays = [reader.deserialize(data, "visualization_msgs/msg/MarkerArray") for _, _, data in reader.messages(connections)]
    for tick, array in enumerate(arrays):
        robots, velocities = array.markers
        present = flight.present[tick]
        places = [(point.x, point.y) for point in robots.points]
        assert np.array_equal(places, flight.position[tick][present])
        assert len(velocities.points) == 2 * present.sum()
        liars = [color.r > 0.5 for color in robots.colors]
        assert np.array_equal(liars, ~flight.honest[tick][present]) and any(liars)


def test_the_file_has_an_index_of_its_chunks(run):
    flight, log = run
    with log.open("rb") as file:
        summary = make_reader(file).get_summary()
    assert summary.statistics.chunk_count == len(summary.chunk_indexes) >= 1
    assert summary.statistics.message_count == 2 * TICKS + flight.present.sum()
    assert {schema.encoding for schema in summary.schemas.values()} == {"ros2msg"}
    assert {channel.message_encoding for channel in summary.channels.values()} == {"cdr"}


def test_every_controller_of_a_comparison_has_separate_topics(host_sim, tmp_path):
    table, log = tmp_path / "flock.csv", tmp_path / "flock.mcap"
    small = ["--robots", "4", "--ticks", "10", "--swarms", "1", "--report", str(tmp_path / "flock.html")]
    host_sim("eval", *small, "--trajectories", str(table))
    assert export.main([str(table), "--out", str(log), "--controllers", "expert,wd-gnn"]) == 0
    with AnyReader([log]) as reader:
        assert {connection.topic.split("/")[1] for connection in reader.connections} == {"expert", "wd_gnn"}
        times = [time for _, time, _ in reader.messages()]
    assert times == sorted(times)
    assert export.main([str(tmp_path / "missing.csv"), "--out", str(log)]) == 2
