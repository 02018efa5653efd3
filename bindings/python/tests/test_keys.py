"""Keys that change in flight and names that are proven: swarms as the simulator flies them, and robots of one's own by `wire.Codec`."""

import pytest

from wdgnn import Model, Swarm, wire

CHANGE = 160


@pytest.fixture(scope="module")
def keys(host_sim, tmp_path_factory):
    """What an operator makes: the swarm's first key, personal keys, rosters, and the frames that bring robots 0 and 1 the next key."""
    folder = tmp_path_factory.mktemp("keys")
    master = ["--master", str(folder / "master.key")]
    host_sim("key", "master", "--out", master[1])
    host_sim("key", "swarm", *master, "--out", str(folder / "swarm.key"))
    host_sim("key", "robots", *master, "--robots", "3", "--out", str(folder / "robots"))
    rekey = ["--robots", "3", "--expel", "2", "--epoch", "1", "--at", str(CHANGE), "--out", str(folder / "rekey.txt")]
    host_sim("key", "rekey", *master, *rekey)
    return folder


def robot(keys, address, **options):
    own = {"address": address, "personal": (keys / f"robots/robot-{address}.key").read_bytes().strip(), **options}
    return wire.Codec("flocking", "dot154", Model.named("flocking-dot154"), (keys / "swarm.key").read_bytes(), **own)


def beacon(codec, address, tick):
    return wire.Beacon(address, 1, tick, 0, *[[0.0] * count for count in codec.counts])


def said(codec, frame, tick):
    """Whether somebody takes this for a beacon, and if not, why."""
    try:
        codec.decode(frame, tick)
        return "a beacon"
    except wire.Refused as refusal:
        return str(refusal)


def test_a_key_is_taken_handed_on_kept_and_used_from_its_tick_on(keys):
    robots = [robot(keys, address) for address in range(3)]
    brought = [bytes.fromhex(line) for line in (keys / "rekey.txt").read_text().split()]
    assert [said(robots[0], frame, 1) for frame in brought] == ["new-key", "new-key"]
    first = robots[1].kept
    for tick in range(2, CHANGE):
        for codec in robots:
            codec.begin(tick)
        frame = robots[0].hand_on(tick)
        if frame:
            assert [said(codec, frame, tick) for codec in robots[1:]] == ["new-key", "new-key"]
    assert [codec.epoch for codec in robots] == [0, 0, 0]
    assert robots[1].kept != first
    # Robot 1 is started again, and robot 0 speaks under the new key.
    robots[1] = robot(keys, 1, kept=robots[1].kept)
    robots[0].begin(CHANGE)
    frame = robots[0].encode(beacon(robots[0], 0, CHANGE))
    assert [said(codec, frame, CHANGE) for codec in robots[1:]] == ["a beacon", "forged"]
    for codec in robots:
        codec.begin(CHANGE + 1)
    assert [codec.epoch for codec in robots] == [1, 1, 0]


def test_names_are_proven_between_robots_that_have_each_other_s_keys(keys):
    def roster(address):
        return (keys / f"robots/robot-{address}.roster").read_bytes().split()

    one, two = (robot(keys, address, roster=roster(address)) for address in (0, 1))
    assert said(two, one.encode(beacon(one, 0, 1)), 1) == "a beacon"
    asks = two.prove(beacon(two, 1, 2), 2)
    assert asks and said(one, asks, 2) == "a beacon" and one.proven(1, 2)
    assert not two.proven(0, 2)
    assert said(two, one.prove(beacon(one, 0, 3), 3), 3) == "a beacon" and two.proven(0, 3)
    # A wrong roster proves nothing.
    three = robot(keys, 0, roster=roster(2))
    assert said(three, two.encode(beacon(two, 1, 4)), 4) == "a beacon" and not three.proven(1, 4)


def test_a_swarm_changes_keys_as_the_simulator_does(digest, tmp_path):
    key = tmp_path / "swarm.key"
    key.write_text("00112233445566778899aabbccddeeff")
    swarm = Swarm(
        robots=8, profile="dot154", faults={"rekey": "20-150", "expel": [3], "proofs": True}, key=key.read_bytes(), seed=3
    )
    swarm.run(200)
    words = "--robots 8 --ticks 200 --profile dot154 --rekey 20-150 --expel 3 --proofs --seed 3"
    assert swarm.digest() == digest(*words.split(), "--key", str(key))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"personal": b"short"}, "not a key"),
        ({"personal": bytes(16), "roster": [bytes(16)] * 65}, "up to 64 keys"),
        ({"epoch": 1}, "give personal, too"),
        ({"personal": bytes(16), "kept": b"nothing"}, "not what a codec kept"),
        ({"personal": bytes(16), "key": None}, "give key, too"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        wire.Codec("flocking", "dot154", 0, **{"key": bytes(16), **options})
