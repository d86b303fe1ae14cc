"""A rule of bills says what it would move before it is kept, by browser and over REST."""

import html
import json
import re
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.economics.billing import BillRowRule
from apps.ledger.actions.bill_rules import add_bill_rule
from apps.ledger.models import BilledMatch, BillRule, Charge, Close
from apps.ledger.queries.bills.rules import bill_rule_rows, moves_if_added, moves_if_ended
from tests import make
from tests.apps.console.people import confirmed, signed_in, words_of
from tests.apps.ledger import scene
from tests.apps.ledger.scene import LATER, TEN
from tests.apps.ledger.test_reconcile import deliver, reconcile, row

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def node_id(of_module: None) -> int:
    make.make_organisation()
    node_id = scene.make_priced_node(pool_id=make.make_pool("h100"))
    scene.settle_all()
    return node_id


def bill_of_two_machines(folder: Path) -> None:
    """Two rows of a machine that nobody knows, one of a disk."""
    deliver(
        folder,
        [
            row("61", ResourceId="host-7"),
            row("62", TEN + timedelta(hours=1), ResourceId="host-7"),
            row("5", ServiceName="Disks", ServiceCategory="Storage", ResourceId="vol-1"),
        ],
    )


def test_what_a_rule_would_move_is_what_it_moves(node_id: int, tmp_path: Path) -> None:
    bill_of_two_machines(tmp_path)
    rule = BillRowRule(0, resource_id="host-*", node_id=node_id)

    (move,) = moves_if_added(rule)

    assert (move.rows, move.billed, move.currency) == (2, Decimal(123), "USD")
    assert (move.came.becomes, move.came.team) == ("unmatched", "Platform")
    assert (move.goes.becomes, move.goes.node) == ("node_hour", "gpu-01")
    assert BilledMatch.objects.get(charge_kind="unmatched").node_id is None
    rule_id = add_bill_rule(rule=rule, at=LATER)
    reconcile(LATER)
    (kept,) = bill_rule_rows()
    assert (kept.rows, kept.billed) == (2, {"USD": Decimal(123)})
    (back,) = moves_if_ended(rule_id)
    assert (back.rows, back.came, back.goes) == (2, move.goes, move.came)


def test_rows_of_an_earlier_rule_stay_with_it(node_id: int, tmp_path: Path) -> None:
    bill_of_two_machines(tmp_path)
    add_bill_rule(rule=BillRowRule(0, resource_id="host-*", node_id=node_id), at=LATER)

    assert moves_if_added(BillRowRule(0, resource_id="host-7", kind="network")) == []


def test_bills_of_closed_months_are_not_moved(node_id: int, tmp_path: Path) -> None:
    bill_of_two_machines(tmp_path)
    Close.objects.create(
        month=TEN.date().replace(day=1), version=1, closed_at=LATER, cut_off=LATER,
        digest="0" * 64, lines=0, totals={},
    )  # fmt: skip

    assert moves_if_added(BillRowRule(0, resource_id="host-*", node_id=node_id)) == []


def test_a_cost_beside_machines_goes_to_the_team_that_a_rule_names(tmp_path: Path) -> None:
    bill_of_two_machines(tmp_path)
    research = make.make_team("Research")

    (move,) = moves_if_added(BillRowRule(0, service="Disks", team_id=research))

    assert (move.came.team, move.goes.team, move.goes.kind) == ("Platform", "Research", "disk")


def test_a_row_of_no_node_is_mapped_from_its_bill(tmp_path: Path) -> None:
    bill_of_two_machines(tmp_path)
    finance = signed_in("finance")
    bill_page = finance.get(
        f"/bills/{BilledMatch.objects.order_by('id')[0].bill_id}"
    ).content.decode()
    (link,) = map(html.unescape, re.findall(r'href="([^"]+resource_id=host-7[^"]+)"', bill_page))

    opened = finance.get(link)
    asked = {"resource_id": "host-7", "issuer": "A Cloud", "node": "gpu-01"}
    looked = finance.get("/bills/rules/new", asked)

    assert "What will change" not in words_of(opened)
    assert 'value="host-7"' in opened.content.decode()
    assert (
        "2 rows of A Cloud, March 2026 ($123.00 billed): from unmatched, charged to Platform"
        " to node gpu-01" in words_of(looked)
    )
    assert not BillRule.objects.exists()
    kept = confirmed(finance, "/bills/rules/new", asked, follow=True)
    reconcile(LATER)
    assert "The rule is saved" in words_of(kept)
    assert "1 rule maps 2 rows of bills in open months." in words_of(finance.get("/bills/rules"))
    assert Charge.objects.filter(kind="unmatched").count() == 0


def test_a_row_without_a_resource_is_mapped_by_its_service(tmp_path: Path) -> None:
    deliver(tmp_path, [row("61", ResourceId="")])
    bill_id = BilledMatch.objects.get().bill_id

    page = signed_in("platform").get(f"/bills/{bill_id}").content.decode()

    assert "/bills/rules/new?service=Machines&amp;issuer=A+Cloud" in page


