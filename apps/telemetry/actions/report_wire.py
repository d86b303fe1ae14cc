"""A report as it comes over the wire, read so that nothing of it costs its neighbours."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apps.economics.hours import HOUR_MS
from apps.telemetry.actions.report_cells import (
    LARGEST,
    Ignored,
    Remarks,
    cell_trouble,
    parse_nonnegative_integer,
    text_of,
)
from apps.telemetry.actions.windows import (
    AHEAD_MS,
    LONGEST_SECONDS,
    SHORTEST_SECONDS,
    SKEW_MS,
    oldest_ms,
    too_old_words,
)
from apps.telemetry.actions.wire import BatchTooLarge, BatchUnreadable, decoded_object

MOST_ROWS = 20_000
MOST_EVENTS = 5_000
DEVICE_SUMS = (
    *("power_capped_seconds", "thermal_seconds", "hardware_slowed_seconds", "pcie_bytes"),
    *("nvlink_bytes", "ecc_corrected", "ecc_uncorrected"),
)
READINGS = (
    *("observed_seconds", "temperature_celsius", "sm_clock_mhz", "graphics_ratio"),
    *DEVICE_SUMS,
)
NODE_READINGS = (
    *("fabric_bytes", "fabric_errors", "network_bytes", "network_errors", "disk_read_bytes"),
    *("disk_written_bytes", "cpu_stalled_seconds", "io_stalled_seconds", "memory_stalled_seconds"),
)
REPORT = (
    *("format", "boot", "sequence", "sent_at_ms", "agent", "status", "devices", "readings"),
    *("node_readings", "events"),
)
EVENT = ("at_ms", "kind", "phase", "device", "code", "detail", "ends_at_ms")
PHASES = ("began", "ended", "point")


@dataclass(frozen=True, slots=True)
class ReportRow:
    """A sound row by the server's clock; `device` is a place in the report's list, of a node None."""

    index: int
    device: int | None
    starts_at_ms: int
    seconds: int
    values: Mapping[str, float]

    def parts(self) -> Iterator[tuple[int, float]]:
        """The hours it lies in, in ms since 1970, with the share of it that lies in each."""
        ends_at_ms = self.starts_at_ms + self.seconds * 1000
        hour = self.starts_at_ms // HOUR_MS * HOUR_MS
        while hour < ends_at_ms:
            inside = min(ends_at_ms, hour + HOUR_MS) - max(self.starts_at_ms, hour)
            yield hour, inside / (self.seconds * 1000)
            hour += HOUR_MS


@dataclass(frozen=True, slots=True)
class ReportedEvent:
    """A sound event by the server's clock; `uuid` is the device as named, "" the node."""

    index: int
    at_ms: int
    kind: str
    phase: str
    uuid: str
    code: int | None
    detail: str
    ends_at_ms: int | None


@dataclass(frozen=True, slots=True)
class ReportWire:
    """A report after reading."""

    boot: int
    sequence: int
    version: str
    node: str
    offset_ms: int
    shift_ms: int
    status: Mapping[str, Any]
    devices: tuple[str, ...]
    readings: tuple[ReportRow, ...]
    node_readings: tuple[ReportRow, ...]
    events: tuple[ReportedEvent, ...]
    remarks: Remarks


def report_wire(body: bytes, at_ms: int) -> ReportWire:
    """The report with a remark for whatever could not be read.

    Refuses BatchUnreadable where it has no identity, BatchTooLarge over the limits.
    """
    document = decoded_object(body)
    remarks = Remarks()
    remarks.unknown_fields(document, REPORT, "")
    boot, sequence = (_identity_number(document, name) for name in ("boot", "sequence"))
    sent_at_ms = parse_nonnegative_integer(document.get("sent_at_ms"))
    if sent_at_ms is None:
        remarks.say(None, "sent_at_ms", "not a whole number")
    offset_ms = 0 if sent_at_ms is None else at_ms - sent_at_ms
    shift_ms = offset_ms if abs(offset_ms) > SKEW_MS else 0
    devices = _device_uuids(document.get("devices"), remarks)
    clock = _Clock(at_ms, shift_ms)
    agent = _object_at(document, "agent", remarks)
    return ReportWire(
        boot=boot,
        sequence=sequence,
        version=text_of(agent.get("version"))[:40],
        node=text_of(agent.get("node")),
        offset_ms=offset_ms,
        shift_ms=shift_ms,
        status=_object_at(document, "status", remarks),
        devices=devices,
        readings=_ReportRows("readings", READINGS, len(devices), clock, remarks).read(document),
        node_readings=_ReportRows("node_readings", NODE_READINGS, None, clock, remarks).read(
            document
        ),
        events=tuple(_sound_events(document.get("events"), devices, clock, remarks)),
        remarks=remarks,
    )


@dataclass(frozen=True, slots=True)
class _Clock:
    at_ms: int
    shift_ms: int

    def corrected(self, value: object) -> int | str:
        """The moment by the server's clock, or why it cannot be."""
        if type(value) is not int or not 0 <= value < LARGEST:
            return "not a whole number"
        moment_ms = value + self.shift_ms
        if moment_ms < oldest_ms(self.at_ms):
            return too_old_words()
        return "over 10 minutes ahead" if moment_ms > self.at_ms + AHEAD_MS else moment_ms


