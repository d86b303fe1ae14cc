"""Gates that a crossover's answer is held against before anybody decides by it."""

from collections.abc import Mapping
from dataclasses import replace

from apps.economics.gates import Gate, GateName, capacity_gate, compared_texts, parts_gate

ENTERED = "its volume and ranges are entered: there is no back-test of them"
BORNE = (
    "a scenario says no history: what a commitment may rest on is held against it in the portfolio"
)


def crossover_gates(
    volume: float, most_volume: float | None, month: float, parts: Mapping[str, float]
) -> tuple[Gate, ...]:
    """Whether the replicas allowed serve the volume (million tokens a month), and the parts of self-hosting come to its month."""
    served = capacity_gate(volume, most_volume, "million tokens a month", "the API")
    if most_volume is not None:
        volume_text, most = compared_texts(volume, most_volume)
        sentence = f"{volume_text} million tokens a month, and the replicas allowed serve {most}"
        served = replace(served, says=sentence)
    return (
        Gate(GateName.COVERAGE, None, ENTERED),
        served,
        Gate(GateName.HISTORY, None, BORNE),
        parts_gate(month, list(parts.values())),
    )
