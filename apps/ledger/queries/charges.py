"""The facts that the charge pass reads: who lived, at which rates, and what is charged already."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db.models import BigIntegerField, Case, F, When
from django.db.models.functions import Coalesce

from apps.economics.hours import HOUR
from apps.economics.rates import RateInHour
from apps.fleet import queries as fleet
from apps.ledger.models import Charge
from apps.ledger.queries.calendar import milliseconds_into
from apps.pricing import queries as pricing

ChargeKey = tuple[str, int, int]
"""Kind; node, shared cost, commitment, billed charge, plan or API item; part: charged once in an hour."""


@dataclass(frozen=True, slots=True)
class StoredCharge:
    """A charge as it stands in the table; `estimate` is what it cost, or would without its bill."""

    id: int
    key: ChargeKey
    pool_id: int | None
    node_id: int | None
    status: str
    digest: bytes
    estimate: int | None = None


@dataclass(frozen=True, slots=True)
class HourRates:
    """A pool's list and contract rates, in milliseconds of the hour."""

    listed: tuple[RateInHour, ...]
    contracted: tuple[RateInHour, ...]

    @property
    def spans(self) -> tuple[RateInHour, ...]:
        """Of both."""
        return (*self.listed, *self.contracted)


ESTIMATE = Case(
    When(billed_micros__isnull=True, then=F("effective_micros")), default=F("estimated_micros")
)
NO_RATES = HourRates((), ())


def charges_of_hour(hour: datetime) -> dict[ChargeKey, StoredCharge]:
    """The charges in force that begin in `hour`; corrections are nobody's to change."""
    number = Coalesce(
        *("billed_charge_id", "node_id", "shared_cost_id", "commitment_id", "owned_plan_id"),
        "api_item_id",
        output_field=BigIntegerField(),
    )
    charge_rows = (
        Charge.objects.filter(hour=hour, corrects__isnull=True)
        .annotate(number=number, estimate=ESTIMATE)
        .values_list(
            *("id", "kind", "number", "part", "pool_id", "node_id", "status", "digest", "estimate")
        )
    )
    held_charges = [
        StoredCharge(
            charge_id, (kind, number or 0, part), pool_id, node_id, status, bytes(digest), estimate
        )
        for charge_id, kind, number, part, pool_id, node_id, status, digest, estimate in charge_rows
    ]
    return {charge.key: charge for charge in held_charges}


def rates_of_hour(hour: datetime, pools: Mapping[int, fleet.PoolFact]) -> dict[int, HourRates]:
    """Each pool's rates through the hour, resolved by priority."""
    return {
        pool_id: HourRates(
            tuple(
                RateInHour(*_within_hour(hour, span), rate=span.list_rate)
                for span in spans
                if span.list_rate is not None
            ),
            tuple(
                RateInHour(*_within_hour(hour, span), rate=span.contract_rate)
                for span in spans
                if span.contract_rate is not None
            ),
        )
        for pool_id, spans in pricing.pool_rates(pools, hour, hour + HOUR).items()
    }


def _within_hour(hour: datetime, span: pricing.RateSpan) -> tuple[int, int]:
    return milliseconds_into(hour, span.starts_at), milliseconds_into(hour, span.ends_at)


def unit_spans(
    hour: datetime, node: fleet.NodeFact, through: datetime, otherwise: int
) -> list[tuple[int, int, int]]:
    """(from, to, units) over the node's lived time up to `through`, in milliseconds of the hour.

    Where nobody said how many units a node has, it is `otherwise`: the pool's usual count.
    """
    return spans_of_units(partial(milliseconds_into, hour), node, through, otherwise)


def spans_of_units(
    into: Callable[[datetime], int], node: fleet.NodeFact, through: datetime, otherwise: int
) -> list[tuple[int, int, int]]:
    """As `unit_spans`, in the milliseconds that `into` makes of a moment."""
    end = into(min(node.lived_to, through))
    reached = into(node.lived_from)
    spans: list[tuple[int, int, int]] = []
    for span in node.capacity_spans:
        starts = min(end, into(span.starts_at))
        ends = min(end, into(span.ends_at))
        if starts > reached:
            _append_span(spans, reached, starts, otherwise)
        if ends > max(reached, starts):
            _append_span(spans, max(reached, starts), ends, span.units)
        reached = max(reached, ends)
    if reached < end:
        _append_span(spans, reached, end, otherwise)
    return spans


def _append_span(spans: list[tuple[int, int, int]], start: int, end: int, units: int) -> None:
    if spans and spans[-1][1:] == (start, units):
        spans[-1] = (spans[-1][0], end, units)
    else:
        spans.append((start, end, units))


def shared_costs_of_hour(hour: datetime) -> Sequence[pricing.SharedCostFact]:
    """The monthly amounts in force when the hour begins."""
    return pricing.shared_costs(hour, hour + HOUR)
