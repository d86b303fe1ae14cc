"""Whatever comes of bills, prices and closes, in whatever order: no cent is lost or counted twice."""

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from django.db import transaction
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from apps.fleet import actions as fleet
from apps.ledger.actions import close
from apps.ledger.actions.bills import DeliveryNotNewest, DeliveryNotUndoable, undo_delivery
from apps.ledger.actions.closed import MonthAlreadyClosed
from apps.ledger.actions.exchanging import state_rate
from apps.ledger.actions.reconcile import bills_due, reconcile_bill
from apps.ledger.models import Bill, BilledCharge, BilledHour, BillImport, Charge, Line, Status
from apps.ledger.queries.closed_months import closed_months
from apps.pricing import actions as pricing
from apps.pricing.models import ExchangeRate
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import bill_files, scene
from tests.apps.ledger.bill_files import take_file
from tests.apps.ledger.scene import HOUR
from tests.planted import undone

pytestmark = pytest.mark.django_db
BASES = ("list_micros", "contracted_micros", "effective_micros", "billed_micros")
EXAMPLES = 2
# An example settles over a real database for a second or two: making it smaller takes minutes.
PHASES = (Phase.explicit, Phase.generate)
DEEP = max(100, settings.default.max_examples)

FEBRUARY, MARCH = date(2026, 2, 1), date(2026, 3, 1)
EDGE = datetime(2026, 3, 1, 8, tzinfo=UTC)
"""Where an invoice of February in US-Pacific months ends and that of March begins."""
BORN = EDGE - 10 * HOUR
"""The node lives for two hours of February in UTC, and for eleven of March."""
PERIODS = {
    FEBRUARY: ("2026-02-01T08:00:00Z", EDGE.isoformat()),
    MARCH: (EDGE.isoformat(), "2026-04-01T07:00:00Z"),
}
ACCEPTED = (
    *("unpriced", "unbilled", "unmatched", "unowned", "unobserved", "uninvoiced"),
    *("pending", "bills", "provisional"),
)
REFUSALS = (
    MonthAlreadyClosed,
    DeliveryNotNewest,
    DeliveryNotUndoable,
    close.MonthNotReady,
    close.MonthNotClosed,
)


@dataclass(frozen=True)
class Billed:
    """A row: of which invoice, from which hour of it, how long, for what and how dear."""

    of: date
    hour: int
    length: int
    resource: str
    kind: str
    effective: Decimal
    billed: Decimal
    currency: str


@dataclass(frozen=True)
class Step:
    """Something that happens; `number` chooses among what is there."""

    what: str
    number: int = 0
    rows: tuple[Billed, ...] = ()


amounts = st.decimals("-3", "99.999", places=3) | st.decimals("0", "60", places=8)
billed_rows = st.builds(
    Billed,
    of=st.sampled_from([FEBRUARY, MARCH]),
    hour=st.integers(0, 3),
    length=st.sampled_from([1, 1, 1, 2, 24]),
    resource=st.sampled_from(["i-01", "i-01", "i-02", "", "i-unknown"]),
    kind=st.sampled_from(["compute", "compute", "disk", "credit", "tax"]),
    effective=amounts,
    billed=amounts,
    currency=st.sampled_from(["USD", "USD", "EUR"]),
)
files = st.lists(billed_rows, min_size=1, max_size=6).map(tuple)
numbers = st.integers(0, 5)
steps = st.one_of(
    st.builds(Step, what=st.sampled_from(["deliver", "deliver", "add"]), rows=files),
    st.builds(
        Step, what=st.sampled_from(["again", "undo", "undo", "price", "rate"]), number=numbers
    ),
    st.builds(Step, what=st.sampled_from(["settle", "job"]), number=numbers),
    # March is closed more often than February: both invoices reach into it.
    st.builds(
        Step,
        what=st.sampled_from(["close", "close", "correct", "reopen"]),
        number=st.sampled_from([0, 1, 1, 1]),
    ),
)
sequences = st.lists(steps, min_size=3, max_size=9)


def _late(effective: str) -> Step:
    """February's invoice, of which the first hour is of March in UTC."""
    amount = Decimal(effective)
    row = Billed(FEBRUARY, 0, 1, "i-01", "compute", amount, amount, "EUR")
    rest = Billed(FEBRUARY, 0, 24, "", "disk", amount, amount, "EUR")
    return Step("deliver", rows=(row, rest))


A_LIFE = [
    *(_late("61.00000001"), Step("settle"), Step("close", 1), Step("price", 2), _late("60.5")),
    *(Step("settle"), Step("correct", 1), Step("undo"), Step("settle"), Step("correct", 1)),
    *(Step("reopen", 1), Step("settle"), Step("job", 3), Step("close", 1), Step("price", 4)),
    *(Step("again", 1), Step("correct", 1), Step("close", 0), Step("reopen", 1), Step("undo")),
]
"""Two closes of a month with everything that can come late, and all of it taken back."""

