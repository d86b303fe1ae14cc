"""The audit of closed months: what was told stays as it was told, whatever came later."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.db import connection

from apps.fleet import actions as fleet
from apps.fleet.models import Pool
from apps.ledger.actions import close
from apps.ledger.models import Charge
from apps.ledger.queries.audit import Audit
from apps.pricing import actions as pricing
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.scene import HOUR, LATER, TEN
from tests.apps.ledger.test_close import APRIL, EVERYTHING, IN_APRIL, MARCH, cut_the_price

pytestmark = pytest.mark.django_db
LAST_OF_MARCH = datetime(2026, 3, 31, 23, tzinfo=UTC)


@pytest.fixture(scope="module")
def node_id(of_module: None) -> int:
    """A node that lived for two hours of March, one of them held in part; March is closed."""
    make.make_organisation()
    node_id = scene.make_priced_node()
    gpus = scene.make_gpus(node_id)
    scene.make_job("1", node_id, gpus=4, uuids=gpus[:4])
    fleet.end_node(node_id=node_id, ended_at=TEN + 2 * HOUR, reason="given back", at=LATER)
    pricing.add_shared_cost(
        cost=pricing.EnteredSharedCost(
            name="support",
            amount=Decimal(744),
            currency="USD",
            method="by_cost",
            starts_at=TEN,
            ends_at=TEN + 3 * HOUR,
        ),
        at=LATER,
    )
    scene.settle_all(IN_APRIL)
    asked = close.CloseRequest(month=MARCH, person_id=None, accepted=EVERYTHING)
    close.close_month(request=asked, at=IN_APRIL)
    return node_id


def run(query: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(query)


def audited() -> Audit:
    """The audit after all that is open is settled."""
    scene.settle_all(IN_APRIL + 2 * HOUR)
    return audit_here()


def late_facts(node_id: int) -> None:
    """A price, a job and another node's whole life, all of a closed month."""
    cut_the_price()
    scene.make_job("2", node_id, gpus=2, from_=TEN + HOUR, to=TEN + 2 * HOUR)
    late = make.make_node("gpu-02", pool_id=Pool.objects.get().id, started_at=TEN, at=LATER)
    fleet.end_node(node_id=late, ended_at=TEN + 3 * HOUR, reason="given back", at=LATER)


def test_what_came_late_does_not_count_against_a_closed_month(node_id: int) -> None:
    late_facts(node_id)

    found = audited()

    assert found.places == ()
    assert (found.closed_months, found.pending_days) == ((MARCH,), ())


def test_corrections_add_up_and_so_does_a_month_that_is_opened_again(node_id: int) -> None:
    late_facts(node_id)
    assert close.post_corrections(month=MARCH, at=IN_APRIL + HOUR).charges
    assert audited().places == ()

    close.reopen_month(month=MARCH, reason="late facts", person_id=None, at=IN_APRIL + HOUR)
    assert audited().places == ()


def test_corrections_of_a_node_stand_in_the_hour_that_they_are_of(node_id: int) -> None:
    """The node goes on in the month in which they are posted, and its hours there are its own."""
    at = IN_APRIL + HOUR
    make.make_node("gpu-02", pool_id=Pool.objects.get().id, started_at=LAST_OF_MARCH, at=at)
    assert close.post_corrections(month=MARCH, at=at).charges
    scene.settle_all(at)

    posted = Charge.objects.exclude(corrects=None).get(node__name="gpu-02")
    assert (posted.hour, posted.through) == (LAST_OF_MARCH, LAST_OF_MARCH + HOUR)
    assert posted.posting_month == APRIL
    found = audit_here()
    assert (found.places, found.pending_days) == ((), ())


DAMAGE = {
    "the lines of a closed month are those it was closed with": (
        "UPDATE ledger_line SET team_id = (SELECT max(id) FROM accounts_team)"
        " WHERE id = (SELECT max(id) FROM ledger_line WHERE posting_month = '2026-03-01')"
    ),
    "a closed month is what its statements say": (
        "UPDATE ledger_statementline SET billed_micros = 1"
        " WHERE id = (SELECT max(id) FROM ledger_statementline)"
    ),
    "a correction is of a closed month": (
        "UPDATE ledger_charge SET corrects_id ="
        " (SELECT max(id) FROM ledger_charge WHERE corrects_id IS NOT NULL)"
        " WHERE id = (SELECT min(id) FROM ledger_charge WHERE corrects_id IS NOT NULL)"
    ),
    "lines sum to their charge": (
        "UPDATE ledger_line SET effective_micros = effective_micros + 1 WHERE id ="
        " (SELECT max(id) FROM ledger_line WHERE posting_month = '2026-04-01')"
    ),
}


def test_damage_to_what_was_told_is_named(node_id: int) -> None:
    late_facts(node_id)
    close.post_corrections(month=MARCH, at=IN_APRIL + HOUR)
    scene.settle_all(IN_APRIL + 2 * HOUR)
    for damage in DAMAGE.values():
        run(damage)

    found = audit_here()

    assert DAMAGE.keys() <= {place.check for place in found.places}
    assert "statements of the close" in {place.node for place in found.places}


def test_one_micro_unit_on_a_line_of_a_closed_month_is_found_though_its_hour_waits(
    node_id: int,
) -> None:
    late_facts(node_id)
    run(
        "UPDATE ledger_line SET effective_micros = effective_micros + 1"
        " WHERE id = (SELECT max(id) FROM ledger_line WHERE posting_month = '2026-03-01')"
    )

    found = audit_here()

    assert found.residual_micros == 1
    assert {place.check for place in found.places} >= {
        "lines sum to their charge",
        "a closed month is what its statements say",
        "the lines of a closed month are those it was closed with",
    }
    assert "lines of the close" in {place.node for place in found.places}
