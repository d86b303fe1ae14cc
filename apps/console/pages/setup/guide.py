"""The first day, step by step: what is done, what is waited for, what is missing, and how it is done."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts import queries as accounts
from apps.accounts.authentication import viewer_of_request
from apps.console.kit.frame import Choice, Link, Step
from apps.console.kit.request import SEES_EVERYTHING, frame_of, shown_to
from apps.console.kit.waiting import questions_waiting
from apps.console.pages.setup.commands import (
    CHECK,
    INSTALL,
    RUN,
    config_command,
    server_of,
    simulate_command,
)
from apps.console.pages.setup.questions import MANAGE
from apps.console.pages.setup.values import DONE, MISSING, WAITING, FirstDayPage, GuideStep
from apps.console.pages.setup.values import MadeToken as Made
from apps.fleet import queries as fleet
from apps.pricing import queries as pricing
from apps.show.amounts import counted
from apps.show.time import duration
from apps.show.words import joined
from apps.workloads import queries as workloads

MOMENT = timedelta(microseconds=1)
MOST_CHOICES = 100
MOST_NAMED = 3
POOL_FIRST = Step(
    "Put a pool on record, nodes of one model and one price:",
    command=f"{MANAGE} add_pool h100 --provider own --purchase-option owned "
    '--gpu-model "NVIDIA H100 80GB HBM3" --gpus-per-node 8',
)
NODES_FIRST = Step(
    "And say which nodes it has, and since when they cost money:",
    command=f"{MANAGE} add_nodes h100 gpu-01 gpu-02 --from 2026-01-01",
)


@dataclass(frozen=True, slots=True)
class Known:
    """What the steps are judged by, asked once."""

    at: datetime
    server: str
    machines: int
    tokens: dict[str, int]
    agents: fleet.AgentsHeard
    unpriced: tuple[str, ...]
    pools: int
    may_make: bool


@require_safe
@shown_to(SEES_EVERYTHING)
def first_day(request: HttpRequest) -> HttpResponse:
    """Five steps from an empty installation to a dollar that has an owner."""
    return first_day_page(request)


def first_day_page(
    request: HttpRequest, made: Made | None = None, problem: str = ""
) -> HttpResponse:
    """The steps, with the token just made, or with why none was."""
    at = timezone.now()
    known = known_of(request, at)
    steps = (_token(known), _agent(known), _jobs(known), _price(known), _owner(known))
    done = sum(step.is_done for step in steps)
    page = FirstDayPage(
        frame=frame_of(request, accounts.organisation(), "setup", questions_waiting(at)),
        finding="The first day is done: work has a price and an owner."
        if done == len(steps)
        else f"{done} of the {len(steps)} steps of the first day are done.",
        steps=steps,
        may_make=known.may_make,
        nodes=_nodes(at) if known.may_make else (),
        clusters=_clusters() if known.may_make else (),
        made=made,
        problem=problem,
    )
    return render(request, "setup/first_day.html", {"page": page}, status=400 if problem else 200)


def known_of(request: HttpRequest, at: datetime) -> Known:
    """What is there, and at which address programs reach it."""
    pools = fleet.pools()
    spans = pricing.pool_rates(pools, at, at + MOMENT) if pools else {}
    unpriced = sorted(pool.name for pool in pools.values() if spans[pool.id][0].paid_rate is None)
    return Known(
        at=at,
        server=server_of(request),
        machines=fleet.living_machines(at),
        tokens=accounts.good_tokens(at),
        agents=fleet.agents_heard(),
        unpriced=tuple(unpriced),
        pools=len(pools),
        may_make=viewer_of_request(request).may_manage,
    )


def _nodes(at: datetime) -> tuple[Choice, ...]:
    """Machines that nothing reports for yet."""
    return tuple(
        Choice(str(each.id), f"{each.name} ({each.pool})")
        for each in fleet.agentless_nodes(at, MOST_CHOICES)
    )


def _clusters() -> tuple[Choice, ...]:
    found = fleet.clusters().values()
    return (
        Choice("", "any cluster"),
        *(Choice(str(each.id), f"{each.name} alone") for each in found),
    )


def _token(known: Known) -> GuideStep:
    good = known.tokens.get("", 0)
    if good:
        found = f"{counted(good, 'token')} may be used now."
    elif known.machines:
        found = "There is none yet, so no agent and no scheduler can authenticate."
    else:
        found = "There is none yet. An agent’s writes one node alone, and no node is on record."
    return GuideStep(
        "token",
        "Create a token",
        DONE if good else MISSING,
        found,
        () if known.machines else (POOL_FIRST, NODES_FIRST),
        Link("All tokens", reverse("tokens")),
    )


def _agent(known: Known) -> GuideStep:
    heard = known.agents
    state, found = MISSING, "No agent is enrolled yet: invite one above."
    if heard.last_seen_at is not None:
        ago = duration(known.at - heard.last_seen_at)
        said = f"{heard.heard:,} of {heard.agents:,} agents were heard, the last {ago} ago."
        state, found = DONE, said if heard.agents > 1 else f"The agent was heard {ago} ago."
    elif heard.agents:
        agents = counted(heard.agents, "agent is enrolled", "agents are enrolled")
        state, found = WAITING, f"{agents}; none has reported yet. This page notices the first."
    return GuideStep(
        "agent",
        "Start an agent",
        state,
        found,
        (
            Step("It sends what the GPUs of a node did. On the node, install it:", INSTALL),
            Step("Say where this server is:", config_command(known.server)),
            Step(
                "Trade the one-time token of the step above for the agent’s own:",
                "runrate-agent enrol --token-file invitation",
            ),
            Step("See what works on this node and what does not, in plain words:", CHECK),
            Step(
                "Start it. As a service: agents/agent/systemd/runrate-agent.service; on Kubernetes: "
                "agents/agent/kubernetes/daemonset.yaml; docs/agent.md describes both.",
                RUN,
            ),
            Step(
                "To try without a GPU, play a day of one node; the file holds its agent’s token:",
                simulate_command(known.server),
            ),
        ),
        Link("Confirm what it saw", f"{reverse('setup')}#unconfirmed-devices")
        if state == DONE
        else None,
    )


def _jobs(known: Known) -> GuideStep:
    state, found = MISSING, "No job is known, so nobody holds anything."
    if workloads.has_jobs():
        state, found = DONE, "Jobs are known."
    elif known.tokens.get("jobs"):
        state, found = WAITING, "A token for jobs is out; no job has come yet."
    return GuideStep(
        "jobs",
        "Import jobs",
        state,
        found,
        (
            Step(
                "Send what sacct wrote, or any CSV of jobs, and say which column means what. What "
                "sacct should be asked for:",
                "TZ=UTC sacct -a -D -X -S 2026-11-01 -E now --parsable2 -o JobIDRaw,JobID,"
                "Cluster,Partition,QOS,Account,User,Submit,Start,End,ElapsedRaw,State,ExitCode,"
                "NCPUS,AllocTRES,NodeList,JobName > accounting.psv",
            ),
        ),
        Link("Import a file", reverse("imports")) if known.may_make else None,
    )


def _price(known: Known) -> GuideStep:
    state, found = MISSING, "Nothing has a price, so no cost is known."
    if known.pools and not known.unpriced:
        state, found = DONE, "Every pool has a price now."
    elif known.unpriced:
        without = len(known.unpriced)
        names = joined(known.unpriced[:MOST_NAMED])
        more = f" and {without - MOST_NAMED} more" if without > MOST_NAMED else ""
        found = f"{names}{more} {'has' if without == 1 else 'have'} no price now."
    elif pricing.has_prices():
        state, found = WAITING, "There are prices, and no pool yet that they could be of."
    return GuideStep(
        "price",
        "Set a price",
        state,
        found,
        (Step("Or take public list prices, each with its source:", f"{MANAGE} load_price_table"),),
        Link("Say what a node costs", reverse("prices")),
    )


def _owner(known: Known) -> GuideStep:
    rules = sum(rule.is_in_force(known.at) for rule in workloads.rules())
    return GuideStep(
        "owner",
        "Own a job",
        DONE if rules else MISSING,
        f"{counted(rules, 'rule')} in force." if rules else "Every job reads Unowned.",
        (Step("Teams are added by command:", f"{MANAGE} add_team Research"),),
        Link("Say whose the jobs are", reverse("unowned")),
    )