A_NODES_DISK = Billed(FEBRUARY, 0, 1, "i-01", "disk", Decimal(0), Decimal(0), "USD")
A_LATE_DISK = [Step("close", 1), Step("deliver", rows=(A_NODES_DISK,))]
"""A charge of a node that is no node-hour, and that the closed month never had."""


@pytest.fixture(autouse=True)
def _organisation() -> None:
    """Two nodes through the edge of both calendars, settled; a rate of exchange is known."""
    make.make_organisation()
    team = make.make_team("Research")
    scene.make_rule("research", team)
    pool_id = make.make_pool("h100")
    scene.make_rate(pool_id)
    at = EDGE + 4 * HOUR
    for number in (1, 2):
        node_id = make.make_node(
            f"gpu-0{number}", pool_id=pool_id, provider_id=f"i-0{number}", started_at=BORN, at=at
        )
        fleet.end_node(node_id=node_id, ended_at=EDGE + 3 * HOUR, reason="given back", at=at)
    rate = pricing.NewExchangeRate(FEBRUARY, "EUR", "USD", Decimal("1.0837"))
    state_rate(rate=rate, at=EDGE)
    scene.settle_all(NOW)


NOW = datetime(2026, 4, 20, 9, tzinfo=UTC)


@settings(max_examples=EXAMPLES, phases=PHASES)
@example(happens=A_LIFE)
@example(happens=A_LATE_DISK)
@given(happens=sequences)
def test_any_sequence_keeps_every_cent(happens: list[Step]) -> None:
    check(happens)


@pytest.mark.proof
@settings(max_examples=DEEP, phases=PHASES)
@given(happens=st.lists(steps, min_size=3, max_size=20))
def test_any_long_sequence_keeps_every_cent(happens: list[Step]) -> None:
    check(happens)


def check(happens: Sequence[Step]) -> None:
    """Do what happens; then whatever waits is done, and everything has to add up."""
    with undone(), tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        for step in happens:
            world.do(step)
        world.finish()
        assert_bills_are_in_the_ledger()
        assert_lines_are_their_charges()
        assert audit_here().places == ()


class World:
    """What was delivered so far, and the clock."""

    def __init__(self, folder: Path) -> None:
        """Nothing was."""
        self.folder = folder
        self.delivered: list[tuple[tuple[Billed, ...], bool]] = []
        self.at = NOW

    def do(self, step: Step) -> None:
        """One step; what may be refused then may be refused."""
        self.at += HOUR
        try:
            with transaction.atomic():
                getattr(self, step.what)(step)
        except REFUSALS:
            return

    def deliver(self, step: Step, *, is_addition: bool = False) -> None:
        """A file of these rows."""
        self.delivered.append((step.rows, is_addition))
        self._take(step.rows, is_addition)

    def add(self, step: Step) -> None:
        """One of several files."""
        self.deliver(step, is_addition=True)

    def again(self, step: Step) -> None:
        """A file that came before, once more."""
        if self.delivered:
            self._take(*self.delivered[step.number % len(self.delivered)])

    def undo(self, step: Step) -> None:
        """One of the latest deliveries is taken back."""
        ids = list(BillImport.objects.order_by("-id").values_list("id", flat=True))
        if ids:
            undo_delivery(import_id=ids[step.number % min(2, len(ids))], at=self.at)

    def settle(self, step: Step) -> None:
        """Bills are reconciled and every pass is done."""
        for bill_id in bills_due():
            try:
                with transaction.atomic():
                    reconcile_bill(bill_id=bill_id, at=self.at)
            except MonthAlreadyClosed:
                continue
        scene.settle_all(self.at)

    def close(self, step: Step) -> None:
        """A month is closed, once nothing waits in it."""
        self.settle(step)
        month = (FEBRUARY, MARCH)[step.number % 2]
        asked = close.CloseRequest(month=month, person_id=None, accepted=ACCEPTED)
        close.close_month(request=asked, at=self.at)

    def correct(self, step: Step) -> None:
        """What came late is posted."""
        close.post_corrections(month=(FEBRUARY, MARCH)[step.number % 2], at=self.at)

    def reopen(self, step: Step) -> None:
        """A month is opened again."""
        month = (FEBRUARY, MARCH)[step.number % 2]
        close.reopen_month(month=month, reason="a test", person_id=None, at=self.at)

    def price(self, step: Step) -> None:
        """A contract price for some hours, which nobody had entered."""
        starts_at = BORN + 2 * step.number * HOUR
        rate = pricing.EnteredRate(
            kind="contract",
            amount=Decimal(40 + step.number),
            currency="USD",
            starts_at=starts_at,
            ends_at=starts_at + HOUR,
            purchase_option="on_demand",
            pool_id=pool(),
        )
        try:
            with transaction.atomic():
                pricing.add_rate(rate=rate, at=self.at)
        except pricing.RateOverlaps:
            return

    def rate(self, step: Step) -> None:
        """A rate of exchange for a month."""
        month = (FEBRUARY, MARCH)[step.number % 2]
        amount = Decimal("1.07") + Decimal(step.number) / 1000
        rate = pricing.NewExchangeRate(month, "EUR", "USD", amount)
        state_rate(rate=rate, at=self.at)

    def job(self, step: Step) -> None:
        """A job that held GPUs of a node, told late."""
        starts_at = BORN + 2 * step.number * HOUR
        number = scene.Job.objects.count()
        scene.make_job(
            str(number), nodes()[step.number % 2], gpus=3, from_=starts_at, to=starts_at + HOUR
        )

    def finish(self) -> None:
        """Nothing waits any more: all is reconciled, settled and corrected."""
        self.settle(Step("settle"))
        for month in sorted(closed_months()):
            close.post_corrections(month=month, at=self.at)
        scene.settle_all(self.at)

    def _take(self, rows: Sequence[Billed], is_addition: bool) -> None:
        path = bill_files.write(self.folder / "bill.csv", [_cells(row) for row in rows])
        take_file(path, is_addition=is_addition, clock=lambda: self.at)


