"""Parts of an Overview without costs: what would be here, and what fills it."""

from dataclasses import replace
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.urls import reverse

from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.request import Context
from apps.console.pages.costs.question import CostQuery
from apps.console.pages.managers import role_sentence, team_step
from apps.fleet import queries as fleet
from apps.ledger.queries import OverviewFacts, calendar_of
from apps.ledger.queries.windows import LONGEST
from apps.show.amounts import counted
from apps.show.time import day

DAY = timedelta(days=1)
FIRST_STEPS = EmptyState(
    title="Nothing is on record yet",
    sentence="Here you will see what each day cost, what share of it was active, what was waste, "
    "and what is not known, by team.",
)


def no_team() -> EmptyState:
    """Whoever asks is in no team."""
    return EmptyState(
        title="You are in no team yet",
        sentence="Here you will see what your teams’ GPU time cost, what share of it was active, "
        "and what was waste.",
        steps=(team_step(),),
    )


def nothing_charged(cost_query: CostQuery, facts: OverviewFacts, since: datetime) -> EmptyState:
    """There are nodes, but no costs of them in what was asked for."""
    organisation, today = cost_query.context.organisation, cost_query.context.calendar.today
    first = calendar_of(organisation.zone, 1, since).today
    tomorrow = today + DAY
    # Nodes of an old file ended with it, and a window has a longest length.
    last = fleet.node_lifetime_spans()[-1][1]
    ended = tomorrow if last is None else last.astimezone(cost_query.context.zone).date() + DAY
    until = min(tomorrow, ended, first + LONGEST)
    steps = [
        Step(
            f"The first node is on record since {day(first)} {first.year}.",
            link=Link(
                "Show everything since", cost_query.href("overview", window=f"{first}/{until}")
            ),
        )
    ]
    if facts.known.pending_hours:
        waiting = counted(
            facts.known.pending_hours, "hour of this period waits", "hours of this period wait"
        )
        steps.append(Step(f"{waiting} to be settled; this page fills as they are."))
    if cost_query.question.filters:
        unfiltered_href = (
            f"{reverse('overview')}?{urlencode({'window': cost_query.texts['window']})}"
        )
        link = Link("Show all teams and pools", unfiltered_href)
        steps.append(Step("Others may have costs in this period.", link=link))
    return EmptyState("Nothing to show", "No charge matches what was asked for.", tuple(steps))


def first_steps(context: Context) -> EmptyState:
    """Nothing is on record: the way to the guide, for who may follow it."""
    step = Step(role_sentence("sets it up"))
    if context.viewer.sees_everything:
        guide = Link("Set Runrate up, step by step", reverse("first-day"))
        step = Step("From nothing to a first dollar, here in the browser.", link=guide)
    return replace(FIRST_STEPS, steps=(step,))
