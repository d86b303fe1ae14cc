"""The first tokens, made where they are asked for: shown once, with the commands they go into."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from apps.accounts import actions as accounts
from apps.accounts.queries import Scope
from apps.console.kit.change import Act, acting
from apps.console.kit.frame import Step
from apps.console.kit.page import ConsolePage, SecretOnce
from apps.console.kit.request import MANAGES, Context
from apps.console.pages.setup.commands import (
    CHECK,
    RUN,
    TOKEN,
    config_command,
    simulate_command,
    token_command,
)
from apps.console.pages.setup.guide import (
    AgentInvitationForm,
    AgentTokenForm,
    JobsTokenForm,
    first_day_page,
    token_picks,
)
from apps.fleet import actions as fleet
from apps.fleet.queries import clusters, node_names
from apps.web.queries.wheels import install_command

INVITED_FOR = timedelta(hours=24)


@acting(MANAGES, "setup")
def invite_agent(context: Context) -> Act:
    """A one-time token, which an agent on that node trades for its own within a day."""

    def apply(entered: Mapping[str, Any]) -> ConsolePage:
        node_id = int(entered["node"])
        secret = fleet.invite_agent(
            node_id=node_id, expires_at=context.at + INVITED_FOR, at=context.at
        )
        steps = (
            Step("On the node, install the agent:", install_command(context.site, "runrate-agent")),
            Step("Say where this server is:", config_command(context.site)),
            Step(
                "Trade this one-time token, good for 24 hours and one agent, for the agent’s own:",
                f"printf '%s\\n' {secret} | runrate-agent enrol",
            ),
            Step("See what works on this node and what does not:", CHECK),
            Step("Measure and send; this page notices the first report:", RUN),
        )
        return _with_token(f"one agent of {node_names([node_id])[node_id]}", secret, steps, context)

    picks = token_picks(context.at)
    return Act(
        form=AgentInvitationForm(context.sent, context, picks, is_sent=True),
        apply=apply,
        page=lambda sent: first_day_page(context, sent),
    )


@acting(MANAGES, "setup")
def make_agent_token(context: Context) -> Act:
    """A token that writes one node; the agent that comes with it is waited for."""

    def apply(entered: Mapping[str, Any]) -> ConsolePage:
        node_id, source = int(entered["node"]), entered["source"]
        name = node_names([node_id])[node_id]
        secret = _let_in(node_id, name, source, context.viewer.person_id, context.at)
        steps: tuple[Step, ...] = (
            Step("On the node, say where this server is:", config_command(context.site)),
            Step("Keep the token where the agent looks for it:", token_command(secret, TOKEN)),
            Step("Then start the agent; this page notices its first report:", RUN),
        )
        if source == "simulated":
            steps = (
                Step("Keep it in a file that only you can read:", token_command(secret, "token")),
                Step("Then play a day of one node:", simulate_command(context.site)),
            )
        return _with_token(f"the agent of {name}", secret, steps, context)

    picks = token_picks(context.at)
    return Act(
        form=AgentTokenForm(context.sent, context, picks, is_sent=True),
        apply=apply,
        page=lambda sent: first_day_page(context, sent),
    )


@acting(MANAGES, "setup")
def make_jobs_token(context: Context) -> Act:
    """A token with which a scheduler states jobs, of one cluster or of any."""

    def apply(entered: Mapping[str, Any]) -> ConsolePage:
        cluster = clusters()[int(entered["cluster"])] if entered["cluster"] else None
        name = f"jobs of {cluster.name}" if cluster else "jobs"
        with transaction.atomic():
            token = accounts.make_token(
                name=name,
                scopes=[Scope.JOBS],
                expires_at=None,
                at=context.at,
                made_by_id=context.viewer.person_id,
            )
            if cluster:
                fleet.bind_cluster_token(token_id=token.id, cluster_id=cluster.id)
        check = (
            f'curl -sS {context.site}/api/v1/jobs/bulk -H "Authorization: Bearer {token.secret}" '
            "-H 'Content-Type: application/json' -d '{\"events\": []}'"
        )
        steps = (
            Step(
                "Where the scheduler’s hooks run, keep it in a file:",
                token_command(token.secret, "token"),
            ),
            Step("Check that the token is accepted; this sends no job:", check),
        )
        purpose = f"the {name}" if cluster else "the jobs of any cluster"
        return _with_token(purpose, token.secret, steps, context)

    picks = token_picks(context.at)
    return Act(
        form=JobsTokenForm(context.sent, context, picks, is_sent=True),
        apply=apply,
        page=lambda sent: first_day_page(context, sent),
    )


def _with_token(
    what_for: str, secret: str, steps: tuple[Step, ...], context: Context
) -> ConsolePage:
    about = "it is shown only now; only its hash is kept"
    shown_token = SecretOnce(f"The token for {what_for}", about, secret, steps)
    return first_day_page(context, shown_token=shown_token)


@transaction.atomic
def _let_in(node_id: int, name: str, source: str, by: int | None, at: datetime) -> str:
    token = accounts.make_token(
        name=f"agent of {name}", scopes=[Scope.INGEST], expires_at=None, at=at, made_by_id=by
    )
    fleet.bind_agent(node_id=node_id, token_id=token.id, source=source, at=at)
    return token.secret
