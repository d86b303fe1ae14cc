"""Entering and ending contract prices, and bringing in a vendor's report."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.urls import reverse

from apps.accounts.queries import Role
from apps.console.kit.change import Act, Change, ChangeForm, Done, changing
from apps.console.kit.entered import EndingPage, FormOf
from apps.console.kit.entries import (
    AmountField,
    PickField,
    UploadField,
)
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.pages.api_spend.tables import price_words
from apps.economics.calls import Contract
from apps.files.limits import BodyKind
from apps.ledger.actions import api_prices as ledger
from apps.ledger.actions.vendor_costs import (
    VendorCostsNotUnderstood,
    report_of,
    take_vendor_costs,
)
from apps.ledger.queries.api_spend import Touched, touched_calls
from apps.pricing.actions import api_prices
from apps.pricing.actions.api_prices import UNITS, EnteredApiPrice
from apps.pricing.queries.api_prices import api_price
from apps.show.amounts import count, counted
from apps.show.money import quoted_amount, rounded_amount
from apps.web.rest.body_limits import takes_body

FINANCE = frozenset({Role.FINANCE})
REPORTS = {"openai": "OpenAI: /organization/costs", "anthropic": "Anthropic: cost_report"}


class ReportForm(ChangeForm):
    """A vendor's own cost report."""

    vendor = PickField("Whose", REPORTS, initial="openai")
    file = UploadField(
        "The report, as JSON",
        "A page as the vendor answered it, or a list of pages. Anthropic’s amounts are cents.",
        needed="Choose its report.",
        takes=BodyKind.VENDOR_COSTS,
    )


class PriceForm(FormOf[EnteredApiPrice]):
    """A contract price of a model API."""

    discount = AmountField("Discount in per cent", "Off the public price.")
    field_order = (
        *("vendor", "model", "tier", "unit", "amount", "per_quantity", "currency", "discount"),
        *("starts_at", "ends_at"),
    )


@changing(FINANCE, "api-spend")
def add_price(context: Context) -> Change[EnteredApiPrice]:
    """Says which past calls the price would be of, then enters it."""

    def apply(thought: EnteredApiPrice) -> tuple[str, tuple[Any, ...]]:
        ledger.enter_price(price=thought)
        return "The price is entered; past calls are priced again shortly.", ("api-spend",)

    return Change(
        finding="Enter a contract price of a model API",
        explanation="It takes the place of the vendor’s public price for its unit and period. "
        "A discount is off the public price.",
        back=Link("Back to API spend", reverse("api-spend")),
        form=PriceForm,
        confirm="Enter this price",
        read=_thought_of,
        effects=lambda thought: _effects_of(thought, context),
        apply=apply,
        fields={"discount_ratio": "discount"},
    )


@takes_body(BodyKind.VENDOR_COSTS)
@changing(SEES_EVERYTHING, "api-spend")
def take_report(context: Context) -> Act:
    """Takes in a vendor's own cost report; it is compared, and never booked."""

    def apply(entered: Mapping[str, Any]) -> Done:
        vendor, report = entered["vendor"], report_of(entered["file"].read())
        rows = take_vendor_costs(vendor=vendor, report=report, at=context.at)
        done = f"{counted(rows, 'row')} of {vendor}’s report are kept; see the comparison."
        return done, ("api-spend",)

    def page(form: ChangeForm) -> ConsolePage:
        return ConsolePage(
            context=context,
            finding="Bring in a vendor’s own cost report",
            under=(
                "Its days take the place of those reported before. It is compared with what the "
                "calls come to; nothing of it is booked.",
            ),
            back=Link("Back to API spend", reverse("api-spend")),
            sections=(form.section("field", context.path, "Bring it in", is_primary=True),),
        )

    form = ReportForm(context.sent, context, is_sent=bool(context.sent or context.files))
    return Act(form=form, apply=apply, page=page, refusals=(VendorCostsNotUnderstood,))


def _thought_of(values: Mapping[str, Any]) -> EnteredApiPrice:
    """Return the API price that was entered; refuse by field what entering it would refuse."""
    fields = dict(values)
    discount = fields.pop("discount")
    fields |= {
        "vendor": ledger.canonical_vendor(fields["vendor"]),
        "per_quantity": fields["per_quantity"] or 1,
        "currency": fields["currency"].upper(),
        "discount_ratio": None if discount is None else discount / 100,
    }
    thought = EnteredApiPrice(**fields)
    api_prices.check_api_price(thought)
    return thought


def _effects_of(thought: EnteredApiPrice, context: Context) -> tuple[str, ...]:
    """Return which past calls a price would be of, and what they would cost as far as that can be said."""
    touched = touched_calls(
        thought.vendor, thought.model, thought.tier, thought.starts_at, thought.ends_at
    )
    effects = list(_calls_touched(touched, context))
    if thought.remark:
        effects.append(f"The amount is {thought.remark}: {thought.amount:f}.")
    currency = context.organisation.currency
    if touched.requests and thought.discount_ratio is not None and thought.unit == "all":
        if touched.list_micros is not None:
            cost = round(touched.list_micros * (1 - thought.discount_ratio))
            effects.append(f"With the discount they cost about {rounded_amount(cost, currency)}.")
    elif touched.requests and thought.amount is not None:
        quantity = touched.quantity(thought.unit)
        cost_of = quoted_amount(thought.amount * quantity / thought.per_quantity, thought.currency)
        effects.append(f"Their {count(quantity)} {UNITS[thought.unit]} would cost {cost_of}.")
    return tuple(effects)


def _calls_touched(touched: Touched, context: Context) -> tuple[str, ...]:
    currency = context.organisation.currency
    if not touched.requests:
        return ("No past call changes.",)
    now = (
        "have no price"
        if touched.micros is None
        else f"cost {rounded_amount(touched.micros, currency)}"
    )
    effects = [f"{counted(touched.requests, 'past call')} are priced again; they {now} now."]
    if touched.closed_hours:
        hours = counted(touched.closed_hours, "hour")
        effects.append(
            f"{hours} of closed months stay as they are until somebody posts corrections."
        )
    return tuple(effects)


def _end_effects(fact: Contract, ended_at: datetime, context: Context) -> tuple[str, ...]:
    """Return which calls go by the public price again, in sentences."""
    touched = touched_calls(fact.vendor, fact.model, fact.tier, ended_at, fact.ends_at)
    return (
        *_calls_touched(touched, context),
        "They go by another contract, or by the public price.",
    )


END = EndingPage[Contract](
    noun="price",
    name=lambda fact: f"the price of {fact.vendor} {fact.model}",
    explanation=lambda fact: f"{UNITS[fact.unit].capitalize()}: {price_words(fact)}.",
    back=("Back to API spend", "api-spend"),
    key="api-price",
    address="api-spend/prices",
    roles=FINANCE,
    active_entry="api-spend",
    find=api_price,
    effects=_end_effects,
    end=lambda price_id, ended_at, _: ledger.end_price(price_id=price_id, ended_at=ended_at),
)
