"""Changes: books of offers, prices of egress, quotes."""

from apps.placement.actions.books import make_offer_book, make_offer_book_if_due
