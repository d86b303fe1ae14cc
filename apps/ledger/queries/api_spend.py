"""The cost of calls to model APIs over a span, by anything they have, and beside the vendor's report."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, LiteralString

from apps.accounts.queries import organisation
from apps.economics.money import sum_of_known
from apps.ledger.queries.closed_months import closed_months
from apps.ledger.queries.tables import rows
from apps.show.entries import Entry, Micros

AMOUNTS = ("micros", "list_micros", "stated_micros", "against_micros")
GROUPS: dict[str, LiteralString] = {
    "vendor": "called.vendor",
    "model": "called.model",
    "team": "called.team_id",
    "workload": "called.workload_id",
    "feature": "called.feature",
    "tier": "called.tier",
    "day": "(called.hour AT TIME ZONE %(zone)s)::date",
}


@dataclass(frozen=True, slots=True)
class SpendQuery:
    """Calls in `[starts_at, ends_at)`; `team_ids` None: of every team. Days are of `zone`."""

    starts_at: datetime
    ends_at: datetime
    zone: str
    team_ids: Collection[int] | None = None
    vendor: str | None = None


@dataclass(frozen=True, slots=True)
class Spend:
    """Calls and what they cost; None where none of them has a price. `key` is by what was grouped.

    `unpriced` of the requests have no price and are in no amount. Tokens are whole. `stated_micros`
    is what their tellers say that some of them cost, `against_micros` our price of the same ones.
    """

    key: tuple[object, ...]
    requests: int
    rate_limited: Annotated[int, Entry(help="answered 429")]
    server_errors: Annotated[int, Entry(help="answered 5xx")]
    other_errors: int
    unpriced: int
    input_tokens: Annotated[int, Entry(help="with cached and cache-write tokens")]
    cached_tokens: int
    cache_write_tokens: int
    output_tokens: Annotated[int, Entry(help="with reasoning tokens")]
    reasoning_tokens: int
    micros: int | None
    list_micros: int | None
    stated_micros: int | None = None
    against_micros: int | None = None

    @property
    def stated_difference_micros(self) -> int | None:
        """The cost that gateways and SDKs state of calls, less our price of the same; None where none states any."""
        if self.stated_micros is None or self.against_micros is None:
            return None
        return self.stated_micros - self.against_micros

    @property
    def tokens(self) -> int:
        """Sent and answered."""
        return self.input_tokens + self.output_tokens

    @property
    def failed(self) -> int:
        """Calls that were answered with an error."""
        return self.rate_limited + self.server_errors + self.other_errors

    @property
    def million_micros(self) -> int | None:
        """The cost of a million tokens; None where some calls have no price, or there are no tokens."""
        if self.micros is None or self.unpriced or not self.tokens:
            return None
        return round(self.micros * 1_000_000 / self.tokens)


@dataclass(frozen=True, slots=True)
class Unpriced:
    """Calls of a model that have no price, and why."""

    vendor: str
    model: str
    tier: str
    requests: int
    tokens: int
    reason: str


@dataclass(frozen=True, slots=True)
class VendorDay:
    """A vendor's day of UTC: what its calls come to, and what the vendor says; None: not known."""

    vendor: str
    day: date
    our_micros: Micros | None
    their_micros: Micros | None
    unpriced: int

    @property
    def difference_micros(self) -> Micros | None:
        """Theirs less ours."""
        if self.our_micros is None or self.their_micros is None:
            return None
        return self.their_micros - self.our_micros


def spend(question: SpendQuery, group_by: Sequence[str] = ()) -> list[Spend]:
    """Return the spend by these groups, the dearest first; none of them: everything together."""
    columns = [GROUPS[name] for name in group_by]
    separator: LiteralString = ", "
    grouped = separator.join(columns)
    key: LiteralString = f"{grouped}," if columns else ""
    by: LiteralString = f"GROUP BY {grouped}" if columns else ""
    query = SPEND.replace(":key", key).replace(":by", by)
    groups = [
        Spend(tuple(row[: len(columns)]), *row[len(columns) :])
        for row in rows(query, _spend_params(question))
    ]
    return sorted(groups, key=lambda group: (-(group.micros or 0), -group.requests, str(group.key)))


