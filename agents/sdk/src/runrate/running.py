"""A run as it happens: steps, phases, checkpoints; summed up, and handed on every few seconds."""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import TypeVar

from runrate.delivery import Delivery
from runrate.surroundings import Surroundings, surroundings
from runrate.windows import MOST_STEP_TIMES, Window, count_of, is_measured, number_of

Item = TypeVar("Item")
Json = dict[str, object]
WINDOW_NS = 10 * 10**9
CLOSES_WITHIN_SECONDS = 2.0
MOST_SCORES = 500
"""In one report: of a loss that is told every step, what comes after these is left out."""
PHASES = frozenset(
    {
        *("startup", "data", "communication", "checkpoint_save", "checkpoint_restore"),
        *("evaluation", "recovery", "capacity_wait"),
    }
)
ENDS = frozenset({"finished", "failed", "interrupted"})


class _Step:
    """`with run.step(...)`: one object for all steps of a run, so that a step makes nothing."""

    __slots__ = ("_run", "began")

    def __init__(self, run: Run) -> None:
        self._run = run
        self.began = 0

    def __enter__(self) -> None:
        self.began = time.perf_counter_ns()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._run._step_done(self.began, time.perf_counter_ns())
        self.began = 0


class _Phase:
    """`with run.phase(name)`."""

    __slots__ = ("_began", "_run", "name")

    def __init__(self, run: Run, name: str) -> None:
        self._run, self.name = run, name
        self._began = 0

    def __enter__(self) -> None:
        self._began = time.perf_counter_ns()

    def __exit__(self, *_: object) -> None:
        self._run._phase_done(self.name, self._began, time.perf_counter_ns())


