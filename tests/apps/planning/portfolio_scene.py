"""Two months of a pool's demand, its price, and a commitment, from which a portfolio can be asked."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from apps.planning import actions
from apps.planning.queries.series import SeriesKey
from apps.pricing import actions as pricing
from tests import make

HOUR = timedelta(hours=1)
AT = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOURS = 730 + 672
FAMILY = "NVIDIA H100 80GB HBM3, aws us-east-1"
HIGH_HOURS = 490
"""Of the first 730 that follow: sixteen of each of thirty days, and ten more."""
QUICK = {"months": 1, "scenarios": 4}
"""An overlay that is answered in a second."""


def make_portfolio_world() -> int:
    """From eight GPUs to sixteen of a pool at 12.50, of which eight may be committed to at 7; the pool's id."""
    make.make_organisation()
    pool = make.make_pool("h100")
    make.make_rate("100", starts_at=AT - 24 * HOUR)
    begins = AT - HOURS * HOUR
    series = SeriesKey("gpu_hours", "pool", str(pool))
    points = [(begins + hour * HOUR, 8.0 + 8 * (hour % 24 >= 8)) for hour in range(HOURS)]
    actions.import_history(series=series, points=points, at=AT)
    pricing.add_commitment(
        commitment=pricing.EnteredCommitment(
            name="one p5", kind="reserved", currency="USD", provider="aws", region="us-east-1",
            starts_at=AT - 24 * HOUR, ends_at=AT + 729 * 24 * HOUR, instance_type="p5.48xlarge",
            units=1, hourly=Decimal(56),
        ),
        at=AT,
    )  # fmt: skip
    return pool