def no_calls(key: tuple[object, ...]) -> Spend:
    """Nothing called, and nothing spent."""
    return Spend(key, *[0] * (len(Spend.__slots__) - 3))


def spend_together(groups: Collection[Spend]) -> Spend | None:
    """All of them as one, without a key, list prices as far as they are known; None where there are none."""
    if not groups:
        return None
    sums = {
        name: sum(getattr(group, name) for group in groups)
        for name in Spend.__slots__
        if name not in ("key", *AMOUNTS)
    }
    amounts: dict[str, Any] = {
        name: sum_of_known(getattr(group, name) for group in groups) for name in AMOUNTS
    }
    return Spend(key=(), **amounts, **sums)


def first_called_at() -> datetime | None:
    """The hour of the first call that is known; None: of no call."""
    ((first,),) = rows(FIRST_CALL, {})
    first_at: datetime | None = first
    return first_at


def unpriced_calls(question: SpendQuery) -> list[Unpriced]:
    """Calls without a price, by model, those with the most tokens first."""
    return [Unpriced(*row) for row in rows(UNPRICED, _spend_params(question))]


def compared(question: SpendQuery) -> list[VendorDay]:
    """Each vendor's days that its own report tells of, beside what its calls come to."""
    return [VendorDay(*row) for row in rows(COMPARED, _spend_params(question))]


def vendors_called() -> list[str]:
    """Every vendor of whom a call or a report is known."""
    return [vendor for (vendor,) in rows(VENDORS, {})]


def _spend_params(question: SpendQuery) -> dict[str, object]:
    return {
        "from": question.starts_at,
        "to": question.ends_at,
        "zone": question.zone,
        "teams": None if question.team_ids is None else sorted(question.team_ids),
        "vendor": question.vendor,
    }


WHERE: LiteralString = """
called.hour >= %(from)s AND called.hour < %(to)s
  AND (%(teams)s::int8[] IS NULL OR called.team_id = ANY(%(teams)s))
  AND (%(vendor)s::text IS NULL OR called.vendor = %(vendor)s)
"""
SPEND: LiteralString = """
SELECT :key sum(called.requests)::int8, sum(called.rate_limited)::int8,
       sum(called.server_errors)::int8, sum(called.other_errors)::int8,
       sum(called.unpriced_requests)::int8, sum(called.input_tokens)::int8,
       sum(called.cached_tokens)::int8, sum(called.cache_write_tokens)::int8,
       sum(called.output_tokens)::int8, sum(called.reasoning_tokens)::int8,
       sum(called.micros)::int8,
       CASE WHEN bool_and(called.list_micros IS NOT NULL OR called.micros IS NULL)
            THEN sum(called.list_micros)::int8 END,
       sum(called.stated_micros)::int8, sum(called.against_micros)::int8
FROM ledger_apihour AS called
WHERE :where
:by
HAVING count(*) > 0
""".replace(":where", WHERE)
UNPRICED: LiteralString = """
SELECT called.vendor, called.model, called.tier, sum(called.unpriced_requests)::int8,
       sum(called.input_tokens + called.output_tokens)::int8, max(called.reason)
FROM ledger_apihour AS called
WHERE :where AND called.unpriced_requests > 0
GROUP BY called.vendor, called.model, called.tier
ORDER BY 5 DESC, 1, 2, 3
""".replace(":where", WHERE)
COMPARED: LiteralString = """
WITH ours AS (
    SELECT called.vendor, (called.hour AT TIME ZONE 'UTC')::date AS day,
           sum(called.micros)::int8 AS micros, sum(called.unpriced_requests)::int8 AS unpriced
    FROM ledger_apihour AS called
    WHERE called.hour >= date_trunc('day', %(from)s::timestamptz, 'UTC')
      AND called.hour < date_trunc('day', %(to)s::timestamptz + interval '1 day'
                                   - interval '1 microsecond', 'UTC')
    GROUP BY 1, 2
), theirs AS (
    SELECT vendor, day, CASE WHEN count(*) = count(micros) THEN sum(micros)::int8 END AS micros
    FROM ledger_vendorcost
    WHERE day >= (%(from)s::timestamptz AT TIME ZONE 'UTC')::date
      AND day < (%(to)s::timestamptz AT TIME ZONE 'UTC')::date
         + CASE WHEN (%(to)s::timestamptz AT TIME ZONE 'UTC')::time > '00:00' THEN 1 ELSE 0 END
    GROUP BY vendor, day
)
SELECT theirs.vendor, theirs.day, CASE WHEN ours.vendor IS NULL THEN 0 ELSE ours.micros END,
       theirs.micros, coalesce(ours.unpriced, 0)
FROM theirs LEFT JOIN ours USING (vendor, day)
WHERE %(vendor)s::text IS NULL OR theirs.vendor = %(vendor)s
ORDER BY theirs.vendor, theirs.day
"""
FIRST_CALL: LiteralString = "SELECT min(called.hour) FROM ledger_apihour AS called"
VENDORS: LiteralString = """
SELECT DISTINCT vendor FROM ledger_apihour UNION SELECT vendor FROM ledger_vendorcost ORDER BY 1
"""


