"""Things to do about the costs of a page: the recommendations that are worth most, and those of a workload."""

from collections.abc import Iterable

from django.urls import reverse

from apps.accounts.queries import person_names, teams
from apps.console.kit.csv_file import CsvFile, csv_path, file_elsewhere
from apps.console.kit.frame import Link
from apps.console.kit.request import Context
from apps.console.kit.table import TableSection
from apps.console.pages.recommendations.tables import LOOKED_AT, OF_WORK, TO_DO, RecommendationRow
from apps.review.queries.recommendations import (
    TO_BE_DONE,
    RecommendationFact,
    RecommendationsWanted,
    counted_recommendations,
    recommendations,
)
from apps.workloads.queries import WorkloadFact

MOST_SHOWN = 3


def recommendation_rows(
    facts: Iterable[RecommendationFact], context: Context
) -> list[RecommendationRow]:
    """With whose they are and who sees to them, as of today."""
    facts = list(facts)
    names = {team.id: team.name for team in teams()}
    people = person_names() if any(fact.owner_id for fact in facts) else {}
    today = context.calendar.today
    return [
        RecommendationRow(fact, names.get(fact.team_id or 0), people.get(fact.owner_id or 0), today)
        for fact in facts
    ]


def to_do_section(context: Context) -> TableSection | None:
    """The first of those that the viewer sees and that may be added up; None without any."""
    facts = counted_recommendations(context.at, context.seen_teams, MOST_SHOWN)
    if not facts:
        return None
    return TO_DO.section(
        recommendation_rows(facts, context),
        context,
        csv=file_elsewhere(TO_DO.name, csv_path(reverse("recommendations"))),
        links=(Link("All recommendations", reverse("recommendations")),),
    )


def work_file(context: Context, work: WorkloadFact) -> CsvFile | None:
    """Return what is to be done about a workload as CSV, for who sees all of it."""
    if not context.viewer.sees_team(work.team_id):
        return None
    return OF_WORK.file(
        f"recommendations of {work.name}",
        context,
        lambda: recommendation_rows(_work_facts(context, work.id), context),
    )


def work_section(context: Context, work: WorkloadFact) -> TableSection | None:
    """Return the section of what is to be done about a workload; None where the viewer sees only a part of it."""
    if not context.viewer.sees_team(work.team_id):
        return None
    facts = _work_facts(context, work.id)
    return OF_WORK.section(
        recommendation_rows(facts, context),
        context,
        csv=work_file(context, work),
        empty="Nothing is open or claimed of it.",
        links=(_examined_link(context),),
    )


def _work_facts(context: Context, workload_id: int) -> list[RecommendationFact]:
    wanted = RecommendationsWanted(context.seen_teams, TO_BE_DONE, workload_id=workload_id)
    return recommendations(wanted)


def _examined_link(context: Context) -> Link:
    """Why the rest is no recommendation, for who sees everything; else all that the viewer sees."""
    href = reverse("recommendations")
    if context.seen_teams is None:
        return Link("What was looked at", f"{href}#{LOOKED_AT.name}")
    return Link("All recommendations", href)
