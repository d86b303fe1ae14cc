"""A node's batches: what an agent on it would have measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import shake_128

from runrate_agent.batch import MAX_WINDOWS, WINDOW_SECONDS, Batch, Columns, Stamp
from runrate_agent.compat import SLOTS
from runrate_agent.simulation.fleet import Node
from runrate_agent.simulation.load import IDLE, readings, together
from runrate_agent.simulation.scenario import Claim, Scenario
from runrate_agent.simulation.timeline import Occupant, Piece, Span, hours_of

MINUTE_MS = 60_000
NOBODY = Occupant(0, 0, "", IDLE)


@dataclass(frozen=True, **SLOTS)
class Rows:
    """What one holder, or the device itself, reads in a minute of each window."""

    worked_seconds: list[float]
    sm_ratio: list[float]
    tensor_ratio: list[float]
    dram_ratio: list[float]
    energy_joules: list[float]
    memory_used_bytes: int


@dataclass(**SLOTS)
class _Draft:
    """A batch being filled."""

    columns: Columns = field(default_factory=Columns)
    holders: dict[str, int] = field(default_factory=lambda: {"": 0})


@dataclass(frozen=True, **SLOTS)
class NodeWatch:
    """One node's part of a scenario whose clock starts at `starts_at_ms`."""

    scenario: Scenario
    node: Node
    claims: Mapping[str, Sequence[Claim]]
    starts_at_ms: int
    window_minutes: int = 1

    def batches(
        self, *, boot_ms: int, version: str, minutes: range | None = None, first_sequence: int = 0
    ) -> Iterator[Batch]:
        """Its life in `minutes` (all of it) in batches of at most MAX_WINDOWS, cut between hours."""
        told = (
            range(self.node.started_minute, self.node.ended_minute) if minutes is None else minutes
        )
        for sequence, draft in enumerate(self._drafts(told), first_sequence):
            yield Batch(
                stamp=Stamp(boot_ms, sequence, version, "simulated"),
                devices=self.node.records,
                holders=tuple(draft.holders),
                windows=draft.columns,
            )

    def _drafts(self, minutes: range) -> Iterator[_Draft]:
        draft = _Draft()
        for pieces in hours_of(self.scenario, self.node, self.claims, minutes):
            told = [(piece, piece.windows(self.window_minutes)) for piece in pieces]
            rows = sum(len(windows) * piece.rows_a_window for piece, windows in told)
            if draft.columns and len(draft.columns) + rows > MAX_WINDOWS:
                yield draft
                draft = _Draft()
            for piece, windows in told:
                self._add_piece(draft, piece, windows)
        if draft.columns:
            yield draft

    def _add_piece(self, draft: _Draft, piece: Piece, windows: Sequence[Span]) -> None:
        if len(piece.occupants) <= 1:
            occupant = piece.occupants[0] if piece.occupants else NOBODY
            rows = self._rows(piece, occupant, len(windows))
            self._add_device(draft, piece, windows, occupant.holder, rows)
            return
        each = [self._rows(piece, occupant, len(windows)) for occupant in piece.occupants]
        self._add_device(draft, piece, windows, "", self._joint(each))
        for occupant, rows in zip(piece.occupants, each):
            if occupant.holder:
                self._add_holder(draft, piece, windows, occupant.holder, rows.worked_seconds)

    def _rows(self, piece: Piece, occupant: Occupant, count: int) -> Rows:
        table = readings(occupant.load, self.node.pool.model, piece.hour_of_day)
        key = f"{self.scenario.seed}/{piece.device.record.uuid}/{occupant.holder}"
        noise = shake_128(f"{key}/{piece.first_minute}".encode()).digest(count)
        return Rows(
            worked_seconds=[table.worked_seconds[level] for level in noise],
            sm_ratio=[table.sm_ratio[level] for level in noise],
            tensor_ratio=[table.tensor_ratio[level] for level in noise],
            dram_ratio=[table.dram_ratio[level] for level in noise],
            energy_joules=[table.energy_joules[level] for level in noise],
            memory_used_bytes=table.memory_used_bytes,
        )

    def _joint(self, each: Sequence[Rows]) -> Rows:
        """The device's own reading while several hold it."""
        model = self.node.pool.model
        idle_joules = model.idle_watts * WINDOW_SECONDS * (len(each) - 1)
        energy = _sums(rows.energy_joules for rows in each)
        return Rows(
            worked_seconds=together([rows.worked_seconds for rows in each]),
            sm_ratio=_capped(rows.sm_ratio for rows in each),
            tensor_ratio=_capped(rows.tensor_ratio for rows in each),
            dram_ratio=_capped(rows.dram_ratio for rows in each),
            energy_joules=[
                round(min(joules - idle_joules, model.peak_watts * WINDOW_SECONDS), 1)
                for joules in energy
            ],
            memory_used_bytes=min(sum(rows.memory_used_bytes for rows in each), model.memory_bytes),
        )

    def _add_device(
        self, draft: _Draft, piece: Piece, windows: Sequence[Span], holder: str, rows: Rows
    ) -> None:
        columns, count = draft.columns, len(windows)
        self._add_frame(draft, piece, windows, holder, rows.worked_seconds)
        columns.sm_ratio += rows.sm_ratio
        columns.tensor_ratio += rows.tensor_ratio
        columns.dram_ratio += rows.dram_ratio
        # A board meters its power as a whole: a slice of it has no energy of its own.
        is_slice = piece.device.record.is_slice
        columns.energy_joules += (
            [None] * count if is_slice else _of_windows(rows.energy_joules, windows)
        )
        columns.memory_used_bytes += [rows.memory_used_bytes] * count

    def _add_holder(
        self,
        draft: _Draft,
        piece: Piece,
        windows: Sequence[Span],
        holder: str,
        worked_seconds: list[float],
    ) -> None:
        columns, unknown = draft.columns, [None] * len(windows)
        self._add_frame(draft, piece, windows, holder, worked_seconds)
        columns.sm_ratio += unknown
        columns.tensor_ratio += unknown
        columns.dram_ratio += unknown
        columns.energy_joules += unknown
        columns.memory_used_bytes += unknown

    def _add_frame(
        self,
        draft: _Draft,
        piece: Piece,
        windows: Sequence[Span],
        holder: str,
        worked_a_minute: list[float],
    ) -> None:
        columns, count = draft.columns, len(windows)
        worked_seconds = _of_windows(worked_a_minute, windows)
        columns.device += [self.node.records.index(piece.device.record)] * count
        columns.holder += [draft.holders.setdefault(holder, len(draft.holders))] * count
        columns.starts_at_ms += [
            self.starts_at_ms + each.first_minute * MINUTE_MS for each in windows
        ]
        columns.seconds += [each.minutes * WINDOW_SECONDS for each in windows]
        if piece.observed_ratio < 1:
            observed = _quarters(WINDOW_SECONDS * piece.observed_ratio)
            columns.observed_seconds += [observed * each.minutes for each in windows]
            columns.worked_seconds += [_quarters(s * piece.observed_ratio) for s in worked_seconds]
        else:
            columns.observed_seconds += [None] * count
            columns.worked_seconds += worked_seconds


def _of_windows(a_minute: Sequence[float], windows: Sequence[Span]) -> list[float]:
    return [round(value * each.minutes, 2) for value, each in zip(a_minute, windows)]


def _sums(columns: Iterable[list[float]]) -> list[float]:
    return [sum(values) for values in zip(*columns)]


def _capped(ratios: Iterable[list[float]]) -> list[float]:
    return [min(round(total, 3), 1.0) for total in _sums(ratios)]


def _quarters(seconds: float) -> float:
    """To the quarter of a second below, so that worked never passes observed."""
    return int(seconds * 4) / 4
