"""How much of the price of a pool's nodes rides on their GPUs: what was said of it, and saying otherwise."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.kit.cells import DAY_OR_INSTANT, FIGURE, PROSE
from apps.console.kit.change import Change, ChangeForm, ChangePreview, Done, changing
from apps.console.kit.entries import AmountField, MomentField, TextField
from apps.console.kit.frame import Link
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.kit.table import Table, TableSection
from apps.console.pages.pool_links import pool_href
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.ledger.queries.gpu_share import GpuShareMoves, gpu_share_preview
from apps.pricing import actions
from apps.pricing.queries.price_policies import PricePolicyFact, policies_of_pool
from apps.show.amounts import counted
from apps.show.money import signed_amount
from apps.show.time import instant
from apps.tables.column import Column

ALL_ON_GPUS = "All of a node’s price rides on the time of its GPUs."
GPU_SHARES = Table[PricePolicyFact](
    "gpu-share",
    "Share of its price on GPUs",
    (
        Column("share", "Share", lambda row: _exact_per_cent(row.gpu_share), FIGURE),
        Column("from", "From", lambda row: row.starts_at, DAY_OR_INSTANT, missing="ever"),
        Column("until", "Until", lambda row: row.ends_at, DAY_OR_INSTANT, missing="open-ended"),
        Column("note", "Note", lambda row: row.note, PROSE),
    ),
    empty="Nobody has said otherwise.",
)


class GpuShareForm(ChangeForm):
    """How much rides on the GPUs, from when on, and why."""

    per_cent = AmountField("Rides on GPU time, per cent", example="85", is_needed=True)
    starts_at = MomentField("From")
    note = TextField("Why", "Kept with it: host by contract, the rack’s own invoice.")


@changing(SEES_EVERYTHING, "fleet")
def set_gpu_share(context: Context, pool_id: int) -> Change[Mapping[str, Any]]:
    """Says what would move between teams in open months, then sets the share."""
    pool = value_or_404(fleet.pools().get(pool_id))

    def read(entered: Mapping[str, Any]) -> Mapping[str, Any]:
        share = entered["per_cent"] / 100
        if not 0 <= share <= 1:
            raise Refusal("per_cent", "it lies between 0 and 100")
        if share != round(share, 6):
            raise Refusal("per_cent", "it has at most four decimals")
        other_fields = {name: entered[name] for name in ("starts_at", "note")}
        return {"pool_id": pool_id, "gpu_share": share, **other_fields}

    def apply(share_change: Mapping[str, Any]) -> Done:
        actions.set_gpu_share(**share_change, at=context.at)
        message = f"{_exact_per_cent(share_change['gpu_share'])} of the price of {pool.name} rides on GPUs."
        return message, (f"{pool_href(pool.name)}#{GPU_SHARES.name}",)

    return Change(
        finding=f"How much of the price of {pool.name} rides on GPUs?",
        explanation="The rest becomes a line of the pool’s owner for each node-hour: the host, by "
        "itself. The two sum to the node’s price.",
        back=Link(f"Back to {pool.name}", pool_href(pool.name)),
        form=GpuShareForm,
        confirm="Set this share",
        read=read,
        effects=lambda share_change: ChangePreview(
            _effects_of(pool.name, share_change, context),
            # The hours that have passed grow while it is looked at.
            same=(),
        ),
        apply=apply,
    )


def gpu_share_section(pool: fleet.PoolFact, context: Context) -> TableSection | None:
    """Return the section of the GPU share that holds now, and what was said of it, the newest first; None to who sees no prices."""
    if not context.viewer.sees_prices:
        return None
    history = policies_of_pool(pool.id)
    return GPU_SHARES.section(
        history,
        context,
        about=_share_words(_share_at(context.at, history)),
        links=(Link("Say otherwise", reverse("set-gpu-share", args=[pool.id])),),
    )


def _share_at(at: datetime, history: Sequence[PricePolicyFact]) -> Decimal:
    for policy_fact in history:
        has_begun = policy_fact.starts_at is None or policy_fact.starts_at <= at
        if has_begun and (policy_fact.ends_at is None or at < policy_fact.ends_at):
            return policy_fact.gpu_share
    return Decimal(1)


def _effects_of(name: str, share_change: Mapping[str, Any], context: Context) -> tuple[str, ...]:
    share, starts_at = share_change["gpu_share"], share_change["starts_at"]
    moves = gpu_share_preview(
        pool_id=share_change["pool_id"], gpu_share=share, starts_at=starts_at, at=context.at
    )
    until = f" until {instant(moves.ends_at, context.zone)}" if moves.ends_at else ""
    begins = instant(starts_at, context.zone)
    sentence = (
        f"From {begins}{until} {_exact_per_cent(share)} of a node’s price in {name} rides on GPUs."
    )
    if not moves.hours:
        return (sentence, "No past hour of an open month changes.")
    return (sentence, *_moved(moves, context.currency))


def _moved(moves: GpuShareMoves, currency: str) -> Sequence[str]:
    names = {team.id: team.name for team in accounts.teams()}
    owner, host = names[moves.owner_id], signed_amount(moves.to_owner_micros, currency)
    hours = counted(moves.hours, "past hour")
    return (
        f"{hours} of open months {'is' if moves.hours == 1 else 'are'} charged again; "
        f"what {owner} carries as the pool’s owner for the hosts: about {host}.",
        *(
            f"{names[team.team_id]}: about "
            f"{signed_amount(team.after_micros - team.before_micros, currency)} in all."
            for team in moves.teams
        ),
    )


def _share_words(share: Decimal) -> str:
    if share == 1:
        return ALL_ON_GPUS
    return (
        f"{_exact_per_cent(share)} of a node’s price rides on the time of its GPUs; the rest is a "
        "line of the pool’s owner."
    )


def _exact_per_cent(share: Decimal) -> str:
    """Exactly what was said: a policy is no estimate."""
    return f"{(share * 100).normalize():f} %"
