"""The tables of a portfolio."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from django.urls import reverse

from apps.console.kit.cells import (
    COUNT,
    MONEY,
    RATIO,
    SIGNED_RATIO,
    WHOLE_MONEY,
    WRAPPED,
    Format,
)
from apps.console.kit.table import Table
from apps.console.pages.portfolio import words
from apps.planning.tables.portfolio_runs import PORTFOLIO_RUNS
from apps.show.money import unit_cost
from apps.tables.column import Column

Row: TypeAlias = Mapping[str, Any]
HOURS = Format(lambda hours, _: f"{hours:,.0f}", lambda hours, _: f"{hours:.6f}", "number-cell")
GPUS = Format(lambda gpus, _: f"{gpus:,.1f}", lambda gpus, _: f"{gpus:.6f}", "number-cell")
RATE = Format(
    lambda rate, locale: unit_cost(words.micros_of(rate), locale.currency),
    lambda rate, _: f"{rate:.9f}",
    "number-cell",
)


def _field(name: str) -> Any:
    return lambda row: row[name]


def _amount(name: str) -> Any:
    return lambda row: words.micros_of(row[name])


def _part_of_demand(name: str) -> Any:
    def value(row: Row) -> float | None:
        parts = row["parts"]
        return parts[name] / parts["demand_hours"] if parts["demand_hours"] else None

    return value


def _waiting_cost(row: Row) -> int | None:
    """None where nobody said what waiting costs, or the answer was kept before that was asked."""
    cost = row.get("waiting_cost")
    return None if cost is None else words.micros_of(cost)


def _lots(row: Row) -> str:
    return words.bought(row["lots"])


OFFERS = Table[Row](
    "offers",
    "Recommended purchases",
    (
        Column("offer", "Offer", _field("name"), WRAPPED, note=_field("family")),
        Column("family", "", _field("family")),
        Column("kind", "", _field("kind")),
        Column("lots", "", _field("lots"), COUNT),
        Column("gpus", "Buy GPUs", _field("gpus"), COUNT),
        Column("rate", "A GPU-hour", _field("rate"), RATE),
        Column("upfront", "Upfront", _amount("upfront"), WHOLE_MONEY),
        Column("break_even", "Break-even", _field("break_even_utilization"), RATIO,
               missing="none"),
        Column("last_lot", "Marginal saving, last unit", _amount("last_lot"), WHOLE_MONEY, missing="–"),
        Column("one_more", "Marginal saving, next unit", _amount("one_more_lot"), WHOLE_MONEY, missing="–"),
        Column("pays_up_to", "Break-even rate", _field("pays_up_to"), RATE, missing="–"),
        Column("history_days", "Rests on days", lambda row: row.get("history_days"), HOURS,
               missing="–", note=lambda row: row.get("caution", "")),
        Column("caution", "", lambda row: row.get("caution", "")),
    ),
    noun=("offer", "offers"),
    about="a lot is what is bought together: the GPUs of a machine. upfront is spread over the term; break-even is how much of it must be used to pay; savings are over the planned months; at up to the last price of a GPU-hour one more lot would pay",
    empty="No offer is known: nothing that holds can be bought again, and none was added below.",
)  # fmt: skip
CHOICES = Table[Row](
    "choices",
    "Strategies compared",
    (
        Column("choice", "Choice", lambda row: words.CHOICES[row["name"]], WRAPPED),
        Column("mean", "Expected cost", _amount("mean_cost"), WHOLE_MONEY),
        Column("tail", "In the worst scenarios", _amount("tail_cost"), WHOLE_MONEY),
        Column("savings_rate", "Savings rate", _field("effective_savings_rate"), SIGNED_RATIO),
        Column("blocked", "Blocked", _field("blocked_part"), RATIO),
        Column("lots", "Buys", _lots, WRAPPED),
    ),
    about="everything in it, over the planned months and the same scenarios; the savings rate is of all demand at the price on demand; 2 × is two lots of an offer",
)
HELD_OUT = Table[Row](
    "held-out",
    "Back-test, last 730 h",
    (
        Column("choice", "Choice", lambda row: words.CHOICES[row["name"]], WRAPPED),
        Column("cost", "Cost", _amount("cost"), WHOLE_MONEY),
        Column("savings_rate", "Savings rate", _field("effective_savings_rate"), SIGNED_RATIO),
        Column("blocked", "Blocked", _field("blocked_part"), RATIO),
        Column("lots", "Would have bought", _lots, WRAPPED),
    ),
    about="with what was known before the last 730 hours of the history, at today’s prices and with what is held today",
)
FAMILIES = Table[Row](
    "families",
    "Where GPU-hours come from",
    (
        Column("family", "Family", _field("name"), WRAPPED),
        Column("demand", "GPU-hours", lambda row: row["parts"]["demand_hours"], HOURS),
        Column("interruptible", "May be interrupted", _field("interruptible"), RATIO),
        Column("committed", "Committed", _part_of_demand("committed_used_hours"), RATIO),
        Column("spot", "Spot", _part_of_demand("spot_hours"), RATIO),
        Column("on_demand", "On demand", _part_of_demand("on_demand_hours"), RATIO),
        Column("blocked", "Blocked", _part_of_demand("short_hours"), RATIO),
        Column("waiting", "Waiting GPU-hours", lambda row: row.get("waiting_hours"), HOURS, missing="–"),
        Column("waiting_cost", "Waiting costs", _waiting_cost, WHOLE_MONEY, missing="–"),
        Column("utilization", "In use", _field("utilization"), RATIO, missing="–"),
        Column("utilization_p10", "", _field("tenth_utilization"), RATIO,
               missing="–"),
        Column("worth", "Marginal saving an hour", _field("gpu_hour_worth"), RATE),
    ),
    noun=("family", "families"),
    about="mean of the scenarios; what may be interrupted ran on spot, or is of runs that saved a good checkpoint; committed is owned, reserved or committed to, and in use what of that is used; what waits is beyond the GPUs that are there, and in none of the parts; one more GPU saves so much an hour of the planned months",
)  # fmt: skip
LADDER = Table[Row](
    "ladder",
    "When to buy",
    (
        Column("on", "On", _field("on")),
        Column("lots", "Buy", _lots, WRAPPED, note=_field("family")),
        Column("family", "", _field("family")),
        Column("from", "From GPUs", _field("from_gpus"), GPUS),
        Column("to", "To GPUs", _field("to_gpus"), GPUS),
        Column("needs", "Use it needs", _field("break_even_utilization"), RATIO),
        Column("expected", "Use expected", _field("expected_utilization"), RATIO),
        Column("pays_in", "Pays in", _field("pays_in"), RATIO),
        Column("waiting", "Waiting gives away", _amount("waiting_cost"), WHOLE_MONEY),
    ),
    about="the surest part first; before each, leave it out where demand has not been above its first GPU in that part of the hours",
)
CHANGES = Table[Row](
    "changes",
    "What would change it",
    (
        Column(
            "input",
            "If",
            _field("name"),
            shown=lambda row, _: words.change(row["name"]),
        ),
        Column("lots", "Buy", _lots, WRAPPED),
    ),
    about="all else as it is",
)
SOURCES = Table[Row](
    "sources",
    "What the last months were bought by",
    (
        Column("month", "Month", lambda row: words.month_of(row["month"])),
        Column("family", "Family", lambda row: row["family"] or words.SEVERAL, WRAPPED),
        Column(
            "source", "Source", lambda row: words.SOURCES.get(row["bought_as"], row["bought_as"])
        ),
        Column("gpu_hours", "GPU-hours", _field("gpu_hours"), HOURS),
        Column("on_demand", "At list prices on demand", _amount("on_demand"), MONEY),
        Column("paid", "Paid", _amount("paid"), MONEY),
    ),
    about="GPU-hours in service, used or idle, by the ledger",
)
SAVINGS = Table[Row](
    "savings",
    "Effective savings rate, and what was attainable",
    (
        Column("family", "Family", _field("name"), WRAPPED),
        Column("on_demand", "At list prices on demand", _amount("on_demand"), MONEY),
        Column("paid", "Paid", _amount("paid"), MONEY),
        Column("rate", "Savings rate", _field("effective_savings_rate"), SIGNED_RATIO),
        Column("least", "Least it could have cost", _amount("least"), MONEY),
        Column("attainable", "Attainable", _field("attainable_savings_rate"), SIGNED_RATIO),
    ),
    about="of the same months; attainable with every hour known beforehand, by these offers and as much of what is held as is of use",
    empty="Of no family is everything known that this takes.",
)
OPEN_POINTS = Table[tuple[str, str]](
    "open",
    "What is not known, and what was taken instead",
    (
        Column("what", "What", lambda row: row[0], WRAPPED),
        Column("said", "Then", lambda row: row[1], WRAPPED),
    ),
)
DURATION = Table[Row](
    "duration",
    "GPUs by part of the hours",
    (
        Column("share", "Of all hours", _field("share"), RATIO),
        Column("demand", "Needed", _field("demand"), GPUS),
        Column("owned", "Owned", _field("owned"), GPUS),
        Column("committed", "Reserved or committed", _field("committed"), GPUS),
        Column("on_demand", "On demand", _field("on_demand"), GPUS),
        Column("spot", "Spot", _field("spot"), GPUS),
        Column("blocked", "Blocked", _field("blocked"), GPUS),
    ),
)
RUNS = Table.of(
    PORTFOLIO_RUNS,
    dress={"asked_at": {"href": lambda run: reverse("portfolio-run", args=[run.id])}},
)
OF_ANSWER: Mapping[str, tuple[Table[Row], Any]] = {
    "offers": (OFFERS, lambda answer: answer["offers"]),
    "choices": (CHOICES, lambda answer: [answer["chosen"], *answer["compared"]]),
    "held-out": (HELD_OUT, lambda answer: answer["held_out"]["choices"]),
    "families": (
        FAMILIES,
        lambda answer: [
            one | {"interruptible": words.interruptible(answer, one["name"])}
            for one in answer["families"]
        ],
    ),
    "ladder": (LADDER, lambda answer: answer["ladder"]),
    "changes": (CHANGES, lambda answer: answer["changes"]),
    "sources": (SOURCES, lambda answer: answer["bought"]["sources"]),
    "savings": (SAVINGS, lambda answer: answer["bought"]["families"]),
}
"""The tables of an answer, each with its rows, by the names that addresses have."""
