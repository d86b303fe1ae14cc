"""The day's lines of jobs that carried runs are divided over these, and nothing is lost or twice."""

from datetime import timedelta

import pytest
from django.db.models import Sum

from apps.economics.run_time import Bucket
from apps.fleet.models import Pool
from apps.unit_economics.models import RunDay
from tests import make
from tests.apps.ledger import scene
from tests.apps.unit_economics import run_scene

pytestmark = pytest.mark.django_db

H100_MICROS = 98_320_000
MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _fleet() -> None:
    make.make_organisation()
    make.make_cluster()
    scene.make_rule("research", make.make_team())


def cost_of(run_id: int, **given: object) -> int | None:
    """What a run's rows sum to."""
    found = RunDay.objects.filter(run_id=run_id, **given)
    micros: int | None = found.aggregate(micros=Sum("effective_micros"))["micros"]
    return micros


def test_a_run_that_had_its_job_to_itself_costs_what_the_job_cost() -> None:
    node_id = scene.make_priced_node()
    job_id = scene.make_job("1", node_id)
    run_id = run_scene.make_run("llama", (job_id, scene.TEN, scene.TEN + scene.HOUR))
    scene.settle()

    (row,) = RunDay.objects.filter(run_id=run_id)
    assert (row.day, row.job_id, row.bucket) == (scene.TEN.date(), job_id, Bucket.UNTOLD)
    assert row.effective_micros == row.marginal_micros == row.list_micros == H100_MICROS
    assert row.billed_micros is None
    assert row.unit_milliseconds == 8 * 3_600_000


def test_where_the_time_went_divides_the_cost() -> None:
    node_id = scene.make_priced_node()
    job_id = scene.make_job("1", node_id)
    run_id = run_scene.make_run("llama", (job_id, scene.TEN, scene.TEN + scene.HOUR))
    run_scene.tell(run_id, job_id, {Bucket.PRODUCTIVE: 45, Bucket.DATA_WAIT: 15})
    scene.settle()

    by_bucket = dict(RunDay.objects.values_list("bucket", "effective_micros"))
    assert by_bucket == {
        Bucket.PRODUCTIVE: H100_MICROS * 3 // 4,
        Bucket.DATA_WAIT: H100_MICROS // 4,
    }


def test_time_of_the_job_in_no_run_is_in_no_row() -> None:
    node_id = scene.make_priced_node()
    job_id = scene.make_job("1", node_id)
    half = scene.TEN + 30 * MINUTE
    run_id = run_scene.make_run("llama", (job_id, half, scene.TEN + scene.HOUR))
    scene.settle()

    assert cost_of(run_id) == H100_MICROS // 2
    assert RunDay.objects.get().unit_milliseconds == 4 * 3_600_000


def test_two_runs_on_one_job_never_count_a_gpu_twice() -> None:
    node_id = scene.make_priced_node()
    job_id = scene.make_job("1", node_id)
    first = run_scene.make_run("one", (job_id, scene.TEN, scene.TEN + scene.HOUR))
    half = scene.TEN + 30 * MINUTE
    second = run_scene.make_run("two", (job_id, half, scene.TEN + scene.HOUR))
    scene.settle()

    assert cost_of(first) == H100_MICROS * 3 // 4
    assert cost_of(second) == H100_MICROS // 4


def test_a_run_is_all_its_jobs_on_any_pool_and_restarted() -> None:
    first = scene.make_priced_node()
    second = scene.make_priced_node("gpu-02", pool_id=make.make_pool("elsewhere"))
    hour = scene.TEN + scene.HOUR
    jobs = (
        scene.make_job("1", first),
        scene.make_job("2", second, from_=hour, to=hour + scene.HOUR),
    )
    run_id = run_scene.make_run(
        "llama", (jobs[0], scene.TEN, hour), (jobs[1], hour, hour + scene.HOUR)
    )
    scene.settle(ends_at=scene.TEN + 2 * scene.HOUR)

    assert cost_of(run_id) == 2 * H100_MICROS
    assert cost_of(run_id, job_id=jobs[1]) == H100_MICROS


def test_what_has_no_price_is_unknown_and_its_time_is_told() -> None:
    node_id = make.make_node(
        "bare", pool_id=make.make_pool(), at=scene.LATER, started_at=scene.TEN, units=8
    )
    job_id = scene.make_job("1", node_id)
    run_scene.make_run("llama", (job_id, scene.TEN, scene.TEN + scene.HOUR))
    scene.settle()

    row = RunDay.objects.get()
    assert (row.effective_micros, row.list_micros, row.marginal_micros) == (None, None, None)
    assert row.unpriced_milliseconds == row.unit_milliseconds == 8 * 3_600_000


def test_energy_is_the_jobs_part_of_what_its_gpus_drew() -> None:
    node_id = scene.make_priced_node()
    uuids = scene.make_gpus(node_id)
    run_scene.make_energy(uuids, joules=1000.0)
    job_id = scene.make_job("1", node_id, gpus=2, uuids=uuids[:2], to=scene.TEN + 30 * MINUTE)
    whole = run_scene.make_run("llama", (job_id, scene.TEN, scene.TEN + 15 * MINUTE))
    scene.settle()

    energy = RunDay.objects.filter(run_id=whole).aggregate(joules=Sum("energy_joules"))["joules"]
    assert energy == pytest.approx(2 * 1000 / 2 / 2)


def test_energy_is_unknown_where_no_meter_told() -> None:
    job_id = scene.make_job("1", scene.make_priced_node())
    run_scene.make_run("llama", (job_id, scene.TEN, scene.TEN + scene.HOUR))
    scene.settle()

    assert RunDay.objects.get().energy_joules is None


def test_owned_hardware_adds_only_its_power() -> None:
    scene.make_owned_plan("dgx")
    node_id = scene.make_priced_node("gpu-09", pool_id=Pool.objects.get(name="pool of dgx").id)
    run_scene.make_energy(scene.make_gpus(node_id), joules=3_600_000.0)
    job_id = scene.make_job("1", node_id)
    run_scene.make_run("llama", (job_id, scene.TEN, scene.TEN + scene.HOUR))
    scene.settle()

    row = RunDay.objects.get()
    charge = scene.charge(node_id)
    assert row.marginal_micros == charge.marginal_micros
    assert 0 < (row.marginal_micros or 0) < (row.effective_micros or 0)


def test_settling_again_writes_the_same_rows() -> None:
    node_id = scene.make_priced_node()
    job_id = scene.make_job("1", node_id)
    run_id = run_scene.make_run("llama", (job_id, scene.TEN, scene.TEN + scene.HOUR))
    scene.settle()
    scene.recharge()
    scene.remark(node_id, scene.TEN, scene.TEN + scene.HOUR)
    scene.settle()

    assert cost_of(run_id) == H100_MICROS
    assert RunDay.objects.count() == 1
