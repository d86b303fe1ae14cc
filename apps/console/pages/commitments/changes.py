"""Entering and ending a commitment, each with what it would move before it is done."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.urls import reverse

from apps.accounts.queries import Role, teams
from apps.console.kit.change import Change, changing
from apps.console.kit.entered import EndingPage, FormOf
from apps.console.kit.entries import (
    ParsedField,
    PickField,
    amount_like,
)
from apps.console.kit.frame import Link
from apps.console.kit.request import Context, value_or_404
from apps.console.pages.setup.questions import recount
from apps.economics.use_terms import PLATFORMS, TENANCIES
from apps.fleet import queries as fleet
from apps.ledger.queries.commitment_preview import Moved, if_ended, if_entered
from apps.pricing import actions
from apps.pricing.queries.commitments import CommitmentFact, EnteredCommitment, commitments
from apps.show.amounts import counted, per_cent
from apps.show.entries import entered
from apps.show.money import rounded_amount, signed_amount

BUYS = frozenset({Role.FINANCE})
PLATFORM_NAMES = {
    "": "any, or not known",
    **{platform: platform.replace("_", " ") for platform in PLATFORMS},
}
TENANCY_NAMES = {"": "any, or not known", **{tenancy: tenancy for tenancy in TENANCIES}}
PRICES_HINT = "Of a spend: what a node’s hour costs under it, as in p5.48xlarge=49.50; …"


def _hourly_prices(text: str) -> dict[str, Decimal]:
    pairs = [part.partition("=") for part in text.split(";") if part.strip()]
    if not all(sign for _, sign, _ in pairs):
        raise ValueError("Say prices as in p5.48xlarge=49.50; p4d.24xlarge=19.20.")
    read = amount_like("49.50")
    return {name.strip(): read(amount.strip()) for name, _, amount in pairs}


class CommitmentForm(FormOf[EnteredCommitment]):
    """A commitment as it was bought; what is empty of its scope is any."""

    pool = PickField("What it covers")
    prices = ParsedField("Which buys at", _hourly_prices, PRICES_HINT)
    owner = PickField("Charged to, when unused")
    platform = PickField("Platform", PLATFORM_NAMES, initial="")
    tenancy = PickField("Tenancy", TENANCY_NAMES, initial="")
    field_order = (
        *(
            "name",
            "kind",
            "pool",
            "provider",
            "region",
            "instance_type",
            "gpu_model",
            "units",
            "unit",
        ),
        *("spend", "prices", "upfront", "hourly", "currency", "starts_at", "ends_at", "owner"),
        *("external_id", "platform", "tenancy", "account", "is_shared", "source"),
    )


@changing(BUYS, "commitments")
def add_commitment(context: Context) -> Change[EnteredCommitment]:
    """Says what the commitment would move, then enters it."""

    def effects(thought: EnteredCommitment) -> tuple[str, ...]:
        moved = if_entered(actions.as_bought(thought), context.at)
        return (*actions.unknown_names(thought), *_entry_effects(moved, context.currency))

    def apply(thought: EnteredCommitment) -> tuple[str, tuple[Any, ...]]:
        commitment_id = actions.add_commitment(commitment=thought, at=context.at)
        recount()
        done = "The commitment is entered; past hours are charged again."
        return done, ("commitment", commitment_id)

    return Change(
        finding="Enter a commitment",
        explanation="As it was bought. It covers use before any rate does, and its owner is charged "
        "with what nobody uses.",
        back=Link("Back to commitments", reverse("commitments")),
        form=CommitmentForm,
        confirm="Enter this commitment",
        read=_thought_of,
        effects=effects,
        apply=apply,
        picks={"pool": _pool_names(), "owner": _team_names()},
        fields={"pool_id": "pool", "owner_id": "owner"},
        initial={"currency": context.currency},
    )


def find_commitment(commitment_id: int) -> CommitmentFact | None:
    """Return a commitment by its id; None where there is none."""
    return next((fact for fact in commitments() if fact.id == commitment_id), None)


def get_commitment_or_404(commitment_id: int) -> CommitmentFact:
    """The commitment, or the page that there is none."""
    return value_or_404(find_commitment(commitment_id))


def _thought_of(values: Mapping[str, Any]) -> EnteredCommitment:
    """Return the commitment that was entered; refuse by field what entering it would refuse."""
    fields = dict(values)
    pool, owner = fields.pop("pool"), fields.pop("owner")
    fields |= {"pool_id": int(pool) if pool else None, "owner_id": int(owner) if owner else None}
    thought: EnteredCommitment = entered(EnteredCommitment, fields)
    actions.check_commitment(thought)
    thought = actions.as_pools_say(thought)
    if any(commitment.name == thought.name for commitment in commitments()):
        raise actions.CommitmentExists("name", "there is a commitment of this name already")
    return thought


def _pool_names() -> dict[str, str]:
    return {
        "": "Everything like the description",
        **{str(pool.id): f"Pool {pool.name}" for pool in fleet.pools_by_name()},
    }


def _team_names() -> dict[str, str]:
    named = sorted(teams(), key=lambda team: team.name.casefold())
    return {"": "Platform", **{str(team.id): team.name for team in named}}


def _entry_effects(moved: Moved, currency: str) -> tuple[str, ...]:
    """Return what entering a commitment would move, in sentences; amounts are estimates."""
    if not moved.hours:
        return (
            *_closed_hours(moved),
            "No past hour changes; it covers what runs from its start on.",
        )
    sentences = [
        f"{counted(moved.hours, 'past hour')} {'is' if moved.hours == 1 else 'are'} charged again. "
        f"It would have been used by {per_cent(moved.utilisation)}."
    ]
    if moved.cost is None:
        sentences.append("What it costs is not known: its currency has no rate of exchange.")
    elif moved.on_demand is None:
        cost = rounded_amount(moved.cost, currency)
        sentences.append(f"It costs {cost} in them; some of what it would cover has no price.")
    else:
        sentences.append(
            f"What it would have covered cost about {rounded_amount(moved.on_demand, currency)}; "
            f"the commitment costs {rounded_amount(moved.cost, currency)} in these hours "
            f"({signed_amount(moved.difference, currency)})."
        )
    return (*sentences, *_closed_hours(moved))


def _end_effects(fact: CommitmentFact, ended_at: datetime, context: Context) -> tuple[str, ...]:
    """Return what ending a commitment would move, in sentences."""
    moved, currency = if_ended(fact.id, ended_at, context.at), context.currency
    if not moved.hours:
        return (*_closed_hours(moved), "No past hour changes; nothing is covered from then on.")
    sentences = [
        f"{counted(moved.hours, 'past hour')} {'is' if moved.hours == 1 else 'are'} charged again "
        "without it."
    ]
    if moved.difference is None:
        sentences.append("What that moves is not known: a price or a rate of exchange is missing.")
    else:
        sentences.append(
            f"{rounded_amount(moved.cost, currency)} of its cost goes, and what it covered costs "
            f"about {rounded_amount(moved.on_demand, currency)} again "
            f"({signed_amount(-moved.difference, currency)})."
        )
    return (*sentences, *_closed_hours(moved))


def _closed_hours(moved: Moved) -> tuple[str, ...]:
    if not moved.closed_hours:
        return ()
    hours = counted(moved.closed_hours, "hour")
    return (f"{hours} of closed months stay as they are until somebody posts corrections.",)


def _end(commitment_id: int, ended_at: datetime, context: Context) -> None:
    actions.end_commitment(commitment_id=commitment_id, ended_at=ended_at, at=context.at)
    recount()


END = EndingPage[CommitmentFact](
    noun="commitment",
    name=lambda fact: str(fact.name),
    explanation=lambda _: (
        "For one that was returned or cancelled before its term: from then on it covers "
        "nothing and costs nothing. One that is merely not used any more runs on, and so does its cost."
    ),
    back=("Back to commitments", "commitments"),
    page_of_one="commitment",
    key="commitment",
    address="commitments",
    roles=BUYS,
    active_entry="commitments",
    find=find_commitment,
    effects=_end_effects,
    end=_end,
)
