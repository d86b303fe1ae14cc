"""Setting a headroom policy, changing and removing it, each with what it would ask for."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from apps.accounts.queries.facts import fields_of
from apps.console.kit.change import ChangePreview
from apps.console.kit.entered import EnteredPages, FormOf
from apps.console.kit.entries import (
    PickField,
    amount_entered,
)
from apps.console.kit.gates import gate_notes
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.fleet import queries as fleet
from apps.planning import actions
from apps.planning.queries.headroom import (
    EnteredHeadroomPolicy,
    HeadroomPolicyFact,
    headroom_of,
    headroom_policies,
)
from apps.planning.queries.requests import gpu_models_there
from apps.planning.queries.series import GPU_MODEL, POOL, WORKLOAD_CLASS
from apps.show.amounts import counted, per_cent
from apps.show.money import quoted_amount
from apps.workloads import queries as workloads

HUNDRED = Decimal(100)


class HeadroomForm(FormOf[EnteredHeadroomPolicy]):
    """Form of a headroom policy: what it is for, what being short and idling cost, and how long more take to come."""

    of = PickField("Demand of")
    field_order = ("name", "of")


def _demands() -> dict[str, str]:
    """The demand that is forecast, by dimension and key."""
    kinds = sorted({workload.kind for workload in workloads.workloads().values()})
    offered = {f"{WORKLOAD_CLASS}:{kind}": f"Class {kind}" for kind in kinds}
    offered |= {f"{POOL}:{pool.id}": f"Pool {pool.name}" for pool in fleet.pools_by_name()}
    return offered | {f"{GPU_MODEL}:{model}": f"GPU model {model}" for model in gpu_models_there()}


def _pools() -> dict[str, str]:
    pools = [pool for pool in fleet.pools_by_name() if not pool.counts_cores]
    return {str(pool.id): pool.name for pool in pools}


def _read(values: Mapping[str, Any], _: Context) -> EnteredHeadroomPolicy:
    entries = dict(values)
    dimension, _, key = entries.pop("of").partition(":")
    share = entries.pop("most_waiting")
    return EnteredHeadroomPolicy(
        **entries | {"pool_ids": tuple(map(int, entries["pool_ids"]))},
        dimension=dimension,
        key=key,
        most_waiting=None if share is None else share / HUNDRED,
    )


def _initial(_: Context, fact: HeadroomPolicyFact | None) -> Mapping[str, Any]:
    """Return the entries that are not as the policy keeps them."""
    if fact is None:
        return {}
    share = fact.most_waiting
    return {
        "of": f"{fact.dimension}:{fact.key}",
        "most_waiting": amount_entered(share and share * HUNDRED),
    }


def _preview(
    entered: EnteredHeadroomPolicy, context: Context, _: HeadroomPolicyFact | None
) -> ChangePreview:
    """Preview what a headroom policy would ask for now; the forecast may be another when it is confirmed."""
    policy = HeadroomPolicyFact(**fields_of(entered), id=0, created_at=context.at)
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


CHANGES = EnteredPages[EnteredHeadroomPolicy, HeadroomPolicyFact](
    noun="a headroom policy",
    name=lambda policy: str(policy.name),
    explanation="The forecast is held against it; nothing is bought by it.",
    back=("Back to headroom", "headroom"),
    key="headroom-policy",
    address="headroom",
    roles=SEES_EVERYTHING,
    active_entry="headroom",
    shape=EnteredHeadroomPolicy,
    form=HeadroomForm,
    find=lambda _, policy_id: next(
        (fact for fact in headroom_policies() if fact.id == policy_id), None
    ),
    check=actions.check_headroom_policy,
    add=lambda policy, context: actions.add_headroom_policy(policy=policy, at=context.at),
    replace=lambda policy_id, policy, _: actions.replace_headroom_policy(
        policy_id=policy_id, policy=policy
    ),
    remove=lambda policy_id, _: actions.remove_headroom_policy(policy_id=policy_id),
    effects=_preview,
    effects_of_removal=lambda fact, _: (f"The forecast of {fact.of} is held against it no more.",),
    read=_read,
    picks=lambda _: {"of": _demands(), "pool_ids": _pools()},
    initial=_initial,
    verb="Set",
    is_entered="is set",
)
