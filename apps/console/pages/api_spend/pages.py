"""The page of what calls to model APIs cost in a month."""

from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from apps.accounts.queries import teams
from apps.console.pages.api_spend.finding import chart_of, figures_of, finding_of
from apps.console.pages.api_spend.rows import (
    MODELS,
    OWNERS,
    compared_rows,
    model_rows,
    owner_rows,
    price_rows,
    unpriced_rows,
)
from apps.console.pages.api_spend.values import ApiSpendPage
from apps.console.pages.commitments.months import Month, asked_month, month_filter, months_before
from apps.console.pages.fleet.asking import Asking
from apps.console.pages.frame import Choice, EmptyState, Filter, Link, Step
from apps.console.pages.listed import Asked, listed
from apps.ledger.queries.api_spend import Spend, SpendAsked, spend, vendors_called
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.closes.months import closed_months

CURL = (
    "curl -H 'Authorization: Bearer …' -H 'Content-Type: application/json' "
    '-d \'{"vendor": "openai", "response": {…}}\' …/api/v1/usage-events'
)


def api_spend_page(given: QueryDict, who: Asking) -> ApiSpendPage:
    """What was spent on which models, day by day, by whom, and what has no price."""
    month, currency = asked_month(given, who), who.organisation.currency
    asked = question(given, who, month)
    team = given.get("team", "")
    query = "?" + urlencode({"month": month.key} | ({"team": team} if team else {}))
    rows, whole = model_rows(asked, who), _whole(asked)
    days = month.days(local_day(who.at, who.organisation.zone))
    by_day = spend(asked, ("day", "model"))
    status = "reconciled" if month.first in closed_months() else "estimated"
    previous = Month(months_before(month.first, 2)[1], month.zone)
    before = _whole(question(given, who, previous))
    table = Asked(given, reverse("api-spend"), part="table", noun=("model", "models"))
    owners = Asked(given, reverse("api-spend"), "owners", "owners", noun=("row", "rows"))
    sees = who.viewer.sees_prices
    return ApiSpendPage(
        frame=who.frame,
        finding=finding_of(rows, whole, month.words, currency),
        period=month.words,
        currency=currency,
        zone=who.zone,
        filters=(month_filter(month, who), _team_filter(given, who)),
        problems=(month.problem,) if month.problem else (),
        figures=figures_of(rows, whole, before, status, currency) if whole else (),
        chart=chart_of(days, by_day, currency, reverse("api-spend-days") + query),
        models=listed(rows, MODELS, table),
        owners=listed(owner_rows(asked), OWNERS, owners),
        unpriced=unpriced_rows(asked),
        compared=compared_rows(asked) if sees and asked.team_ids is None else None,
        prices=price_rows(who) if sees else None,
        sort=table.sort,
        query=query,
        actions=_actions(who),
        empty=None if vendors_called() else _empty(),
    )


def question(given: QueryDict, who: Asking, month: Month) -> SpendAsked:
    """Which calls the address asks for, of the viewer's own teams at most."""
    own = None if who.viewer.sees_everything else who.viewer.team_ids
    named = {team.name: team.id for team in teams() if who.viewer.sees_team(team.id)}
    team = named.get(given.get("team", ""))
    if team is not None:
        own = frozenset({team})
    starts_at, ends_at = month.cuts
    return SpendAsked(starts_at, ends_at, who.organisation.zone, own)


def _whole(asked: SpendAsked) -> Spend | None:
    found = spend(asked)
    return found[0] if found else None


def _team_filter(given: QueryDict, who: Asking) -> Filter:
    names = sorted(team.name for team in teams() if who.viewer.sees_team(team.id))
    choices = [Choice("", "All teams", not given.get("team"))]
    choices += [Choice(name, name, name == given.get("team")) for name in names]
    return Filter("team", "Team", tuple(choices))


def _actions(who: Asking) -> tuple[Link, ...]:
    found = []
    if who.viewer.may_close:
        found.append(Link("Enter a contract price", reverse("add-api-price")))
    if who.viewer.sees_prices:
        found.append(Link("Bring in a vendor’s report", reverse("take-vendor-report")))
    return tuple(found)


def _empty() -> EmptyState:
    return EmptyState(
        title="No call to a model API is known",
        sentence="What OpenAI, Anthropic, Google, Bedrock and others were paid by the token is "
        "listed here by model, team and feature. Prompts and answers are dropped on receipt.",
        steps=(
            Step("Send a vendor’s response as it came, with a token of scope usage:", CURL),
            Step("Or let LiteLLM or an OpenTelemetry exporter send; docs/api-spend.md says how."),
        ),
    )
