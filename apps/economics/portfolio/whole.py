"""The families of a portfolio beside what is forecast of all GPUs: light enough for a web process."""

from collections.abc import Mapping
from dataclasses import replace

from apps.economics.gates import Gate, GateName, parts_gate
from apps.economics.number_words import number_text, quantity_text


def whole_gate(wanted: Mapping[str, float], whole: float | str) -> Gate:
    """Whether families together ask for what is forecast of all GPUs (a mean), but for a tenth; else why nobody can tell."""
    if isinstance(whole, str):
        return Gate(GateName.PARTS, None, whole)
    total = sum(wanted.values())
    gate = parts_gate(whole, list(wanted.values()))
    asked = quantity_text(number_text(total), "GPUs")
    says = f"its families ask for {asked} on the mean, and {number_text(whole)} are forecast of all together"
    fallback = "" if gate.is_passed else "the families, each by its own history and growth"
    return replace(gate, says=says, fallback=fallback)
