"""Entering and ending contract prices, and bringing in a vendor's report."""

from decimal import Decimal, InvalidOperation

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from apps.accounts.queries import Role
from apps.console.pages.access import SEES_EVERYTHING, shown_to
from apps.console.pages.api_spend.rows import price_words
from apps.console.pages.changes import (
    ChangePage,
    Entries,
    Field,
    as_entered,
    moment,
    moment_or_none,
    one_of,
)
from apps.console.pages.fleet.asking import Asking, asking
from apps.console.pages.frame import Link
from apps.economics.refusal import Refusal
from apps.ledger.actions import api_prices as ledger
from apps.ledger.actions.vendor_costs import (
    VendorCostsNotUnderstood,
    report_of,
    take_vendor_costs,
)
from apps.ledger.queries.api_spend import Touched, touched_calls
from apps.pricing.actions import api_prices
from apps.pricing.actions.api_prices import UNITS, NewApiPrice
from apps.pricing.queries.api_prices import api_price
from apps.show.amounts import count, counted
from apps.show.money import quoted_amount, whole_amount

FINANCE = frozenset({Role.FINANCE})
REFUSALS = (
    api_prices.ApiPriceNotUnderstood,
    api_prices.ApiPriceOverlaps,
    api_prices.ApiPriceAlreadyEnded,
)
REPORTS = {"openai": "OpenAI: /organization/costs", "anthropic": "Anthropic: cost_report"}
MOST_BYTES = 8 * 1024 * 1024
changing = require_http_methods(["GET", "HEAD", "POST"])


@changing
@shown_to(FINANCE)
def add_price(request: HttpRequest) -> HttpResponse:
    """Says which past calls the price would be of, then enters it."""
    who = asking(request, "api-spend")
    entries = Entries(_given(request), _defaults(who))
    thought = _thought_of(entries, who)
    if thought is not None:
        _check(entries, thought)
    if request.method == "POST" and thought is not None and not entries.problems:
        try:
            ledger.enter_price(price=thought)
        except REFUSALS as refusal:
            _say(entries, refusal)
        else:
            messages.success(request, "The price is entered; past calls are priced again shortly.")
            return redirect("api-spend")
    page = ChangePage(
        frame=who.frame,
        finding="Enter a contract price of a model API",
        explanation="It takes the place of the vendor’s public price for its unit and period. "
        "A discount is off the public price.",
        back=Link("Back to API spend", reverse("api-spend")),
        here=request.path,
        fields=_fields(entries, who),
        effects=_effects(thought, who) if thought and not entries.problems else (),
        confirm=entries.confirm("Enter this price"),
    )
    return render(request, "components/change_page.html", {"page": page})


@changing
@shown_to(FINANCE)
def end_price(request: HttpRequest, api_price_id: int) -> HttpResponse:
    """Says what goes by the public price again; then ends the contract price."""
    who, fact = asking(request, "api-spend"), api_price(api_price_id)
    if fact is None:
        raise Http404
    hour = who.at.replace(minute=0, second=0, microsecond=0)
    entries = Entries(_given(request), {"ended_at": as_entered(hour, who.zone)})
    ended_at = entries.read("ended_at", moment(who.zone))
    if request.method == "POST" and ended_at is not None and not entries.problems:
        try:
            ledger.end_price(price_id=api_price_id, ended_at=ended_at)
        except REFUSALS as refusal:
            _say(entries, refusal)
        else:
            messages.success(request, "The price has an end; calls after it are priced again.")
            return redirect("api-spend")
    effects: tuple[str, ...] = ()
    if ended_at is not None:
        found = touched_calls(fact.vendor, fact.model, fact.tier, ended_at, fact.ends_at)
        effects = (*_calls(found, who), "They go by another contract, or by the public price.")
    page = ChangePage(
        frame=who.frame,
        finding=f"End the price of {fact.vendor} {fact.model}",
        explanation=f"{UNITS[fact.unit].capitalize()}: {price_words(fact)}.",
        back=Link("Back to API spend", reverse("api-spend")),
        here=request.path,
        fields=(entries.field("ended_at", f"Ends at ({who.zone.key})", "datetime-local"),),
        effects=effects,
        confirm=entries.confirm("End this price"),
    )
    return render(request, "components/change_page.html", {"page": page})


@changing
@shown_to(SEES_EVERYTHING)
def take_report(request: HttpRequest) -> HttpResponse:
    """Takes in a vendor's own cost report; it is compared, and never booked."""
    who, problem = asking(request, "api-spend"), ""
    if request.method == "POST":
        file, vendor = request.FILES.get("file"), request.POST.get("vendor", "")
        try:
            if file is None or vendor not in REPORTS or (file.size or 0) > MOST_BYTES:
                raise VendorCostsNotUnderstood("choose a vendor, and its report of at most 8 MiB")
            report = report_of(file.read())
            rows = take_vendor_costs(vendor=vendor, report=report, at=who.at)
        except VendorCostsNotUnderstood as refusal:
            problem = f"Nothing was kept: {refusal}."
        else:
            said = f"{counted(rows, 'row')} of {vendor}’s report are kept; see the comparison."
            messages.success(request, said)
            return redirect("api-spend")
    page = ChangePage(
        frame=who.frame,
        finding="Bring in a vendor’s own cost report",
        explanation="Its days take the place of what was told of them before. It is compared "
        "with what the calls come to; nothing of it is booked.",
        back=Link("Back to API spend", reverse("api-spend")),
        here=request.path,
        fields=(),
        cannot=problem,
    )
    return render(request, "api_spend/report.html", {"page": page, "reports": REPORTS.items()})


