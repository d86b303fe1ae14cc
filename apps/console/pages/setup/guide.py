"""The first day, step by step: what is done, what is waited for, what is missing, and how it is done."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import ClassVar

from django.urls import reverse
from django.utils.html import format_html

from apps.accounts import queries as accounts
from apps.console.kit.cells import linked
from apps.console.kit.change import ChangeForm
from apps.console.kit.entries import PickField
from apps.console.kit.form import FormSection
from apps.console.kit.frame import Link, Step
from apps.console.kit.page import ConsolePage, SecretOnce, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.pages.setup.commands import (
    CHECK,
    RUN,
    config_command,
    simulate_command,
)
from apps.console.pages.setup.questions import MANAGE
from apps.fleet import queries as fleet
from apps.pricing import queries as pricing
from apps.show.amounts import counted
from apps.show.time import duration
from apps.show.words import joined
from apps.web.queries.wheels import install_command
from apps.workloads import queries as workloads

DONE, WAITING, MISSING = "Done", "Waiting", "To do"
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


SOURCES = {
    "nvml": "NVML, on the node",
    "dcgm": "dcgm-exporter",
    "simulated": "a scenario, nothing real",
}


@dataclass(frozen=True, slots=True)
class GuideStep:
    """One step of the first day: how it stands, what shows that, and how it is done.

    `state` is DONE, WAITING (somebody else is expected to do something) or MISSING; `forms` do a
    part of it in place.
    """

    key: str
    title: str
    state: str
    found: str
    how: tuple[Step, ...]
    link: Link | None = None
    forms: tuple[FormSection, ...] = ()

    @property
    def is_done(self) -> bool:
        """Whether nothing is left of it."""
        return self.state == DONE


@dataclass(frozen=True, slots=True)
class Guide:
    """The steps, in order."""

    template: ClassVar[str] = "setup/guide.html"
    steps: Sequence[GuideStep]


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


class AgentInvitationForm(ChangeForm):
    """The node whose agent is invited."""

    node = PickField("Node without an agent")


class AgentTokenForm(AgentInvitationForm):
    """The node whose agent gets a token at once, and how it measures."""

    source = PickField("It measures by", SOURCES, initial="nvml")


class JobsTokenForm(ChangeForm):
    """Whose jobs a scheduler states."""

    cluster = PickField("Jobs of")


@shown(SEES_EVERYTHING, "setup")
def first_day(context: Context) -> ConsolePage:
    """Five steps from an empty installation to a dollar that has an owner."""
    return first_day_page(context)


def first_day_page(
    context: Context, sent: ChangeForm | None = None, made: SecretOnce | None = None
) -> ConsolePage:
    """The steps, with the token just made, or with what is wrong in the form that asked for it."""
    known = known_of(context)
    token = replace(_token_step(known), forms=_token_forms(context, sent) if known.may_make else ())
    steps = (token, _agent_step(known), _jobs_step(known), _price_step(known), _owner_step(known))
    done = sum(step.is_done for step in steps)
    setup = linked("Setup", reverse("setup"))
    return ConsolePage(
        context=context,
        finding="The first day is done: work has a price and an owner."
        if done == len(steps)
        else f"{done} of the {len(steps)} steps of the first day are done.",
        under=(
            format_html("In any order; {} keeps asking what is still missing afterwards.", setup),
        ),
        sections=(made, Guide(steps)),
    )


def token_picks(at: datetime) -> dict[str, dict[str, str]]:
    """Machines that nothing reports for yet, and clusters, by the fields that offer them."""
    nodes = fleet.agentless_nodes(at, MOST_CHOICES)
    clusters = {str(each.id): f"{each.name} alone" for each in fleet.clusters().values()}
    return {
        "node": {str(node.id): f"{node.name} ({node.pool})" for node in nodes},
        "cluster": {"": "any cluster", **clusters},
    }


def known_of(context: Context) -> Known:
    """What is there, and at which address programs reach it."""
    at, pools = context.at, fleet.pools()
    spans = pricing.pool_rates(pools, at, at + MOMENT) if pools else {}
    unpriced = sorted(pool.name for pool in pools.values() if spans[pool.id][0].paid_rate is None)
    return Known(
        at=at,
        server=context.site,
        machines=fleet.living_machines(at),
        tokens=accounts.good_tokens(at),
        agents=fleet.agents_heard(),
        unpriced=tuple(unpriced),
        pools=len(pools),
        may_make=context.viewer.may_manage,
    )


def _token_forms(context: Context, sent: ChangeForm | None) -> tuple[FormSection, ...]:
    picks = token_picks(context.at)
    jobs = JobsTokenForm.opened(sent, context, picks=picks).section(
        "jobs-token",
        reverse("first-jobs-token"),
        "Create a token for jobs",
        words="For a scheduler that states its jobs as they run. Not needed to import a file.",
        css="change",
    )
    if not picks["node"]:
        return (jobs,)
    token = sent if isinstance(sent, AgentTokenForm) else None
    invited = sent if token is None else None
    return (
        AgentInvitationForm.opened(invited, context, picks=picks).section(
            "agent-invitation",
            reverse("first-invitation"),
            "Invite its agent",
            words="For the agent of a node: a one-time token, which it trades for its own. That "
            "one writes this node and nothing else.",
            css="change",
            is_primary=True,
        ),
        AgentTokenForm.opened(token, context, picks=picks).section(
            "agent-token",
            reverse("first-agent"),
            "Create the agent’s token",
            words="Without an invitation, or to try without a GPU: the agent’s own token at once.",
            css="change",
        ),
        jobs,
    )


def _token_step(known: Known) -> GuideStep:
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


def _agent_step(known: Known) -> GuideStep:
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
            Step(
                "It sends what the GPUs of a node did. On the node, install it:",
                install_command(known.server, "runrate-agent"),
            ),
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


def _jobs_step(known: Known) -> GuideStep:
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


def _price_step(known: Known) -> GuideStep:
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


def _owner_step(known: Known) -> GuideStep:
    rules = sum(rule.is_in_force(known.at) for rule in workloads.rules())
    return GuideStep(
        "owner",
        "Own a job",
        DONE if rules else MISSING,
        f"{counted(rules, 'rule')} in force." if rules else "Every job reads Unowned.",
        (Step("Teams are added by command:", f"{MANAGE} add_team Research"),),
        Link("Say whose the jobs are", reverse("unowned")),
    )
