"""Spend that creeps over its budget or over last year is told once, against that line; a season or room in a budget is none."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import pi, sin
from typing import Any

import numpy as np
import pytest
from django.db.models import F

from apps.economics.spend_detectors import SpendDetector
from apps.ledger.models import LedgerDay, LedgerPoolDay, LedgerTeamDay, LedgerUserDay
from apps.planning.actions.budgets import EnteredBudget, add_budget
from apps.planning.queries.budgets import BudgetStep
from apps.review import actions
from apps.review.actions import spend_detection
from apps.review.queries.spend_anomalies import SpendFact, SpendWanted, spend_anomalies
from apps.review.queries.spend_excess import OwnLines, ToldBefore, over_own_line
from apps.review.queries.spend_own_lines import BudgetPace
from apps.review.queries.spend_series import WHOLE, SpendSeries
from apps.review.queries.spend_words import describe_detection, line_words, spend_title
from tests import make
from tests.apps.review.spend_history import FIRST, Dollars, Spender, usual, write_days

pytestmark = pytest.mark.django_db
AT = datetime(2027, 12, 1, 12, tzinfo=UTC)
BUDGET_FROM = 55
"""The first of March."""
A_DAY = 200.0
"""Dollars on a working day that has the usual 100 GPU-hours; 174 on the mean of a week."""
OF_WEEK = A_DAY * 6.1 / 7


class Team:
    """Red, in one pool, beside Blue, whose spend stays as it is."""

    def __init__(self) -> None:
        make.make_organisation()
        self.id, self.other = make.make_team("Red"), make.make_team("Blue")
        self.pool = make.make_pool("h100", cluster_id=make.make_cluster("atlas"))

    def spend(self, hours: Dollars, last: int, first: int = 0) -> None:
        write_days(
            [
                Spender(self.id, None, self.pool, hours),
                Spender(self.other, None, self.pool, usual(7, 300.0), user="bob"),
            ],
            first,
            last,
        )

    def plan(self, dollars_a_day: float, recurrence: str = "project") -> None:
        """So much a day, for 200 days, or each month of 30 days on the mean."""
        first = FIRST + timedelta(days=BUDGET_FROM)
        amount = Decimal(round(dollars_a_day * (200 if recurrence == "project" else 30.4)))
        last = first + timedelta(days=199) if recurrence == "project" else None
        budget = EnteredBudget(
            "Red 2026", "team", str(self.id), "money", recurrence, first, last,
            (BudgetStep(first, amount),),
        )  # fmt: skip
        add_budget(budget=budget, at=datetime(2026, 1, 5, tzinfo=UTC))


@pytest.fixture
def red() -> Team:
    return Team()


def look(first: int, last: int) -> None:
    for day in range(first, last + 1):
        actions.detect_spend_anomalies(day=FIRST + timedelta(days=day), at=AT, zone="UTC")


def told(found: SpendDetector | None = None) -> list[SpendFact]:
    return [
        each for each in spend_anomalies(SpendWanted(), AT) if found is None or each.look == found
    ]


def creeping(since: int, a_day: float, own: Dollars | None = None) -> Dollars:
    """More each day from one on."""
    spent = own or usual(0)
    return lambda day: spent(day) * (1 + a_day) ** max(0, day - since)


def seasonal(own: Dollars) -> Dollars:
    return lambda day: own(day) * (1 + 0.3 * sin(2 * pi * day / 364))


def adds_up(found: SpendFact) -> None:
    assert found.spent_micros - found.expected_micros == found.excess_micros > 0
    assert sum(each["micros"] for each in found.parts) == found.excess_micros
    for drivers in found.drivers:
        assert sum(each["micros"] for each in drivers["rows"]) == found.excess_micros


@pytest.mark.parametrize("recurrence", ["project", "monthly"])
def test_a_slow_creep_over_a_budget_is_told_once_against_its_pace(
    red: Team, recurrence: str
) -> None:
    """A quarter of a per cent a day, which no look within 200 days takes for news."""
    red.spend(creeping(BUDGET_FROM + 14, 0.0025), 170)
    red.plan(1.05 * OF_WEEK, recurrence)
    look(120, 170)
    (found,) = told()
    assert (found.subject, found.name, found.look) == ("team", "Red", SpendDetector.BUDGET)
    adds_up(found)
    paced = 1.05 * OF_WEEK * 1e6 * found.days
    assert found.expected_micros == pytest.approx(
        paced, rel=0.02 if recurrence == "monthly" else 0.001
    )
    assert found.effect_ratio == pytest.approx(found.spent_micros / paced - 1, abs=0.03)
    assert found.effect_ratio >= 0.09
    # It went over the pace when it had grown by five per cent.
    assert found.over_since is not None
    went_over = FIRST + timedelta(days=BUDGET_FROM + 14 + 20)
    assert abs((found.over_since - went_over).days) <= 14
    assert line_words(found) == "the pace of its budget Red 2026"
    assert "over its budget's pace in" in spend_title(found, "USD")
    assert describe_detection(found).startswith("found creeping over its budget, since ")


RESTED_DAYS = 63


@pytest.mark.parametrize("with_rows", [True, False])
def test_what_rested_when_its_budget_began_is_told_against_the_pace_in_dollars(
    red: Team,
    *,
    with_rows: bool,
) -> None:
    own, back = usual(0), BUDGET_FROM + RESTED_DAYS
    red.spend(own, BUDGET_FROM)
    if with_rows:
        red.spend(lambda day: 0.0, back, BUDGET_FROM)
    red.spend(own, back + 40, back)
    red.plan(0.5 * OF_WEEK)
    look(back, back + 40)
    (found,) = told(SpendDetector.BUDGET)
    adds_up(found)
    assert found.expected_micros == pytest.approx(0.5 * OF_WEEK * 1e6 * found.days, rel=0.001)
    assert found.line_scale > 0


@pytest.mark.parametrize(
    ("since_budget", "before_it"),
    [(-50.0, 90.0), (0.0, np.nan), (0.001, 90.0), (np.nan, 90.0), (90.0, 90.0)],
)
def test_the_scale_of_a_line_is_finite_and_makes_it_the_pace(
    since_budget: float, before_it: float
) -> None:
    """Credits, rest, next to nothing or days not known before it went over, and a usual line."""
    last = 12 * 7
    values = np.array([before_it] * 35 + [since_budget] * 28 + [150.0] * 21)
    series = SpendSeries(WHOLE, 1, values)
    pace = BudgetPace("Whole", 1, np.full(last, 100.0))
    excess = over_own_line(series, OwnLines({WHOLE.series: [pace]}, {}), ToldBefore([], [], 1.0))
    if np.isnan(before_it):
        assert excess is None, "seven weeks are known, and eight are the least"
        return
    assert excess is not None
    days = excess.days
    assert np.isfinite(days.scale)
    assert days.scale > 0
    line = values[days.line_from - 1 : days.line_until]
    assert days.scale * 7 * line.mean() == pytest.approx(700)
    assert (days.line_from == days.began) == (since_budget != 90.0)


def test_what_a_budgets_first_weeks_cost_without_a_price_is_not_known(red: Team) -> None:
    """Over its budget since the first week that is known: nothing says that it crept."""
    red.spend(usual(0), 140)
    first_known = FIRST + timedelta(days=115)
    for table in (LedgerDay, LedgerTeamDay, LedgerPoolDay, LedgerUserDay):
        early = table.objects.filter(team_id=red.id, day__lt=first_known)
        early.update(unpriced_milliseconds=F("unit_milliseconds") / 2)
    red.plan(0.5 * OF_WEEK)
    look(115, 140)
    assert told(SpendDetector.BUDGET) == []


def test_a_series_that_cannot_be_judged_is_logged_and_stops_no_other(
    red: Team, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    red.spend(creeping(BUDGET_FROM + 14, 0.0025), 170)
    red.plan(1.05 * OF_WEEK)
    judged, looked_at = spend_detection.over_own_line, spend_detection.out_of_line

    def breaks_of_the_pool(series: Any, *rest: Any) -> Any:
        if series.of.subject == "pool":
            raise ValueError("no day before")
        return judged(series, *rest)

    def breaks_of_large_ones(values: Any, *rest: Any) -> Any:
        if values[-1] > 500e6:
            raise ValueError("too large")
        return looked_at(values, *rest)

    monkeypatch.setattr(spend_detection, "over_own_line", breaks_of_the_pool)
    monkeypatch.setattr(spend_detection, "out_of_line", breaks_of_large_ones)
    look(140, 170)
    assert {found.name for found in told()} == {"Red"}
    assert f"spend_not_judged subject=pool key={red.pool}" in caplog.text
    assert "spend_not_judged subject=organisation" in caplog.text


def test_spend_within_its_budget_that_rises_is_none(red: Team) -> None:
    red.spend(creeping(BUDGET_FROM + 14, 0.0025), 170)
    red.plan(1.5 * OF_WEEK)
    look(100, 170)
    assert told() == []


def test_spend_that_was_over_its_budget_from_the_first_week_on_crept_over_nothing(
    red: Team,
) -> None:
    red.spend(usual(0), 170)
    red.plan(0.8 * OF_WEEK)
    look(100, 170)
    assert told() == []


def test_flat_spend_over_a_budget_that_was_cut_is_no_creep(red: Team) -> None:
    red.spend(usual(0), 200)
    first, cut = FIRST + timedelta(days=BUDGET_FROM), date(2026, 6, 1)
    steps = [
        BudgetStep(day, Decimal(round(30.4 * share * OF_WEEK)))
        for day, share in ((first, 1.05), (cut, 0.5))
    ]
    budget = EnteredBudget(
        "Red 2026", "team", str(red.id), "money", "monthly", first, None, tuple(steps)
    )
    add_budget(budget=budget, at=datetime(2026, 1, 5, tzinfo=UTC))
    look(160, 200)
    assert told() == []


def test_a_step_that_was_told_is_not_told_again_against_the_budget(red: Team) -> None:
    own = usual(0)
    red.spend(lambda day: own(day) * (1.4 if day >= 130 else 1.0), 175)
    red.plan(1.05 * OF_WEEK)
    look(125, 175)
    (found,) = told()
    assert found.look in (SpendDetector.DAY, SpendDetector.WEEK)


def test_what_crept_over_is_over_when_a_week_is_in_line_with_the_budget_again(red: Team) -> None:
    grows, own = creeping(BUDGET_FROM + 14, 0.0025), usual(0)
    red.plan(1.05 * OF_WEEK)
    end = 120
    red.spend(grows, end)
    while not told():
        red.spend(grows, end + 1, end)
        end += 1
        look(end, end)
    red.spend(own, end + 13, end)
    look(end, end + 13)
    (found,) = told()
    assert found.ended_on is not None
    assert found.ended_on <= FIRST + timedelta(days=end + 8)


YEAR = 364


def test_what_creeps_beyond_last_years_season_is_told_against_the_same_weeks_of_it(
    red: Team,
) -> None:
    grows = creeping(YEAR + 50, 0.002, seasonal(usual(0)))
    red.spend(grows, YEAR + 180)
    look(YEAR + 100, YEAR + 180)
    found = told(SpendDetector.YEAR)[-1]
    assert (found.subject, found.name) == ("team", "Red")
    adds_up(found)
    assert found.line_from == found.began_on - timedelta(days=YEAR)
    assert found.effect_ratio is not None
    grown = 1.002 ** ((found.began_on - FIRST).days - YEAR - 50)
    assert found.effect_ratio == pytest.approx(grown - 1, abs=0.06)
    assert "over the same weeks a year ago in" in spend_title(found, "USD")
    assert line_words(found) == "the same weeks a year ago"


def test_growth_that_was_there_before_a_creep_is_said_with_the_line(red: Team) -> None:
    """A third more than last year anyhow, then a creep: the line is last year's weeks times that."""
    grows = creeping(YEAR + 50, 0.003)
    red.spend(lambda day: grows(day) * (1.33 if day >= YEAR else 1.0), YEAR + 150)
    look(YEAR + 110, YEAR + 150)
    found = told(SpendDetector.YEAR)[-1]
    adds_up(found)
    assert found.line_scale == pytest.approx(1.33, abs=0.05)
    times = f"{found.line_scale:.2f} × the same weeks a year ago"
    assert f"over {times} in" in spend_title(found, "USD")
    assert line_words(found) == f"{times}, as it was before it crept"


def test_flat_spend_after_a_year_that_fell_is_none(red: Team) -> None:
    own = usual(0)
    red.spend(lambda day: own(day) * 0.998 ** min(day, 182), YEAR + 182)
    look(YEAR + 150, YEAR + 182)
    assert told(SpendDetector.YEAR) == []


@pytest.mark.parametrize("growth", [1.0, 1.3])
def test_a_season_that_comes_as_last_year_is_none(red: Team, growth: float) -> None:
    own = seasonal(usual(0))
    red.spend(lambda day: own(day) * (growth if day >= YEAR else 1.0), YEAR + 182)
    look(YEAR + 90, YEAR + 182)
    assert told(SpendDetector.YEAR) == []
