"""Changes: admissions, books of offers, fleet moves, prices of egress, quotes, what was seen of spot and plans on it."""

from apps.placement.actions.admissions import (
    LONGEST_OVERRIDE_REASON,
    NothingToOverride,
    OverrideReasonMissing,
    override_admission,
    request_admission,
    use_override,
    use_overrides_of_jobs,
)
from apps.placement.actions.books import make_offer_book, make_offer_book_if_due
from apps.placement.actions.moves import (
    FleetMovesKept,
    detect_moves,
    detect_moves_if_due,
)
from apps.placement.actions.places import (
    EgressNotUnderstood,
    set_accelerator_regions,
    set_egress_prices,
)
from apps.placement.actions.quotes import (
    OfferNotOfQuote,
    QuoteTaken,
    expect_run,
    follow_quotes,
    forget_quotes,
    make_quote,
    take_offer,
    take_quotes_of_jobs,
)
from apps.placement.actions.skypilot import SkyAsker, SkyDecision, decide_sky_task
from apps.placement.actions.spot import (
    SpotPlace,
    SpotSeriesNotUnderstood,
    keep_spot_series,
    request_spot_plan,
    solve_spot_plans,
)
