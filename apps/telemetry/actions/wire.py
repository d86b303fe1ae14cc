"""A batch as it comes over the wire: its shape, and reading it when every cell is of its type."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from apps.economics.machines import is_plain
from apps.telemetry.actions.window_errors import Remark

FORMAT = 1
MAX_WINDOWS = 100_000
# A node has some sixteen GPUs of seven slices each, and a process of a job or two on each of them.
MAX_DEVICES = 1_024
MAX_HOLDERS = 10_000
MAX_TEXT = 512
# The one way to bring NUL into a JSON text; Postgres stores none.
ESCAPED_NUL = rb"\u0000"

# The row of each column in `Wire.cells`.
DEVICE, HOLDER, START, SECONDS, OBSERVED, WORKED, SM, TENSOR, DRAM, ENERGY, MEMORY = range(11)
COLUMNS = (
    "device",
    "holder",
    "starts_at_ms",
    "seconds",
    "observed_seconds",
    "worked_seconds",
    "sm_ratio",
    "tensor_ratio",
    "dram_ratio",
    "energy_joules",
    "memory_used_bytes",
)

Cells = NDArray[np.float64]
Column = list[float | None]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TEXT)]
Whole = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]
Slices = Annotated[int, msgspec.Meta(ge=1, le=64)]


class BatchUnreadable(Exception):
    """Nothing of the body can be kept; `errors` name each field that stands in the way."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.errors = [{"field": field, "row": None, "message": message}]


class BatchTooLarge(Exception):
    """The body, inflated or not, or its number of windows is over the limit it names."""


class NodeOfAnotherToken(Exception):
    """A refusal: what was sent names another node than the token's: two machines use one token."""

    def __init__(self, named: str, node_name: str) -> None:
        super().__init__(
            f"this token is of node {node_name}, and the machine that sends with it is {named!r}: "
            "each node needs a token of its own; a join token gives every node one"
        )


class DeviceIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A device as its agent names it; of a MIG slice also whose, and how large."""

    uuid: Text
    model: Annotated[str, msgspec.Meta(max_length=MAX_TEXT)] = ""
    index: Annotated[int, msgspec.Meta(ge=0, lt=2**31)] | None = None
    kind: Literal["gpu", "mig"] = "gpu"
    parent: Text | None = None
    profile: Annotated[str, msgspec.Meta(max_length=MAX_TEXT)] | None = None
    compute_slices: Slices | None = None
    memory_slices: Slices | None = None
    replicas: Annotated[int, msgspec.Meta(ge=1, le=1024)] | None = None


class AgentIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The agent that sent a batch. Whose word counts more is decided by the enrolment, not by `source`.

    `node` is what its machine is called, where it is sure of that: the token must be this node's.
    """

    version: Annotated[str, msgspec.Meta(max_length=MAX_TEXT)] = ""
    source: str = ""
    node: Annotated[str, msgspec.Meta(max_length=MAX_TEXT)] = ""


class WindowsIn(msgspec.Struct, forbid_unknown_fields=True):
    """Windows by column; whole numbers too come as floats, which hold them exactly to 2**53."""

    device: Column
    starts_at_ms: Column
    seconds: Column
    holder: Column | None = None
    observed_seconds: Column | None = None
    worked_seconds: Column | None = None
    sm_ratio: Column | None = None
    tensor_ratio: Column | None = None
    dram_ratio: Column | None = None
    energy_joules: Column | None = None
    memory_used_bytes: Column | None = None


class BatchIn(msgspec.Struct, forbid_unknown_fields=True):
    """The whole body."""

    boot: Whole
    sequence: Whole
    sent_at_ms: Whole
    devices: list[DeviceIn]
    windows: WindowsIn
    agent: AgentIn = AgentIn()
    holders: list[Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]] = msgspec.field(
        default_factory=lambda: [""]
    )
    format: Literal[1] = 1


@dataclass(frozen=True, slots=True)
class Wire:
    """A batch after reading: `cells` is one row a column, NaN where unknown, one column a window.

    A device or holder that could not be read is None; `remarks` say what was wrong with cells,
    and `refused` marks the windows they cost.
    """

    boot: int
    sequence: int
    sent_at_ms: int | None
    agent: AgentIn
    devices: tuple[DeviceIn | None, ...]
    holders: tuple[str | None, ...]
    cells: Cells
    refused: NDArray[np.bool_]
    remarks: tuple[Remark, ...] = ()


_DECODER = msgspec.json.Decoder(BatchIn)


