"""Fixtures that run `host-sim`."""

import json
import os
import pathlib
import subprocess

import pytest

# Crazyflow needs it before anything imports scipy.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def host_sim():
    """Function that runs `host-sim` and returns its output."""

    def run(*arguments: str) -> str:
        program = os.environ.get("HOST_SIM")
        command = [program] if program else ["cargo", "run", "--quiet", "-p", "host-sim", "--"]
        finished = subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True)
        assert finished.returncode == 0, finished.stderr
        return finished.stdout

    return run


@pytest.fixture(scope="session")
def digest(host_sim):
    """Function that returns the digest of a run of `host-sim run`."""
    return lambda *arguments: json.loads(host_sim("run", "--json", *arguments))["digest"]
