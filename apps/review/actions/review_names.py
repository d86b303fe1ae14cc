"""Frozen reviews from which a person's name was taken out: their digests and their PDFs."""

from collections.abc import Sequence

from apps.review.models import ReviewFile, WeeklyReview, WeeklyReviewWorkload
from apps.review.queries.weekly.stored_reviews import digest_of_parts


def reseal_reviews(ids: Sequence[int]) -> None:
    """Give these reviews the digest of what they say now, and have their PDFs set anew.

    Whoever has an earlier copy sees that it is another: what a review says is nowhere changed but by this.
    """
    for review in WeeklyReview.objects.filter(id__in=ids).order_by("id"):
        rows = WeeklyReviewWorkload.objects.filter(review=review).order_by("place")
        digest = digest_of_parts(review.content, list(rows.values_list("content", flat=True)))
        WeeklyReview.objects.filter(pk=review.pk).update(digest=digest)
    ReviewFile.objects.filter(review_id__in=ids).delete()


def reseal_reviews_of_workloads(ids: Sequence[int]) -> None:
    """So too the reviews that these workloads stand in."""
    rows = WeeklyReviewWorkload.objects.filter(id__in=ids)
    reseal_reviews(sorted(set(rows.values_list("review_id", flat=True))))
