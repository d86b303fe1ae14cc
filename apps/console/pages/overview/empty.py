"""What an Overview without costs says: what would be here, and what fills it."""

from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.urls import reverse

from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.pages.costs.question import AskedCosts
from apps.ledger.queries import OverviewFacts, calendar_of
from apps.show.amounts import counted
from apps.show.time import day

MANAGE = ".venv/bin/python manage.py"

FIRST_STEPS = EmptyState(
    title="No node is on record yet",
    sentence="Here you will see what each day cost, what share of it was active, what was waste, "
    "and what is not known, by team.",
    steps=(
        Step(
            "See it first with a simulated fleet, beside this installation:",
            command="RUNRATE_HOME=/tmp/runrate-demo RUNRATE_LISTEN=127.0.0.1:8001 make demo",
        ),
        Step(
            "Then put your own on record: a pool of nodes of one model and price,",
            command=f"{MANAGE} add_pool h100 --provider aws --region us-east-1 "
            '--instance-type p5.48xlarge --gpu-model "NVIDIA H100 80GB HBM3" --gpus-per-node 8 '
            "--purchase-option on_demand",
        ),
        Step(
            "its nodes, which cost money from the day you say,",
            command=f"{MANAGE} add_nodes h100 gpu-01 gpu-02 --from 2026-11-01",
        ),
        Step("and what they cost:", command=f"{MANAGE} load_price_table"),
        Step(
            "Jobs that ran already come from the scheduler’s own accounting:",
            command=f"{MANAGE} import_sacct accounting.psv",
        ),
    ),
)


NO_TEAM = EmptyState(
    title="You are in no team yet",
    sentence="Here you will see what your teams’ GPU time cost, what share of it was active, and "
    "what was waste. Whoever runs Runrate for your organisation can put you in a team.",
)


def nothing_charged(asked: AskedCosts, facts: OverviewFacts, since: datetime) -> EmptyState:
    """There are nodes, but no costs of them in what was asked for."""
    organisation, today = asked.context.organisation, asked.context.calendar.today
    first = calendar_of(organisation.zone, 1, since).today
    tomorrow = today + timedelta(days=1)
    steps = [
        Step(
            f"The first node is on record since {day(first)} {first.year}.",
            link=Link(
                "Show everything since", asked.href("overview", window=f"{first}/{tomorrow}")
            ),
        )
    ]
    if facts.known.pending_hours:
        waiting = counted(facts.known.pending_hours, "hour")
        steps.append(
            Step(f"{waiting} of this period wait to be settled; this page fills as they are.")
        )
    if asked.question.filters:
        whole = f"{reverse('overview')}?{urlencode({'window': asked.texts['window']})}"
        link = Link("Show all teams and pools", whole)
        steps.append(Step("Others may have costs in this period.", link=link))
    return EmptyState("Nothing to show", "No charge matches what was asked for.", tuple(steps))
