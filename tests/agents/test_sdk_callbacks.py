"""The callbacks for Hugging Face and Lightning, driven as their trainers drive them."""

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.agents.sdk_story import ENVIRON, Clock, still


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Clock, list[dict[str, Any]]]]:
    """Neither framework is installed: their base classes do nothing, and that is what stands in."""
    for name in ("transformers", "lightning", "lightning.pytorch", "lightning.pytorch.callbacks"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["transformers"].TrainerCallback = object  # type: ignore[attr-defined]
    sys.modules["lightning.pytorch.callbacks"].Callback = object  # type: ignore[attr-defined]
    told = still(monkeypatch)
    yield told
    for name in ("runrate.hf", "runrate.lightning"):
        sys.modules.pop(name, None)


def windows(reports: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [window for report in reports for window in report["windows"]]


def test_a_trainers_steps_waits_saves_and_evaluations_are_told(clock: Any) -> None:
    passing, reports = clock
    callback = importlib.import_module("runrate.hf").RunrateCallback(
        workload="finetune", name="a", environ=ENVIRON
    )
    args = SimpleNamespace(train_batch_size=2, gradient_accumulation_steps=4, world_size=8)
    state = SimpleNamespace(global_step=100, num_input_tokens_seen=5_000, log_history=[])
    callback.on_train_begin(args, state, None)
    for _ in range(2):
        passing.passes(1)
        callback.on_step_begin(args, state, None)
        passing.passes(3)
        state.global_step += 1
        state.num_input_tokens_seen += 700
        callback.on_step_end(args, state, None)
    callback.on_log(args, state, None, logs={"loss": float("nan"), "learning_rate": 0.1})
    passing.passes(5)
    callback.on_log(args, state, None, logs={"eval_loss": 2.25})
    callback.on_evaluate(args, state, None)
    passing.passes(6)
    callback.on_save(args, state, None)
    callback.on_train_end(args, state, None)
    told = windows(reports)
    assert sum(each["tokens"] for each in told) == 1_400
    assert sum(each["examples"] for each in told) == 2 * 64
    assert (told[0]["first_step"], told[0]["last_step"]) == (100, 101)
    phases: dict[str, int] = {}
    for each in told:
        for name, spent in each["phases_ms"].items():
            phases[name] = phases.get(name, 0) + spent
    assert phases == {"data": 2_000, "evaluation": 5_000, "checkpoint_save": 6_000}
    events = [
        (each["kind"], each["step"], each.get("metric"))
        for report in reports
        for each in report["events"]
    ]
    assert events == [
        ("restored", 100, None),
        ("score", 101, None),
        ("score", 101, 2.25),
        ("good_checkpoint", 101, None),
    ]
    assert reports[-1]["status"] == "finished"


@pytest.mark.parametrize(
    ("filters", "norm", "loss"),
    [(True, float("nan"), None), (True, 0.5, 0.0), (True, None, 0.0), (False, float("inf"), 0.0)],
)
def test_a_loss_that_the_trainer_hides_is_seen_by_its_gradients(
    clock: Any, filters: bool, norm: float | None, loss: float | None
) -> None:
    _, reports = clock
    callback = importlib.import_module("runrate.hf").RunrateCallback(environ=ENVIRON)
    args = SimpleNamespace(logging_nan_inf_filter=filters)
    state = SimpleNamespace(global_step=0, num_input_tokens_seen=0)
    callback.on_train_begin(args, state, None)
    callback.on_log(args, state, None, logs={"loss": 0.0, "grad_norm": norm})
    callback.on_train_end(args, state, None)
    assert [each["metric"] for report in reports for each in report["events"]] == [loss]


def test_what_a_trainer_says_before_it_began_is_no_trouble(clock: Any) -> None:
    _, reports = clock
    callback = importlib.import_module("runrate.hf").RunrateCallback(environ=ENVIRON)
    state = SimpleNamespace(global_step=0, num_input_tokens_seen=0)
    for said in (
        "on_step_begin",
        "on_step_end",
        "on_save",
        "on_evaluate",
        "on_log",
        "on_train_end",
    ):
        getattr(callback, said)(None, state, None)
    assert reports == []


def test_lightnings_batches_are_steps_and_their_tokens_count_for_all_ranks(clock: Any) -> None:
    passing, reports = clock
    callback = importlib.import_module("runrate.lightning").RunrateCallback(
        tokens_of=len, name="a", environ=ENVIRON
    )
    trainer = SimpleNamespace(global_step=7, world_size=4, save_checkpoint=list)
    callback.on_train_start(trainer, None)
    for index in range(2):
        passing.passes(2)
        callback.on_train_batch_start(trainer, None, "abc", index)
        passing.passes(5)
        trainer.global_step += 1
        callback.on_train_batch_end(trainer, None, None, "abc", index)
    callback.on_fit_end(trainer, None)
    assert trainer.save_checkpoint is list
    told = windows(reports)
    assert sum(each["tokens"] for each in told) == 2 * 3 * 4
    assert sum(each["phases_ms"]["data"] for each in told) == 4_000
    assert (told[0]["first_step"], reports[-1]["status"]) == (7, "finished")


def test_lightnings_losses_are_told_now_and_then_and_after_a_validation(
    clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, reports = clock
    module = importlib.import_module("runrate.lightning")
    callback = module.RunrateCallback(environ=ENVIRON)
    trainer = SimpleNamespace(
        global_step=0,
        world_size=1,
        save_checkpoint=list,
        accumulate_grad_batches=2,
        callback_metrics={"val_loss": float("inf"), "accuracy": 0.5},
    )
    callback.on_train_start(trainer, None)
    for outputs in ({"loss": 1.25}, {"loss": 1.0}, None):
        callback.on_train_batch_start(trainer, None, None, 0)
        callback.on_train_batch_end(trainer, None, outputs, None, 0)
    monkeypatch.setattr(module, "LOSS_SECONDS", 0.0)
    for outputs in (float("nan"), {"loss": "none"}):
        callback.on_train_batch_start(trainer, None, None, 0)
        callback.on_train_batch_end(trainer, None, outputs, None, 0)
    callback.on_validation_end(trainer, None)
    callback.on_fit_end(trainer, None)
    events = [event for report in reports for event in report["events"]]
    assert [(each["name"], each["metric"], each["higher_is_better"]) for each in events] == [
        ("loss", 2.5, False),
        ("loss", None, False),
        ("val_loss", None, False),
    ]


@pytest.mark.parametrize(
    ("error", "status"), [(ValueError(), "failed"), (KeyboardInterrupt(), "interrupted")]
)
def test_lightnings_exceptions_end_the_run(clock: Any, error: BaseException, status: str) -> None:
    _, reports = clock
    callback = importlib.import_module("runrate.lightning").RunrateCallback(environ=ENVIRON)
    trainer = SimpleNamespace(global_step=0, world_size=1, save_checkpoint=list)
    callback.on_train_batch_start(trainer, None, None, 0)
    callback.on_train_batch_end(trainer, None, None, None, 0)
    callback.on_exception(trainer, None, error)
    assert reports == []
    callback.on_train_start(trainer, None)
    callback.on_exception(trainer, None, error)
    callback.on_fit_end(trainer, None)
    assert [each["status"] for each in reports] == ["", status]


def test_training_that_broke_off_and_begins_again_had_failed(clock: Any) -> None:
    _, reports = clock
    callback = importlib.import_module("runrate.hf").RunrateCallback(environ=ENVIRON)
    state = SimpleNamespace(global_step=0, num_input_tokens_seen=0)
    callback.on_train_begin(None, state, None)
    callback.on_train_begin(None, state, None)
    callback.on_train_end(None, state, None)
    assert [each["status"] for each in reports] == ["", "failed", "", "finished"]


def test_only_the_best_checkpoint_by_the_trainers_own_metric_is_good(clock: Any) -> None:
    _, reports = clock
    callback = importlib.import_module("runrate.hf").RunrateCallback(environ=ENVIRON)
    args = SimpleNamespace(metric_for_best_model="accuracy")
    state = SimpleNamespace(global_step=0, num_input_tokens_seen=0, best_metric=0.5, log_history=[])
    callback.on_train_begin(args, state, None)
    for step, best in ((10, 10), (20, 10), (30, 30)):
        state.global_step, state.best_global_step = step, best
        state.log_history = [{"step": step, "eval_accuracy": step / 100}]
        callback.on_save(args, state, None)
    good = [(each["step"], each["metric"]) for report in reports for each in report["events"]]
    assert good == [(9, 0.1), (29, 0.3)]
