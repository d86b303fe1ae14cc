"""What a commitment offers stands idle; a bill that says more use than was bought offers nothing."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from apps.ledger.actions.reconcile import bills_due, reconcile_bill
from apps.placement.queries.commitment_offers import commitment_offers
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.bill_files import deliver, hour_row

pytestmark = pytest.mark.django_db
NAMED = {
    "BillingPeriodStart": "2026-03-01T00:00:00Z",
    "BillingPeriodEnd": "2026-04-01T00:00:00Z",
    "ChargePeriodStart": "2026-03-02T10:00:00Z",
    "ChargePeriodEnd": "2026-03-02T11:00:00Z",
    "CommitmentDiscountId": "sp-1",
    "CommitmentDiscountStatus": "Used",
    "ContractedCost": "98.32",
    "ResourceId": "i-01",
}


@pytest.fixture
def _plan_of_two_nodes() -> None:
    make.make_organisation()
    scene.make_priced_node("gpu-01", provider_id="i-01")
    scene.make_commitment(
        kind="savings_plan", units=0, spend=Decimal(80), hourly=Decimal(80), external_id="sp-1",
        prices={"p5.48xlarge": "40"}, period=(scene.TEN, scene.TEN + 2 * scene.HOUR),
    )  # fmt: skip
    scene.settle()


def bill(folder: Path, used: str) -> None:
    deliver(folder, hour_row(used, **NAMED))
    for bill_id in bills_due():
        reconcile_bill(bill_id=bill_id, at=scene.LATER)
    scene.settle()


@pytest.mark.usefixtures("_plan_of_two_nodes")
def test_what_nobody_used_is_offered_in_whole_machines(tmp_path: Path) -> None:
    bill(tmp_path, "39")

    offers, left_out = commitment_offers(scene.TEN + scene.HOUR + timedelta(minutes=5))

    assert [(offer.free_gpus, offer.there_gpus) for offer in offers] == [(8, 16)]
    assert left_out == []


@pytest.mark.usefixtures("_plan_of_two_nodes")
def test_a_bill_of_more_use_than_was_bought_offers_nothing_and_says_so(tmp_path: Path) -> None:
    bill(tmp_path, "82")

    offers, left_out = commitment_offers(scene.TEN + scene.HOUR + timedelta(minutes=5))

    assert offers == []
    (said,) = left_out
    assert said.endswith("its bill says 2.5% more use than was bought of it")
