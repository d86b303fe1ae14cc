"""A callback for Lightning's `Trainer`: pass `runrate.lightning.RunrateCallback(workload=…)`."""

from collections.abc import Callable
from typing import Any

from lightning.pytorch.callbacks import Callback

from runrate.running import Run, run


class RunrateCallback(Callback):  # type: ignore[misc, unused-ignore]  # untyped upstream
    """Batches as steps, waits between them as *data*.

    `tokens_of` counts the tokens of a batch on this rank; times the world's size is taken.
    """

    def __init__(self, *, tokens_of: Callable[[Any], int] | None = None, **about: Any) -> None:
        """`about` is what `runrate.run` takes."""
        self._about, self._tokens_of = about, tokens_of
        self._run: Run | None = None
        self._step: Any = None
        self._between: Any = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """The run begins, or goes on where it was."""
        self._run = run(**self._about)
        if trainer.global_step:
            self._run.restored(trainer.global_step)
        self._wait()

    def on_train_batch_start(
        self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int
    ) -> None:
        """Its batch is there."""
        if self._run is None:
            return
        if self._between is not None:
            self._between.__exit__(None, None, None)
            self._between = None
        self._step = self._run.step(number=trainer.global_step)
        self._step.__enter__()

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """The step with its tokens; now the next batch is waited for."""
        if self._run is None or self._step is None:
            return
        if self._tokens_of is not None:
            self._run.count(tokens=self._tokens_of(batch) * trainer.world_size)
        self._step.__exit__(None, None, None)
        self._step = None
        self._wait()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """The run failed, unless somebody interrupted it."""
        if self._run is not None:
            is_failure = isinstance(exception, Exception)
            self._run.finish("failed" if is_failure else "interrupted")

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """The run is over."""
        if self._run is not None:
            self._run.finish()

    def _wait(self) -> None:
        if self._run is not None:
            self._between = self._run.phase("data")
            self._between.__enter__()
