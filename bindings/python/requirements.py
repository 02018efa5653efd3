"""Prints the packages that `wdgnn` needs with extras, one word each: `python3 requirements.py EXTRA...`."""

import pathlib
import re
import sys

try:
    import tomllib
except ImportError:  # Python 3.10
    from pip._vendor import tomli as tomllib

PROJECT = tomllib.loads(pathlib.Path(__file__).with_name("pyproject.toml").read_text())["project"]


def needed(extras):
    """Requirements of the project and its extras, in which `wdgnn[...]` names further extras."""
    for requirement in PROJECT["dependencies"] * (not extras) + [
        each for extra in extras for each in PROJECT["optional-dependencies"][extra]
    ]:
        inner = re.fullmatch(r"wdgnn\[(.*)\]", requirement)
        yield from needed(inner[1].split(",")) if inner else [requirement.replace(" ", "")]


if __name__ == "__main__":
    print(*sorted({*needed([]), *needed(sys.argv[1:])}))
