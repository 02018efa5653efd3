"""Figures of `wdgnn.plot` from files of `host-sim`."""

import doctest
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from PIL import Image

from wdgnn import plot
from wdgnn.trajectories import read

ROBOTS, TICKS = 6, 40
SIZE = ["--robots", str(ROBOTS), "--ticks", str(TICKS), "--swarms", "1"]
MAGIC = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


@pytest.fixture(scope="module")
def comparison(host_sim, tmp_path_factory):
    """The JSON and the trajectories of `host-sim eval`."""
    folder = tmp_path_factory.mktemp("flock")
    result, table = folder / "flock.json", folder / "flock.csv"
    report = ["--report", str(folder / "flock.html")]
    result.write_text(host_sim("eval", *SIZE, "--json", "--trajectories", str(table), *report))
    return result, table


def test_examples_of_the_module_run():
    assert doctest.testmod(plot).failed == 0


def test_trajectories_have_every_controller_robot_and_tick(comparison):
    flights = read(comparison[1])
    assert [flight.controller for flight in flights][:2] == ["expert", "averaging-1-hop"]
    for flight in flights:
        assert flight.position.shape == flight.velocity.shape == (TICKS, ROBOTS, 2)
        assert flight.present.all() and flight.honest.all()
        # The score of flocking is the variance of the velocities.
        assert np.allclose(flight.score, flight.velocity.var(axis=1).sum(axis=-1), atol=1e-5)
    last, first = read(comparison[1], ["gnn", "expert"])
    assert (last.controller, first.controller) == ("gnn", "expert")


@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
def test_a_comparison_is_plotted_in_every_format(comparison, tmp_path, kind):
    out = tmp_path / f"bars.{kind}"
    assert plot.main([str(comparison[0]), "--out", str(out), "--metric", "final"]) == 0
    assert out.read_bytes().startswith(MAGIC[kind])


@pytest.mark.parametrize("kind", ["swarm", "score", "paths"])
def test_trajectories_are_plotted_as_every_kind(comparison, tmp_path, kind):
    out = tmp_path / f"{kind}.png"
    assert plot.main([str(comparison[1]), "--out", str(out), "--kind", kind, "--seconds", "0.2", "--range", "2"]) == 0
    with Image.open(out) as image:
        assert len(image.getcolors(1 << 20)) > 50


def test_two_flights_are_animated_side_by_side(comparison, tmp_path):
    out = tmp_path / "both.gif"
    assert plot.main([str(comparison[1]), "--out", str(out), "--controllers", "wd-gnn,wd-gnn-online"]) == 0
    with Image.open(out) as image:
        assert image.n_frames == TICKS // 5
        assert image.info["duration"] == 50 and image.info["loop"] == 0


def test_a_sweep_is_plotted_relative_to_the_expert(host_sim, tmp_path):
    table, out = tmp_path / "sweep.json", tmp_path / "sweep.png"
    small = [*SIZE[:-2], "--swarms", "1", "--values", "1.5,2", "--report", str(tmp_path / "sweep.html")]
    table.write_text(host_sim("sweep", "radius", *small, "--json"))
    assert plot.main([str(table), "--out", str(out)]) == 0
    result = {"parameter": "radius", "points": []}
    for value, mean in ((1.0, 5.0), (2.0, 8.0)):
        summaries = {"expert": {"total": {"mean": 10.0}}, "gnn": {"total": {"mean": mean}}}
        result["points"].append({"value": value, "controllers": summaries})
    panel = plot.sweep(result).axes[0]
    assert panel.get_xlabel() == "radio range in m"
    assert panel.get_lines()[1].get_ydata().tolist() == [0.5, 0.8]


def test_a_table_is_plotted_over_its_first_column(tmp_path):
    table, out = tmp_path / "run.csv", tmp_path / "run.png"
    table.write_text("tick,score\n0,5.5\n1,\n2,4.5\n")
    assert plot.main([str(table), "--out", str(out)]) == 0


def test_files_that_cannot_be_plotted_end_with_one_line(comparison, tmp_path, capsys):
    empty = tmp_path / "empty.json"
    empty.write_text("{}")
    for arguments, words in [
        ([str(empty)], "has nothing to plot"),
        ([str(tmp_path / "missing.csv")], "No such file"),
        ([str(comparison[1]), "--controllers", "nobody"], "has no controller nobody, only expert, averaging-1-hop"),
        ([str(comparison[1])], "at most 4 controllers, got 6"),
    ]:
        assert plot.main([*arguments, "--out", str(tmp_path / "x.gif")]) == 2
        error = capsys.readouterr().err
        assert words in error and error.count("\n") == 1


@pytest.mark.parametrize(("module", "package"), [("plot", "matplotlib"), ("export", "mcap_ros2")])
def test_a_missing_extra_ends_with_one_line(module, package):
    code = f"import runpy, sys; sys.modules['{package}'] = None; runpy.run_module('wdgnn.{module}', run_name='__main__')"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1 and f"pip install 'wdgnn[{module}]'" in ended.stderr
