"""Reading a batch some of whose cells are not of their type: what can be read is kept.

Slower than the typed reading and only run when that fails, which a sound agent never causes.
"""

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from apps.economics.machines import ODD, is_plain, plain
from apps.telemetry.actions.window_errors import UNKNOWN_FIELD, Remark, refused_indices
from apps.telemetry.actions.wire import (
    COLUMNS,
    HOLDER,
    MAX_TEXT,
    AgentIn,
    BatchIn,
    BatchUnreadable,
    DeviceIn,
    WindowsIn,
    Wire,
    decoded_object,
    device_texts,
    refuse_long_lists,
    window_count,
    wrong_devices,
)


class _NotStorable(ValueError):
    """A text with a character that Postgres does not store."""


REQUIRED = ("device", "starts_at_ms", "seconds")
LARGEST_WHOLE = 2**62
NO_SUCH_KIND = "not one of gpu, mig"


def tolerant_wire(body: bytes) -> Wire:
    """The batch with a remark for whatever could not be read.

    Refuses BatchUnreadable where nothing can be kept: no JSON, no identity, no windows.
    """
    document = decoded_object(body)
    remarks = _unknown_fields(document, BatchIn, "")
    sent_at_ms = _sent_at_ms(document.get("sent_at_ms"), remarks)
    devices = _readable_devices(document, remarks)
    holders = _readable_holders(document, remarks)
    windows = _as_object(document.get("windows"), "windows")
    remarks.extend(_unknown_fields(windows, WindowsIn, "windows."))
    columns = [_window_column(name, windows, remarks) for name in COLUMNS]
    count = window_count(columns)
    refused = np.zeros(count, np.bool_)
    cells = np.full((len(COLUMNS), count), np.nan)
    for row, (name, column) in enumerate(zip(COLUMNS, columns, strict=True)):
        if column is not None:
            cells[row], wrong = _readable_cells(name, column)
            remarks.extend(wrong)
            refused[refused_indices(wrong)] = True
    if columns[HOLDER] is None:
        cells[HOLDER] = holders.index("") if "" in holders else np.nan
    return Wire(
        boot=_require_integer(document, "boot"),
        sequence=_require_integer(document, "sequence"),
        sent_at_ms=sent_at_ms,
        agent=_readable_agent(document.get("agent"), remarks),
        devices=devices,
        holders=holders,
        cells=cells,
        refused=refused,
        remarks=tuple(remarks),
    )


