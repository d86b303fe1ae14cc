"""The TOML file that says how one CSV of jobs is read; docs/guides/import-jobs.md lists every key."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from fractions import Fraction
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from apps.economics.hours import EPOCH
from apps.economics.purchase import PurchaseOption
from apps.workloads.providers import moments
from apps.workloads.providers.job_record import FieldUnreadable

SECONDS_PER_UNIT = {
    "us": Fraction(1, 1_000_000),
    "ms": Fraction(1, 1_000),
    "s": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3_600),
}
AMOUNT_PER_UNIT = {"count": Fraction(1), "milli": Fraction(1, 1_000)}
SHARE_PER_UNIT = {
    "fraction": Fraction(1),
    "percent": Fraction(1, 100),
    "milli": Fraction(1, 1_000),
}
COLUMNS = frozenset(
    {
        "raw_id", "restart_count", "submitted_at", "started_at", "ended_at", "duration", "cluster",
        "state", "exit_code", "user", "account", "partition", "qos", "name", "array_id", "node",
        "gpus", "gpu_share", "cpus",
    }
)  # fmt: skip
STRPTIME_MARK = "%"


class MappingRefused(ValueError):
    """The mapping file says something that cannot be followed; the message names the key."""


class TimeFormat(StrEnum):
    """How a table writes its times."""

    EPOCH = "epoch"
    ISO = "iso"
    PATTERN = "pattern"


@dataclass(frozen=True, slots=True)
class Times:
    """How to read a time: a number of `unit` after `base`, an ISO text, or a strptime pattern."""

    form: TimeFormat = TimeFormat.ISO
    pattern: str = ""
    unit_seconds: Fraction = Fraction(1)
    duration_unit_seconds: Fraction = Fraction(1)
    base: datetime = EPOCH
    zone: tzinfo = UTC


class WithoutStart(StrEnum):
    """The meaning of a row without a start."""

    NEVER_STARTED = "never_started"
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Clip:
    """Nothing before `starts_at` or after `ends_at` counts; a row without an end gets `ends_at`.

    A row without a start never started, or ran already when the window began: `without_start` says
    which, by the file's own word for its state where only some do.
    """

    starts_at: datetime | None = None
    ends_at: datetime | None = None
    without_start: WithoutStart | Mapping[str, WithoutStart] = WithoutStart.NEVER_STARTED

    def ran_before(self, state: str) -> bool:
        """Whether a row of this state without a start ran when the window began."""
        treatment = self.without_start
        if not isinstance(treatment, WithoutStart):
            treatment = treatment.get(state, WithoutStart.NEVER_STARTED)
        return treatment is WithoutStart.RUNNING


class PeakOfUse(StrEnum):
    """Capacity found from the table itself."""

    PEAK = "peak"


@dataclass(frozen=True, slots=True)
class CapacityColumn:
    """Capacity written in a column, valid from its row's start."""

    name: str


Capacity = int | CapacityColumn | PeakOfUse


@dataclass(frozen=True, slots=True)
class PoolAsNode:
    """A pool without node names: one node of this name, that has so many GPUs or cores.

    `ends_at` None: it still costs money.
    """

    name: str
    capacity: Capacity | None = None
    unit: str = "gpu"
    purchase_option: PurchaseOption = PurchaseOption.OWNED
    provider: str = "unknown"
    region: str = ""
    instance_type: str = ""
    gpu_model: str = ""
    ends_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class JobMapping:
    """Everything the reader of a job table must know.

    `columns` and `labels` go from our word to the file's column; `units` from an amount's name to
    what one of it is worth. `no_gpus`: none of its jobs holds any, whatever it leaves out.
    """

    columns: Mapping[str, str]
    labels: Mapping[str, str]
    states: Mapping[str, str]
    units: Mapping[str, Fraction]
    times: Times
    clip: Clip
    pool: PoolAsNode | None
    cluster: str
    delimiter: str
    empty: frozenset[str]
    no_gpus: bool = False

    @property
    def has_no_gpus(self) -> bool:
        """Whether no row can hold a GPU: it is said, or the pool is measured in cores."""
        return self.no_gpus or (self.pool is not None and self.pool.unit == "core")


