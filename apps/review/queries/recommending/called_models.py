"""Calls to model APIs of the last four weeks, by what they were for, and what a token of each model cost."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from apps.accounts.queries import organisation
from apps.accounts.queries.reading import once
from apps.economics.moves.saving import MONTH_HOURS
from apps.economics.token_prices import TokenPrices, TokenUse, token_prices
from apps.ledger.queries.api_spend import Spend, SpendQuery, spend
from apps.ledger.queries.windows import Window
from apps.placement.queries.moves.work import move_week

SEEN = timedelta(weeks=4)
MONTHS_SEEN = SEEN / timedelta(hours=1) / MONTH_HOURS
FEWEST_CALLS = 500
"""Of a model for one thing, in four weeks: fewer show nothing of how it does there."""
FEW = f"fewer than {FEWEST_CALLS} calls were made for it"
UNPRICED = "a part of its calls has no price"
NO_WORKLOAD = "its calls name no workload"
CALLS = "calls to model APIs by workload, feature and model"


class CalledModel(NamedTuple):
    """A vendor's model at a tier: what has one price list."""

    vendor: str
    model: str
    tier: str

    @property
    def label(self) -> str:
        """As people read it."""
        return f"{self.model}, {self.tier}" if self.tier else self.model


class CalledFor(NamedTuple):
    """The purpose of calls: a workload and a feature."""

    workload_id: int | None
    feature: str


@dataclass(frozen=True, slots=True)
class CalledWeeks:
    """All calls of the window: by what they were for and model; and prices of models as far as they are known."""

    window: Window
    uses: Mapping[CalledFor, Mapping[CalledModel, Spend]]
    prices: Mapping[CalledModel, TokenPrices | None]


def called_weeks(at: datetime) -> CalledWeeks:
    """The four whole weeks before the one that a moment is in; read once for all detectors."""
    return _called_before(move_week(at).toordinal())


def use_of(called: Spend) -> TokenUse:
    """Its tokens by how they are priced."""
    plain = called.input_tokens - called.cached_tokens - called.cache_write_tokens
    return TokenUse(
        plain,
        called.cached_tokens,
        called.cache_write_tokens,
        called.output_tokens,
        called.micros or 0,
    )


def month_of_weeks(amount: float) -> int:
    """Return what an amount of the four weeks comes to in a month of 730 h."""
    return round(amount / MONTHS_SEEN)


def unknown_reason(what: CalledFor, called: Spend) -> str:
    """Why nothing can be said of these calls; empty: it can."""
    if what.workload_id is None:
        return NO_WORKLOAD
    if called.requests < FEWEST_CALLS:
        return FEW
    return UNPRICED if called.unpriced or not called.micros else ""


@once
def _called_before(week: int) -> CalledWeeks:
    zone = organisation().zone
    end = datetime.fromordinal(week).date()
    window = Window("", end - SEEN, end, zone)
    query = SpendQuery(window.starts_at, window.ends_at, zone)
    group = ["workload", "feature", "vendor", "model", "tier"]
    uses: dict[CalledFor, dict[CalledModel, Spend]] = defaultdict(dict)
    for called in spend(query, group):
        workload_id, feature, *model = called.key
        what = CalledFor(workload_id if isinstance(workload_id, int) else None, str(feature))
        uses[what][CalledModel(*map(str, model))] = called
    rows: dict[CalledModel, list[TokenUse]] = defaultdict(list)
    for called in spend(query, [*group, "day"]):
        if called.micros is not None and not called.unpriced:
            rows[CalledModel(*map(str, called.key[2:5]))].append(use_of(called))
    return CalledWeeks(window, uses, {model: token_prices(row) for model, row in rows.items()})
