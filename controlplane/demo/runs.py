"""What the demo's training runs would have told through the SDK, made of their schedulers' jobs."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from apps.workloads.queries import JobFact
from controlplane.demo.fleet import DemoSpan
from controlplane.demo.losses import EVALUATION_NOISE, LOSS_NOISE, Learning, noisy

Json = dict[str, Any]
WINDOW = timedelta(minutes=10)
WINDOWS_A_REPORT = 60
MACHINES, RANKS_A_MACHINE = ("atlas-h100-01", "atlas-h100-02"), 8
MS = 1000
MOST_STEP_TIMES = 24
STRAGGLING = "30031"
"""The job of which every rank tells its last steps; one of its machines is slow."""
SLOW_RANK, SLOWER_BY = 11, 1.32
TOLD_BY_RANK = timedelta(minutes=90)
WINDOWS_A_LOSS = 6
"""A loss every hour of training: of each hour the last would count."""
DIVERGED, DIVERGED_AFTER = "31451", timedelta(hours=22)
"""The job whose loss is no finite number any more after so long; nobody looks, and it finishes."""
SEED = 20261120
SPEEDUP = 0.92
"""A step on so many times the GPUs takes that much less time, to this power: less than as many times."""
SEVEN_B = {
    "active_parameters": 6_738_000_000,
    "layers": 32,
    "heads": 32,
    "head_dimension": 128,
    "sequence": 4096,
    "precision": "bf16",
}


@dataclass(frozen=True, slots=True)
class Training:
    """A kind of training job: what its steps are on so many GPUs, and what part of its time goes where.

    It saves a checkpoint in every so many windows; one in `checkpoint_hours` passes.
    """

    job: str
    workload: str
    gpus: int
    step_seconds: float
    learning: Learning
    tokens: int = 0
    examples: int = 0
    model: Mapping[str, object] = field(default_factory=dict)
    phases: Mapping[str, float] = field(default_factory=dict)
    save_ratio: float = 0.02
    saves_every: int = 6
    startup_minutes: int = 8
    checkpoint_hours: float = 4


TRAININGS = (
    Training(
        job="pretrain-7b",
        workload="pretrain-7b",
        gpus=16,
        step_seconds=29.4,
        learning=Learning(10.8, 1.7, 60),
        tokens=4_194_304,
        model=SEVEN_B,
        phases={"data": 0.02, "communication": 0.07},
        saves_every=3,
        startup_minutes=14,
    ),
    Training(
        job="llama-sft",
        workload="llama-sft",
        gpus=8,
        step_seconds=9.1,
        learning=Learning(1.9, 1.1, 400, "IFEval", 0.44, 0.71),
        tokens=524_288,
        model={**SEVEN_B, "active_parameters": 8_030_000_000},
        phases={"data": 0.06, "communication": 0.04},
    ),
    Training(
        job="llama-sft-large",
        workload="llama-sft",
        gpus=8,
        step_seconds=9.6,
        learning=Learning(1.9, 1.05, 600, "IFEval", 0.44, 0.74),
        tokens=524_288,
        model={**SEVEN_B, "active_parameters": 8_030_000_000},
        phases={"data": 0.05, "communication": 0.05},
    ),
    Training(
        job="ranker-train",
        workload="ranker-train",
        gpus=4,
        step_seconds=0.8,
        learning=Learning(0.693, 0.38, 2_000),
        examples=65_536,
        phases={"data": 0.12},
        save_ratio=0.01,
        checkpoint_hours=8,
    ),
    Training(
        job="vlm-pilot",
        workload="vlm-pilot",
        gpus=4,
        step_seconds=6.5,
        learning=Learning(2.6, 0.9, 900, "VQA accuracy", 0.31, 0.68),
        tokens=131_072,
        model={**SEVEN_B, "active_parameters": 3_100_000_000},
        phases={"data": 0.47},
        saves_every=1,
        save_ratio=0.04,
        checkpoint_hours=10,
    ),
)


def run_reports(
    story: Mapping[str, Any],
    jobs: Sequence[JobFact],
    gpus: Mapping[int, int],
    span: DemoSpan,
) -> Iterator[Json]:
    """What the SDK would have sent of these jobs, the earlier first; `gpus` that each held, by job."""
    runs = {(job["id"], job.get("restart_count", 0)): job.get("run") for job in story["jobs"]}
    kinds = {kind.job: kind for kind in TRAININGS}
    last_good: dict[str, int] = {}
    ordered = sorted(
        (job for job in jobs if job.name in kinds and job.started_at is not None),
        key=lambda job: (job.started_at or span.at, job.id),
    )
    for job in ordered:
        run = runs.get((job.raw_id, job.restart_count)) or f"{job.name}-{job.raw_id}"
        attempt = _Attempt(kinds[job.name], job, run, span, last_good.get(run, -1), gpus[job.id])
        yield from attempt.reports()
        last_good[run] = attempt.last_good


class _Attempt:
    """One job's process, from a little after its start to its end."""

    def __init__(
        self,
        kind: Training,
        job: JobFact,
        run: str,
        span: DemoSpan,
        last_good: int,
        gpus: int,
    ) -> None:
        self.kind, self.job, self.run, self.span = kind, job, run, span
        self.gpus = gpus
        self.step_seconds = kind.step_seconds * (kind.gpus / gpus) ** SPEEDUP
        self.last_good = last_good
        self.step = last_good
        self.windows = 0
        self.dice = random.Random(f"{SEED} {job.raw_id} {job.restart_count}")  # noqa: S311 - a story, not a secret
        # Apart, so that what is told beside it is the same without it.
        self.noise = random.Random(f"{SEED} {job.raw_id} {job.restart_count} noise")  # noqa: S311
        self.began_at = (job.started_at or span.starts_at) + timedelta(seconds=40)
        self.ended_at = min(job.ended_at or span.ends_at, span.ends_at)

    def reports(self) -> Iterator[Json]:
        windows: list[Json] = []
        events: list[Json] = []
        if self.last_good >= 0:
            events.append({"kind": "restored", "at_ms": _ms(self.began_at), "step": self.step + 1})
        sequence, good_at = 0, self.began_at
        checked_every = timedelta(hours=self.kind.checkpoint_hours)
        for window, ends_at in self._windows():
            windows.append(window)
            if self._is_loss_due(window, ends_at):
                events.append(self._loss_event(ends_at))
            if ends_at - good_at >= checked_every and not self._has_diverged(ends_at):
                good_at, self.last_good = ends_at, self.step
                events += self._passed_checkpoint(ends_at)
            if len(windows) == WINDOWS_A_REPORT:
                yield self._report(sequence, windows, events, is_last=False)
                sequence, windows, events = sequence + 1, [], []
        yield self._report(sequence, windows, events, is_last=True)
        if self.job.raw_id == STRAGGLING:
            yield from self._other_ranks(windows)

    def _is_loss_due(self, window: Json, ends_at: datetime) -> bool:
        is_due = self.windows % WINDOWS_A_LOSS == 0 or ends_at == self.ended_at
        return is_due and bool(window["steps"])

    def _loss_event(self, at: datetime) -> Json:
        """The loss as the SDK reports it: where it is no number, without a value."""
        loss = noisy(self.kind.learning.loss_at(self.step), LOSS_NOISE, self.noise)
        value = None if self._has_diverged(at) else loss
        return _score_event("loss", at, self.step, value, is_loss=True)

    def _passed_checkpoint(self, at: datetime) -> Iterator[Json]:
        """A checkpoint that passed, and how good the model of it is."""
        learning, about = self.kind.learning, {"at_ms": _ms(at), "step": self.step}
        yield about | {
            "kind": "good_checkpoint",
            "metric": round(learning.loss_at(self.step), 4),
        }
        if learning.score:
            score = noisy(learning.score_at(self.step), EVALUATION_NOISE, self.noise)
            yield _score_event(learning.score, at, self.step, score)

    def _has_diverged(self, at: datetime) -> bool:
        return self.job.raw_id == DIVERGED and at - self.began_at >= DIVERGED_AFTER

    def _other_ranks(self, last: list[Json]) -> Iterator[Json]:
        """What the ranks beside the first tell of the last steps: how long each took them."""
        since = _ms(self.ended_at - TOLD_BY_RANK)
        steps = [each for each in last if each["starts_at_ms"] >= since and each["steps"]]
        for rank in range(1, self.gpus):
            slower = SLOWER_BY if rank == SLOW_RANK else 1.0
            windows = [
                {
                    **each,
                    "productive_ms": 0,
                    "phases_ms": {},
                    "step_times_ms": [
                        round(time * slower * self.dice.uniform(0.985, 1.0), 3)
                        for time in each["step_times_ms"]
                    ],
                }
                for each in steps
            ]
            told = self._report(0, windows, [], is_last=True)
            yield told | {
                "attempt": f"{told['attempt']}-{rank}",
                "rank": rank,
                "host": MACHINES[rank // RANKS_A_MACHINE],
            }

    def _windows(self) -> Iterator[tuple[Json, datetime]]:
        at = self.began_at
        startup_ends_at = at + timedelta(minutes=self.kind.startup_minutes)
        while at < self.ended_at:
            ends_at = min(at + WINDOW, self.ended_at)
            if at < startup_ends_at:
                yield self._starting(at, min(ends_at, startup_ends_at)), ends_at
                at = min(ends_at, startup_ends_at)
                continue
            yield self._training(at, ends_at), ends_at
            at = ends_at

    def _starting(self, at: datetime, ends_at: datetime) -> Json:
        length = _ms(ends_at) - _ms(at)
        return _window(at, ends_at) | {"phases_ms": {"startup": length}}

    def _training(self, at: datetime, ends_at: datetime) -> Json:
        length = _ms(ends_at) - _ms(at)
        wobble = {
            name: share * self.dice.uniform(0.8, 1.2) for name, share in self.kind.phases.items()
        }
        phases = {name: int(length * share) for name, share in wobble.items()}
        self.windows += 1
        if self.windows % self.kind.saves_every == 0:
            saved = length * self.kind.save_ratio * self.kind.saves_every
            phases["checkpoint_save"] = int(saved * self.dice.uniform(0.9, 1.1))
        seconds = self.step_seconds * self.dice.uniform(0.98, 1.04)
        steps = int(length / MS / seconds)
        first = self.step + 1
        self.step += steps
        return _window(at, ends_at) | {
            "steps": steps,
            "first_step": first if steps else None,
            "last_step": self.step if steps else None,
            "tokens": steps * self.kind.tokens,
            "examples": steps * self.kind.examples,
            "productive_ms": length - sum(phases.values()),
            "phases_ms": phases,
            "step_times_ms": [
                round(seconds * MS * self.dice.uniform(0.97, 1.05), 3)
                for _ in range(min(steps, MOST_STEP_TIMES))
            ],
        }

    def _report(
        self, sequence: int, windows: list[Json], events: list[Json], *, is_last: bool
    ) -> Json:
        is_over = is_last and self.job.ended_at is not None
        status = {"COMPLETED": "finished", "FAILED": "failed"}.get(self.job.state, "interrupted")
        return {
            "run": self.run,
            "workload": self.kind.workload,
            "attempt": f"{self.job.raw_id}-{self.job.restart_count}",
            "rank": 0,
            "world_size": self.gpus,
            "restarts": self.job.restart_count,
            "job": {"scheduler": "slurm", "raw_id": self.job.raw_id, "cluster": self.job.cluster},
            "began_at_ms": _ms(self.began_at),
            "ended_at_ms": _ms(self.ended_at) if is_over else None,
            "status": status if is_over else "",
            "model": dict(self.kind.model),
            "tags": {},
            "sequence": sequence,
            "windows": windows,
            "events": events,
            "dropped": 0,
        }


def _window(at: datetime, ends_at: datetime) -> Json:
    """A window in which nothing was done."""
    return {
        "starts_at_ms": _ms(at),
        "ends_at_ms": _ms(ends_at),
        "steps": 0,
        "first_step": None,
        "last_step": None,
        "tokens": 0,
        "examples": 0,
        "flops": 0.0,
        "productive_ms": 0,
        "phases_ms": {},
        "step_times_ms": [],
    }


def _score_event(
    name: str, at: datetime, step: int, value: float | None, *, is_loss: bool = False
) -> Json:
    """What `run.score` of the SDK sends; no value: it was no finite number."""
    return {
        "kind": "score",
        "at_ms": _ms(at),
        "step": step,
        "metric": value,
        "name": name,
        "higher_is_better": not is_loss,
    }


def _ms(moment: datetime) -> int:
    return int(moment.astimezone(UTC).timestamp() * MS)
