"""Prices that wait: why, what lies beside them, what would move, and what finance decides."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from django.http import QueryDict
from django.urls import reverse
from django.utils.html import format_html

from apps.accounts.queries import Role, person_names
from apps.console.kit.cells import INSTANT
from apps.console.kit.change import Change, ChangeForm, ChangePreview, Done, changing, fingerprint
from apps.console.kit.entries import TextField
from apps.console.kit.form import EffectList
from apps.console.kit.frame import EmptyState, Link
from apps.console.kit.page import ConsolePage, FactList, shown
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.pages.prices.effects import effects_of
from apps.console.pages.prices.tables import (
    BESIDE,
    EVER,
    NOT_STATED,
    ListedRate,
    Rate,
    per_of,
    what_it_prices,
)
from apps.console.pages.setup.questions import recount
from apps.pricing import actions
from apps.pricing.queries import listing
from apps.pricing.queries.comparable_prices import neighbours_of
from apps.pricing.queries.deciding import WAITS
from apps.pricing.queries.listing import KINDS
from apps.pricing.queries.what_if import if_accepted
from apps.show.money import quoted_amount

DECIDES = frozenset({Role.FINANCE})
ACCEPT = "Accept this price"
OWN = "You entered this price: another person of finance decides"
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
        needed="Say why the price is rejected.",
        longest=500,
    )


@shown(SEES_EVERYTHING, "prices")
def decide(context: Context, waiting_id: int) -> ConsolePage:
    """A price that waits, what lies beside it and what accepting it would move."""
    rate = rate_or_404(waiting_id)
    waits = rate["standing"] in WAITS
    neighbours = [
        ListedRate(neighbour, context.at) for neighbour in neighbours_of([rate])[waiting_id]
    ]
    may_decide = context.viewer.role in DECIDES and not _is_entered_by_viewer(rate, context)
    finding = f"The price of {what_it_prices(rate)} does not wait any more"
    if waits:
        finding = f"{quoted_words(rate)} for {what_it_prices(rate)} waits"
    return ConsolePage(
        context=context,
        finding=finding,
        under=(f"{ListedRate(rate, context.at).standing}: {rate['doubt']}.",),
        back=_back_to_prices(),
        actions=(Link("This price", reverse("rate", args=[waiting_id])),),
        sections=(
            FactList(entered_facts(rate, person_names(), context)),
            BESIDE.section(neighbours, context) if neighbours else None,
            _acceptance_section(rate, context) if waits else None,
            RejectionForm(QueryDict(), context).section(
                "refuse",
                reverse("refuse-rate", args=[waiting_id]),
                "See what rejecting it leaves",
                title="Or reject it",
                about="it is kept, not used, and not asked about again",
                method="get",
            )
            if waits and may_decide
            else None,
        ),
    )


@changing(DECIDES, "prices")
def accept(context: Context, waiting_id: int) -> Change[None]:
    """Says what it moves, then lets the price hold from its start on."""
    rate = rate_or_404(waiting_id)

    def apply(_: None) -> Done:
        actions.accept_rate(rate_id=waiting_id, by=_person_id(context), at=context.at)
        recount()
        message = f"The price of {what_it_prices(rate)} is accepted; past hours are charged again."
        return message, ("rate", waiting_id)

    return Change(
        finding=f"Accept {quoted_words(rate)} for {what_it_prices(rate)}",
        explanation=f"{ListedRate(rate, context.at).standing}: {rate['doubt']}.",
        back=_back_to_prices(),
        form=ChangeForm,
        confirm=ACCEPT,
        read=lambda _: _refuse_self_approval(rate, context),
        effects=lambda _: _acceptance(rate, context),
        apply=apply,
        refusals=REFUSALS,
        empty=_over(rate),
    )


@changing(DECIDES, "prices")
def refuse(context: Context, waiting_id: int) -> Change[str]:
    """Says what stays, then keeps the price as one that prices nothing, with the reason."""
    rate = rate_or_404(waiting_id)

    def read(entered: Mapping[str, str]) -> str:
        _refuse_self_approval(rate, context)
        return entered["note"]

    def apply(note: str) -> Done:
        actions.refuse_rate(rate_id=waiting_id, by=_person_id(context), note=note, at=context.at)
        return f"The price of {what_it_prices(rate)} is rejected.", ("rate", waiting_id)

    return Change(
        finding=f"Reject {quoted_words(rate)} for {what_it_prices(rate)}",
        explanation=f"{ListedRate(rate, context.at).standing}: {rate['doubt']}.",
        back=Link("This decision", reverse("decide-rate", args=[waiting_id])),
        form=RejectionForm,
        confirm="Reject this price",
        read=read,
        effects=lambda _: (
            "It prices nothing: every hour stays at the price it has now, and no amount changes.",
            "It is kept with this reason, listed among ended prices, and not asked about again.",
        ),
        apply=apply,
        refusals=REFUSALS,
        empty=_over(rate),
    )


def rate_or_404(rate_id: int) -> Rate:
    """The rate of this id, as the listing has it."""
    return value_or_404(listing.rate_if_entered(rate_id))


def _acceptance_section(rate: Rate, context: Context) -> EffectList:
    """Return the section of what accepting a rate changes, with the button of who decides."""
    preview, title = _acceptance(rate, context), "What accepting it changes"
    section = EffectList(effects=preview.effects, back=_back_to_prices(), title=title)
    if context.viewer.role not in DECIDES:
        return replace(section, remark="A person of finance decides.")
    if _is_entered_by_viewer(rate, context):
        return replace(section, remark=f"{OWN}.")
    accept_href = reverse("accept-rate", args=[rate["id"]])
    return replace(section, confirm=ACCEPT, seen=fingerprint((), preview), here=accept_href)


def _acceptance(rate: Rate, context: Context) -> ChangePreview:
    """Preview what accepting a rate moves; the figures grow while somebody reads, the pools do not."""
    what_if = if_accepted(rate["id"], context.at)
    sentence = "The price before ends where it begins; it holds until the next one in force."
    same = (str(rate["doubt"]), *(name for _, name in what_if.reach.pools))
    return ChangePreview((sentence, *effects_of(what_if, context)), same=same)


def _is_entered_by_viewer(rate: Rate, context: Context) -> bool:
    return rate["entered_by_id"] is not None and rate["entered_by_id"] == context.viewer.person_id


def _refuse_self_approval(rate: Rate, context: Context) -> None:
    if _is_entered_by_viewer(rate, context):
        raise actions.SecondPersonNeeded(OWN)


def _over(rate: Rate) -> EmptyState | None:
    """Return what stands in place of a decision that was taken already."""
    if rate["standing"] in WAITS:
        return None
    sentence = f"The price of {what_it_prices(rate)} does not wait any more."
    return EmptyState("Nothing waits here", sentence)


def _back_to_prices() -> Link:
    return Link("Prices", reverse("prices"))


def entered_facts(rate: Rate, names: Mapping[int, str], context: Context) -> list[tuple[str, str]]:
    """Return what was said of a rate when it was entered, and by whom."""
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
    return value_or_404(context.viewer.person_id)
