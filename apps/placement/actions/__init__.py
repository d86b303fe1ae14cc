"""Changes: books of offers, prices of egress, quotes."""

from apps.placement.actions.books import make_offer_book, make_offer_book_if_due
from apps.placement.actions.places import (
    EgressNotUnderstood,
    set_accelerator_regions,
    set_egress_prices,
)
from apps.placement.actions.quotes import (
    OfferNotOfQuote,
    QuoteTaken,
    follow_quotes,
    make_quote,
    take_offer,
)
