"""What robots say, read and written by the robots' own code. `docs/wire-format.md` has the bytes.

>>> from wdgnn import Swarm, Model, wire
>>> swarm = Swarm(robots=5, seed=1, profile="dot154", faults={"drop_chance": 0.1})
>>> swarm.step()
>>> frames = [frame for said in swarm.frames for frame in said]
>>> codec = wire.Codec("flocking", "dot154", Model.named("flocking-dot154"))
>>> beacon = codec.decode(frames[0])
>>> beacon.sender, len(beacon.taps), beacon.wide_span
(0, 18, (0, 12))
>>> codec.encode(beacon) == frames[0]
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from . import _native
from ._native import PROFILES, REFUSALS, Model, Refused

__all__ = ["PROFILES", "REFUSALS", "Beacon", "Codec", "Refused"]


@dataclass(frozen=True)
class Beacon:
    """One robot's broadcast. What a frame does not carry is 0 here; the spans `(from, to)` say what it carries."""

    sender: int
    boot: int
    sequence: int
    degree: int
    state: list[float]
    taps: list[float]
    wide: list[float]
    tap_span: tuple[int, int] = (0, 0)
    wide_span: tuple[int, int] = (0, 0)


class Codec:
    """Reads and writes the frames of one swarm: robots of a task on a link profile, with a model and, if there is one, a key.

    `model` is a `wdgnn.Model` or a weight file's checksum. With a key it remembers what it has heard and refuses what is old.

    A robot whose key can change in flight has an `address` and a `personal` key (`host-sim key robots`); `epoch` is that of `key`. A frame that
    brings the next key is taken by `decode` like any other, and refused as `new-key`, because it is no beacon; the key is used from the stated
    tick on. `kept` is to be stored whenever it changes, and given back after a restart. Where names are proven, `roster` has the keys by which
    others prove theirs, by address.
    """

    def __init__(
        self,
        task: str,
        profile: str,
        model: Model | int,
        key: bytes | None = None,
        *,
        address: int = 0,
        personal: bytes | None = None,
        epoch: int = 0,
        roster: Sequence[bytes] = (),
        kept: bytes | None = None,
    ) -> None:
        checksum = model.checksum if isinstance(model, Model) else model
        if personal is None and (roster or kept or epoch):
            raise ValueError("epoch, roster and kept are for robots with a personal key: give personal, too")
        own = None if personal is None else (address, personal, epoch, list(roster))
        self._codec = _native.Codec(task, profile, checksum, key, own)
        if kept is not None:
            self._codec.take_up(kept)
        self._words = f"{task} on {profile}{', sealed' if key else ''}, model {checksum:08x}"

    @property
    def frames(self) -> int:
        """Frames per exchange."""
        return self._codec.frames

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many numbers a state, the taps that travel and the wide parameters are."""
        return self._codec.counts

    def decode(self, frame: bytes, now: int = 0) -> Beacon:
        """Reads a frame that was heard at tick `now`. Raises `Refused` with the reason's name."""
        return Beacon(*self._codec.decode(frame, now))

    def encode(self, beacon: Beacon, exchange: int = 0, index: int = 0) -> bytes:
        """Writes frame `index` of the exchange with this number."""
        return self._codec.encode(astuple(beacon), exchange, index)

    @property
    def epoch(self) -> int:
        """The epoch of the swarm's key that is used."""
        return self._codec.epoch

    @property
    def kept(self) -> bytes | None:
        """What is to be known of keys after a restart; none without a personal key. There are keys in it."""
        return self._codec.kept

    def begin(self, now: int) -> None:
        """A tick begins: a key may come into use with it. `decode` says so, too."""
        self._codec.begin(now)

    def hand_on(self, exchange: int) -> bytes | None:
        """A frame that brings somebody else the next key, to be said in this exchange in place of a beacon; mostly none."""
        return self._codec.hand_on(exchange)

    def prove(self, beacon: Beacon, exchange: int) -> bytes | None:
        """A frame that proves one's own name to others, to be said in this exchange in place of this beacon; none where nobody asks."""
        return self._codec.prove(astuple(beacon), exchange)

    def proven(self, address: int, now: int) -> bool:
        """Whether the robot with this address has proven its name."""
        return self._codec.proven(address, now)

    def __repr__(self) -> str:
        return f"<wdgnn.wire.Codec {self._words}>"
