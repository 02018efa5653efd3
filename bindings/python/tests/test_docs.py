"""Examples in docstrings and in docs/python.md, and completeness of stubs and docstrings."""

import ast
import doctest
import importlib
import pathlib

import pytest

import wdgnn
from wdgnn import _native, wire

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


def test_examples_in_the_documentation_run():
    results = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert results.attempted > 20 and results.failed == 0


def test_stubs_match_the_native_module():
    stubs = ast.parse((pathlib.Path(wdgnn.__file__).parent / "_native.pyi").read_text())
    for stub in stubs.body:
        if isinstance(stub, ast.ClassDef) and issubclass(getattr(_native, stub.name), BaseException):
            continue
        if isinstance(stub, ast.ClassDef):
            declared = {item.name for item in stub.body if isinstance(item, ast.FunctionDef)}
            defined = {name for name in vars(getattr(_native, stub.name)) if not name.startswith("_")}
            assert {name for name in declared if not name.startswith("_")} == defined, stub.name
        if isinstance(stub, ast.AnnAssign) and not stub.target.id.startswith("_"):
            assert hasattr(_native, stub.target.id)


def public_members(owner):
    for name, member in vars(owner).items():
        if not name.startswith("_") and (callable(member) or isinstance(member, (property, staticmethod)) or hasattr(member, "__get__")):
            yield name, member


@pytest.mark.parametrize("owner", [wdgnn.Swarm, wdgnn.Model, wire.Link], ids=lambda owner: owner.__name__)
def test_every_public_member_has_a_docstring(owner):
    assert owner.__doc__
    assert [name for name, member in public_members(owner) if not member.__doc__] == []
