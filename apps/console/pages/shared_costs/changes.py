"""Sharing a cost, ending it, and changing its weights, each with what it would move."""

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from apps.accounts import queries as accounts
from apps.console.kit.change import ChangePage, Field, as_entered, moment, one_of
from apps.console.kit.frame import Link
from apps.console.kit.request import SEES_EVERYTHING, Context, request_context, shown_to
from apps.console.pages.changes import Entries, moment_or_none
from apps.console.pages.setup.questions import recount
from apps.console.pages.shared_costs.rows import weights_said
from apps.console.pages.shared_costs.words import moved
from apps.economics.hours import hour_of
from apps.ledger.queries.shared_costs import Sharing, if_ended, if_shared, if_weighed
from apps.pricing import actions
from apps.pricing.queries.shared import METHODS, SharedCostRow, shared_cost_if_entered
from apps.show.money import quoted_amount

changing = require_http_methods(["GET", "HEAD", "POST"])
WEIGHT = "weight-"
REFUSALS = (
    actions.RateNotUnderstood,
    actions.RateEndsBeforeItStarts,
    actions.RateCurrencyDiffers,
    actions.SharedCostExists,
    actions.SharedCostAlreadyEnded,
)


@changing
@shown_to(SEES_EVERYTHING)
def add_cost(request: HttpRequest) -> HttpResponse:
    """Says what would be carried of the past and by whom, then enters the cost."""
    who, teams = request_context(request, "shared-costs"), _teams()
    given = _given(request)
    defaults = {"name": "", "amount": "", "method": "by_cost", "starts_at": _this_hour(who)}
    entries = Entries(given, defaults | {"ends_at": ""} | _no_weights(teams))
    cost = _cost(entries, teams, who)
    if cost is not None:
        _refuse(entries, lambda: actions.check_shared_cost(cost))
    if request.method == "POST" and cost is not None and not entries.problems:
        actions.add_shared_cost(cost=cost, at=who.at)
        recount()
        messages.success(request, f"{cost.name} is shared; past hours are charged again.")
        return redirect("shared-costs")
    ready = cost is not None and not entries.problems
    page = ChangePage(
        frame=who.frame,
        finding="Add a shared cost",
        explanation="An amount a month that is allocated to teams, hour by hour.",
        back=Link("Back to shared costs", reverse("shared-costs")),
        here=request.path,
        fields=(*_about(entries, who), *_weight_fields(entries, teams)),
        effects=moved(if_shared(_sharing(cost), who.at), cost.currency, teams)
        if cost and ready
        else (),
        confirm=entries.confirm("Add this cost"),
    )
    return render(request, "components/change_page.html", {"page": page})


@changing
@shown_to(SEES_EVERYTHING)
def end_cost(request: HttpRequest, shared_cost_id: int) -> HttpResponse:
    """Says what would be carried no longer, then ends the cost."""
    who, teams = request_context(request, "shared-costs"), _teams()
    cost = _found(shared_cost_id)
    entries = Entries(_given(request), {"ended_at": _this_hour(who)})
    ended_at = entries.read("ended_at", moment(who.zone))
    if ended_at is not None:
        _refuse_end(entries, cost, ended_at, "ended_at")
    if request.method == "POST" and ended_at is not None and not entries.problems:
        actions.end_shared_cost(cost_id=cost.id, ended_at=ended_at, at=who.at)
        recount()
        messages.success(request, f"{cost.name} has an end.")
        return redirect("shared-costs")
    rest = None if ended_at is None or entries.problems else _rest(cost, ended_at, cost.weights)
    page = ChangePage(
        frame=who.frame,
        finding=f"End {cost.name}",
        explanation=f"{quoted_amount(cost.amount, cost.currency)} a month, shared "
        f"{METHODS[cost.method]}. What was allocated before stays.",
        back=Link("Back to shared costs", reverse("shared-costs")),
        here=request.path,
        fields=(entries.field("ended_at", f"Shared until ({who.zone.key})", "datetime-local"),),
        effects=moved(if_ended(rest, cost.id, who.at), cost.currency, teams) if rest else (),
        confirm=entries.confirm("End this cost"),
    )
    return render(request, "components/change_page.html", {"page": page})


