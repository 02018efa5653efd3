"""Key rotation and peer authentication of `wire.Link` and of simulated swarms."""

import pytest

from wdgnn import Swarm, wire

ROTATION_TICK = 160


@pytest.fixture(scope="module")
def keys(host_sim, tmp_path_factory):
    """Folder with group key, personal keys, peer keys, and the key updates of robots 0 and 1."""
    folder = tmp_path_factory.mktemp("keys")
    master = ["--master", str(folder / "master.key")]
    host_sim("key", "master", "--out", master[1])
    host_sim("key", "swarm", *master, "--out", str(folder / "swarm.key"))
    host_sim("key", "robots", *master, "--robots", "3", "--out", str(folder / "robots"))
    rekey = ["--robots", "3", "--expel", "2", "--epoch", "1", "--at", str(ROTATION_TICK), "--out", str(folder / "rekey.txt")]
    host_sim("key", "rekey", *master, *rekey)
    return folder


def robot(keys, address, **options):
    own = {"address": address, "personal_key": (keys / f"robots/robot-{address}.key").read_bytes().strip(), **options}
    return wire.Link("flocking", "dot154", Swarm(profile="dot154").model, (keys / "swarm.key").read_bytes(), **own)


def message(link, address, tick):
    return wire.Message(address, 1, tick, 0, *[[0.0] * count for count in link.sizes])


def decoded(link, frame, tick):
    """`"message"`, or the name of the frame error."""
    try:
        link.decode(frame, tick)
        return "message"
    except wire.FrameError as error:
        return str(error)


def test_a_key_update_is_relayed_stored_and_applied_at_its_tick(keys):
    robots = [robot(keys, address) for address in range(3)]
    updates = [bytes.fromhex(line) for line in (keys / "rekey.txt").read_text().split()]
    assert [decoded(robots[0], frame, 1) for frame in updates] == ["key-update", "key-update"]
    first = robots[1].key_state
    for tick in range(2, ROTATION_TICK):
        for link in robots:
            link.begin_tick(tick)
        frame = robots[0].relay_key_update(tick)
        if frame:
            assert [decoded(link, frame, tick) for link in robots[1:]] == ["key-update", "key-update"]
    assert [link.epoch for link in robots] == [0, 0, 0]
    assert robots[1].key_state != first
    # Robot 1 restarts, and robot 0 sends with the new key.
    robots[1] = robot(keys, 1, key_state=robots[1].key_state)
    robots[0].begin_tick(ROTATION_TICK)
    frame = robots[0].encode(message(robots[0], 0, ROTATION_TICK))
    assert [decoded(link, frame, ROTATION_TICK) for link in robots[1:]] == ["message", "forged"]
    for link in robots:
        link.begin_tick(ROTATION_TICK + 1)
    assert [link.epoch for link in robots] == [1, 1, 0]


def test_robots_with_matching_peer_keys_authenticate_each_other(keys):
    def peer_keys(address):
        return (keys / f"robots/robot-{address}.roster").read_bytes().split()

    one, two = (robot(keys, address, peer_keys=peer_keys(address)) for address in (0, 1))
    assert decoded(two, one.encode(message(one, 0, 1)), 1) == "message"
    frame = two.encode_peer_auth(message(two, 1, 2), 2)
    assert frame and decoded(one, frame, 2) == "message" and one.is_authenticated(1, 2)
    assert not two.is_authenticated(0, 2)
    assert decoded(two, one.encode_peer_auth(message(one, 0, 3), 3), 3) == "message" and two.is_authenticated(0, 3)
    # Wrong peer keys do not authenticate.
    three = robot(keys, 0, peer_keys=peer_keys(2))
    assert decoded(three, two.encode(message(two, 1, 4)), 4) == "message" and not three.is_authenticated(1, 4)


def test_key_rotation_of_a_swarm_has_the_digest_of_the_simulator(digest, tmp_path):
    key = tmp_path / "swarm.key"
    key.write_text("00112233445566778899aabbccddeeff")
    swarm = Swarm(
        robots=8, profile="dot154", faults={"rekey": "20-150", "expel": [3], "peer_auth": True}, key=key.read_bytes(), seed=3
    )
    swarm.run(200)
    words = "--robots 8 --ticks 200 --profile dot154 --fault rekey=20-150 --fault expel=3 --fault peer-auth --seed 3"
    swarm.model.save(tmp_path / "model.wdgnn")
    assert swarm.digest() == digest(*words.split(), "--key", str(key), "--model", str(tmp_path / "model.wdgnn"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"personal_key": b"short"}, "not a key"),
        ({"personal_key": bytes(16), "peer_keys": [bytes(16)] * 65}, "at most 64 keys, got 65"),
        ({"epoch": 1}, "need personal_key"),
        ({"personal_key": bytes(16), "key_state": b"nothing"}, "key_state must have"),
        ({"personal_key": bytes(16), "key": None}, "personal_key needs key"),
    ],
)
def test_invalid_keys_are_rejected(options, message):
    with pytest.raises(ValueError, match=message):
        wire.Link("flocking", "dot154", 0, **{"key": bytes(16), **options})