@dataclass(frozen=True, slots=True)
class _ReportRows:
    """One table of columns; `devices` is how many there are to point at, None for the node's."""

    table: str
    names: tuple[str, ...]
    devices: int | None
    clock: _Clock
    remarks: Remarks

    def read(self, document: Mapping[str, Any]) -> tuple[ReportRow, ...]:
        columns = _object_at(document, self.table, self.remarks)
        keys = ("starts_at_ms", "seconds", *(() if self.devices is None else ("device",)))
        self.remarks.unknown_fields(columns, (*keys, *self.names), f"{self.table}.")
        if not columns:
            return ()
        starts = columns.get("starts_at_ms")
        count = len(starts) if isinstance(starts, list) else 0
        if count > MOST_ROWS:
            raise BatchTooLarge(f"{count} rows of {self.table}; send at most {MOST_ROWS}")
        sound_columns = {
            name: self._sound_column(columns, name, count) for name in (*keys, *self.names)
        }
        if any(sound_columns[key] is None for key in keys):
            self.remarks.say(None, self.table, f"needs the columns {', '.join(keys)}")
            return ()
        rows = (self._sound_row(index, sound_columns) for index in range(count))
        return tuple(row for row in rows if row is not None)

    def _sound_column(self, columns: Mapping[str, Any], name: str, count: int) -> list[Any] | None:
        column = columns.get(name)
        if column is None:
            return None
        if isinstance(column, list) and len(column) == count:
            return column
        self.remarks.say(None, f"{self.table}.{name}", f"not a list of {count} cells")
        return None

    def _sound_row(self, index: int, columns: Mapping[str, list[Any] | None]) -> ReportRow | None:
        cells = {name: column[index] for name, column in columns.items() if column is not None}
        starts_at_ms = self.clock.corrected(cells["starts_at_ms"])
        if isinstance(starts_at_ms, str):
            self._refuse_row(index, "starts_at_ms", starts_at_ms)
            return None
        seconds = cells["seconds"]
        if not _is_length(seconds):
            reason = "not 10 to 300 whole seconds that divide an hour"
            self._refuse_row(index, "seconds", reason)
            return None
        device = cells.get("device")
        if self.devices is not None and not (type(device) is int and 0 <= device < self.devices):
            self._refuse_row(index, "device", "no such device in the report")
            return None
        values = dict(self._sound_values(index, cells, seconds))
        return ReportRow(index, device, starts_at_ms, seconds, values)

    def _sound_values(
        self, index: int, cells: Mapping[str, Any], seconds: int
    ) -> Iterator[tuple[str, float]]:
        for name in self.names:
            value = cells.get(name)
            if value is None:
                continue
            trouble = cell_trouble(name, value, seconds)
            if trouble is not None:
                self.remarks.say(index, f"{self.table}.{name}", trouble)
            else:
                yield name, float(value)

    def _refuse_row(self, index: int, name: str, reason: str) -> None:
        self.remarks.say(index, f"{self.table}.{name}", reason)


def _identity_number(document: Mapping[str, Any], name: str) -> int:
    value = parse_nonnegative_integer(document.get(name))
    if value is None:
        raise BatchUnreadable("is not a whole number from 0", field=name)
    return value


def _object_at(document: Mapping[str, Any], name: str, remarks: Remarks) -> Mapping[str, Any]:
    value = document.get(name)
    if isinstance(value, dict):
        return value
    if value is not None:
        remarks.say(None, name, "not an object")
    return {}


def _device_uuids(value: object, remarks: Remarks) -> tuple[str, ...]:
    if value is not None and not isinstance(value, list):
        remarks.say(None, "devices", "not a list")
    return tuple(text_of(uuid) for uuid in value[:MOST_ROWS]) if isinstance(value, list) else ()


def _is_length(seconds: object) -> bool:
    return (
        type(seconds) is int
        and SHORTEST_SECONDS <= seconds <= LONGEST_SECONDS
        and HOUR_MS // 1000 % seconds == 0
    )


def _sound_events(
    value: object, devices: tuple[str, ...], clock: _Clock, remarks: Remarks
) -> Iterator[ReportedEvent]:
    if not isinstance(value, list):
        if value is not None:
            remarks.say(None, "events", "not a list")
        return
    if len(value) > MOST_EVENTS:
        raise BatchTooLarge(f"{len(value)} events; send at most {MOST_EVENTS}")
    for index, item in enumerate(value):
        event = _sound_event(index, item, devices, clock)
        if isinstance(event, ReportedEvent):
            remarks.unknown_fields(item, EVENT, f"events[{index}].")
            yield event
        else:
            remarks.say(event.index, event.field, event.reason)


def _sound_event(
    index: int, item: object, devices: tuple[str, ...], clock: _Clock
) -> ReportedEvent | Ignored:
    if not isinstance(item, dict):
        return Ignored(index, "events", "not an object")
    at_ms = clock.corrected(item.get("at_ms"))
    if isinstance(at_ms, str):
        return Ignored(index, "events.at_ms", at_ms)
    kind, phase, device = text_of(item.get("kind"))[:60], item.get("phase"), item.get("device")
    if not kind:
        return Ignored(index, "events.kind", "missing")
    if phase not in PHASES:
        return Ignored(index, "events.phase", f"not one of {', '.join(PHASES)}")
    if device is not None and not (type(device) is int and 0 <= device < len(devices)):
        return Ignored(index, "events.device", "no such device in the report")
    ends_at_ms = parse_nonnegative_integer(item.get("ends_at_ms"))
    return ReportedEvent(
        index=index,
        at_ms=at_ms,
        kind=kind,
        phase=str(phase),
        uuid="" if device is None else devices[device],
        code=parse_nonnegative_integer(item.get("code")),
        detail=text_of(item.get("detail")),
        ends_at_ms=None if ends_at_ms is None else ends_at_ms + clock.shift_ms,
    )
