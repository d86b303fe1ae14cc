"""Forecasts of the organisation and of its parts add up, beside what each says by its own history."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO
from math import sin

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from apps.economics.hours import HOUR
from apps.planning import actions
from apps.planning.actions.forecasts import make_forecasts
from apps.planning.models import Forecast, Granularity, Reconciliation
from apps.planning.queries.forecasts import BY_DAY, forecast_hours, forecasts
from apps.planning.queries.reconciliation import (
    ReconciledWay,
    ReconciliationFact,
    reconciliation_of,
)
from apps.planning.queries.series import SeriesKey
from apps.planning.solvers.daily_forecasting import daily_forecast_fields
from apps.planning.solvers.forecasting import forecast_fields
from apps.planning.solvers.reconciling import RECONCILERS
from tests import make

pytestmark = pytest.mark.django_db

DAY_ONE = datetime(2026, 3, 2, tzinfo=UTC)
DAYS = 40
MADE_AT = DAY_ONE + timedelta(days=DAYS, hours=5)
WHOLE = SeriesKey("gpu_hours")
POOLS = SeriesKey("gpu_hours", "pool", "1"), SeriesKey("gpu_hours", "pool", "2")
TEAM = SeriesKey("gpu_hours", "team", "1")


@pytest.fixture(scope="module", autouse=True)
def organisation(of_module: None) -> None:
    make.make_organisation()


def level(hour: int, of: int) -> float:
    """Two of them that wander by other curves."""
    return 40 * of + 10 * sin(hour / (3 + of)) + hour * (5 + 2 * of) % 7


def bring(series: SeriesKey, values: dict[int, float]) -> None:
    points = [(DAY_ONE + hour * HOUR, value) for hour, value in values.items()]
    actions.import_history(series=series, points=points, at=DAY_ONE + timedelta(days=90))


def bring_all(first: int = 0, hours: int = DAYS * 24, unclaimed: float = 0.0) -> None:
    """Two pools make up the organisation; its one team has the first, and of the rest nobody has `unclaimed`."""
    span = range(first, first + hours)
    bring(POOLS[0], {hour: level(hour, 1) for hour in span})
    bring(POOLS[1], {hour: level(hour, 2) for hour in span})
    bring(WHOLE, {hour: level(hour, 1) + level(hour, 2) for hour in span})
    bring(TEAM, {hour: level(hour, 1) + level(hour, 2) - unclaimed for hour in span})


def pass_at(at: datetime = MADE_AT) -> None:
    make_forecasts(
        maker=forecast_fields, daily=daily_forecast_fields, reconcilers=RECONCILERS, at=at
    )


def reconciled(series: SeriesKey, granularity: str = "hour") -> list[float | None]:
    row = Forecast.objects.filter(
        series__measure=series.measure,
        series__dimension=series.dimension,
        series__key=series.key,
        granularity=granularity,
    ).latest("starts_at")
    return row.reconciled


def fact(granularity: str = "hour") -> ReconciliationFact:
    (whole,) = (each for each in forecasts(None, granularity=granularity) if each.series == WHOLE)
    found = reconciliation_of(whole)
    assert found is not None
    return found


def way(dimension: str, granularity: str = "hour") -> ReconciledWay:
    return next(each for each in fact(granularity).ways if each.dimension == dimension)


@pytest.mark.parametrize("granularity", ["hour", "day"])
def test_pools_and_teams_add_up_to_one_organisation_and_keep_their_own_forecasts(
    granularity: str,
) -> None:
    bring_all(unclaimed=5.0)
    pass_at()
    whole, *pools = (reconciled(each, granularity) for each in (WHOLE, *POOLS))
    assert len(whole) == (336 if granularity == "hour" else 548)
    for of_whole, one, other in zip(whole, *pools, strict=True):
        assert one + other == pytest.approx(of_whole)  # type: ignore[operator]
    rest = Reconciliation.objects.get(whole__granularity=granularity).ways["team"]["rest"]
    for of_whole, one, other in zip(
        whole, reconciled(TEAM, granularity), rest["reconciled"], strict=True
    ):
        assert one + other == pytest.approx(of_whole)
    teams, steps = way("team", granularity), 24 if granularity == "hour" else 28
    assert teams.reconciled_total == pytest.approx(fact(granularity).reconciled_total)
    assert teams.rest == pytest.approx(5.0 * (24 if granularity == "hour" else 24 * 28), rel=0.05)
    (of_pool, *_) = forecasts(None, POOLS[0], granularity)
    own = forecast_fields([level(hour, 1) for hour in range(DAYS * 24)])["points"]
    hours = forecast_hours(of_pool.id, None)
    assert hours is not None
    if granularity == "hour":
        assert [hour.value for hour in hours.hours] == own
    assert hours.hours[steps].reconciled == reconciled(POOLS[0], granularity)[steps]


def test_errors_before_and_after_are_kept_by_level() -> None:
    bring_all()
    pass_at()
    found = fact()
    assert found.errors[24].own_error is not None
    pools = way("pool").errors[24]
    assert pools.own_error is not None
    assert pools.reconciled_error is not None
    assert 0 < pools.reconciled_error < 2 * pools.own_error
    assert fact(BY_DAY).errors == {}, "by day what came tells"


def test_what_came_is_held_against_both() -> None:
    bring_all()
    pass_at()
    bring_all(DAYS * 24, 24)
    pass_at(MADE_AT + timedelta(days=1))
    newest, first = forecasts(None, POOLS[0])
    moved = Forecast.objects.get(pk=first.id).reconciled
    errors = [abs(level(DAYS * 24 + lead, 1) - moved[lead]) for lead in range(24)]
    assert first.realised_reconciled_error == pytest.approx(sum(errors) / 24)
    assert newest.adds_up_to_id != first.adds_up_to_id


def test_a_part_of_which_too_little_is_known_is_left_out_and_the_others_add_up_with_a_rest() -> (
    None
):
    bring_all()
    bring(SeriesKey("gpu_hours", "pool", "3"), {DAYS * 24 - 1 - hour: 0.0 for hour in range(30)})
    pass_at()
    pools = way("pool")
    assert [why for _, why in pools.left_out] == ["too little of its history is known"]
    assert pools.reconciled_total == pytest.approx(fact().reconciled_total)
    assert reconciled(SeriesKey("gpu_hours", "pool", "3")) == []


def test_parts_that_come_to_more_than_the_whole_are_said_and_not_forced() -> None:
    bring_all()
    bring(TEAM, dict.fromkeys(range(DAYS * 24), 500.0))
    pass_at()
    assert way("team").refusal.startswith("the parts’ histories come to more than the whole’s")
    assert way("team").reconciled_total is None
    assert reconciled(TEAM) == []
    assert way("pool").reconciled_total == pytest.approx(fact().reconciled_total)


def test_a_whole_of_which_too_little_is_known_adds_nothing_up_and_stops_nothing() -> None:
    bring(POOLS[0], {hour: level(hour, 1) for hour in range(DAYS * 24)})
    bring(WHOLE, {DAYS * 24 - 1: 120.0})
    pass_at()
    assert way("pool").refusal == "too little is known of the whole"
    assert reconciled(WHOLE) == reconciled(POOLS[0]) == []


def test_rest_and_the_command_have_what_adds_up() -> None:
    bring_all()
    pass_at()
    kept = reconciled(WHOLE)
    out = StringIO()
    asked = ("--series", "gpu_hours", "--horizon", "24", "--json")
    call_command("forecast", *asked, stdout=out)
    assert [point["reconciled"] for point in json.loads(out.getvalue())["points"]] == kept[:24]
    secret = make.make_token("read", name="all").secret
    client = APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}")
    (row,) = client.get("/api/v1/forecasts", {"series": "gpu_hours"}).json()["results"]
    assert row["adds_up_to"] == row["id"]
    hours = client.get(f"/api/v1/forecasts/{row['id']}/hours").json()["results"]
    assert [hour["reconciled"] for hour in hours] == kept[: len(hours)]
    bring(WHOLE, {DAYS * 24: 120.0})
    out = StringIO()
    call_command("forecast", *asked, stdout=out)
    points = json.loads(out.getvalue())["points"]
    assert {point["reconciled"] for point in points} == {None}, "it is of other hours"


def test_without_a_new_forecast_nothing_is_added_up_anew() -> None:
    bring_all()
    pass_at()
    (first,) = Reconciliation.objects.filter(whole__granularity=Granularity.HOUR)
    pass_at(MADE_AT + HOUR)
    assert Reconciliation.objects.get(pk=first.pk).made_at == MADE_AT


def test_parts_that_end_at_other_hours_add_up_where_all_are_forecast() -> None:
    bring_all()
    bring(POOLS[1], {DAYS * 24 + hour: 80.0 for hour in range(3)})
    pass_at()
    whole, later = reconciled(WHOLE), reconciled(POOLS[1])
    assert whole[:3] == [None] * 3
    assert later[-3:] == [None] * 3
    first = reconciled(POOLS[0])[3]
    assert first is not None
    assert later[0] is not None
    assert first + later[0] == pytest.approx(whole[3])