def _given(request: HttpRequest) -> QueryDict:
    return request.POST if request.method == "POST" else request.GET


def _defaults(who: Asking) -> dict[str, str]:
    hour = who.at.replace(minute=0, second=0, microsecond=0)
    return {
        **dict.fromkeys(("vendor", "model", "tier"), ""),
        "unit": "input",
        **dict.fromkeys(("amount", "discount"), ""),
        "per_quantity": "1000000",
        "currency": "USD",
        "starts_at": as_entered(hour, who.zone),
        "ends_at": "",
    }


def _thought_of(entries: Entries, who: Asking) -> NewApiPrice | None:
    unit = entries.read("unit", one_of(UNITS))
    amount = entries.read("amount", _amount)
    discount = entries.read("discount", _amount)
    quantity = entries.read("per_quantity", _whole)
    starts_at = entries.read("starts_at", moment(who.zone))
    ends_at = entries.read("ends_at", moment_or_none(who.zone))
    if entries.problems or starts_at is None:
        return None
    said = entries.texts
    return NewApiPrice(
        vendor=said["vendor"].lower(),
        model=said["model"],
        tier=said["tier"],
        unit=unit or "",
        amount=amount,
        per_quantity=quantity or 1,
        currency=said["currency"].upper(),
        discount_ratio=None if discount is None else discount / 100,
        starts_at=starts_at,
        ends_at=ends_at,
    )


def _check(entries: Entries, thought: NewApiPrice) -> None:
    try:
        api_prices.check_api_price(thought)
    except REFUSALS as refusal:
        _say(entries, refusal)


def _say(entries: Entries, refusal: Refusal) -> None:
    field = {"discount_ratio": "discount"}.get(refusal.field, refusal.field)
    entries.refused(field, refusal.message)


def _fields(entries: Entries, who: Asking) -> tuple[Field, ...]:
    return (
        entries.field("vendor", "Vendor", hint="As calls name it: openai, anthropic, google, aws."),
        entries.field("model", "Model", hint="A * at its end: all names that begin so."),
        entries.field("tier", "Tier", hint="Such as batch; empty: the ordinary one."),
        entries.choice("unit", "What it prices", UNITS),
        entries.field("amount", "Amount", hint="Or a discount, not both."),
        entries.field("per_quantity", "For so many", hint="Tokens, or requests."),
        entries.field("currency", "In"),
        entries.field("discount", "Discount in per cent", hint="Off the public price."),
        entries.field("starts_at", f"From ({who.zone.key})", "datetime-local"),
        entries.field("ends_at", "To", "datetime-local", "Empty: until it is ended."),
    )


def _effects(thought: NewApiPrice, who: Asking) -> tuple[str, ...]:
    """Which past calls it would be of, and what they would cost as far as that can be said."""
    found = touched_calls(
        thought.vendor, thought.model, thought.tier, thought.starts_at, thought.ends_at
    )
    said = list(_calls(found, who))
    currency = who.organisation.currency
    if found.requests and thought.discount_ratio is not None and thought.unit == "all":
        if found.list_micros is not None:
            cost = round(found.list_micros * (1 - thought.discount_ratio))
            said.append(f"With the discount they cost about {whole_amount(cost, currency)}.")
    elif found.requests and thought.amount is not None:
        quantity = found.quantity(thought.unit)
        cost_of = quoted_amount(thought.amount * quantity / thought.per_quantity, thought.currency)
        said.append(f"Their {count(quantity)} {UNITS[thought.unit]} would cost {cost_of}.")
    return tuple(said)


def _calls(found: Touched, who: Asking) -> tuple[str, ...]:
    currency = who.organisation.currency
    if not found.requests:
        return ("No past call changes.",)
    now = (
        "have no price" if found.micros is None else f"cost {whole_amount(found.micros, currency)}"
    )
    said = [f"{counted(found.requests, 'past call')} are priced again; they {now} now."]
    if found.closed_hours:
        hours = counted(found.closed_hours, "hour")
        said.append(f"{hours} of closed months stay as they are until somebody posts corrections.")
    return tuple(said)


def _amount(text: str) -> Decimal | None:
    if not text:
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError("Say an amount in figures, as in 1.25.") from None


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 14):
        raise ValueError("Say a whole number, as in 1000000.")
    return int(text)
