"""How long each table's rows stay, by what, and why; every table has one rule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings

from apps.accounts.actions import repeats
from apps.fleet.actions import not_understood
from apps.ledger.actions import exports
from apps.placement.actions import books
from apps.planning.actions import forecasts, portfolio
from apps.review.actions import budget_alerts, messages
from apps.show.time import duration
from apps.telemetry.actions import partitions
from apps.workloads.actions import requests, set_aside

FOR_GOOD = "for good"


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """How long rows stay (`kept`), and why; `setting` names what changes it, empty where nothing does."""

    kept: str
    why: str
    setting: str = ""

    @property
    def words(self) -> str:
        """Why, and what changes it."""
        return f"{self.why} Changed by {self.setting}." if self.setting else self.why


FACTS = RetentionRule(FOR_GOOD, "Amounts rest on it, and can be computed again from it.")
AMOUNTS = RetentionRule(FOR_GOOD, "The ledger: what was charged is never forgotten.")
CHANGES = RetentionRule(FOR_GOOD, "The audit trail: who changed what, written by the database.")
ENTERED = RetentionRule("until somebody removes it", "Entered by people; its history stays.")
ANSWERS = RetentionRule(FOR_GOOD, "Held against what came of it.")
FRAMEWORK = RetentionRule("with its person", "What signing in needs.")
SOFTWARE = RetentionRule(FOR_GOOD, "Of the software itself.")

BY_NAME: Sequence[tuple[str, RetentionRule]] = (
    ("ledger.", AMOUNTS),
    ("unit_economics.", AMOUNTS),
    ("telemetry.", FACTS),
    ("workloads.", FACTS),
    ("fleet.", FACTS),
    ("pricing.", FACTS),
    ("planning.history", FACTS),
    ("planning.seriesimport", FACTS),
    ("planning.rejectedseriesrow", FACTS),
    ("planning.forecast", ANSWERS),
    ("planning.reconciliation", ANSWERS),
    ("planning.scenariorun", ANSWERS),
    ("planning.capacityrequeststep", ANSWERS),
    ("planning.", ENTERED),
    ("placement.accelerator", ENTERED),
    ("placement.egress", ENTERED),
    ("placement.", ANSWERS),
    ("review.alertchannel", ENTERED),
    ("review.chartnote", ENTERED),
    ("review.", ANSWERS),
    ("accounts.", ENTERED),
    ("account.", FRAMEWORK),
    ("auth.", FRAMEWORK),
    ("mfa.", FRAMEWORK),
    ("socialaccount.", FRAMEWORK),
    ("pghistory.", CHANGES),
    ("sessions.", FRAMEWORK),
    ("contenttypes.", SOFTWARE),
    ("django_migrations", SOFTWARE),
)
"""By how its label begins, the first that fits; those that forget by age come before."""


def retention_rule(
    label: str, limited: Mapping[str, RetentionRule], *, is_history: bool
) -> RetentionRule | None:
    """The rule of a table by its model's label, such as `ledger.line`, or its name where no model is of it.

    None where nobody stated one. `limited` are those of `limited_rules`. `is_history`: the database itself writes there what changed of another table.
    """
    if label in limited:
        return limited[label]
    if is_history:
        return CHANGES
    return next((rule for start, rule in BY_NAME if label.startswith(start)), None)


def limited_rules() -> dict[str, RetentionRule]:
    """Those of tables of which rows go by age, by number or by themselves, by label."""
    return {**_usage_rules(), **_answer_rules(), **_passing_rules()}


def _usage_rules() -> dict[str, RetentionRule]:
    """Return the rules of keeping what agents sent and what it was summed to."""
    of_windows, of_usage = "RUNRATE_KEEP_WINDOW_DAYS", "RUNRATE_KEEP_USAGE_MONTHS"
    days = settings.KEEP_WINDOW_DAYS * partitions.DAY
    months = f"{settings.KEEP_USAGE_MONTHS} months"
    usage = RetentionRule(months, "Costs do not need them again.", of_usage)
    batches = RetentionRule(
        duration(days + partitions.BATCHES_OUTLAST_WINDOWS),
        "Longer than windows, so that one sent again is known.",
        of_windows,
    )
    return {
        "telemetry.telemetrywindow": RetentionRule(
            duration(days), "Longer while some of a day wait to be summed.", of_windows
        ),
        "telemetry.batch": batches,
        "telemetry.report": batches,
        "telemetry.usagehour": usage,
        "telemetry.devicehour": usage,
        "telemetry.nodereporthour": usage,
        "telemetry.incident": RetentionRule(months, "Counted from their end.", of_usage),
        "telemetry.nodebusyhour": _aged(
            partitions.BUSY_HOURS_KEPT, "What is older is counted anew from usage hours."
        ),
        "telemetry.windowrejection": _aged(partitions.REMARKS_KEPT, "Counted from the last one."),
        "workloads.requesthour": _aged(requests.KEPT, "Their sums by day stay."),
        "workloads.setasidespan": _aged(
            set_aside.KEPT, "Names, ids and numbers of spans that are read again after an upgrade."
        ),
        "fleet.notunderstood": _aged(
            timedelta(days=not_understood.KEPT_DAYS), "Names that no reader knows; never a value."
        ),
    }


def _answer_rules() -> dict[str, RetentionRule]:
    """Return the rules of keeping what was computed, told or handed out, and is of no use for ever."""
    sent = _aged(messages.KEPT, "Counted from when it was sent or given up.")
    offers = _aged(books.KEPT_FOR, "A quote keeps its own offers.")
    return {
        "planning.forecast": _aged(forecasts.KEPT, "As it was made, with what came of it."),
        "planning.forecastpaths": RetentionRule("the newest", "Of each series."),
        "planning.portfoliorun": RetentionRule(
            f"the newest {portfolio.MOST_KEPT}", "Open ones always."
        ),
        "placement.jobquote": _aged(
            timedelta(days=settings.KEEP_QUOTE_DAYS),
            "Those that somebody took stay for good: they are held against what came of them.",
            "RUNRATE_KEEP_QUOTE_DAYS",
        ),
        "placement.keptspotplan": RetentionRule("the newest", "Of each job and zone."),
        "placement.offerbook": offers,
        "placement.bookoffer": offers,
        "review.budgetforecastlook": _aged(budget_alerts.LOOKS_KEPT, "One a day of each budget."),
        "review.alertmessage": sent,
        "review.messageattempt": sent,
        "ledger.export": _aged(
            exports.KEPT_FOR, "Its file is deleted; that somebody asked for it stays."
        ),
    }


def _passing_rules() -> dict[str, RetentionRule]:
    """Return the rules of keeping what ends by itself."""
    work = RetentionRule("until it is done", "Work that waits.")
    return {
        "accounts.repeatedrequest": _aged(
            repeats.KEPT_FOR, "So that a write sent again is answered alike."
        ),
        "accounts.nameremoval": RetentionRule(
            FOR_GOOD,
            "What was rewritten, by table, and which files held the name; the names go when it is done.",
        ),
        "accounts.pseudonym": RetentionRule(
            FOR_GOOD,
            "So that a name that was taken out stays out when a scheduler reports it again.",
        ),
        "sessions.session": RetentionRule("until it ends", "A session ends by itself."),
        "shared_cache": RetentionRule(
            "minutes to a day", "Each entry says how long it may be used."
        ),
        "fleet.cloudmachine": RetentionRule(
            "until it is gone", "Forgotten when a whole reading of its account has it no more."
        ),
        "pricing.cloudquota": RetentionRule("the newest", "Read anew with each synchronisation."),
        "marks.changedhour": work,
        "marks.changedrange": work,
    }


def _aged(span: timedelta, why: str, setting: str = "") -> RetentionRule:
    return RetentionRule(duration(span), why, setting)
