"""Reports of agents on themselves and their nodes: how they are, and that a cloud takes one back."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection, transaction
from psycopg import sql

from apps.accounts.queries.arriving import arriving_personal_fields, pseudonymise
from apps.economics.hours import hour_of
from apps.fleet.actions.inventory import end_node
from apps.fleet.actions.lives import lock_lifetimes_exclusive
from apps.fleet.actions.not_understood import Unread, count_not_understood
from apps.fleet.models import RECLAIMED, Agent, AgentStatus, Node, NotUnderstood
from apps.fleet.queries.agent_reports import AgentCondition
from apps.marks.actions import ORGANISATION, mark_span
from apps.marks.queries import Pass

MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedStatus(AgentCondition):
    """The condition of an agent, in the report that it told it in."""

    boot: int
    sequence: int
    problems: tuple[dict[str, str], ...] = ()
    purchase_option: str = ""
    instance_type: str = ""
    region: str = ""
    provider_id: str = ""


UNREAD = {
    "grant_not_understood": "grants",
    "device_not_understood": "devices",
    "metrics_not_understood": "metrics",
}
"""Problems that name what an agent met and does not understand, and the door that counts it."""


def note_status(*, agent_id: int, status: ReportedStatus, at: datetime) -> None:
    """Keep the latest; of one boot an earlier report that comes late changes nothing.

    What the agent does not understand is counted once for each day on which it is so.
    """
    (status,) = pseudonymise([status], arriving_personal_fields("fleet.agentstatus"))
    _count_unread(agent_id, status, at)
    row: dict[str, Any] = {"agent_id": agent_id, "at": at, **asdict(status)}
    fields = {field.attname: field for field in AgentStatus._meta.concrete_fields}
    values = [fields[name].get_db_prep_save(value, connection) for name, value in row.items()]
    with connection.cursor() as cursor:
        cursor.execute(_upsert_statement(list(row)), values)


def _count_unread(agent_id: int, status: ReportedStatus, at: datetime) -> None:
    names = {
        (UNREAD[problem["code"]], problem["detail"])
        for problem in status.problems
        if problem["code"] in UNREAD
    }
    if not names:
        return
    node = Agent.objects.values_list("node__name", flat=True).get(id=agent_id)
    day = at.astimezone(UTC).date()
    of_today = NotUnderstood.objects.filter(day=day, place=node, door__in=UNREAD.values())
    fresh = names - set(of_today.values_list("door", "name"))
    if fresh:
        unread = [Unread(door, name, place=node) for door, name in sorted(fresh)]
        count_not_understood(unread=unread, at=at)


@transaction.atomic
def reclaim_node(*, node_id: int, ended_at: datetime, at: datetime) -> bool:
    """The node ends at the moment its cloud announced, with what is in it; marks the hours of it.

    False, and nothing changed, where it is ended already or began only after that moment.
    """
    lock_lifetimes_exclusive()
    node = Node.objects.select_for_update(no_key=True).get(pk=node_id)
    if node.period.upper is not None or ended_at <= node.period.lower:
        return False
    end_node(node_id=node_id, ended_at=ended_at, reason=RECLAIMED, at=at)
    # An hour that has begun was settled as if the node lived through it.
    starts_at = hour_of(min(ended_at, at))
    for pass_, unit in ((Pass.CHARGE, ORGANISATION), (Pass.SPLIT, node_id)):
        mark_span(pass_=pass_, units=[unit], starts_at=starts_at, ends_at=at + MOMENT)
    return True


def _upsert_statement(names: list[str]) -> sql.Composed:
    return sql.SQL(
        "INSERT INTO fleet_agentstatus AS held ({names}) VALUES ({places})"
        " ON CONFLICT (agent_id) DO UPDATE SET {changes}"
        " WHERE held.boot <> excluded.boot OR held.sequence < excluded.sequence"
    ).format(
        names=sql.SQL(", ").join(map(sql.Identifier, names)),
        places=sql.SQL(", ").join([sql.SQL("%s")] * len(names)),
        changes=sql.SQL(", ").join(
            sql.SQL("{0} = excluded.{0}").format(sql.Identifier(name)) for name in names[1:]
        ),
    )
