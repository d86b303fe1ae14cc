"""Rows of a delivery put into the database, where they count for nothing until it is whole."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import LiteralString, NamedTuple

from django.db import connection, transaction
from django.db.models import F

from apps.accounts.queries.arriving import arriving_personal_fields, pseudonymise
from apps.accounts.queries.pseudonyms import is_anybody_taken_out
from apps.economics.focus.rows import BilledRow, BillKey, RowFrame, as_json
from apps.ledger.actions.bills import DeliveryCalledOff
from apps.ledger.models import Bill, BillImport, BillImportState

OF_FRAME: LiteralString = """
    traits, kind, category, charge_class, service, usage_type, description, sku, resource_id, region,
    sub_account, pricing_category, commitment_id, commitment_status, invoice_id, consumed_unit,
    pricing_unit, tags, more
"""
OF_ROW: LiteralString = """
    line, digest, starts_at, ends_at, consumed_quantity, pricing_quantity, list_unit_price,
    contracted_unit_price, list_cost, contracted_cost, effective_cost, billed_cost
"""
# What many rows say alike is sent and read once for some thousand of them, not with each.
TABLES: LiteralString = """
CREATE TEMPORARY TABLE IF NOT EXISTS staged_frame (
    number int4, bill_id int8, traits bytea, kind text, category text, charge_class text,
    service text, usage_type text, description text, sku text, resource_id text, region text,
    sub_account text, pricing_category text, commitment_id text, commitment_status text,
    invoice_id text, consumed_unit text, pricing_unit text, tags jsonb, more jsonb
) ON COMMIT DELETE ROWS;
CREATE TEMPORARY TABLE IF NOT EXISTS staged_row (
    frame int4, line int8, digest bytea, starts_at timestamptz, ends_at timestamptz,
    consumed_quantity numeric, pricing_quantity numeric, list_unit_price numeric,
    contracted_unit_price numeric, list_cost numeric, contracted_cost numeric,
    effective_cost numeric, billed_cost numeric
) ON COMMIT DELETE ROWS
"""
FRAMES: LiteralString = "COPY staged_frame (number, bill_id, :frame) FROM STDIN".replace(
    ":frame", OF_FRAME
)
# Numbers and moments alone: no text of theirs is "None", or has a tab in it.
ROWS: LiteralString = "COPY staged_row (frame, :row) FROM STDIN WITH (NULL 'None')".replace(
    ":row", OF_ROW
)
ROW = "\t".join(["%s", "%s", r"\\x%s", *["%s"] * 10]) + "\n"
KEEP: LiteralString = """
INSERT INTO ledger_billrow (batch_id, bill_id, :frame, :row)
SELECT %s, bill_id, :frame, :row
FROM staged_row JOIN staged_frame ON staged_frame.number = staged_row.frame
""".replace(":frame", OF_FRAME).replace(":row", OF_ROW)


class Documents(NamedTuple):
    """The documents of a row's frame, which are no text by themselves."""

    tags: dict[str, str]
    more: dict[str, str]


class RowsToStage(NamedTuple):
    """Some thousand rows as the database takes them; what many say alike stands once, in a frame."""

    size: int
    frames: list[RowFrame]
    texts: str


class _Moments(dict[datetime, str]):
    """Moments as text: most are those of many rows."""

    def __missing__(self, moment: datetime) -> str:
        text = self[moment] = moment.isoformat()
        return text


def rows_to_stage(read: Sequence[tuple[int, BilledRow]]) -> RowsToStage:
    """Lines and their rows as `stage_rows` takes them; asks the database nothing."""
    frames = {id(row.frame): row.frame for _, row in read}
    numbers = {frame: number for number, frame in enumerate(frames)}
    return RowsToStage(len(read), list(frames.values()), "".join(_row_texts(read, numbers)))


@transaction.atomic
def stage_rows(
    *, import_id: int, rows: RowsToStage, bills: dict[BillKey, int], at: datetime
) -> None:
    """Keep some thousand rows of a delivery; `bills` remembers their bills between calls.

    Refuses DeliveryCalledOff.
    """
    running = BillImport.objects.filter(id=import_id, state=BillImportState.RUNNING)
    if not running.update(rows=F("rows") + rows.size, alive_at=at):
        raise DeliveryCalledOff("somebody called the import off")
    # In one order, so that two deliveries of the same new bills take turns.
    for key in sorted({frame.bill for frame in rows.frames} - bills.keys()):
        bills[key] = _bill_id(key, at)
    frames = _pseudonymised_frames(rows.frames)
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        with cursor.copy(FRAMES) as copy:
            for number, frame in enumerate(frames):
                copy.write_row((number, bills[frame.bill], *_frame_columns(frame)))
        with cursor.copy(ROWS) as copy:
            copy.write(rows.texts)
        cursor.execute(KEEP, [import_id])
        # One transaction may stage several times.
        cursor.execute("TRUNCATE staged_row, staged_frame")


def _pseudonymised_frames(frames: Sequence[RowFrame]) -> list[RowFrame]:
    """With pseudonyms for people whose names were taken out, also within tags and further columns."""
    if not is_anybody_taken_out():
        return list(frames)
    fields = arriving_personal_fields("ledger.billrow")
    texts = {name: field for name, field in fields.items() if name not in Documents._fields}
    documents = {name: field for name, field in fields.items() if name in Documents._fields}
    frame_documents = [
        Documents(json.loads(frame.tags), json.loads(frame.more)) for frame in frames
    ]
    return [
        replace(frame, tags=as_json(document.tags), more=as_json(document.more))
        for frame, document in zip(
            pseudonymise(frames, texts), pseudonymise(frame_documents, documents), strict=True
        )
    ]


def _frame_columns(frame: RowFrame) -> tuple[object, ...]:
    return (
        *(frame.traits, frame.kind, frame.category, frame.charge_class, frame.service),
        *(frame.usage_type, frame.description, frame.sku, frame.resource_id, frame.region),
        *(frame.sub_account, frame.pricing_category, frame.commitment_id),
        *(frame.commitment_status, frame.invoice_id, frame.consumed_unit, frame.pricing_unit),
        *(frame.tags, frame.more),
    )


def _row_texts(read: Sequence[tuple[int, BilledRow]], numbers: Mapping[int, int]) -> Iterable[str]:
    moments = _Moments()
    return [
        ROW
        % (
            numbers[id(frame)],
            line,
            digest.hex(),
            moments[starts_at],
            moments[ends_at],
            *amounts,
            *costs,
        )
        for line, (frame, digest, starts_at, ends_at, *amounts, costs) in read
    ]


def _bill_id(key: BillKey, at: datetime) -> int:
    bill, _ = Bill.objects.get_or_create(
        issuer=key.issuer,
        account=key.account,
        starts_at=key.starts_at,
        currency=key.currency,
        defaults={
            "provider": key.provider,
            "ends_at": key.ends_at,
            "created_at": at,
            "changed_at": at,
        },
    )
    return bill.id
