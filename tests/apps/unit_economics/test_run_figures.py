"""A run's own figures: what it cost, how fast and how well it trained, and what is not known."""

from datetime import timedelta
from typing import Any

import pytest

from apps.economics.run_time import Bucket
from apps.fleet import actions as fleet
from apps.unit_economics.actions.runs import figure_due_runs
from apps.unit_economics.models import RunFigures
from apps.workloads.models import RunSummary, Workload
from tests import make
from tests.apps.ledger import scene
from tests.apps.unit_economics import run_scene

pytestmark = pytest.mark.django_db

H100_MICROS = 98_320_000
MINUTE = timedelta(minutes=1)
MODEL = {"active_parameters": 8e9, "precision": "bf16"}
DENSE_FLOPS = 989.4e12


@pytest.fixture(autouse=True)
def _fleet() -> None:
    make.make_organisation()
    make.make_cluster()
    scene.make_rule("research", make.make_team())


def make_job(name: str = "gpu-01", **given: Any) -> int:
    """A job on a priced node of its own."""
    return scene.make_job(name, scene.make_priced_node(name), **given)


def figures(run_id: int) -> RunFigures:
    """As they stand."""
    return RunFigures.objects.get(run_id=run_id)


def trained(key: str, job_id: int, *, tokens: int, **told: Any) -> int:
    """A run that filled its job's hour, all of it in steps."""
    values: dict[str, Any] = {
        "tokens": tokens,
        "gpus": 8,
        "model": MODEL,
        "began_at": scene.TEN,
        "ended_at": scene.TEN + scene.HOUR,
        "submitted_at": scene.TEN - 30 * MINUTE,
        "status": "finished",
    } | told
    run_id = run_scene.make_run(key, (job_id, scene.TEN, scene.TEN + scene.HOUR), **values)
    minutes = {Bucket.PRODUCTIVE: 48, Bucket.DATA_WAIT: 12}
    run_scene.tell(run_id, job_id, minutes, step_ms=3_600_000, tokens=tokens)
    return run_id


def test_the_five_numbers_of_a_run() -> None:
    run_id = trained(
        "llama",
        make_job(),
        tokens=3600 * 60_000,
        good_checkpoints=4,
        first_good_at=scene.TEN + 45 * MINUTE,
    )
    scene.settle()

    found = figures(run_id)
    assert found.tokens_per_second == 60_000
    assert found.mfu_ratio == pytest.approx(60_000 * 6 * 8e9 / (8 * DENSE_FLOPS))
    assert found.mfu_doubt == ""
    assert found.first_good_seconds == 75 * 60
    assert found.checkpoint_micros == H100_MICROS // 4
    assert found.million_tokens_micros == round(H100_MICROS / (3600 * 60_000 / 1e6))


def test_where_the_time_and_the_money_went() -> None:
    run_id = trained("llama", make_job(), tokens=1)
    scene.settle()

    found = figures(run_id)
    assert found.effective_micros == H100_MICROS == sum(filter(None, found.bucket_micros))
    assert found.bucket_micros[Bucket.DATA_WAIT] == H100_MICROS // 5
    assert found.bucket_micros[Bucket.FAILED] is None
    assert found.bucket_unit_ms[Bucket.PRODUCTIVE] == 8 * 48 * 60_000
    assert (found.goodput_ratio, found.data_wait_ratio, found.told_ratio) == (0.8, 0.2, 1.0)
    assert found.observed_ratio == 0.0
    assert (found.gpu_model, found.jobs) == ("NVIDIA H100 80GB HBM3", 1)


def test_an_mfu_above_1_is_told_as_impossible() -> None:
    run_id = trained("llama", make_job(), tokens=3600 * 1_000_000)
    scene.settle()

    assert (figures(run_id).mfu_ratio or 0) > 1
    assert figures(run_id).mfu_doubt.startswith("impossible, above 1")


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ({"precision": "bf16"}, "the run did not tell its model's parameters"),
        ({"active_parameters": 8e9}, "the run did not tell its precision"),
        ({"active_parameters": 8e9, "precision": "int3"}, "the precision int3 is not known"),
    ],
)
def test_an_mfu_is_never_guessed(model: dict[str, object], reason: str) -> None:
    run_id = trained("llama", make_job(), tokens=1, model=model)
    scene.settle()

    assert (figures(run_id).mfu_ratio, figures(run_id).mfu_doubt) == (None, reason)


