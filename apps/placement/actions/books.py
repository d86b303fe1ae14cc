"""The offer book is made anew every hour; old ones go when nothing is to be read of them any more."""

from datetime import datetime, timedelta

from django.db import transaction

from apps.economics.hours import hour_of
from apps.logs.changes import logged_pass
from apps.placement.models import BookOffer, OfferBook
from apps.placement.queries.offer_facts import OFFER_FIELDS
from apps.placement.queries.offers_now import offers_now

KEPT_FOR = timedelta(days=2)


@logged_pass("make_offer_book")
@transaction.atomic
def make_offer_book(*, at: datetime) -> int:
    """Make the book of this hour, in place of one that is there; how many offers."""
    draft = offers_now(at)
    OfferBook.objects.filter(hour=hour_of(at)).delete()
    OfferBook.objects.filter(hour__lt=at - KEPT_FOR).delete()
    book = OfferBook.objects.create(
        hour=hour_of(at),
        made_at=at,
        digest=draft.digest,
        left_out=draft.left_out,
        budgets=draft.budgets,
        calibration=draft.calibration,
        per_dollar=draft.per_dollar,
    )
    BookOffer.objects.bulk_create(
        BookOffer(book=book, **{name: getattr(offer, name) for name in OFFER_FIELDS})
        for offer in draft.offers
    )
    return len(draft.offers)


def make_offer_book_if_due(*, at: datetime) -> int:
    """Make the offer book where this hour has none yet; return 0 where it has."""
    if OfferBook.objects.filter(hour=hour_of(at)).exists():
        return 0
    return int(make_offer_book(at=at))
