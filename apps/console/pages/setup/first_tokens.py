"""The first tokens, made where they are asked for: shown once, with the commands they go into."""

from datetime import datetime, timedelta

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts import actions as accounts
from apps.accounts.authentication import viewer_of_request
from apps.accounts.queries import Scope
from apps.console.kit.frame import Step
from apps.console.kit.request import MANAGES, shown_to
from apps.console.pages.setup.commands import (
    CHECK,
    INSTALL,
    RUN,
    TOKEN,
    config_command,
    server_of,
    simulate_command,
    token_command,
)
from apps.console.pages.setup.guide import MOST_CHOICES, first_day_page
from apps.console.pages.setup.values import MadeToken
from apps.fleet import actions as fleet
from apps.fleet.queries import agentless_nodes, clusters

INVITED_FOR = timedelta(hours=24)
SOURCES = ("nvml", "dcgm", "simulated")


@require_POST
@shown_to(MANAGES)
def invite_first_agent(request: HttpRequest) -> HttpResponse:
    """A one-time token, which an agent on that node trades for its own within a day."""
    at = timezone.now()
    nodes = {str(each.id): each for each in agentless_nodes(at, MOST_CHOICES)}
    node = nodes.get(request.POST.get("node", ""))
    if node is None:
        return first_day_page(request, problem="Choose a node that has no agent yet.")
    secret = fleet.invite_agent(node_id=node.id, expires_at=at + INVITED_FOR, at=at)
    steps = (
        Step("On the node, install the agent:", INSTALL),
        Step("Say where this server is:", config_command(server_of(request))),
        Step(
            "Trade this one-time token, good for 24 hours and one agent, for the agent’s own:",
            f"printf '%s\\n' {secret} | runrate-agent enrol",
        ),
        Step("See what works on this node and what does not:", CHECK),
        Step("Measure and send; this page notices the first report:", RUN),
    )
    return first_day_page(request, MadeToken(f"one agent of {node.name}", secret, steps))


@require_POST
@shown_to(MANAGES)
def make_agent_token(request: HttpRequest) -> HttpResponse:
    """A token that writes one node; the agent that comes with it is waited for."""
    at = timezone.now()
    nodes = {str(each.id): each for each in agentless_nodes(at, MOST_CHOICES)}
    node = nodes.get(request.POST.get("node", ""))
    source = request.POST.get("source", "")
    if node is None:
        return first_day_page(request, problem="Choose a node that has no agent yet.")
    if source not in SOURCES:
        return first_day_page(request, problem="Say how the agent measures.")
    secret = _let_in(node.id, node.name, source, viewer_of_request(request).person_id, at)
    server = server_of(request)
    steps: tuple[Step, ...]
    if source == "simulated":
        steps = (
            Step("Keep it in a file that only you can read:", token_command(secret, "token")),
            Step("Then play a day of one node:", simulate_command(server)),
        )
    else:
        steps = (
            Step("On the node, say where this server is:", config_command(server)),
            Step("Keep the token where the agent looks for it:", token_command(secret, TOKEN)),
            Step("Then start the agent; this page notices its first report:", RUN),
        )
    return first_day_page(request, MadeToken(f"the agent of {node.name}", secret, steps))


@require_POST
@shown_to(MANAGES)
def make_jobs_token(request: HttpRequest) -> HttpResponse:
    """A token with which a scheduler states jobs, of one cluster or of any."""
    at = timezone.now()
    known = {str(each.id): each for each in clusters().values()}
    asked = request.POST.get("cluster", "")
    if asked and asked not in known:
        return first_day_page(request, problem="Choose one of the clusters, or any.")
    cluster = known[asked] if asked else None
    name = f"jobs of {cluster.name}" if cluster else "jobs"
    with transaction.atomic():
        token = accounts.make_token(
            name=name,
            scopes=[Scope.JOBS],
            expires_at=None,
            at=at,
            made_by_id=viewer_of_request(request).person_id,
        )
        if cluster:
            fleet.bind_cluster_token(token_id=token.id, cluster_id=cluster.id)
    server = server_of(request)
    check = (
        f'curl -sS {server}/api/v1/jobs/bulk -H "Authorization: Bearer {token.secret}" '
        "-H 'Content-Type: application/json' -d '{\"events\": []}'"
    )
    said = f"the {name}" if cluster else "the jobs of any cluster"
    steps = (
        Step(
            "Where the scheduler’s hooks run, keep it in a file:",
            token_command(token.secret, "token"),
        ),
        Step("Check that the token is accepted; this sends no job:", check),
    )
    return first_day_page(request, MadeToken(said, token.secret, steps))


@transaction.atomic
def _let_in(node_id: int, name: str, source: str, by: int | None, at: datetime) -> str:
    token = accounts.make_token(
        name=f"agent of {name}", scopes=[Scope.INGEST], expires_at=None, at=at, made_by_id=by
    )
    fleet.bind_agent(node_id=node_id, token_id=token.id, source=source, at=at)
    return token.secret
