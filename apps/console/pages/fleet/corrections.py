"""Wrong records of a pool or a node: looked at, corrected for all of its time, and their history."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from django.urls import path, reverse

from apps.accounts import queries as accounts
from apps.accounts.queries.trail import changes as trail_changes
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import NonNegativeIntegerField, ParsedField, PickField, TextField
from apps.console.kit.frame import Link
from apps.console.kit.page import FactList
from apps.console.kit.request import MANAGES, Context, value_or_404
from apps.console.kit.table import TableSection
from apps.console.pages.people.trail import CHANGES
from apps.console.pages.pool_links import pool_href
from apps.console.pages.prices.effects import charged_again
from apps.console.pages.setup.new_nodes import check_unit_count
from apps.economics.purchase import PurchaseOption
from apps.economics.refusal import Refusal
from apps.fleet import actions
from apps.fleet import queries as fleet
from apps.ledger.queries.unheld_cost import unheld_cost
from apps.pricing.queries.what_if import if_pool_were
from apps.show.money import full_amount
from apps.show.words import OPTIONS, option_words

NOBODY, NOT_SAID = "Platform", "not said"
IDLE_TIME = {"keep": "its owner’s", "by_held_time": "shared out by the time that teams held"}
HISTORY = "history"


class PoolCorrection(NamedTuple):
    """A pool as it would be, what of it differs by column, and why."""

    pool: fleet.PoolFact
    moved: Mapping[str, object]
    note: str


class PoolCorrectionForm(ChangeForm):
    """Form of what the nodes of a pool have in common, as it is on record, and why that is wrong."""

    asked_by = ("note",)

    gpu_model = TextField("GPU model", "As NVML prints it, such as NVIDIA H100 80GB HBM3.")
    gpus_per_node = NonNegativeIntegerField("GPUs, or cores, of a node", is_needed=True)
    purchase_option = PickField("Bought as", OPTIONS)
    provider = TextField(
        "Provider", "Such as aws or gcp; own.", needed="Say whose machines they are."
    )
    region = TextField("Region", "Of a cloud; with the instance type its list price is found.")
    instance_type = TextField("Instance type")
    owner_team_id = PickField("Owner team", hint="Time not held by a job is theirs.")
    idle_sharing = PickField("Time not held by a job is", IDLE_TIME)
    note = TextField(
        "Why", "Kept in the history: as the contract says.", needed="Say why, in a word or two."
    )


def _provider_id(text: str) -> str:
    if not text:
        raise ValueError("Say what its provider calls it.")
    return text


class NodeCorrectionForm(ChangeForm):
    """Form of what a node's provider calls it."""

    provider_id = ParsedField(
        "Known to its provider as", _provider_id, "Such as i-0abc1234, as the bill names it."
    )


@changing(MANAGES, "fleet")
def correct_pool(context: Context, pool_id: int) -> Change[PoolCorrection]:
    """Says what would move, then corrects what is on record of a pool."""
    pool = value_or_404(fleet.pools().get(pool_id))
    owners = {str(team.id): team.name for team in accounts.teams() if team.kind == "team"}

    def apply(correction: PoolCorrection) -> Done:
        actions.correct_pool(
            pool_id=pool_id, changes=correction.moved, at=context.at, note=correction.note
        )
        message = f"{pool.name} is corrected; its hours are charged again."
        return message, (f"{pool_href(pool.name)}#{HISTORY}",)

    current = {name: getattr(pool, name) for name in actions.OF_POOLS}
    return Change(
        finding=f"Correct what is on record of {pool.name}",
        explanation="What is said here holds for all of its nodes, from their first day on. A change that "
        "happened on a day, such as another contract, is a new pool instead.",
        back=Link(f"Back to {pool.name}", pool_href(pool.name)),
        form=PoolCorrectionForm,
        confirm="Correct it",
        read=lambda entered: _parse_pool_correction(pool, entered),
        effects=lambda correction: _effects_on_pool(pool, correction, owners, context),
        apply=apply,
        picks={"owner_team_id": {"": NOBODY, **owners}},
        initial={name: "" if value is None else str(value) for name, value in current.items()},
    )


def _parse_pool_correction(pool: fleet.PoolFact, entered: Mapping[str, Any]) -> PoolCorrection:
    values = {name: entered[name] for name in actions.OF_POOLS}
    if values["gpus_per_node"] != pool.gpus_per_node:
        check_unit_count("gpus_per_node", values["gpus_per_node"])
    values["owner_team_id"] = int(values["owner_team_id"]) if values["owner_team_id"] else None
    moved = {name: value for name, value in values.items() if getattr(pool, name) != value}
    if not moved:
        raise Refusal("", f"That is what is on record of {pool.name} already.")
    return PoolCorrection(replace(pool, **moved), moved, entered["note"])


