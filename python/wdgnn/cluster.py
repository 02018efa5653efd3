"""The simulator's work on many machines, by Ray.

    python -m wdgnn.cluster sweep speed --swarms 40 --json
    python -m wdgnn.cluster --address auto --parts 64 -- faults --profile espnow --seeds 3

cuts the work of `host-sim flock`, `fly`, `sweep`, `shift` or `faults` into parts, has Ray fly each of them on some machine, and shows
what one machine would have shown, byte for byte. Parts that are lost with a machine are flown again on another. Machines need nothing
but Ray: the program travels along, and so do files that are named relative to the current folder.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import ray

#: Parts for each processor of the cluster, so that no machine waits long for the slowest.
PARTS_PER_PROCESSOR = 4


class Program(NamedTuple):
    """The program, as it travels."""

    name: str
    #: Its bytes. In a list, so that only who does not have it yet asks for it.
    code: list[ray.ObjectRef]


def run(
    arguments: Sequence[str],
    *,
    parts: int | None = None,
    program: str | os.PathLike[str] | None = None,
    stdout: int | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Runs `host-sim` with these arguments on the cluster that `ray.init` has joined, in so many parts.

    Returns how the program ended that put the parts together; its results are where it was told to leave them.
    `stdout` as for `subprocess.run`. A part that fails by itself raises `subprocess.CalledProcessError`.
    """
    where = program or os.environ.get("HOST_SIM") or shutil.which("host-sim") or shutil.which("wdgnn")
    if where is None:
        raise FileNotFoundError("there is no host-sim on the path: build it with `cargo build -p host-sim`, and name it")
    arguments = list(arguments)
    parts = parts or PARTS_PER_PROCESSOR * max(1, int(ray.cluster_resources().get("CPU", 1)))
    code = Path(where).read_bytes()
    travelling = Program(hashlib.sha256(code).hexdigest()[:16], [ray.put(code)])
    files = {name: Path(name).read_bytes() for name in arguments if _travels(name)}
    waiting = [_part.remote(travelling, arguments, files, f"{number}/{parts}") for number in range(1, parts + 1)]
    numbers = {task: number for number, task in enumerate(waiting, 1)}
    with tempfile.TemporaryDirectory() as folder:
        while waiting:
            done, waiting = ray.wait(waiting)
            for task in done:
                status, words, result = ray.get(task)
                if status != 0:
                    for other in waiting:
                        ray.cancel(other, force=True)
                    raise subprocess.CalledProcessError(status, ["host-sim", *arguments], stderr=words)
                Path(folder, f"{numbers[task]}.part").write_bytes(result)
            print(f"{parts - len(waiting)} of {parts} parts", file=sys.stderr, flush=True)
        return subprocess.run([where, *arguments, "--parts", folder], stdout=stdout, check=False)


def _travels(name: str) -> bool:
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts and path.is_file()


@ray.remote(num_cpus=1, max_retries=-1)
def _part(program: Program, arguments: list[str], files: dict[str, bytes], part: str) -> tuple[int, bytes, bytes]:
    """One part: how the program ended, what it said about that, and its results."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        result = Path(folder, "results.part")
        command = [_installed(program), *arguments, "--threads", "1", "--part", f"{part}={result}"]
        ended = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        return ended.returncode, ended.stderr, result.read_bytes() if ended.returncode == 0 else b""


def _installed(program: Program) -> str:
    """Where the program is on this machine: written once, whole or not at all."""
    path = Path(tempfile.gettempdir(), f"host-sim-{os.getuid()}-{program.name}")
    if not path.exists():
        handle, new = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(ray.get(program.code[0]))
        os.chmod(new, stat.S_IRWXU)
        os.replace(new, path)
    return str(path)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m wdgnn.cluster",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--address", help="the cluster, as for ray.init: auto, or a head's address [default: this machine]")
    parser.add_argument("--parts", type=int, help="how many parts [default: four for each processor]")
    parser.add_argument("--program", help="the program [default: $HOST_SIM, or host-sim or wdgnn on the path]")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own")
    options = parser.parse_args()
    arguments = options.arguments[1:] if options.arguments[:1] == ["--"] else options.arguments
    if not arguments:
        parser.error("say what is to be flown, such as: sweep speed")
    ray.init(address=options.address, log_to_driver=False, logging_level="error")
    try:
        return run(arguments, parts=options.parts, program=options.program).returncode
    except FileNotFoundError as error:
        print(f"wdgnn.cluster: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        sys.stderr.write(error.stderr.decode(errors="replace"))
        return error.returncode


if __name__ == "__main__":
    sys.exit(main())
