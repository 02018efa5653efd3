"""The simulator's work on many machines, by Ray.

    python -m wdgnn.cluster sweep speed --swarms 40 --json
    python -m wdgnn.cluster --address auto --parts 64 -- faults --profile espnow --seeds 3
    python -m wdgnn.cluster --address auto train --out my.wdgnn --robots 200

cuts the work of `host-sim flock`, `fly`, `sweep`, `shift` or `faults` into parts, has Ray fly each of them on some machine, and shows
what one machine would have shown, byte for byte. Parts that are lost with a machine are flown again on another. Machines need nothing
but Ray: the program travels along, and so do files that are named relative to the current folder.

`train` runs here, with its bar and its checkpoints, and has Ray fly: the flights of every step, those that are imitated, and those of
validation. The network's file is that of one machine, byte for byte.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

import ray

#: Parts for each processor of the cluster, so that no machine waits long for the slowest.
PARTS_PER_PROCESSOR = 4

#: Bytes before the content of what a training and its helpers say (`host-sim/src/train/line.rs`).
HEAD_BYTES = 24


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

    Returns how the program ended that put the parts together, or that trained; its results are where it was told to leave them.
    `stdout` as for `subprocess.run`. A part that fails by itself raises `subprocess.CalledProcessError`. For `train`, parts are the
    requests that are under way at the same time.
    """
    where = program or os.environ.get("HOST_SIM") or shutil.which("host-sim") or shutil.which("wdgnn")
    if where is None:
        raise FileNotFoundError("there is no host-sim on the path: build it with `cargo build -p host-sim`, and name it")
    processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
    arguments = list(arguments)
    code = Path(where).read_bytes()
    travelling = Program(hashlib.sha256(code).hexdigest()[:16], [ray.put(code)])
    if arguments[:1] == ["train"]:
        return _train([os.fspath(where), *arguments], parts or processors, travelling, stdout)
    parts = parts or PARTS_PER_PROCESSOR * processors
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


def _train(
    command: list[str], requests: int, program: Program, stdout: int | None
) -> subprocess.CompletedProcess[bytes]:
    """Trains here. The training calls up its helpers at a socket, and what it asks there becomes a task of Ray's."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as door:
        place = str(Path(folder, "helpers"))
        door.bind(place)
        door.listen(requests)
        threading.Thread(target=_let_in, args=(door, program), daemon=True).start()
        try:
            return subprocess.run(command + ["--helper", f"unix:{place}"] * requests, stdout=stdout, check=False)
        finally:
            # Ends the waiting for the next call.
            door.shutdown(socket.SHUT_RDWR)


def _let_in(door: socket.socket, program: Program) -> None:
    try:
        while True:
            line, _ = door.accept()
            threading.Thread(target=_relay, args=(line, program), daemon=True).start()
    except OSError:
        pass  # The training is over.


def _relay(line: socket.socket, program: Program) -> None:
    """Hands requests on, one after the other, until the training hangs up. If one fails by itself, this end does, and is called again."""
    try:
        with line, line.makefile("rb") as requests:
            while request := _parcel(requests):
                line.sendall(ray.get(_answer.remote(program, request)))
    except ray.exceptions.RayError as error:
        print(f"wdgnn.cluster: {getattr(error, 'cause', error)}", file=sys.stderr)
    except OSError:
        pass  # The training has hung up.


def _parcel(stream: IO[bytes]) -> bytes:
    """What is said next, as it is; nothing where it ends. Whoever it is for looks whether it is whole."""
    head = stream.read(HEAD_BYTES)
    return head + stream.read(int.from_bytes(head[8:16], "little")) if len(head) == HEAD_BYTES else b""


#: The helper that this process of Ray's has started: it stays for the next request, and ends with the process.
_helpers: dict[str, subprocess.Popen[bytes]] = {}


@ray.remote(num_cpus=1, max_retries=-1)
def _answer(program: Program, request: bytes) -> bytes:
    """What a helper answers. It follows from the request alone: whoever is asked again, elsewhere, says the same."""
    helper = _helpers.pop(program.name, None)
    if helper is None or helper.poll() is not None:
        command = [_installed(program), "helper", "--threads", "1"]
        helper = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert helper.stdin is not None and helper.stdout is not None
    try:
        helper.stdin.write(request)
        helper.stdin.flush()
        answer = _parcel(helper.stdout)
    except BrokenPipeError:
        answer = b""
    if not answer:
        helper.kill()
        raise RuntimeError(f"a helper ended with {helper.wait()}, without an answer")
    _helpers[program.name] = helper
    return answer


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m wdgnn.cluster",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--address", help="the cluster, as for ray.init: auto, or a head's address [default: this machine]")
    parser.add_argument("--parts", type=int, help="how many parts [default: four for each processor; train: one]")
    parser.add_argument("--program", help="the program [default: $HOST_SIM, or host-sim or wdgnn on the path]")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own")
    options = parser.parse_args()
    arguments = options.arguments[1:] if options.arguments[:1] == ["--"] else options.arguments
    if not arguments:
        parser.error("say what is to be flown, such as: sweep speed")
    ray.init(address=options.address, log_to_driver=False, logging_level="error")
    if arguments[0] == "train":
        # Ctrl-C is for the training, which finishes its epoch: its flights are still handed on.
        signal.signal(signal.SIGINT, lambda *_: None)
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
