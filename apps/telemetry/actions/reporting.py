"""Storing a report: hours, incidents, the agent's state and a node's end; at most once."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db import connection, transaction

from apps.economics.hours import from_epoch_ms
from apps.fleet.actions import ReportedStatus, note_status, reclaim_node
from apps.fleet.queries import AgentFact, lifetimes_on_node
from apps.logs.changes import logged_change
from apps.telemetry.actions.deliveries import refuse_another_node
from apps.telemetry.actions.evidence import add_device_rows, add_node_rows
from apps.telemetry.actions.incidents import record_happenings
from apps.telemetry.actions.ingest import SOURCE_RANK
from apps.telemetry.actions.report_cells import (
    Ignored,
    Remarks,
    parse_nonnegative_integer,
    real_of,
    storable,
    text_of,
)
from apps.telemetry.actions.report_wire import ReportRow, ReportWire, report_wire

LATEST_MS = 4_102_444_800_000  # 2100-01-01
RECLAIM = "reclaim_notice"
# A notice is given minutes ahead; what says otherwise is a clock gone wrong.
NOTICE_AHEAD = timedelta(days=1)
MOST_PROBLEMS = 50
STATUS = (
    *("state", "expected_gpus", "seen_gpus", "missing", "spool", "dropped_windows"),
    *("clock_offset_ms", "cpu_seconds", "pss_bytes", "nvml_calls_per_second", "driver"),
    *("purchase_option", "instance_type", "region", "provider_id", "problems"),
)


class StoredRowCounts(msgspec.Struct, frozen=True):
    """How many rows of each part of a report were kept."""

    readings: int
    node_readings: int
    events: int


class ReportAnswer(msgspec.Struct, frozen=True):
    """The outcome of a report as it is answered; the same for every delivery of it but for `duplicate`."""

    accepted: StoredRowCounts
    duplicate: bool
    ignored: list[Ignored]
    offset_ms: int


class ReportReceipt(ReportAnswer, frozen=True):
    """The outcome of a report, and the version of the agent that sent it."""

    version: str = ""


def _count_stored_rows(receipt: ReportReceipt, arguments: Mapping[str, Any]) -> int:
    return 0 if receipt.duplicate else sum(msgspec.structs.astuple(receipt.accepted))


@logged_change(count=_count_stored_rows)
def receive_report(*, body: bytes, agent: AgentFact, at: datetime) -> ReportReceipt:
    """Store what a report tells, once, however often it comes.

    Refuses BatchUnreadable, BatchTooLarge and NodeOfAnotherToken. A row that is not sound costs no other row.
    """
    report = report_wire(body, int(at.timestamp() * 1000))
    refuse_another_node(report.node, agent)
    with transaction.atomic():
        if not _enter_report(report, agent, at):
            return _earlier_receipt(report, agent)
        accepted_rows = _store_rows(report, agent, at)
        receipt = ReportReceipt(
            accepted_rows, duplicate=False, ignored=report.remarks.kept, offset_ms=report.offset_ms
        )
        _keep_answer(report, agent, receipt)
    return msgspec.structs.replace(receipt, version=report.version)


def _store_rows(report: ReportWire, agent: AgentFact, at: datetime) -> StoredRowCounts:
    ids = _device_ids(report, agent.node_id)
    source = SOURCE_RANK[agent.source]
    readings = _rows_of_registered_devices(report, ids)
    add_device_rows(
        readings, {place: ids[uuid] for place, uuid in _registered_places(report, ids)}, source
    )
    add_node_rows(report.node_readings, agent.node_id, source)
    events = record_happenings(
        node_id=agent.node_id, events=report.events, device_ids=ids, remarks=report.remarks
    )
    status = _parse_status(report)
    if status is not None:
        note_status(agent_id=agent.agent_id, status=status, at=at)
    _reclaim_noticed_node(report, agent, at)
    return StoredRowCounts(len(readings), len(report.node_readings), events)


def _registered_places(report: ReportWire, ids: Mapping[str, int]) -> list[tuple[int, str]]:
    return [(place, uuid) for place, uuid in enumerate(report.devices) if uuid in ids]


def _device_ids(report: ReportWire, node_id: int) -> dict[str, int]:
    """The device that bore each UUID on this node when the report's rows were, else its last."""
    if not report.devices:
        return {}
    moments = [row.starts_at_ms for row in report.readings]
    moments += [event.at_ms for event in report.events if event.uuid]
    latest = from_epoch_ms(max(moments, default=0))
    ids: dict[str, int] = {}
    for life in lifetimes_on_node(node_id, set(report.devices)):
        if life.uuid not in ids or life.began_at <= latest:
            ids[life.uuid] = life.id
    return ids


def _rows_of_registered_devices(report: ReportWire, ids: Mapping[str, int]) -> list[ReportRow]:
    """Devices are made known by batches: a report has not what a device is."""
    known_places = {place for place, _ in _registered_places(report, ids)}
    for row in report.readings:
        if row.device not in known_places:
            report.remarks.say(row.index, "readings.device", "not on record on this node")
    return [row for row in report.readings if row.device in known_places]


