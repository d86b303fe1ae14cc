"""Which month a FOCUS file has: corrections stand in the one they are posted in, and one may be empty."""

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from django.db.models import Sum

from apps.fleet import actions as fleet
from apps.fleet.models import Pool
from apps.ledger.actions import close
from apps.ledger.models import Line
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.scene import HOUR, LATER, TEN
from tests.apps.ledger.test_focus_export import export, read

pytestmark = pytest.mark.django_db
EVERYTHING = ("unpriced", "unbilled", "unmatched", "unowned", "unobserved")


def test_what_came_late_is_a_correction_of_the_month_it_corrects(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make.make_organisation()
    at = datetime(2026, 4, 2, 9, 30, tzinfo=UTC)
    node_id = scene.make_priced_node()
    scene.make_gpus(node_id)
    fleet.end_node(node_id=node_id, ended_at=TEN + HOUR, reason="given back", at=LATER)
    scene.settle_all(at)
    asked = close.CloseRequest(month=date(2026, 3, 1), person_id=None, accepted=EVERYTHING)
    close.close_month(request=asked, at=at)
    scene.make_rate(Pool.objects.get().id, Decimal("49.16"), kind="contract")
    close.post_corrections(month=date(2026, 3, 1), at=at)
    path = tmp_path / "april.csv"
    figures = export(path, capsys, month="2026-04")
    corrections = [row for row in read(path) if row["ChargeClass"]]
    assert {(row["ChargeClass"], row["x_CorrectsMonth"]) for row in corrections} == {
        ("Correction", "2026-03")
    }
    (ten,) = [row for row in corrections if row["ChargePeriodStart"] == "2026-03-02T10:00:00Z"]
    assert (ten["EffectiveCost"], ten["BillingPeriodStart"]) == ("-49.16", "2026-04-01T00:00:00Z")
    assert (ten["PricingQuantity"], ten["ListUnitPrice"]) == ("", "")
    posted = Line.objects.filter(posting_month=date(2026, 4, 1))
    assert (
        Decimal(figures["effective"]) * 10**6
        == (posted.aggregate(all=Sum("effective_micros"))["all"])
    )


@pytest.mark.django_db(transaction=True)
def test_a_month_without_a_line_is_a_heading_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make.make_organisation()
    path = tmp_path / "may.csv"
    assert export(path, capsys, month="2026-05")["rows"] == 0
    assert path.read_text().count("\n") == 1
    assert [each.name for each in tmp_path.iterdir()] == ["may.csv"]
