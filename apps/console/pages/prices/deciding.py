"""Prices that wait: why, what lies beside them, what would move, and what finance decides."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from apps.accounts import actions as accounts
from apps.accounts.queries import Role, person_names
from apps.console.kit.request import SEES_EVERYTHING, Context, request_context, shown_to
from apps.console.pages.prices.effects import effects_of
from apps.console.pages.prices.rows import rate_row, what_it_prices
from apps.console.pages.prices.values import DecidePage, WaitingRow
from apps.console.pages.setup.questions import recount
from apps.pricing import actions
from apps.pricing.queries import listing
from apps.pricing.queries.deciding import WAITS, rates_waiting
from apps.pricing.queries.neighbours import neighbours_of
from apps.pricing.queries.what_if import if_accepted

DECIDES = frozenset({Role.FINANCE})
LONGEST_NOTE = 500
REFUSALS = (
    actions.NoteMissing,
    actions.RateNotWaiting,
    actions.RateOverlaps,
    actions.SecondPersonNeeded,
)


def waiting_rows(asking: Context) -> tuple[WaitingRow, ...]:
    """Every price that waits, the oldest first, with some of its neighbours."""
    rates = rates_waiting()
    names = person_names() if rates else {}
    beside = neighbours_of(rates)
    return tuple(_waiting_row(rate, beside[rate["id"]], asking, names) for rate in rates)


@require_safe
@shown_to(SEES_EVERYTHING)
def decide(request: HttpRequest, waiting_id: int) -> HttpResponse:
    """Why the price waits and what accepting it would move."""
    return _page(request, waiting_id, problem="", status=200)


@require_POST
@shown_to(DECIDES)
def accept(request: HttpRequest, waiting_id: int) -> HttpResponse:
    """The price holds from its start on."""
    who, rate = request_context(request, "prices"), _rate(waiting_id)
    try:
        actions.accept_rate(rate_id=waiting_id, by=_person(who), at=who.at)
    except REFUSALS as refused:
        return _page(request, waiting_id, problem=f"{refused}.", status=409)
    recount()
    said = f"The price of {what_it_prices(rate)} is accepted; past hours are charged again."
    messages.success(request, said)
    return redirect("rate", waiting_id)


@require_POST
@shown_to(DECIDES)
def refuse(request: HttpRequest, waiting_id: int) -> HttpResponse:
    """The price prices nothing, and why is kept with it."""
    who, rate = request_context(request, "prices"), _rate(waiting_id)
    note = request.POST.get("note", "")[:LONGEST_NOTE]
    try:
        actions.refuse_rate(rate_id=waiting_id, by=_person(who), note=note, at=who.at)
    except REFUSALS as refused:
        return _page(request, waiting_id, problem=f"{refused}.", status=409)
    messages.success(request, f"The price of {what_it_prices(rate)} is rejected.")
    return redirect("rate", waiting_id)


@require_POST
@shown_to(DECIDES)
def set_approval(request: HttpRequest) -> HttpResponse:
    """By how much a price may move before a second person is asked; empty: as much as it likes."""
    text = request.POST.get("per_cent", "").strip()
    try:
        accounts.set_price_approval(per_cent=int(text) if text else None)
    except accounts.PriceApprovalUnknown as refused:
        messages.error(request, refused.sentence)
    except ValueError:
        messages.error(request, "Say whole per cents, as in 20.")
    else:
        said = f"by more than {text} % wait" if text else "wait no longer, however much they move,"
        messages.success(request, f"Prices that move {said} for a second person.")
    return redirect("prices")


def _page(request: HttpRequest, rate_id: int, *, problem: str, status: int) -> HttpResponse:
    who, rate = request_context(request, "prices"), _rate(rate_id)
    row = _waiting_row(rate, neighbours_of([rate])[rate["id"]], who, person_names())
    waits = rate["standing"] in WAITS
    own = rate["entered_by_id"] is not None and rate["entered_by_id"] == who.viewer.person_id
    page = DecidePage(
        frame=who.frame,
        finding=f"{row.rate.amount} {row.rate.per} for {row.rate.what} waits"
        if waits
        else f"The price of {row.rate.what} does not wait any more",
        zone=who.zone,
        row=row,
        waits=waits,
        problem=problem,
        effects=effects_of(if_accepted(rate_id, who.at), who) if waits else (),
        may_decide=waits and who.viewer.role in DECIDES and not own,
        is_own=own,
    )
    return render(request, "prices/decide.html", {"page": page}, status=status)


def _rate(rate_id: int) -> dict[str, Any]:
    rate = listing.rate_if_entered(rate_id)
    if rate is None:
        raise Http404
    return rate


def _person(who: Context) -> int:
    """A page is asked for by somebody who signed in."""
    if who.viewer.person_id is None:
        raise Http404
    return who.viewer.person_id


def _waiting_row(
    rate: Mapping[str, Any],
    beside: Sequence[Mapping[str, Any]],
    asking: Context,
    names: Mapping[int, str],
) -> WaitingRow:
    return WaitingRow(
        rate=rate_row(rate, asking.at),
        why=rate["doubt"],
        entered_at=rate["created_at"],
        entered_by=names.get(rate["entered_by_id"], ""),
        neighbours=tuple(rate_row(each, asking.at) for each in beside),
        href=reverse("decide-rate", args=[rate["id"]]),
    )
