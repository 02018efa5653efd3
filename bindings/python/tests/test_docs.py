"""Examples in docstrings and in docs/python.md run, and the stubs name what there is."""

import ast
import doctest
import importlib
import pathlib

import pytest

import wdgnn
from wdgnn import _native

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    "module", ["wdgnn", "wdgnn.flights", "wdgnn.trajectories", "wdgnn.wire", "wdgnn.envs.arena", "wdgnn.envs.parallel", "wdgnn.envs.vector"]
)
def test_examples_of_modules_run(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


@pytest.mark.parametrize("native", [wdgnn.Swarm, wdgnn.Model])
def test_examples_of_native_classes_run(native):
    test = doctest.DocTestParser().get_doctest(native.__doc__, {}, native.__name__, None, 0)
    assert test.examples and doctest.DocTestRunner().run(test).failed == 0


def test_examples_of_the_documentation_run():
    results = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert results.attempted > 20 and results.failed == 0


def test_stubs_name_what_there_is():
    stubs = ast.parse((pathlib.Path(wdgnn.__file__).parent / "_native.pyi").read_text())
    for stub in stubs.body:
        if isinstance(stub, ast.ClassDef) and issubclass(getattr(_native, stub.name), BaseException):
            continue
        if isinstance(stub, ast.ClassDef):
            named = {item.name for item in stub.body if isinstance(item, ast.FunctionDef)}
            there = {name for name in vars(getattr(_native, stub.name)) if not name.startswith("_")}
            assert {name for name in named if not name.startswith("_")} == there, stub.name
        if isinstance(stub, ast.AnnAssign) and not stub.target.id.startswith("_"):
            assert hasattr(_native, stub.target.id)
