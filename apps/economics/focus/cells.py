"""A cell of a bill as a value: the text NULL, times without a zone, costs finer than we keep."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from functools import lru_cache
from typing import cast

from apps.economics.refusal import Refusal

NULLS = frozenset({"", "NULL", "null", "Null", "None", "\\N"})
COST_STEP = Decimal("1E-14")
PRICE_STEP = Decimal("1E-16")
LARGEST = Decimal(10) ** 22
LARGEST_COST = Decimal(10) ** 12
"""Of a row, in its currency: what the ledger sums of them is kept to a millionth, in eight bytes."""
SHORT = 15
WITH_FRACTION = re.compile(r"\d+\.0+")
WITH_EXPONENT = re.compile(r"\d(\.\d+)?[eE]\+\d{1,3}")
EXACTLY = Context(prec=80, traps=[InvalidOperation])
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


class BadCell(Refusal):
    """A cell cannot be read: `field` is its column."""


def text_of(cell: object) -> str:
    """The cell's text; NULL in any spelling is empty.

    What a database keeps in no text (NUL, half a surrogate pair) becomes another character.
    """
    if isinstance(cell, str):
        text = cell.strip()
        if text in NULLS:
            return ""
        if "\0" in text:
            text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
        return text if text.isascii() else text.encode("utf-8", "replace").decode()
    if cell is None:
        return ""
    if isinstance(cell, float):
        # A double's shortest text is what its writer meant; a table's "not a number" is a gap.
        return "" if cell != cell else repr(cell)
    if isinstance(cell, datetime | date):
        return cell.isoformat()
    if isinstance(cell, Mapping | list | tuple):
        return json.dumps(cell, default=str, sort_keys=True)
    return str(cell)


def texts_of(cells: Sequence[object]) -> list[str]:
    """`text_of` of each cell; quick where all are plain text, as in most rows of a CSV."""
    try:
        # Only texts can be joined: whatever else is among them raises.
        joined = "".join(cast(Sequence[str], cells))
    except TypeError:
        return [text_of(cell) for cell in cells]
    if not joined.isascii() or "\0" in joined:
        return [text_of(cell) for cell in cells]
    stripped = [cell.strip() for cell in cast(Sequence[str], cells)]
    return ["" if cell in NULLS else cell for cell in stripped]


def account_of(field: str, text: str) -> str:
    """An account's number as its issuer writes it, where a table had it as a number.

    Refuses BadCell where a spreadsheet rounded it: nobody knows whose row that is.
    """
    if WITH_FRACTION.fullmatch(text):
        return text.partition(".")[0]
    if not WITH_EXPONENT.fullmatch(text):
        return text
    number = Decimal(text)
    if number.as_tuple().exponent != 0:
        raise BadCell(field, f"{text[:40]!r} is an account's number that a spreadsheet rounded")
    return f"{number:f}"


def cost_of(field: str, cell: object, *, step: Decimal = COST_STEP) -> Decimal | None:
    """An exact amount, to `step`; None where the cell is null. Refuses BadCell."""
    return amount_of(field, text_of(cell), step=step)


def amount_of(
    field: str, text: str, *, step: Decimal = COST_STEP, largest: Decimal = LARGEST
) -> Decimal | None:
    """`cost_of` a text that `text_of` gave."""
    if not text:
        return None
    try:
        return _remembered_amount(text, step, largest)
    except ValueError as unread:
        raise BadCell(field, str(unread)) from None


def tags_of(field: str, cell: object) -> dict[str, str]:
    """Tags as text by key, from JSON, a map of Parquet, or nothing. Refuses BadCell."""
    if isinstance(cell, Mapping):
        return {text_of(key): _scalar_text(value) for key, value in cell.items()}
    if isinstance(cell, list | tuple):
        return _tags_of_pairs(field, cell)
    text = text_of(cell)
    if text in ("", "{}"):
        return {}
    return dict(_tags_of_text(field, text))


@lru_cache(maxsize=65_536)
def _tags_of_text(field: str, text: str) -> tuple[tuple[str, str], ...]:
    try:
        read = json.loads(text)
    except ValueError:
        raise BadCell(field, "is no JSON object of tags") from None
    if isinstance(read, list):
        return tuple(_tags_of_pairs(field, read).items())
    if not isinstance(read, dict):
        raise BadCell(field, "is no JSON object of tags")
    return tuple((text_of(key), _scalar_text(value)) for key, value in read.items())


def _tags_of_pairs(field: str, pairs: list[object] | tuple[object, ...]) -> dict[str, str]:
    """A map as Parquet gives it, or labels as BigQuery writes them."""
    tags: dict[str, str] = {}
    for pair in pairs:
        if isinstance(pair, Mapping) and "key" in pair:
            tags[text_of(pair["key"])] = _scalar_text(pair.get("value"))
        elif isinstance(pair, list | tuple) and len(pair) == 2:
            tags[text_of(pair[0])] = _scalar_text(pair[1])
        else:
            raise BadCell(field, "is no list of keys and values")
    return tags


def _scalar_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return text_of(value)


def read_amount(text: str, step: Decimal, largest: Decimal = LARGEST) -> Decimal:
    """An exact amount, to `step`. Refuses ValueError."""
    try:
        amount = Decimal(text)
    except InvalidOperation:
        hint = ": write it as 1234.56" if "," in text else ""
        raise ValueError(f"{text[:40]!r} is no number{hint}") from None
    if not amount.is_finite() or abs(amount) > LARGEST:
        raise ValueError(f"{text[:40]!r} is no amount")
    if abs(amount) > largest:
        raise ValueError(f"{text[:40]!r} is more than {largest:,}, which no row of a bill costs")
    # So short a text holds no more decimals than a cost has.
    if len(text) <= SHORT and "E" not in text and "e" not in text:
        return amount
    exponent = amount.as_tuple().exponent
    if isinstance(exponent, int) and exponent < step.adjusted():
        return amount.quantize(step, ROUND_HALF_EVEN, EXACTLY)
    return amount


_remembered_amount = lru_cache(maxsize=16_384)(read_amount)


@lru_cache(maxsize=65_536)
def moment_of(field: str, text: str) -> datetime:
    """A time in UTC; one without a zone is UTC, as FOCUS wants its times. Refuses BadCell."""
    if not text:
        raise BadCell(field, "is empty")
    try:
        moment = datetime.fromisoformat(text.removesuffix(" UTC"))
    except ValueError:
        raise BadCell(field, f"{text[:40]!r} is no time such as 2026-07-01T00:00:00Z") from None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    if not EARLIEST <= aware <= LATEST:
        raise BadCell(field, f"{text[:40]!r} is no time of a bill")
    return aware.astimezone(UTC)
