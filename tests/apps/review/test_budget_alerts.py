"""Budgets raise alerts from what the ledger has of them and what their forecasts expect."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts import actions as accounts
from apps.accounts.queries import viewer_of_user
from apps.economics.budget_alerts import has_fallen_back
from apps.economics.hours import HOUR
from apps.planning import actions as planning
from apps.planning.models import Forecast
from apps.planning.queries.budgets import BudgetStep
from apps.planning.queries.series import SeriesKey
from apps.planning.solvers.forecasting import forecast_fields
from apps.review import actions
from apps.review.models import AlertEntry
from apps.review.queries.alerts import AlertFact, AlertsWanted, alerts, entries_of
from apps.show.time import instant
from tests import make
from tests.apps.console.people import signed_in, words_of
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 10, 10, tzinfo=UTC)
NO_BREAK = "\N{NO-BREAK SPACE}"


@pytest.fixture(scope="module")
def red(of_module: None) -> int:
    """A team that held eight GPUs for 20 hours, 1,966.40, and is expected to spend 10 an hour from then on."""
    make.make_organisation()
    pool_id = make.make_pool("h100", cluster_id=make.make_cluster("atlas"))
    node_id = scene.make_priced_node(pool_id=pool_id)
    team_id = make.make_team("Red")
    scene.make_rule("red", team_id)
    scene.make_job("1", node_id, gpus=8, account="red", to=scene.TEN + 20 * HOUR)
    scene.settle(at=scene.TEN + timedelta(days=3), ends_at=scene.TEN + 20 * HOUR)
    first = AT - timedelta(days=30)
    points = [(first + hour * HOUR, 10.0) for hour in range(30 * 24)]
    planning.import_history(series=SeriesKey("spend", "team", str(team_id)), points=points, at=AT)
    planning.make_forecasts(maker=forecast_fields, at=AT)
    return team_id


def budget(team_id: int, amount: int, **given: Any) -> int:
    values: dict[str, Any] = {
        "name": f"Red, {amount}",
        "scope": "team",
        "key": str(team_id),
        "measure": "money",
        "recurrence": "monthly",
        "first_day": date(2026, 3, 1),
        "last_day": None,
        "steps": (BudgetStep(date(2026, 3, 1), Decimal(amount)),),
    }
    return planning.add_budget(budget=planning.EnteredBudget(**values | given), at=AT)


def told() -> list[AlertFact]:
    """Every alert, with blanks that may break."""
    return [
        replace(
            each,
            title=each.title.replace(NO_BREAK, " "),
            facts=[[text.replace(NO_BREAK, " ") for text in fact] for fact in each.facts],
        )
        for each in alerts(AlertsWanted(None), 100)
    ]


def test_a_threshold_is_told_once_with_what_it_is_from_and_goes_to_its_team(red: int) -> None:
    budget_id = budget(red, 2_500)
    for hour in range(3):
        assert actions.check_budgets(at=AT + hour * HOUR) == 1
    (used,) = [each for each in told() if each.kind == "budget_threshold"]
    assert used.matter == f"budget:{budget_id}:2026-03-01:threshold"
    assert (used.team_id, used.level, used.severity) == (red, 75, "notice")
    assert used.title == (
        "Red, 2500 has used 79 % of its $2,500 of March 2026, with 30 % of the time gone"
    )
    assert dict(map(tuple, used.facts)) == {
        "Threshold": "75 % of the amount",
        "Of": "team Red",
        "Budget": "$2,500 of March 2026",
        "So far": "$1,966",
        "Time gone": "30 %",
        "Enforcement": "warn (soft)",
    }
    assert used.link == f"/budgets/{budget_id}"
    assert len(entries_of([used.id])) == 1


def test_an_excess_is_told_with_its_day_and_chance_and_an_exceeded_one_is_urgent(red: int) -> None:
    budget(red, 5_000, is_hard=True)
    budget(red, 1_900)
    actions.check_budgets(at=AT)
    by_kind = {each.kind: each for each in told()}
    ahead = by_kind["budget_forecast"]
    assert ahead.title == (
        # The rest goes on at ten an hour, and a little of the one day that was dearer.
        "Red, 5000 will exceed its budget of March 2026 on Sun 22 March (chance over 90 %)"
    )
    facts = dict(map(tuple, ahead.facts))
    whole = float(facts["Expected of the whole period"].strip("$").replace(",", ""))
    assert 7_146 <= whole <= 7_146 * 1.09
    assert facts["The rest is from"] == "the newest forecasts: spend:team=Red"
    assert facts["Enforcement"] == "deny (hard)"
    over = by_kind["budget_threshold"]
    assert (over.level, over.severity) == (100, "urgent")
    assert over.title.startswith(
        "Red, 1900 is exceeded by $66.40: its $1,900 of March 2026 are used"
    )
    assert len(told()) == 2, "what is exceeded is not told of as to come"


def test_forecasts_that_know_less_than_four_weeks_warn_after_two_days(red: int) -> None:
    budget(red, 5_000)
    Forecast.objects.update(history_from=AT - timedelta(days=20))
    actions.check_budgets(at=AT)
    assert [each.kind for each in told()] == []
    actions.check_budgets(at=AT + timedelta(days=1))
    assert [each.kind for each in told()] == ["budget_forecast"]


def test_a_new_period_ends_the_alerts_of_the_one_before_and_begins_its_own(red: int) -> None:
    budget(red, 2_500)
    actions.check_budgets(at=AT)
    assert {each.state for each in told()} == {"open"}
    april = datetime(2026, 4, 1, 1, tzinfo=UTC)
    actions.check_budgets(at=april)
    assert {(each.state, each.state_name) for each in told()} == {("resolved", "")}
    assert all(each.state_reason.startswith("its period is over") for each in told())


def test_a_warning_ends_after_two_days_that_expect_none(red: int) -> None:
    budget_id = budget(red, 5_000)
    actions.check_budgets(at=AT)
    month = date(2026, 3, 1)
    planning.replace_budget(
        budget_id=budget_id,
        budget=planning.EnteredBudget(
            "Red, 5000", "team", str(red), "money", "monthly", month, None,
            (BudgetStep(month, Decimal(9_000)),),
        ),
    )  # fmt: skip
    actions.check_budgets(at=AT + HOUR)
    assert [each.state for each in told()] == ["open"]
    actions.check_budgets(at=AT + timedelta(days=1))
    assert [(each.state, each.state_reason) for each in told()] == [
        ("resolved", "it is expected to hold, on two days in a row")
    ]


def change_amount(budget_id: int, team_id: int, amount: int) -> None:
    month = date(2026, 3, 1)
    planning.replace_budget(
        budget_id=budget_id,
        budget=planning.EnteredBudget(
            f"Red, {amount}", "team", str(team_id), "money", "monthly", month, None,
            (BudgetStep(month, Decimal(amount)),),
        ),
    )  # fmt: skip


def test_a_threshold_falls_back_silently_when_the_amount_is_raised_and_is_told_again_from_there(
    red: int,
) -> None:
    budget_id = budget(red, 1_900)
    actions.check_budgets(at=AT)
    (used,) = [each for each in told() if each.kind == "budget_threshold"]
    sent = AlertEntry.objects.filter(alert_id=used.id, routed_at=None)
    assert (used.level, used.severity, sent.count()) == (100, "urgent", 1)

    def now(amount: int, hours: int) -> AlertFact:
        change_amount(budget_id, red, amount)
        actions.check_budgets(at=AT + hours * HOUR)
        return next(each for each in told() if each.id == used.id)

    lowered = now(2_500, 1)
    assert (lowered.level, lowered.severity, lowered.state) == (75, "notice", "open")
    assert lowered.title.startswith("Red, 2500 has used 79 % of its $2,500")
    over = now(9_000, 2)
    assert (over.level, over.state, over.state_name) == (0, "resolved", "")
    assert dict(map(tuple, over.facts))["Threshold"] == "none is reached"
    assert sent.count() == 1, "what falls back is sent nowhere"
    again = now(2_100, 3)
    assert (again.level, again.severity, again.state) == (90, "warning", "open")
    assert sent.count() == 2
    steps = [each.step for each in entries_of([used.id])]
    assert steps == ["opened", "lowered", "lowered", "resolved", "reopened"]


@pytest.mark.parametrize(("share", "is_back"), [(0.97, True), (0.985, False), (1.0, False)])
def test_a_threshold_stays_where_hours_that_are_settled_anew_take_a_little_off(
    share: float, *, is_back: bool
) -> None:
    assert has_fallen_back(Fraction(share), 100) is is_back


def test_a_thresholds_alert_goes_to_each_level_of_the_tree_by_what_all_below_it_used(
    red: int,
) -> None:
    """Three levels: what the lowest used counts in all three budgets, each reaching a threshold of its own."""
    lab, whole = make.make_team("Lab"), make.make_team("Research")
    accounts.move_team(team_id=lab, parent_id=whole)
    accounts.move_team(team_id=red, parent_id=lab)
    amounts = {red: 3_900, lab: 2_600, whole: 2_150}
    for team_id, amount in amounts.items():
        budget(team_id, amount, name=f"Budget of {team_id}")
    actions.check_budgets(at=AT)
    used = {each.team_id: each for each in told() if each.kind == "budget_threshold"}
    assert {team_id: each.level for team_id, each in used.items()} == {red: 50, lab: 75, whole: 90}
    for team_id, each in used.items():
        assert dict(map(tuple, each.facts))["So far"] == "$1,966", team_id
    lead = make.make_person("lee@example.org", name="Lee", role="lead")
    accounts.place_in_teams(person_id=lead, team_ids=[lab])
    seen = alerts(AlertsWanted(viewer_of_user(lead).seen_teams), 10)
    assert {each.team_id for each in seen} == {red, lab}


def test_a_dollar_over_two_budgets_is_two_matters_each_told_to_its_own_team_once(red: int) -> None:
    above = make.make_team("Research")
    accounts.move_team(team_id=red, parent_id=above)
    own = budget(red, 2_500)
    whole = budget(above, 2_600, name="Research, monthly")
    for hour in range(2):
        actions.check_budgets(at=AT + hour * HOUR)
    used = [each for each in told() if each.kind == "budget_threshold"]
    assert {(each.team_id, each.matter) for each in used} == {
        (red, f"budget:{own}:2026-03-01:threshold"),
        (above, f"budget:{whole}:2026-03-01:threshold"),
    }
    assert len(used) == 2
    facts = {each.team_id: dict(map(tuple, each.facts)) for each in used}
    assert facts[above]["Of"] == "team Research and 1 team below it"


def test_ten_budgets_ask_for_the_organisation_and_the_workloads_once(red: int) -> None:
    for number in range(10):
        budget(red, 2_500 + number)
    with CaptureQueriesContext(connection) as asked:
        assert actions.check_budgets(at=AT) == 10
    statements = [each["sql"] for each in asked.captured_queries]
    for table in ("accounts_organisation", "workloads_workload"):
        assert sum(f'FROM "{table}"' in each for each in statements) <= 1


def test_an_alert_says_when_its_words_were_raised_and_what_is_so_today(
    red: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words stay as they were raised; beside them stands what they would say now, while their period lasts."""
    budget_id = budget(red, 2_500)
    actions.check_budgets(at=AT)
    step = BudgetStep(date(2026, 3, 1), Decimal(2_600))
    amended = planning.EnteredBudget(
        "Red", "team", str(red), "money", "monthly", date(2026, 3, 1), None, steps=(step,)
    )
    planning.replace_budget(budget_id=budget_id, budget=amended)
    (used,) = [each for each in told() if each.kind == "budget_threshold"]
    lead = signed_in("lead", red)
    by = viewer_of_user(get_user_model().objects.get(role="lead").pk)

    def page(at: datetime) -> str:
        monkeypatch.setattr(timezone, "now", lambda: at)
        return words_of(lead.get(f"/alerts/{used.id}"))

    soon = page(AT + 2 * HOUR)
    zone = ZoneInfo("UTC")
    assert f"As raised on {instant(AT, zone)}" in soon
    as_raised, _, now = soon.partition(f"As it stands on {instant(AT + 2 * HOUR, zone)}")
    assert "$2,500 of March 2026" in as_raised
    assert "$2,600 of March 2026" in now
    assert "$2,500 of March 2026" not in now.partition("What happened")[0]
    assert "As it stands on" not in page(AT + timedelta(days=30)), "its period is over"
    actions.resolve_alert(alert_id=used.id, reason="paid", by=by, at=AT + HOUR)
    assert "As it stands on" not in page(AT + 2 * HOUR)
