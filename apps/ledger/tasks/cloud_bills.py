"""Fetches the bills that a cloud delivers, and takes in those that changed."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path

from django.conf import settings

from apps.economics.focus.columns import NotABill
from apps.fleet.actions import clouds
from apps.fleet.queries.clouds import CloudAccountFact
from apps.ledger.actions.bill_taking import take_bill
from apps.ledger.actions.bills import DeliveryCalledOff, DeliveryRefused
from apps.ledger.providers.bill_file import BillBreaksOff, open_bill
from apps.providers.reading import (
    BillDelivery,
    BillPlace,
    DeliveryIncomplete,
    DeliveryUnreadable,
)
from apps.providers.registry import bill_reader_of

Clock = Callable[[], datetime]
NOT_TAKEN = (
    NotABill,
    BillBreaksOff,
    DeliveryCalledOff,
    DeliveryRefused,
    DeliveryUnreadable,
)


@dataclass(slots=True)
class DeliveryTally:
    """Counts of what became of the periods that were looked at, and of their rows."""

    periods: int = 0
    unchanged_periods: int = 0
    waiting: int = 0
    refused: int = 0
    rows: int = 0
    imported: int = 0
    rejected: int = 0


@dataclass(slots=True)
class BillRound:
    """One reading of what a cloud delivers: how far, and what was odd."""

    name: str
    place: BillPlace
    clock: Clock
    tally: DeliveryTally = field(default_factory=DeliveryTally)
    notes: list[str] = field(default_factory=list)


def sync_bills(account: CloudAccountFact, what: str, clock: Clock) -> None:
    """Take in every period whose manifest is another than the last time, oldest first.

    A period whose delivery is not complete, or that is refused, is noted and looked at again the
    next time. Refuses SyncRunsAlready, SyncTakenOver and CloudRefused.
    """
    clouds.run_sync(
        account_id=account.id,
        what=what,
        read=lambda turn: _read_periods(account, turn, clock),
        clock=clock,
    )


def _read_periods(account: CloudAccountFact, turn: clouds.SyncTurn, clock: Clock) -> str:
    place = bill_reader_of(account.provider)(account.access)
    this = BillRound(f"{account.name} {place.name}", place, clock)
    cursor = dict(turn.cursor)
    for delivery in place.deliveries():
        delivery_version = f"{delivery.key} {delivery.version}"
        if cursor.get(delivery.period) == delivery_version:
            this.tally.unchanged_periods += 1
        elif _take_period(this, delivery):
            cursor[delivery.period] = delivery_version
        clouds.keep_page(turn=turn, cursor=cursor, counts=asdict(this.tally), at=clock())
    return "; ".join(this.notes)


def _take_period(this: BillRound, delivery: BillDelivery) -> bool:
    """Whether the period is done with."""
    tally = this.tally
    try:
        with _private_folder() as folder:
            path = this.place.fetch(delivery, folder)
            with open_bill(path, name=f"{this.name} {delivery.period}") as file:
                taken = take_bill(file=file, clock=this.clock)
    except DeliveryIncomplete as waits:
        tally.waiting += 1
        this.notes.append(f"{delivery.period} waits: {waits}")
        return False
    except NOT_TAKEN as refused:
        tally.refused += 1
        this.notes.append(f"{delivery.period} is not taken: {refused}")
        return False
    tally.periods += 1
    tally.rows += taken.rows
    tally.imported += taken.imported
    tally.rejected += taken.rejected
    if taken.rejected:
        subject = "it is held, and" if taken.is_held else "it"
        this.notes.append(
            f"{delivery.period}: {taken.rejected} rows of bill import {taken.import_id} could not be "
            f"read; {subject} waits for somebody to accept it under Bills"
        )
    return True


@contextmanager
def _private_folder() -> Iterator[Path]:
    """A place under RUNRATE_HOME for files that are read once: bills are nobody else's business."""
    home = Path(settings.HOME) / "cloud"
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=home))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
