"""Trajectories as an MCAP file with ROS 2 messages, for tools that read ROS 2 bags, such as Foxglove and PlotJuggler.

    host-sim run --trajectories run.csv
    python -m wdgnn.export run.csv --out run.mcap

| topic | message | content |
|---|---|---|
| `/CONTROLLER/robot_N/odom` | `nav_msgs/msg/Odometry` | position and velocity of robot N, while it is present |
| `/CONTROLLER/markers` | `visualization_msgs/msg/MarkerArray` | all robots as spheres, and their velocities as lines |
| `/CONTROLLER/score` | `std_msgs/msg/Float64` | score of the swarm |

CONTROLLER is the name of the controller with `_` for `-`. The frame is `world`, and time starts at 0. The file has chunks, an index
and statistics; messages are in CDR.

>>> topic_name("wd-gnn-online", "robot_3/odom")
'/wd_gnn_online/robot_3/odom'
"""

from __future__ import annotations

import argparse
import heapq
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .trajectories import Flight, read

try:
    from mcap_ros2.writer import Writer
    from rosbags.typesys import Stores, get_typestore
except ImportError as error:
    MISSING = "wdgnn.export needs mcap-ros2-support and rosbags: pip install 'wdgnn[export]'"
    if __name__ == "__main__":
        print(MISSING, file=sys.stderr)
        sys.exit(2)
    raise ModuleNotFoundError(MISSING) from error

FRAME = "world"
#: Seconds of motion that the line of a velocity shows.
AHEAD = 0.2
#: Values of `visualization_msgs/msg/Marker`.
LINE_LIST, SPHERE_LIST = 5, 7
#: Colors of honest robots, of robots that lie, and of velocities.
HONEST, LIAR, VELOCITY = (
    dict(zip("rgba", color)) for color in ((0.15, 0.45, 0.85, 1.0), (0.85, 0.33, 0.04, 1.0), (0.85, 0.55, 0.1, 1.0))
)

#: A ROS message. Fields that are not given are zero or empty.
Message = dict[str, Any]


def topic_name(controller: str, name: str) -> str:
    """Topic of a controller. ROS names have no `-`."""
    return f"/{controller.replace('-', '_')}/{name}"


def _vector(numbers: Iterable[float]) -> Message:
    return dict(zip("xyz", map(float, numbers)))


def _odometry(header: Message, robot: int, position: np.ndarray, velocity: np.ndarray) -> Message:
    # Robots have no orientation: their axes, in which the twist is given, are those of the world.
    pose = {"position": _vector(position), "orientation": {"w": 1.0}}
    twist = {"linear": _vector(velocity)}
    return {"header": header, "child_frame_id": f"robot_{robot}", "pose": {"pose": pose}, "twist": {"twist": twist}}


def _markers(header: Message, flight: Flight, tick: int) -> Message:
    """One marker with all spheres, and one with all lines. Each replaces that of the tick before."""
    present = flight.present[tick]
    position, velocity = flight.position[tick][present], flight.velocity[tick][present]
    lines = np.stack([position, position + AHEAD * velocity], axis=1).reshape(-1, position.shape[1])
    common = {"header": header, "pose": {"orientation": {"w": 1.0}}}
    robots = {"ns": "robots", "type": SPHERE_LIST, "scale": _vector([0.1, 0.1, 0.1]), "color": HONEST}
    robots["points"] = [_vector(point) for point in position]
    robots["colors"] = [HONEST if honest else LIAR for honest in flight.honest[tick][present]]
    velocities = {"ns": "velocities", "type": LINE_LIST, "scale": _vector([0.02, 0, 0]), "color": VELOCITY}
    velocities["points"] = [_vector(point) for point in lines]
    return {"markers": [common | robots, common | velocities]}


def messages(flight: Flight) -> Iterator[tuple[int, str, str, Message]]:
    """All messages of a flight in the order of time: nanoseconds, topic, type, message."""
    for tick, seconds in enumerate(flight.seconds):
        nanoseconds = round(seconds * 1e9)
        second, nanosecond = divmod(nanoseconds, 10**9)
        header = {"stamp": {"sec": second, "nanosec": nanosecond}, "frame_id": FRAME}
        made = [
            ("markers", "visualization_msgs/msg/MarkerArray", _markers(header, flight, tick)),
            ("score", "std_msgs/msg/Float64", {"data": float(flight.score[tick])}),
        ]
        for robot in np.flatnonzero(flight.present[tick]):
            odometry = _odometry(header, robot, flight.position[tick, robot], flight.velocity[tick, robot])
            made.append((f"robot_{robot}/odom", "nav_msgs/msg/Odometry", odometry))
        for name, kind, message in made:
            yield nanoseconds, topic_name(flight.controller, name), kind, message


def export(flights: Iterable[Flight], path: str | os.PathLike[str]) -> int:
    """Writes flights to an MCAP file, and returns the number of messages."""
    # The definitions of ROS 2 Humble are those of later distributions for these types.
    definitions, schemas, count = get_typestore(Stores.ROS2_HUMBLE), {}, 0
    with open(path, "wb") as file, Writer(file) as writer:
        for nanoseconds, topic, kind, message in heapq.merge(*map(messages, flights), key=lambda made: made[0]):
            if kind not in schemas:
                schemas[kind] = writer.register_msgdef(kind, definitions.generate_msgdef(kind, ros_version=2)[0])
            writer.write_message(topic, schemas[kind], message, log_time=nanoseconds)
            count += 1
    return count


def main(arguments: Sequence[str] | None = None) -> int:
    """Exports one file. Returns the exit code: 2 for a file that cannot be read or written."""
    parser = argparse.ArgumentParser(prog="python -m wdgnn.export", description="Export trajectories to MCAP with ROS 2 messages.")
    parser.add_argument("file", metavar="FILE", help="CSV of host-sim run or eval --trajectories")
    parser.add_argument("--out", required=True, help="MCAP file")
    parser.add_argument("--controllers", type=lambda names: names.split(","), default=(), help="controllers, with commas [all]")
    options = parser.parse_args(arguments)
    try:
        print(f"{options.out}: {export(read(options.file, options.controllers), options.out)} messages")
    except (ValueError, OSError) as error:
        print(f"wdgnn.export: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