def _effects_on_pool(
    pool: fleet.PoolFact, correction: PoolCorrection, owners: Mapping[str, str], context: Context
) -> tuple[str, ...]:
    sentences = [
        f"{label}: {_worded(pool, name, owners)} → {_worded(correction.pool, name, owners)}."
        for name, label in _labels().items()
        if name in correction.moved
    ]
    if "owner_team_id" in correction.moved:
        sentences.append(_of_owners(pool, correction.pool, owners, context))
    what_if = if_pool_were(correction.pool, context.at)
    is_owned = PurchaseOption.OWNED in (pool.purchase_option, correction.pool.purchase_option)
    if is_owned and what_if.reach.hours:
        sentences.append(
            "Its past hours are charged again: hardware of your own costs what its plan says, all else what its rates say."
        )
    else:
        sentences += charged_again(
            what_if, context, "By the prices in force its nodes cost the same as before."
        )
    return (
        *sentences,
        "What was on record before stays in the pool’s history, with who corrected it and why.",
    )


def _of_owners(
    pool: fleet.PoolFact, corrected: fleet.PoolFact, owners: Mapping[str, str], context: Context
) -> str:
    before, after = (_worded(version, "owner_team_id", owners) for version in (pool, corrected))
    moves = f"Time of open months not held by a job goes from {before} to {after}"
    if "by_held_time" in (pool.idle_sharing, corrected.idle_sharing):
        return f"{moves}, as far as it is not shared out."
    micros = unheld_cost(pool.id)
    if micros is None:
        return f"{moves}; nothing of it has a cost yet."
    return f"{moves}: about {full_amount(micros, context.currency)} as charged now."


def _labels() -> dict[str, str]:
    fields = PoolCorrectionForm.base_fields
    return {name: str(fields[name].label) for name in fields if name in actions.OF_POOLS}


def _worded(pool: fleet.PoolFact, name: str, owners: Mapping[str, str]) -> str:
    value = getattr(pool, name)
    if name == "owner_team_id":
        return owners.get(str(value), NOBODY)
    if name == "purchase_option":
        return option_words(value)
    if name == "idle_sharing":
        return IDLE_TIME[value]
    return str(value) or NOT_SAID


@changing(MANAGES, "fleet")
def correct_node(context: Context, node_id: int) -> Change[str]:
    """Says which bills are read again, then corrects what a node's provider calls it."""
    node = value_or_404(fleet.node_if_on_record(node_id))

    def read(entered: Mapping[str, Any]) -> str:
        provider_id = str(entered["provider_id"]).strip()
        if provider_id == node["provider_id"]:
            raise Refusal("provider_id", f"{node['name']} is known to its provider so already")
        return provider_id

    def apply(provider_id: str) -> Done:
        actions.correct_provider_id(node_id=node_id, provider_id=provider_id, at=context.at)
        return f"{node['name']} is known to its provider as {provider_id}.", ("node", node_id)

    return Change(
        finding=f"What does its provider call {node['name']}?",
        explanation="Rows of bills find their node by it. Model, owner and way of buying are the pool’s: correct "
        "them there.",
        back=Link(f"Back to {node['name']}", reverse("node", args=[node_id])),
        form=NodeCorrectionForm,
        confirm="Correct it",
        read=read,
        effects=lambda provider_id: (
            f"Known to its provider as: {node['provider_id'] or NOT_SAID} → {provider_id}.",
            "Bills of its time are read again: their rows of this machine become its cost, in place of the estimate.",
            "What that moves in closed months waits there until somebody posts it as corrections.",
        ),
        apply=apply,
        initial={"provider_id": node["provider_id"]},
    )


def pool_record(pool: fleet.PoolFact, context: Context) -> FactList:
    """Return what is on record of a pool, its owner to who may know it."""
    teams = {team.id: team.name for team in accounts.teams() if context.viewer.sees_team(team.id)}
    owner = teams.get(pool.owner_team_id, "another team’s") if pool.owner_team_id else NOBODY
    facts = [
        ("GPU model", pool.gpu_model or NOT_SAID),
        ("Cores a node" if pool.counts_cores else "GPUs a node", str(pool.gpus_per_node)),
        ("Bought as", option_words(pool.purchase_option)),
        ("Provider", pool.provider),
        ("Region", pool.region or NOT_SAID),
        ("Instance type", pool.instance_type or NOT_SAID),
        ("Owner", owner),
        ("Time not held by a job is", IDLE_TIME[pool.idle_sharing]),
    ]
    return FactList(facts, title="On record", name="record")


def pool_history(pool: fleet.PoolFact, context: Context) -> TableSection | None:
    """Who put the pool on record, corrected it, and why; None to who may not see the audit trail."""
    if not context.viewer.sees_everything:
        return None
    changes = trail_changes(kind="pool", of=pool.id)
    about = "who put it on record or corrected it, from what to what, and why"
    return replace(CHANGES, name=HISTORY).section(changes, context, title="History", about=about)


def correct_pool_link(pool_id: int, text: str) -> Link:
    """The way to the form."""
    return Link(text, reverse("correct-pool", args=[pool_id]))


urlpatterns = [
    path("fleet/pools/<int:pool_id>/correct", correct_pool, name="correct-pool"),
    path("fleet/nodes/<int:node_id>/correct", correct_node, name="correct-node"),
]
