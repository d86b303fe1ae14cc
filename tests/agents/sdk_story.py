"""A short training run on a clock of its own: what the SDK makes of it is the same every time."""

from collections.abc import Mapping
from typing import Any

import pytest

import runrate
from runrate import running, surroundings
from runrate.delivery import Delivery

SECOND = 10**9
TEN_NS = 1_795_168_800 * SECOND
"""2026-11-20T10:00:00Z."""
ENVIRON = {
    "RUNRATE_URL": "http://runrate.example",
    "RUNRATE_TOKEN": "secret",
    "SLURM_JOB_ID": "4711",
    "SLURM_CLUSTER_NAME": "atlas",
    "SLURM_NTASKS": "16",
    "SLURM_PROCID": "0",
}


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0

    def perf_counter_ns(self) -> int:
        return self.now

    def time_ns(self) -> int:
        return TEN_NS + self.now

    def passes(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)


def still(monkeypatch: pytest.MonkeyPatch) -> tuple[Clock, list[dict[str, Any]]]:
    """The clock that the SDK goes by from now on, and the reports that it hands on."""
    clock, reports = Clock(), []
    monkeypatch.setattr(running, "time", clock)
    monkeypatch.setattr(running.os, "getpid", lambda: 99)
    monkeypatch.setattr(Delivery, "put", lambda _, report: reports.append(report))
    monkeypatch.setattr(surroundings.os, "uname", _Machine)
    monkeypatch.setattr(running.atexit, "register", lambda _: None)
    return clock, reports


class _Machine:
    nodename = "gpu-01"


def train(clock: Clock, environ: Mapping[str, str] = ENVIRON) -> None:
    """Startup, three steps with waits for data, a checkpoint, the end."""
    model = {"active_parameters": 7_000_000_000, "layers": 32, "precision": "bf16"}
    run = runrate.run(
        workload="pretrain", name="base-7b", model=model, tags={"data": "web-2"}, environ=environ
    )
    clock.passes(60)
    for _ in range(3):
        with run.phase("data"):
            clock.passes(0.5)
        with run.step(tokens=4096, examples=2, flops=1.5e15):
            clock.passes(3)
            with run.phase("communication"):
                clock.passes(1)
    with run.phase("checkpoint_save"):
        clock.passes(6)
    run.score("loss", 2.5, higher_is_better=False)
    run.good_checkpoint(2, metric=2.5)
    clock.passes(4)
    run.finish()
