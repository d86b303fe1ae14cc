"""Changes to nodes, each shown before it is made: ending one, outages, confirming devices."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse

from apps.console.kit.change import Change, ChangeForm, ChangePreview, Done, changing
from apps.console.kit.entries import MomentField, ParsedField, PickField, as_entered
from apps.console.kit.frame import EmptyState, Link
from apps.console.kit.request import MANAGES, Context, value_or_404
from apps.console.pages.fleet.node import on_record
from apps.console.pages.fleet.node_tables import device_name
from apps.console.pages.fleet.nodes import OUTAGES
from apps.console.pages.setup.questions import recount
from apps.economics.hours import hour_from
from apps.economics.refusal import Refusal
from apps.fleet import actions
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.show.amounts import counted
from apps.show.money import full_amount
from apps.show.time import duration, instant

IN_THE_FUTURE = "this lies in the future; say it when it has happened"


def _parse_reason(text: str) -> str:
    if not text:
        raise ValueError("Say why, in a word or two.")
    return text


class EndNodeForm(ChangeForm):
    """When and why a node ended."""

    ended_at = MomentField("Ended at")
    reason = ParsedField("Why", _parse_reason, "Kept with the node: sold, returned, reclaimed.")


class OutageForm(ChangeForm):
    """Form of an outage: what could not be used, and when."""

    kind = PickField("What happened", OUTAGES, initial="drained")
    device = PickField("To what")
    starts_at = MomentField("Since")
    ends_at = MomentField("Until", "Empty while it lasts.", is_needed=False)


class EndOutageForm(ChangeForm):
    """Since when it works again."""

    ended_at = MomentField("Works since")


class ConfirmForm(ChangeForm):
    """Nothing but a yes."""


@changing(MANAGES, "fleet")
def end_node(context: Context, node_id: int) -> Change[Mapping[str, Any]]:
    """Says which charges go, then ends the node."""
    node = on_record(node_id)

    def apply(entered: Mapping[str, Any]) -> Done:
        actions.end_node(node_id=node_id, at=context.at, **entered)
        return f"{node['name']} has ended.", ("node", node_id)

    return Change(
        finding=f"End {node['name']}",
        explanation="A node is charged until something ends it. What it was charged before stays.",
        back=_back_to(node),
        form=EndNodeForm,
        confirm=f"End {node['name']}",
        read=lambda entered: _in_the_past(entered, "ended_at", context),
        effects=lambda entered: _effects_of_end(node, entered["ended_at"], context),
        apply=apply,
        initial={"ended_at": as_entered(context.at, context.zone)},
        empty=_ended_already(node, context),
    )


@changing(MANAGES, "fleet")
def record_outage(context: Context, node_id: int) -> Change[actions.NewOutage]:
    """Says which hours are judged again, then notes the outage."""
    node = on_record(node_id)
    devices = fleet.devices_of_node(node_id, context.at)

    def read(entered: Mapping[str, Any]) -> actions.NewOutage:
        starts_at, ends_at = (
            _in_the_past(entered, "starts_at", context)["starts_at"],
            entered["ends_at"],
        )
        if ends_at is not None and ends_at <= starts_at:
            raise Refusal("ends_at", "an outage takes time: it ends after it starts")
        return actions.NewOutage(
            node_id=node_id,
            kind=entered["kind"],
            starts_at=starts_at,
            ends_at=ends_at,
            device_id=int(entered["device"]) if entered["device"] else None,
        )

    def apply(outage: actions.NewOutage) -> Done:
        actions.record_outage(outage=outage, at=context.at)
        return f"The outage of {node['name']} is on record.", ("node", node_id)

    return Change(
        finding=f"Record an outage of {node['name']}",
        explanation="Time not held by a job while it could not be used is out of service, "
        "and not unallocated.",
        back=_back_to(node),
        form=OutageForm,
        confirm="Record the outage",
        read=read,
        effects=lambda outage: _effects_of_outage(outage.starts_at, outage.ends_at, context),
        apply=apply,
        picks={
            "device": {
                "": "The whole node",
                **{str(life.id): device_name(life) for life in devices},
            }
        },
        initial={"starts_at": as_entered(context.at, context.zone)},
        empty=_ended_already(node, context),
    )


@changing(MANAGES, "fleet")
def end_outage(context: Context, outage_id: int) -> Change[Mapping[str, Any]]:
    """Says which hours are judged again, then notes the end of the outage."""
    outage = value_or_404(fleet.outage_on_record(outage_id))
    node, began = on_record(outage.node_id), instant(outage.starts_at, context.zone)

    def read(entered: Mapping[str, Any]) -> Mapping[str, Any]:
        if entered["ended_at"] <= outage.starts_at:
            raise Refusal("ended_at", f"it began only at {began}")
        return _in_the_past(entered, "ended_at", context)

    def apply(entered: Mapping[str, Any]) -> Done:
        actions.end_outage(outage_id=outage_id, at=context.at, **entered)
        return f"{node['name']} is in service again.", ("node", outage.node_id)

    return Change(
        finding=f"End the outage of {node['name']}",
        explanation=f"{OUTAGES.get(outage.kind, outage.kind)} since {began}.",
        back=_back_to(node),
        form=EndOutageForm,
        confirm="End the outage",
        read=read,
        effects=lambda entered: _effects_of_outage(entered["ended_at"], outage.ends_at, context),
        apply=apply,
        initial={"ended_at": as_entered(context.at, context.zone)},
    )


@changing(MANAGES, "fleet")
def confirm_node_devices(context: Context, node_id: int) -> Change[Sequence[fleet.DeviceLife]]:
    """Lists the devices that an agent named, then confirms them."""
    node = on_record(node_id)
    known_devices = fleet.devices_of_node(node_id, context.at)
    unconfirmed = [life for life in known_devices if life.confirmed_at is None]

    def apply(_: Sequence[fleet.DeviceLife]) -> Done:
        confirmed = actions.confirm_devices(node_id=node_id, at=context.at)
        recount()
        message = f"{counted(confirmed, 'device')} of {node['name']} confirmed."
        return message, ("node", node_id)

    return Change(
        finding=f"Are these devices of {node['name']} yours?",
        explanation="They count already, since their agent reports them; no cost changes.",
        back=_back_to(node),
        form=ConfirmForm,
        confirm=f"Confirm {counted(len(unconfirmed), 'device')}",
        read=lambda _: unconfirmed,
        effects=lambda _: [
            f"{device_name(life)}, {life.model or 'unknown model'}: {life.uuid}"
            for life in unconfirmed
        ],
        apply=apply,
        empty=None
        if unconfirmed
        else EmptyState("Nothing to confirm", "Every device of this node is confirmed."),
    )


def _back_to(node: Mapping[str, Any]) -> Link:
    return Link(f"Back to {node['name']}", reverse("node", args=[node["id"]]))


def _in_the_past(entered: Mapping[str, Any], name: str, context: Context) -> Mapping[str, Any]:
    """Return what was entered; refuse a moment that is yet to come."""
    if entered[name] > context.at + timedelta(minutes=1):
        raise Refusal(name, IN_THE_FUTURE)
    return entered


def _ended_already(node: Mapping[str, Any], context: Context) -> EmptyState | None:
    if node["ended_at"] is None:
        return None
    sentence = f"{node['name']} ended at {instant(node['ended_at'], context.zone)}."
    return EmptyState("Nothing to change", sentence)


def _effects_of_end(
    node: Mapping[str, Any], ended_at: datetime, context: Context
) -> tuple[str, ...]:
    removed = ledger.charged_since(node["id"], hour_from(ended_at))
    effects = [f"It is charged until {instant(ended_at, context.zone)} and not after."]
    if removed.hours:
        amount = (
            "without a price"
            if removed.effective_micros is None
            else full_amount(removed.effective_micros, context.organisation.currency)
        )
        effects.append(f"{counted(removed.hours, 'hour')} charged since then go: {amount}.")
    else:
        effects.append("No whole hour after it is charged yet.")
    effects.append("Its GPUs and any outage that lasts end with it.")
    return tuple(effects)


def _effects_of_outage(
    starts_at: datetime, ends_at: datetime | None, context: Context
) -> ChangePreview:
    """Preview which time is divided again; of an outage that lasts it grows with every moment."""
    until = min(context.at, ends_at or context.at)
    past = until - starts_at
    if past <= timedelta(0):
        return ChangePreview(["No past hour changes."])
    again = "are divided again: time not held by a job changes its state, no total changes."
    when = f"{duration(past)} from {instant(starts_at, context.zone)}"
    if ends_at is None:
        when = f"The last {duration(past)} up to {instant(until, context.zone)}"
    return ChangePreview([f"{when} {again}"], same=[again])
