"""GET /api/v1/weekly-reviews: what each week's review says, as it was frozen; comments and decisions."""

from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import Viewer, organisation
from apps.review import actions
from apps.review.api.alerts import AnswersAlerts
from apps.review.queries.weekly.json_text import as_json
from apps.review.queries.weekly.narrowed import review_for
from apps.review.queries.weekly.notes import (
    DECISION_WORDS,
    EnteredReviewNote,
    ReviewNoteFact,
    notes_of,
)
from apps.review.queries.weekly.review_list import ListedReview, listed_reviews
from apps.review.queries.weekly.review_words import VERDICT_WORDS
from apps.review.queries.weekly.stored_reviews import StoredReview
from apps.web.rest.idempotency import once
from apps.web.rest.money import NamedOut
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as, slice_of
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.shapes import Answer
from apps.web.rest.strict import (
    IdInBody,
    OptionalText,
    Parameters,
    StrictInteger,
    StrictSerializer,
    parsed,
)
from apps.web.rest.views import RestView


class VerdictCountsOut(serializers.Serializer[Any]):
    """How many workloads have each verdict."""

    earns = serializers.IntegerField()
    shrink = serializers.IntegerField()
    retire = serializers.IntegerField()
    unknown = serializers.IntegerField()


class WeeklyReviewOut(Answer[ListedReview]):
    """A week's newest edition in short, of what the caller sees; amounts null where not known."""

    verdicts = VerdictCountsOut()


class ReviewNoteOut(Answer[ReviewNoteFact]):
    """A comment or a decision; `workload` null: of the week as a whole."""

    without = ("week", "workload_id")
    first = ("id", "workload")
    workload = NamedOut(allow_null=True, source="*")
    author = serializers.CharField(source="author_name")


class OneWeeklyReviewOut(Answer[StoredReview]):
    """A review as it was frozen, narrowed to the caller's teams, and what was said to it since.

    `content` is of the schema that it names: money in whole micro-units of its currency (millionths), times in
    milliseconds, ratios from 0 to 1, null where not known; docs/guides/weekly-review.md tells what is in it.
    """

    without = ("id", "made_by")
    content = serializers.JSONField()
    notes = ReviewNoteOut(many=True)


class EditionQuery(Parameters):
    """Parameters of an edition: the newest unless one is named."""

    edition = StrictInteger(required=False, min_value=1, max_value=32_767)


class ReviewNoteIn(StrictSerializer):
    """A comment, or a decision about a workload of the review; without `workload` on the week as a whole."""

    workload = IdInBody(required=False, allow_null=True, default=None)
    decision = serializers.ChoiceField(choices=["", *DECISION_WORDS], default="")
    text = OptionalText(max_length=actions.LONGEST_REVIEW_NOTE)


class WeeklyReviews(RestView):
    """The weeks of which a review is kept."""

    row = WeeklyReviewOut

    @extend_schema(
        operation_id="list_weekly_reviews", parameters=PAGES, responses=list_of(WeeklyReviewOut)
    )
    def get(self, request: Request) -> Response:
        """The newest week first, each by its newest edition, with what the caller sees of it."""
        Parameters.of(request)
        page = slice_of(listed_reviews(self.viewer()), parse_page_request(request), _newest_first)
        return paged(request, page, _serialize_listed)


class OneWeeklyReview(RestView):
    """A week's review."""

    @extend_schema(
        operation_id="get_weekly_review", parameters=[EditionQuery], responses=OneWeeklyReviewOut
    )
    def get(self, request: Request, week: str) -> Response:
        """All of it that the caller sees, as it was frozen."""
        edition = EditionQuery.of(request).get("edition")
        review = _get_review_or_404(week, self.viewer(), edition)
        notes = notes_of(review.week, self.viewer())
        serialized = serialize_as(
            OneWeeklyReviewOut,
            review,
            content=as_json(review.content),
            notes=notes,
        )
        return Response(serialized)


class ReviewNotes(RestView):
    """Comments and decisions of a week."""

    row = ReviewNoteOut
    changes = (AnswersAlerts,)

    @extend_schema(
        operation_id="list_review_notes", parameters=PAGES, responses=list_of(ReviewNoteOut)
    )
    def get(self, request: Request, week: str) -> Response:
        """Those that the caller may see, the oldest first."""
        Parameters.of(request)
        _get_review_or_404(week, self.viewer(), None)
        notes = notes_of(week, self.viewer())
        page = slice_of(notes, parse_page_request(request), lambda note: (note.id,))
        return paged(request, page, _serialize_note)

    @extend_schema(
        operation_id="add_review_note",
        parameters=[REPEAT_KEY],
        request=ReviewNoteIn,
        responses={201: ReviewNoteOut},
    )
    @once()
    def post(self, request: Request, week: str) -> Response:
        """Comment on the week, or decide about a workload of it; on the whole week: who sees everything."""
        viewer = self.viewer()
        review, body = _get_review_or_404(week, viewer, None), parsed(ReviewNoteIn, request)
        workload_id = body["workload"]
        workload_ids = {workload.workload_id for workload in review.content.workloads}
        if workload_id not in workload_ids and not (workload_id is None and viewer.sees_everything):
            raise ValidationError({"workload": ["name a workload of the review by its id"]})
        note = EnteredReviewNote(week, workload_id, body["decision"], body["text"])
        note_id = actions.add_review_note(note=note, by=viewer, at=timezone.now())
        fact = next(note_fact for note_fact in notes_of(week, viewer) if note_fact.id == note_id)
        return Response(_serialize_note(fact), status=201)


def _get_review_or_404(week: str, viewer: Viewer, edition: int | None) -> StoredReview:
    try:
        return review_for(viewer, week, edition=edition)
    except ObjectDoesNotExist:
        raise ObjectDoesNotExist(f"no review of {week} is kept") from None


def _newest_first(review: ListedReview) -> tuple[int]:
    return (-review.first_day.toordinal(),)


def _serialize_listed(review: ListedReview) -> dict[str, Any]:
    counts = {verdict: review.verdicts.get(verdict, 0) for verdict in VERDICT_WORDS}
    return serialize_as(WeeklyReviewOut, review, organisation().currency, verdicts=counts)


def _serialize_note(note: ReviewNoteFact) -> dict[str, Any]:
    return serialize_as(ReviewNoteOut, note)
