"""The first day, step by step: what is done already, and how the rest is."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts import queries as accounts
from apps.console.pages.access import SEES_EVERYTHING, frame_of, shown_to
from apps.console.pages.frame import Link, Step
from apps.console.pages.setup.questions import MANAGE, questions_waiting
from apps.console.pages.setup.values import FirstDayPage, GuideStep
from apps.fleet import queries as fleet
from apps.pricing import queries as pricing
from apps.show.amounts import counted
from apps.show.time import duration
from apps.workloads import queries as workloads


@require_safe
@shown_to(SEES_EVERYTHING)
def first_day(request: HttpRequest) -> HttpResponse:
    """Five steps from an empty installation to a dollar that has an owner."""
    at = timezone.now()
    steps = _steps(request.build_absolute_uri("/").rstrip("/"), at)
    done = sum(step.is_done for step in steps)
    page = FirstDayPage(
        frame=frame_of(request, accounts.organisation(), "setup", questions_waiting(at)),
        finding="The first day is done: work has a price and an owner."
        if done == len(steps)
        else f"{done} of the {len(steps)} steps of the first day are done.",
        steps=steps,
    )
    return render(request, "setup/first_day.html", {"page": page})


def _steps(server: str, at: datetime) -> tuple[GuideStep, ...]:
    return (_token(at), _agent(server, at), _jobs(), _price(), _owner(at))


def _token(at: datetime) -> GuideStep:
    good = [token for token in accounts.tokens() if token.is_good(at)]
    return GuideStep(
        "Make a token",
        bool(good),
        f"{counted(len(good), 'token')} may be used now." if good else "There is none yet.",
        (
            Step(
                "Schedulers and scripts show one; its secret is shown once.",
                link=Link("Tokens", reverse("tokens")),
            ),
            Step(
                "One for the agent of a node may write that node alone; the node must be on record:",
                command=f'{MANAGE} make_token "agent of gpu-01" --scope ingest --node gpu-01 '
                "--source simulated",
            ),
        ),
    )


def _agent(server: str, at: datetime) -> GuideStep:
    known = fleet.agents_heard()
    found = "No agent is on record."
    if known.last_seen_at is not None:
        ago = duration(at - known.last_seen_at)
        found = f"{known.heard} of {counted(known.agents, 'agent')} were heard, the last {ago} ago."
    elif known.agents:
        found = f"{counted(known.agents, 'agent')} on record, none was heard yet."
    return GuideStep(
        "Start an agent",
        known.last_seen_at is not None,
        found,
        (
            Step(
                "It sends what the GPUs of a node did. Install it:",
                command="pip install agents/agent",
            ),
            Step(
                "The one of this version plays a scenario; the file holds the token:",
                command=f"runrate-agent simulate scenario.toml --server {server} --token-file token",
            ),
            Step("What it sees is confirmed in Setup.", link=Link("Setup", reverse("setup"))),
        ),
    )


def _jobs() -> GuideStep:
    is_done = workloads.has_jobs()
    return GuideStep(
        "Import jobs",
        is_done,
        "Jobs are known." if is_done else "No job is known.",
        (
            Step(
                "Send what sacct wrote, or any CSV of jobs, and say which column means what.",
                link=Link("Import a file", reverse("imports")),
            ),
            Step(
                "What sacct should be asked for:",
                command="TZ=UTC sacct -a -D -X -S 2026-11-01 -E now --parsable2 -o JobIDRaw,JobID,"
                "Cluster,Partition,QOS,Account,User,Submit,Start,End,ElapsedRaw,State,ExitCode,"
                "NCPUS,AllocTRES,NodeList,JobName > accounting.psv",
            ),
        ),
    )


def _price() -> GuideStep:
    is_done = pricing.has_prices()
    return GuideStep(
        "Set a price",
        is_done,
        "There are prices." if is_done else "Nothing has a price, so no cost is known.",
        (
            Step(
                "Say what a node costs, in the words of your contract.",
                link=Link("Prices", reverse("prices")),
            ),
            Step(
                "Or take public list prices, each with its source:",
                command=f"{MANAGE} load_price_table",
            ),
        ),
    )


def _owner(at: datetime) -> GuideStep:
    rules = sum(rule.is_in_force(at) for rule in workloads.rules())
    return GuideStep(
        "Own a job",
        bool(rules),
        f"{counted(rules, 'rule')} in force." if rules else "Every job reads Unowned.",
        (
            Step("Teams are added by command:", command=f"{MANAGE} add_team Research"),
            Step(
                "Then say whose the jobs of an account are, and see first what that moves.",
                link=Link("What nobody owns", reverse("unowned")),
            ),
        ),
    )
