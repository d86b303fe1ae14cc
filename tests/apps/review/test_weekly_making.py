"""A week's review says what teams and workloads cost, wasted and returned; every sum is exact."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts import actions as accounts
from apps.accounts.models import Organisation
from apps.accounts.queries import viewer_of_user
from apps.economics.refusal import Refusal
from apps.review import actions
from apps.review.models import AlertKind, WeeklyReview
from apps.review.queries.weekly import sections
from apps.review.queries.weekly.content import ReviewedWorkload, WeeklyContent
from apps.review.queries.weekly.making import make_content
from apps.review.queries.weekly.narrowed import narrowed, review_for
from apps.review.queries.weekly.paper_mail import mailed_review
from apps.review.queries.weekly.review_message import review_paper
from apps.review.queries.weekly.stored_reviews import stored_review
from apps.workloads.actions.returns import state_score, state_value
from apps.workloads.actions.workloads import add_workload
from apps.workloads.queries.returns import EnteredScore, EnteredValue
from tests import make
from tests.apps.review.review_weeks import (
    DOLLAR,
    HELD_IDLE,
    HOUR_MS,
    MONDAY,
    UNALLOCATED,
    WEEK,
    Company,
    plant_cell,
)

pytestmark = pytest.mark.django_db
SUNDAY = MONDAY - timedelta(days=1)
"""Before the review's moment: what is stated after it is in no review of the week."""


@pytest.fixture
def company() -> Company:
    return Company()


def made(company: Company) -> WeeklyContent:
    return make_content(WEEK, MONDAY)


def workload_of(content: WeeklyContent, workload_id: int) -> ReviewedWorkload:
    return next(each for each in content.workloads if each.workload_id == workload_id)


def state(company: Company, workload_id: int, low: int, high: int, **given: Any) -> None:
    values: dict[str, Any] = {"unit": "thousand_requests", "valid_from": date(2026, 1, 1)}
    value = EnteredValue(workload_id, low=Decimal(low), high=Decimal(high), **values | given)
    state_value(value=value, by=company.petra, at=MONDAY - timedelta(days=1))


def test_teams_and_workloads_sum_to_the_week(company: Company) -> None:
    company.plant()
    content = made(company)
    # 7 days: chat 100 h at $2; train 24 h at $2, and 24 h idle at $3; 3 h unallocated at $2.
    assert content.cost.micros == 7 * (200 + 48 + 72 + 6) * DOLLAR
    assert sum(team.cost.micros or 0 for team in content.teams) == content.cost.micros
    of_workloads = sum(each.cost.micros or 0 for each in content.workloads)
    assert of_workloads + (content.no_workload_micros or 0) == content.cost.micros
    assert content.idle.micros == {
        "idle_while_allocated": 7 * 72 * DOLLAR,
        "unallocated": 7 * 6 * DOLLAR,
    }
    assert content.idle.gpu_ms["idle_while_allocated"] == 7 * 24 * HOUR_MS
    assert content.waste_micros == 7 * 78 * DOLLAR


def test_the_causes_sum_to_the_change_for_all_and_for_each_team(company: Company) -> None:
    company.plant()
    content = made(company)
    for variance in (content.variance, *(team.variance for team in content.teams)):
        assert variance.before_micros is not None
        assert variance.after_micros is not None
        change = variance.after_micros - variance.before_micros
        assert sum(variance.causes.values()) == change
    assert content.variance.after_micros == content.cost.micros
    assert content.variance.before_micros == content.trend[-2]
    lead = narrowed(content, frozenset({company.ads}))
    assert lead.variance.after_micros == 7 * (48 + 72 + 6) * DOLLAR
    assert sum(lead.variance.causes.values()) == 7 * 72 * DOLLAR


def test_a_service_that_returns_more_than_it_costs_earns(company: Company) -> None:
    company.plant()
    # About 350 thousand requests a week for $1,400.
    state(company, company.chat, 5, 6)
    chat = workload_of(made(company), company.chat)
    assert chat.units.unit == "thousand_requests"
    assert chat.units.micros == round(1_400 * DOLLAR / (chat.units.count or 0))
    assert chat.returned is not None
    assert chat.returned.returned_low_micros == round(5 * DOLLAR * (chat.returned.count or 0))
    assert (chat.verdict.verdict, chat.verdict.weeks) == ("earns", 4)


def test_one_that_returns_less_than_it_costs_is_to_be_retired(company: Company) -> None:
    company.plant()
    state(company, company.chat, 1, 2)
    chat = workload_of(made(company), company.chat)
    assert chat.verdict.verdict == "retire"
    assert chat.verdict.reason == "It returned $1.39k to $2.78k and cost $5.60k in 4 weeks."


def test_without_a_stated_value_nothing_earns_however_good_it_is(company: Company) -> None:
    company.plant()
    score = EnteredScore(company.chat, "accuracy", 0.93, True, date(2026, 2, 10))
    state_score(score=score, by=company.petra, at=SUNDAY, today=SUNDAY.date())
    chat = workload_of(made(company), company.chat)
    assert chat.verdict.verdict == "unknown"
    assert "accuracy 0.93" in chat.verdict.reason
    assert chat.scores[0].per_dollar == pytest.approx(0.93 / (4 * 1_400))


