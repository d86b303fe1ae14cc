"""Prices that wait: why, what lies beside them, what would move, and what finance decides."""

from collections.abc import Mapping
from datetime import datetime

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_POST

from apps.accounts import actions as accounts
from apps.accounts.queries import Role, person_names
from apps.console.kit.cells import INSTANT
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, FactList, Include, answered, shown
from apps.console.kit.request import SEES_EVERYTHING, Context, request_context, shown_to
from apps.console.pages.prices.effects import effects_of
from apps.console.pages.prices.tables import (
    BESIDE,
    EVER,
    KINDS,
    NOT_STATED,
    ListedRate,
    Rate,
    per_of,
    what_it_prices,
)
from apps.console.pages.setup.questions import recount
from apps.pricing import actions
from apps.pricing.queries import listing
from apps.pricing.queries.deciding import WAITS
from apps.pricing.queries.neighbours import neighbours_of
from apps.pricing.queries.what_if import if_accepted
from apps.show.money import quoted_amount

DECIDES = frozenset({Role.FINANCE})
LONGEST_NOTE = 500
REFUSALS = (
    actions.NoteMissing,
    actions.RateNotWaiting,
    actions.RateOverlaps,
    actions.SecondPersonNeeded,
)


@shown(SEES_EVERYTHING, "prices")
def decide(context: Context, waiting_id: int) -> ConsolePage:
    """Why the price waits and what accepting it would move."""
    return _decide_page(context, waiting_id)


@require_POST
@shown_to(DECIDES)
def accept(request: HttpRequest, waiting_id: int) -> HttpResponse:
    """The price holds from its start on."""
    context, rate = request_context(request, "prices"), rate_or_404(waiting_id)
    try:
        actions.accept_rate(rate_id=waiting_id, by=_person_id(context), at=context.at)
    except REFUSALS as refused:
        return answered(request, _decide_page(context, waiting_id, f"{refused}."), 409)
    recount()
    said = f"The price of {what_it_prices(rate)} is accepted; past hours are charged again."
    messages.success(request, said)
    return redirect("rate", waiting_id)


@require_POST
@shown_to(DECIDES)
def refuse(request: HttpRequest, waiting_id: int) -> HttpResponse:
    """The price prices nothing, and why is kept with it."""
    context, rate = request_context(request, "prices"), rate_or_404(waiting_id)
    note = request.POST.get("note", "")[:LONGEST_NOTE]
    try:
        actions.refuse_rate(rate_id=waiting_id, by=_person_id(context), note=note, at=context.at)
    except REFUSALS as refused:
        return answered(request, _decide_page(context, waiting_id, f"{refused}."), 409)
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


def rate_or_404(rate_id: int) -> Rate:
    """The rate of this id, as the listing has it."""
    rate = listing.rate_if_entered(rate_id)
    if rate is None:
        raise Http404
    return rate


def _decide_page(context: Context, rate_id: int, problem: str = "") -> ConsolePage:
    """A price that waits, what lies beside it and what accepting it would move."""
    rate = rate_or_404(rate_id)
    waits, person_id = rate["standing"] in WAITS, context.viewer.person_id
    beside = [ListedRate(each, context.at) for each in neighbours_of([rate])[rate_id]]
    is_own = rate["entered_by_id"] is not None and rate["entered_by_id"] == person_id
    finding = f"The price of {what_it_prices(rate)} does not wait any more"
    if waits:
        finding = f"{quoted_words(rate)} for {what_it_prices(rate)} waits"
    content = {
        "rate_id": rate_id,
        "effects": effects_of(if_accepted(rate_id, context.at), context) if waits else (),
        "may_decide": context.viewer.role in DECIDES and not is_own,
        "is_own": is_own,
    }
    return ConsolePage(
        context=context,
        finding=finding,
        under=(f"{ListedRate(rate, context.at).standing}: {rate['doubt']}.",),
        problems=(problem,) if problem else (),
        back=Link("Prices", reverse("prices")),
        actions=(Link("This price", reverse("rate", args=[rate_id])),),
        sections=(
            FactList(entered_facts(rate, person_names(), context)),
            BESIDE.section(beside, context) if beside else None,
            Include("prices/_decide.html", content) if waits else None,
        ),
    )


def entered_facts(rate: Rate, names: Mapping[int, str], context: Context) -> list[tuple[str, str]]:
    """What was said of a rate when it was entered, and by whom."""
    starts_at, by = rate["starts_at"], rate["entered_by_id"]
    return [
        ("Kind", KINDS[rate["kind"]]),
        ("Valid from", INSTANT.shown(starts_at, context.locale) if starts_at else EVER),
        ("Source", rate["source"] or NOT_STATED),
        ("Entered", moment_by(rate["created_at"], names.get(by, ""), context)),
    ]


def moment_by(at: datetime, name: str, context: Context) -> str:
    """When something was done, and by whom, where that was a person."""
    by = f" by {name}" if name else ""
    return format_html("{}{}", INSTANT.shown(at, context.locale), by)


def quoted_words(rate: Rate) -> str:
    """The amount as quoted, and for what."""
    return f"{quoted_amount(rate['amount'], rate['currency'])} {per_of(rate)}"


def _person_id(context: Context) -> int:
    """A page is asked for by somebody who signed in."""
    if context.viewer.person_id is None:
        raise Http404
    return context.viewer.person_id
