"""Months and statements: finance closes, each team reads its own, and files sum to what was told."""

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from apps.fleet import actions as fleet
from apps.fleet.models import Node
from apps.ledger.actions.close import post_corrections
from apps.ledger.models import ChargeKind, Close
from apps.ledger.queries.closes.statements import ACCOUNTS, JournalEntry
from controlplane.env_values import JOURNAL_ACCOUNTS, gl_codes
from tests import make
from tests.apps.console.people import confirmed, csv_rows, signed_in
from tests.apps.ledger import scene
from tests.apps.ledger.scene import LATER, TEN
from tests.rest import with_token

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
MARCH = date(2026, 3, 1)
IN_APRIL = datetime(2026, 4, 2, 9, 30, tzinfo=UTC)
ACCEPTED = ["unpriced", "unbilled", "unmatched", "unowned", "unobserved"]


@pytest.fixture(scope="module")
def research(of_module: None) -> int:
    """Research's job held four of eight GPUs for the only hour of March that cost something."""
    make.make_organisation()
    team = make.make_team("Research")
    scene.make_rule("research", team)
    node_id = scene.make_priced_node()
    gpus = scene.make_gpus(node_id)
    scene.make_job("1", node_id, gpus=4, uuids=gpus[:4], from_=TEN, to=TEN + HOUR)
    fleet.end_node(node_id=node_id, ended_at=TEN + HOUR, reason="given back", at=LATER)
    scene.settle_all(IN_APRIL)
    return team


def table(answer) -> list[dict[str, str]]:
    assert answer.status_code == 200
    return csv_rows(answer)


def closed(client) -> Close:
    answer = confirmed(client, reverse("close-month", args=["2026-03"]), {"accept": ACCEPTED})
    assert answer.status_code == 302
    return Close.objects.get()


def test_finance_closes_a_month_and_every_file_sums_to_it(research: int, settings: Any) -> None:
    finance = signed_in("finance")
    page = finance.get(reverse("month", args=["2026-03"])).content.decode()
    assert "March 2026 is open." in page
    close = closed(finance)
    told = Decimal(close.totals["effective_micros"]) / 10**6
    statements = table(finance.get(reverse("statements-csv", args=[close.id])))
    assert sum(Decimal(row["effective"]) for row in statements) == told
    journal = table(finance.get(reverse("journal-csv", args=[close.id])))
    assert sum(Decimal(row["amount"]) for row in journal) == told
    assert sum(Decimal(row["debit"]) for row in journal) == told
    assert {(row["account"], row["gl_code"], row["credit"]) for row in journal} == {
        ("GPU compute", "", "")
    }
    settings.GL_CODES = {"node_hour": "6120"}
    coded = table(finance.get(reverse("journal-csv", args=[close.id])))
    assert {row["gl_code"] for row in coded} == {"6120"}
    lines = table(finance.get(reverse("statement", args=[close.id, research]) + ".csv"))
    assert sum(Decimal(row["effective"]) for row in lines) == Decimal("49.16")
    page = finance.get(reverse("statement", args=[close.id, research])).content.decode()
    assert "Research cost $49.16 in March 2026." in page


def test_statements_and_journal_are_ordered_over_rest(research: int) -> None:
    close = closed(signed_in("finance"))
    rest = with_token("read")
    rows = rest.get(f"closes/{close.id}/statements", sort="-effective").json()["results"]
    costs = [Decimal(row["effective"]["amount"]) for row in rows]
    assert costs == sorted(costs, reverse=True)
    (entry, *_) = rest.get(f"closes/{close.id}/journal", sort="-debit").json()["results"]
    assert entry["debit"] == entry["amount"] == {"amount": "49.16", "currency": "USD"}
    assert entry["credit"] is None


def test_what_stands_open_is_refused_in_words_until_it_is_accepted(research: int) -> None:
    answer = confirmed(signed_in("finance"), reverse("close-month", args=["2026-03"]), {"note": ""})
    assert answer.status_code == 400
    assert "Waive these, or have them done first" in answer.content.decode()
    assert not Close.objects.exists()


def test_before_a_month_is_closed_it_is_said_what_freezes_and_who_is_told_what(
    research: int,
) -> None:
    finance, path = signed_in("finance"), reverse("close-month", args=["2026-03"])
    page = finance.get(path, {"accept": ACCEPTED, "note": "on time"}).content.decode()
    assert "$98.32 of March 2026 freezes as it stands" in page
    assert re.search(r"Research</th>\s*<td[^>]*>\$49.16", page)
    assert "Waived, and kept with the close: gpu-hours that no bill names (8)" in page
    assert finance.post(path, {"accept": ACCEPTED, "note": "on time"}).status_code == 409
    assert not Close.objects.exists()


