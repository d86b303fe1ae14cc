"""Months opened again after corrections: every fact counts once, and the audit can tell."""

import pytest

from apps.ledger.actions import close
from apps.ledger.models import Charge
from tests.apps.ledger import scene
from tests.apps.ledger.test_close import (
    APRIL,
    HOUR,
    IN_APRIL,
    MARCH,
    closed,
    cut_the_price,
    effective,
    research,
)

pytestmark = pytest.mark.django_db
__all__ = ["research"]


def test_opening_a_month_again_takes_its_corrections_back(research: int) -> None:
    closed()
    cut_the_price()
    close.post_corrections(month=MARCH, at=IN_APRIL)

    close.reopen_month(month=MARCH, reason="a wrong price", person_id=None, at=IN_APRIL + HOUR)
    scene.settle_all(IN_APRIL + 2 * HOUR)

    assert effective(posting_month=MARCH) == 49_160_000
    assert effective(posting_month=APRIL) == 0
    reasons = Charge.objects.exclude(corrects=None).values_list("reason", flat=True)
    assert set(reasons) == {"came after 2026-03 was closed", "2026-03 was opened again"}
