"""What changes prices and costs."""

from apps.pricing.actions.checking import (
    RateCurrencyDiffers,
    RateEndsBeforeItStarts,
    RateNotUnderstood,
)
from apps.pricing.actions.exchange import (
    ExchangeRateNotUnderstood,
    NewExchangeRate,
    state_exchange_rate,
)
from apps.pricing.actions.rates import (
    NewRate,
    RateAlreadyEnded,
    RateOverlaps,
    RefusedRow,
    TableLoaded,
    add_rate,
    check_rate,
    end_rate,
    load_price_table,
    target_of,
)
from apps.pricing.actions.shared import NewSharedCost, SharedCostExists, add_shared_cost

__all__ = [
    "ExchangeRateNotUnderstood",
    "NewExchangeRate",
    "NewRate",
    "NewSharedCost",
    "RateAlreadyEnded",
    "RateCurrencyDiffers",
    "RateEndsBeforeItStarts",
    "RateNotUnderstood",
    "RateOverlaps",
    "RefusedRow",
    "SharedCostExists",
    "TableLoaded",
    "add_rate",
    "add_shared_cost",
    "check_rate",
    "end_rate",
    "load_price_table",
    "state_exchange_rate",
    "target_of",
]
