"""Sanity gates: what an answer is held against before anybody acts on it, and what stands in its place where it fails."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from math import ceil, floor, isnan
from typing import Any

from apps.economics.number_words import error_text, number_text, quantity_text, told_apart

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
    POST_TREND = "post_trend"
    PLACEBO = "placebo"
    VOLUME = "volume"
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
    """Return the gates with whose they are before what each says."""
    return tuple(replace(gate, says=f"{label}: {gate.says}") for gate in gates)


def _joint_gate(of: Sequence[tuple[str, Gate]]) -> Gate:
    label, worst = min(of, key=lambda pair: _RANKS[pair[1].is_passed])
    others = sum(gate.is_passed is worst.is_passed for _, gate in of) - 1
    more = f", and so of {others} more" if others else ""
    return Gate(worst.name, worst.is_passed, f"{label}: {worst.says}{more}", worst.fallback)


_RANKS = {False: 0, None: 1, True: 2}


def baseline_gate(error: float | None, baselines: Mapping[str, float]) -> Gate:
    """Whether an answer's error in its own back-test is at most that of the best baseline, by name; NaN is not known."""
    baseline_errors = {name: missed for name, missed in baselines.items() if not isnan(missed)}
    if error is None or isnan(error) or not baseline_errors:
        return Gate(GateName.BASELINE, None, "no back-test yet: its history is too short for one")
    best = min(baseline_errors, key=lambda name: baseline_errors[name])
    least = baseline_errors[best]
    is_passed = error <= least * (1 + ROUNDING)
    error_words, other = compared_texts(error, least, error_text)
    sentence = f"its error before was {error_words} beside {other} of {best}"
    return Gate(GateName.BASELINE, is_passed, sentence, "" if is_passed else best)


def capacity_gate(most: float, ceiling: float | None, unit: str, fallback: str) -> Gate:
    """Whether the most that an answer has at once is there; without a ceiling nothing bounds it. `unit` is in the plural."""
    if ceiling is None:
        return Gate(GateName.CAPACITY, None, "nothing on record bounds it")
    is_inside = most <= ceiling * (1 + ROUNDING)
    wanted, there = compared_texts(most, ceiling)
    verb = "is" if there == "1" else "are"
    sentence = f"at most {quantity_text(wanted, unit)} at once, and {there} {verb} there"
    return Gate(GateName.CAPACITY, is_inside, sentence, "" if is_inside else fallback)


def compared_texts(
    value: float, least: float, text: Callable[[float, int], str] = number_text
) -> tuple[str, str]:
    """Both as they are written, told apart where the first is more."""
    if value <= least * (1 + ROUNDING):
        return text(value, 0), text(least, 0)
    return told_apart(value, least, text)


def coverage_gate(coverage: float | None) -> Gate:
    """Whether what came lay in its 80 % intervals about as often as they say; NaN is not known."""
    if coverage is None or isnan(coverage):
        return Gate(GateName.COVERAGE, None, "no interval was tried on what came yet")
    least, most = COVERED
    sentence = f"{coverage_hundredths(coverage)} % of what came lay in its 80 % intervals"
    return Gate(GateName.COVERAGE, least <= coverage <= most, sentence)


def coverage_hundredths(coverage: float) -> int:
    """A coverage in whole per cent, outside COVERED wherever it is: 0.6499 is 64 and 0.9501 is 96."""
    hundredths = round(coverage * 100, 6)
    if coverage < COVERED[0]:
        return floor(hundredths)
    return ceil(hundredths) if coverage > COVERED[1] else round(hundredths)


def history_gate(history_days: float, term_days: float) -> Gate:
    """Whether a term is at most three times the history that it rests on."""
    history, term = (quantity_text(number_text(days), "days") for days in (history_days, term_days))
    sentence = f"{history} of history for a term of {term}"
    return Gate(GateName.HISTORY, term_days <= TERM_OF_HISTORY * history_days, sentence)


def parts_gate(expected_total: float, parts: Sequence[float], unit: str = "") -> Gate:
    """Whether the parts come to the whole, but for a tenth of it; `unit` of both, in the plural."""
    if not parts:
        return Gate(GateName.PARTS, None, "it has no parts to be held against")
    total = sum(parts)
    total_text, expected_text = number_text(total), number_text(expected_total)
    come_to = quantity_text(total_text, unit) if unit else total_text
    sentence = f"its parts come to {come_to} beside {expected_text} of the whole"
    return Gate(
        GateName.PARTS, abs(total - expected_total) <= PARTS_WITHIN * abs(expected_total), sentence
    )


def serialize_gates(gates: Iterable[Gate]) -> list[dict[str, Any]]:
    """As JSON has them."""
    return [asdict(gate) | {"name": str(gate.name)} for gate in gates]


def read_gates(fields: Iterable[Mapping[str, Any]]) -> tuple[Gate, ...]:
    """Those that `serialize_gates` wrote."""
    return tuple(Gate(**{**field, "name": GateName(field["name"])}) for field in fields)
