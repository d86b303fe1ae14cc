"""Setting a headroom policy, changing and removing it, each with what it would ask for."""

from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from typing import Any

from django.urls import reverse

from apps.console.kit.change import Change, ChangeForm, ChangePreview, Done, changing
from apps.console.kit.entries import (
    AmountField,
    NonNegativeIntegerField,
    PickField,
    TextField,
    TicksField,
    amount_entered,
)
from apps.console.kit.frame import Link
from apps.console.kit.gates import gate_notes
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.fleet import queries as fleet
from apps.planning import actions
from apps.planning.queries.headroom import HeadroomPolicyFact, headroom_of, headroom_policies
from apps.planning.queries.requests import gpu_models_there
from apps.planning.queries.series import GPU_MODEL, POOL, WORKLOAD_CLASS
from apps.show.amounts import counted, per_cent
from apps.show.money import quoted_amount
from apps.workloads import queries as workloads

HUNDRED = Decimal(100)


class HeadroomForm(ChangeForm):
    """Form of a headroom policy: what it is for, what being short and idling cost, and how long more take to come."""

    name = TextField("Name")
    of = PickField("Demand of")
    pool_ids = TicksField(
        "Pools it may run in", hint="Only of a class: whose GPUs are there for it."
    )
    short_cost = AmountField(
        "Being short of a GPU for an hour costs, in {currency}",
        "What the work that waits is worth, or what the GPU costs on demand.",
        "6.00",
        is_needed=True,
    )
    idle_cost = AmountField(
        "A GPU that idles for an hour costs, in {currency}", example="2.00", is_needed=True
    )
    lead_days = NonNegativeIntegerField(
        "Lead time in days", "Until more are there.", "14", is_needed=True
    )
    most_waiting = AmountField("Most jobs that may wait, in per cent", "Empty: nothing said.", "5")
    gpus_per_job = NonNegativeIntegerField("GPUs of a job", initial="1", is_needed=True)
    note = TextField("Note")


@changing(SEES_EVERYTHING, "headroom")
def add_policy(context: Context) -> Change[actions.NewHeadroomPolicy]:
    """Says what it would ask for now, then sets it."""

    def read(entered: Mapping[str, Any]) -> actions.NewHeadroomPolicy:
        thought = _thought_of(entered)
        actions.check_headroom_policy(thought)
        return thought

    def apply(thought: actions.NewHeadroomPolicy) -> Done:
        actions.add_headroom_policy(policy=thought, at=context.at)
        return f"{thought.name} is set.", ("headroom",)

    return Change(
        finding="Add a headroom policy",
        explanation="The forecast is held against it; nothing is bought by it.",
        back=_all_policies(),
        form=HeadroomForm,
        confirm="Set this policy",
        read=read,
        effects=lambda thought: _preview(thought, context),
        apply=apply,
        picks={"of": _demands(), "pool_ids": _pools()},
    )


@changing(SEES_EVERYTHING, "headroom")
def change_policy(context: Context, policy_id: int) -> Change[actions.NewHeadroomPolicy]:
    """Says what it would ask for then, and sets it anew."""
    fact = _get_policy_or_404(policy_id)

    def read(entered: Mapping[str, Any]) -> actions.NewHeadroomPolicy:
        thought = _thought_of(entered)
        actions.check_headroom_policy(thought, fact.id)
        return thought

    def apply(thought: actions.NewHeadroomPolicy) -> Done:
        actions.replace_headroom_policy(policy_id=fact.id, policy=thought)
        return f"{thought.name} is changed.", ("headroom",)

    return Change(
        finding=f"Change {fact.name}",
        explanation="What it was stays in the audit trail.",
        back=_all_policies(),
        form=HeadroomForm,
        confirm="Change this policy",
        read=read,
        effects=lambda thought: _preview(thought, context),
        apply=apply,
        picks={"of": _demands(), "pool_ids": _pools()},
        initial=_entered_before(fact),
    )


