"""The gates of a quote as it was answered."""

from collections.abc import Mapping
from typing import Any

from apps.economics.gates import Gate
from apps.economics.money import MICROS
from apps.economics.placement.quote_gates import QuotedOffer, quote_gates
from apps.economics.purchase import PurchaseOption


def gates_of_answer(answer: Mapping[str, Any]) -> tuple[Gate, ...]:
    """Of its first offer; none where no offer took the job. An answer of an earlier release did not say what is there."""
    if not answer["offers"]:
        return ()
    first = answer["offers"][0]
    evidence = first.get("evidence") or {}
    cost, compute = (
        first[name] and first[name]["likely"] for name in ("cost_micros", "compute_micros")
    )
    return quote_gates(
        QuotedOffer(
            gpus=first.get("rented_gpus") or first["nodes"],
            there=first.get("there_gpus"),
            finish_hours=first["finish_hours"],
            is_spot=first["option"] == PurchaseOption.SPOT,
            watched_hours=evidence.get("exposure_hours"),
            cost=None if cost is None else cost / MICROS,
            parts=tuple(
                micros / MICROS
                for micros in (compute, first["egress_micros"])
                if micros is not None
            ),
        )
    )
