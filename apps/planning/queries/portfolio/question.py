"""A portfolio's question as the installation knows it: a document, the GPUs behind it, and what is not known."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import fmean
from typing import Any

from apps.accounts.queries import organisation
from apps.economics.hours import hour_of
from apps.economics.portfolio.names import (
    LEAST_RATE,
    MONTH_HOURS,
    MOST_RATE,
    MOST_TERM_MONTHS,
    MOST_VALUES,
)
from apps.planning.queries.history import HISTORY, SeriesHistory
from apps.planning.queries.job_waits import waiting_price
from apps.planning.queries.portfolio.bought import (
    MICROS,
    BoughtMonths,
    bought_months,
    tolerant_shares,
)
from apps.planning.queries.portfolio.commitments import (
    CapacityContext,
    families_of,
    held_tables,
    is_offer,
    named_once,
    offer_tables,
)
from apps.planning.queries.portfolio.families import PoolFamily, family_prices, pool_families
from apps.planning.queries.portfolio.growth import ForecastGrowth, forecast_growth
from apps.planning.queries.room import RoomAhead
from apps.planning.queries.series import GPU_HOURS, POOL, SeriesKey, series_name
from apps.pricing.queries.commitments import commitments, commitments_in
from apps.pricing.queries.owned import owned_plans

MONTHS, SCENARIOS = 12, 50
MOMENT = timedelta(microseconds=1)
BOUGHT = timedelta(days=128)
"""Four months, of which the last three that are over are looked at."""


@dataclass(frozen=True)
class LedgerQuestion:
    """A document as a file would have it, but for what nobody knows: `missing` says that in sentences.

    `tolerant` is the measured part of each family's GPU-hours that may be interrupted, None where nobody tells;
    `growth` is from how many GPUs on and by which part it grows a month, of families whose forecasts by day tell.
    """

    document: dict[str, Any]
    bought: BoughtMonths
    tolerant: Mapping[str, float | None]
    notes: tuple[str, ...]
    growth: Mapping[str, ForecastGrowth] = field(default_factory=dict)

    @property
    def growing(self) -> dict[str, Any]:
        """The document with that growth."""
        families = [self._grown(table) for table in self.document["families"]]
        return self.document | {"families": families}

    def _grown(self, table: dict[str, Any]) -> dict[str, Any]:
        growth = self.growth.get(table["name"])
        if growth is None:
            return table
        demand_fields = {"starting_gpus": growth.starting_gpus, "monthly_growth": growth.monthly}
        return table | {"demand": table["demand"] | demand_fields}


def ledger_question(histories: Mapping[SeriesKey, SeriesHistory], at: datetime) -> LedgerQuestion:
    """Families with a known hour of demand, what is paid for them, what holds, and what could be bought again."""
    ours = organisation()
    families = [
        pool_family for pool_family in pool_families() if _series_of(pool_family, histories)
    ]
    capacity = CapacityContext(
        families=families,
        prices=family_prices(families, at),
        demand={family.name: _mean_demand(family, histories) for family in families},
        at=at,
    )
    facts = [fact for fact in commitments() if fact.ends_at > at]
    plans = [plan for plan in owned_plans() if plan.holds(at)]
    bought = bought_months(families, _families_of_commitments(capacity), at, ours.zone)
    tolerant = tolerant_shares(families, at - HISTORY, at)
    rooms = RoomAhead(at)
    tables = [
        _family_table(family, capacity, tolerant[family.name], histories)
        | _room_of(family, rooms, at)
        | _waiting_cost(family)
        for family in families
    ]
    offers = named_once(offer_tables(facts, plans, capacity))
    scenarios = MOST_VALUES // (max(1, len(families)) * MONTHS * MONTH_HOURS)
    document = {
        "name": f"GPUs of the next {MONTHS} months",
        "on": capacity.on.isoformat(),
        "currency": ours.currency,
        "months": MONTHS,
        "scenarios": max(1, min(SCENARIOS, scenarios)),
        "families": tables,
        "offers": [offer for offer in offers if is_offer(offer)],
        "held": named_once(held_tables(facts, plans, capacity)),
    }
    notes = [*_notes(capacity, tolerant), *_not_offered(offers)]
    growth = {
        family.name: forecast_growth(_series_of(family, histories), capacity.on)
        for family in families
    }
    known_growth = {name: trend for name, trend in growth.items() if trend is not None}
    return LedgerQuestion(document, bought, tolerant, tuple(notes), known_growth)


def _families_of_commitments(capacity: CapacityContext) -> dict[int, frozenset[str]]:
    """The families that each commitment could be used in which held in the last months, by its id."""
    facts = commitments_in(capacity.at - BOUGHT, capacity.at + MOMENT)
    return {
        fact.id: frozenset(family.family.name for family in families_of(fact, capacity))
        for fact in facts
    }


def _not_offered(offers: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    left = "; ".join(offer["name"] for offer in offers if not is_offer(offer))
    if left:
        yield (
            f"{left} cannot be planned with: a rate below {LEAST_RATE} or above {MOST_RATE:,.0f} a GPU-hour, or a term"
            f" over {MOST_TERM_MONTHS} months."
        )


def _series_of(family: PoolFamily, histories: Mapping[SeriesKey, SeriesHistory]) -> list[SeriesKey]:
    keys = [SeriesKey(GPU_HOURS, POOL, str(pool.id)) for pool in family.pools]
    return [key for key in keys if key in histories]


def _mean_demand(family: PoolFamily, histories: Mapping[SeriesKey, SeriesHistory]) -> float:
    means = 0.0
    for key in _series_of(family, histories):
        values = [value for value in histories[key].values if value is not None]
        means += sum(values) / len(values)
    return means


def _family_table(
    family: PoolFamily,
    capacity: CapacityContext,
    tolerant: float | None,
    histories: Mapping[SeriesKey, SeriesHistory],
) -> dict[str, Any]:
    prices = capacity.prices[family.name]
    names = [series_name(key) for key in _series_of(family, histories)]
    table: dict[str, Any] = {"name": family.name, "demand": {"series": names}}
    if prices.on_demand is not None and LEAST_RATE <= prices.on_demand <= MOST_RATE:
        table["on_demand"] = prices.on_demand
    if prices.spot is not None:
        table |= {"spot": prices.spot, "spot_share": tolerant or 0.0}
    return table


def _room_of(family: PoolFamily, rooms: RoomAhead, at: datetime) -> dict[str, Any]:
    """As `room`: the GPUs that can be held at once, the mean of each planned month; nothing where nothing bounds them."""
    pool_ids = frozenset(pool.id for pool in family.pools)
    hours = rooms.of_pools(pool_ids, hour_of(at), MONTHS * MONTH_HOURS)
    months = [hours[begin : begin + MONTH_HOURS] for begin in range(0, len(hours), MONTH_HOURS)]
    return {"room": [round(fmean(month), 3) for month in months]} if months else {}


def _waiting_cost(family: PoolFamily) -> dict[str, float]:
    """As `waiting_cost`: what a policy of headroom says of a GPU that a pool lacks for an hour; nothing where none does."""
    price = waiting_price([pool.id for pool in family.pools])
    return {} if price is None else {"waiting_cost": price / MICROS}


def _notes(capacity: CapacityContext, tolerant: Mapping[str, float | None]) -> list[str]:
    """Return what was left open, in sentences."""
    names = [family.name for family in capacity.families]
    untold = [name for name in names if tolerant[name] is None]
    without_spot = [
        name for name in names if tolerant[name] is not None and capacity.prices[name].spot is None
    ]
    reserved = [
        f"{name} ({capacity.prices[name].reserved:,.4f} a GPU-hour)"
        for name in names
        if capacity.prices[name].reserved is not None
    ]
    notes = []
    if untold:
        notes.append(
            f"What of the work on {'; '.join(untold)} may be interrupted is not known: nothing of it ran on spot,"
            " and no run on it reported. None is taken to be."
        )
    if without_spot:
        notes.append(
            f"No spot price is on record of {'; '.join(without_spot)}: none of it is run on spot."
        )
    notes += [
        f"{name}: {'; '.join(capacity.prices[name].remarks)}."
        for name in names
        if capacity.prices[name].remarks
    ]
    if reserved:
        notes.append(
            f"A reserved price without the term that it takes is on record of {'; '.join(reserved)}: add it as an"
            " offer to have it considered."
        )
    return notes
