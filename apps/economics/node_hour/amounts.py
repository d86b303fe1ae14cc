"""The money of a node-hour: each piece over the time inside it, then one line per charge."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from apps.economics.bases import Amounts, added, split_bases
from apps.economics.node_hour.counted import Tally
from apps.economics.node_hour.facts import LinePart
from apps.economics.node_hour.segment import NOBODY, NONE, UNALLOCATED
from apps.economics.rates import Piece
from apps.economics.states import Evidence, Flag, State

# Job, key without a job, state, flags; 0 = nobody.
LineKey = tuple[int, int, int, int]


class ChargedPiece(NamedTuple):
    """A piece and the charge it belongs to."""

    charge: int
    piece: Piece


class _AmountSum(NamedTuple):
    """The sums that a line has gathered so far: evidence, unit milliseconds and amounts."""

    evidence: int
    unit_ms: int
    amounts: Amounts


class Carried(NamedTuple):
    """Who carries a piece: the time that the node is measured in, and what other cores beside it.

    `core_weight` is what a millisecond of a core counts against one of a GPU.
    """

    time: Tally
    cores: Tally
    core_weight: Fraction


def lines_of(pieces: Iterable[ChargedPiece], carried: Iterable[Carried]) -> tuple[LinePart, ...]:
    """One line per charge, holder, state and flags, in that order; sums are exact."""
    sums: dict[tuple[int, LineKey], _AmountSum] = {}
    for charged, of_piece in zip(pieces, carried, strict=True):
        for key, part in _piece_parts(charged.piece, of_piece):
            place = (charged.charge, key)
            sums[place] = _add_sums(sums[place], part) if place in sums else part
    return tuple([_line_part(charge, key, sums[charge, key]) for charge, key in sorted(sums)])


def with_attached_charges(
    lines: tuple[LinePart, ...], amounts_by_charge: Mapping[int, Amounts]
) -> tuple[LinePart, ...]:
    """The lines and, without time, those of charges that follow them; sums are exact.

    By what each line costs effectively, or by its time where a cost is unknown or there is none.
    """
    if not amounts_by_charge:
        return lines
    lines_by_key: dict[LineKey, LinePart] = {}
    for line in lines:
        key = (line.job_id or 0, line.holder_key_id or 0, line.state, line.flags)
        lines_by_key[key] = _join_lines(lines_by_key[key], line) if key in lines_by_key else line
    carriers = [lines_by_key[key] for key in sorted(lines_by_key)]
    weights = [line.effective_micros or 0 for line in carriers]
    if None in [line.effective_micros for line in carriers] or min(weights) < 0 or not any(weights):
        weights = [line.unit_ms for line in carriers]
    if not any(weights):
        weights = [1] * len(carriers)
    return lines + tuple(
        [
            line._replace(charge=charge, unit_ms=0, **amounts._asdict())
            for charge in sorted(amounts_by_charge)
            for line, weight, amounts in zip(
                carriers, weights, split_bases(amounts_by_charge[charge], weights), strict=True
            )
            if weight
        ]
    )


def _join_lines(first: LinePart, second: LinePart) -> LinePart:
    amounts = [
        None if one is None or other is None else one + other
        for one, other in zip(first[-3:], second[-3:], strict=True)
    ]
    return LinePart(
        *first[:5], first.evidence | second.evidence, first.unit_ms + second.unit_ms, *amounts
    )


def _piece_parts(piece: Piece, carried: Carried) -> list[tuple[LineKey, _AmountSum]]:
    """The piece's money over what carries it, in the order of the lines.

    A piece in which no device lived is carried, without time, by nobody: no amount is lost.
    """
    one, of_core = carried.core_weight.denominator, carried.core_weight.numerator
    times, cores = _times_by_line(carried.time), _times_by_line(carried.cores)
    shares = {key: (evidence, ms, ms * one) for key, (evidence, ms) in times.items()}
    shares |= {key: (evidence, 0, ms * of_core) for key, (evidence, ms) in cores.items()}
    if not shares:
        shares = {(NOBODY, NOBODY, UNALLOCATED, 0): (NONE, 0, 1)}
    keys = sorted(shares)
    amounts = Amounts(piece.list_micros, piece.contracted_micros, piece.effective_micros)
    split = split_bases(amounts, [shares[key][2] for key in keys])
    return [
        (key, _AmountSum(*shares[key][:2], part)) for key, part in zip(keys, split, strict=True)
    ]


def _times_by_line(tally: Tally) -> Mapping[LineKey, tuple[int, int]]:
    """Evidence and milliseconds by line."""
    times: dict[LineKey, tuple[int, int]] = {}
    for (job_id, holder_id, state, flags, evidence), unit_ms in tally.items():
        key = (job_id, holder_id, state, flags)
        earlier_evidence, sofar = times.get(key, (0, 0))
        times[key] = (earlier_evidence | evidence, sofar + unit_ms)
    return times


def _add_sums(first: _AmountSum, second: _AmountSum) -> _AmountSum:
    return _AmountSum(
        first.evidence | second.evidence,
        first.unit_ms + second.unit_ms,
        added(first.amounts, second.amounts),
    )


def _line_part(charge: int, key: LineKey, line: _AmountSum) -> LinePart:
    job_id, holder_key_id, state, flags = key
    return LinePart(
        charge,
        job_id or None,
        holder_key_id or None,
        _STATES[state],
        _FLAGS[flags],
        _EVIDENCE[line.evidence],
        line.unit_ms,
        *line.amounts,
    )


# Building an IntFlag member takes longer than splitting a device.
_STATES: Sequence[State] = [State.ACTIVE, *State]
_FLAGS: Sequence[Flag] = [Flag(bits) for bits in range(2 * max(Flag))]
_EVIDENCE: Sequence[Evidence] = [Evidence(bits) for bits in range(16)]
