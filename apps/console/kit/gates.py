"""Sanity gates of an answer, each a line on its page."""

from collections.abc import Sequence

from apps.console.kit.page import FactList
from apps.economics.gates import Gate, GateName, failed_gates, failure_of

TITLE = "What this was held against"
NAMES = {
    GateName.BASELINE: "Its best baseline",
    GateName.CAPACITY: "What is there",
    GateName.COVERAGE: "Its intervals",
    GateName.HISTORY: "Its history",
    GateName.PARTS: "Its parts",
    GateName.PRE_TREND: "Its trend before",
    GateName.POST_TREND: "Its trend since",
    GateName.PLACEBO: "A placebo at earlier dates",
    GateName.VOLUME: "The level of its work",
    GateName.CONTROL: "The work it is held against",
}
STATES = {True: "Passed", False: "Failed", None: "Not known"}


def gate_list(gates: Sequence[Gate], of: str = "", name: str = "gates") -> FactList | None:
    """Every gate with what was found; None where an answer has none. On a page of several answers `of` says of which, at `name`."""
    facts = tuple((NAMES[gate.name], _gate_words(gate)) for gate in gates)
    title = f"{of}: {TITLE[0].lower()}{TITLE[1:]}" if of else TITLE
    return FactList(facts, title, name) if facts else None


def gate_notes(gates: Sequence[Gate]) -> tuple[str, ...]:
    """Return what failed of an answer and what is answered instead, a sentence each, to stand above it."""
    return tuple(f"Not passed: {failure_of([gate])}." for gate in failed_gates(gates))


def _gate_words(gate: Gate) -> str:
    sentence = f"{STATES[gate.is_passed]}: {gate.says}"
    return f"{sentence}. Answered instead: {gate.fallback}." if gate.fallback else f"{sentence}."
