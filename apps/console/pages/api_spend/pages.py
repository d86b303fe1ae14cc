"""What calls to model APIs cost in a month, and its tables as CSV."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.http import HttpResponse
from django.urls import path, reverse

from apps.accounts.queries import teams
from apps.console.kit.chart import FigureRow
from apps.console.kit.filters import Reading, name_filter, one_of
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.months import Month, asked_month, month_filter, months_before
from apps.console.kit.page import ConsolePage, Section, shown
from apps.console.kit.request import EVERYONE, SEES_EVERYTHING, Context
from apps.console.pages.api_spend import changes
from apps.console.pages.api_spend.tables import (
    DAYS,
    MODELS,
    OWNERS,
    PRICES,
    UNPRICED,
    VENDORS,
    ModelCalls,
    OwnedCalls,
    model_calls,
    price_rows,
)
from apps.console.pages.api_spend.words import chart_of, figures_of, finding_of
from apps.console.pages.managers import step_for
from apps.ledger.queries.api_spend import (
    Spend,
    SpendAsked,
    compared,
    spend,
    unpriced_calls,
    vendors_called,
)
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.closes.months import closed_months
from apps.pricing.queries.api_prices import api_prices
from apps.workloads.queries import workloads

CURL = (
    "curl -H 'Authorization: Bearer …' -H 'Content-Type: application/json' "
    '-d \'{"vendor": "openai", "response": {…}}\' …/api/v1/usage-events'
)


@dataclass(frozen=True, slots=True)
class SpendQuestion:
    """The calls of a month, of some teams or of all that the viewer sees; `teams` are everybody's."""

    month: Month
    reading: Reading
    teams: Mapping[int, str]
    offered: tuple[str, ...]
    team_ids: frozenset[int] | None

    def of(self, month: Month) -> SpendAsked:
        """The same calls of a month."""
        return SpendAsked(*month.cuts, month.zone, self.team_ids)

    @property
    def asked(self) -> SpendAsked:
        """The calls of its own month."""
        return self.of(self.month)


@shown(EVERYONE, "api-spend")
def api_spend(context: Context) -> ConsolePage:
    """What was spent on which models, day by day, by whom, and what has no price."""
    question, currency = spend_question(context), context.currency
    month, asked = question.month, question.asked
    models, whole = _model_calls(question, context), _whole_spend(asked)
    days = month.days(local_day(context.at, month.zone))
    by_day = spend(asked, ("day", "model"))
    previous = Month(months_before(month.first, 2)[1], month.zone)
    status = "reconciled" if month.first in closed_months() else "estimated"
    rows = [row.found for row in models]
    before = _whole_spend(question.of(previous))
    figures = figures_of(rows, whole, before, status, currency) if whole else ()
    return ConsolePage(
        context=context,
        finding=finding_of(rows, whole, month.words, currency),
        status=status if whole else "",
        under=(
            f"{month.words}, each call at its own date and tier, in {currency}; calls without a "
            "price are in no amount.",
        ),
        filters=(
            month_filter(month, context),
            name_filter("team", "Team", question.offered, question.reading.texts, "All teams"),
        ),
        problems=(*month.problems, *question.reading.problems),
        actions=_actions_of(context),
        sections=(
            FigureRow(figures) if figures else None,
            chart_of(days, by_day, currency, context.href(reverse("api-spend-days"))),
            MODELS.section(
                models,
                context,
                empty=f"No call is known of {month.words}.",
                csv_href=reverse("api-spend-csv"),
            ),
            *_further_sections(question, context),
        ),
        empty=None if vendors_called() else _no_calls(context),
    )


def _further_sections(question: SpendQuestion, context: Context) -> tuple[Section | None, ...]:
    """Whose the calls were, what has no price, and, for who sees prices, what they go by."""
    owners, unpriced = _owner_calls(question), unpriced_calls(question.asked)
    viewer = context.viewer
    reports = None
    if viewer.sees_prices and question.team_ids is None:
        found = compared(question.asked)
        reports = VENDORS.section(found, context, csv_href=reverse("api-spend-vendors"))
    prices = None
    if viewer.sees_prices:
        held = price_rows(api_prices(), context.at, may_end=viewer.may_close)
        prices = PRICES.section(held, context)
    return (
        OWNERS.section(owners, context, csv_href=reverse("api-spend-teams")) if owners else None,
        UNPRICED.section(unpriced, context, csv_href=reverse("api-spend-unpriced"))
        if unpriced
        else None,
        reports,
        prices,
    )


