"""Tables of placement: offers of a job, quotes that were kept, and how well they said what came."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from django.urls import reverse

from apps.console.kit.cells import (
    COUNT,
    FIGURE,
    INSTANT,
    MONEY,
    PROSE,
    RATIO,
    Locale,
)
from apps.console.kit.table import Table
from apps.console.pages.placement import words
from apps.placement.queries.quotes import QuoteFact
from apps.placement.tables.quote_calibration import QUOTE_CALIBRATION
from apps.show.money import full_amount
from apps.show.time import minute_duration
from apps.show.unknown import UNKNOWN as NOT_KNOWN
from apps.tables.column import Column

Offer: TypeAlias = Mapping[str, Any]
NONE = "–"


def _likely_cost(row: Offer) -> int | None:
    return row["cost_micros"]["likely"] if row["cost_micros"] else None


def _least_left(row: Offer) -> int | None:
    """Return what the offer leaves of the budget in money that it leaves least of."""
    left = [budget["left"] for budget in row["budgets"] if budget["measure"] == "money"]
    return min((amount for amount in left if amount is not None), default=None)


def _range_words(row: Offer, locale: Locale) -> str:
    cost = row["cost_micros"]
    if cost is None:
        return NOT_KNOWN
    if cost["low"] == cost["high"]:
        return "no range is known"
    return f"{full_amount(cost['low'], locale.currency)} to {full_amount(cost['high'], locale.currency)}"


def _words_of(
    value: Callable[[Any], float | None], say: Callable[[float], str], missing: str = NOT_KNOWN
) -> Callable[[Any, Locale], str]:
    """How a column says its number, and that there is none."""

    def shown(row: Any, _: Locale) -> str:
        number = value(row)
        return missing if number is None else say(number)

    return shown


def _minute_words(seconds: float) -> str:
    return minute_duration(timedelta(seconds=seconds))


def _hour_words(hours: float) -> str:
    return words.hours_words(hours) or NONE


def _why_words(row: Offer) -> str:
    return ". ".join([*row["unknown"], *row["cautions"], *row["reasons"]])


def _why_briefly(row: Offer) -> str:
    """Return what is not known of an offer, else what to be careful with, else the last reason: a line under the name."""
    remarks = [*row["unknown"], *row["cautions"]] or row["reasons"][-1:]
    more = f" (and {len(remarks) - 1} more)" if len(remarks) > 1 else ""
    return "".join(remarks[:1]) + more


def _price_age(row: Offer) -> int | None:
    """Days since the oldest of the prices that it is reckoned by was last said."""
    ages = [price["age_days"] for price in row.get("price_rows") or ()]
    return max(ages, default=None)


OFFERS = Table[Offer](
    "offers",
    "Offers for this job",
    (
        Column("rank", "Rank", lambda row: row["rank"], COUNT),
        Column("name", "Offer", lambda row: row["name"], PROSE, note=_why_briefly),
        Column("cost", "Added cost", _likely_cost, MONEY, csv="cost"),
        Column("paid_anyway", "Already committed", lambda row: row["paid_anyway_micros"] or None, MONEY, missing=NONE),
        Column("finish", "Done in", lambda row: row["finish_hours"], FIGURE, csv="finish_hours", shown=_words_of(lambda row: row["finish_hours"], _hour_words)),
        Column("standing", "Deadline", lambda row: words.STANDINGS[row["standing"]]),
        Column("chance", "Chance of deadline", lambda row: row["deadline_chance"], RATIO, missing=NONE),
        Column("option", "Bought", lambda row: words.WAYS[row["option"]].label),
        Column("model", "GPU model", lambda row: row["gpu_model"], csv="gpu_model"),
        Column("place", "Place", lambda row: f"{row['provider']}:{row['region']}"),
        Column("range", "Range", lambda row: row["cost_micros"], FIGURE, csv="", shown=_range_words, sorts=False),
        Column("charged", "Ledger will charge", lambda row: row["charged_micros"], MONEY),
        Column("price_age", "Price said", _price_age, COUNT, csv="price_age_days",
               shown=_words_of(_price_age, "{:,} days ago".format, NONE)),
        Column("interruptions", "Interruptions", lambda row: row["interruptions"], FIGURE,
               shown=_words_of(lambda row: row["interruptions"], "{:.1f}".format)),
        Column("cadence", "Save every", lambda row: row["cadence_seconds"], FIGURE, csv="cadence_seconds",
               shown=_words_of(lambda row: row["cadence_seconds"], _minute_words, NONE)),
        Column("egress", "Egress", lambda row: row["egress_micros"], MONEY),
        Column("wait", "Queue wait", lambda row: row["wait_hours"], FIGURE, csv="wait_hours",
               shown=_words_of(lambda row: row["wait_hours"], _hour_words)),
        Column("budget", "Least left of a budget", _least_left, MONEY, missing=NONE),
        Column("low", "", lambda row: row["cost_micros"]["low"] if row["cost_micros"] else None, MONEY, csv="cost_low"),
        Column("high", "", lambda row: row["cost_micros"]["high"] if row["cost_micros"] else None, MONEY, csv="cost_high"),
        Column("energy", "Energy", lambda row: row["kilowatt_hours"], FIGURE, csv="kilowatt_hours",
               shown=_words_of(lambda row: row["kilowatt_hours"], "{:,.0f} kWh".format)),
        Column("energy_from", "", lambda row: row["energy_words"], csv="energy_from"),
        Column("why", "", _why_words),
    ),
    noun=("offer", "offers"),
    about="{said}; cost is what the job adds: GPUs that are owned or bought ahead add little or nothing, and are paid anyway",
    empty="No offer can take this job.",
    sort="rank",
)  # fmt: skip


def _taken_name(row: QuoteFact) -> str | None:
    offer = row.taken_offer
    return None if offer is None else offer["name"]


def _predicted_micros(row: QuoteFact) -> int | None:
    offer = row.taken_offer
    return None if offer is None else offer["charged_micros"]


def _predicted_hours(row: QuoteFact) -> float | None:
    offer = row.taken_offer
    return None if offer is None else offer["finish_hours"]


def _deadline_words(row: QuoteFact) -> str | None:
    """Whether a job that ended did so in time; None where it has not, or had no deadline."""
    deadline = row.job["deadline"]
    if deadline is None or row.ended_at is None:
        return None
    return "Met" if row.ended_at <= datetime.fromisoformat(deadline) else "Missed"


QUOTES = Table[QuoteFact](
    "quotes",
    "Quotes",
    (
        Column("id", "Quote", lambda row: row.id, COUNT,
               href=lambda row: reverse("quote", args=[row.id])),
        Column("job", "Job", words.job_words, PROSE),
        Column("taken", "Taken", _taken_name, PROSE, missing=NONE),
        Column("predicted", "Predicted cost", _predicted_micros, MONEY, missing=NONE),
        Column("actual", "Actual cost", lambda row: row.actual_micros, MONEY, missing=NONE),
        Column("predicted_hours", "Predicted time", _predicted_hours, FIGURE, missing=NONE,
               shown=_words_of(_predicted_hours, _hour_words, NONE)),
        Column("actual_hours", "Actual time", lambda row: row.actual_hours, FIGURE, missing=NONE,
               shown=_words_of(lambda row: row.actual_hours, _hour_words, NONE)),
        Column("deadline", "Deadline", _deadline_words, missing=NONE),
        Column("interruptions", "Interrupted", lambda row: row.actual_interruptions, COUNT, missing=NONE),
        Column("team", "Team", lambda row: row.team, missing=NONE),
        Column("asked_at", "Asked", lambda row: row.asked_at, INSTANT),
        Column("best", "First offer", lambda row: row.best_offer and row.best_offer["name"], PROSE, missing="None"),
    ),
    noun=("quote", "quotes"),
    about="{said}; predicted and actual cost are what the ledger charges",
    empty="Quotes that schedulers and people ask over REST are kept here.",
    sort="-asked_at",
)  # fmt: skip

CALIBRATION = Table.of(QUOTE_CALIBRATION)
