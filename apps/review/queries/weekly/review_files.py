"""PDFs of frozen reviews, and which of them a viewer may have."""

from dataclasses import dataclass

from django.db.models.functions import Length

from apps.accounts.queries import Viewer, teams
from apps.review.models import ReviewFile


@dataclass(frozen=True, slots=True)
class ReviewFileFact:
    """A PDF of a review; `team` None: of the whole."""

    id: int
    team_id: int | None
    team: str | None
    size_bytes: int


def review_files(review_id: int, viewer: Viewer) -> list[ReviewFileFact]:
    """Those that this viewer may have: the whole, else their teams' parts, none that is within another."""
    rows = ReviewFile.objects.filter(review_id=review_id)
    team_ids = viewer.seen_teams
    if team_ids is None:
        rows = rows.filter(team=None)
    else:
        above = {team.id: team.parent_id for team in teams()}
        rows = rows.filter(
            team_id__in=[team for team in team_ids if above.get(team) not in team_ids]
        )
    annotated = rows.annotate(size_bytes=Length("content")).order_by("team__name", "id")
    return [
        ReviewFileFact(*row)
        for row in annotated.values_list("id", "team_id", "team__name", "size_bytes")
    ]


def review_pdf(file_id: int) -> bytes:
    """The PDF; refuses ReviewFile.DoesNotExist."""
    return bytes(ReviewFile.objects.get(pk=file_id).content)
