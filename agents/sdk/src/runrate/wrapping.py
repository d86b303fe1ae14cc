"""`runrate wrap -- torchrun …`: run a program as it is, and report what its log says of its steps."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import IO

from runrate.log_lines import Said, read_line
from runrate.running import Run, run

CANNOT_RUN, NOT_FOUND = 126, 127


def wrap(
    command: Sequence[str],
    *,
    workload: str = "",
    name: str = "",
    own: re.Pattern[str] | None = None,
) -> int:
    """Run it with its output passed through untouched; answers its own exit status.

    SIGTERM and SIGINT reach it. What it prints on stderr is read too, through one pipe.
    """
    try:
        program = subprocess.Popen(  # noqa: S603 - what the user asks to run
            list(command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except OSError as trouble:
        sys.stderr.write(f"runrate: {command[0]}: {trouble.strerror}\n")
        return NOT_FOUND if isinstance(trouble, FileNotFoundError) else CANNOT_RUN
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda sent, _: program.send_signal(sent))
    told = run(workload=workload, name=name)
    assert program.stdout is not None  # noqa: S101 - it was asked for
    _pass_on(program.stdout, sys.stdout.buffer, told, own)
    status = program.wait()
    told.finish("interrupted" if status < 0 else "failed" if status else "finished")
    return 128 - status if status < 0 else status


def _pass_on(source: IO[bytes], out: IO[bytes], told: Run, own: re.Pattern[str] | None) -> None:
    heard, world = time.monotonic(), int(os.environ.get("WORLD_SIZE", "0") or 0)
    last: Said | None = None
    for line in source:
        out.write(line)
        out.flush()
        said = read_line(line.decode(errors="replace"), own)
        if said is None:
            continue
        now = time.monotonic()
        _tell(told, said, last, now - heard, world)
        last, heard = said, now


def _tell(told: Run, said: Said, last: Said | None, passed: float, world: int) -> None:
    """A line tells of all the steps since the one before it."""
    steps = 1 if last is None else said.step - last.step
    if steps < 1:
        told.restored(said.step)
        steps = 1
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