def test_a_score_as_large_as_numbers_go_stops_no_review(company: Company) -> None:
    small = add_workload(name="small", team_id=company.ads, kind="training")
    for workload_id, hours in ((small, 1), (company.train, 1_000)):
        plant_cell(WEEK.first_day, company.ads, company.pool, hours=hours, workload_id=workload_id)
        score = EnteredScore(workload_id, "huge", 1e308, True, WEEK.first_day)
        state_score(score=score, by=company.petra, at=SUNDAY, today=SUNDAY.date())
    actions.make_review(week=WEEK, at=MONDAY)
    reviewed = stored_review(WEEK.name).content
    (of_large,), (of_small,) = (
        workload_of(reviewed, workload_id).scores for workload_id in (company.train, small)
    )
    assert of_large.per_dollar == pytest.approx(1e308 / 2_000)
    assert of_small.per_dollar is None, "more than a number holds for 1,000 dollars is not known"


def test_a_workload_of_much_waste_is_to_be_shrunk_unless_it_is_not_worth_the_rest(
    company: Company,
) -> None:
    company.plant()
    for place in range(7):
        day = WEEK.back(1).first_day + timedelta(days=place)
        idle = {"state": HELD_IDLE, "hours": 48, "workload_id": company.train}
        plant_cell(day, company.ads, company.pool, **idle)
    train = workload_of(made(company), company.train)
    # 4 weeks at $336, $504 idle in the last and $672 in the one before: 1,176 of 2,520.
    assert train.verdict.cost_micros == 2_520 * DOLLAR
    assert train.verdict.waste_ratio == round(1_176 / 2_520, 6)
    assert train.verdict.verdict == "shrink"
    # Worth at most $800 in four weeks: without its waste it costs $1,344.
    state(company, company.train, 1, 200, unit="week")
    assert workload_of(made(company), company.train).verdict.verdict == "retire"


def test_provisional_hours_are_left_out_and_counted(company: Company) -> None:
    company.plant()
    plant_cell(WEEK.first_day, company.ads, company.pool, status="provisional", hours=5)
    content = made(company)
    assert content.cost.micros == 7 * 326 * DOLLAR
    assert content.cost.provisional_micros == 10 * DOLLAR
    assert content.cost.provisional_ms == 5 * HOUR_MS
    assert content.data_quality is not None
    assert content.data_quality.provisional_ms == 5 * HOUR_MS


def test_who_has_provisional_hours_alone_is_there_with_them(company: Company) -> None:
    company.plant()
    late = make.make_team("late")
    newest = add_workload(name="newest", team_id=late, kind="training")
    plant_cell(WEEK.first_day, late, company.pool, status="provisional", workload_id=newest)
    content = made(company)
    assert content.cost.provisional_ms == 24 * HOUR_MS
    (team,) = [each for each in content.teams if each.team_id == late]
    found = workload_of(content, newest)
    assert (team.cost.micros, found.cost.micros) == (None, None), "unknown so far, not nothing"
    assert (team.cost.provisional_micros, found.cost.provisional_ms) == (48 * DOLLAR, 24 * HOUR_MS)
    assert content.cost.micros == 7 * 326 * DOLLAR


def test_what_nobody_observed_has_no_active_hours_that_are_known(company: Company) -> None:
    dark = add_workload(name="dark", team_id=company.ads, kind="training")
    day = WEEK.first_day
    plant_cell(day, company.ads, company.pool, workload_id=dark, state=3, held_milliseconds=HOUR_MS)
    units = workload_of(made(company), dark).units
    assert (units.unit, units.count, units.micros) == ("active_gpu_hour", None, None)


def test_days_are_those_of_the_organisation(company: Company) -> None:
    """Seven on Monday in Tokyo is still Sunday by UTC."""
    company.plant(weeks=1)
    Organisation.objects.update(zone="Asia/Tokyo")
    opened_at = datetime(2026, 2, 8, 22, tzinfo=UTC)
    actions.raise_alert(
        alert_matter=actions.AlertMatter(
            "a", AlertKind.ANOMALY, "warning", "A title", [], "/alerts", None
        ),
        at=opened_at,
    )
    (matter,) = made(company).matters
    assert matter.since == "2026-02-09"


