"""Many episodes on many machines, distributed by Ray.

    python -m wdgnn.cluster sweep speed --swarms 40 --json
    python -m wdgnn.cluster --address auto --shards 64 -- faults --profile espnow --seeds 3

Ray flies the shards of `host-sim eval`, `sweep`, `shift` or `faults` on the machines of a cluster. The merged
output is that of one process, byte for byte. Ray flies the shard of a lost machine again on another one. Machines need
only Ray: the program and files named relative to the current folder are copied to them.
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

try:
    import ray
except ImportError:
    if __name__ != "__main__":
        raise
    print("wdgnn.cluster: Ray is not installed: run `pip install ray`", file=sys.stderr)
    sys.exit(2)

#: Shards for each processor of the cluster. More shards than processors shorten the wait for the slowest one.
SHARDS_PER_PROCESSOR = 4


class Program(NamedTuple):
    """Program to copy to the machines of the cluster."""

    name: str
    #: Bytes of the program. A reference inside a list is not fetched before the task asks for it.
    code: list[ray.ObjectRef]


def run(
    arguments: Sequence[str],
    *,
    shards: int | None = None,
    program: str | os.PathLike[str] | None = None,
    stdout: int | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Runs `host-sim` with these arguments on the cluster that `ray.init` has joined.

    Returns the completed `host-sim merge`, whose output is that of one process. `stdout` is passed to
    `subprocess.run`. A shard that fails raises `subprocess.CalledProcessError`.
    """
    where = program or os.environ.get("HOST_SIM") or shutil.which("host-sim") or shutil.which("wdgnn")
    if where is None:
        raise FileNotFoundError("host-sim is not on the PATH: build it with `cargo build -p host-sim` and pass --program")
    arguments = list(arguments)
    shards = shards or SHARDS_PER_PROCESSOR * max(1, int(ray.cluster_resources().get("CPU", 1)))
    code = Path(where).read_bytes()
    copied = Program(hashlib.sha256(code).hexdigest()[:16], [ray.put(code)])
    files = {name: Path(name).read_bytes() for name in arguments if _is_copied(name)}
    waiting = [_shard.remote(copied, arguments, files, f"{number}/{shards}") for number in range(1, shards + 1)]
    with tempfile.TemporaryDirectory() as folder:
        paths = {task: Path(folder, f"{number}.json") for number, task in enumerate(waiting, 1)}
        while waiting:
            done, waiting = ray.wait(waiting)
            for task in done:
                status, error, results = ray.get(task)
                if status != 0:
                    for other in waiting:
                        ray.cancel(other, force=True)
                    raise subprocess.CalledProcessError(status, ["host-sim", *arguments], stderr=error)
                paths[task].write_bytes(results)
            print(f"{shards - len(waiting)} of {shards} shards", file=sys.stderr, flush=True)
        return subprocess.run([where, "merge", *paths.values()], stdout=stdout, check=False)


def _is_copied(name: str) -> bool:
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts and path.is_file()


@ray.remote(num_cpus=1, max_retries=-1)
def _shard(program: Program, arguments: list[str], files: dict[str, bytes], shard: str) -> tuple[int, bytes, bytes]:
    """Flies one shard. Returns the exit code, the standard error and the results."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        command = [_installed(program), *arguments, "--threads", "1", "--shard", shard]
        ended = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        return ended.returncode, ended.stderr, ended.stdout


def _installed(program: Program) -> str:
    """Path of the program on this machine. The first call writes it, atomically."""
    path = Path(tempfile.gettempdir(), f"host-sim-{os.getuid()}-{program.name}")
    if not path.exists():
        handle, new = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(ray.get(program.code[0]))
        os.chmod(new, stat.S_IRWXU)
        os.replace(new, path)
    return str(path)


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m wdgnn.cluster",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--address", help="address for ray.init: auto, or a head's address [default: this machine]")
    parser.add_argument("--shards", type=int, help="number of shards [default: four per processor]")
    parser.add_argument("--program", help="path of host-sim [default: $HOST_SIM, or host-sim or wdgnn on the PATH]")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of host-sim")
    options = parser.parse_args()
    arguments = options.arguments[1:] if options.arguments[:1] == ["--"] else options.arguments
    if not arguments:
        parser.error("name a command of host-sim, such as: sweep speed")
    ray.init(address=options.address, log_to_driver=False, logging_level="error")
    try:
        return run(arguments, shards=options.shards, program=options.program).returncode
    except FileNotFoundError as error:
        print(f"wdgnn.cluster: {error}", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as error:
        sys.stderr.write(error.stderr.decode(errors="replace"))
        return error.returncode


if __name__ == "__main__":
    sys.exit(main())
