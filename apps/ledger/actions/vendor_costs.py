"""A vendor's own cost report, kept beside what calls came to: it is compared, and never booked."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db import transaction

from apps.accounts.queries import organisation
from apps.accounts.queries.arriving import arriving_personal_fields, pseudonymise
from apps.economics.rates import MICROS
from apps.ledger.models import VendorCost
from apps.logs.changes import answered, logged_change
from apps.pricing.queries.exchange import exchange

CENTS = Decimal(100)
MOST_ROWS = 100_000


class VendorCostsNotUnderstood(ValueError):
    """A report that is none of the known ones; the message says where and why."""


@dataclass(frozen=True, slots=True)
class ReportedCost:
    """A vendor's statement of what a day cost, by line item."""

    day: date
    item: str
    project: str
    amount: Decimal
    currency: str


@logged_change(count=answered)
@transaction.atomic
def take_vendor_costs(*, vendor: str, report: Any, at: datetime) -> int:
    """Keep the days of a vendor's report instead of what it told of them before; how many rows.

    `report` is JSON: OpenAI's `/organization/costs` or Anthropic's `cost_report`, a page or a list
    of pages. Refuses VendorCostsNotUnderstood.
    """
    costs = _sum_alike(
        pseudonymise(
            [*_parse_cost_rows(vendor, report)], arriving_personal_fields("ledger.vendorcost")
        )
    )
    if len(costs) > MOST_ROWS:
        raise VendorCostsNotUnderstood(f"{len(costs)} rows are more than {MOST_ROWS}")
    VendorCost.objects.filter(vendor=vendor, day__in={cost.day for cost in costs}).delete()
    ours = organisation().currency
    VendorCost.objects.bulk_create(
        VendorCost(vendor=vendor, micros=_in_micros(cost, ours), told_at=at, **asdict(cost))
        for cost in costs
    )
    return len(costs)


def report_of(text: bytes) -> Any:
    """The JSON of an uploaded file; refuses VendorCostsNotUnderstood."""
    try:
        # Amounts stay as they are written: a float would lose of them.
        return json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as refused:
        raise VendorCostsNotUnderstood(f"the report is no JSON: {refused}") from refused


def _parse_cost_rows(vendor: str, report: Any) -> Iterable[ReportedCost]:
    pages = report if isinstance(report, list) else [report]
    for page in pages:
        buckets = page.get("data") if isinstance(page, Mapping) else None
        if not isinstance(buckets, list):
            raise VendorCostsNotUnderstood("report: `data` is missing, a list of days")
        for place, bucket in enumerate(buckets):
            yield from _of_bucket(vendor, bucket, place)


def _of_bucket(vendor: str, bucket: Any, place: int) -> Iterable[ReportedCost]:
    if not isinstance(bucket, Mapping) or not isinstance(bucket.get("results"), list):
        raise VendorCostsNotUnderstood(f"data[{place}]: `results` is missing")
    day = _bucket_day(bucket, place)
    for row, result in enumerate(bucket["results"]):
        where = f"data[{place}].results[{row}]"
        if not isinstance(result, Mapping):
            raise VendorCostsNotUnderstood(f"{where}: is no object")
        yield (
            _of_anthropic(result, day, where)
            if vendor == "anthropic"
            else _of_openai(result, day, where)
        )


def _of_openai(result: Mapping[str, Any], day: date, where: str) -> ReportedCost:
    """Amounts are in whole units of the currency."""
    amount_field = result.get("amount")
    amount = amount_field if isinstance(amount_field, Mapping) else {}
    return ReportedCost(
        day,
        str(result.get("line_item") or ""),
        str(result.get("project_name") or result.get("project_id") or ""),
        _parse_amount(amount.get("value"), where),
        str(amount.get("currency") or "usd").upper()[:3],
    )


def _of_anthropic(result: Mapping[str, Any], day: date, where: str) -> ReportedCost:
    """Amounts are decimal strings in cents."""
    item = result.get("description") or result.get("model") or result.get("cost_type") or ""
    return ReportedCost(
        day,
        str(item),
        str(result.get("workspace_id") or ""),
        _parse_amount(result.get("amount"), where) / CENTS,
        str(result.get("currency") or "USD").upper()[:3],
    )


def _bucket_day(bucket: Mapping[str, Any], place: int) -> date:
    """The day of UTC that the bucket is of, as vendors cut theirs."""
    start = bucket.get("start_time", bucket.get("starting_at"))
    try:
        if isinstance(start, int | Decimal) and not isinstance(start, bool):
            return datetime.fromtimestamp(int(start), UTC).date()
        return datetime.fromisoformat(str(start)).astimezone(UTC).date()
    except (ValueError, OverflowError, OSError) as refused:
        raise VendorCostsNotUnderstood(f"data[{place}]: when it starts is not said") from refused


def _parse_amount(value: Any, where: str) -> Decimal:
    try:
        amount = Decimal(str(value))
    except InvalidOperation as refused:
        raise VendorCostsNotUnderstood(f"{where}: `amount` {value!r} is no amount") from refused
    if not amount.is_finite() or abs(amount) >= 10**14:
        raise VendorCostsNotUnderstood(f"{where}: `amount` {value!r} is no amount")
    return amount


def _sum_alike(costs: Iterable[ReportedCost]) -> Sequence[ReportedCost]:
    """A row for each day, item, project and currency: reports tell some in several."""
    amounts: dict[tuple[date, str, str, str], Decimal] = {}
    for cost in costs:
        key = (cost.day, cost.item, cost.project, cost.currency)
        amounts[key] = amounts.get(key, Decimal(0)) + cost.amount
    return [
        ReportedCost(day, item, project, amount, currency)
        for (day, item, project, currency), amount in amounts.items()
    ]


def _in_micros(cost: ReportedCost, ours: str) -> int | None:
    rate = exchange(from_currency=cost.currency, to_currency=ours, month=cost.day.replace(day=1))
    if rate is None:
        return None
    numerator, denominator = cost.amount.as_integer_ratio()
    return round(rate.rate * numerator * MICROS / denominator)
