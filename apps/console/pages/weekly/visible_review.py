"""A week's review as whoever asks may see it, with what people said of it and the weeks beside it."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404

from apps.console.kit.request import Context
from apps.review.queries.weekly.narrowed import review_for
from apps.review.queries.weekly.notes import ReviewNoteFact, decisions_of, notes_of
from apps.review.queries.weekly.stored_reviews import StoredReview, review_weeks

LARGEST_EDITION = 32_767


@dataclass(frozen=True, slots=True)
class VisibleReview:
    """`before` and `after` are the weeks beside it that have a review; empty without any."""

    kept: StoredReview
    notes: list[ReviewNoteFact]
    decisions: Mapping[int, ReviewNoteFact]
    before: str
    after: str


def get_review_or_404(context: Context, week: str) -> VisibleReview:
    """The newest edition, or the one that the address asks for; else the page that there is none."""
    edition = context.query.get("edition", "")
    is_number = edition.isascii() and edition.isdigit() and int(edition) <= LARGEST_EDITION
    if edition and not is_number:
        raise Http404
    try:
        review = review_for(context.viewer, week, edition=int(edition) if edition else None)
    except ObjectDoesNotExist:
        raise Http404 from None
    weeks = review_weeks()
    place = weeks.index(review.week)
    notes = notes_of(review.week, context.viewer)
    return VisibleReview(
        kept=review,
        notes=notes,
        decisions=decisions_of(notes),
        before=weeks[place + 1] if place + 1 < len(weeks) else "",
        after=weeks[place - 1] if place else "",
    )
