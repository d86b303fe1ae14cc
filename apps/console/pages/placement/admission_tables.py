"""The tables of admissions: all of a span, and the limits that one was held against."""

from collections.abc import Callable, Mapping
from typing import Any

from django.urls import reverse

from apps.console.kit.cells import COUNT, FIGURE, INSTANT, MONEY, PROSE, Locale
from apps.console.kit.table import Table
from apps.console.pages.placement import admission_words as words
from apps.placement.queries.admission_limits import ALLOW, BUDGET_LIMIT, DENY
from apps.placement.queries.admissions import AdmissionFact
from apps.tables.column import CURRENCY_COLUMN, Column

NONE = "–"


def _of_decider(name: str) -> Callable[[AdmissionFact], Any]:
    """A field of the limit that decided; None where all have room."""

    def value(row: AdmissionFact) -> Any:
        return None if row.verdict == ALLOW else row.limits[0][name]

    return value


def _answer_words(row: AdmissionFact) -> str:
    return words.ANSWERS[row.verdict]


ADMISSIONS = Table[AdmissionFact](
    "admissions",
    "Jobs that asked",
    (
        Column("asked_at", "Asked", lambda row: row.asked_at, INSTANT,
               href=lambda row: reverse("admission", args=[row.id])),
        Column("id", "", lambda row: row.id),
        Column("answer", "Answer", _answer_words, csv="", warns=lambda row: row.verdict == DENY,
               note=lambda row: "and let pass" if row.overridden_at else ""),
        Column("verdict", "", lambda row: row.verdict),
        Column("is_admitted", "", lambda row: "true" if row.is_admitted else "false"),
        Column("job", "Job", words.job_of_team, PROSE, csv="", note=words.work_words),
        Column("team", "Team", lambda row: row.team),
        Column("workload", "", lambda row: row.workload),
        Column("pool", "", lambda row: row.pool),
        Column("gpu_model", "", lambda row: row.job["gpu_model"]),
        Column("gpus", "", lambda row: row.job["gpus"], COUNT),
        Column("gpu_hours", "", lambda row: row.job["gpu_hours"], FIGURE),
        Column("cost", "Cost", lambda row: row.answer["cost_micros"], MONEY),
        CURRENCY_COLUMN,
        Column("decided", "Limit that decided", words.decided_words, PROSE, csv="", sorts=False),
        Column("limit_kind", "", _of_decider("kind")),
        Column("limit", "", _of_decider("name")),
        Column("needed", "", _of_decider("needed"), FIGURE),
        Column("left_now", "", _of_decider("left_now"), FIGURE),
        Column("left_expected", "", _of_decider("left_expected"), FIGURE),
        Column("unit", "", _of_decider("unit")),
        Column("override", "Overridden", words.override_words, PROSE, csv="", missing=NONE),
        Column("overridden_at", "", lambda row: row.overridden_at, INSTANT),
        Column("overridden_by", "", lambda row: row.overridden_name),
        Column("override_reason", "", lambda row: row.override_reason),
        Column("used_at", "", lambda row: row.used_at, INSTANT),
        Column("used_by", "", lambda row: row.used_by),
        Column("asked_by", "Asked by", lambda row: row.asked_name, PROSE),
        Column("digest", "", lambda row: row.digest),
    ),
    noun=("job", "jobs"),
    about="{said}, each as it was answered then; a job that asks twice stands here twice",
    empty="No job was answered so in this span.",
    sort="sort",
    default_sort="-asked_at",
)  # fmt: skip

Limit = Mapping[str, Any]


def _shown_amount(name: str) -> Callable[[Limit, Locale], str]:
    return lambda row, _: words.limit_amount(row, name)


def limit_table(standing_budgets: frozenset[int]) -> Table[Limit]:
    """The limits of an admission; those of `standing_budgets` lead to their pages."""

    def href(row: Limit) -> str:
        if row["kind"] != BUDGET_LIMIT:
            return reverse("gpu-quotas")
        return reverse("budget", args=[row["id"]]) if row["id"] in standing_budgets else ""

    def amount(name: str, heading: str, missing: str = "") -> Column[Limit]:
        shown = _shown_amount(name)
        return Column(
            name, heading, lambda row: row[name], FIGURE, sorts=False,
            shown=lambda row, locale: missing
            if missing and row[name] is None and row["kind"] != BUDGET_LIMIT
            else shown(row, locale),
        )  # fmt: skip

    return Table[Limit](
        "limits",
        "What it was held against",
        (
            Column("name", "Limit", lambda row: row["name"], PROSE, href=href,
                   note=lambda row: "budget" if row["kind"] == BUDGET_LIMIT else "quota of GPUs"),
            Column("kind", "", lambda row: row["kind"]),
            Column("verdict", "", lambda row: row["verdict"]),
            Column("answer", "Answer", lambda row: words.ANSWERS[row["verdict"]], csv="",
                   warns=lambda row: row["verdict"] == DENY),
            Column("standing", "How it stood", lambda row: words.STANDINGS[row["standing"]],
                   written=lambda row, _: row["standing"]),
            amount("needed", "Needed"),
            amount("left_now", "Left then"),
            amount("left_expected", "Left as expected", NONE),
            Column("unit", "", lambda row: row["unit"]),
            Column("over", "Enforcement", words.jobs_over_it, csv=""),
            Column("is_hard", "", lambda row: "true" if row["is_hard"] else "false"),
            Column("reason", "Why", lambda row: row["reason"], PROSE),
        ),
        noun=("limit", "limits"),
        about="{said}, as they stood when it asked; the worst answer of all is the job’s",
        empty="No running budget is of its team, workload or the organisation, and no quota of its place.",
    )  # fmt: skip
