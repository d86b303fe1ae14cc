"""An invoice in US-Pacific months in an organisation of UTC, and one in UTC in the west: every hour is on its own."""

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from django.db.models import Sum
from django.urls import reverse

from apps.fleet import actions as fleet
from apps.ledger.actions import close
from apps.ledger.actions.reconcile import bills_due, reconcile_bill
from apps.ledger.models import Bill, BilledHour, Charge, Close, Line
from apps.ledger.queries.bills.comparing import variance_of
from apps.ledger.queries.closes.checklist import checklist
from apps.ledger.queries.closes.invoices import invoices_of_month
from tests import make
from tests.apps.console.people import signed_in
from tests.apps.ledger import bill_files, scene
from tests.apps.ledger.scene import HOUR
from tests.apps.ledger.test_close import EVERYTHING

pytestmark = pytest.mark.django_db
ACCEPTED = (*EVERYTHING, "uninvoiced")


def utc(*moment: int) -> datetime:
    return datetime(*moment, tzinfo=UTC)


def row(hour: datetime, cost: str, period: tuple[str, str], **given: str) -> dict[str, str]:
    """An hour of the node on an invoice of this period, as Google Cloud writes them."""
    return bill_files.hour_row(
        cost,
        InvoiceIssuerName="Google Cloud",
        ServiceProviderName="Google Cloud",
        BillingPeriodStart=period[0],
        BillingPeriodEnd=period[1],
        ChargePeriodStart=hour.isoformat(),
        ChargePeriodEnd=(hour + HOUR).isoformat(),
        ListCost=cost,
        ContractedCost=cost,
        **given,
    )


def node_that_lived(starts_at: datetime, hours: int, zone: str = "UTC") -> int:
    """gpu-01 (i-01 at its provider), 98.32 an hour, settled."""
    make.make_organisation(zone=zone)
    pool_id = make.make_pool("h100", provider="gcp")
    scene.make_rate(pool_id)
    ended_at = starts_at + hours * HOUR
    node_id = make.make_node(
        "gpu-01", pool_id=pool_id, provider_id="i-01", started_at=starts_at, at=ended_at
    )
    fleet.end_node(node_id=node_id, ended_at=ended_at, reason="given back", at=ended_at)
    settle(ended_at)
    return node_id


def settle(at: datetime) -> None:
    scene.settle(at + 5 * HOUR, starts_at=at - 40 * 24 * HOUR, ends_at=at + 5 * HOUR)


def deliver(folder: Path, at: datetime, *rows: dict[str, str]) -> None:
    """Take in an invoice, reconcile and settle."""
    bill_files.deliver(folder, *rows)
    for bill_id in bills_due():
        reconcile_bill(bill_id=bill_id, at=at)
    settle(at)


def billed(**given: object) -> Decimal:
    """What lines say was billed."""
    found = Line.objects.filter(**given).aggregate(all=Sum("billed_micros"))["all"]
    return Decimal(found or 0) / 10**6


