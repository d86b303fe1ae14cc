"""The audit of frozen reviews and of what was measured of savings: each is what it was frozen as."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from apps.ledger.queries.audit import AuditPlace, Probe
from apps.review.models import SavingMeasurement, WeeklyReview, WeeklyReviewWorkload
from apps.review.queries.measurements import measurement_digest
from apps.review.queries.weekly.stored_reviews import digest_of_parts

REVIEWS = "a frozen review is what it was frozen as"
MEASUREMENTS = "what was measured of a saving is what was said of it"


class _ReviewFact(NamedTuple):
    """A fact that a frozen review has twice: in a column, and in what its digest is of."""

    name: str
    expected: object
    found: object


def moved_reviews() -> Iterator[AuditPlace]:
    """Return where a frozen review says something else than it did, or lacks an edition."""
    editions: dict[str, int] = {}
    for review in WeeklyReview.objects.order_by("week", "edition").iterator():
        editions[review.week] = editions.get(review.week, 0) + 1
        rows = list(WeeklyReviewWorkload.objects.filter(review=review).order_by("place"))
        facts = [
            _ReviewFact(
                "digest",
                review.digest,
                digest_of_parts(review.content, [row.content for row in rows]),
            ),
            _ReviewFact("edition", editions[review.week], review.edition),
            _ReviewFact("week", review.content.get("week"), review.week),
            _ReviewFact("first day", review.content.get("first_day"), review.first_day.isoformat()),
            _ReviewFact("schema", review.content.get("schema"), review.schema),
            *_facts_of_workloads(rows),
        ]
        node = f"review {review.week}, edition {review.edition}"
        yield from _places(REVIEWS, node, review.first_day.isoformat(), facts)


def moved_measurements() -> Iterator[AuditPlace]:
    """Return where what was measured of a saving is no more what its digest is of."""
    for row in SavingMeasurement.objects.order_by("id").iterator():
        fact = _ReviewFact("digest", row.digest, measurement_digest(row))
        node = f"recommendation {row.recommendation_id}"
        yield from _places(MEASUREMENTS, node, row.week.isoformat(), [fact])


PROBES = (
    Probe(("review_weeklyreview", "review_weeklyreviewworkload"), moved_reviews),
    Probe(("review_savingmeasurement",), moved_measurements),
)


def _facts_of_workloads(rows: Iterable[WeeklyReviewWorkload]) -> Iterator[_ReviewFact]:
    for place, row in enumerate(rows):
        verdict = row.content.get("verdict") or {}
        yield _ReviewFact("place of a workload", place, row.place)
        yield _ReviewFact("workload", row.content.get("workload_id"), row.workload_id)
        yield _ReviewFact("team of a workload", row.content.get("team_id"), row.team_id)
        yield _ReviewFact("verdict", verdict.get("verdict"), row.verdict)


def _places(check: str, node: str, hour: str, facts: Iterable[_ReviewFact]) -> Iterator[AuditPlace]:
    for fact in facts:
        if fact.expected != fact.found:
            yield AuditPlace(
                check=check,
                charge=None,
                node=node,
                hour=hour,
                basis=fact.name,
                expected=str(fact.expected),
                found=str(fact.found),
                difference=1,
            )
