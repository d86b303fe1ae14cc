"""Decisions of people about a file of a bill, after a look at what it does to the bills."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import islice

from django.urls import reverse

from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import PickField, TextField
from apps.console.kit.frame import EmptyState, Link
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.pages.bills.tables import STATES, period_words
from apps.ledger.actions import bills as actions
from apps.ledger.actions.bill_acceptance import LONGEST_REASON, accept_unread_rows
from apps.ledger.actions.bill_twins import TwinDecided, decide_twin
from apps.ledger.queries.bills import deliveries as ledger
from apps.ledger.queries.bills.twins import twin
from apps.show.amounts import counted
from apps.show.money import billed_amount

MOST_BILLS = 12
REFUSALS = (
    actions.DeliveryNotNewest,
    actions.DeliveryNotUndoable,
    actions.NothingToAccept,
)


class AcceptanceForm(ChangeForm):
    """Why a file is right without the rows that could not be read."""

    reason = TextField(
        "Accept it as it is, because",
        "kept with the bill import, and your name",
        needed="Say why it is right without them.",
        longest=LONGEST_REASON,
    )


@changing(SEES_EVERYTHING, "bills")
def accept(context: Context, import_id: int) -> Change[str]:
    """Says what the bills come to, then lets the file stand without the rows that could not be read."""
    fact = delivery_or_404(import_id)
    missing, is_held = counted(fact.rejected, "row"), fact.state == "held"

    def apply(reason: str) -> Done:
        accept_unread_rows(
            import_id=import_id, person_id=context.viewer.person_id, reason=reason, at=context.at
        )
        return f"{fact.name} is accepted without {missing}.", ("bill-import", import_id)

    def effects(_: str) -> Iterator[str]:
        if is_held:
            yield "Its rows come in force, in place of those of earlier imports."
            yield from _bills_then(fact)
        else:
            yield "The rows that were read count already: no amount changes."
        yield "Its months can be closed; your name and the reason are kept with it."

    return Change(
        finding=f"Accept {fact.name} without {missing}",
        explanation="Or send the file again once it is corrected.",
        back=_back_to(fact),
        form=AcceptanceForm,
        confirm="Accept it and put it in force" if is_held else "Accept it",
        read=lambda entered: str(entered["reason"]),
        effects=lambda reason: tuple(effects(reason)),
        apply=apply,
        refusals=REFUSALS,
        empty=None
        if fact.may_be_accepted
        else EmptyState("Nothing to accept", f"Nothing of {fact.name} waits to be accepted."),
    )


@changing(SEES_EVERYTHING, "bills")
def undo(context: Context, import_id: int) -> Change[None]:
    """Says what the bills come to without it, then takes the file's rows back."""
    fact = delivery_or_404(import_id)
    is_held = fact.state == "held"

    def apply(_: None) -> Done:
        actions.undo_delivery(import_id=import_id, at=context.at)
        return f"{fact.name} was undone.", ("bill-import", import_id)

    def effects(_: None) -> Iterator[str]:
        if is_held:
            yield "Nothing of it counts yet: no bill changes, and what is in force stays."
            return
        yield (
            f"Its {counted(fact.imported, 'new row')} go, and the {fact.replaced:,} that it replaced "
            "count again."
        )
        yield from _bills_then(fact)
        yield "The hours that they pay for are settled anew. A closed month stays as it is."

    return Change(
        finding=f"Discard {fact.name}" if is_held else f"Undo {fact.name}",
        explanation="The same file can be sent again.",
        back=_back_to(fact),
        form=ChangeForm,
        confirm="Discard it" if is_held else "Undo it",
        read=lambda _: None,
        effects=lambda _: tuple(effects(_)),
        apply=apply,
        refusals=REFUSALS,
        empty=None
        if fact.state in {"held", "done"}
        else EmptyState("Nothing to undo", f"{fact.name} is {STATES[fact.state]}."),
    )


class TwinForm(ChangeForm):
    """Form of which of two bills counts, and why."""

    choice = PickField(
        "From now on",
        {
            "new": "The new one counts, and the old one gives way",
            "old": "The old one counts, and the new one goes",
            "both": "Both count: they are two bills",
        },
    )
    reason = TextField(
        "Because",
        "kept with both bills, and your name",
        needed="Say why.",
        longest=LONGEST_REASON,
    )


@changing(SEES_EVERYTHING, "bills")
def choose(context: Context, bill_twin_id: int) -> Change[Mapping[str, str]]:
    """Says what both bills ask side by side, then has one count, or both."""
    fact = value_or_404(twin(bill_twin_id))

    def apply(entered: Mapping[str, str]) -> Done:
        decide_twin(
            twin_id=bill_twin_id,
            choice=entered["choice"],
            person_id=context.viewer.person_id,
            reason=entered["reason"],
            at=context.at,
        )
        return "It is kept which bill counts.", ("bills",)

    def effects(entered: Mapping[str, str]) -> Iterator[str]:
        yield f"The new one: {_side(fact.bill, fact.new_billed)}."
        yield f"The old one: {_side(fact.other, fact.other.sums.billed)}."
        yield {
            "new": "The rows of the old one count no more.",
            "old": "The rows of the new one count no more.",
            "both": "Both count, and nobody is asked about the two again.",
        }[entered["choice"]]
        yield "The hours that they pay for are settled anew; your name and the reason are kept."

    return Change(
        finding="Say which of two bills counts",
        explanation=f"They may be the same money: {fact.why}.",
        back=Link("All bills", reverse("bills")),
        form=TwinForm,
        confirm="Have it so",
        read=lambda entered: {"choice": str(entered["choice"]), "reason": str(entered["reason"])},
        effects=lambda entered: tuple(effects(entered)),
        apply=apply,
        refusals=(*REFUSALS, TwinDecided),
        empty=EmptyState("Nothing to say", "Somebody said which counts.") if fact.choice else None,
    )


def _side(bill: ledger.BillFact, billed: Decimal | None) -> str:
    amount = "an amount not known" if billed is None else billed_amount(billed, bill.currency)
    return f"{bill.issuer} {bill.account}, {period_words(bill)}, bills {amount}"


def delivery_or_404(import_id: int) -> ledger.DeliveryFact:
    """The file of this id."""
    return value_or_404(ledger.delivery(import_id))


def _bills_then(fact: ledger.DeliveryFact) -> Iterator[str]:
    """Yield what each bill of a delivery says now and would say then."""
    moved = ledger.bills_moved(fact)
    for bill, then in islice(moved, MOST_BILLS):
        sums = [
            f"{word} {_sum_words(bill.sums, word, bill)} becomes {_sum_words(then, word, bill)}"
            for word in ("billed", "effective")
        ]
        yield f"{bill.issuer} {bill.account}, {period_words(bill)}: {', '.join(sums)}."
    if len(moved) > MOST_BILLS:
        yield f"And {counted(len(moved) - MOST_BILLS, 'more bill')}."


def _sum_words(sums: ledger.BillSums, basis: str, bill: ledger.BillFact) -> str:
    if not sums.rows:
        return "nothing"
    amount = getattr(sums, basis)
    return "not known" if amount is None else billed_amount(amount, bill.currency)


def _back_to(fact: ledger.DeliveryFact) -> Link:
    return Link(fact.name, reverse("bill-import", args=[fact.id]))
