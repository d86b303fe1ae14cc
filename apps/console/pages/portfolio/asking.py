"""Entries that are said over the ledger before a portfolio is asked for."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from apps.console.kit.change import ChangeForm
from apps.console.kit.entries import AmountField, LinesField, NonNegativeIntegerField
from apps.economics.portfolio.names import MOST_MONTHS
from apps.economics.refusal import Refusal
from apps.planning.queries.portfolio.runs import PortfolioRunFact
from apps.planning.queries.scenario_text import scenario_tables

HUNDRED = 100
PARTS = {
    "monthly_growth": "growth",
    "growth_spread": "spread",
    "risk_weight": "risk",
    "tail": "tail",
    "most_blocked": "blocked",
}
"""What a document has as a part, and the form in per cent, by its keys."""
BOUNDS = {"growth": (-50, 100), "spread": (0, 50), "risk": (0, 100), "tail": (0, 99), "blocked": (0, 100)}  # fmt: skip
USUAL = {"months": "12", "spread": "0", "risk": "30", "tail": "90"}


class PortfolioForm(ChangeForm):
    """The assumptions of a portfolio; what is empty is as the ledger has it, or without a limit."""

    months = NonNegativeIntegerField("Months to plan", f"1 to {MOST_MONTHS}", example="12")
    growth = AmountField(
        "Growth a month, %", "empty: as a forecast by the day says, else none", "3"
    )
    spread = AmountField("Spread of that growth, %", "its standard deviation", "2")
    risk = AmountField("Weight of the worst scenarios, %", "the rest is the mean’s", "30")
    tail = AmountField("Which count as worst, from %", "90: the worst tenth", "90")
    budget = AmountField("Most for new commitments, {currency}", "over the planned months", "50000")
    blocked = AmountField(
        "Most GPU-hours blocked, %", "of what is needed; takes a quota of a family below", "1"
    )
    more = LinesField(
        "What the ledger does not know, or otherwise (TOML)",
        str,
        "[[families]], [[offers]] and [[held]] as in docs/guides/portfolio.md; a table of a name that is known changes it",
    )


def initial_of(run: PortfolioRunFact | None) -> dict[str, str]:
    """Return what was asked last, as it was entered."""
    if run is None:
        return dict(USUAL)
    entered = {
        name: f"{run.overlay[key] * HUNDRED:g}"
        for key, name in PARTS.items()
        if isinstance(run.overlay.get(key), float | int)
    }
    limits = {key: f"{run.overlay[key]}" for key in ("months", "budget") if key in run.overlay}
    return USUAL | entered | limits | {"more": run.text}


def overlay_of(entered: Mapping[str, Any]) -> dict[str, Any]:
    """The document that is laid over the ledger's. Refuses a Refusal that names the entry."""
    tables = _tables_of(entered["more"])
    overlay: dict[str, Any] = dict(tables)
    if entered["months"] is not None:
        if not 1 <= entered["months"] <= MOST_MONTHS:
            raise Refusal("months", f"it is from 1 to {MOST_MONTHS}")
        overlay["months"] = entered["months"]
    for key, name in PARTS.items():
        value: Decimal | None = entered[name]
        if value is not None:
            least, most = BOUNDS[name]
            if not least <= value <= most:
                raise Refusal(name, f"it is from {least} to {most}")
            overlay[key] = float(value / HUNDRED)
    budget: Decimal | None = entered["budget"]
    if budget is not None:
        if not 0 <= budget <= 10**15:
            raise Refusal("budget", "it is from 0 to 1,000,000,000,000,000")
        overlay["budget"] = float(budget)
    return overlay


def _tables_of(text: str) -> dict[str, Any]:
    """As JSON keeps it: days are text."""
    try:
        tables = scenario_tables(text) if text.strip() else {}
    except Refusal as refusal:
        raise Refusal("more", f"what is entered {refusal.message}") from refusal
    return {key: _plain(value) for key, value in tables.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool) else str(value)