def test_ending_a_rule_says_where_its_rows_go_first(node_id: int, tmp_path: Path) -> None:
    bill_of_two_machines(tmp_path)
    rule_id = add_bill_rule(rule=BillRowRule(0, resource_id="host-*", node_id=node_id), at=LATER)
    reconcile(LATER)
    finance = signed_in("finance")

    finance.get("/bills/rules")
    with CaptureQueriesContext(connection) as asked:
        looked = words_of(finance.get(f"/bills/rules/{rule_id}/end"))

    assert len(asked) <= 15
    assert "from node gpu-01 to unmatched, charged to Platform" in looked
    confirmed(finance, f"/bills/rules/{rule_id}/end", {})
    assert BillRule.objects.get().ended_at is not None
    assert "It is ended already." in words_of(finance.get(f"/bills/rules/{rule_id}/end"))
    assert "resource host-*" not in words_of(finance.get("/bills/rules"))
    assert "resource host-*" in words_of(finance.get("/bills/rules?show=all"))
    csv = finance.get("/bills/rules.csv").content.decode().splitlines()
    assert csv[1].startswith(f",{rule_id},,,,host-*,,,,,gpu-01,")


def test_a_rule_that_is_none_says_what_is_wrong_by_its_field() -> None:
    finance = signed_in("finance")

    for asked, said in (
        ({"node": "gpu-77", "service": "x"}, "There is no node named 'gpu-77'."),
        ({"kind": "disk"}, "Say which rows: a rule that fits all of them would take them all."),
        ({"kind": "", "service": "x"}, "Say a kind, a node, a pool, a team or a way to share."),
        ({"kind": "water", "service": "x"}, "Choose one of the list."),
        (
            {"service": "x", "node": "gpu-01", "share_method": "even"},
            "What all share is of no node, no pool and no team.",
        ),
        ({"service": "x", "share_method": "weighted"}, "Choose one of the list."),
    ):
        answer = finance.post("/bills/rules/new", asked)
        assert said in words_of(answer)
    assert not BillRule.objects.exists()
    assert finance.get("/bills/rules/987654321/end").status_code == 404


def test_only_finance_and_platform_see_rules() -> None:
    lead = signed_in("lead")
    for address in ("/bills/rules", "/bills/rules.csv", "/bills/rules/new", "/bills/rules/1/end"):
        assert lead.get(address).status_code == 403
        assert Client().get(address).status_code == 302


def test_over_rest_a_rule_is_looked_at_kept_and_ended(tmp_path: Path) -> None:
    bill_of_two_machines(tmp_path)
    token = make.make_token("read", "manage").secret
    client = Client(headers={"Authorization": f"Bearer {token}"})

    def send(path: str, body: Any) -> Any:
        return client.post(f"/api/v1/bill-rules{path}", json.dumps(body), "application/json")

    asked = {"resource_id": "host-*", "node": "gpu-01"}
    preview = send("/preview", asked).json()
    assert not BillRule.objects.exists()
    made = send("", asked)
    reconcile(LATER)
    rule_id = made.json()["id"]
    back = send(f"/{rule_id}/end/preview", {}).json()
    (listed,) = client.get("/api/v1/bill-rules").json()["results"]
    ended = send(f"/{rule_id}/end", {}).json()

    assert (preview["rows"], made.status_code) == (2, 201)
    assert preview["moves"][0]["billed"] == {"amount": "123", "currency": "USD"}
    assert preview["moves"][0]["to_place"]["node"] == "gpu-01"
    assert (back["rows"], back["moves"][0]["to_place"]["becomes"]) == (2, "unmatched")
    assert (listed["rows"], listed["billed"]) == (2, [{"amount": "123", "currency": "USD"}])
    assert ended["ended_at"] is not None
    assert send(f"/{rule_id}/end", {}).json() == ended
    assert send(f"/{rule_id}/end/preview", {}).json() == {"rows": 0, "moves": []}


def test_over_rest_a_rule_that_is_none_is_refused_by_its_field() -> None:
    reader = make.make_token("read").secret
    writer = make.make_token("read", "manage", name="writer").secret

    def send(secret: str, body: Any) -> Any:
        client = Client(headers={"Authorization": f"Bearer {secret}"})
        return client.post("/api/v1/bill-rules", json.dumps(body), "application/json")

    assert send(reader, {"service": "x", "kind": "disk"}).status_code == 403
    assert send(writer, {"kind": "disk"}).status_code == 400
    for field in ("node", "pool", "team"):
        answer = send(writer, {"service": "x", field: "nobody"})
        assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert not BillRule.objects.exists()


def test_the_list_asks_no_more_for_more_rules(
    node_id: int, tmp_path: Path, django_assert_max_num_queries: Any
) -> None:
    bill_of_two_machines(tmp_path)
    for number in range(5):
        add_bill_rule(rule=BillRowRule(0, resource_id=f"host-{number}", node_id=node_id), at=LATER)
    finance = signed_in("finance")
    assert "The 5 rules map no row of bills in open months." in words_of(
        finance.get("/bills/rules")
    )

    with django_assert_max_num_queries(14):
        assert finance.get("/bills/rules").status_code == 200
