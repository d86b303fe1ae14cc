"""A callback for Lightning's `Trainer`: pass `runrate.lightning.RunrateCallback(workload=…)`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from lightning.pytorch.callbacks import Callback

from runrate.between import Between
from runrate.running import Run, run
from runrate.windows import is_measured, number_of

LOSS_SECONDS = 10.0
"""So far apart the loss is read: reading it waits for the GPU."""


class RunrateCallback(Callback):  # type: ignore[misc, unused-ignore]  # untyped upstream
    """Optimizer steps as steps, waits for batches as *data*, validation and saves as what they are.

    `tokens_of` counts the tokens of a batch on this rank; times the world's size is taken. A
    checkpoint counts as good, unless a ModelCheckpoint monitors a metric and it is not the best so
    far. What `training_step` returns is reported as the loss every ten seconds, and after a
    validation every metric that was logged with `loss` in its name.
    """

    def __init__(self, *, tokens_of: Callable[[Any], int] | None = None, **about: Any) -> None:
        """`about` is what `runrate.run` takes."""
        self._about, self._tokens_of = about, tokens_of
        self._run: Run | None = None
        self._between: Between | None = None
        self._step: Any = None
        self._began_at = self._tokens = 0
        self._good: tuple[int, Any] = (-1, None)
        self._loss_at = 0.0
        self._replaced: dict[str, Any] = {}

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """The run begins, or goes on where it was."""
        self._run = run(**self._about)
        self._step, self._between = None, Between(self._run)
        self._good = -1, None
        self._loss_at = 0.0
        if trainer.global_step:
            self._run.restored(trainer.global_step)
        self._time_saves(trainer)
        self._between.turn("data")

    def on_train_batch_start(
        self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int
    ) -> None:
        """Its batch is there; the first of those that are accumulated begins the step."""
        if self._run is None or self._between is None:
            return
        self._between.end()
        if self._step is None:
            self._began_at, self._tokens = trainer.global_step, 0
            self._step = self._run.step(number=trainer.global_step)
            self._step.__enter__()

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """The step with its tokens, where the optimizer stepped; now the next batch is waited for."""
        if self._run is None or self._between is None or self._step is None:
            return
        if self._tokens_of is not None:
            self._tokens += self._tokens_of(batch) * trainer.world_size
        if trainer.global_step != self._began_at:
            self._run.count(tokens=self._tokens)
            self._step.__exit__(None, None, None)
            self._step = None
        self._tell_loss(trainer, outputs)
        self._between.turn("data")

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        """Until it ends it is no wait for data."""
        if self._between is not None:
            self._between.turn("evaluation")

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """Back to training, in a step that accumulates too; with what was validated."""
        if self._run is None or self._between is None:
            return
        for name, value in trainer.callback_metrics.items():
            if "loss" in name:
                self._run.score(name, value, higher_is_better=False)
        self._between.turn("data")

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """The run failed, unless somebody interrupted it."""
        self._finish(trainer, "failed" if isinstance(exception, Exception) else "interrupted")

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        """The run is over, with whatever was saved at its end."""
        self._finish(trainer, "finished")

    def _finish(self, trainer: Any, status: str) -> None:
        if self._run is not None:
            self._run.finish(status)
            self._run = self._between = None
            vars(trainer).pop("save_checkpoint", None)
            vars(trainer).update(self._replaced)

    def _tell_loss(self, trainer: Any, outputs: Any) -> None:
        loss = outputs.get("loss") if isinstance(outputs, Mapping) else outputs
        now = time.monotonic()
        if self._run is None or loss is None or now < self._loss_at + LOSS_SECONDS:
            return
        self._loss_at = now
        if is_measured(loss):
            # Of batches that are accumulated each is given as its part of the step's.
            whole = float(loss) * trainer.accumulate_grad_batches
            self._run.score("loss", whole, higher_is_better=False)

    def _time_saves(self, trainer: Any) -> None:
        """No hook tells when a save ends: each goes through this method of the trainer."""
        save = trainer.save_checkpoint
        own = vars(trainer)
        self._replaced = {name: own[name] for name in ("save_checkpoint",) if name in own}

        def timed(*given: Any, **named: Any) -> Any:
            if self._between is None:
                return save(*given, **named)
            before = self._between.turn("checkpoint_save")
            try:
                saved = save(*given, **named)
            finally:
                self._between.turn(before)
            self._note_good(trainer)
            return saved

        trainer.save_checkpoint = timed

    def _note_good(self, trainer: Any) -> None:
        """A step's checkpoint counts once, however many files it is kept in."""
        at, best = self._good
        step = trainer.global_step - 1
        metric, is_least_best = _monitored(trainer)
        is_better = (
            metric is None or best is None or (metric <= best if is_least_best else metric >= best)
        )
        if self._run is not None and step > at and is_better:
            self._good = step, best if metric is None else metric
            self._run.good_checkpoint(step, metric)


def _monitored(trainer: Any) -> tuple[Any, bool]:
    """The metric that checkpoints are compared by, None where none is, and whether least is best."""
    for callback in getattr(trainer, "checkpoint_callbacks", ()):
        name = getattr(callback, "monitor", None)
        if name and name in trainer.callback_metrics:
            return number_of(trainer.callback_metrics[name]), callback.mode == "min"
    return None, True
