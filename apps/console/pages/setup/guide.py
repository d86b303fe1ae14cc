"""The first day, step by step: what is done, what is waited for, what is missing, and how it is done."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.accounts.queries import StartingPoint
from apps.console.kit.cells import linked
from apps.console.kit.change import ChangeForm
from apps.console.kit.entries import PickField
from apps.console.kit.form import FormSection
from apps.console.kit.page import ConsolePage, SecretOnce, shown
from apps.console.kit.request import SEES_EVERYTHING, Context, with_current_filters
from apps.console.pages.managers import role_sentence
from apps.console.pages.setup.guide_steps import (
    GuideStep,
    agent_step,
    bill_step,
    jobs_step,
    nodes_step,
    organisation_step,
    owner_step,
    pool_step,
    price_step,
    read_setup_facts,
    team_step,
)
from apps.console.pages.setup.planning_steps import (
    budget_step,
    calls_step,
    history_step,
    wanted_later,
    wanted_now,
)
from apps.console.pages.setup.starting_points import starting_page
from apps.fleet import queries as fleet

MOST_CHOICES = 100

SOURCES = {
    "nvml": "NVML, on the node",
    "dcgm": "dcgm-exporter",
    "simulated": "a scenario, nothing real",
}


@dataclass(frozen=True, slots=True)
class Guide:
    """The steps, in order."""

    template: ClassVar[str] = "setup/guide.html"
    steps: Sequence[GuideStep]


class AgentInvitationForm(ChangeForm):
    """The node whose agent is invited."""

    node = PickField("Node without an agent")


class AgentTokenForm(AgentInvitationForm):
    """The node whose agent gets a token at once, and how it measures."""

    source = PickField("It measures by", SOURCES, initial="nvml")


class JobsTokenForm(ChangeForm):
    """Form of whose jobs a scheduler states."""

    cluster = PickField("Jobs of")


@shown(SEES_EVERYTHING, "setup")
def first_day(context: Context) -> ConsolePage:
    """The steps from an empty installation to a dollar that has an owner."""
    return first_day_page(context)


def first_day_page(
    context: Context, sent: ChangeForm | None = None, shown_token: SecretOnce | None = None
) -> ConsolePage:
    """The steps, with the token just made, or with what is wrong in the form that asked for it."""
    facts = read_setup_facts(context)
    agent, jobs = agent_step(facts), jobs_step(facts)
    if facts.may_make:
        picks = token_picks(context.at)
        agent = replace(agent, forms=_agent_forms(context, sent, picks))
        jobs = replace(jobs, forms=(_jobs_form(context, sent, picks),))
    by_key = {
        step.key: step
        for step in (
            organisation_step(facts, context),
            jobs,
            pool_step(facts),
            nodes_step(facts),
            price_step(facts),
            team_step(facts),
            owner_step(facts),
            agent,
            bill_step(facts),
            calls_step(facts),
            budget_step(facts),
            history_step(facts),
        )
    }
    guide_page = starting_page(context.organisation.starting_point)
    needed = [wanted_now(by_key[key]) for key in guide_page.needed]
    steps = (*needed, *(wanted_later(by_key[key]) for key in guide_page.later))
    done = sum(step.is_done for step in needed)
    setup = linked("Setup", context.onward(reverse("setup")))
    return ConsolePage(
        context=context,
        finding="The first day is done: work has a price and an owner."
        if done == len(needed)
        else f"{done} of the {len(needed)} steps to a first dollar are done.",
        under=(
            format_html(
                "In any order, a pool before its nodes; {} keeps asking what is still missing "
                "afterwards. What is for later a first dollar does not need.",
                setup,
            ),
            _starting_words(context),
            *(() if facts.may_make else (role_sentence("takes most of these steps"),)),
        ),
        sections=(shown_token, Guide([_led_step(step, context) for step in steps])),
    )


def _starting_words(context: Context) -> SafeString:
    """Return which starting point these steps are of, and, to whom may, the way to another."""
    chosen = context.organisation.starting_point
    sentence = (
        f"The steps of an organisation that {StartingPoint(chosen).label}."
        if chosen
        else "The steps are those of GPUs of your own or rented."
    )
    if not context.viewer.may_manage:
        return format_html("{}", sentence)
    way = "Choose another starting point" if chosen else "Choose a starting point"
    return format_html("{} {}.", sentence, linked(way, context.onward(reverse("starting-point"))))


def _led_step(step: GuideStep, context: Context) -> GuideStep:
    how = [
        replace(substep, link=substep.link and with_current_filters(substep.link, context))
        for substep in step.how
    ]
    return replace(
        step, link=step.link and with_current_filters(step.link, context), how=tuple(how)
    )


def token_picks(at: datetime) -> dict[str, dict[str, str]]:
    """Machines that nothing reports for yet, and clusters, by the fields that offer them."""
    nodes = fleet.agentless_nodes(at, MOST_CHOICES)
    clusters = {str(cluster.id): f"{cluster.name} alone" for cluster in fleet.clusters().values()}
    return {
        "node": {str(node.id): f"{node.name} ({node.pool})" for node in nodes},
        "cluster": {"": "any cluster", **clusters},
    }


def _agent_forms(
    context: Context, sent: ChangeForm | None, picks: dict[str, dict[str, str]]
) -> tuple[FormSection, ...]:
    if not picks["node"]:
        return ()
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
    )


def _jobs_form(
    context: Context, sent: ChangeForm | None, picks: dict[str, dict[str, str]]
) -> FormSection:
    return JobsTokenForm.opened(sent, context, picks=picks).section(
        "jobs-token",
        reverse("first-jobs-token"),
        "Create a token for jobs",
        words="A file is enough. A scheduler that states its jobs as they run does it with a token "
        "of its own:",
        css="change",
    )
