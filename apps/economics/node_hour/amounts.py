"""The money of a node-hour: each piece over the time inside it, then one line per charge."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from apps.economics.node_hour.facts import LinePart
from apps.economics.node_hour.gpu import Tally
from apps.economics.node_hour.segment import NOBODY, NONE, UNALLOCATED
from apps.economics.rates import Piece
from apps.economics.split import largest_remainder
from apps.economics.states import Evidence, Flag, State

# Job, key without a job, state, flags; 0 = nobody.
LineKey = tuple[int, int, int, int]
Amounts = Sequence[int | None]


class ChargedPiece(NamedTuple):
    """A piece and the charge it belongs to."""

    charge: int
    piece: Piece


class _Time(NamedTuple):
    key: LineKey
    evidence: int
    unit_ms: int


class _Sum:
    """A line in the making: pieces add to it."""

    __slots__ = ("contracted", "effective", "evidence", "listed", "unit_ms")

    def __init__(self) -> None:
        self.evidence = 0
        self.unit_ms = 0
        self.listed: int | None = None
        self.contracted: int | None = None
        self.effective: int | None = None

    def add(
        self, time: _Time, listed: int | None, contracted: int | None, effective: int | None
    ) -> None:
        self.evidence |= time.evidence
        self.unit_ms += time.unit_ms
        self.listed = _plus(self.listed, listed)
        self.contracted = _plus(self.contracted, contracted)
        self.effective = _plus(self.effective, effective)


def lines_of(pieces: Iterable[ChargedPiece], tallies: Iterable[Tally]) -> tuple[LinePart, ...]:
    """One line per charge, holder, state and flags, in that order; sums are exact."""
    sums: dict[tuple[int, LineKey], _Sum] = {}
    for charged, tally in zip(pieces, tallies, strict=True):
        times = _times(tally)
        for time, *amounts in zip(times, *_split(charged.piece, times), strict=True):
            line = sums.setdefault((charged.charge, time.key), _Sum())
            line.add(time, *amounts)
    return tuple(_line(charge, key, sums[charge, key]) for charge, key in sorted(sums))


def _times(tally: Tally) -> list[_Time]:
    """The tally in the order of its keys, evidence joined.

    A piece in which no device lived is carried, without time, by nobody: no amount is lost.
    """
    joined: dict[LineKey, tuple[int, int]] = {}
    for (job_id, holder_id, state, flags, evidence), unit_ms in tally.items():
        key = (job_id, holder_id, state, flags)
        seen, sofar = joined.get(key, (0, 0))
        joined[key] = (seen | evidence, sofar + unit_ms)
    if not joined:
        return [_Time((NOBODY, NOBODY, UNALLOCATED, 0), NONE, 0)]
    return [_Time(key, *joined[key]) for key in sorted(joined)]


def _split(piece: Piece, times: Sequence[_Time]) -> tuple[Amounts, Amounts, Amounts]:
    """List, contracted and effective amounts of each time.

    Effective is split, then each step up to the next dearer basis: so every basis sums exactly
    and each line keeps its charge's order of bases.
    """
    weights = [time.unit_ms for time in times] if any(t.unit_ms for t in times) else [1]
    effective = _step(None, None, piece.effective_micros, weights)
    contracted = _step(piece.effective_micros, effective, piece.contracted_micros, weights)
    below = piece.contracted_micros
    if below is None:
        below, contracted_or_effective = piece.effective_micros, effective
    else:
        contracted_or_effective = contracted
    listed = _step(below, contracted_or_effective, piece.list_micros, weights)
    return listed, contracted, effective


def _step(
    below: int | None, parts_below: Amounts | None, amount: int | None, weights: Sequence[int]
) -> Amounts:
    """Parts of `amount`, as those of the basis below plus a split of the difference."""
    if amount is None:
        return [None] * len(weights)
    if below is None or parts_below is None:
        return largest_remainder(amount, weights)
    if amount == below:
        return parts_below
    steps = largest_remainder(amount - below, weights)
    return [
        None if part is None else part + step for part, step in zip(parts_below, steps, strict=True)
    ]


def _plus(sofar: int | None, more: int | None) -> int | None:
    if sofar is None or more is None:
        return more if sofar is None else sofar
    return sofar + more


def _line(charge: int, key: LineKey, line: _Sum) -> LinePart:
    job_id, holder_key_id, state, flags = key
    return LinePart(
        charge=charge,
        job_id=job_id or None,
        holder_key_id=holder_key_id or None,
        state=_STATES[state],
        flags=_FLAGS[flags],
        evidence=_EVIDENCE[line.evidence],
        unit_ms=line.unit_ms,
        list_micros=line.listed,
        contracted_micros=line.contracted,
        effective_micros=line.effective,
    )


# Building an IntFlag member takes longer than splitting a device.
_STATES: Mapping[int, State] = {int(state): state for state in State}
_FLAGS: Mapping[int, Flag] = {bits: Flag(bits) for bits in range(256)}
_EVIDENCE: Mapping[int, Evidence] = {bits: Evidence(bits) for bits in range(16)}