def _cells(row: Billed) -> dict[str, str]:
    since = (EDGE if row.of == MARCH else EDGE - 8 * HOUR) + row.hour * HOUR
    period = PERIODS[row.of]
    about = {
        "compute": {},
        "disk": {"ServiceCategory": "Storage", "PricingUnit": "GB-Months"},
        "credit": {"ChargeCategory": "Credit"},
        "tax": {"ChargeCategory": "Tax"},
    }[row.kind]
    cells = bill_files.hour_row(
        str(row.billed),
        EffectiveCost=str(row.effective),
        BillingCurrency=row.currency,
        BillingPeriodStart=period[0],
        BillingPeriodEnd=period[1],
        ChargePeriodStart=since.isoformat(),
        ChargePeriodEnd=(since + row.length * HOUR).isoformat(),
        ResourceId=row.resource,
        Tags="{}",
    )
    return cells | about


def pool() -> int:
    return int(scene.Charge.objects.filter(kind="node_hour").values_list("pool_id", flat=True)[0])


def nodes() -> list[int]:
    found = scene.Charge.objects.filter(kind="node_hour").values_list("node_id", flat=True)
    return sorted({node_id for node_id in found if node_id is not None})


def assert_bills_are_in_the_ledger() -> None:
    """Rows in force = what they became + residual, of each bill; and that is what lines say."""
    in_ledger = 0
    for bill in Bill.objects.all():
        made = sum(
            micros or 0
            for table in (BilledHour, BilledCharge)
            for micros in table.objects.filter(bill=bill).values_list("billed_micros", flat=True)
        )
        in_ledger += made
        if bill.reconciled_at is None:
            continue
        left = Fraction(bill.residual) + Fraction(made, 10**6)
        assert abs(left - _billed(bill)) <= Fraction(1, 10**13), bill
    lines = Line.objects.exclude(billed_micros=None).values_list("billed_micros", flat=True)
    charges = Charge.objects.exclude(billed_micros=None).values_list("billed_micros", flat=True)
    assert sum(lines) == sum(charges) == in_ledger


def _billed(bill: Bill) -> Fraction:
    found = bill.rows.filter(replaced_by=None, batch__state="done")
    amount = sum(Fraction(each) for each in found.values_list("billed_cost", flat=True))
    if bill.currency == "USD":
        return Fraction(amount)
    month = MARCH if bill.starts_at == EDGE else FEBRUARY
    rates = ExchangeRate.objects.filter(month__lte=month).order_by("-month", "-id")
    return Fraction(amount) * Fraction(rates[0].rate)


def assert_lines_are_their_charges() -> None:
    """On every basis; and lines of node-hours keep the order of their charge."""
    lines: dict[int, list[Line]] = defaultdict(list)
    for line in Line.objects.all():
        lines[line.charge_id].append(line)
    for charge in Charge.objects.all():
        of_charge = lines[charge.id]
        for basis in BASES:
            parts, whole = [getattr(line, basis) for line in of_charge], getattr(charge, basis)
            assert (whole is None and set(parts) <= {None}) or sum(parts) == whole, (charge, basis)
        if charge.kind == "node_hour" and charge.corrects_id is None:
            assert_order(charge, of_charge)


def assert_order(charge: Charge, lines: Sequence[Line]) -> None:
    for lower, upper in (
        ("effective_micros", "contracted_micros"),
        ("contracted_micros", "list_micros"),
    ):
        low, high = getattr(charge, lower), getattr(charge, upper)
        if low is None or high is None:
            continue
        if charge.status == Status.ESTIMATED and charge.estimated_micros is None:
            assert low <= high
        sign = (high > low) - (high < low)
        for line in lines:
            assert (getattr(line, upper) - getattr(line, lower)) * sign >= 0, (charge, line)
