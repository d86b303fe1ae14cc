"""A closed month never moves; what comes late is posted in the open one, to the micro-unit."""

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.db.models import Sum

from apps.fleet import actions as fleet
from apps.fleet.models import Pool
from apps.ledger.actions import close, mark_by_clock
from apps.ledger.actions.closed import MonthAlreadyClosed
from apps.ledger.models import Charge, Close, LedgerDay, Line, StatementLine
from apps.ledger.queries.closes.checklist import checklist
from apps.ledger.queries.closes.contents import digest_of_month
from apps.ledger.queries.closes.months import closes, late_facts
from apps.pricing import actions as pricing
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.scene import LATER, TEN
from tests.apps.workloads.told import forget_marks

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
MARCH, APRIL = date(2026, 3, 1), date(2026, 4, 1)
IN_APRIL = datetime(2026, 4, 2, 9, 30, tzinfo=UTC)
EVERYTHING = ("unpriced", "unbilled", "unmatched", "unowned", "unobserved")


@pytest.fixture(scope="module")
def research(of_module: None) -> int:
    """Research's job held four of eight GPUs for an hour of March; the node ended after it."""
    make.make_organisation()
    team = make.make_team("Research")
    scene.make_rule("research", team)
    node_id = scene.make_priced_node()
    gpus = scene.make_gpus(node_id)
    scene.make_job("1", node_id, gpus=4, uuids=gpus[:4], from_=TEN, to=TEN + HOUR)
    fleet.end_node(node_id=node_id, ended_at=TEN + HOUR, reason="given back", at=LATER)
    scene.settle_all(IN_APRIL)
    return team


def closed(**given: object) -> Close:
    asked = close.CloseRequest(month=MARCH, person_id=None, accepted=EVERYTHING)
    return Close.objects.get(id=close.close_month(request=asked, at=given.get("at", IN_APRIL)))


def effective(**given: object) -> int:
    return Line.objects.filter(**given).aggregate(all=Sum("effective_micros"))["all"] or 0


def test_a_month_is_closed_after_its_end_and_once(research: int) -> None:
    asked = close.CloseRequest(month=MARCH, person_id=None, accepted=EVERYTHING)
    with pytest.raises(close.MonthNotOver):
        close.close_month(request=asked, at=datetime(2026, 3, 31, 23, tzinfo=UTC))
    closed()
    with pytest.raises(MonthAlreadyClosed):
        closed()


def test_what_stands_open_must_be_accepted_by_name(research: int) -> None:
    open_items = {item.code for item in checklist(MARCH) if item.count}
    assert open_items >= {"unbilled", "unobserved"}
    asked = close.CloseRequest(month=MARCH, person_id=None, accepted=["unbilled"])
    with pytest.raises(close.ItemsNotAccepted, match="unobserved"):
        close.close_month(request=asked, at=IN_APRIL)


def test_a_month_that_still_settles_cannot_be_closed(research: int) -> None:
    scene.recharge()
    with pytest.raises(close.MonthNotReady, match="hours still to be settled"):
        closed()


def test_statements_sum_to_the_close_and_the_close_to_its_lines(research: int) -> None:
    made = closed()
    of_statements = StatementLine.objects.aggregate(all=Sum("effective_micros"))["all"]
    assert of_statements == made.totals["effective_micros"] == effective(posting_month=MARCH)
    (mine,) = StatementLine.objects.filter(team_id=research)
    assert mine.effective_micros == 49_160_000
    assert (made.digest, made.lines) == digest_of_month(MARCH, "UTC")


def test_no_fact_moves_a_closed_month(research: int) -> None:
    made = closed()
    days = list(LedgerDay.objects.order_by("id").values())
    cut_the_price()
    scene.settle_all(IN_APRIL)
    assert (made.digest, made.lines) == digest_of_month(MARCH, "UTC")
    assert list(LedgerDay.objects.order_by("id").values()) == days
    assert late_facts(MARCH).hours == 1


def test_settling_ends_and_says_what_waits_in_a_closed_month(
    research: int, capsys: pytest.CaptureFixture[str]
) -> None:
    mark_by_clock(at=datetime.now(UTC))
    forget_marks()
    closed()
    cut_the_price()
    span = ("--from", TEN.isoformat(), "--to", (TEN + HOUR).isoformat())

    call_command("settle", *span, "--json")
    settled = json.loads(capsys.readouterr().out)
    call_command("settle", *span)

    assert (settled["pending"], settled["hours"]) == (0, 0)
    (waits,) = settled["waiting"]
    assert (waits["month"], waits["hours"], waits["days"]) == ("2026-03", 1, 0)
    assert "2026-03: 1 hours, 0 days; the month is closed" in capsys.readouterr().out


def test_what_waits_is_counted_in_hours_however_many_nodes_and_passes_wait(research: int) -> None:
    nodes = [scene.make_priced_node(f"n{k}", started_at=TEN, at=TEN) for k in range(3)]
    forget_marks()
    for node_id in nodes:
        # Wider than a day: kept as a range for each node and pass.
        fleet.end_node(node_id=node_id, ended_at=TEN + HOUR, reason="a test", at=TEN + 30 * HOUR)
    counts = {item.code: item.count for item in checklist(MARCH)}
    assert (counts["pending"], counts["unsummed"]) == (29, 0)


def test_what_came_late_is_posted_in_the_open_month_once(research: int) -> None:
    made = closed()
    cut_the_price()
    posted = close.post_corrections(month=MARCH, at=IN_APRIL)
    assert (posted.hours, posted.effective_micros) == (1, -49_160_000)
    scene.settle_all(IN_APRIL)
    assert (made.digest, made.lines) == digest_of_month(MARCH, "UTC")
    assert effective(posting_month=APRIL) == -49_160_000
    assert effective(posting_month=APRIL, team_id=research) == -24_580_000
    corrections = Charge.objects.filter(corrects__isnull=False)
    assert {each.corrects.hour for each in corrections} == {TEN}
    assert (
        LedgerDay.objects.filter(posting_month=APRIL).aggregate(all=Sum("effective_micros"))["all"]
        == -49_160_000
    )
    assert late_facts(MARCH).hours == 0
    scene.recharge()
    again = close.post_corrections(month=MARCH, at=IN_APRIL + HOUR)
    assert again.charges == 0


def test_reopening_keeps_what_was_told_and_closing_again_is_a_new_version(research: int) -> None:
    first = closed()
    close.reopen_month(month=MARCH, reason="a wrong price", person_id=None, at=IN_APRIL)
    cut_the_price()
    scene.settle_all(IN_APRIL)
    second = closed()
    assert [each.version for each in closes(MARCH)] == [2, 1]
    told = {
        each.id: StatementLine.objects.filter(close=each).aggregate(all=Sum("effective_micros"))[
            "all"
        ]
        for each in (first, second)
    }
    assert told == {first.id: 98_320_000, second.id: 49_160_000}
    with pytest.raises(close.MonthNotClosed):
        close.reopen_month(month=APRIL, reason="", person_id=None, at=IN_APRIL)


def cut_the_price() -> None:
    """A contract at half the price, which nobody had entered."""
    pricing.add_rate(
        rate=pricing.EnteredRate(
            kind="contract",
            amount=Decimal("49.16"),
            currency="USD",
            starts_at=TEN,
            ends_at=TEN + HOUR,
            purchase_option="on_demand",
            pool_id=Pool.objects.get().id,
        ),
        at=IN_APRIL,
    )
