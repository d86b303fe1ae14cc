"""A job event as JSON: every field checked by name, then told as a statement."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import msgspec

from apps.economics.job_fold import TEXTS
from apps.economics.job_names import name_faults
from apps.economics.jobs import AllocationRecord, EventKind, JobEventIn, JobSource, JobStatement
from apps.economics.machines import printable_text

MOST_LABELS = 32
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
GPUS_UNKNOWN = (
    "is left out: how many GPUs it holds is unknown, and what no other job holds of its node is not "
    "called unallocated; say 0 where it holds none"
)
MOST_AHEAD = timedelta(minutes=10)
"""How far a sender's clock may be ahead of ours."""

Named: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=200)] | None
LongText: TypeAlias = Annotated[str, msgspec.Meta(max_length=1_000)] | None
Moment: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]

SHARE = re.compile(r"^(?:(\d{1,4})/(\d{1,4})|\d?\.\d{1,9}|1)$")
FAULT = re.compile(r"^(?P<message>.*?)(?: - at `\$\.?(?P<path>[^`]*)`)?$", re.DOTALL)
UNKNOWN = re.compile(r"^Object contains unknown field `(?P<name>.*)`$", re.DOTALL)
MISSING = re.compile(r"^Object missing required field `(?P<name>.*)`$", re.DOTALL)


class AllocationIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True, rename=None):
    """GPUs of one node: `gpus` of them, or `share` ("1/4", "0.46") of each; or their UUIDs too.

    Without `gpus` there are as many as `devices`; a `share` alone is of one. Of neither nobody knows.
    """

    node: Named
    gpus: Count | None = None
    share: str | None = None
    devices: Annotated[tuple[Named, ...], msgspec.Meta(max_length=1_024)] | None = None
    cpus: Count | None = None


class EventIn(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One event of one attempt of a job; what is left out or null is not said."""

    cluster: Named
    raw_id: Named
    event: Literal["submit", "start", "update", "end"]
    at: Moment
    source: Literal["accounting", "scheduler", "agent"] = "scheduler"
    submitted_at: Moment | None = None
    restart_count: Count | None = None
    array_id: Text = None
    het_id: Text = None
    name: LongText = None
    user: Text = None
    account: Text = None
    partition: Text = None
    qos: Text = None
    namespace: Text = None
    labels: dict[Named, Annotated[str, msgspec.Meta(max_length=200)]] | None = None
    state: Text = None
    exit_code: Annotated[str, msgspec.Meta(max_length=40)] | int | None = None
    cpus: Count | None = None
    run: Text = None
    allocations: Annotated[tuple[AllocationIn, ...], msgspec.Meta(max_length=10_000)] | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an event is not taken: the field, and its place in a bulk.

    `is_unread`: the field is a name that no table of the door has; `example` is an id of what had it.
    """

    field: str
    message: str
    row: int | None = None
    is_unread: bool = False
    example: str = ""

    def document(self) -> dict[str, Any]:
        """As it stands in a problem document."""
        return {"field": self.field, "row": self.row, "message": self.message}


class BodyUnreadable(ValueError):
    """A body of which nothing is kept; `errors` says where and why.

    Its words begin with what it `asks` for, else with the field, or the `noun` of the whole.
    """

    asks: ClassVar[str] = ""
    noun: ClassVar[str] = "body"

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"{self.asks or fault.field or self.noun}: {fault.message}")
        self.fault = fault
        self.errors = [fault.document()]


class EventUnreadable(BodyUnreadable):
    """An event that is not what the wire asks for."""

    noun = "event"


def read_event(body: bytes | msgspec.Raw, *, at: datetime, row: int | None = None) -> JobEventIn:
    """The event that this JSON states, received at `at`; refuses EventUnreadable."""
    try:
        event = _EVENT.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as refused:
        raise EventUnreadable(fault_of(str(refused), row)) from refused
    for field, message in _event_faults(event, at):
        raise EventUnreadable(Fault(field, message, row))
    read = JobEventIn(event.cluster, event.raw_id, _statement_of_event(event))
    for field, message in name_faults(read):
        raise EventUnreadable(Fault(field, message, row))
    return read


def remarks_on(event: JobEventIn, row: int | None = None) -> list[Fault]:
    """Return what a good event leaves out that its costs depend on, by field."""
    return [
        Fault(f"allocations[{place}].gpus", GPUS_UNKNOWN, row, is_unread=True)
        for place, one in enumerate(event.statement.allocations or ())
        if one.gpus_unknown
    ]


