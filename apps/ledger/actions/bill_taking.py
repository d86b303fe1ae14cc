"""A bill's file taken in from its first row to its last, a few thousand at a time."""

import gc
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, localcontext
from itertools import islice
from operator import eq
from typing import Protocol

from apps.economics.focus.cells import EXACTLY, LARGEST_COST
from apps.economics.focus.rows import BilledRow, BillKey, Rejection, RowCosts
from apps.files.read_ahead import read_ahead
from apps.files.stopping import WorkerStops, refuse_to_go_on
from apps.ledger.actions import bills
from apps.ledger.actions.bill_staging import RowsToStage, rows_to_stage, stage_rows
from apps.ledger.models import BillImport
from apps.logs.changes import field_of, logged_change

ROWS_A_LOOK, ROWS_AT_ONCE = 2_500, 20_000
LETTERS_AT_ONCE = 8 << 20
BASES = ("list", "contracted", "effective", "billed")
"""Of `RowCosts`, in their order."""
Read = tuple[int, BilledRow | Rejection]


class OpenBill(Protocol):
    """A file whose header was understood; its rows are read as they are asked for."""

    @property
    def name(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def layout(self) -> str: ...
    @property
    def rows(self) -> Iterator[Read]: ...


@dataclass(slots=True)
class RowTally:
    """The facts seen of a file's rows so far."""

    bills: dict[BillKey, int] = field(default_factory=dict)
    totals: dict[str, dict[str, Decimal]] = field(default_factory=dict)
    without_effective: int = 0
    digests: "array[int]" = field(default_factory=lambda: array("Q"))
    """The first eight bytes of those of rows that cost something."""

    def add(self, read: Iterable[BilledRow]) -> None:
        """Count rows in."""
        of_currency: dict[str, list[RowCosts]] = {}
        for row in read:
            if row.costs.billed or row.costs.effective:
                self.digests.frombytes(row.digest[: self.digests.itemsize])
            of_currency.setdefault(row.frame.bill.currency, []).append(row.costs)
        for currency, costs in of_currency.items():
            sums = self.totals.setdefault(currency, dict.fromkeys(bills.BASES, Decimal(0)))
            with localcontext(EXACTLY):
                for basis, amounts in zip(BASES, zip(*costs, strict=True), strict=True):
                    sums[basis] = sum(
                        (amount for amount in amounts if amount is not None), sums[basis]
                    )
            self.without_effective += sum(cost.effective is None for cost in costs)

    def may_repeat(self) -> bool:
        """Whether some of them may say the same; where none does, the database need not look at them all."""
        ordered = sorted(self.digests)
        return any(map(eq, ordered, islice(ordered, 1, None)))

    def refuse_too_much(self) -> None:
        """Refuse bills.DeliveryRefused where the rows together come to more than the ledger keeps."""
        for currency, sums in self.totals.items():
            for basis, amount in sums.items():
                if abs(amount) > LARGEST_COST:
                    raise bills.DeliveryRefused(
                        f"its rows come to {amount:,.0f} {currency} ({basis}), more than a bill can: "
                        "look for a column in another unit"
                    )

    def flags(self) -> list[str]:
        """Return what is odd about the file, in words."""
        if not self.totals:
            return ["the file has a header and no row: nothing is known by it"]
        missing = self.without_effective
        return [f"{missing} rows have no EffectiveCost"] if missing else []


@logged_change(count=field_of("imported"))
def take_bill(
    *,
    file: OpenBill,
    clock: Callable[[], datetime],
    is_addition: bool = False,
    person_id: int | None = None,
    import_id: int | None = None,
) -> bills.Taken:
    """The whole file, or nothing of it.

    One with rows that could not be read replaces nothing; it is held where it would. `import_id` is an import that runs for this file; else one is begun. Refuses
    DeliveryCalledOff, DeliveryRefused and whatever reading the rows refuses.
    """
    before = bills.delivered_before(file.digest)
    if before is not None and not before.is_held:
        _forget_later_held_deliveries(before, clock())
    if import_id is None:
        if before is not None:
            return before
        delivery = bills.Delivery(
            name=file.name,
            digest=file.digest,
            layout=file.layout,
            size_bytes=file.size_bytes,
            is_addition=is_addition,
            person_id=person_id,
        )
        import_id = bills.begin_delivery(delivery=delivery, at=clock())
    else:
        bills.note_layout(import_id=import_id, layout=file.layout)
    if before is not None:
        return bills.repeat_delivery(import_id=import_id, before=before, at=clock())
    try:
        with _nothing_collected():
            return _take_rows(file, import_id, clock)
    except WorkerStops:
        # Nothing is wrong with the file: whoever has the import lays it down.
        raise
    except Exception as broken:
        bills.break_off_delivery(import_id=import_id, failure=str(broken), at=clock())
        raise


def _forget_later_held_deliveries(before: bills.Taken, at: datetime) -> None:
    """A file that is in force and is sent again says so: what was held after it waits for nothing more."""
    batch = BillImport.objects.get(id=before.import_id)
    if not batch.is_addition:
        bills.forget_held_deliveries(batch, at)


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Without Python's search for cycles, which rows have none of: a third of the work was that."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _take_rows(file: OpenBill, import_id: int, clock: Callable[[], datetime]) -> bills.Taken:
    tally, rejected = RowTally(), 0
    first: Rejection | None = None
    with read_ahead(_chunks_to_stage(file.rows, tally)) as chunks:
        for rows, bad in chunks:
            # Of a small file all is read already when the first of it is stored.
            refuse_to_go_on()
            stage_rows(import_id=import_id, rows=rows, bills=tally.bills, at=clock())
            bills.reject_bill_rows(import_id=import_id, rejected=bad)
            first, rejected = first or next(iter(bad), None), rejected + len(bad)
    if first is not None and not tally.totals:
        raise bills.DeliveryRefused(
            f"none of its {rejected} rows could be read; "
            f"line {first.line}, {first.field}: {first.reason}"
        )
    tally.refuse_too_much()
    return bills.finish_delivery(
        import_id=import_id,
        bill_ids=tally.bills.values(),
        totals=tally.totals,
        flags=tally.flags(),
        may_repeat=tally.may_repeat(),
        at=clock(),
    )


def _chunks_to_stage(
    rows: Iterator[Read], tally: RowTally
) -> Iterator[tuple[RowsToStage, list[Rejection]]]:
    """Yield the rows of each chunk that are to be stored, and those that are not; counted in."""
    for chunk in _row_chunks(rows):
        good = [(line, row) for line, row in chunk if isinstance(row, BilledRow)]
        tally.add(row for _, row in good)
        yield rows_to_stage(good), [row for _, row in chunk if isinstance(row, Rejection)]


def _row_chunks(rows: Iterator[Read]) -> Iterator[list[Read]]:
    """Many rows at once where they are alike; of those that are not, as many as memory is for."""
    chunk: list[Read] = []
    sizes: dict[int, int] = {}
    while some := list(islice(rows, ROWS_A_LOOK)):
        chunk += some
        frames = [row.frame for _, row in some if isinstance(row, BilledRow)]
        sizes |= {id(frame): len(frame.more) + len(frame.tags) for frame in frames}
        if len(chunk) >= ROWS_AT_ONCE or sum(sizes.values()) >= LETTERS_AT_ONCE:
            yield chunk
            chunk, sizes = [], {}
    if chunk:
        yield chunk
