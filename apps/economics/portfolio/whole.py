"""The families of a portfolio beside what is forecast of all GPUs: light enough for a web process."""

from collections.abc import Mapping
from dataclasses import replace

from apps.economics.gates import Gate, GateName, parts_gate
from apps.economics.number_words import number_text, quantity_text


def whole_gate(wanted: Mapping[str, float], total_gpus: float | str) -> Gate:
    """Whether families together ask for what is forecast of all GPUs (a mean), but for a tenth; else why nobody can tell."""
    if isinstance(total_gpus, str):
        return Gate(GateName.PARTS, None, total_gpus)
    total = sum(wanted.values())
    gate = parts_gate(total_gpus, list(wanted.values()))
    asked_gpus = quantity_text(number_text(total), "GPUs")
    sentence = f"its families ask for {asked_gpus} on the mean, and {number_text(total_gpus)} are forecast of all together"
    fallback = "" if gate.is_passed else "the families, each by its own history and growth"
    return replace(gate, says=sentence, fallback=fallback)