# The clocks of the west go forward on 8 March and back on 1 November 2026.
@pytest.mark.parametrize(
    ("before", "of_month", "first", "last", "words"),
    [
        (
            ("2026-02-01T08:00:00Z", "2026-03-01T08:00:00Z"),
            ("2026-03-01T00:00:00-08:00", "2026-04-01T00:00:00-07:00"),
            utc(2026, 3, 1, 8),
            utc(2026, 4, 1, 7),
            "1 Mar 00:00 to 1 Mar 08:00 by the invoice of 1 Feb 08:00 to 1 Mar 08:00, "
            "1 Mar 08:00 to 31 Mar 24:00 by the invoice of 1 Mar 08:00 to 1 Apr 07:00",
        ),
        (
            ("2026-10-01T07:00:00Z", "2026-11-01T07:00:00Z"),
            ("2026-11-01T00:00:00-07:00", "2026-12-01T00:00:00-08:00"),
            utc(2026, 11, 1, 7),
            utc(2026, 12, 1, 8),
            "1 Nov 00:00 to 1 Nov 07:00 by the invoice of 1 Oct 07:00 to 1 Nov 07:00, "
            "1 Nov 07:00 to 30 Nov 24:00 by the invoice of 1 Nov 07:00 to 1 Dec 08:00",
        ),
    ],
)
def test_hours_at_the_edge_of_the_month_are_on_the_invoice_that_bills_them(
    before: tuple[str, str],
    of_month: tuple[str, str],
    first: datetime,
    last: datetime,
    words: str,
    tmp_path: Path,
) -> None:
    node_that_lived(first - 2 * HOUR, 4)
    month = first.date().replace(day=1)
    costs = {-2: "90", -1: "91", 0: "92", 1: "93"}
    on = {
        k: row(first + k * HOUR, cost, of_month if k >= 0 else before) for k, cost in costs.items()
    }
    deliver(tmp_path, first, on[-2], on[-1])
    deliver(tmp_path, first, on[0], on[1])

    earlier, later = Bill.objects.order_by("starts_at")
    assert (later.starts_at, later.ends_at, earlier.ends_at) == (first, last, first)
    hours = BilledHour.objects.order_by("hour").values_list("bill_id", "billed_micros")
    assert list(hours) == [
        (earlier.id, 90_000_000),
        (earlier.id, 91_000_000),
        (later.id, 92_000_000),
        (later.id, 93_000_000),
    ]
    assert (earlier.residual, later.residual) == (0, 0)
    assert billed(posting_month=month) == 366
    found = variance_of(later.id)
    assert (found.billed_micros, found.estimated_micros) == (185_000_000, 196_640_000)
    assert (found.price_micros, found.unbilled) == (-11_640_000, ())
    (item,) = [item for item in checklist(month) if item.code == "uninvoiced"]
    assert (item.count, item.meaning) == (0, f"Google Cloud 1234: {words}")


def test_what_no_invoice_reaches_yet_is_named_at_the_close_and_on_the_statement(
    tmp_path: Path,
) -> None:
    node_that_lived(utc(2026, 3, 31, 22), 12)
    march = ("2026-03-01T08:00:00Z", "2026-04-01T07:00:00Z")
    at = utc(2026, 5, 2)
    deliver(tmp_path, at, row(utc(2026, 4, 1, 6), "90", march))

    gap = [each for each in invoices_of_month(date(2026, 4, 1)) if each.invoice is None]
    assert [(each.starts_at, each.hours) for each in gap] == [(utc(2026, 4, 1, 7), 713)]
    asked = close.CloseRequest(month=date(2026, 4, 1), person_id=None, accepted=EVERYTHING)
    with pytest.raises(close.ItemsNotAccepted, match="uninvoiced"):
        close.close_month(request=asked, at=at)
    close.close_month(
        request=close.CloseRequest(month=date(2026, 4, 1), person_id=None, accepted=ACCEPTED), at=at
    )
    made = Close.objects.get()
    page = signed_in("finance").get(reverse("statement", args=[made.id, scene.platform()]))
    assert (
        "1 Apr 00:00 to 1 Apr 07:00 by the invoice of 1 Mar 08:00 to 1 Apr 07:00, "
        "1 Apr 07:00 to 30 Apr 24:00 by no invoice yet"
    ) in page.content.decode()


def test_the_invoice_of_a_month_comes_though_the_month_before_is_closed(tmp_path: Path) -> None:
    """In the west of UTC an invoice of March begins on the last day of February."""
    edge = utc(2026, 3, 1, 8)
    node_that_lived(edge - 2 * HOUR, 4, zone="America/Los_Angeles")
    at = utc(2026, 4, 2)
    february, march = date(2026, 2, 1), date(2026, 3, 1)
    close.close_month(
        request=close.CloseRequest(month=february, person_id=None, accepted=ACCEPTED), at=at
    )
    period = ("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z")
    fee = row(utc(2026, 3, 1), "310", period, ServiceCategory="Other", ResourceId="")
    fee["ChargePeriodEnd"] = period[1]
    deliver(tmp_path, at, *(row(edge + k * HOUR, "90", period) for k in range(-2, 2)), fee)

    assert billed(posting_month=march) == 490
    assert billed(posting_month=february) == 0
    posted = close.post_corrections(month=february, at=at)
    assert (posted.hours, posted.effective_micros) == (2, 2 * (90_000_000 - 98_320_000))
    assert billed() == 670
    assert billed(charge__corrects__hour__lt=edge) == 180
    late = bill_files.deliver(
        tmp_path, row(edge - 5 * HOUR, "1", ("2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"))
    )
    assert [flag[:17] for flag in late.flags] == ["2026-02 is closed"]
    assert Charge.objects.get(kind="service").hour == edge