def test_only_finance_closes(research: int) -> None:
    for role in ("platform", "lead", "viewer"):
        answer = signed_in(role).post(
            reverse("close-month", args=["2026-03"]), {"accept": ACCEPTED}
        )
        assert answer.status_code == 403
    assert not Close.objects.exists()


def test_a_lead_reads_the_own_statement_and_no_other(research: int) -> None:
    close = closed(signed_in("finance"))
    mine, other = signed_in("lead", research), signed_in("viewer")
    assert mine.get(reverse("statement", args=[close.id, research])).status_code == 200
    assert other.get(reverse("statement", args=[close.id, research])).status_code == 404
    assert other.get(reverse("statement", args=[close.id, research]) + ".csv").status_code == 404
    assert mine.get(reverse("journal-csv", args=[close.id])).status_code == 403
    assert [row["team"] for row in table(mine.get(reverse("statements-csv", args=[close.id])))] == [
        "Research"
    ]
    assert table(other.get(reverse("statements-csv", args=[close.id]))) == []
    assert "98.32" not in mine.get(reverse("months")).content.decode()


def test_opening_again_asks_why_and_keeps_what_was_told(research: int) -> None:
    finance = signed_in("finance")
    close = closed(finance)
    again = reverse("reopen-month", args=["2026-03"])
    assert confirmed(finance, again, {"reason": " "}).status_code == 400
    looked = finance.get(again, {"reason": "a wrong price"}).content.decode()
    assert "Version 1 of March 2026 stays readable" in looked
    assert "Nothing late waits and nothing was corrected" in looked
    assert confirmed(finance, again, {"reason": "a wrong price"}).status_code == 302
    assert confirmed(finance, again, {"reason": "once more"}).status_code == 400
    page = finance.get(reverse("month", args=["2026-03"])).content.decode()
    assert "a wrong price" in page
    assert finance.get(reverse("statement", args=[close.id, research])).status_code == 200


def test_before_a_month_is_opened_it_is_said_what_moves(research: int) -> None:
    finance = signed_in("finance")
    closed(finance)
    again = reverse("reopen-month", args=["2026-03"])
    scene.make_rate(Node.objects.get().pool_id, Decimal(50), kind="contract")
    looked = finance.get(again, {"reason": "a wrong price"}).content.decode()
    assert "1 late-arriving hour" in looked
    assert "the figures of the month move with them" in looked
    make.make_node("april", at=IN_APRIL)
    post_corrections(month=MARCH, at=IN_APRIL)
    looked = finance.get(again, {"reason": "a wrong price"}).content.decode()
    assert "late-arriving" not in looked
    assert "Corrections of −$48.32 that were posted in April 2026 are taken" in looked


def test_a_journal_has_a_code_for_every_account_that_it_can_have() -> None:
    assert set(ACCOUNTS) == set(JOURNAL_ACCOUNTS) == set(ChargeKind)
    assert gl_codes("node_hour=6120, tax = 2310") == (("node_hour", "6120"), ("tax", "2310"))
    for wrong in ("compute=1", "tax"):
        with pytest.raises(ValueError, match=wrong):
            gl_codes(wrong)
    given_back = JournalEntry("CC-1", "Research", "Credits", "", Decimal("-7.10"))
    assert (given_back.debit, given_back.credit) == (None, Decimal("7.10"))


def test_a_month_asks_the_database_at_most_fifteen_questions(
    research: int, django_assert_max_num_queries: Any
) -> None:
    finance = signed_in("finance")
    page = reverse("month", args=["2026-03"])
    for path in (page, reverse("months")):
        finance.get(path)
        with django_assert_max_num_queries(15):
            assert finance.get(path).status_code == 200
    closed(finance)
    with django_assert_max_num_queries(15):
        assert finance.get(page).status_code == 200


@pytest.mark.parametrize("month", ["2026-13", "9999-12", "2200-01", "1989-12", "0001-01"])
def test_a_month_that_is_none_is_not_found(research: int, month: str) -> None:
    finance = signed_in("finance")
    assert finance.get(reverse("month", args=[month])).status_code == 404
    assert finance.get(f"/costs/lines/{month}/1").status_code == 404
