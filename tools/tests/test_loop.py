"""The tracker in a loop with simulated robots: images, poses, wheels, images."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from conftest import ROOT

HOST_SIM = os.environ.get("HOST_SIM")


def run(*arguments: str) -> dict:
    """Runs `host-sim run` and returns its figures."""
    environment = os.environ | {"WDGNN_PYTHON": sys.executable}
    command = [str(HOST_SIM), "run", "--json", *arguments]
    output = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, check=True, timeout=900).stdout
    return json.loads(output)


@pytest.mark.skipif(not HOST_SIM, reason="HOST_SIM is not set")
def test_ten_robots_flock_by_their_images() -> None:
    figures = run("--target", "buggy", "--ticks", "1300")["starts"][0]
    assert figures["flock_after"] < 9 and figures["deviation"] < 1.6 and figures["connected"] == 1.0
    assert figures["nearest"] > 0.115 and figures["at_walls"] == 0.0


@pytest.mark.skipif(not HOST_SIM or "WDGNN_ALL_BOARDS" not in os.environ, reason="for ./test.sh full")
def test_chips_under_the_tracker_equal_native_robots() -> None:
    output = run("--target", "microbit-buggy", "--ticks", "1300")
    assert output["chips"]["ticks_that_differ"] == 0 and output["chips"]["resets"] == 0
    assert output["starts"][0]["flock_after"] < 9
