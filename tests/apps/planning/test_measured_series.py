"""What is forecast is what was settled, asked for and counted: unknown hours are no part of it."""

from datetime import datetime
from fractions import Fraction

import pytest

from apps.ledger.actions.partitions import ensure_month
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from apps.planning.queries.measured import HISTORY_HOURS, MeasuredSeries, measured_series
from apps.planning.queries.series import SeriesKey, is_series_visible, series_name
from apps.workloads.models import Job
from tests import make
from tests.apps.ledger import scene
from tests.apps.unit_economics import service_scene as services
from tests.apps.unit_economics.service_scene import GPU_HOUR_MS, HOUR, MIDNIGHT

pytestmark = pytest.mark.django_db

UNTIL = MIDNIGHT + 24 * HOUR
ACTIVE, IDLE, UNOBSERVED, UNALLOCATED = 1, 2, 3, 6


def at(number: int) -> datetime:
    return MIDNIGHT + number * HOUR


@pytest.fixture(scope="module")
def world(of_module: None) -> dict[str, int]:
    """Ten hours of two teams on a pool; a few of them not settled, not observed or without a price."""
    make.make_organisation()
    ensure_month(month=MIDNIGHT.date().replace(day=1))
    ids = {
        "red": make.make_team("Red"),
        "blue": make.make_team("Blue"),
        "pool": make.make_pool("h100", gpu_model="H100"),
        "cores": make.make_pool("cpus", unit="core"),
    }
    ids["chat"] = services.make_service(ids["red"])
    for number in range(10):
        status = "provisional" if number == 4 else "estimated"
        state = UNOBSERVED if number == 5 else ACTIVE
        held = {"hour": at(number), "status": status, "ms": 2 * GPU_HOUR_MS}
        services.make_line(ids["pool"], ids["red"], ids["chat"], state=state, **held)
        services.make_line(ids["pool"], ids["red"], None, state=UNALLOCATED, **held)
        services.make_line(ids["cores"], ids["red"], None, state=ACTIVE, **held)
        if number in (2, 3):
            price = {"micros": None} if number == 3 else {}
            services.make_line(ids["pool"], ids["blue"], None, state=IDLE, hour=at(number), **price)
    services.count(ids["chat"], at(1), requests=40, prompt_tokens=900, output_tokens=100)
    services.count(ids["chat"], at(2), requests=7, prompt_tokens=None, output_tokens=1)
    services.count(ids["chat"], at(2), source="engine", requests=9, prompt_tokens=None)
    return ids


def found(key: SeriesKey) -> MeasuredSeries:
    return measured_series(MIDNIGHT, UNTIL)[key]


def by_number(series: MeasuredSeries) -> dict[int, float]:
    return {(hour - MIDNIGHT) // HOUR: value for hour, value in series.values.items()}


def test_provisional_and_unobserved_hours_are_left_out_of_gpu_hours(world) -> None:
    series = found(SeriesKey("gpu_hours", "pool", str(world["pool"])))
    assert by_number(series) == {0: 2, 1: 2, 2: 3, 3: 3, 6: 2, 7: 2, 8: 2, 9: 2}
    assert series.left_out == 2
    whole = found(SeriesKey("gpu_hours"))
    assert whole.values == series.values, "time of cores is no time of GPUs"
    assert found(SeriesKey("gpu_hours", "gpu_model", "H100")).values == series.values
    serving = found(SeriesKey("gpu_hours", "workload_class", "serving"))
    assert set(serving.values.values()) == {2.0}


def test_a_team_without_a_line_in_a_settled_hour_held_nothing_from_its_first_hour_on(world) -> None:
    blue = by_number(found(SeriesKey("gpu_hours", "team", str(world["blue"]))))
    assert blue == {2: 1, 3: 1, 5: 0, 6: 0, 7: 0, 8: 0, 9: 0}


def test_spend_of_an_hour_with_an_unknown_price_is_unknown(world) -> None:
    blue = found(SeriesKey("spend", "team", str(world["blue"])))
    assert by_number(blue) == {2: 1, 5: 0, 6: 0, 7: 0, 8: 0, 9: 0}
    assert 3 not in by_number(found(SeriesKey("spend")))


def test_requests_are_those_of_the_source_that_counted_more_and_tokens_known_throughout(
    world,
) -> None:
    key = str(world["chat"])
    assert by_number(found(SeriesKey("requests", "service", key))) == {1: 40, 2: 9}
    assert by_number(found(SeriesKey("tokens", "service", key))) == {1: 1000}


def test_an_hour_that_waits_to_be_settled_anew_is_left_out(world) -> None:
    # As when a year was imported: what waits of before the forecast's days hides nothing that waits in them.
    earlier = [at(-number) for number in range(1, HISTORY_HOURS + 1)]
    ChangedHour.objects.bulk_create(
        ChangedHour(pass_id=Pass.SPLIT, unit=1, hour=hour, revision=1) for hour in (*earlier, at(7))
    )
    assert 7 not in by_number(found(SeriesKey("gpu_hours")))
    assert 7 not in by_number(found(SeriesKey("spend")))


def test_pools_where_nothing_was_ever_observed_go_by_what_jobs_held(world) -> None:
    pool = make.make_pool("a100", gpu_model="A100")
    for number in range(3):
        services.make_line(pool, world["red"], None, state=UNOBSERVED, hour=at(number))
    series = found(SeriesKey("gpu_hours", "pool", str(pool)))
    assert by_number(series) == {0: 1, 1: 1, 2: 1}


def test_what_waited_is_demand_of_the_hours_it_waited_in(world) -> None:
    node = make.make_node("gpu-01", pool_id=world["pool"], at=MIDNIGHT, started_at=MIDNIGHT)
    job = scene.make_job("1", node, gpus=Fraction(8), from_=at(2) + HOUR / 2, to=at(3))
    Job.objects.filter(id=job).update(submitted_at=at(0) + HOUR / 4)
    ChangedHour.objects.all().delete()
    held = SeriesKey("gpu_hours", "pool", str(world["pool"]))
    series = found(held)
    assert by_number(series) == {0: 8, 1: 10, 2: 7, 3: 3, 6: 2, 7: 2, 8: 2, 9: 2}
    assert series.queue == "known"
    assert by_number(found(SeriesKey("gpu_hours"))) == by_number(series)
    waits = found(SeriesKey("queue_wait", "pool", str(world["pool"])))
    assert by_number(waits) == {2: 2.25}
    other = scene.make_job("2", node, from_=at(2), to=at(3))
    Job.objects.filter(id=other).update(submitted_at=None)
    assert found(held).queue == "in_part"
    assert by_number(found(SeriesKey("queue_wait", "pool", str(world["pool"])))) == {2: 2.25}
    blue = SeriesKey("gpu_hours", "team", str(world["blue"]))
    assert found(blue).queue == "unknown"


def test_who_sees_a_series_is_its_team_and_the_team_of_its_service(world) -> None:
    red = frozenset({world["red"]})
    seen = {
        series_name(key) for key in measured_series(MIDNIGHT, UNTIL) if is_series_visible(key, red)
    }
    assert seen == {
        "gpu_hours:team=Red",
        "spend:team=Red",
        "requests:service=chat-api",
        "tokens:service=chat-api",
    }