@changing
@shown_to(SEES_EVERYTHING)
def change_weights(request: HttpRequest, shared_cost_id: int) -> HttpResponse:
    """Says what would go from team to team, then goes on with the new weights."""
    who, teams = request_context(request, "shared-costs"), _teams()
    cost = _found(shared_cost_id)
    now = {f"{WEIGHT}{key}": f"{weight.normalize():f}" for key, weight in cost.weights.items()}
    given = _given(request)
    entries = Entries(given, {"starts_at": _this_hour(who)} | _no_weights(teams) | now)
    starts_at = entries.read("starts_at", moment(who.zone))
    weights = _weights(entries, teams)
    if starts_at is not None:
        _refuse_end(entries, cost, starts_at, "starts_at")
        _refuse(entries, lambda: actions.check_weights(weights, starts_at))
    if request.method == "POST" and starts_at is not None and not entries.problems:
        actions.change_shared_weights(
            cost_id=cost.id, weights=weights, starts_at=starts_at, at=who.at
        )
        messages.success(request, f"{cost.name} goes on with these weights.")
        return redirect("shared-costs")
    rest = None if starts_at is None or entries.problems else _rest(cost, starts_at, weights)
    page = ChangePage(
        frame=who.frame,
        finding=f"Change the allocation of {cost.name}",
        explanation=f"Now: {weights_said(cost, teams) or METHODS[cost.method]}. Hours before "
        "keep what they had.",
        back=Link("Back to shared costs", reverse("shared-costs")),
        here=request.path,
        fields=(
            entries.field("starts_at", f"From ({who.zone.key})", "datetime-local"),
            *_weight_fields(entries, teams),
        ),
        effects=moved(if_weighed(rest, cost.id, who.at), cost.currency, teams) if rest else (),
        confirm=entries.confirm("Allocate it by these weights"),
    )
    return render(request, "components/change_page.html", {"page": page})


def _given(request: HttpRequest) -> QueryDict:
    return request.POST if request.method == "POST" else request.GET


def _teams() -> dict[int, str]:
    return {team.id: team.name for team in accounts.teams()}


def _no_weights(teams: Mapping[int, str]) -> dict[str, str]:
    return {f"{WEIGHT}{team_id}": "" for team_id in teams}


def _this_hour(who: Context) -> str:
    return as_entered(hour_of(who.at), who.zone)


def _found(cost_id: int) -> SharedCostRow:
    cost = shared_cost_if_entered(cost_id)
    if cost is None:
        raise Http404
    return cost


def _about(entries: Entries, who: Context) -> tuple[Field, ...]:
    methods = {key: words.capitalize() for key, words in METHODS.items()}
    return (
        entries.field("name", "What is shared"),
        entries.field("amount", f"Amount a month, in {who.organisation.currency}"),
        entries.choice("method", "Shared", methods, "Each line says by what it really was."),
        entries.field("starts_at", f"From ({who.zone.key})", "datetime-local"),
        entries.field("ends_at", "Until", "datetime-local", "Empty: open-ended."),
    )


def _weight_fields(entries: Entries, teams: Mapping[int, str]) -> tuple[Field, ...]:
    hint = "Only by stated weights; empty: none of it."
    return tuple(
        entries.field(f"{WEIGHT}{team_id}", f"Weight of {name}", hint=hint)
        for team_id, name in teams.items()
    )


def _weights(entries: Entries, teams: Mapping[int, str]) -> dict[int, Decimal]:
    found = {}
    for team_id in teams:
        weight = entries.read(f"{WEIGHT}{team_id}", _weight)
        if weight is not None:
            found[team_id] = weight
    return found


def _weight(text: str) -> Decimal | None:
    return _number(text, "Say a weight in figures, as in 2.5.") if text else None


def _amount(text: str) -> Decimal:
    return _number(text, "Say an amount in figures, as in 9000.")


def _number(text: str, otherwise: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(otherwise) from None


def _cost(entries: Entries, teams: Mapping[int, str], who: Context) -> actions.NewSharedCost | None:
    """What was entered; None where a field says nothing."""
    amount = entries.read("amount", _amount)
    method = entries.read("method", one_of(METHODS))
    starts_at = entries.read("starts_at", moment(who.zone))
    ends_at = entries.read("ends_at", moment_or_none(who.zone))
    weights = _weights(entries, teams)
    if entries.problems or amount is None or starts_at is None:
        return None
    return actions.NewSharedCost(
        name=entries.texts["name"],
        amount=amount,
        currency=who.organisation.currency,
        method=method or "",
        starts_at=starts_at,
        ends_at=ends_at,
        weights=weights,
    )


def _refuse(entries: Entries, check: Callable[[], None]) -> None:
    """Say by field what doing it would refuse."""
    try:
        check()
    except REFUSALS as refusal:
        field = (
            next(key for key in entries.texts if key.startswith(WEIGHT))
            if refusal.field == "weights"
            else refusal.field
        )
        entries.refused(field, refusal.sentence)


def _refuse_end(entries: Entries, cost: SharedCostRow, ended_at: datetime, field: str) -> None:
    if ended_at <= cost.starts_at:
        entries.refused(field, "It begins only then, or later.")
    elif cost.ends_at is not None and cost.ends_at <= ended_at:
        entries.refused(field, "It is over by then.")


def _sharing(cost: actions.NewSharedCost) -> Sharing:
    return Sharing(cost.amount, cost.method, cost.starts_at, cost.ends_at, cost.weights)


def _rest(cost: SharedCostRow, starts_at: datetime, weights: Mapping[int, Decimal]) -> Sharing:
    method = "weighted" if weights else cost.method
    return Sharing(cost.amount, method, starts_at, cost.ends_at, weights)
