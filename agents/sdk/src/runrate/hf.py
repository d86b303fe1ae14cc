"""A callback for Hugging Face's `Trainer`: pass `runrate.hf.RunrateCallback(workload=…)` to it."""

from typing import Any

from transformers import TrainerCallback

from runrate.running import Run, run


class RunrateCallback(TrainerCallback):  # type: ignore[misc, unused-ignore]  # untyped upstream
    """Steps with their tokens, waits between them as *data*, saves as *checkpoint_save*.

    Tokens are counted where the arguments ask for it (`include_num_input_tokens_seen`). A run that
    is resumed goes on from the Trainer's own step.
    """

    def __init__(self, **about: Any) -> None:
        """`about` is what `runrate.run` takes."""
        self._about = about
        self._run: Run | None = None
        self._step: Any = None
        self._between: Any = None
        self._tokens = 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The run begins, or goes on where it was."""
        self._run = run(**self._about)
        self._tokens = state.num_input_tokens_seen
        if state.global_step:
            self._run.restored(state.global_step)
        self._wait()

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Its batch is there."""
        if self._run is None:
            return
        self._waited()
        self._step = self._run.step(number=state.global_step)
        self._step.__enter__()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The step with what it was given; now the next batch is waited for."""
        if self._run is None or self._step is None:
            return
        seen = state.num_input_tokens_seen - self._tokens
        self._tokens = state.num_input_tokens_seen
        examples = args.train_batch_size * args.gradient_accumulation_steps * args.world_size
        self._run.count(tokens=seen, examples=examples)
        self._step.__exit__(None, None, None)
        self._step = None
        self._wait()

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """What passed since the step ended was the checkpoint, and not the data."""
        self._waited("checkpoint_save")
        self._wait()

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """What passed since the step ended was the evaluation."""
        self._waited("evaluation")
        self._wait()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The run is over."""
        if self._run is not None:
            self._run.finish()

    def _wait(self) -> None:
        if self._run is not None:
            self._between = self._run.phase("data")
            self._between.__enter__()

    def _waited(self, name: str = "data") -> None:
        if self._between is not None:
            self._between.name = name
            self._between.__exit__(None, None, None)
            self._between = None
