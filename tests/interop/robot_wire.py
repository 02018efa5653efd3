"""Converts frames to messages and back, one per line, for tests with a robot.

    python3 robot_wire.py decode PROFILE MODEL [KEY]    lines "TICK HEX" to lines of JSON
    python3 robot_wire.py encode PROFILE MODEL [KEY]    lines of JSON ("exchange" and "index" besides a beacon) to lines of HEX

The model's checksum and the key are in hexadecimal; the shape is that of the paper's network with flocking.
"""

import json
import sys
from dataclasses import asdict

from wdgnn_wire import PROFILES, Beacon, Refused, Sealed, Shape

SHAPE = Shape(state=4, taps=18, wide=48)


def main(way, profile, model, key=None):
    codec, model = PROFILES[profile], int(model, 16)
    if key:
        codec = Sealed(codec, bytes.fromhex(key))
    for line in sys.stdin:
        if way == "decode":
            tick, _, frame = line.strip().partition(" ")
            moment = [int(tick)] if key else []
            try:
                print(json.dumps(asdict(codec.decode(SHAPE, model, bytes.fromhex(frame), *moment))))
            except Refused as reason:
                print(json.dumps({"refused": str(reason)}))
        else:
            beacon = json.loads(line)
            place = beacon.pop("exchange", 0), beacon.pop("index", 0)
            print(codec.encode(SHAPE, model, Beacon(**beacon), *place).hex())


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5) or sys.argv[1] not in ("decode", "encode"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
