"""The newest offer book: read from its table once, and kept until there is a newer one."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from apps.accounts.queries.paging import PageAsked, Slice, page_of
from apps.placement.models import BookOffer, OfferBook
from apps.placement.queries.offer_facts import OFFER_FIELDS, OfferFact


@dataclass(frozen=True, slots=True)
class BookFact:
    """A book with its offers by key; see its table for what each field is."""

    id: int
    hour: datetime
    made_at: datetime
    digest: str
    left_out: list[str]
    budgets: list[dict[str, Any]]
    calibration: list[dict[str, Any]]
    per_dollar: Decimal | None
    offers: dict[str, OfferFact]


_newest: dict[str, BookFact] = {}
"""By digest, of the newest book alone: equal digests are of equal offers."""


def newest_book() -> BookFact | None:
    """The newest book; None where none was made yet."""
    head = OfferBook.objects.order_by("-hour").values_list("id", "digest").first()
    if head is None:
        return None
    book_id, digest = head
    kept = _newest.get(digest)
    if kept is not None and kept.id == book_id:
        return kept
    found = read_book(book_id)
    _newest.clear()
    _newest[digest] = found
    return found


def read_book(book_id: int) -> BookFact:
    """One book; refuses OfferBook.DoesNotExist."""
    book = OfferBook.objects.get(pk=book_id)
    rows = BookOffer.objects.filter(book=book).order_by("key").values_list(*OFFER_FIELDS)
    offers = [OfferFact(*row) for row in rows]
    return BookFact(
        id=book.pk,
        hour=book.hour,
        made_at=book.made_at,
        digest=book.digest,
        left_out=book.left_out,
        budgets=book.budgets,
        calibration=book.calibration,
        per_dollar=book.per_dollar,
        offers={offer.key: offer for offer in offers},
    )


def offer_page(asked: PageAsked) -> Slice[dict[str, Any]]:
    """A page of the newest book's offers, by key."""
    newest = OfferBook.objects.order_by("-hour").values("id")[:1]
    rows = BookOffer.objects.filter(book__in=newest).values("id", "book__made_at", *OFFER_FIELDS)
    return page_of(rows, asked, "key", "id")
