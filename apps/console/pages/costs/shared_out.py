"""Who else carries a part of the same charge: others keep only time and state."""

from django.urls import reverse

from apps.console.pages.costs.line_facts import LineFacts
from apps.console.pages.costs.line_values import SiblingRow
from apps.console.pages.costs.lines import flags_in_words
from apps.console.pages.overview.sums import state_key
from apps.ledger.queries import Basis
from apps.ledger.queries.drill import SiblingLine
from apps.show.words import state_words

ANOTHER_TEAM = "another team"


def sibling_rows(facts: LineFacts) -> tuple[SiblingRow, ...]:
    """The lines of the charge, this one first."""
    return tuple(_row(facts, each) for each in facts.behind.siblings)


def _row(facts: LineFacts, each: SiblingLine) -> SiblingRow:
    behind = facts.behind
    is_this = each.id == behind.id
    href = reverse("costs-line", args=[f"{behind.month:%Y-%m}", each.id])
    holder = "no job" if each.job_id is None else "a job"
    if is_this and facts.job:
        holder = f"job {facts.job.raw_id}"
    return SiblingRow(
        holder=holder if each.is_theirs else ANOTHER_TEAM,
        team=_team(facts, each.team_id),
        state=state_words(state_key(each.state)),
        flags=flags_in_words(each.flags),
        gpu_milliseconds=each.unit_milliseconds,
        micros=each.micros[Basis.EFFECTIVE],
        is_this=is_this,
        is_theirs=each.is_theirs,
        href="" if is_this or not each.is_theirs else href,
    )


def _team(facts: LineFacts, team_id: int | None) -> str:
    return ANOTHER_TEAM if team_id is None else facts.teams[team_id].name