def read_mapping(text: str) -> JobMapping:
    """Read the TOML text; refuses unknown keys by name."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as broken:
        raise MappingRefused(f"not TOML: {broken}") from None
    return mapping_of(tables)


def mapping_of(tables: Mapping[str, object]) -> JobMapping:
    """The mapping that these tables say; refuses unknown keys by name."""
    keys = _Keys("", dict(tables))
    columns = keys.texts("columns")
    mapping = JobMapping(
        columns=columns,
        labels=keys.texts("labels"),
        states=keys.texts("states"),
        units=_read_units(keys.table("units")),
        times=_read_times(keys.table("times")),
        clip=_read_clip(keys.table("window")),
        pool=_read_pool(keys.table("pool")),
        cluster=keys.text("cluster", ""),
        delimiter=keys.text("delimiter", ","),
        empty=frozenset(keys.list_of_texts("empty", moments.NO_VALUE)),
        no_gpus=keys.flag("no_gpus"),
    )
    keys.nothing_left()
    _check_columns(mapping)
    return mapping


def _check_columns(mapping: JobMapping) -> None:
    columns = mapping.columns
    unknown = sorted(columns.keys() - COLUMNS)
    if unknown:
        raise MappingRefused(
            f"columns.{unknown[0]}: no such key; known are {_listed_names(COLUMNS)}"
        )
    for needed in ("raw_id", "started_at"):
        if needed not in columns:
            raise MappingRefused(f"columns.{needed}: is needed")
    if ("node" in columns) == (mapping.pool is not None):
        raise MappingRefused("give either columns.node or [pool]: where a job ran, or one pool")
    if mapping.pool is not None and "cluster" in columns:
        raise MappingRefused("columns.cluster: a [pool] is in one cluster; give cluster instead")
    if mapping.no_gpus and "gpus" in columns:
        raise MappingRefused("no_gpus: columns.gpus says how many; give one of the two")
    if len(mapping.delimiter) != 1:
        raise MappingRefused("delimiter: must be one character")


def _read_units(keys: "_Keys") -> dict[str, Fraction]:
    units = {
        "gpus": keys.choice("gpus", AMOUNT_PER_UNIT, "count"),
        "gpu_share": keys.choice("gpu_share", SHARE_PER_UNIT, "fraction"),
        "cpus": keys.choice("cpus", AMOUNT_PER_UNIT, "count"),
    }
    keys.nothing_left()
    return units


def _read_times(keys: "_Keys") -> Times:
    form = keys.text("format", "iso")
    is_pattern = STRPTIME_MARK in form
    if not is_pattern and form not in (TimeFormat.ISO, TimeFormat.EPOCH):
        raise MappingRefused(f"times.format: {form!r} is not iso, epoch or a pattern with %")
    times = Times(
        form=TimeFormat.PATTERN if is_pattern else TimeFormat(form),
        pattern=form if is_pattern else "",
        unit_seconds=keys.choice("unit", SECONDS_PER_UNIT, "s"),
        duration_unit_seconds=keys.choice("duration_unit", SECONDS_PER_UNIT, "s"),
        base=keys.moment("base") or EPOCH,
        zone=keys.zone("zone"),
    )
    keys.nothing_left()
    return times


def _read_clip(keys: "_Keys") -> Clip:
    clip = Clip(keys.moment("from"), keys.moment("to"), _without_start(keys.take("without_start")))
    keys.nothing_left()
    if clip.starts_at and clip.ends_at and clip.starts_at >= clip.ends_at:
        raise MappingRefused("window.to: must be after window.from")
    if clip.starts_at is None and clip.without_start is not WithoutStart.NEVER_STARTED:
        raise MappingRefused("window.without_start: needs window.from, as rows would start there")
    return clip


def _without_start(value: object) -> WithoutStart | Mapping[str, WithoutStart]:
    if isinstance(value, dict):
        return {
            state: _read_without_start(f"window.without_start.{state}", state_value)
            for state, state_value in value.items()
        }
    return (
        WithoutStart.NEVER_STARTED
        if value is None
        else _read_without_start("window.without_start", value)
    )


def _read_without_start(key: str, value: object) -> WithoutStart:
    if value not in list(WithoutStart):
        raise MappingRefused(f"{key}: {value!r} is not one of {_listed_names(WithoutStart)}")
    return WithoutStart(str(value))


def _read_pool(keys: "_Keys") -> PoolAsNode | None:
    if keys.is_empty:
        return None
    pool = PoolAsNode(
        name=keys.text("name", ""),
        capacity=_read_capacity(keys.take("capacity")),
        unit=keys.text("unit", "gpu"),
        purchase_option=_purchase_option(keys.text("purchase_option", PurchaseOption.OWNED)),
        provider=keys.text("provider", "unknown"),
        region=keys.text("region", ""),
        instance_type=keys.text("instance_type", ""),
        gpu_model=keys.text("gpu_model", ""),
        ends_at=keys.moment("ends_at"),
    )
    keys.nothing_left()
    if not pool.name:
        raise MappingRefused("pool.name: is needed")
    if pool.unit not in ("gpu", "core"):
        raise MappingRefused(f"pool.unit: {pool.unit!r} is not gpu or core")
    return pool


def _purchase_option(text: str) -> PurchaseOption:
    try:
        return PurchaseOption(text)
    except ValueError:
        raise MappingRefused(
            f"pool.purchase_option: {text!r} is not one of {_listed_names(PurchaseOption)}"
        ) from None


def _read_capacity(value: object) -> Capacity | None:
    match value:
        case None:
            return None
        case bool():
            pass
        case int() if value >= 1:
            return value
        case "peak":
            return PeakOfUse.PEAK
        case {"column": str(column), **others} if not others:
            return CapacityColumn(column)
    raise MappingRefused('pool.capacity: give a number, "peak" or { column = "…" }')


@dataclass
class _Keys:
    """One TOML table; what has been asked for is taken out, the rest is unknown."""

    name: str
    rest: dict[str, object]

    @property
    def is_empty(self) -> bool:
        return not self.rest

    def path(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key

    def take(self, key: str) -> object:
        return self.rest.pop(key, None)

    def nothing_left(self) -> None:
        for key in self.rest:
            raise MappingRefused(f"{self.path(key)}: no such key")

    def table(self, key: str) -> "_Keys":
        value = self.take(key)
        if value is None:
            return _Keys(self.path(key), {})
        if not isinstance(value, dict):
            raise MappingRefused(f"{self.path(key)}: must be a table")
        return _Keys(self.path(key), dict(value))

    def text(self, key: str, default: str) -> str:
        value = self.take(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise MappingRefused(f"{self.path(key)}: must be text")
        return value

    def flag(self, key: str) -> bool:
        value = self.take(key)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise MappingRefused(f"{self.path(key)}: must be true or false")
        return value

    def texts(self, key: str) -> dict[str, str]:
        table = self.table(key)
        return {name: table.text(name, "") for name in list(table.rest)}

    def list_of_texts(self, key: str, default: frozenset[str]) -> frozenset[str]:
        value = self.take(key)
        if value is None:
            return default
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise MappingRefused(f"{self.path(key)}: must be a list of texts")
        return frozenset(value) | {""}

    def choice(self, key: str, choices: Mapping[str, Fraction], default: str) -> Fraction:
        chosen = self.text(key, default)
        if chosen not in choices:
            raise MappingRefused(
                f"{self.path(key)}: {chosen!r} is not one of {_listed_names(choices)}"
            )
        return choices[chosen]

    def zone(self, key: str) -> tzinfo:
        name = self.text(key, "UTC")
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError):
            raise MappingRefused(f"{self.path(key)}: no time zone {name!r}") from None

    def moment(self, key: str) -> datetime | None:
        """A TOML date-time or an ISO text; UTC where it names no zone."""
        value = self.take(key)
        if isinstance(value, datetime):
            return moments.in_utc(value, zone=UTC, field_name=self.path(key))
        if value is not None and not isinstance(value, str):
            raise MappingRefused(f"{self.path(key)}: must be a time")
        try:
            return moments.read_moment(value or "", zone=UTC, field_name=self.path(key))
        except FieldUnreadable as unreadable:
            raise MappingRefused(str(unreadable)) from None


def _listed_names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
