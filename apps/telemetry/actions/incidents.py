"""Events to incidents: what begins lasts until it ends, what comes again within the hour counts up."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from django.db import connection
from django.db.models import Q

from apps.economics.hours import HOUR, from_epoch_ms
from apps.logs.changes import answered, logged_change
from apps.telemetry.actions.report_cells import Remarks
from apps.telemetry.actions.report_wire import ReportedEvent
from apps.telemetry.models import Incident

# Arbitrary but fixed: two agents of one node do not open one incident twice.
LOCK = 7_305_023
# Agents before 0.2.0 told here how many errors there were, which is not which incident it is.
COUNTS_AS_CODE = frozenset({"ecc_uncorrected"})
# Upon the end of a node whatever lasted on it lasts no longer; that nothing was mended shows in the
# moment, which is the node's last.
CLOSE = """
UPDATE telemetry_incident AS incident
SET ended_at = greatest(incident.started_at, upper(node.period))
FROM fleet_node_fact AS node
WHERE node.id = incident.node_id AND incident.ended_at IS NULL AND upper(node.period) <= %s
"""

Key = tuple[str, str, int | None]


def record_happenings(
    *,
    node_id: int,
    events: Sequence[ReportedEvent],
    device_ids: Mapping[str, int],
    remarks: Remarks,
) -> int:
    """Open, continue and end the node's incidents in the caller's transaction; how many were kept."""
    if not events:
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK, node_id])
    book = _Book(node_id, device_ids, _recent_incidents(node_id, events))
    kept_count = 0
    for event in sorted(
        events, key=lambda reported_event: (reported_event.at_ms, reported_event.index)
    ):
        if book.enter(event):
            kept_count += 1
        else:
            remarks.say(event.index, "events", "ends what had not begun")
    book.write()
    return kept_count


@logged_change(count=answered)
def end_with_their_nodes(*, at: datetime) -> int:
    """Incidents that lasted when their node ended end at that moment; how many did."""
    with connection.cursor() as cursor:
        cursor.execute(CLOSE, [at])
        return int(cursor.rowcount)


class _Book:
    """The incidents of a node that events may still go on with, the latest of each kind."""

    def __init__(
        self, node_id: int, device_ids: Mapping[str, int], incidents: Iterable[Incident]
    ) -> None:
        self.node_id = node_id
        self.device_ids = device_ids
        self.latest: dict[Key, Incident] = {}
        self.touched: dict[int, Incident] = {}
        for incident in incidents:
            key = (incident.uuid, incident.kind, _identifying_code(incident.kind, incident.code))
            latest = self.latest.get(key)
            if latest is None or incident.ended_at is None or latest.ended_at is not None:
                self.latest[key] = incident

    def enter(self, event: ReportedEvent) -> bool:
        """False where it ends what is not open."""
        at = from_epoch_ms(event.at_ms)
        if event.phase == "ended":
            return self._end_open_incidents(event, at)
        incident = self.latest.get(
            (event.uuid, event.kind, _identifying_code(event.kind, event.code))
        )
        if incident is not None and _goes_on_with(incident, event, at):
            incident.count += 1
            incident.detail = _detail_of_event(event) or incident.detail
            incident.last_at = max(incident.last_at, at)
            incident.started_at = min(incident.started_at, at)
            incident.ended_at = None if incident.ended_at is None else incident.last_at
        else:
            incident = self._opened_incident(event, at)
        self.touched[id(incident)] = incident
        return True

    def write(self) -> None:
        """All that changed, in two statements."""
        rows = list(self.touched.values())
        Incident.objects.bulk_create([row for row in rows if row.pk is None])
        changed = [row for row in rows if row.pk is not None]
        if changed:
            Incident.objects.bulk_update(
                changed, ["count", "detail", "started_at", "last_at", "ended_at"]
            )

    def _opened_incident(self, event: ReportedEvent, at: datetime) -> Incident:
        incident = Incident(
            node_id=self.node_id,
            device_id=self.device_ids.get(event.uuid),
            uuid=event.uuid,
            kind=event.kind,
            code=_identifying_code(event.kind, event.code),
            detail=_detail_of_event(event),
            started_at=at,
            last_at=at,
            ended_at=at if event.phase == "point" else None,
        )
        self.latest[event.uuid, event.kind, incident.code] = incident
        return incident

    def _end_open_incidents(self, event: ReportedEvent, at: datetime) -> bool:
        # Whoever says that it is over need not know the code that it began with.
        ended = [
            open_incident
            for (uuid, kind, code), open_incident in self.latest.items()
            if open_incident.ended_at is None
            and (uuid, kind) == (event.uuid, event.kind)
            and _identifying_code(event.kind, event.code) in (None, code)
        ]
        for incident in ended:
            incident.ended_at = incident.last_at = max(at, incident.started_at)
            self.touched[id(incident)] = incident
        return bool(ended)


def _identifying_code(kind: str, code: int | None) -> int | None:
    return None if kind in COUNTS_AS_CODE else code


def _detail_of_event(event: ReportedEvent) -> str:
    if event.detail or event.code is None or event.kind not in COUNTS_AS_CODE:
        return event.detail
    return f"{event.code} errors that could not be corrected"


def _goes_on_with(incident: Incident, event: ReportedEvent, at: datetime) -> bool:
    """Return whether an event goes on with an incident: an open one goes on; a point joins the last of its kind within the hour."""
    return incident.ended_at is None or (event.phase == "point" and _is_near(incident, at))


def _is_near(incident: Incident, at: datetime) -> bool:
    return incident.started_at - HOUR <= at <= incident.last_at + HOUR


def _recent_incidents(node_id: int, events: Sequence[ReportedEvent]) -> list[Incident]:
    first = from_epoch_ms(min(event.at_ms for event in events))
    kinds = {event.kind for event in events}
    lasting = Q(ended_at=None) | Q(last_at__gte=first - HOUR)
    rows = Incident.objects.filter(lasting, node_id=node_id, kind__in=kinds)
    return list(rows.order_by("started_at", "id"))
