"""A price that changes inside an hour: the hour is priced piece by piece, to the micro-unit."""

import gzip
import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest

from apps.fleet.queries import pools
from apps.ledger.models import ChargePiece
from apps.pricing import actions, queries
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db

PRICES = Path(__file__).resolve().parents[4] / "shared" / "data" / "prices"
# AWS cut this machine's price in us-east-1 from 98.32 to 55.04.
CUT_MS = 1_397_250
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


def test_a_p5_through_a_price_cut_pays_each_price_for_its_milliseconds() -> None:
    pool_id = make.make_pool("p5")
    node_id = make.make_node(
        "p5-01", started_at=scene.TEN, at=scene.LATER, pool_id=pool_id, units=8
    )
    cut_at = scene.TEN + timedelta(milliseconds=CUT_MS)
    rates = [
        actions.EnteredRate(
            kind="list",
            amount=Decimal(amount),
            currency="USD",
            starts_at=starts_at,
            purchase_option="on_demand",
            pool_id=pool_id,
        )
        for amount, starts_at in (("98.32", scene.TEN - HOUR), ("55.04", cut_at))
    ]
    actions.load_price_table(rows=list(enumerate(rates)), at=scene.LATER)

    scene.settle()

    # 98.32 × 1,397,250 / 3,600,000 = 38.160450; 55.04 × 2,202,750 / 3,600,000 = 33.677600.
    pieces = ChargePiece.objects.filter(charge=scene.charge(node_id)).order_by("start_ms")
    assert list(pieces.values_list("start_ms", "end_ms", "effective_micros")) == [
        (0, CUT_MS, 38_160_450),
        (CUT_MS, 3_600_000, 33_677_600),
    ]
    assert scene.charge(node_id).effective_micros == 38_160_450 + 33_677_600


def test_real_spot_prices_hold_from_point_to_point_and_entering_them_again_changes_nothing() -> (
    None
):
    file = PRICES / "aws_spot_2021_p3.16xlarge.json.gz"
    if not file.exists():
        pytest.skip("public prices are not beside the checkout")
    points = sorted(
        (datetime.fromisoformat(row["Timestamp"]).astimezone(UTC), Decimal(row["SpotPrice"]))
        for row in json.loads(gzip.decompress(file.read_bytes()))["SpotPriceHistory"]
        if (row["ProductDescription"], row["AvailabilityZone"]) == ("Linux/UNIX", "us-east-1a")
    )
    pool_id = make.make_pool("p3", purchase_option="spot")
    rows = [
        (
            line,
            actions.EnteredRate(
                kind="list",
                amount=amount,
                currency="USD",
                starts_at=moment,
                purchase_option="spot",
                pool_id=pool_id,
                source="AWS spot price history",
            ),
        )
        for line, (moment, amount) in enumerate(points)
    ]
    assert actions.load_price_table(rows=rows, at=scene.LATER).imported == len(points)
    assert actions.load_price_table(rows=rows, at=scene.LATER).unchanged == len(points)

    begins, ends = points[0][0], points[-1][0]
    spans = queries.pool_rates({pool_id: pools()[pool_id]}, begins, ends)[pool_id]
    assert [(span.starts_at, span.paid_rate.amount) for span in spans] == points[:-1]
    assert all(first.ends_at == second.starts_at for first, second in pairwise(spans))
