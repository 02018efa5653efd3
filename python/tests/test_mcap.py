"""What `host-sim` writes for Foxglove is read by the format's own Python package."""

import json

from mcap.reader import make_reader

ROBOTS, TICKS = 6, 40


def test_a_flight_is_read_back_robot_by_robot(host_sim, tmp_path):
    log, table = tmp_path / "flight.mcap", tmp_path / "flight.csv"
    options = ["--robots", str(ROBOTS), "--ticks", str(TICKS)]
    host_sim("swarm", *options, "--mcap", str(log), "--trajectories", str(table))
    with log.open("rb") as file:
        messages = [(channel.topic, schema.name, message) for schema, channel, message in make_reader(file).iter_messages()]
    scenes = [message for topic, schema, message in messages if (topic, schema) == ("/swarm", "foxglove.SceneUpdate")]
    scores = [message for topic, schema, message in messages if (topic, schema) == ("/score", "wdgnn.Score")]
    assert len(scenes) == len(scores) == TICKS
    # A tick is 10 ms, in nanoseconds.
    assert [scene.log_time for scene in scenes] == [10_000_000 * tick for tick in range(TICKS)]
    # Every robot is where the table has it.
    heading, *lines = table.read_text().splitlines()
    columns = heading.split(",")
    rows = [dict(zip(columns, line.split(","))) for line in lines]
    for tick in (0, TICKS - 1):
        (swarm,) = json.loads(scenes[tick].data)["entities"]
        places = [sphere["pose"]["position"] for sphere in swarm["spheres"]]
        assert len(places) == len(swarm["arrows"]) == ROBOTS
        for robot, place in enumerate(places):
            (row,) = (row for row in rows if (row["tick"], row["robot"]) == (str(tick), str(robot)))
            assert abs(place["x"] - float(row["position_x"])) < 1e-5
            assert abs(place["y"] - float(row["position_y"])) < 1e-5
    assert json.loads(scores[-1].data)["score"] < json.loads(scores[0].data)["score"]