@shown(EVERYONE, "api-spend")
def models_csv(context: Context) -> HttpResponse:
    """By model."""
    question = spend_question(context)
    return MODELS.csv(_model_calls(question, context), context, _file_name(question))


@shown(EVERYONE, "api-spend")
def days_csv(context: Context) -> HttpResponse:
    """By day and model."""
    question = spend_question(context)
    found = spend(question.asked, ("day", "vendor", "model"))
    rows = sorted(found, key=lambda each: tuple(map(str, each.key)))
    return DAYS.csv(rows, context, _file_name(question, "-days"))


@shown(EVERYONE, "api-spend")
def owners_csv(context: Context) -> HttpResponse:
    """By team, workload and feature."""
    question = spend_question(context)
    return OWNERS.csv(_owner_calls(question), context, _file_name(question, "-teams"))


@shown(EVERYONE, "api-spend")
def unpriced_csv(context: Context) -> HttpResponse:
    """Calls without a price."""
    question = spend_question(context)
    return UNPRICED.csv(unpriced_calls(question.asked), context, _file_name(question, "-unpriced"))


@shown(SEES_EVERYTHING, "api-spend")
def vendors_csv(context: Context) -> HttpResponse:
    """What vendors say, beside what their calls come to."""
    question = spend_question(context)
    return VENDORS.csv(compared(question.asked), context, _file_name(question, "-vendors"))


def spend_question(context: Context) -> SpendQuestion:
    """Which calls the address asks for, of the viewer's own teams at most."""
    names = {team.id: team.name for team in teams()}
    seen = {name: team for team, name in names.items() if context.viewer.sees_team(team)}
    reading = Reading(context.query, {"team": ""}, {"team": "all teams"})
    chosen = reading.read("team", lambda text: one_of(seen, text, "team"))
    return SpendQuestion(
        month=asked_month(context),
        reading=reading,
        teams=names,
        offered=tuple(sorted(seen)),
        team_ids=context.seen_teams if chosen is None else chosen,
    )


def _file_name(question: SpendQuestion, of: str = "") -> str:
    return f"api-spend-{question.month.key}{of}"


def _whole_spend(asked: SpendAsked) -> Spend | None:
    return next(iter(spend(asked)), None)


def _model_calls(question: SpendQuestion, context: Context) -> list[ModelCalls]:
    """Each model's calls, the most expensive first."""
    today = local_day(context.at, question.month.zone)
    return model_calls(spend(question.asked, ("vendor", "model")), today)


def _owner_calls(question: SpendQuestion) -> list[OwnedCalls]:
    """Whose calls they were, the most expensive first."""
    found = spend(question.asked, ("team", "workload", "feature"))
    works = workloads() if found else {}
    return [
        OwnedCalls(
            each,
            question.teams[int(str(team))],
            "" if work is None else works[int(str(work))].name,
            str(feature),
        )
        for each in found
        for team, work, feature in [each.key]
    ]


def _actions_of(context: Context) -> tuple[Link, ...]:
    found = []
    if context.viewer.may_close:
        found.append(Link("Enter a contract price", reverse("add-api-price")))
    if context.viewer.sees_prices:
        found.append(Link("Bring in a vendor’s report", reverse("take-vendor-report")))
    return tuple(found)


def _no_calls(context: Context) -> EmptyState:
    sending = step_for(
        "A vendor’s response is sent as it came, with a token of scope usage.",
        Link("Create a token", reverse("tokens")),
        "creates one",
        may=context.viewer.may_manage,
    )
    return EmptyState(
        title="No call to a model API is known",
        sentence="What OpenAI, Anthropic, Google, Bedrock and others were paid by the token is "
        "listed here by model, team and feature. Prompts and answers are dropped on receipt.",
        steps=(
            replace(sending, command=CURL),
            Step("Or let LiteLLM or an OpenTelemetry exporter send; docs/api-spend.md says how."),
        ),
    )


urlpatterns = [
    path("api-spend", api_spend, name="api-spend"),
    path("api-spend.csv", models_csv, name="api-spend-csv"),
    path("api-spend/days.csv", days_csv, name="api-spend-days"),
    path("api-spend/teams.csv", owners_csv, name="api-spend-teams"),
    path("api-spend/unpriced.csv", unpriced_csv, name="api-spend-unpriced"),
    path("api-spend/vendors.csv", vendors_csv, name="api-spend-vendors"),
    path("api-spend/prices/new", changes.add_price, name="add-api-price"),
    path("api-spend/prices/<int:api_price_id>/end", changes.end_price, name="end-api-price"),
    path("api-spend/report", changes.take_report, name="take-vendor-report"),
]
