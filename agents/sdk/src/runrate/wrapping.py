"""`runrate wrap -- torchrun …`: run a program as it is, and report what its log says of its steps."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from runrate.log_lines import LONGEST, Said, read_line
from runrate.running import Run, run
from runrate.surroundings import surroundings

CANNOT_RUN, NOT_FOUND = 126, 127
PART_BYTES = 1 << 16
LINE_ENDS = re.compile(rb"[\r\n]+")


class Listener:
    """Makes steps of the lines that a program prints, on whichever stream.

    Of several wraps that run one program together, as one a node, those that hear nothing of steps
    stay silent: Megatron prints on its last rank alone, and what it prints there is the run's.
    """

    def __init__(
        self, own: re.Pattern[str] | None, program: int, *, workload: str, name: str
    ) -> None:
        """`program` is its process; the rest is as for `wrap`."""
        self._own, self._program = own, program
        self._workload, self._name = workload, name
        self._place = surroundings()
        self._run: Run | None = None
        self._last: Said | None = None
        self._first: Said | None = None
        self._heard = time.monotonic()
        self._world = 0
        self._lock = threading.Lock()
        if self._place.world_size == 1:
            self._run = run(workload=workload, name=name)

    def hear(self, line: bytes) -> None:
        """A line of either stream; they come from two threads."""
        said = read_line(line[:LONGEST].decode(errors="replace"), self._own)
        if said is None:
            return
        with self._lock:
            if self._run is None:
                rank = 0 if said.is_of_one_rank else self._place.rank
                environ = {**os.environ, "RANK": str(rank)}
                self._run = run(
                    workload=self._workload, name=self._name, per_rank=True, environ=environ
                )
            now = time.monotonic()
            self._world = self._world or world_size_below(self._program) or _world_here()
            passed, untimed = now - self._heard, self._first
            if self._last is None and said.seconds is None:
                # What passed until here was starting up; how long its steps take the next line says.
                self._first = said
            else:
                self._first = None
                _tell(self._run, said, self._last, passed, self._world, untimed)
            self._last, self._heard = said, now

    def finish(self, status: int) -> None:
        """The program ended with this status, below 0 by a signal."""
        if self._run is not None:
            if self._first is not None:
                _tell(self._run, self._first, None, 0.0, self._world)
            ended = "interrupted" if status < 0 else "failed" if status else "finished"
            self._run.finish(ended)


def wrap(
    command: Sequence[str],
    *,
    workload: str = "",
    name: str = "",
    own: re.Pattern[str] | None = None,
) -> int:
    """Run it with its output passed through untouched, stream by stream, as soon as it comes.

    Answers its own exit status. SIGTERM and SIGINT reach it, once.
    """
    try:
        program = subprocess.Popen(  # noqa: S603 - what the user asks to run
            list(command), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except OSError as trouble:
        sys.stderr.write(f"runrate: {command[0]}: {trouble.strerror}\n")
        return NOT_FOUND if isinstance(trouble, FileNotFoundError) else CANNOT_RUN
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda sent, _: _forward(program, sent))
    listener = Listener(own, program.pid, workload=workload, name=name)
    streams: Any = ((program.stdout, sys.stdout.buffer), (program.stderr, sys.stderr.buffer))
    threads = [
        threading.Thread(target=_pass_on, args=(*pair, listener), daemon=True) for pair in streams
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    status = program.wait()
    listener.finish(status)
    return 128 - status if status < 0 else status


def _forward(program: subprocess.Popen[bytes], number: int) -> None:
    """A terminal sends Ctrl-C to all in its foreground by itself: the program has had it."""
    if number == signal.SIGINT and _is_in_foreground():
        return
    program.send_signal(number)


def _is_in_foreground() -> bool:
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _pass_on(source: IO[bytes], out: IO[bytes], listener: Listener) -> None:
    """What comes goes on at once, progress bars too; lines end where either does."""
    begun = b""
    while part := os.read(source.fileno(), PART_BYTES):
        try:
            out.write(part)
            out.flush()
        except BrokenPipeError:
            # Nobody reads any more: the program is to hear of it as it would by itself.
            source.close()
            return
        *lines, begun = LINE_ENDS.split(begun + part)
        for line in lines:
            listener.hear(line)
        begun = begun[:LONGEST]
    listener.hear(begun)


def world_size_below(program: int, root: Path = Path("/proc")) -> int:
    """WORLD_SIZE of the processes that a launcher started; 0 where none says it.

    The lowest ones' counts: what a launcher was given may be its number of nodes.
    """
    world, pids = 0, {program}
    while pids:
        below: set[int] = set()
        for pid in pids:
            environ = _read(root / str(pid) / "environ").split(b"\0")
            said = next((each for each in environ if each.startswith(b"WORLD_SIZE=")), b"=")
            number = said.partition(b"=")[2]
            world = int(number) if number.isdigit() else world
            for task in _listed(root / str(pid) / "task"):
                below |= {int(each) for each in _read(task / "children").split()}
        pids = below
    return world


def _world_here() -> int:
    text = os.environ.get("WORLD_SIZE", "")
    return int(text) if text.isascii() and text.isdigit() else 0


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _tell(
    told: Run, said: Said, last: Said | None, passed: float, world: int, untimed: Said | None = None
) -> None:
    """A line tells of all the steps since the one before it.

    With `untimed`, the first line, of a step besides, which took as long as each of these.
    """
    steps = 1 if last is None else said.step - last.step
    if steps < 1:
        told.restored(said.step)
        steps = 1
    elif untimed is not None:
        passed += passed / steps
        steps += 1
    seconds = said.seconds * steps if said.seconds is not None else passed
    rate = said.tokens_per_second
    if rate is None and said.tokens_per_second_per_gpu is not None and world:
        rate = said.tokens_per_second_per_gpu * world
    tokens = said.tokens if said.tokens is not None else (rate or 0.0) * seconds
    told.told_of(
        steps=steps,
        last_step=said.step,
        seconds=seconds,
        tokens=round(tokens),
        examples=round((said.examples or 0) * steps),
        flops=(said.flops_per_second_per_gpu or 0.0) * world * seconds,
    )
    if said.loss is not None:
        told.score("loss", said.loss, higher_is_better=False)
