"""The commitments that were bought ahead and hold in one hour, at the price of that hour."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import LiteralString

from apps.accounts import queries as accounts
from apps.economics.commitments import CommitmentKind, CommitmentOfHour, CommitmentScope
from apps.economics.eligibility import CommitmentTerms
from apps.economics.hours import HOUR, HOUR_MS
from apps.economics.rates import MICROS, Per
from apps.economics.use_terms import reservation_of
from apps.ledger.queries.calendar import milliseconds_into, posting_month
from apps.ledger.queries.tables import rows
from apps.pricing.queries.commitments import CommitmentFact, commitments_in
from apps.pricing.queries.exchange import Exchange, exchange

# A row of a bill covers the hour and names the commitment: used or not, the bill knows it all.
IS_TOLD: LiteralString = """
EXISTS (SELECT 1 FROM ledger_bill AS bill
        JOIN ledger_billrow AS billed ON billed.bill_id = bill.id
        JOIN ledger_billimport AS batch ON batch.id = billed.batch_id AND batch.state = 'done'
        WHERE bill.starts_at <= this.hour AND bill.ends_at > this.hour
          AND bill.reconciled_at IS NOT NULL AND NOT bill.is_rounded_upstream
          AND billed.commitment_id = external_id AND billed.commitment_id <> ''
          AND billed.starts_at <= this.hour AND billed.ends_at > this.hour
          AND billed.replaced_by_id IS NULL)
"""
NAMED: LiteralString = """
SELECT external_id
FROM unnest(%(names)s::text[]) AS external_id, (SELECT %(hour)s::timestamptz AS hour) AS this
WHERE :is_told
""".replace(":is_told", IS_TOLD)
# Where both tell what was not used, or neither does.
TOLD_OTHERWISE: LiteralString = """
SELECT DISTINCT this.hour
FROM pricing_commitment_fact AS bought,
     generate_series(
         date_trunc('hour', greatest(lower(bought.period), %(starts_at)s,
                                     (SELECT min(lower(period)) FROM fleet_node_fact)), 'UTC'),
         least(upper(bought.period), bought.ended_at, %(ends_at)s) - interval '1 microsecond',
         interval '1 hour') AS this (hour)
WHERE bought.external_id <> ''
  AND :is_told = EXISTS (
      SELECT 1 FROM ledger_charge AS charge
      WHERE charge.kind = 'commitment_unused' AND charge.commitment_id = bought.id
        AND charge.billed_charge_id IS NULL AND charge.hour = this.hour AND charge.corrects_id IS NULL)
ORDER BY this.hour
""".replace(":is_told", IS_TOLD)


@dataclass(frozen=True, slots=True)
class CommitmentInForce:
    """A commitment in an hour: what it may cover, and whose its unused part is (None: Platform's).

    `is_unconverted`: no rate of exchange is known for its currency, so its cost is not either.
    """

    id: int
    name: str
    applied: CommitmentOfHour
    owner_id: int | None
    pool_id: int | None
    external_id: str
    is_provisional: bool
    is_unconverted: bool


def commitments_of_hour(hour: datetime, through: datetime) -> list[CommitmentInForce]:
    """Those that hold in `[hour, through)`, by id."""
    commitments = commitments_in(hour, through) if through > hour else []
    if not commitments:
        return []
    organisation = accounts.organisation()
    month = posting_month(hour, organisation.zone)
    exchanges = {
        code: exchange(from_currency=code, to_currency=organisation.currency, month=month)
        for code in {commitment.currency for commitment in commitments}
    }
    return [
        _commitment_in_force(commitment, exchanges[commitment.currency], hour, through)
        for commitment in commitments
    ]


def billed_commitment_ids(hour: datetime, commitments: Iterable[CommitmentInForce]) -> set[int]:
    """Those of which a reconciled bill tells in this hour, by id."""
    ids = {force.external_id: force.id for force in commitments if force.external_id}
    if not ids:
        return set()
    named = rows(NAMED, {"names": list(ids), "hour": hour})
    return {ids[name] for (name,) in named}


def hours_billed_differently(starts_at: datetime, ends_at: datetime) -> list[datetime]:
    """Hours in which a commitment's unused part stands twice, or not at all, since bills changed."""
    hour_rows = rows(TOLD_OTHERWISE, {"starts_at": starts_at, "ends_at": ends_at})
    return [hour for (hour,) in hour_rows]


def bought_as(
    fact: CommitmentFact, *, paid_micros: int = 0, lasts_ms: int = HOUR_MS
) -> CommitmentOfHour:
    """A commitment as arithmetic knows it, in an hour that costs `paid_micros`."""
    return CommitmentOfHour(
        id=fact.id,
        kind=CommitmentKind[fact.kind.upper()],
        scope=CommitmentScope(
            provider=fact.provider,
            region=fact.region,
            instance_type=fact.instance_type,
            gpu_model=fact.gpu_model,
            pool_id=fact.pool_id,
        ),
        paid_micros=paid_micros,
        terms=_terms_of(fact),
        units=fact.units,
        per=Per(fact.unit),
        spend_micros=round(fact.spend * MICROS),
        prices={name: round(amount * MICROS) for name, amount in fact.prices.items()},
        lasts_ms=lasts_ms,
    )


def _terms_of(fact: CommitmentFact) -> CommitmentTerms:
    is_block = fact.kind == CommitmentKind.CAPACITY_BLOCK.name.lower()
    return CommitmentTerms(
        is_block=is_block,
        reservation=reservation_of(fact.external_id) if is_block else "",
        platform=fact.platform,
        tenancy=fact.tenancy,
        account=fact.account,
        is_shared=fact.is_shared,
        has_platform=(fact.provider, fact.kind) == ("aws", "reserved"),
    )


def _commitment_in_force(
    fact: CommitmentFact, rate: Exchange | None, hour: datetime, through: datetime
) -> CommitmentInForce:
    starts_ms = milliseconds_into(hour, max(hour, fact.starts_at))
    lasts_ms = milliseconds_into(hour, min(through, fact.ends_at)) - starts_ms
    return CommitmentInForce(
        id=fact.id,
        name=fact.name,
        applied=bought_as(
            fact,
            paid_micros=0 if rate is None else _paid_in_hour(fact, rate.rate, hour, lasts_ms),
            lasts_ms=lasts_ms,
        ),
        owner_id=fact.owner_id,
        pool_id=fact.pool_id,
        external_id=fact.external_id,
        is_provisional=rate is not None and not rate.is_stated,
        is_unconverted=rate is None,
    )


def _paid_in_hour(fact: CommitmentFact, rate: Fraction, hour: datetime, lasts_ms: int) -> int:
    """The whole price of the term, hour by hour, so that the hours sum to what is billed for it."""
    total = round(fact.price * MICROS)
    before, after = fact.elapsed_ms(hour), fact.elapsed_ms(hour + HOUR)
    amount = total * after // fact.term_ms - total * before // fact.term_ms
    return round(amount * rate) * lasts_ms // (after - before)
