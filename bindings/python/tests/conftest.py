"""What tests share: the repository's own program, and where things are."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def host_sim():
    """Runs `host-sim` with these arguments and returns what it prints."""

    def run(*arguments: str) -> str:
        program = os.environ.get("HOST_SIM")
        command = [program] if program else ["cargo", "run", "--quiet", "-p", "host-sim", "--"]
        finished = subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True)
        assert finished.returncode == 0, finished.stderr
        return finished.stdout

    return run


@pytest.fixture(scope="session")
def digest(host_sim):
    """The digest of a flight of `host-sim swarm`."""
    return lambda *arguments: json.loads(host_sim("swarm", "--json", *arguments))["digest"]
