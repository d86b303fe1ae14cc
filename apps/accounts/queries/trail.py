"""The audit trail: what was changed, by whom, from what to what; written by the database itself."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Any

import pghistory
from django.apps import apps
from django.db import connection
from psycopg import sql

from apps.accounts.models import AccessToken
from apps.accounts.queries.organisation import teams as every_team
from apps.accounts.queries.people import person_names

KINDS = {
    "accounts.User": "person",
    "accounts.Membership": "membership",
    "accounts.Team": "team",
    "accounts.AccessToken": "token",
    "pricing.Rate": "rate",
    "pricing.SharedCost": "shared cost",
    "pricing.SharedWeight": "weight in a shared cost",
    "pricing.NodePricePolicy": "share of GPUs in a price",
    "pricing.Commitment": "commitment",
    "pricing.OwnedPlan": "owned hardware",
    "pricing.OwnedCost": "cost of owned hardware",
    "pricing.PowerTariff": "power tariff",
    "pricing.ApiPrice": "contract price of an API",
    "pricing.ApiVendor": "vendor of an API",
    "planning.Budget": "budget",
    "planning.HeadroomPolicy": "headroom policy",
    "planning.GpuQuota": "quota of GPUs",
    "planning.PowerLimit": "power of a room",
    "planning.ActivityTarget": "target of activity",
    "placement.JobAdmission": "override of an admission",
    "placement.EgressPrice": "price of egress",
    "planning.WhatIfPlan": "what-if plan",
    "planning.PlannedItem": "planned work",
    "placement.AcceleratorRegion": "region with GPUs",
    "review.AlertChannel": "channel of alerts",
    "review.ChartNote": "note on charts",
    "ledger.BillRule": "bill rule",
    "ledger.Close": "close",
    "pricing.ExchangeRate": "rate of exchange",
    "fleet.Pool": "pool",
    "fleet.SharePolicy": "share policy",
    "fleet.JoinToken": "join token",
    "fleet.NodeCeiling": "ceiling of a node",
    "fleet.WaitingNode": "node that waits to be approved",
    "fleet.CloudAccount": "cloud account",
    "workloads.OwnershipRule": "ownership rule",
    "workloads.ExcludedNodeName": "node that is not ours",
    "workloads.ServiceObjective": "objective of a service",
}
"""What is audited, in words; facts (usage, jobs, lines) are not: they are settled and restated."""

NOBODY_NAMED = "nobody named"
"""The service by itself, or somebody at the database's own prompt."""

VERBS = {"insert": "added", "update": "changed", "delete": "removed"}
NOT_SHOWN = {
    "id", "created_at",
    "pgh_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pgh_context", "pgh_context_id",
}  # fmt: skip
NAMING = ("name", "email", "target", "account", "namespace", "user")
SPAN = re.compile(r"""[\[(]"?([^",]*)"?,"?([^",]*)"?[\])]""")
"""A period as Postgres writes it: `["2026-03-01 00:00:00+00",)`."""