def test_scaling_is_against_the_smallest_runs_of_the_workload() -> None:
    programme = Workload.objects.create(name="pretraining", team_id=make.make_team("B"))
    small = trained("small", make_job("gpu-01"), tokens=3600 * 10_000)
    large = trained("large", make_job("gpu-02"), tokens=3600 * 16_000, gpus=16)
    other = trained("other", make_job("gpu-03"), tokens=1, model=MODEL | {"layers": 1})
    run_scene.give_to(programme.id, small, large, other)
    scene.settle()

    assert figures(small).scaling_ratio == 1
    assert figures(large).scaling_ratio == pytest.approx(0.8)
    assert figures(other).scaling_ratio == 1


def test_what_was_never_told_is_unknown_and_not_nothing() -> None:
    job_id = make_job()
    run_id = run_scene.make_run("silent", (job_id, scene.TEN, scene.TEN + scene.HOUR))
    scene.settle()

    found = figures(run_id)
    assert (found.effective_micros, found.team_id) == (H100_MICROS, make_team_id())
    assert found.tokens is found.tokens_per_second is found.mfu_ratio is None
    assert found.goodput_ratio is found.told_ratio is found.checkpoint_micros is None
    assert found.first_good_seconds is found.million_tokens_micros is None
    assert (found.began_at, found.ended_at) == (scene.TEN, scene.TEN + scene.HOUR)


def make_team_id() -> int:
    """Whose rule it is."""
    return int(RunFigures.objects.values_list("team_id", flat=True)[0] or 0)


def test_where_only_tensor_cores_were_watched_they_stand_for_mfu() -> None:
    node_id = scene.make_priced_node()
    uuids = scene.make_gpus(node_id)
    run_scene.make_tensor(uuids, worked=900.0, watched=3600.0)
    job_id = scene.make_job("1", node_id)
    run_id = run_scene.make_run("silent", (job_id, scene.TEN, scene.TEN + scene.HOUR))
    scene.settle()

    assert figures(run_id).mfu_ratio is None
    assert figures(run_id).tensor_active_ratio == pytest.approx(0.25)


def test_a_summary_that_folds_anew_is_figured_anew() -> None:
    run_id = trained("llama", make_job(), tokens=3600)
    scene.settle()
    later = scene.LATER + scene.HOUR
    RunSummary.objects.filter(run_id=run_id).update(tokens=7200, folded_at=later)

    assert figure_due_runs(at=later) == 1
    assert figures(run_id).tokens_per_second == 2
    assert figure_due_runs(at=later) == 0


def test_a_price_that_comes_late_is_in_the_figures_once_settled() -> None:
    pool_id = make.make_pool()
    node_id = make.make_node("bare", pool_id=pool_id, at=scene.LATER, started_at=scene.TEN, units=8)
    run_id = trained("llama", scene.make_job("1", node_id), tokens=1, good_checkpoints=1)
    scene.settle()
    before = figures(run_id)
    assert before.effective_micros is before.checkpoint_micros is None
    assert before.unpriced_milliseconds == 8 * 3_600_000

    scene.make_rate(pool_id)
    scene.settle()
    assert figures(run_id).checkpoint_micros == H100_MICROS


def slices_of_one_gpu(*compute_slices: int) -> tuple[int, list[str]]:
    """A priced node of one H100 that is cut up; its id and the UUIDs of the slices."""
    node_id = scene.make_priced_node(units=1)
    scene.make_gpus(node_id, 1)
    seen = [
        fleet.ObservedDevice(
            uuid=f"MIG-{place}", kind="mig", parent=f"GPU-{node_id}-0", profile=f"{compute}g",
            compute_slices=compute, memory_slices=compute, model="NVIDIA H100 80GB HBM3",
        )
        for place, compute in enumerate(compute_slices)
    ]  # fmt: skip
    fleet.register_devices(node_id=node_id, devices=seen, at=scene.LATER, seen_from=scene.TEN)
    return node_id, [each.uuid for each in seen]


def test_mfu_on_slices_is_of_their_part_of_the_peak() -> None:
    """Slices of three and of one seventh are no two GPUs: they have four sevenths of one's peak."""
    node_id, uuids = slices_of_one_gpu(3, 1, 2)
    job_id = scene.make_job("1", node_id, gpus=2, uuids=uuids[:2])
    run_id = trained("llama", job_id, tokens=3600 * 2_000, gpus=2)
    scene.settle()

    peak = DENSE_FLOPS * 4 / 7
    assert figures(run_id).mfu_ratio == pytest.approx(2_000 * 6 * 8e9 / peak)
    assert figures(run_id).mfu_doubt == ""


def test_mfu_on_slices_that_nobody_named_is_not_known() -> None:
    node_id, _ = slices_of_one_gpu(3, 1)
    run_id = trained("llama", scene.make_job("1", node_id, gpus=1), tokens=3600, gpus=1)
    scene.settle()

    assert figures(run_id).mfu_ratio is None
    assert figures(run_id).mfu_doubt.startswith("it ran on MIG slices, and what part of a GPU")
