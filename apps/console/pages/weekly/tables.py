"""The tables of weekly reviews on pages: those that go out as papers, with links and orders."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

from django.urls import reverse

from apps.console.kit.cells import (
    COUNT,
    INSTANT,
    MONEY,
    PROSE,
    RATIO,
    SIGNED_MONEY,
    SIGNED_RATIO,
    TEXT,
    UNIT_COST,
)
from apps.console.kit.table import Table
from apps.economics.money import MICROS
from apps.review.queries.weekly.content import ReviewedCommitment, ReviewedTeam, ReviewedWorkload
from apps.review.queries.weekly.content_to_do import ReviewedMatter, ReviewedRecommendation
from apps.review.queries.weekly.notes import DECISION_WORDS, ReviewNoteFact
from apps.review.queries.weekly.paper_table import PaperField, PaperTable
from apps.review.queries.weekly.paper_tables import (
    BUDGET_TABLE,
    COMMITMENT_TABLE,
    IDLE_TABLE,
    MATTER_TABLE,
    PROVEN_TABLE,
    QUALITY_TABLE,
    TEAM_TABLE,
    WORKLOAD_TABLE,
    IdlePart,
    QualityFact,
    change_ratio,
    recommendation_table,
)
from apps.review.queries.weekly.review_list import ListedReview, WorkloadWeek
from apps.review.queries.weekly.review_words import UNIT_WORDS, VERDICT_WORDS
from apps.show.document import ColumnRoom
from apps.tables.column import CURRENCY_COLUMN, Column
from apps.workloads.queries.returns import VALUE_UNITS, ScoreFact, ValueFact

Row = TypeVar("Row")
Hrefs = Mapping[str, Callable[[Row], str]]


class CauseOfChange(NamedTuple):
    """A part of what moved the cost."""

    name: str
    meaning: str
    micros: int


def console_table(
    paper: PaperTable[Row],
    about: str,
    hrefs: Hrefs[Row] | None = None,
    more: tuple[Column[Row], ...] = (),
    **options: Any,
) -> Table[Row]:
    """A table that goes out, as a page has it; `hrefs` of cells by column, `more` columns after its own."""
    columns = (*(_console_column(field, (hrefs or {})) for field in paper.fields), *more)
    return Table(
        name=paper.name,
        title=options.pop("title", paper.title),
        columns=(*columns, CURRENCY_COLUMN),
        noun=paper.noun,
        about=about,
        **options,
    )


def _console_column(field: PaperField[Row], hrefs: Hrefs[Row]) -> Column[Row]:
    column = field.column
    return Column(
        column.name,
        "" if column.room is ColumnRoom.FILE else column.heading,
        field.value,
        column.format,
        href=hrefs.get(column.name),
    )


SHOWN = ("workload", "verdict", "cost", "change_ratio", "waste", "unit_cost", "returned")
"""The columns of workloads that a page has room for; the others are in its CSV."""


def workload_table(week: str, decisions: Mapping[int, ReviewNoteFact]) -> Table[ReviewedWorkload]:
    """Every workload of a week with its verdict, what it was before, and what its owner decided."""

    def decision(row: ReviewedWorkload) -> str | None:
        note = decisions.get(row.workload_id)
        return None if note is None else DECISION_WORDS[note.decision]

    def href(row: ReviewedWorkload) -> str:
        return reverse("reviewed-workload", args=[week, row.workload_id])

    paper = {field.column.name: field for field in WORKLOAD_TABLE.fields}
    shown = {name: _console_column(paper[name], {"workload": href}) for name in SHOWN}
    return Table(
        WORKLOAD_TABLE.name,
        "Workloads",
        (
            replace(shown["workload"], note=lambda row: row.team),
            replace(
                shown["verdict"],
                note=lambda row: (
                    f"was {VERDICT_WORDS[row.verdict_before]}"
                    if row.verdict_before not in ("", row.verdict.verdict)
                    else ""
                ),
                warns=lambda row: (
                    row.verdict.reason if row.verdict.verdict in ("shrink", "retire") else False
                ),
            ),
            Column("decision", "Decided", decision, missing="–"),
            *(shown[name] for name in ("cost", "change_ratio", "waste")),
            replace(
                shown["unit_cost"],
                text="Unit cost",
                note=lambda row: UNIT_WORDS.get(row.units.unit, ""),
            ),
            shown["returned"],
            *(
                replace(_console_column(field, {}), text="")
                for name, field in paper.items()
                if name not in SHOWN
            ),
            Column("verdict_in_last_review", "", lambda row: row.verdict_before or None),
            Column("cost_in_last_review", "", lambda row: row.frozen_before_micros, MONEY),
            CURRENCY_COLUMN,
        ),
        noun=WORKLOAD_TABLE.noun,
        about="{said}; the verdict is of the last weeks, everything else of this one; why is on a workload’s page",
        sort="sort",
        per_page=50,
    )


TEAMS: Table[ReviewedTeam] = console_table(
    TEAM_TABLE,
    "{said}; they sum to the week",
    more=(
        Column(
            "cost_before",
            "In last review",
            lambda row: row.frozen_before_micros,
            MONEY,
            csv="cost_in_last_review",
        ),
    ),
)
IDLE: Table[IdlePart] = console_table(
    IDLE_TABLE,
    "of GPUs that were paid for, by why nothing ran; work that failed and hours without requests aside",
    title="Idle, in four numbers",
)
COMMITMENTS: Table[ReviewedCommitment] = console_table(
    COMMITMENT_TABLE,
    "{said}",
    {"commitment": lambda row: reverse("commitment", args=[row.commitment_id])},
    title="Commitments",
)
BUDGETS = console_table(
    BUDGET_TABLE,
    "{said}, as they stood at the end of the week",
    {"budget": lambda row: reverse("budget", args=[row.budget_id])},
    title="Budgets",
)
MATTERS: Table[ReviewedMatter] = console_table(
    MATTER_TABLE,
    "{said} that were open, and anomalies of the last three weeks",
    {"title": lambda row: row.link},
    title="Alerts and anomalies",
)
PROVEN = console_table(
    PROVEN_TABLE,
    "{said} of the last quarter",
    {"title": lambda row: row.link},
    title="Proven savings",
)
QUALITY: Table[QualityFact] = console_table(
    QUALITY_TABLE, "how far these figures can be trusted", title="How good the data is"
)


def recommendations_table(names: Mapping[int, str]) -> Table[ReviewedRecommendation]:
    """Return the table of the recommendations that were open; `names` are of people by id."""
    return console_table(
        recommendation_table(names),
        "{said} that were open or claimed, a month’s saving",
        {"title": lambda row: row.link},
        title="Recommendations",
    )


CAUSES = Table[CauseOfChange](
    "causes",
    "What moved the cost",
    (
        Column("cause", "Cause", lambda row: row.name, note=lambda row: row.meaning),
        Column("amount", "Amount", lambda row: row.micros, SIGNED_MONEY),
        CURRENCY_COLUMN,
    ),
    noun=("cause", "causes"),
    about="they sum to the change",
)


def _verdict_column(verdict: str, label: str) -> Column[ListedReview]:
    """How many workloads have this verdict."""

    def workloads(row: ListedReview) -> int:
        return row.verdicts.get(verdict, 0)

    return Column(verdict, label.capitalize(), workloads, COUNT)


REVIEWS = Table[ListedReview](
    "weeks",
    "Weeks",
    (
        Column(
            "week",
            "Week",
            lambda row: row.week,
            href=lambda row: reverse("weekly-review", args=[row.week]),
        ),
        Column("cost", "Cost", lambda row: row.cost_micros, MONEY),
        Column(
            "change_ratio",
            "Change",
            lambda row: change_ratio(row.cost_micros, row.before_micros),
            SIGNED_RATIO,
        ),
        Column("waste", "Waste", lambda row: row.waste_micros, MONEY),
        Column(
            "waste_ratio",
            "Of cost",
            lambda row: (
                (row.waste_micros or 0) / row.cost_micros
                if row.waste_micros is not None and row.cost_micros
                else None
            ),
            RATIO,
        ),
        *(_verdict_column(word, label) for word, label in VERDICT_WORDS.items()),
        Column("made_at", "Made", lambda row: row.made_at, INSTANT),
        Column("edition", "Edition", lambda row: row.edition, COUNT),
        Column("digest", "", lambda row: row.digest),
        CURRENCY_COLUMN,
    ),
    noun=("week", "weeks"),
    about="{said}, each frozen as it was made; verdicts are counts of workloads",
)
WEEKS_OF_WORKLOAD = Table[WorkloadWeek](
    "weeks",
    "Week by week",
    (
        Column(
            "week",
            "Week",
            lambda row: row.week,
            href=lambda row: reverse("weekly-review", args=[row.week]),
        ),
        Column("cost", "Cost", lambda row: row.workload.cost.micros, MONEY),
        Column("waste", "Waste", lambda row: row.workload.waste.micros, MONEY),
        Column("verdict", "Verdict", lambda row: VERDICT_WORDS[row.workload.verdict.verdict]),
        Column("reason", "Because", lambda row: row.workload.verdict.reason, PROSE),
        CURRENCY_COLUMN,
    ),
    noun=("week", "weeks"),
    about="{said}, as each was frozen",
)
NOTES = Table[ReviewNoteFact](
    "notes",
    "Comments and decisions",
    (
        Column("at", "When", lambda row: row.at, INSTANT),
        Column("week", "Week", lambda row: row.week),
        Column("workload", "About", lambda row: row.workload or "the whole week"),
        Column("decision", "Decided", lambda row: DECISION_WORDS.get(row.decision), missing="–"),
        Column("text", "Comment", lambda row: row.text, PROSE),
        Column("author", "By", lambda row: row.author_name),
    ),
    noun=("note", "notes"),
    about="{said}; kept beside the review, which stays as it was frozen",
)


def _micros(amount: Decimal | None) -> int | None:
    return None if amount is None else round(amount * MICROS)


VALUES = Table[ValueFact](
    "values",
    "What a unit is worth",
    (
        Column("valid_from", "From", lambda row: row.valid_from.isoformat(), TEXT),
        Column("unit", "Unit", lambda row: VALUE_UNITS[row.unit]),
        Column("low", "At least", lambda row: _micros(row.low), UNIT_COST, missing="no value"),
        Column("high", "At most", lambda row: _micros(row.high), UNIT_COST, missing="no value"),
        Column("note", "Why", lambda row: row.note, PROSE),
        Column("stated_by", "By", lambda row: row.stated_name),
        Column("stated_at", "Stated", lambda row: row.stated_at, INSTANT),
        CURRENCY_COLUMN,
    ),
    noun=("statement", "statements"),
    about="{said}; of those that hold, the one from the latest day counts",
    empty="Its owner has not stated what a unit is worth: its verdict can never be that it earns.",
)
SCORES = Table[ScoreFact](
    "scores",
    "Quality, as its owner states it",
    (
        Column("day", "Day", lambda row: row.day.isoformat(), TEXT),
        Column("name", "Score", lambda row: row.name),
        Column(
            "value", "Value", lambda row: row.value, COUNT, shown=lambda row, _: f"{row.value:g}"
        ),
        Column(
            "direction",
            "Better",
            lambda row: "higher" if row.higher_is_better else "lower",
        ),
        Column("stated_by", "By", lambda row: row.stated_name),
        Column("stated_at", "Stated", lambda row: row.stated_at, INSTANT),
    ),
    noun=("score", "scores"),
    about="{said}",
    empty="None is stated; runs report theirs by the SDK.",
)