OF_PEOPLE = {"user_id", "owner_id", "made_by_id", "entered_by_id", "decided_by_id"}
OF_TEAMS = {"team_id", "parent_id", "owner_team_id"}


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field of what changed; None where it had, or has, no value."""

    name: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class TrailPlace:
    """Where a change stands in the trail: changes of one transaction are of one moment.

    Without a label it is a moment alone, before all of its changes.
    """

    at: datetime
    label: str | None = None
    id: int | None = None


@dataclass(frozen=True, slots=True)
class TrailChange:
    """One change: `who` did `verb` to the `kind` named `name`."""

    place: TrailPlace
    at: datetime
    who: str
    verb: str
    kind: str
    name: str
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class _Event:
    id: int
    label: str
    at: datetime
    verb: str
    context: dict[str, Any] | None
    data: dict[str, Any]
    before: dict[str, Any] | None


def changes(
    *,
    kind: str = "",
    of: int | None = None,
    parts: Mapping[str, str] | None = None,
    before: TrailPlace | None = None,
    limit: int = 200,
) -> list[TrailChange]:
    """The newest first; of one `kind` (a value of KINDS) where said, and of one thing of it, by its id.

    With it come its `parts`: other kinds, by the column that names what they are part of. With `before` those that
    stand after it.
    """
    columns = {kind: "pgh_obj_id", **(parts or {})} if kind else {}
    events = _latest_events(columns, of, before, limit)
    people = person_names()
    teams = {team.id: team.name for team in every_team()}
    tokens = _token_names(events)
    return [
        TrailChange(
            place=TrailPlace(event.at, event.label, event.id),
            at=event.at,
            who=_actor_name(event.context or {}, people, tokens),
            verb=VERBS[event.verb],
            kind=KINDS.get(event.label, event.label),
            name=_object_name(event.data, people, teams),
            fields=_changed_fields(
                event, people, teams, columns.get(KINDS.get(event.label, ""), "")
            ),
        )
        for event in events
    ]


def _latest_events(
    columns: Mapping[str, str], of: int | None, before: TrailPlace | None, limit: int
) -> list[_Event]:
    parts = [
        _events_of_table(label, model._meta.db_table, columns.get(KINDS.get(label, ""), ""))
        for label, model in _audited_models()
        if not columns or KINDS.get(label) in columns
    ]
    if not parts:
        return []
    query = sql.SQL(
        "SELECT id, label, at, verb, context, data, before FROM ({}) AS event"
        " WHERE (%(at)s::timestamptz IS NULL OR at < %(at)s OR (at = %(at)s"
        " AND (label > %(label)s OR (label = %(label)s AND id < %(id)s))))"
        " ORDER BY at DESC, label, id DESC LIMIT %(limit)s"
    ).format(sql.SQL(" UNION ALL ").join(parts))
    with connection.cursor() as cursor:
        at, label, id_ = astuple(before) if before else (None, None, None)
        cursor.execute(query, {"of": of, "at": at, "label": label, "id": id_, "limit": limit})
        return [
            _Event(id_, label, at, verb, *map(_document_of, (context, data, before)))
            for id_, label, at, verb, context, data, before in cursor.fetchall()
        ]


def _document_of(cell: str | dict[str, Any] | None) -> Any:
    return json.loads(cell) if isinstance(cell, str) else cell


def _events_of_table(label: str, table: str, column: str) -> sql.Composed:
    """Its events; those alone that the column says are of what is asked for, where something is."""
    return sql.SQL(
        "SELECT {label} AS label, pgh_id AS id, pgh_created_at AS at,"
        " pgh_label AS verb,"
        " pgh_context AS context, to_jsonb(event) AS data,"
        " lag(to_jsonb(event)) OVER (PARTITION BY pgh_obj_id ORDER BY pgh_id) AS before"
        " FROM {table} AS event WHERE %(of)s::int8 IS NULL OR {column} = %(of)s"
    ).format(
        label=sql.Literal(label),
        table=sql.Identifier(table),
        column=sql.Identifier(column or "pgh_obj_id"),
    )


def _audited_models() -> Iterable[tuple[str, Any]]:
    """Every table of events with the label of what it is about; nothing tracked is left out."""
    for model in apps.get_models():
        if issubclass(model, pghistory.models.Event) and not model._meta.proxy:
            tracked: Any = model.pgh_tracked_model
            yield tracked._meta.label, model


def _token_names(events: Iterable[_Event]) -> dict[int, str]:
    ids = {event.context["token"] for event in events if event.context and "token" in event.context}
    if not ids:
        return {}
    rows = AccessToken.objects.filter(id__in=ids).order_by("id")
    return dict(rows.values_list("id", "name"))


def _actor_name(
    context: Mapping[str, Any], people: Mapping[int, str], tokens: Mapping[int, str]
) -> str:
    if "person" in context:
        return people.get(context["person"], f"person {context['person']}")
    if "token" in context:
        return f"token {tokens.get(context['token'], context['token'])}"
    if "command" in context:
        by = f" by {context['os_user']}" if "os_user" in context else ""
        return f"manage.py {context['command']}{by}"
    return NOBODY_NAMED


def _object_name(
    data: Mapping[str, Any], people: Mapping[int, str], teams: Mapping[int, str]
) -> str:
    if "user_id" in data and "team_id" in data:
        return f"{people.get(data['user_id'], '?')} in {teams.get(data['team_id'], '?')}"
    named = next((data[name] for name in NAMING if data.get(name)), None)
    return str(named or f"number {data['id']}")


def _changed_fields(
    event: _Event, people: Mapping[int, str], teams: Mapping[int, str], holder: str
) -> tuple[FieldChange, ...]:
    old = event.before if event.verb == "update" else None
    old = event.data if event.verb == "delete" else old
    new = None if event.verb == "delete" else event.data
    old, new = _flat(old), _flat(new)
    named = dict.fromkeys(OF_PEOPLE, people) | dict.fromkeys(OF_TEAMS, teams)
    all_changes = [
        FieldChange(
            name.removesuffix("_id").replace("_", " "),
            _value_text(old, name, named.get(name, {})),
            _value_text(new, name, named.get(name, {})),
        )
        for name in sorted({*(old or ()), *(new or ())} - {holder})
    ]
    return tuple(change for change in all_changes if change.old != change.new)


def _flat(data: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the values that are shown, with the fields of an object in the place of the field that holds it."""
    if data is None:
        return None
    shown_values = {name: value for name, value in data.items() if name not in NOT_SHOWN}
    objects = (value for value in shown_values.values() if isinstance(value, dict))
    plain = {name: value for name, value in shown_values.items() if not isinstance(value, dict)}
    return plain | {name: value for nested in objects for name, value in nested.items()}


def _value_text(data: Mapping[str, Any] | None, name: str, named: Mapping[int, str]) -> str | None:
    value = None if data is None else data.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, int):
        return named.get(value, str(value))
    span = SPAN.fullmatch(str(value))
    if span is None:
        return str(value)
    starts_at, ends_at = (group.removesuffix(":00+00") for group in span.groups())
    end = f" until {ends_at}" if ends_at else ", open-ended"
    return f"from {starts_at or 'ever'}{end}"