@changing(SEES_EVERYTHING, "headroom")
def remove_policy(context: Context, policy_id: int) -> Change[HeadroomPolicyFact]:
    """Says what is held against it no more, then removes it."""
    fact = _get_policy_or_404(policy_id)

    def apply(_: HeadroomPolicyFact) -> Done:
        actions.remove_headroom_policy(policy_id=fact.id)
        return f"{fact.name} is removed.", ("headroom",)

    return Change(
        finding=f"Remove {fact.name}",
        explanation="The audit trail keeps what it was.",
        back=_all_policies(),
        form=ChangeForm,
        confirm="Remove this policy",
        read=lambda _: fact,
        effects=lambda _: (f"The forecast of {fact.of} is held against it no more.",),
        apply=apply,
    )


def _get_policy_or_404(policy_id: int) -> HeadroomPolicyFact:
    return value_or_404(
        next(
            (
                headroom_policy
                for headroom_policy in headroom_policies()
                if headroom_policy.id == policy_id
            ),
            None,
        )
    )


def _all_policies() -> Link:
    return Link("Back to headroom", reverse("headroom"))


def _demands() -> dict[str, str]:
    """The demand that is forecast, by dimension and key."""
    kinds = sorted({workload.kind for workload in workloads.workloads().values()})
    offered = {f"{WORKLOAD_CLASS}:{kind}": f"Class {kind}" for kind in kinds}
    offered |= {f"{POOL}:{pool.id}": f"Pool {pool.name}" for pool in fleet.pools_by_name()}
    return offered | {f"{GPU_MODEL}:{model}": f"GPU model {model}" for model in gpu_models_there()}


def _pools() -> dict[str, str]:
    pools = [pool for pool in fleet.pools_by_name() if not pool.counts_cores]
    return {str(pool.id): pool.name for pool in pools}


def _thought_of(entered: Mapping[str, Any]) -> actions.NewHeadroomPolicy:
    dimension, _, key = entered["of"].partition(":")
    share = entered["most_waiting"]
    named = ("name", "short_cost", "idle_cost", "lead_days", "gpus_per_job", "note")
    return actions.NewHeadroomPolicy(
        dimension=dimension,
        key=key,
        pool_ids=tuple(map(int, entered["pool_ids"])),
        most_waiting=None if share is None else share / HUNDRED,
        **{name: entered[name] for name in named},
    )


def _entered_before(fact: HeadroomPolicyFact) -> dict[str, Any]:
    share = fact.most_waiting
    return {
        "name": fact.name,
        "of": f"{fact.dimension}:{fact.key}",
        "pool_ids": [str(pool_id) for pool_id in fact.pool_ids],
        "short_cost": amount_entered(fact.short_cost),
        "idle_cost": amount_entered(fact.idle_cost),
        "lead_days": str(fact.lead_days),
        "most_waiting": amount_entered(share and share * HUNDRED),
        "gpus_per_job": str(fact.gpus_per_job),
        "note": fact.note,
    }


def _preview(thought: actions.NewHeadroomPolicy, context: Context) -> ChangePreview:
    """Preview what a headroom policy would ask for now; the forecast may be another when it is confirmed."""
    values = {field.name: getattr(thought, field.name) for field in fields(thought)}
    policy = HeadroomPolicyFact(id=0, created_at=context.at, **values)
    (figures,) = headroom_of([policy], context.at)
    short, idle = (
        quoted_amount(cost, context.currency) for cost in (policy.short_cost, policy.idle_cost)
    )
    stated = (
        f"At {short} for being short and {idle} for idling, GPUs are to suffice in "
        f"{per_cent(policy.level)} of the hours of the next {counted(policy.lead_days, 'day')}."
    )
    if figures.needed is None:
        need_text = f"Demand of {policy.of} has no forecast with an interval yet: what is needed is not known."
    else:
        need_text = (
            f"That takes {counted(figures.needed, 'GPU')}; {figures.there:,} are there: "
            f"{_difference(figures.needed - figures.there)}."
        )
    return ChangePreview((stated, need_text, *gate_notes(figures.gates)), same=(stated,))


def _difference(short: int) -> str:
    return f"{short:,} short" if short > 0 else f"{-short:,} to spare"
