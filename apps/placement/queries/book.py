"""The newest offer book: read from its table once, and kept until there is a newer one."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, LiteralString

from apps.accounts.queries.paging import Page, PageRequest, page_of
from apps.accounts.queries.reading import once
from apps.economics.purchase import PurchaseOption
from apps.ledger.queries.tables import rows
from apps.placement.models import BookOffer, OfferBook
from apps.placement.queries.offer_facts import OFFER_FIELDS, OfferFact, Place

NEWEST: LiteralString = "SELECT id, digest FROM placement_offerbook ORDER BY hour DESC LIMIT 1"


@dataclass(frozen=True, slots=True)
class BookFact:
    """A book with its offers by key, their GPU models, and those on demand of the lowest price; see its table for each other field."""

    id: int
    hour: datetime
    made_at: datetime
    digest: str
    left_out: list[str]
    budgets: list[dict[str, Any]]
    calibration: list[dict[str, Any]]
    per_dollar: Decimal | None
    offers: dict[str, OfferFact]
    models: frozenset[str]
    on_demand: dict[Place, OfferFact]


_newest: dict[str, BookFact] = {}
"""By digest, of the newest book alone: equal digests are of equal offers."""


@once
def newest_book() -> BookFact | None:
    """The newest book; None where none was made yet."""
    head = rows(NEWEST, {})
    if not head:
        return None
    ((book_id, digest),) = head
    cached_book = _newest.get(digest)
    if cached_book is not None and cached_book.id == book_id:
        return cached_book
    book = read_book(book_id)
    _newest.clear()
    _newest[digest] = book
    return book


def read_book(book_id: int) -> BookFact:
    """One book; refuses OfferBook.DoesNotExist."""
    book = OfferBook.objects.get(pk=book_id)
    offer_rows = BookOffer.objects.filter(book=book).order_by("key").values_list(*OFFER_FIELDS)
    offers = [OfferFact(*row) for row in offer_rows]
    models = frozenset(offer.gpu_model for offer in offers)
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
        models=models,
        on_demand=cheapest_on_demand(offers),
    )


def cheapest_on_demand(offers: Iterable[OfferFact]) -> dict[Place, OfferFact]:
    """The offer on demand of the lowest price, of each model in each region."""
    offers_by_place: dict[Place, OfferFact] = {}
    for offer in offers:
        if offer.option == PurchaseOption.ON_DEMAND and offer.micros is not None:
            lowest_micros = offers_by_place.setdefault(offer.model_place, offer).micros
            if lowest_micros is not None and offer.micros < lowest_micros:
                offers_by_place[offer.model_place] = offer
    return offers_by_place


def offer_page(
    page_request: PageRequest, pool_ids: Collection[int] | None = None
) -> Page[dict[str, Any]]:
    """A page of the newest book's offers, or of those of these pools alone, by key."""
    newest = OfferBook.objects.order_by("-hour").values("id")[:1]
    of_book = BookOffer.objects.filter(book__in=newest)
    if pool_ids is not None:
        of_book = of_book.filter(pool_id__in=pool_ids)
    offers = of_book.values("id", "book__made_at", *OFFER_FIELDS)
    return page_of(offers, page_request, "key", "id")