def decoded_object(body: bytes) -> dict[str, Any]:
    """The JSON object of a body whose cells need not be of their type.

    Refuses BatchUnreadable of what is no JSON, no object or of another format.
    """
    try:
        document = json.loads(body.decode(), parse_int=_parse_json_integer)
    except (ValueError, RecursionError) as trouble:
        raise BatchUnreadable(f"is not JSON: {trouble}") from trouble
    if not isinstance(document, dict):
        raise BatchUnreadable("is not an object")
    if document.get("format", FORMAT) != FORMAT:
        raise BatchUnreadable(f"is not {FORMAT}, the one format this server reads", field="format")
    return document


def _parse_json_integer(text: str) -> int | float:
    # Python refuses to make an int of 4,300 digits; as a float it is infinite and refused by cell.
    return int(text) if len(text) < 32 else float(text)


def wire(body: bytes) -> Wire | None:
    """The batch, or None when a cell, device or holder is not of its type: read it tolerantly.

    Refuses BatchUnreadable for columns of unequal length and BatchTooLarge.
    """
    if ESCAPED_NUL in body:
        return None
    try:
        batch = _DECODER.decode(body)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    refuse_long_lists(batch.devices, batch.holders)
    if wrong_devices(batch.devices) or not _are_plain(batch):
        return None
    columns = [getattr(batch.windows, name) for name in COLUMNS]
    count = window_count(columns)
    cells = np.full((len(COLUMNS), count), np.nan)
    for row, column in enumerate(columns):
        if column is not None:
            cells[row] = np.array(column, np.float64)
    if batch.windows.holder is None:
        cells[HOLDER] = batch.holders.index("") if "" in batch.holders else np.nan
    return Wire(
        boot=batch.boot,
        sequence=batch.sequence,
        sent_at_ms=batch.sent_at_ms,
        agent=batch.agent,
        devices=tuple(batch.devices),
        holders=tuple(batch.holders),
        cells=cells,
        refused=np.zeros(count, np.bool_),
    )


def _are_plain(batch: BatchIn) -> bool:
    """Whether all names are: most are looked at in one piece."""
    names = [*batch.holders, *(text for device in batch.devices for text in device_texts(device))]
    return is_plain("".join(names))


def device_texts(device: DeviceIn) -> tuple[str, ...]:
    """The names by which a device is shown."""
    return device.uuid, device.model, device.parent or "", device.profile or ""


def window_count(columns: list[Column | None]) -> int:
    """The length all given columns share. Refuses BatchUnreadable and BatchTooLarge."""
    lengths = {
        name: len(column)
        for name, column in zip(COLUMNS, columns, strict=True)
        if column is not None
    }
    count = lengths["device"]
    for name, length in lengths.items():
        if length != count:
            raise BatchUnreadable(
                f"has {length} cells where device has {count}", field=f"windows.{name}"
            )
    if not count:
        raise BatchUnreadable("holds no windows", field="windows")
    if count > MAX_WINDOWS:
        raise BatchTooLarge(f"{count} windows in one batch; send at most {MAX_WINDOWS}")
    return count


def refuse_long_lists(devices: Sequence[object], holders: Sequence[object]) -> None:
    """Refuses BatchTooLarge where they would become more rows than any node has use for."""
    if len(devices) > MAX_DEVICES:
        raise BatchTooLarge(
            f"{len(devices)} devices in one batch; a node has at most {MAX_DEVICES}"
        )
    if len(holders) > MAX_HOLDERS:
        raise BatchTooLarge(f"{len(holders)} holders in one batch; send at most {MAX_HOLDERS}")


def wrong_devices(devices: Sequence[DeviceIn]) -> dict[int, tuple[str, str]]:
    """The field and the reason for each device, by index, that cannot be what it says."""
    wrong: dict[int, tuple[str, str]] = {}
    devices_by_uuid: dict[str, DeviceIn] = {}
    for index, device in enumerate(devices):
        if device.uuid in devices_by_uuid:
            wrong[index] = ("uuid", "named twice in one batch")
        elif (device.kind == "mig") != (device.parent is not None):
            wrong[index] = ("parent", "a MIG slice names its GPU, and only a slice does")
        devices_by_uuid.setdefault(device.uuid, device)
    for index, device in enumerate(devices):
        if (
            device.parent
            and (parent := devices_by_uuid.get(device.parent))
            and parent.kind == "mig"
        ):
            wrong[index] = ("parent", "names a slice, not a GPU")
    return wrong
