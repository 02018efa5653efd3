"""Encoding and decoding of radio frames with the code of the robots. `docs/wire-format.md` specifies the bytes.

>>> from wdgnn import Swarm, wire
>>> swarm = Swarm(robots=5, seed=1, profile="dot154", faults={"drop_chance": 0.1})
>>> swarm.step()
>>> frames = [frame for sent in swarm.frames for frame in sent]
>>> link = wire.Link("flocking", "dot154", swarm.model)
>>> message = link.decode(frames[0])
>>> message.sender, len(message.taps), message.wide_range
(0, 18, (0, 12))
>>> link.encode(message) == frames[0]
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from . import _native
from ._native import FRAME_ERRORS, PROFILES, FrameError, Model

__all__ = ["FRAME_ERRORS", "PROFILES", "FrameError", "Link", "Message"]


@dataclass(frozen=True)
class Message:
    """Message of one robot in one frame. Taps and wide parameters that the frame does not contain are 0."""

    #: Address of the sender.
    sender: int
    #: Boot count of the sender.
    boot: int
    #: Sequence number of the frame.
    sequence: int
    #: Number of neighbors that the sender uses. 255 marks a robot that is an obstacle only.
    degree: int
    #: State of the sender. For flocking: position in m, then velocity in m/s.
    state: list[float]
    #: Transmitted taps.
    taps: list[float]
    #: Wide parameters.
    wide: list[float]
    #: First index and end index of the taps in this frame.
    tap_range: tuple[int, int] = (0, 0)
    #: First index and end index of the wide parameters in this frame.
    wide_range: tuple[int, int] = (0, 0)


class Link:
    """Encodes and decodes the frames of one swarm.

    `task`, `profile`: task and link profile of the swarm.
    `model`: a `wdgnn.Model`, or the checksum of a weight file.
    `key`: group key, 16 bytes or 32 hexadecimal digits. The link then rejects replayed frames.

    Key rotation needs the keys of a robot (`host-sim key robots`):

    `address`, `personal_key`: address and personal key of the robot.
    `epoch`: epoch of `key`.
    `peer_keys`: pairwise keys of all robots, ordered by address. They turn peer authentication on.
    `key_state`: value of `Link.key_state` before a restart.

    `decode` stores a key update and raises `FrameError("key-update")`, because the frame is not a message. The link uses the new key
    from the announced tick on. Store `key_state` whenever it changes.
    """

    def __init__(
        self,
        task: str,
        profile: str,
        model: Model | int,
        key: bytes | None = None,
        *,
        address: int = 0,
        personal_key: bytes | None = None,
        epoch: int = 0,
        peer_keys: Sequence[bytes] = (),
        key_state: bytes | None = None,
    ) -> None:
        checksum = model.checksum if isinstance(model, Model) else model
        if personal_key is None and (peer_keys or key_state or epoch):
            raise ValueError("epoch, peer_keys and key_state need personal_key")
        own = None if personal_key is None else (address, personal_key, epoch, list(peer_keys))
        self._link = _native.Link(task, profile, checksum, key, own)
        if key_state is not None:
            self._link.restore_keys(key_state)
        self._description = f"{task} on {profile}{', sealed' if key else ''}, model {checksum:08x}"

    @property
    def frames_per_exchange(self) -> int:
        """Number of frames that a robot sends per exchange."""
        return self._link.frames_per_exchange

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Lengths of the state, of the transmitted taps and of the wide parameters."""
        return self._link.sizes

    def decode(self, frame: bytes, now: int = 0) -> Message:
        """Decodes a frame that was received at tick `now`. Raises `FrameError` with the name of the reason."""
        return Message(*self._link.decode(frame, now))

    def encode(self, message: Message, exchange: int = 0, index: int = 0) -> bytes:
        """Encodes a message as frame `index` of an exchange. Raises `ValueError` for numbers that a frame cannot hold."""
        return self._link.encode(astuple(message), exchange, index)

    @property
    def epoch(self) -> int:
        """Epoch of the group key in use."""
        return self._link.epoch

    @property
    def key_state(self) -> bytes | None:
        """Keys to store over a restart, or `None` without a personal key. Keep them secret."""
        return self._link.key_state

    def begin_tick(self, now: int) -> None:
        """Starts tick `now`: a new group key comes into use at its tick. `decode` also starts its tick."""
        self._link.begin_tick(now)

    def relay_key_update(self, exchange: int) -> bytes | None:
        """Frame to send in this exchange instead of a message, which relays a key update to another robot. Usually `None`."""
        return self._link.relay_key_update(exchange)

    def encode_peer_auth(self, message: Message, exchange: int) -> bytes | None:
        """Frame to send in this exchange instead of this message, which authenticates this robot to a peer. Usually `None`."""
        return self._link.encode_peer_auth(astuple(message), exchange)

    def is_authenticated(self, address: int, now: int) -> bool:
        """Whether peer authentication of the robot with this address is valid at tick `now`."""
        return self._link.is_authenticated(address, now)

    def __repr__(self) -> str:
        return f"<wdgnn.wire.Link {self._description}>"
