"""Nodes that schedulers named and that are not ours: a person says so, and why."""

from typing import NamedTuple

from django.urls import reverse

from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import TextField, TicksField
from apps.console.kit.frame import Link
from apps.console.kit.request import MANAGES, Context
from apps.console.pages.setup.naming import named_by_key, named_picks
from apps.console.pages.setup.new_nodes import first_names
from apps.console.pages.setup.questions import recount
from apps.show.amounts import counted
from apps.workloads.actions.excluded_nodes import exclude_nodes
from apps.workloads.queries import UnknownNodeName


class ExclusionForm(ChangeForm):
    """Form of which names of nodes are left out, and why nobody is to be asked about them."""

    # The ticks of the question fill it in; only a reason asks for an answer.
    asked_by = ("reason",)

    node = TicksField("Nodes", is_needed=True)
    reason = TextField(
        "Why",
        "Such as: login node without GPUs; of another department; gone before we counted.",
        needed="Say why: whoever looks for them later reads it.",
    )


class Exclusion(NamedTuple):
    """Names that are not ours, and why."""

    names: list[UnknownNodeName]
    reason: str


@changing(MANAGES, "setup")
def exclude(context: Context) -> Change[Exclusion]:
    """Preview what leaving nodes out means; then nobody is asked about them any more."""
    keys = named_by_key()

    def apply(chosen: Exclusion) -> Done:
        exclude_nodes(
            names=[(name.cluster_id, name.node_name) for name in chosen.names],
            reason=chosen.reason,
            by=context.viewer.person_id,
            at=context.at,
        )
        recount()
        nodes = counted(len(chosen.names), "node")
        return f"{nodes} will not be asked about again.", ("setup",)

    return Change(
        finding="Which of these nodes are not yours, and why?",
        explanation="Nothing is deleted: what jobs held of them stays on record, without a cost.",
        back=Link("Back to Setup", reverse("setup")),
        form=ExclusionForm,
        confirm="They are not ours",
        read=lambda entered: Exclusion(
            [name for key, name in keys.items() if key in entered["node"]], entered["reason"]
        ),
        effects=_exclusion_effects,
        apply=apply,
        picks={"node": named_picks(keys, context)},
        look="See what that means",
    )


def _exclusion_effects(chosen: Exclusion) -> tuple[str, ...]:
    names, jobs = chosen.names, sum(name.allocations for name in chosen.names)
    listed = first_names([name.node_name for name in names])
    sentences = [
        f"{counted(len(names), 'node')} will not be asked about again: {listed}.",
        f"{counted(jobs, 'job')} that {'names' if jobs == 1 else 'name'} them "
        f"{'holds' if jobs == 1 else 'hold'} nothing there, and what that was costs nothing here.",
        "It stands in Setup with your name and this reason, and can be taken back there.",
    ]
    most = max(names, key=lambda name: name.gpus)
    if most.gpus:
        sentences.append(
            f"Look again: jobs held {counted(most.gpus, 'GPU')} of {most.node_name} at once. If it "
            "is yours, its cost is missing from every sum."
        )
    return tuple(sentences)
