"""What changes prices and costs."""

from apps.pricing.actions.checking import (
    RateCurrencyDiffers,
    RateEndsBeforeItStarts,
    RateNotUnderstood,
)
from apps.pricing.actions.doubts import Judged, judged
from apps.pricing.actions.exchange import (
    ExchangeRateNotUnderstood,
    NewExchangeRate,
    state_exchange_rate,
)
from apps.pricing.actions.quoted import NewRate, target_of
from apps.pricing.actions.rates import (
    EnteredRate,
    RateAlreadyEnded,
    RateNotInForce,
    RateOverlaps,
    RefusedRow,
    TableLoaded,
    add_rate,
    check_rate,
    end_rate,
    load_price_table,
    propose_rate,
)
from apps.pricing.actions.shared import NewSharedCost, SharedCostExists, add_shared_cost

__all__ = [
    "EnteredRate",
    "ExchangeRateNotUnderstood",
    "Judged",
    "NewExchangeRate",
    "NewRate",
    "NewSharedCost",
    "RateAlreadyEnded",
    "RateCurrencyDiffers",
    "RateEndsBeforeItStarts",
    "RateNotInForce",
    "RateNotUnderstood",
    "RateOverlaps",
    "RefusedRow",
    "SharedCostExists",
    "TableLoaded",
    "add_rate",
    "add_shared_cost",
    "check_rate",
    "end_rate",
    "judged",
    "load_price_table",
    "propose_rate",
    "state_exchange_rate",
    "target_of",
]
