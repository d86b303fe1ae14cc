"""A callback for Hugging Face's `Trainer`: pass `runrate.hf.RunrateCallback(workload=…)` to it."""

from __future__ import annotations

import math
from typing import Any

from transformers import TrainerCallback

from runrate.between import Between
from runrate.running import Run, run
from runrate.windows import is_measured, number_of


class RunrateCallback(TrainerCallback):  # type: ignore[misc, unused-ignore]  # untyped upstream
    """Steps with their tokens, waits between them as *data*, saves and evaluations as what they are.

    Tokens are counted where the arguments ask for it (`include_num_input_tokens_seen`). A run that
    is resumed goes on from the Trainer's own step. A checkpoint counts as good, unless the Trainer
    compares a metric (`metric_for_best_model`) and it is not the best so far.
    """

    def __init__(self, **about: Any) -> None:
        """`about` is what `runrate.run` takes."""
        self._about = about
        self._run: Run | None = None
        self._between: Between | None = None
        self._step: Any = None
        self._tokens = 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The run begins, or goes on where it was."""
        if self._run is not None:
            # The Trainer tells no callback of an exception: training that never ended broke off.
            self._run.finish("failed")
        self._run = run(**self._about)
        self._step, self._between = None, Between(self._run)
        self._tokens = state.num_input_tokens_seen
        if state.global_step:
            self._run.restored(state.global_step)
        self._between.turn("data")

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Its batches are there."""
        if self._run is None or self._between is None:
            return
        self._between.end()
        self._step = self._run.step(number=state.global_step)
        self._step.__enter__()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The step with what it was given; now the next batches are waited for."""
        if self._run is None or self._between is None or self._step is None:
            return
        seen = state.num_input_tokens_seen - self._tokens
        self._tokens = state.num_input_tokens_seen
        examples = args.train_batch_size * args.gradient_accumulation_steps * args.world_size
        self._run.count(tokens=seen, examples=examples)
        self._step.__exit__(None, None, None)
        self._step = None
        self._between.turn("data")

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """What passed since the step, or the evaluation, was the checkpoint."""
        if self._run is None or self._between is None:
            return
        self._between.end("checkpoint_save")
        compares = getattr(args, "metric_for_best_model", None) and state.best_metric is not None
        if not compares or _is_best(state):
            self._run.good_checkpoint(state.global_step - 1, _evaluated(args, state))
        self._between.turn("data")

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """What passed since the step was the evaluation."""
        if self._between is not None:
            self._between.end("evaluation")
            self._between.turn("data")

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        """The loss of training and of evaluation, as the trainer logs them: a run that goes wrong shows in them.

        By default the Trainer logs something else in the place of a loss that is no number
        (`logging_nan_inf_filter`). The norm of its gradients is then no number either, and logged.
        """
        for name in ("loss", "eval_loss"):
            if self._run is not None and name in (logs or {}):
                is_hidden = name == "loss" and _is_loss_filtered(args, logs)
                loss = math.nan if is_hidden else logs[name]
                self._run.score(name, loss, higher_is_better=False)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The run is over."""
        if self._run is not None:
            self._run.finish()
            self._run = self._between = None


def _is_loss_filtered(args: Any, logs: Any) -> bool:
    norm = logs.get("grad_norm")
    is_wrong = is_measured(norm) and number_of(norm) is None
    return is_wrong and bool(getattr(args, "logging_nan_inf_filter", False))


def _is_best(state: Any) -> bool:
    """Whether the checkpoint of this step has the best metric so far."""
    best = getattr(state, "best_global_step", None)
    if best is not None:
        return bool(best == state.global_step)
    # Older Trainers know the best one's folder alone.
    return str(state.best_model_checkpoint or "").endswith(f"-{state.global_step}")


def _evaluated(args: Any, state: Any) -> Any:
    """The metric by which this step was evaluated, else its loss; None where it was not."""
    asked = getattr(args, "metric_for_best_model", None) or "loss"
    name = asked if asked.startswith("eval_") else f"eval_{asked}"
    of_step = (each for each in state.log_history if each.get("step") == state.global_step)
    return next((each[name] for each in of_step if name in each), None)