def _reclaim_noticed_node(report: ReportWire, agent: AgentFact, at: datetime) -> None:
    for event in report.events:
        if event.kind != RECLAIM or event.phase == "ended":
            continue
        ended_at = _clamped_moment(event.at_ms if event.ends_at_ms is None else event.ends_at_ms)
        noticed_at = _clamped_moment(event.at_ms)
        if not noticed_at - NOTICE_AHEAD <= ended_at <= noticed_at + NOTICE_AHEAD:
            report.remarks.say(event.index, "events.ends_at_ms", "not within a day of the notice")
            continue
        reclaim_node(node_id=agent.node_id, ended_at=ended_at, at=at)


def _parse_status(report: ReportWire) -> ReportedStatus | None:
    status = report.status
    if not status:
        return None
    report.remarks.unknown_fields(status, STATUS, "status.")
    spool_value = status.get("spool")
    spool: Mapping[str, Any] = spool_value if isinstance(spool_value, dict) else {}
    oldest = parse_nonnegative_integer(spool.get("oldest_at_ms"))
    missing, problems = status.get("missing"), status.get("problems")
    return ReportedStatus(
        boot=report.boot,
        sequence=report.sequence,
        state=text_of(status.get("state"))[:60],
        expected_gpus=_parse_small_integer(status.get("expected_gpus")),
        seen_gpus=_parse_small_integer(status.get("seen_gpus")),
        missing=tuple(map(text_of, missing[:100])) if isinstance(missing, list) else (),
        spool_batches=parse_nonnegative_integer(spool.get("batches")),
        spool_bytes=parse_nonnegative_integer(spool.get("bytes")),
        spool_oldest_at=_moment_if_sane(oldest, report.shift_ms),
        dropped_windows=parse_nonnegative_integer(status.get("dropped_windows")),
        cpu_seconds=real_of(status.get("cpu_seconds")),
        pss_bytes=parse_nonnegative_integer(status.get("pss_bytes")),
        calls_per_second=real_of(status.get("nvml_calls_per_second")),
        driver=text_of(status.get("driver")),
        problems=tuple(_parse_problems(problems, report.remarks)),
        purchase_option=text_of(status.get("purchase_option")),
        instance_type=text_of(status.get("instance_type")),
        region=text_of(status.get("region")),
        provider_id=text_of(status.get("provider_id")),
    )


def _parse_problems(value: object, remarks: Remarks) -> list[dict[str, str]]:
    items: Sequence[object] = value[:MOST_PROBLEMS] if isinstance(value, list) else ()
    problems = []
    for index, item in enumerate(items):
        if isinstance(item, dict) and isinstance(item.get("code"), str):
            problems.append({"code": storable(item["code"]), "detail": text_of(item.get("detail"))})
        else:
            remarks.say(index, "status.problems", "has no code")
    return problems


def _parse_small_integer(value: object) -> int | None:
    number = parse_nonnegative_integer(value)
    return number if number is not None and number < 2**31 else None


def _clamped_moment(at_ms: int) -> datetime:
    """Cut where datetime ends; whoever asks refuses that anyway."""
    return from_epoch_ms(max(0, min(at_ms, LATEST_MS)))


def _moment_if_sane(at_ms: int | None, shift_ms: int) -> datetime | None:
    if at_ms is None or not 0 <= at_ms + shift_ms < LATEST_MS:
        return None
    return _clamped_moment(at_ms + shift_ms)


def _enter_report(report: ReportWire, agent: AgentFact, at: datetime) -> bool:
    """False where the report was stored before; one that is on its way is waited for."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO telemetry_report (agent_id, boot, sequence, received_at, answer)"
            " VALUES (%s, %s, %s, %s, '{}') ON CONFLICT DO NOTHING",
            [agent.agent_id, report.boot, report.sequence, at],
        )
        return bool(cursor.rowcount == 1)


def _keep_answer(report: ReportWire, agent: AgentFact, receipt: ReportReceipt) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE telemetry_report SET answer = %s::jsonb"
            " WHERE agent_id = %s AND boot = %s AND sequence = %s",
            [
                msgspec.json.encode(receipt).decode(),
                agent.agent_id,
                report.boot,
                report.sequence,
            ],
        )


def _earlier_receipt(report: ReportWire, agent: AgentFact) -> ReportReceipt:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT answer::text FROM telemetry_report"
            " WHERE agent_id = %s AND boot = %s AND sequence = %s",
            [agent.agent_id, report.boot, report.sequence],
        )
        (answer,) = cursor.fetchone()
    earlier = msgspec.json.decode(answer, type=ReportReceipt)
    return msgspec.structs.replace(
        earlier, duplicate=True, offset_ms=report.offset_ms, version=report.version
    )
