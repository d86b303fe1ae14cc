"""Prices that wait: why, what lies beside them, what would move, and what finance decides."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils.html import format_html

from apps.accounts.queries import Role, person_names
from apps.console.kit.cells import INSTANT
from apps.console.kit.change import Act, ChangeForm, Done, acting
from apps.console.kit.entries import TextField
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, FactList, Include, shown
from apps.console.kit.request import SEES_EVERYTHING, Context
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
REFUSALS = (
    actions.NoteMissing,
    actions.RateNotWaiting,
    actions.RateOverlaps,
    actions.SecondPersonNeeded,
)


class RejectionForm(ChangeForm):
    """Why a price is not to be used."""

    note = TextField(
        "Because",
        "kept with the price and in the audit trail, with your name",
        longest=500,
    )


@shown(SEES_EVERYTHING, "prices")
def decide(context: Context, waiting_id: int) -> ConsolePage:
    """Why the price waits and what accepting it would move."""
    return _decide_page(context, waiting_id)


@acting(DECIDES, "prices")
def accept(context: Context, waiting_id: int) -> Act:
    """The price holds from its start on."""
    rate = rate_or_404(waiting_id)

    def apply(_: Mapping[str, Any]) -> Done:
        actions.accept_rate(rate_id=waiting_id, by=_person_id(context), at=context.at)
        recount()
        said = f"The price of {what_it_prices(rate)} is accepted; past hours are charged again."
        return said, ("rate", waiting_id)

    return Act(
        form=ChangeForm(context.sent, context),
        apply=apply,
        page=lambda form: _decide_page(context, waiting_id, form),
        refusals=REFUSALS,
        status=409,
    )


@acting(DECIDES, "prices")
def refuse(context: Context, waiting_id: int) -> Act:
    """The price prices nothing, and why is kept with it."""
    rate = rate_or_404(waiting_id)

    def apply(entered: Mapping[str, Any]) -> Done:
        actions.refuse_rate(
            rate_id=waiting_id, by=_person_id(context), note=entered["note"], at=context.at
        )
        return f"The price of {what_it_prices(rate)} is rejected.", ("rate", waiting_id)

    return Act(
        form=RejectionForm(context.sent, context, is_sent=True),
        apply=apply,
        page=lambda form: _decide_page(context, waiting_id, form),
        refusals=REFUSALS,
        status=409,
    )


def rate_or_404(rate_id: int) -> Rate:
    """The rate of this id, as the listing has it."""
    rate = listing.rate_if_entered(rate_id)
    if rate is None:
        raise Http404
    return rate


def _decide_page(context: Context, rate_id: int, sent: ChangeForm | None = None) -> ConsolePage:
    """A price that waits, what lies beside it and what accepting it would move."""
    rate = rate_or_404(rate_id)
    waits, person_id = rate["standing"] in WAITS, context.viewer.person_id
    beside = [ListedRate(each, context.at) for each in neighbours_of([rate])[rate_id]]
    is_own = rate["entered_by_id"] is not None and rate["entered_by_id"] == person_id
    may_decide = context.viewer.role in DECIDES and not is_own
    finding = f"The price of {what_it_prices(rate)} does not wait any more"
    if waits:
        finding = f"{quoted_words(rate)} for {what_it_prices(rate)} waits"
    form = RejectionForm.opened(sent, context)
    content = {
        "rate_id": rate_id,
        "effects": effects_of(if_accepted(rate_id, context.at), context) if waits else (),
        "may_decide": may_decide,
        "is_own": is_own,
    }
    return ConsolePage(
        context=context,
        finding=finding,
        under=(f"{ListedRate(rate, context.at).standing}: {rate['doubt']}.",),
        back=Link("Prices", reverse("prices")),
        actions=(Link("This price", reverse("rate", args=[rate_id])),),
        sections=(
            FactList(entered_facts(rate, person_names(), context)),
            BESIDE.section(beside, context) if beside else None,
            Include("prices/_decide.html", content) if waits else None,
            form.section(
                "refuse",
                reverse("refuse-rate", args=[rate_id]),
                "Reject this price",
                title="Or reject it",
                about="it is kept, not used, and not asked about again",
            )
            if waits and may_decide
            else None,
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
