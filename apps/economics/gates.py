"""Sanity gates: what an answer is held against before anybody acts on it, and what stands in its place where it fails."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

COVERED = (0.65, 0.95)
"""What an 80 % interval has to cover of its own back-test."""
PARTS_WITHIN = 0.1
"""By how much of the whole its parts may miss it."""
TERM_OF_HISTORY = 3.0
"""A commitment for longer than so many times the history rests on next to nothing."""
ROUNDING = 1e-6


class GateName(StrEnum):
    """The gate that an answer is held against."""

    BASELINE = "baseline"
    CAPACITY = "capacity"
    COVERAGE = "coverage"
    HISTORY = "history"
    PARTS = "parts"
    PRE_TREND = "pre_trend"
    PLACEBO = "placebo"
    CONTROL = "control"


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate: `is_passed` None where nobody can tell; `fallback` names what is answered instead where it failed."""

    name: GateName
    is_passed: bool | None
    says: str
    fallback: str = ""


def failed_gates(gates: Iterable[Gate]) -> tuple[Gate, ...]:
    """Those that were not passed."""
    return tuple(gate for gate in gates if gate.is_passed is False)


def failure_of(gates: Iterable[Gate]) -> str:
    """Return one sentence of what failed and what is answered instead; empty where nothing failed."""
    failed = failed_gates(gates)
    if not failed:
        return ""
    fallback = next((gate.fallback for gate in failed if gate.fallback), "")
    sentence = "; ".join(gate.says for gate in failed)
    return f"{sentence}: {fallback}" if fallback else sentence


def joint_gates(of: Sequence[tuple[str, Sequence[Gate]]]) -> tuple[Gate, ...]:
    """Of an answer that several answers with a name make together one gate of each name, in order.

    Failed where one of them is, passed where all are, and not known where one is not; it says what the first such one says.
    """
    names = dict.fromkeys(gate.name for _, gates in of for gate in gates)
    return tuple(
        _joint_gate([(label, gate) for label, gates in of for gate in gates if gate.name == name])
        for name in names
    )


def worst_gate(gates: Sequence[Gate]) -> Gate:
    """Of several of one name the first that failed, else the first of which nobody can tell, else the first."""
    return min(gates, key=lambda gate: _RANKS[gate.is_passed])


def labelled_gates(label: str, gates: Iterable[Gate]) -> tuple[Gate, ...]:
    """The same gates with whose they are before what each says."""
    return tuple(replace(gate, says=f"{label}: {gate.says}") for gate in gates)


def _joint_gate(of: Sequence[tuple[str, Gate]]) -> Gate:
    label, worst = min(of, key=lambda pair: _RANKS[pair[1].is_passed])
    others = sum(gate.is_passed is worst.is_passed for _, gate in of) - 1
    more = f", and so of {others} more" if others else ""
    return Gate(worst.name, worst.is_passed, f"{label}: {worst.says}{more}", worst.fallback)


_RANKS = {False: 0, None: 1, True: 2}


def baseline_gate(error: float | None, baselines: Mapping[str, float]) -> Gate:
    """Whether an answer's error in its own back-test is at most that of the best baseline, by name."""
    if error is None or not baselines:
        return Gate(GateName.BASELINE, None, "no back-test yet: its history is too short for one")
    best = min(baselines, key=lambda name: baselines[name])
    least = baselines[best]
    comparison = f"{error:.3g} beside {least:.3g} of {best}"
    if error <= least * (1 + ROUNDING):
        return Gate(GateName.BASELINE, is_passed=True, says=f"its error before was {comparison}")
    return Gate(
        GateName.BASELINE, is_passed=False, says=f"its error before was {comparison}", fallback=best
    )


def capacity_gate(most: float, ceiling: float | None, unit: str, fallback: str) -> Gate:
    """Whether the most that an answer has at once is there; without a ceiling nothing bounds it."""
    if ceiling is None:
        return Gate(GateName.CAPACITY, None, "nothing on record bounds it")
    sentence = f"at most {most:,.4g} {unit} at once, and {ceiling:,.4g} are there"
    is_inside = most <= ceiling * (1 + ROUNDING)
    return Gate(GateName.CAPACITY, is_inside, sentence, "" if is_inside else fallback)


def coverage_gate(coverage: float | None) -> Gate:
    """Whether what came lay in its 80 % intervals about as often as they say."""
    if coverage is None:
        return Gate(GateName.COVERAGE, None, "no interval was tried on what came yet")
    least, most = COVERED
    sentence = f"{coverage * 100:.0f} % of what came lay in its 80 % intervals"
    return Gate(GateName.COVERAGE, least <= coverage <= most, sentence)


def history_gate(history_days: float, term_days: float) -> Gate:
    """Whether a term is at most three times the history that it rests on."""
    sentence = f"{history_days:,.0f} days of history for a term of {term_days:,.0f} days"
    return Gate(GateName.HISTORY, term_days <= TERM_OF_HISTORY * history_days, sentence)


def parts_gate(expected_total: float, parts: Sequence[float]) -> Gate:
    """Whether the parts come to the whole, but for a tenth of it."""
    if not parts:
        return Gate(GateName.PARTS, None, "it has no parts to be held against")
    total = sum(parts)
    sentence = f"its parts come to {total:,.4g} beside {expected_total:,.4g} of the whole"
    return Gate(
        GateName.PARTS, abs(total - expected_total) <= PARTS_WITHIN * abs(expected_total), sentence
    )


def serialize_gates(gates: Iterable[Gate]) -> list[dict[str, Any]]:
    """As JSON has them."""
    return [asdict(gate) | {"name": str(gate.name)} for gate in gates]


def read_gates(fields: Iterable[Mapping[str, Any]]) -> tuple[Gate, ...]:
    """Those that `serialize_gates` wrote."""
    return tuple(Gate(**{**field, "name": GateName(field["name"])}) for field in fields)
