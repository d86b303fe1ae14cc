"""Hours ahead: two weeks by the hour, then the forecast by the day, then a week again; each said, in budgets and headroom."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.economics.gates import Gate, GateName, serialize_gates
from apps.economics.hours import HOUR
from apps.planning import actions
from apps.planning.models import Forecast, ForecastMethod, ForecastSeries
from apps.planning.queries.ahead import LAST_WEEK, series_ahead
from apps.planning.queries.budget_figures import BudgetFigures, figures_of
from apps.planning.queries.budgets import BudgetStep, budget
from apps.planning.queries.forecasts import BY_DAY, BY_HOUR
from apps.planning.queries.headroom import HeadroomFigures, headroom_of, headroom_policies
from apps.planning.queries.series import SeriesKey
from tests import make
from tests.apps.console.people import signed_in, text_of
from tests.rest import with_token

pytestmark = pytest.mark.django_db

AT = datetime(2026, 3, 10, 10, tzinfo=UTC)
BY_HOUR_ENDS = AT + timedelta(days=14)
"""24 March at ten."""
DAYS_BEGIN = datetime(2026, 3, 9, tzinfo=UTC)
RATIOS = tuple(0.6 + place / 10 for place in range(9))
"""Of each quantile to the point: from 0.6 to 1.4."""


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture(scope="module")
def teams(of_module: None) -> tuple[int, int]:
    """Red of 10 an hour, and 480 a day in all that is forecast by the day; Blue of 1 an hour, not forecast by the day."""
    make.make_organisation()
    red, blue = make.make_team("Red"), make.make_team("Blue")
    plant(SeriesKey("spend", "team", str(red)), BY_HOUR, [10.0] * 336)
    plant(SeriesKey("spend", "team", str(red)), BY_DAY, [480.0] * 548)
    plant(SeriesKey("spend", "team", str(blue)), BY_HOUR, [1.0] * 336)
    return red, blue


def plant(series: SeriesKey, granularity: str, points: list[float], **given: Any) -> Forecast:
    """A forecast of these points, and of quantiles from 0.6 to 1.4 times them."""
    row, _ = ForecastSeries.objects.get_or_create(
        measure=series.measure, dimension=series.dimension, key=series.key
    )
    is_daily = granularity == BY_DAY
    values: dict[str, Any] = {
        "starts_at": DAYS_BEGIN if is_daily else AT,
        "method": ForecastMethod.LEVEL_SCENARIOS if is_daily else ForecastMethod.WEIGHTED_MEDIAN,
        "quantiles": [[ratio * point for point in points] for ratio in RATIOS],
    } | given
    return Forecast.objects.create(
        series=row, granularity=granularity, points=points, horizon=len(points), made_at=AT, digest="",
        history_from=AT, observed_hours=0, imported_hours=0, left_out_hours=0, recent=[], **values,
    )  # fmt: skip


def project(**given: Any) -> BudgetFigures:
    """A budget of March to May, in dollars."""
    budget_id = actions.add_budget(budget=new_project(**given), at=AT)
    (found,) = figures_of([budget(budget_id, None)], AT)
    return found


def new_project(**given: Any) -> actions.EnteredBudget:
    first, last = date(2026, 3, 1), date(2026, 5, 31)
    values: dict[str, Any] = {
        "name": "Launch", "scope": "team", "measure": "money", "recurrence": "project", "first_day": first,
        "last_day": last, "steps": (BudgetStep(first, Decimal(40_000)),),
    } | given  # fmt: skip
    return actions.EnteredBudget(**values)


def origins(found: BudgetFigures | HeadroomFigures) -> list[tuple[str, datetime, datetime]]:
    spans = found.rest.spans if isinstance(found, BudgetFigures) else found.spans
    return [(each.origin, each.starts_at, each.ends_at) for each in spans]


def test_a_project_of_three_months_goes_on_by_the_day_where_the_hours_end(teams) -> None:
    found = project(key=str(teams[0]))
    # 24 March after ten has 14 hours of its 480; then seven days of March, April and May.
    rest = 336 * 10 + 480 * 14 / 24 + (7 + 30 + 31) * 480
    assert found.rest.expected == rest * 1_000_000
    june = datetime(2026, 6, 1, tzinfo=UTC)
    assert origins(found) == [(BY_HOUR, AT, BY_HOUR_ENDS), (BY_DAY, BY_HOUR_ENDS, june)]
    assert found.rest.interval == (
        pytest.approx(0.6 * rest * 1_000_000), pytest.approx(1.4 * rest * 1_000_000),
    )  # fmt: skip
    assert found.chance is not None
    # 40,000 are 1.087 of the rest: between the levels 0.5 (1.0) and 0.6 (1.1).
    assert found.chance.low == pytest.approx(1 - (0.5 + (40_000 / rest - 1)))
    assert not found.is_exceeding
    path = f"/budgets/{found.budget.id}"
    page = text_of(signed_in("finance").get(path).content.decode())
    assert "forecast by the hour to 24 Mar 2026, by the day to 31 May 2026" in page
    answer = with_token("manage").get(f"{path[1:]}/headroom").json()
    assert [each["origin"] for each in answer["rest_spans"]] == [BY_HOUR, BY_DAY]
    assert answer["rest_spans"][1] == {
        "series": "spend:team=Red",
        "origin": "day",
        "forecast_id": Forecast.objects.get(granularity=BY_DAY).pk,
        "starts_at": "2026-03-24T10:00:00Z",
        "ends_at": "2026-06-01T00:00:00Z",
    }


def test_a_budget_says_what_its_rest_was_held_against(teams) -> None:
    """A forecast that lost to its baseline is said above the budget, and over REST."""
    grey = make.make_team("Grey")
    failed = Gate(GateName.BASELINE, is_passed=False, says="it lost", fallback="mean_28")
    passed = Gate(GateName.COVERAGE, is_passed=True, says="76 % of what came")
    series = SeriesKey("spend", "team", str(grey))
    plant(series, BY_HOUR, [1.0] * 336, gates=serialize_gates([passed, failed]))
    plant(series, BY_DAY, [24.0] * 548, gates=serialize_gates([passed]))
    found = project(key=str(grey))
    page = text_of(signed_in("finance").get(f"/budgets/{found.budget.id}").content.decode())
    assert "Not passed: Spend of team Grey by the hour: it lost: mean_28." in page
    assert "Passed: Spend of team Grey by the hour: 76 % of what came, and so of 1 more." in page
    answer = with_token("manage").get(f"budgets/{found.budget.id}/headroom").json()
    assert [(each["name"], each["is_passed"]) for each in answer["rest_gates"]] == [
        ("coverage", True),
        ("baseline", False),
    ]
    # Of a forecast whose last week comes again nothing is counted twice.
    Forecast.objects.filter(granularity=BY_DAY).delete()
    again = figures_of([budget(found.budget.id, None)], AT)[0].rest
    assert [span.origin for span in again.spans] == [BY_HOUR, LAST_WEEK]
    assert [gate.says for gate in again.gates] == [
        "Spend of team Grey by the hour: 76 % of what came",
        "Spend of team Grey by the hour: it lost",
    ]
    # Without a forecast it is a run rate, or nothing: neither was tried on what came.
    bare = project(key=str(make.make_team("Bare")), name="Another")
    assert [gate.is_passed for gate in bare.rest.gates] == [None]


def test_without_a_forecast_by_the_day_the_last_week_comes_again_and_is_called_so(teams) -> None:
    found = project(key=str(teams[1]))
    hours = (datetime(2026, 6, 1, tzinfo=UTC) - AT) // HOUR
    assert found.rest.expected == hours * 1_000_000
    assert [origin for origin, _, _ in origins(found)] == [BY_HOUR, LAST_WEEK]
    page = text_of(signed_in("finance").get(f"/budgets/{found.budget.id}").content.decode())
    assert "by the hour to 24 Mar 2026, the last week again to 31 May 2026" in page


def test_the_mean_of_a_week_is_no_forecast_of_months(teams) -> None:
    blue = SeriesKey("spend", "team", str(teams[1]))
    plant(blue, BY_DAY, [9_600.0] * 548, method=ForecastMethod.LAST_WEEK, quantiles=[])
    found = project(key=blue.key)
    assert [origin for origin, _, _ in origins(found)] == [BY_HOUR, LAST_WEEK]
    assert found.rest.interval is not None


def test_of_a_team_and_one_below_it_each_goes_on_as_it_can(teams) -> None:
    red = make.make_team("Green")
    below = make.make_team("Green, below", parent_id=red)
    for team_id, has_days in ((red, True), (below, False)):
        series = SeriesKey("spend", "team", str(team_id))
        plant(series, BY_HOUR, [1.0] * 336)
        if has_days:
            plant(series, BY_DAY, [48.0] * 548)
    found = project(key=str(red))
    page = text_of(signed_in("finance").get(f"/budgets/{found.budget.id}").content.decode())
    assert (
        "by the hour to 24 Mar 2026, by the day to 31 May 2026 (1 of 2 series), "
        "the last week again to 31 May 2026 (1 of 2 series)"
    ) in page


def test_days_alone_are_taken_where_no_hour_is_forecast_any_more(teams) -> None:
    series = SeriesKey("gpu_hours", "team", str(teams[1]))
    plant(series, BY_HOUR, [7.0] * 336, starts_at=AT - timedelta(days=20))
    plant(series, BY_DAY, [24.0 * place for place in range(80)])
    april = datetime(2026, 4, 1, tzinfo=UTC)
    found = series_ahead({series: april}, AT)[series]
    assert found.hours.points[24 + 10] == 1.0, "of the second day, evenly"
    ((span),) = found.spans_within(AT, april)
    assert (span.origin, span.starts_at, span.ends_at) == (BY_DAY, AT, april)


def test_days_alone_bring_the_spread_of_their_totals(teams) -> None:
    series = SeriesKey("gpu_hours", "team", str(teams[1]))
    of_days = [24.0] * 80
    sums = [[ratio * 24.0 * day for day in range(1, 81)] for ratio in RATIOS]
    plant(series, BY_DAY, of_days, expected=of_days, sums=sums)
    april = datetime(2026, 4, 1, tzinfo=UTC)
    found = series_ahead({series: april}, AT)[series].hours
    days = len(found.ends)
    assert found.ends == [24 * day for day in range(1, days + 1)]
    for ratio, spread in zip(RATIOS, found.spreads.values(), strict=True):
        assert spread == pytest.approx([(ratio - 1) * 24 * day for day in range(1, days + 1)])


def test_a_moment_that_is_over_is_looked_at_by_the_forecast_of_then(teams) -> None:
    """A week is reviewed after it ended, and a newer forecast begins later than that moment."""
    plant(
        SeriesKey("spend", "team", str(teams[1])),
        BY_HOUR,
        [9.0] * 336,
        starts_at=AT + timedelta(days=2),
    )
    found = project(key=str(teams[1]))
    assert found.rest.expected is not None
    assert found.exceeds_at(AT) is None or found.exceeds_at(AT) >= AT
    series = SeriesKey("spend", "team", str(teams[1]))
    ahead = series_ahead({series: AT + timedelta(days=1)}, AT)[series]
    assert (ahead.starts_at, ahead.hours.points[0]) == (AT, 1.0)
    green = make.make_team("Grey")
    series = SeriesKey("spend", "team", str(green))
    plant(series, BY_HOUR, [9.0] * 336, starts_at=AT + timedelta(days=2))
    assert series_ahead({series: AT + timedelta(days=1)}, AT) == {}


def policy(pool_id: int) -> HeadroomFigures:
    """Of a pool, as dear short as idle, 60 days ahead."""
    policy = actions.EnteredHeadroomPolicy(
        name="Ahead", dimension="pool", key=str(pool_id), pool_ids=(), lead_days=60,
        short_cost=Decimal(1), idle_cost=Decimal(1),
    )  # fmt: skip
    actions.add_headroom_policy(policy=policy, at=AT)
    (found,) = headroom_of(headroom_policies(), AT)
    return found


def test_a_lead_time_of_sixty_days_has_the_growth_of_the_days_in_the_shape_of_the_hours(
    teams,
) -> None:
    pool_id = make.make_pool("h100")
    series = SeriesKey("gpu_hours", "pool", str(pool_id))
    # From six to six 6 GPUs, else 2: 96 GPU-hours a day; by the day 960 from 1 April on.
    hours = [6.0 if 6 <= (AT + place * HOUR).hour < 18 else 2.0 for place in range(336)]
    plant(series, BY_HOUR, hours)
    grown = (date(2026, 4, 1) - DAYS_BEGIN.date()).days
    plant(series, BY_DAY, [96.0] * grown + [960.0] * (548 - grown))
    found = policy(pool_id)
    assert found.busiest == pytest.approx(60)
    # Each hour is alike likely from half to one and a half times its point. Of the 1,440 hours 518 before April are
    # below 10 for sure; of the 462 that ask for 20 then, 202 make them half: 10 + 20 × 202 ÷ 462 = 18.7.
    assert found.for_cost == 19
    end = AT + timedelta(days=60)
    assert origins(found) == [(BY_HOUR, AT, BY_HOUR_ENDS), (BY_DAY, BY_HOUR_ENDS, end)]
    page = text_of(signed_in("finance").get("/headroom").content.decode())
    assert "by the hour to 24 Mar 2026, by the day to 9 May 2026" in page
    near = Forecast.objects.filter(granularity=BY_DAY)
    near.update(method=ForecastMethod.LAST_WEEK)
    (flat,) = headroom_of(headroom_policies(), AT)
    assert (flat.busiest, flat.spans[-1].origin) == (6.0, LAST_WEEK)
