"""Poses of robots with ArUco markers under a camera. `tools/tracker.py` is the program."""


class UsageError(Exception):
    """An option, a file or a device cannot be used. The message is one line."""
