"""What there is to do about the costs of a page: the recommendations that are worth most."""

from django.urls import reverse

from apps.accounts.queries import person_names, teams
from apps.console.kit.frame import Link
from apps.console.kit.request import Context
from apps.console.kit.table import TableSection
from apps.console.pages.recommendations.tables import TO_DO, RecommendationRow
from apps.review.queries.recommendations import counted_recommendations

MOST_SHOWN = 3


def to_do_section(context: Context) -> TableSection | None:
    """The first of those that the viewer sees and that may be added up; None without any."""
    facts = counted_recommendations(context.at, context.seen_teams, MOST_SHOWN)
    if not facts:
        return None
    names, people = {team.id: team.name for team in teams()}, person_names()
    rows = [
        RecommendationRow(
            fact,
            names.get(fact.team_id or 0),
            people.get(fact.owner_id or 0),
            context.calendar.today,
        )
        for fact in facts
    ]
    return TO_DO.section(
        rows,
        context,
        csv_href=reverse("recommendations-csv"),
        links=(Link("All recommendations", reverse("recommendations")),),
    )