def test_many_matters_of_one_team_take_no_place_of_another(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    company.plant(weeks=1)
    monkeypatch.setattr(sections, "MOST_MATTERS", 2)
    begun = datetime(2026, 2, 9, 12, tzinfo=UTC)
    for place, team_id in enumerate((company.ads, *(company.search,) * 3)):
        told = actions.AlertMatter(
            f"m{place}", AlertKind.ANOMALY, "warning", f"m{place}", [], "/alerts", team_id
        )
        actions.raise_alert(alert_matter=told, at=begun + timedelta(days=place))
    assert [matter.title for matter in made(company).matters] == ["m3", "m2", "m0"]


def test_what_is_credited_more_than_it_cost_has_no_waste_in_per_cent(company: Company) -> None:
    company.plant(2)
    day, credited = WEEK.first_day, {"rate": -300, "workload_id": company.train}
    plant_cell(day, company.ads, company.pool, **credited)
    score = EnteredScore(company.train, "accuracy", 0.9, True, day)
    state_score(score=score, by=company.petra, at=SUNDAY, today=SUNDAY.date())
    content = made(company)
    reviewed = workload_of(content, company.train)
    assert (reviewed.waste.micros, reviewed.waste.ratio) == (504 * DOLLAR, None)
    assert reviewed.verdict.reason.startswith("It was credited more than it cost")
    assert reviewed.scores[0].per_dollar is None
    assert content.title.startswith("Week 2026-W07 cost −$")
    assert "waste" not in content.title


def test_time_without_a_price_is_unknown_and_never_zero(company: Company) -> None:
    secret = add_workload(name="secret", team_id=company.ads, kind="training")
    plant_cell(WEEK.first_day, company.ads, company.pool, rate=None, workload_id=secret)
    found = workload_of(made(company), secret)
    assert (found.cost.micros, found.cost.coverage) == (None, 0)
    assert (found.verdict.verdict, found.verdict.reason) == (
        "unknown",
        "What it cost is not known.",
    )
    assert found.trend[:-1] == (None,) * 7


def test_each_figure_stands_beside_the_frozen_one_of_the_week_before(company: Company) -> None:
    company.plant()
    before = WEEK.back(1)
    actions.make_review(week=before, at=MONDAY)
    # A bill came late: the ledger says more of that week now.
    plant_cell(before.first_day, company.ads, company.pool, state=UNALLOCATED, hours=10)
    content = made(company)
    assert content.previous is not None
    assert content.previous.cost_micros == 7 * 254 * DOLLAR
    assert content.variance.before_micros == 7 * 254 * DOLLAR + 20 * DOLLAR
    chat = workload_of(content, company.chat)
    assert (chat.frozen_before_micros, chat.verdict_before) == (1_400 * DOLLAR, "unknown")


def test_a_week_that_is_not_over_has_no_review(company: Company) -> None:
    company.plant()
    with pytest.raises(Refusal, match="2026-W07 is not over"):
        actions.make_review(week=WEEK, at=datetime(2026, 2, 15, 12, tzinfo=UTC))


def test_it_is_made_once_on_monday_when_the_hour_has_come(company: Company) -> None:
    company.plant()
    assert actions.make_review_if_due(at=MONDAY.replace(hour=6)) == 0
    # The looks at recommendations are not made: it waits for them for the day.
    assert actions.make_review_if_due(at=MONDAY) == 0
    tuesday = MONDAY + timedelta(days=1)
    assert actions.make_review_if_due(at=tuesday) == 1
    assert actions.make_review_if_due(at=tuesday) == 0
    assert stored_review("2026-W07").content.week == "2026-W07"


def test_a_week_without_any_cost_is_not_reviewed(company: Company) -> None:
    assert actions.make_review_if_due(at=MONDAY + timedelta(days=1)) == 0
    assert not WeeklyReview.objects.exists()


def lead_of(team_id: int) -> int:
    person_id = make.make_person("lee@example.org", role="lead")
    accounts.place_in_teams(person_id=person_id, team_ids=[team_id])
    return person_id


def test_a_week_of_which_the_ledger_has_nothing_has_no_review(company: Company) -> None:
    state(company, company.train, 1, 2)
    with pytest.raises(Refusal, match="the ledger has nothing of 2026-W07"):
        actions.make_review(week=WEEK, at=MONDAY)
    assert not WeeklyReview.objects.exists()


def test_a_review_of_nothing_can_still_be_read(company: Company) -> None:
    empty = made(company)
    assert empty.trend == (None,) * 8
    for number, content in enumerate((empty, replace(empty, trend=())), start=1):
        actions.freeze_review(content=content, at=MONDAY, reason="made again")
        paper = review_paper(stored_review(WEEK.name, edition=number))
        assert "Nothing is known yet of what week 2026-W07 cost" in mailed_review(paper).text


def test_a_lead_reads_their_own_workloads_alone(company: Company) -> None:
    company.plant()
    actions.make_review(week=WEEK, at=MONDAY)
    lead = viewer_of_user(lead_of(company.ads))
    seen = review_for(lead, "2026-W07").content
    assert [each.workload_id for each in seen.workloads] == [company.train]
    assert seen.cost.micros == 7 * 126 * DOLLAR


def test_more_workloads_take_no_more_statements(company: Company) -> None:
    company.plant(weeks=2)
    with CaptureQueriesContext(connection) as few:
        made(company)
    for number in range(20):
        more = add_workload(name=f"more {number}", team_id=company.ads, kind="training")
        plant_cell(WEEK.first_day, company.ads, company.pool, workload_id=more)
    with CaptureQueriesContext(connection) as many:
        assert len(made(company).workloads) == 22
    assert len(many) <= len(few)


def test_a_command_before_the_first_day_says_that_there_is_nothing_yet() -> None:
    with pytest.raises(CommandError, match="no organisation yet"):
        call_command("weekly_review", "--week", "2026-W30")
