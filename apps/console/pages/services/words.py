"""Words for what a service's cost was for, and for how its units are charged."""

from collections.abc import Mapping

from apps.economics.serving import Purpose
from apps.ledger.queries.service_measures import Load
from apps.ledger.queries.unit_costs import Allocation
from apps.show.words import StateWords

PARTS: Mapping[Purpose, StateWords] = {
    Purpose.ANSWERED: StateWords("active", "Answered", "Hours in which it answered requests."),
    Purpose.IDLE: StateWords(
        "held_idle", "No requests", "Hours in which nobody asked it anything."
    ),
    Purpose.UNATTRIBUTED: StateWords(
        "stranded",
        "Unattributed",
        "Tokens that its engine worked beyond those that the gateway counted.",
    ),
    Purpose.UNCOUNTED: StateWords(
        "unobserved",
        "Not counted",
        "Hours in which neither the engine nor a gateway told what was answered.",
        is_hatched=True,
    ),
}
LOADS: Mapping[str, str] = {
    str(Load.LOADED): "With shared costs",
    str(Load.DIRECT): "Direct cost alone",
    str(Load.MARGINAL): "Marginal cost",
}
ALLOCATIONS: Mapping[str, str] = {
    str(Allocation.ALLOCATION): "All it held",
    str(Allocation.USAGE): "What was active",
}
CHARGED: Mapping[Allocation, str] = {
    Allocation.ALLOCATION: "units carry all it held, hours without requests too",
    Allocation.USAGE: "units carry what was active of it",
}
LOADED: Mapping[Load, str] = {
    Load.LOADED: "with its part of shared costs",
    Load.DIRECT: "without shared costs",
    Load.MARGINAL: "what it adds to what is owed anyway",
}
MEASURES = {"latency": "Whole answer", "first_token": "First token"}
CHANGES = {
    "deploy": "Deployment",
    "model": "Model",
    "prompt": "Prompt",
    "config": "Settings",
}
