"""Frozen reviews are made into PDFs: the whole, and each team's part."""

from collections.abc import Callable
from datetime import datetime

from django.db.models import Exists, OuterRef

from apps.accounts.queries import teams, teams_below
from apps.logs.changes import logged_pass
from apps.review.models import ReviewFile, WeeklyReview
from apps.review.queries.weekly.paper_mail import printed_review
from apps.review.queries.weekly.review_message import paper_of_review
from apps.review.queries.weekly.stored_reviews import stored_review
from apps.show.document import OutgoingDocument

Typesetter = Callable[[OutgoingDocument, datetime], bytes]


@logged_pass("make_review_files")
def make_review_files(*, typeset: Typesetter, at: datetime) -> int:
    """PDFs of the newest review that has not all of them; how many were made. Each is kept as it is made."""
    full_files = ReviewFile.objects.filter(review=OuterRef("pk"), team=None)
    review = WeeklyReview.objects.exclude(Exists(full_files)).order_by("-id").first()
    if review is None:
        return 0
    done = set(ReviewFile.objects.filter(review=review).values_list("team_id", flat=True))
    count = 0
    for team_id in [*_team_parts(review), None]:
        if team_id in done:
            continue
        paper = paper_of_review(review, team_id)
        file = ReviewFile(
            review=review,
            team_id=team_id,
            made_at=at,
            content=typeset(printed_review(paper), review.made_at),
        )
        # Another worker may have made it meanwhile: it is the same.
        ReviewFile.objects.bulk_create([file], ignore_conflicts=True)
        count += 1
    return count


def _team_parts(review: WeeklyReview) -> list[int]:
    """The teams that something in it is of, their own or of those below."""
    content = stored_review(review.week, edition=review.edition).content
    named = {team.team_id for team in content.teams}
    named |= {workload.team_id for workload in content.workloads}
    return [team.id for team in teams() if team.kind == "team" and teams_below(team.id) & named]
