"""Budgets: what came is the ledger's, what comes is the forecast's, each budget for itself; what is refused."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import LazySettings

from apps.accounts.queries.trail import changes
from apps.economics.budgets import Chance
from apps.economics.hours import HOUR, HOUR_MS
from apps.economics.money import MICROS
from apps.economics.ownership import Rule
from apps.economics.refusal import Refusal
from apps.ledger.queries.cube import CubeQuestion, explore
from apps.ledger.queries.windows import Window
from apps.planning import actions
from apps.planning.actions import requests as requesting
from apps.planning.models import Budget
from apps.planning.queries.budget_figures import (
    FORECAST,
    RUN_RATE,
    UNKNOWN,
    BudgetFigures,
    figures_of,
    months_of,
)
from apps.planning.queries.budgets import BudgetStep, budget, budgets
from apps.planning.queries.series import SeriesKey
from apps.planning.solvers.forecasting import forecast_fields
from apps.workloads.actions.rules import add_rule
from apps.workloads.actions.workloads import add_workload
from apps.workloads.queries import RuleFact
from tests import make
from tests.apps.ledger import scene
from tests.apps.planning.capacity_scene import raised

pytestmark = pytest.mark.django_db

AT = datetime(2026, 3, 10, 10, tzinfo=UTC)
LEFT = 22 * 24 - 10
"""Hours of March from then on."""
MARCH = Window("", date(2026, 3, 1), date(2026, 4, 1), "UTC")


def new_budget(name: str = "Research, monthly", **given: Any) -> actions.EnteredBudget:
    """100,000 of the organisation each month from January on."""
    values: dict[str, Any] = {
        "scope": "organisation",
        "key": "",
        "measure": "money",
        "recurrence": "monthly",
        "first_day": date(2026, 1, 1),
        "last_day": None,
    } | given
    amount = Decimal(values.pop("amount", 100_000))
    steps = values.pop("steps", (BudgetStep(values["first_day"], amount),))
    return actions.EnteredBudget(name=name, steps=steps, **values)


def figures(**given: Any) -> BudgetFigures:
    """Those of a budget that is set for this."""
    budget_id = actions.add_budget(budget=new_budget(**given), at=AT)
    (found,) = figures_of([budget(budget_id, None)], AT)
    return found


@pytest.fixture(scope="module")
def world(of_module: None) -> dict[str, int]:
    """Eight GPUs for 20 hours: a team, and one below it, hold some of them; both have flat forecasts."""
    make.make_organisation()
    pool_id = make.make_pool("h100", cluster_id=make.make_cluster("atlas"))
    node_id = scene.make_priced_node(pool_id=pool_id)
    red = make.make_team("Red")
    below = make.make_team("Red, evaluation", parent_id=red)
    chat = add_workload(name="chat", team_id=below, kind="training")
    scene.make_rule("red", red)
    rule = Rule(10, below, workload_id=chat, account="below")
    add_rule(rule=RuleFact(rule, None, None), at=scene.LATER)
    scene.make_job("1", node_id, gpus=4, account="red", to=scene.TEN + 20 * HOUR)
    scene.make_job("2", node_id, gpus=2, account="below", to=scene.TEN + 10 * HOUR)
    scene.settle(at=scene.TEN + timedelta(days=3), ends_at=scene.TEN + 20 * HOUR)
    first = AT - timedelta(days=20)
    for series, value in (
        (SeriesKey("spend", "team", str(red)), 10.0),
        (SeriesKey("spend", "team", str(below)), 5.0),
        (SeriesKey("gpu_hours"), 6.0),
    ):
        points = [(first + hour * HOUR, value) for hour in range(20 * 24)]
        actions.import_history(series=series, points=points, at=AT)
    actions.make_forecasts(maker=forecast_fields, at=AT)
    return {"red": red, "below": below, "chat": chat, "pool": pool_id,
            "finance": make.make_person("fin@example.org", role="finance")}  # fmt: skip


def test_what_came_of_a_team_is_what_the_ledger_has_of_it_and_of_those_below(world) -> None:
    asked = CubeQuestion(MARCH).of(team=[world["red"], world["below"]])
    total = explore(asked).total.sums
    found = figures(scope="team", key=str(world["red"]))
    assert found.spent.amount == total.micros == (80 + 20) * 12_290_000, "98.32 an hour for eight"
    hours = figures(name="hours", scope="team", key=str(world["red"]), measure="gpu_hours")
    assert hours.spent.amount == total.held_milliseconds == 100 * HOUR_MS
    alone = figures(name="below", scope="team", key=str(world["below"]))
    assert alone.spent.amount == 20 * 12_290_000
    assert found.amount == 100_000 * MICROS, (
        "budgets of one dollar overlap, and neither counts less"
    )


def test_the_rest_of_a_team_is_the_sum_of_its_forecasts_with_headroom_and_chance(world) -> None:
    found = figures(scope="team", key=str(world["red"]))
    rest = found.rest.expected
    assert found.rest.method == FORECAST
    # The middle of an hour is 15; the busy hours of a day are part of the total.
    assert rest == pytest.approx(15 * LEFT * MICROS, rel=0.12)
    assert found.rest.source == "spend:team=Red, spend:team=Red, evaluation"
    assert found.headroom == 100_000 * MICROS - 1_229 * MICROS - rest
    assert not found.is_exceeding
    assert found.chance is not None
    assert found.chance.high == pytest.approx(0.1)
    assert found.share_gone == pytest.approx((9 * 24 + 10) / (31 * 24))
    tight = figures(name="tight", scope="team", key=str(world["red"]), amount=8_000)
    assert tight.is_exceeding
    assert tight.chance is not None
    assert tight.chance.low >= 0.5
    gone = figures(name="gone", scope="team", key=str(world["red"]), amount=1_228)
    assert gone.chance == Chance(1.0, 1.0)


def test_what_has_no_series_goes_on_as_in_the_last_whole_days_and_says_so(world) -> None:
    found = figures(scope="workload", key=str(world["chat"]))
    of_days = 8 * 24
    assert found.rest.method == RUN_RATE
    assert found.rest.source == "the mean of the last 8 whole days"
    assert found.rest.expected == round(20 * 12_290_000 / of_days * LEFT)
    assert found.chance is None
    hours = figures(name="hours", scope="service", key=str(add_service(world)), measure="gpu_hours")
    assert (hours.spent.amount, hours.rest.method, hours.headroom) == (0, UNKNOWN, None)


def add_service(world: dict[str, int]) -> int:
    return add_workload(name="answers", team_id=world["red"], kind="serving")


def test_a_project_counts_from_its_first_day_and_months_show_how_far_it_has_come(world) -> None:
    life = {"recurrence": "project", "first_day": date(2026, 3, 3), "last_day": date(2026, 3, 20)}
    found = figures(scope="team", key=str(world["red"]), **life)
    assert found.spent.amount == 6 * 4 * 12_290_000, "midnight to six on the second day"
    assert found.rest.expected == pytest.approx(15 * (11 * 24 - 10) * MICROS, rel=0.12)
    (march,) = months_of(found, AT)
    assert (march.month, march.spent, march.rest) == (
        date(2026, 3, 1), found.spent, found.rest.expected,
    )  # fmt: skip
    over = figures(name="over", **life | {"last_day": date(2026, 3, 4)})
    assert (over.status, over.rest.expected, over.share_gone) == ("over", 0, 1.0)
    to_come = figures(name="later", **life | {"first_day": date(2026, 3, 19)})
    assert (to_come.status, to_come.share_gone, months_of(to_come, AT)[0].rest) == (
        "to_come", 0.0, None,
    )  # fmt: skip


def test_each_month_has_the_amount_that_held_then(world) -> None:
    steps = (BudgetStep(date(2026, 1, 1), Decimal(500)), BudgetStep(date(2026, 3, 1), Decimal(700)))
    found = figures(steps=steps)
    january, _, march = months_of(found, AT)
    assert (january.amount, january.spent.amount, january.rest) == (500 * MICROS, 0, None)
    assert (march.amount, march.spent) == (700 * MICROS, found.spent)
    assert march.spent.amount == explore(CubeQuestion(MARCH)).total.sums.micros


def test_commitments_are_owed_whatever_runs_and_an_unknown_rate_of_exchange_leaves_them_unknown(
    world,
) -> None:
    scene.make_commitment(hourly=Decimal(3), period=(AT - 10 * HOUR, AT + 10 * HOUR))
    assert figures(amount=5).committed == 30 * MICROS
    red = figures(name="red", scope="team", key=str(world["red"]))
    assert (red.commitments, red.committed) == (None, 0), "whose use they cover is not decided"
    scene.make_commitment(currency="EUR", period=(AT, AT + HOUR))
    assert figures(name="euros").committed is None


STARTS, ENDS = AT + timedelta(days=1), AT + timedelta(days=3)
TWO_DAYS = 2 * 48 * HOUR_MS
"""Two GPUs for as long, in GPU-milliseconds."""


def approved(world: dict[str, int], team: str, **given: Any) -> int:
    """Two GPUs for two days of this month for Red, or below; its id."""
    at, team_id = AT - timedelta(days=2), world[team]
    given = given or {"pool_id": world["pool"]}
    asked = {"gpus": 2, "starts_at": STARTS, "ends_at": ENDS, "at": at}
    request_id = raised(team_id, **asked | given)
    requesting.approve_capacity_request(
        capacity_request_id=request_id, by=world["finance"], reason="agreed", at=at
    )
    return request_id


def test_an_approved_request_is_committed_on_top_of_what_is_expected(world) -> None:
    of_red, of_below = ({"scope": "team", "key": str(world[name])} for name in ("red", "below"))
    before = figures(name="before", **of_red)
    approved(world, "below")
    taken = 2 * 48 * 12_290_000
    after = figures(name="after", **of_red)
    assert (after.committed, after.requested.amount, after.commitments) == (taken, taken, None)
    assert after.rest == before.rest, "no forecast knows of it"
    assert before.headroom is not None
    assert after.headroom == before.headroom - taken
    assert figures(name="below", **of_below).committed == taken
    hours = figures(name="hours", measure="gpu_hours", **of_red)
    assert (hours.committed, hours.requested.unpriced_milliseconds) == (TWO_DAYS, 0)
    assert hours.expected == sum([hours.spent.amount or 0, hours.rest.expected or 0, TWO_DAYS])
    march = months_of(after, AT)[-1]
    assert (march.rest, march.requested) == (after.rest.expected, taken)
    tight = figures(name="tight", amount=round(after.expected / MICROS) - 1, **of_red)
    assert tight.is_exceeding, "by the request alone"
    assert tight.chance is not None
    assert tight.chance.low > before.chance.low


def test_a_request_counts_once_with_the_commitments_of_the_organisation(world) -> None:
    approved(world, "red")
    scene.make_commitment(hourly=Decimal(3), period=(AT - 10 * HOUR, AT + 10 * HOUR))
    found = figures()
    taken = 2 * 48 * 12_290_000
    assert (found.commitments, found.committed) == (30 * MICROS, 30 * MICROS + taken)
    assert found.expected == found.spent.amount + found.rest.expected + taken, (
        "commitments are a part of the rest"
    )
    tag = figures(name="tag", scope="tag", key="project=atlas")
    assert (tag.committed, tag.requested.amount) == (None, 0), "requests have no tags"


def test_of_a_workload_its_own_requests_are_committed(world) -> None:
    approved(world, "below")
    of_chat = {"scope": "workload", "key": str(world["chat"])}
    assert figures(name="without", **of_chat).committed == 0
    approved(world, "below", pool_id=world["pool"], workload_id=world["chat"], gpus=1)
    assert figures(name="with", **of_chat).committed == 48 * 12_290_000


def test_a_request_ends_to_be_committed_when_it_is_delivered_or_withdrawn(world) -> None:
    of_red, by = {"scope": "team", "key": str(world["red"])}, world["finance"]
    delivered, withdrawn = (approved(world, "red") for _ in range(2))
    requesting.deliver_capacity_request(capacity_request_id=delivered, by=by, reason="", at=AT)
    assert figures(name="one", **of_red).committed == 2 * 48 * 12_290_000, "its use is forecast"
    requesting.withdraw_capacity_request(capacity_request_id=withdrawn, by=by, reason="", at=AT)
    raised(world["red"], pool_id=world["pool"], at=AT, starts_at=STARTS, ends_at=ENDS)
    assert figures(name="none", **of_red).committed == 0, "one that is not decided on is not owed"


def test_only_the_hours_within_the_rest_of_the_period_are_committed(world) -> None:
    of_red = {"scope": "team", "key": str(world["red"]), "measure": "gpu_hours"}
    early, late = AT - timedelta(days=1), datetime(2026, 5, 1, tzinfo=UTC)
    approved(world, "red", pool_id=world["pool"], gpus=1, starts_at=early, ends_at=AT + 5 * HOUR)
    assert figures(name="late", **of_red).committed == 5 * HOUR_MS, "its past is past"
    approved(world, "red", pool_id=world["pool"], gpus=1, starts_at=AT, ends_at=None)
    assert figures(name="open", **of_red).committed == (5 + LEFT) * HOUR_MS
    approved(world, "red", pool_id=world["pool"], starts_at=late, ends_at=None)
    assert figures(name="next", **of_red).committed == (5 + LEFT) * HOUR_MS
    over = figures(name="over", **of_red, recurrence="project", first_day=date(2026, 3, 1),
                   last_day=date(2026, 3, 8))  # fmt: skip
    assert over.committed == 0


def test_a_request_without_a_price_is_in_no_amount_and_said(world) -> None:
    of_red = {"scope": "team", "key": str(world["red"])}
    approved(world, "red", gpu_model="B200")
    found = figures(name="none", **of_red)
    assert (found.committed, found.headroom, found.chance) == (None, None, None)
    assert found.requested.unpriced_milliseconds == TWO_DAYS
    assert not found.is_exceeding
    assert figures(name="tight", amount=8_000, **of_red).is_exceeding, "by the rest expected alone"
    assert figures(name="hours", measure="gpu_hours", **of_red).committed == TWO_DAYS
    approved(world, "red")
    mixed = figures(name="mixed", **of_red)
    assert (mixed.committed, mixed.requested.unpriced_milliseconds) == (
        2 * 48 * 12_290_000, TWO_DAYS,
    )  # fmt: skip
    assert mixed.headroom is not None


def test_time_without_a_price_is_told_and_never_a_zero(world) -> None:
    bare = make.make_node("gpu-02", pool_id=make.make_pool("bare"), started_at=scene.TEN, units=8,
                          at=scene.LATER)  # fmt: skip
    blue = make.make_team("Blue")
    scene.make_rule("blue", blue)
    scene.make_job("3", bare, gpus=8, account="blue")
    scene.settle(at=scene.TEN + timedelta(days=3), ends_at=scene.TEN + HOUR)
    found = figures(scope="team", key=str(blue))
    assert (found.spent.amount, found.spent.unpriced_milliseconds) == (None, 8 * HOUR_MS)
    assert (found.rest.method, found.headroom, found.chance) == (UNKNOWN, None, None)
    assert not found.is_exceeding


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("name", {"name": " "}),
        ("scope", {"scope": "planet"}),
        ("measure", {"measure": "tokens"}),
        ("recurrence", {"recurrence": "weekly"}),
        ("of", {"key": "1"}),
        ("of", {"scope": "team", "key": "99999999"}),
        ("of", {"scope": "team"}),
        ("of", {"scope": "service", "key": "1"}),
        ("of", {"scope": "tag", "key": "owner=ada"}),
        ("first_day", {"first_day": date(2026, 1, 2)}),
        ("first_day", {"first_day": date.min}),
        ("first_day", {"first_day": date(9999, 12, 1)}),
        ("last_day", {"last_day": date.max}),
        ("last_day", {"last_day": date(2026, 3, 30)}),
        ("last_day", {"last_day": date(2025, 12, 31)}),
        ("last_day", {"recurrence": "project"}),
        ("last_day", {"recurrence": "project", "last_day": date(2036, 2, 1)}),
        ("amounts", {"amount": 0}),
        ("amounts", {"amount": "0.0000001"}),
        ("amounts", {"amount": "NaN"}),
        ("amounts", {"steps": ()}),
        ("amounts", {"steps": (BudgetStep(date(2026, 2, 1), Decimal(1)),)}),
        ("amounts", {"steps": (BudgetStep(date(2026, 1, 1), Decimal(1)),
                               BudgetStep(date(2026, 2, 3), Decimal(1)))}),
        ("amounts", {"last_day": date(2026, 1, 31),
                     "steps": (BudgetStep(date(2026, 1, 1), Decimal(1)),
                               BudgetStep(date(2026, 2, 1), Decimal(1)))}),
        ("amounts", {"recurrence": "project", "last_day": date(2026, 4, 1),
                     "steps": (BudgetStep(date(2026, 1, 1), Decimal(1)),
                               BudgetStep(date(2026, 2, 1), Decimal(1)))}),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_by_its_field(world, field: str, given: dict[str, Any]) -> None:
    with pytest.raises(Refusal) as refused:
        actions.add_budget(budget=new_budget(**given), at=AT)
    assert refused.value.field == field


def test_tags_that_are_set_up_have_budgets(world, settings: LazySettings) -> None:
    settings.TAG_KEYS = ("project",)
    found = figures(scope="tag", key="project=atlas")
    assert (found.budget.of, found.spent.amount) == ("project=atlas", 0)


def test_a_budget_is_replaced_and_removed_and_the_trail_tells_both(world) -> None:
    budget_id = actions.add_budget(budget=new_budget(), at=AT)
    with pytest.raises(actions.BudgetNameTaken):
        actions.add_budget(budget=new_budget(), at=AT)
    actions.replace_budget(budget_id=budget_id, budget=new_budget(amount=120_000))
    assert budget(budget_id, None).amount_on(date(2026, 3, 1)) == 120_000 * MICROS
    actions.remove_budget(budget_id=budget_id)
    assert budgets(None) == []
    removed, changed, added = changes(kind="budget")
    assert [each.verb for each in (removed, changed, added)] == ["removed", "changed", "added"]
    (field,) = changed.fields
    assert (field.name, field.old, field.new) == ("amounts", "100000.0", "120000.0")


def test_a_team_sees_its_own_budgets_and_those_of_its_workloads(world) -> None:
    for name, scope, key in (
        ("all", "organisation", ""),
        ("red", "team", str(world["red"])),
        ("below", "team", str(world["below"])),
        ("chat", "workload", str(world["chat"])),
    ):
        actions.add_budget(budget=new_budget(name=name, scope=scope, key=key), at=AT)
    assert [each.name for each in budgets(frozenset([world["below"]]))] == ["below", "chat"]
    (whole,) = (each for each in budgets(None) if each.name == "all")
    with pytest.raises(Budget.DoesNotExist):
        budget(whole.id, frozenset([world["red"]]))