class Run:
    """One training run, across all its restarts. Nothing of it raises into the training.

    Use it from one thread. Only rank 0 reports unless `per_rank`: others count for nothing then.
    """

    def __init__(self, about: Json, delivery: Delivery | None, *, is_kept: bool) -> None:
        """See `run`."""
        self._about, self._delivery, self._is_kept = about, delivery, is_kept
        self._sequence = 0
        self._step = _Step(self)
        self._number = -1
        self._tokens = self._examples = 0
        self._flops = 0.0
        self._events: list[Json] = []
        self._is_over = False
        self._pid = os.getpid()
        self._window = self._new_window()

    def step(
        self, *, tokens: int = 0, examples: int = 0, flops: float = 0.0, number: int | None = None
    ) -> _Step:
        """One step of training, timed; `number` where the run's own count is not from 0 on."""
        self._tokens, self._examples, self._flops = tokens, examples, flops
        self._number = self._number + 1 if number is None else number
        return self._step

    def count(self, *, tokens: int = 0, examples: int = 0, flops: float = 0.0) -> None:
        """What the step that is under way is given, where that is known only at its end."""
        self._tokens, self._examples, self._flops = tokens, examples, flops

    def told_of(
        self,
        *,
        steps: int,
        last_step: int,
        seconds: float,
        tokens: int,
        examples: int,
        flops: float,
    ) -> None:
        """Steps that somebody else timed, up to and with `last_step`; they end now."""
        ended = time.perf_counter_ns()
        began = ended - int(seconds * 10**9)
        self._number, self._tokens, self._examples = last_step, tokens, examples
        self._flops = flops
        window = self._window
        if window.is_empty:
            window.begin(began)
        if window.first < 0:
            window.first = last_step - steps + 1
        window.steps += steps - 1
        self._step_done(began, ended)

    def phase(self, name: str) -> _Phase:
        """Time that is not training: one of PHASES; any other name is kept as it is."""
        return _Phase(self, name)

    def batches(self, loader: Iterable[Item]) -> Iterator[Item]:
        """The loader's batches; waiting for each is the phase *data*."""
        batches = iter(loader)
        while True:
            began = time.perf_counter_ns()
            try:
                batch = next(batches)
            except StopIteration:
                return
            finally:
                self._phase_done("data", began, time.perf_counter_ns())
            yield batch

    def good_checkpoint(self, step: int, metric: float | None = None) -> None:
        """A checkpoint that passed: what a run is paid for."""
        self._event("good_checkpoint", step=count_of(step), metric=number_of(metric))

    def score(self, name: str, value: float, *, higher_is_better: bool = True) -> None:
        """How good the run is now: an evaluation's score, or its loss (`higher_is_better=False`).

        A value that is no finite number is told as such: it is how a run goes silently wrong. What
        is no number at all, such as None, is not told. It goes with the next report.
        """
        if len(self._events) < MOST_SCORES and is_measured(value):
            self._events.append(
                {
                    "kind": "score",
                    "at_ms": time.time_ns() // 10**6,
                    "step": count_of(self._number) if self._number >= 0 else None,
                    "metric": number_of(value),
                    "name": str(name).strip()[:200] or "score",
                    "higher_is_better": bool(higher_is_better),
                }
            )

    def restored(self, step: int) -> None:
        """The run goes on from a checkpoint of this step: later ones are done again."""
        self._number = step - 1
        self._event("restored", step=count_of(step))

    def finish(self, status: str = "finished") -> None:
        """Tell how it ended, *finished*, *failed* or *interrupted*; two seconds at most.

        Any other word is taken for *finished*. What waits is sent, or kept for the next attempt.
        """
        if self._is_over or not self._is_ours:
            return
        status = status if status in ENDS else "finished"
        self._is_over = True
        self._about["status"] = status
        self._about["ended_at_ms"] = time.time_ns() // 10**6
        self._hand_on(time.perf_counter_ns(), is_last=True)
        if self._delivery is not None:
            self._delivery.close(CLOSES_WITHIN_SECONDS)

    def __enter__(self) -> Run:
        """The run itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finished, or failed where an exception ends it; an interruption is neither."""
        is_interrupted = kind is not None and not issubclass(kind, Exception)
        if kind is not None and not is_interrupted:
            self.finish("failed")
        else:
            self.finish("interrupted" if is_interrupted else "finished")

    @property
    def dropped(self) -> int:
        """Reports that could not be kept for sending."""
        return 0 if self._delivery is None else self._delivery.dropped

    @property
    def _is_ours(self) -> bool:
        return os.getpid() == self._pid

    def _step_done(self, began: int, ended: int) -> None:
        window = self._window
        if window.is_empty:
            window.begin(began)
        window.steps += 1
        if window.first < 0:
            window.first = self._number
        window.last = self._number
        window.tokens += self._tokens
        window.examples += self._examples
        window.flops += self._flops
        window.step_ns += ended - began
        if len(window.step_times) < MOST_STEP_TIMES:
            window.step_times.append(ended - began)
        if ended - window.began > WINDOW_NS:
            self._hand_on(ended)

    def _phase_done(self, name: str, began: int, ended: int) -> None:
        window = self._window
        if window.is_empty:
            window.begin(self._step.began or began)
        window.phases[name] = window.phases.get(name, 0) + ended - began
        if self._step.began:
            window.inside_ns += ended - began
        elif ended - window.began > WINDOW_NS:
            self._hand_on(ended)

    def _event(self, kind: str, **about: object) -> None:
        self._events.append({"kind": kind, "at_ms": time.time_ns() // 10**6, **about})
        self._hand_on(time.perf_counter_ns())

    def _new_window(self) -> Window:
        return Window(time.perf_counter_ns(), time.time_ns())

    def _hand_on(self, now: int, *, is_last: bool = False) -> None:
        """Give what was summed up to whoever sends it, and begin anew."""
        window, events = self._window, self._events
        self._window, self._events = self._new_window(), []
        if self._delivery is None or not self._is_kept or not self._is_ours:
            return
        if window.is_empty and not events and not is_last and self._sequence:
            return
        report = {
            **self._about,
            "sequence": self._sequence,
            "windows": [] if window.is_empty else [window.told(now)],
            "events": events,
            "dropped": self._delivery.dropped,
        }
        self._sequence += 1
        self._delivery.put(report)


def run(
    *,
    workload: str = "",
    name: str = "",
    model: Mapping[str, object] | None = None,
    tags: Mapping[str, str] | None = None,
    per_rank: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> Run:
    """Begin, or go on with, a run; it is known by `name`, which its restarts share.

    Without a name it is the scheduler's job. `model` says what MFU needs: `active_parameters`,
    `adapter_parameters`, `layers`, `heads`, `head_dimension`, `sequence`, `precision`. Where to
    send is in RUNRATE_URL and RUNRATE_TOKEN; without them the run counts and tells nobody.
    """
    place = surroundings(environ)
    began_at_ms = time.time_ns() // 10**6
    about: Json = {
        "run": (name or place.name or f"{workload or 'run'}-{began_at_ms}")[:200],
        "workload": (workload or place.workload)[:200],
        "attempt": f"{began_at_ms:x}-{os.getpid():x}-{place.rank}",
        "rank": place.rank,
        "world_size": place.world_size,
        "restarts": place.restarts,
        "job": {"scheduler": place.scheduler, "raw_id": place.job, "cluster": place.cluster},
        "began_at_ms": began_at_ms,
        "ended_at_ms": None,
        "status": "",
        "host": place.host,
        "model": {str(key): _plain(value) for key, value in (model or {}).items()},
        "tags": {str(key)[:200]: str(value)[:200] for key, value in (tags or {}).items()},
    }
    delivery = _delivery(place)
    made = Run(about, delivery, is_kept=per_rank or place.rank == 0)
    made._hand_on(time.perf_counter_ns())
    atexit.register(_at_exit(made))
    return made


def _plain(value: object) -> object:
    return value if isinstance(value, (str, bool)) else number_of(value)


def _delivery(place: Surroundings) -> Delivery | None:
    if not place.url or not place.token:
        return None
    delivery = Delivery(place.url, place.token, place.spool)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=delivery.forked)
    return delivery


def _at_exit(run: Run) -> Callable[[], None]:
    """A process that ends without saying how was interrupted, or failed by what nobody caught."""
    before = getattr(sys, "last_value", None)

    def end() -> None:
        uncaught = getattr(sys, "last_value", None)
        is_failure = isinstance(uncaught, Exception) and uncaught is not before
        run.finish("failed" if is_failure else "interrupted")

    return end
