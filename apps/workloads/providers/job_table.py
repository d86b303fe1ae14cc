"""Reads any CSV of jobs, one row a job, by a mapping."""

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any

from apps.economics import node_lists
from apps.economics.jobs import TERMINAL_STATES
from apps.files.lines import CsvRows
from apps.workloads.providers import moments
from apps.workloads.providers.amounts import read_amount
from apps.workloads.providers.job_mapping import (
    CapacityColumn,
    JobMapping,
    MappingRefused,
    TimeFormat,
)
from apps.workloads.providers.job_record import (
    AllocationRecord,
    FieldUnreadable,
    JobRecord,
    JobRow,
    RejectedJobRow,
    SkippedRow,
    SkipReason,
)
from apps.workloads.providers.pool_count import PoolCount
from apps.workloads.queries.job_row_errors import EMPTY_CELL, NO_GPU_COLUMN, NOT_UTF8, REPLACED

PLAIN_TEXTS = ("user", "account", "partition", "qos", "name", "exit_code", "array_id")
PART = re.compile(r"\d{1,4}/0*[1-9]\d{0,3}")
"""A part of a GPU as REST takes it too: `1/7`."""
JobKey = tuple[str, str, datetime | None, int]


@dataclass(slots=True)
class JobTable:
    """One file being read. `count` knows the pool's capacity once the rows are through."""

    mapping: JobMapping
    cluster: str = ""
    count: PoolCount | None = None
    _line_of: dict[JobKey, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.mapping.pool is not None:
            self.count = PoolCount(self.mapping.pool)

    def rows(self, lines: Iterable[str]) -> Iterator[JobRow]:
        """Every data row of the file, once: a job, a rejection, or a row passed over."""
        numbered = _numbered_rows(lines, delimiter=self.mapping.delimiter)
        _, first = next(numbered, (1, []))
        header = [] if isinstance(first, RejectedJobRow) else [name.strip() for name in first]
        _check_header(header, self.mapping)
        if not (self.cluster or self.mapping.cluster or "cluster" in self.mapping.columns):
            raise MappingRefused("cluster: say in the mapping or the command whose jobs these are")
        for line, cells in numbered:
            if isinstance(cells, RejectedJobRow):
                yield cells
            elif any(cell.strip() for cell in cells):
                yield self._read_row(line, header, cells)

    def _read_row(self, line: int, header: list[str], cells: list[str]) -> JobRow:
        try:
            row = _Row(_by_name(header, cells), self.mapping)
            return self._read_job(line, row)
        except FieldUnreadable as unreadable:
            return RejectedJobRow(line, unreadable.field, unreadable.message)

    def _read_job(self, line: int, row: "_Row") -> JobRow:
        started_at, ended_at = row.moment("started_at"), row.end()
        if started_at is None and row.ran_before():
            started_at = row.window_began(ended_at)
            if started_at is None:
                return SkippedRow(line, SkipReason.OUTSIDE_WINDOW)
        if started_at is None:
            return SkippedRow(line, SkipReason.NEVER_STARTED)
        if ended_at is not None and ended_at < started_at:
            raise FieldUnreadable(row.column("ended_at", "duration"), "is before the start")
        if ended_at is None and row.state() in TERMINAL_STATES:
            # It would hold its GPUs for ever, or to the end of the window.
            raise FieldUnreadable(
                row.column("ended_at", "duration"), f"is empty, and the job is {row.state()}"
            )
        clip = self.mapping.clip
        held_span = _clipped_to_window(started_at, ended_at, clip.starts_at, clip.ends_at)
        if held_span is None:
            return SkippedRow(line, SkipReason.OUTSIDE_WINDOW)
        job = self._job_record(line, row, held_span)
        self._refuse_twin(job, row)
        if self.count is not None:
            self.count.add(job, row.capacity())
        return job

    def _job_record(
        self, line: int, row: "_Row", held_span: tuple[datetime, datetime | None]
    ) -> JobRecord:
        cpus = row.cpus()
        texts: dict[str, Any] = {name: row.text(name) for name in PLAIN_TEXTS}
        return JobRecord(
            line=line,
            cluster=self._cluster_of_row(row),
            raw_id=row.needed("raw_id"),
            submitted_at=row.moment("submitted_at"),
            restart_count=int(row.whole("restart_count")),
            started_at=held_span[0],
            ended_at=held_span[1],
            state=row.state(),
            labels=row.labels(),
            cpus=cpus,
            **texts,
            allocations=row.allocations(cpus),
            remarks=row.remarks(),
        )

    def _cluster_of_row(self, row: "_Row") -> str:
        name = self.cluster or row.text("cluster") or self.mapping.cluster
        if not name:
            raise FieldUnreadable(
                row.column("cluster"), "is empty, and the mapping names no cluster"
            )
        return name

    def _refuse_twin(self, job: JobRecord, row: "_Row") -> None:
        """A second row of one job would overwrite what the first one held."""
        key = (job.cluster, job.raw_id, job.submitted_at, job.restart_count)
        first = self._line_of.setdefault(key, job.line)
        if first != job.line:
            raise FieldUnreadable(row.column("raw_id"), f"job {job.raw_id} was in line {first}")


def _check_header(header: list[str], mapping: JobMapping) -> None:
    wanted = {f"columns.{ours}": theirs for ours, theirs in mapping.columns.items()}
    wanted |= {f"labels.{ours}": theirs for ours, theirs in mapping.labels.items()}
    if mapping.pool is not None and isinstance(mapping.pool.capacity, CapacityColumn):
        wanted["pool.capacity"] = mapping.pool.capacity.name
    for key, column in wanted.items():
        if header.count(column) != 1:
            how_often = "no" if column not in header else "more than one"
            raise MappingRefused(
                f"{key}: the file has {how_often} column {column!r}; it has {', '.join(header)}"
            )


def _numbered_rows(
    lines: Iterable[str], *, delimiter: str
) -> Iterator[tuple[int, list[str] | RejectedJobRow]]:
    """Each row with the line it begins in; a row that is no CSV is a rejection."""
    reader = CsvRows(lines, delimiter)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as broken:
            yield line, RejectedJobRow(line, "row", str(broken))
            continue
        if cells is None:
            return
        yield line, cells


def _by_name(header: list[str], cells: list[str]) -> dict[str, str]:
    if len(cells) != len(header):
        raise FieldUnreadable("row", f"has {len(cells)} fields, not {len(header)}")
    if any("\0" in cell for cell in cells):
        raise FieldUnreadable("row", "holds a zero byte")
    return {name: cell.strip() for name, cell in zip(header, cells, strict=True)}


def _clipped_to_window(
    started_at: datetime,
    ended_at: datetime | None,
    window_from: datetime | None,
    window_to: datetime | None,
) -> tuple[datetime, datetime | None] | None:
    """The part inside the window; None where nothing of it is, or it only touches the window."""
    begins = max(started_at, window_from) if window_from else started_at
    ends = min(ended_at, window_to) if ended_at and window_to else ended_at or window_to
    if ends is None or begins < ends or (begins, ends) == (started_at, ended_at):
        return begins, ends
    return None


@dataclass(frozen=True, slots=True)
class _Row:
    """One row's cells, asked for by our names; a refusal names the file's column."""

    cells: dict[str, str]
    mapping: JobMapping

    def column(self, *keys: str) -> str:
        return next(
            (self.mapping.columns[key] for key in keys if key in self.mapping.columns), keys[0]
        )

    def text(self, key: str) -> str:
        column = self.mapping.columns.get(key)
        cell = "" if column is None else self.cells[column]
        return "" if cell in self.mapping.empty else cell

    def needed(self, key: str) -> str:
        text = self.text(key)
        if not text:
            raise FieldUnreadable(self.column(key), "is empty")
        return text

    def state(self) -> str:
        word = self.text("state")
        return self.mapping.states.get(word, word.upper())

    def labels(self) -> dict[str, str]:
        cells = {label: self.cells[column] for label, column in self.mapping.labels.items()}
        return {label: cell for label, cell in cells.items() if cell not in self.mapping.empty}

    def amount(self, key: str) -> Fraction | None:
        """The number in our unit; None where the cell is empty or there is no such column."""
        text = self.text(key)
        if not text:
            return None
        if key == "gpu_share" and PART.fullmatch(text):
            # A seventh is no decimal.
            return Fraction(text)
        return read_amount(text, field_name=self.column(key)) * self.mapping.units.get(key, 1)

    def whole(self, key: str) -> Fraction:
        amount = self.amount(key) or Fraction(0)
        if amount.denominator != 1:
            raise FieldUnreadable(self.column(key), f"{self.text(key)!r} is not a whole number")
        return amount

    def moment(self, key: str) -> datetime | None:
        text, times = self.text(key), self.mapping.times
        if not text:
            return None
        name = self.column(key)
        if times.form is TimeFormat.EPOCH:
            negative = text.startswith("-")
            count = read_amount(text.removeprefix("-"), field_name=name, of="a count of time")
            seconds = count * times.unit_seconds * (-1 if negative else 1)
            return moments.after_epoch(seconds, base=times.base, field_name=name)
        if times.form is TimeFormat.ISO:
            return moments.read_moment(text, zone=times.zone, field_name=name)
        return moments.read_like(times.pattern, text, zone=times.zone, field_name=name)

    def end(self) -> datetime | None:
        """Where the table has no end but a duration, the start plus that."""
        ended_at, started_at = self.moment("ended_at"), self.moment("started_at")
        if ended_at is not None or started_at is None or not self.text("duration"):
            return ended_at
        name = self.column("duration")
        length = read_amount(self.text("duration"), field_name=name, of="a length of time")
        seconds = length * self.mapping.times.duration_unit_seconds
        return moments.after_epoch(seconds, base=started_at, field_name=name)

    def ran_before(self) -> bool:
        """Whether it ran already when the window began, as a row without a start."""
        return self.mapping.clip.ran_before(self.text("state"))

    def window_began(self, ended_at: datetime | None) -> datetime | None:
        """Where a row that ran before starts to count; None where it ended before that."""
        if ended_at is None and self.text("duration"):
            raise FieldUnreadable(
                self.column("duration"), "counts from a start that nobody knows; give an end"
            )
        began_at = self.mapping.clip.starts_at
        return None if began_at and ended_at and ended_at <= began_at else began_at

    def cpus(self) -> Fraction | None:
        return self.amount("cpus")

    def capacity(self) -> Fraction | None:
        pool = self.mapping.pool
        if pool is None or not isinstance(pool.capacity, CapacityColumn):
            return None
        text = self.cells[pool.capacity.name]
        if text in self.mapping.empty:
            return None
        return read_amount(text, field_name=pool.capacity.name)

    def allocations(self, cpus: Fraction | None) -> tuple[AllocationRecord, ...]:
        nodes = self.nodes()
        gpus, share = self.gpus()
        is_unknown = self.says_no_gpus()
        return tuple(
            AllocationRecord(
                node=node,
                gpus=gpus / len(nodes),
                gpus_unknown=is_unknown,
                share=share,
                cpus=None if cpus is None else cpus / len(nodes),
                divided_evenly=len(nodes) > 1,
            )
            for node in nodes
        )

    def says_no_gpus(self) -> bool:
        """Whether nothing says how many GPUs it held, which need not be none."""
        if self.mapping.has_no_gpus:
            return False
        return not (self.text("gpus") or self.text("gpu_share"))

    def remarks(self) -> tuple[str, ...]:
        broken = (NOT_UTF8,) if any(REPLACED in cell for cell in self.cells.values()) else ()
        if not self.says_no_gpus():
            return broken
        named = next((key for key in ("gpus", "gpu_share") if key in self.mapping.columns), None)
        return (*broken, f"{self.column(named)}{EMPTY_CELL}" if named else NO_GPU_COLUMN)

    def nodes(self) -> tuple[str, ...]:
        if self.mapping.pool is not None:
            return (self.mapping.pool.name,)
        return node_lists.expand(self.needed("node"), field_name=self.column("node"))

    def gpus(self) -> tuple[Fraction, Fraction | None]:
        """How many GPUs, and what part of each; a share alone is of one GPU."""
        gpus, share = self.amount("gpus"), self.amount("gpu_share")
        if share is not None and share > 1:
            raise FieldUnreadable(
                self.column("gpu_share"), f"{self.text('gpu_share')} is over one GPU"
            )
        if gpus is None:
            gpus = Fraction(0) if share is None else Fraction(1)
        return gpus, None if share == 1 or not gpus else share
