"""Actions that change prices and costs."""

from apps.pricing.actions.checking import (
    RateCurrencyDiffers,
    RateEndsBeforeItStarts,
    RateNotUnderstood,
)
from apps.pricing.actions.commitment_checks import (
    CommitmentEndsBeforeItStarts,
    CommitmentNotUnderstood,
    check_commitment,
)
from apps.pricing.actions.commitments import (
    CommitmentAlreadyEnded,
    CommitmentExists,
    RecordedCommitment,
    add_commitment,
    as_bought,
    end_commitment,
    record_commitment,
)
from apps.pricing.actions.deciding import (
    DecidedByFinance,
    NoteMissing,
    RateNotWaiting,
    SecondPersonNeeded,
    accept_rate,
    refuse_rate,
)
from apps.pricing.actions.exchange import (
    ExchangeRateNotUnderstood,
    NewExchangeRate,
    mark_converted,
    state_exchange_rate,
)
from apps.pricing.actions.owned import (
    OwnedPlanAlreadyEnded,
    OwnedPlanExists,
    OwnedPlanNotUnderstood,
    add_owned_plan,
    change_owned_costs,
    change_owned_plan,
    check_owned_change,
    check_owned_end,
    check_owned_plan,
    end_owned_plan,
    set_power_tariff,
)
from apps.pricing.actions.price_checks import judged
from apps.pricing.actions.price_policies import (
    GpuShareNotUnderstood,
    check_gpu_share,
    set_gpu_share,
)
from apps.pricing.actions.published import import_prices
from apps.pricing.actions.quoted import EnteredRate, target_of
from apps.pricing.actions.rates import (
    RateAlreadyEnded,
    RateNotInForce,
    RateOverlaps,
    RefusedRow,
    RowRemark,
    TableLoaded,
    add_rate,
    check_rate,
    end_rate,
    load_price_table,
    propose_rate,
)
from apps.pricing.actions.rows import say_again
from apps.pricing.actions.scope_names import as_pools_say, unknown_names
from apps.pricing.actions.shared import (
    SharedCostAlreadyEnded,
    SharedCostExists,
    add_shared_cost,
    change_shared_weights,
    check_shared_cost,
    check_weights,
    end_shared_cost,
)
from apps.pricing.actions.spot import record_spot_prices
from apps.pricing.queries.commitments import EnteredCommitment
from apps.pricing.queries.owned import EnteredOwnedPlan
from apps.pricing.queries.shared import EnteredSharedCost