def _as_object(value: object, field: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BatchUnreadable("is not an object", field=field)
    return value


def _list_at(document: dict[str, Any], name: str) -> list[object]:
    value = document.get(name)
    if not isinstance(value, list):
        raise BatchUnreadable("is not a list", field=name)
    return value


def _require_integer(document: dict[str, Any], name: str) -> int:
    value = document.get(name)
    if type(value) is not int or not 0 <= value < LARGEST_WHOLE:
        raise BatchUnreadable("is not a whole number from 0", field=name)
    return value


def _sent_at_ms(value: object, remarks: list[Remark]) -> int | None:
    if type(value) is int and 0 <= value < LARGEST_WHOLE:
        return value
    remarks.append(Remark(None, "sent_at_ms", "not a whole number", kept=True))
    return None


def _readable_agent(value: object, remarks: list[Remark]) -> AgentIn:
    if value is None:
        return AgentIn()
    try:
        agent = msgspec.convert(value, AgentIn)
        _storable_text(agent.version + agent.node)
    except (msgspec.ValidationError, _NotStorable, UnicodeEncodeError):
        reason = "not an object of version, source and node"
        remarks.append(Remark(None, "agent", reason, kept=True))
        return AgentIn()
    return agent


def _unknown_fields(
    fields: dict[str, Any], struct: type[msgspec.Struct], prefix: str
) -> list[Remark]:
    unknown = fields.keys() - set(struct.__struct_fields__)
    return [
        Remark(None, f"{prefix}{name[:MAX_TEXT]!r}", UNKNOWN_FIELD, kept=True)
        for name in sorted(unknown)[:20]
    ]


def _readable_devices(
    document: dict[str, Any], remarks: list[Remark]
) -> tuple[DeviceIn | None, ...]:
    listed = _list_at(document, "devices")
    refuse_long_lists(listed, ())
    devices = [_readable_device(index, item, remarks) for index, item in enumerate(listed)]
    places = [index for index, device in enumerate(devices) if device is not None]
    for place, (field, reason) in wrong_devices([device for device in devices if device]).items():
        index = places[place]
        remarks.append(Remark(None, f"devices[{index}].{field}", reason, kept=False))
        devices[index] = None
    return tuple(devices)


def _readable_device(index: int, value: object, remarks: list[Remark]) -> DeviceIn | None:
    where = f"devices[{index}]"
    if isinstance(value, dict):
        remarks.extend(_unknown_fields(value, DeviceIn, f"{where}."))
        field_names = DeviceIn.__struct_fields__
        value = {name: cell for name, cell in value.items() if name in field_names}
    try:
        device = msgspec.convert(value, DeviceIn)
        _storable_text(
            "".join(filter(None, (device.uuid, device.model, device.parent, device.profile)))
        )
    except msgspec.ValidationError as trouble:
        reason, _, path = str(trouble).partition(" - at `$")
        if reason.startswith("Invalid enum value"):
            reason = NO_SUCH_KIND  # what was sent instead is no reason that could be counted
        remarks.append(Remark(None, where + path.rstrip("`"), reason, kept=False))
        return None
    except (_NotStorable, UnicodeEncodeError):
        remarks.append(Remark(None, where, "not Unicode text", kept=False))
        return None
    if not all(map(is_plain, device_texts(device))):
        remarks.append(Remark(None, where, ODD, kept=False))
        return None
    return device


def _readable_holders(document: dict[str, Any], remarks: list[Remark]) -> tuple[str | None, ...]:
    if "holders" not in document:
        return ("",)
    listed = _list_at(document, "holders")
    refuse_long_lists((), listed)
    return tuple(_readable_holder(index, item, remarks) for index, item in enumerate(listed))


def _readable_holder(index: int, value: object, remarks: list[Remark]) -> str | None:
    try:
        if isinstance(value, str) and len(value) <= MAX_TEXT:
            text = plain(_storable_text(value))
            if text != value:
                remarks.append(Remark(None, f"holders[{index}]", ODD, kept=True))
            return text
    except (_NotStorable, UnicodeEncodeError):
        pass
    reason = f"not a text of at most {MAX_TEXT} characters"
    remarks.append(Remark(None, f"holders[{index}]", reason, kept=False))
    return None


def _storable_text(text: str) -> str:
    """Refuses NUL and half a surrogate pair, which JSON can escape and Postgres does not store."""
    text.encode()
    if "\0" in text:
        raise _NotStorable(text)
    return text


def _window_column(
    name: str, windows: dict[str, Any], remarks: list[Remark]
) -> list[float | None] | None:
    value = windows.get(name)
    if isinstance(value, list):
        return value
    if name in REQUIRED:
        raise BatchUnreadable("is not a list", field=f"windows.{name}")
    if value is not None:
        remarks.append(Remark(None, f"windows.{name}", "not a list", kept=True))
    return None


def _readable_cells(name: str, column: Sequence[object]) -> tuple[list[float], list[Remark]]:
    values: list[float] = []
    wrong: list[Remark] = []
    for index, cell in enumerate(column):
        value = math.nan
        if type(cell) is int or type(cell) is float:
            value = float(cell)
            if not math.isfinite(value):
                wrong.append(Remark(index, name, "not a finite number", kept=False))
                value = math.nan
        elif cell is not None:
            wrong.append(Remark(index, name, "not a number", kept=False))
        values.append(value)
    return values, wrong
