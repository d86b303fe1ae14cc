"""Changes to nodes, each shown before it is made: ending one, outages, confirming devices."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from apps.console.kit.entries import as_entered, moment, one_of
from apps.console.kit.frame import Link
from apps.console.kit.request import MANAGES, Context, request_context, shown_to
from apps.console.pages.changes import ChangePage, Entries, moment_or_none
from apps.console.pages.fleet.node_tables import device_name
from apps.console.pages.fleet.nodes import OUTAGES
from apps.console.pages.setup.questions import recount
from apps.economics.hours import hour_from
from apps.fleet import actions
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.show.amounts import counted
from apps.show.money import full_amount
from apps.show.time import duration, instant

changing = require_http_methods(["GET", "HEAD", "POST"])


@changing
@shown_to(MANAGES)
def end_node(request: HttpRequest, node_id: int) -> HttpResponse:
    """Says which charges go, then ends the node."""
    who, node = request_context(request, "fleet"), _node(node_id)
    entries = Entries(_given(request), {"ended_at": as_entered(who.at, who.zone), "reason": ""})
    ended_at = entries.read("ended_at", _past(who))
    reason = entries.read("reason", _reason)
    if request.method == "POST" and ended_at is not None and reason is not None:
        try:
            actions.end_node(node_id=node_id, ended_at=ended_at, reason=reason, at=who.at)
        except (actions.NodeAlreadyEnded, actions.NodeEndsBeforeItStarts) as refusal:
            entries.refused("ended_at", refusal.message)
        else:
            return _done(request, node_id, f"{node['name']} has ended.")
    page = ChangePage(
        frame=who.frame,
        finding=f"End {node['name']}",
        explanation="A node is charged until something ends it. What it was charged before stays.",
        back=_back(node),
        here=request.path,
        fields=(
            entries.field("ended_at", f"Ended at ({who.zone.key})", "datetime-local"),
            entries.field("reason", "Why", hint="Kept with the node: sold, returned, reclaimed."),
        ),
        effects=() if ended_at is None else _effects_of_end(node, ended_at, who),
        confirm=entries.confirm(f"End {node['name']}"),
        cannot=_ended_already(node, who),
    )
    return render(request, "components/change_page.html", {"page": page})


@changing
@shown_to(MANAGES)
def record_outage(request: HttpRequest, node_id: int) -> HttpResponse:
    """Says which hours are judged again, then notes the outage."""
    who, node = request_context(request, "fleet"), _node(node_id)
    lives = fleet.devices_of_node(node_id, who.at)
    parts = {"": "The whole node", **{str(life.id): device_name(life) for life in lives}}
    defaults = {
        "kind": "drained",
        "device": "",
        "starts_at": as_entered(who.at, who.zone),
        "ends_at": "",
    }
    entries = Entries(_given(request), defaults)
    kind = entries.read("kind", one_of(OUTAGES))
    device = entries.read("device", one_of(parts))
    starts_at = entries.read("starts_at", _past(who))
    ends_at = entries.read("ends_at", moment_or_none(who.zone))
    if request.method == "POST" and not entries.problems and starts_at is not None:
        outage = actions.NewOutage(
            node_id=node_id,
            kind=kind or "",
            starts_at=starts_at,
            ends_at=ends_at,
            device_id=int(device) if device else None,
        )
        try:
            actions.record_outage(outage=outage, at=who.at)
        except (actions.OutageEndsBeforeItStarts, actions.DeviceOfAnotherNode) as refusal:
            entries.refused("ends_at", refusal.message)
        else:
            return _done(request, node_id, f"The outage of {node['name']} is on record.")
    if starts_at and ends_at and ends_at <= starts_at:
        entries.refused("ends_at", "An outage takes time: it ends after it starts.")
    page = ChangePage(
        frame=who.frame,
        finding=f"Record an outage of {node['name']}",
        explanation="Time not held by a job while it could not be used is out of service, "
        "and not unallocated.",
        back=_back(node),
        here=request.path,
        fields=(
            entries.choice("kind", "What happened", OUTAGES),
            entries.choice("device", "To what", parts),
            entries.field("starts_at", f"Since ({who.zone.key})", "datetime-local"),
            entries.field("ends_at", "Until", "datetime-local", hint="Empty while it lasts."),
        ),
        effects=() if starts_at is None else _effects_of_outage(starts_at, ends_at, who),
        confirm=entries.confirm("Record the outage"),
        cannot=_ended_already(node, who),
    )
    return render(request, "components/change_page.html", {"page": page})


@changing
@shown_to(MANAGES)
def end_outage(request: HttpRequest, outage_id: int) -> HttpResponse:
    """Says which hours are judged again, then notes the end of the outage."""
    who, outage = request_context(request, "fleet"), fleet.outage_on_record(outage_id)
    if outage is None:
        raise Http404
    node = _node(outage.node_id)
    entries = Entries(_given(request), {"ended_at": as_entered(who.at, who.zone)})
    ended_at = entries.read("ended_at", _past(who))
    if ended_at is not None and ended_at <= outage.starts_at:
        entries.refused("ended_at", f"It began only at {instant(outage.starts_at, who.zone)}.")
    if request.method == "POST" and ended_at is not None and not entries.problems:
        actions.end_outage(outage_id=outage_id, ended_at=ended_at, at=who.at)
        return _done(request, outage.node_id, f"{node['name']} is in service again.")
    page = ChangePage(
        frame=who.frame,
        finding=f"End the outage of {node['name']}",
        explanation=f"{OUTAGES.get(outage.kind, outage.kind)} since "
        f"{instant(outage.starts_at, who.zone)}.",
        back=_back(node),
        here=request.path,
        fields=(entries.field("ended_at", f"Works since ({who.zone.key})", "datetime-local"),),
        effects=() if ended_at is None else _effects_of_outage(ended_at, outage.ends_at, who),
        confirm=entries.confirm("End the outage"),
    )
    return render(request, "components/change_page.html", {"page": page})


@changing
@shown_to(MANAGES)
def confirm_node_devices(request: HttpRequest, node_id: int) -> HttpResponse:
    """Lists the devices that an agent named, then confirms them."""
    who, node = request_context(request, "fleet"), _node(node_id)
    lives = [life for life in fleet.devices_of_node(node_id, who.at) if life.confirmed_at is None]
    if request.method == "POST":
        confirmed = actions.confirm_devices(node_id=node_id, at=who.at)
        recount()
        said = f"{counted(confirmed, 'device')} of {node['name']} confirmed."
        return _done(request, node_id, said)
    page = ChangePage(
        frame=who.frame,
        finding=f"Are these devices of {node['name']} yours?",
        explanation="They count already, since their agent reports them; no cost changes.",
        back=_back(node),
        here=request.path,
        fields=(),
        effects=tuple(
            f"{device_name(life)}, {life.model or 'unknown model'}: {life.uuid}" for life in lives
        ),
        confirm=f"Confirm {counted(len(lives), 'device')}" if lives else "",
        cannot="" if lives else "Every device of this node is confirmed.",
    )
    return render(request, "components/change_page.html", {"page": page})


def _given(request: HttpRequest) -> QueryDict:
    return request.POST if request.method == "POST" else request.GET


def _node(node_id: int) -> Mapping[str, Any]:
    node = fleet.node_if_on_record(node_id)
    if node is None:
        raise Http404
    return node


def _back(node: Mapping[str, Any]) -> Link:
    return Link(f"Back to {node['name']}", reverse("node", args=[node["id"]]))


def _done(request: HttpRequest, node_id: int, said: str) -> HttpResponse:
    messages.success(request, said)
    return redirect("node", node_id)


def _past(who: Context) -> Any:
    read = moment(who.zone)

    def past(text: str) -> datetime:
        said = read(text)
        if said > who.at + timedelta(minutes=1):
            raise ValueError("This lies in the future; say it when it has happened.")
        return said

    return past


def _reason(text: str) -> str:
    if not text:
        raise ValueError("Say why, in a word or two.")
    return text


def _ended_already(node: Mapping[str, Any], who: Context) -> str:
    if node["ended_at"] is None:
        return ""
    return f"{node['name']} ended at {instant(node['ended_at'], who.zone)}."


def _effects_of_end(node: Mapping[str, Any], ended_at: datetime, who: Context) -> tuple[str, ...]:
    gone = ledger.charged_since(node["id"], hour_from(ended_at))
    effects = [f"It is charged until {instant(ended_at, who.zone)} and not after."]
    if gone.hours:
        amount = (
            "without a price"
            if gone.effective_micros is None
            else full_amount(gone.effective_micros, who.organisation.currency)
        )
        effects.append(f"{counted(gone.hours, 'hour')} charged since then go: {amount}.")
    else:
        effects.append("No whole hour after it is charged yet.")
    effects.append("Its GPUs and any outage that lasts end with it.")
    return tuple(effects)


def _effects_of_outage(
    starts_at: datetime, ends_at: datetime | None, who: Context
) -> tuple[str, ...]:
    past = min(who.at, ends_at or who.at) - starts_at
    if past <= timedelta(0):
        return ("No past hour changes.",)
    return (
        f"The last {duration(past)} up to {instant(min(who.at, ends_at or who.at), who.zone)} "
        "are divided again: time not held by a job changes its state, no total changes."
        if ends_at is None
        else f"{duration(past)} from {instant(starts_at, who.zone)} are divided again: time not "
        "held by a job changes its state, no total changes.",
    )