_EVENT = msgspec.json.Decoder(EventIn)


def fault_of(text: str, row: int | None = None) -> Fault:
    """Turn the decoder's words into a field and a message."""
    fault_match = FAULT.match(text)
    message, path = (
        (fault_match["message"], fault_match["path"] or "") if fault_match else (text, "")
    )
    for pattern, words in ((UNKNOWN, "unknown field"), (MISSING, "is required")):
        named = pattern.match(message)
        if named:
            return Fault(f"{path}.{named['name']}".lstrip("."), words, row)
    return Fault(path, message, row)


def time_faults(field: str, moment: datetime, at: datetime) -> Iterator[tuple[str, str]]:
    """Why a moment that is told at `at` cannot be, by the field that has it."""
    if moment < EARLIEST:
        yield field, f"{moment.isoformat()} is before {EARLIEST:%Y-%m-%d}"
    if moment > at + MOST_AHEAD:
        yield field, f"{moment.isoformat()} is ahead of the server's clock"


def _event_faults(event: EventIn, at: datetime) -> Iterator[tuple[str, str]]:
    for name in ("at", "submitted_at"):
        moment: datetime | None = getattr(event, name)
        if moment is not None:
            yield from time_faults(name, moment, at)
    if event.labels is not None and len(event.labels) > MOST_LABELS:
        yield "labels", f"{len(event.labels)} labels are more than {MOST_LABELS}"
    for place, allocation in enumerate(event.allocations or ()):
        for name, message in _allocation_faults(allocation):
            yield f"allocations[{place}].{name}", message
    yield from _nul_faults(event)


def _allocation_faults(one: AllocationIn) -> Iterator[tuple[str, str]]:
    if one.share is not None and _read_share(one.share) is None:
        yield "share", f"{one.share!r} is not a part of a GPU such as 1/4 or 0.46"
    if one.devices is not None and one.gpus not in (None, len(one.devices)):
        yield "devices", f"{len(one.devices)} devices are named, gpus says {one.gpus}"


def _nul_faults(event: EventIn) -> Iterator[tuple[str, str]]:
    # Postgres keeps no NUL in a text.
    if b"\\u0000" in msgspec.json.encode(event):
        for name in event.__struct_fields__:
            if b"\\u0000" in msgspec.json.encode(getattr(event, name)):
                yield name, "holds a NUL character, which no text may"


def _read_share(text: str) -> Fraction | None:
    if not SHARE.match(text) or text.endswith(("/0", "/00", "/000", "/0000")):
        return None
    share = Fraction(text)
    return share if 0 < share <= 1 else None


def _statement_of_event(event: EventIn) -> JobStatement:
    values = {name: getattr(event, name) for name in TEXTS}
    texts: dict[str, Any] = {
        n: None if t in {None, ""} else printable_text(str(t)) for n, t in values.items()
    }
    return JobStatement(
        kind=EventKind[event.event.upper()],
        at=event.at.astimezone(UTC),
        source=JobSource[event.source.upper()],
        submitted_at=None if event.submitted_at is None else event.submitted_at.astimezone(UTC),
        restart_count=event.restart_count,
        state=_first_state_word(event.state),
        **texts,
        cpus=None if event.cpus is None else Fraction(event.cpus),
        run=printable_text(event.run or "") or None,
        labels=tuple(sorted((event.labels or {}).items())),
        allocations=_allocation_records(event.allocations),
    )


def _first_state_word(text: str | None) -> str | None:
    """Slurm's `CANCELLED by 1001` is CANCELLED."""
    words = (text or "").upper().split()
    return words[0].rstrip("+") if words else None


def _allocation_records(
    allocations: Sequence[AllocationIn] | None,
) -> tuple[AllocationRecord, ...] | None:
    if allocations is None:
        return None
    return tuple(_allocation_record(one) for one in allocations)


def _allocation_record(one: AllocationIn) -> AllocationRecord:
    gpus = _stated_gpus(one)
    return AllocationRecord(
        node=one.node,
        gpus=Fraction(gpus or 0),
        cpus=None if one.cpus is None else Fraction(one.cpus),
        share=None if one.share is None else _read_share(one.share),
        devices=one.devices,
        gpus_unknown=gpus is None,
    )


def _stated_gpus(one: AllocationIn) -> int | None:
    """How many GPUs an allocation is of; None where nothing of it says a number."""
    if one.gpus is not None:
        return one.gpus
    if one.devices is not None:
        return len(one.devices)
    return None if one.share is None else 1