@dataclass(frozen=True, slots=True)
class Touched:
    """Past calls that a contract price would be of, as they are priced now."""

    requests: int
    unpriced: int
    input_tokens: int
    cached_tokens: int
    cache_write_tokens: int
    output_tokens: int
    micros: int | None
    list_micros: int | None
    closed_hours: int

    def quantity(self, unit: str) -> int:
        """How much of a contract's unit they are."""
        plain = self.input_tokens - self.cached_tokens - self.cache_write_tokens
        return {
            "all": self.input_tokens + self.output_tokens,
            "input": plain,
            "cached": self.cached_tokens,
            "cache_write": self.cache_write_tokens,
            "output": self.output_tokens,
            "request": self.requests,
        }[unit]


def touched_calls(
    vendor: str, model: str, tier: str, starts_at: datetime, ends_at: datetime | None
) -> Touched:
    """The calls of a vendor's model (`*` at its end: of all that begin so) since `starts_at`."""
    (row,) = rows(
        TOUCHED,
        {
            "vendor": vendor,
            "model": model.removesuffix("*"),
            "open": model.endswith("*"),
            "tier": tier,
            "from": starts_at,
            "to": ends_at,
            "months": [month.isoformat() for month in closed_months()],
            "zone": organisation().zone,
        },
    )
    return Touched(*row)


TOUCHED: LiteralString = """
SELECT coalesce(sum(called.requests), 0)::int8, coalesce(sum(called.unpriced_requests), 0)::int8,
       coalesce(sum(called.input_tokens), 0)::int8, coalesce(sum(called.cached_tokens), 0)::int8,
       coalesce(sum(called.cache_write_tokens), 0)::int8,
       coalesce(sum(called.output_tokens), 0)::int8, sum(called.micros)::int8,
       CASE WHEN bool_and(called.list_micros IS NOT NULL) THEN sum(called.list_micros)::int8 END,
       count(DISTINCT called.hour) FILTER (
           WHERE date_trunc('month', called.hour AT TIME ZONE %(zone)s)::date::text
                 = ANY(%(months)s))
FROM ledger_apihour AS called
WHERE called.vendor = %(vendor)s AND (%(tier)s = '' OR called.tier = %(tier)s)
  AND (called.model = %(model)s OR %(open)s AND starts_with(called.model, %(model)s))
  AND called.hour + interval '1 hour' > %(from)s
  AND (%(to)s::timestamptz IS NULL OR called.hour < %(to)s)
"""
