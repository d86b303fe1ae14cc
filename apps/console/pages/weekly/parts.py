"""The sections of a week's page: figures, what moved the cost, and the tables with their words."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from apps.accounts.queries import person_names
from apps.console.kit.chart import Figure, FigureRow, LineChart, figure_or_unknown
from apps.console.kit.csv_file import CsvFile, csv_file
from apps.console.kit.page import FactList, Section
from apps.console.kit.request import Context
from apps.console.kit.table import Table
from apps.console.pages.weekly import tables
from apps.console.pages.weekly.visible_review import VisibleReview
from apps.economics.money import sum_of_known, sum_or_unknown
from apps.review.queries.weekly.content import (
    CommitmentsWeek,
    ReviewedTeam,
    WeeklyContent,
    WeekVariance,
)
from apps.review.queries.weekly.paper import forecast_words, quality_facts, week_budget_words
from apps.review.queries.weekly.paper_tables import IdlePart, idle_parts, proven_sum
from apps.review.queries.weekly.review_words import (
    ALERTS,
    BUDGETS,
    COMMITMENTS,
    DATA_QUALITY,
    IDLE,
    RECOMMENDATIONS,
    VARIANCE,
    WORKLOADS,
)
from apps.show.amounts import change, counted, per_cent, points
from apps.show.money import bridged, short_amount, signed_amount
from apps.show.sparkline import sparkline
from apps.show.waterfall import waterfall
from apps.show.words import OLD_CAUSE_WORDS

TABLES_OF: Mapping[str, tuple[str, ...]] = {
    VARIANCE: ("teams",),
    WORKLOADS: ("workloads",),
    IDLE: ("idle",),
    COMMITMENTS: ("commitments",),
    BUDGETS: ("budgets",),
    ALERTS: ("matters",),
    RECOMMENDATIONS: ("recommendations", "proven"),
    DATA_QUALITY: ("data_quality",),
}
NOTES, WHOLE = "notes", "All"
WeekTables = dict[str, tuple[Table[Any], Sequence[Any]]]
Files = Mapping[str, CsvFile]


def week_tables(review: VisibleReview) -> WeekTables:
    """Every table of a week by its name, with its rows."""
    content = review.kept.content
    commitments, quality = content.commitments, content.data_quality
    return {
        "workloads": (tables.workload_table(review.kept.week, review.decisions), content.workloads),
        "teams": (tables.TEAMS, content.teams),
        "causes": (tables.CAUSES, cause_rows(content.variance, content.currency)),
        "idle": (tables.IDLE, idle_parts(content.idle)),
        "commitments": (tables.COMMITMENTS, commitments.commitments if commitments else ()),
        "budgets": (tables.BUDGETS, content.budgets.budgets),
        "matters": (tables.MATTERS, content.matters),
        "recommendations": (
            tables.recommendations_table(person_names()),
            content.recommendations.recommendations,
        ),
        "proven": (tables.PROVEN, content.recommendations.proven),
        "data_quality": (
            tables.QUALITY,
            quality_facts(quality, content.currency) if quality else (),
        ),
        NOTES: (tables.NOTES, review.notes),
    }


def week_files(context: Context, week: str, tables_by_name: WeekTables) -> Files:
    """Every table of a week as CSV, those that are not on its page too."""

    def file(name: str, table: Table[Any], rows: Sequence[Any]) -> CsvFile:
        csv_name = f"weekly-review-{week}-{name}"
        return csv_file(name, context, lambda: table.csv(rows, context, csv_name))

    return {name: file(name, table, rows) for name, (table, rows) in tables_by_name.items()}


def week_sections(
    context: Context, review: VisibleReview, tables_by_name: WeekTables, files: Files
) -> Iterator[Section | None]:
    """Those that are on, in their order; a table without rows is left out."""
    content = review.kept.content
    yield FigureRow(_figures(content))
    for key in content.sections:
        if key == VARIANCE:
            yield _cause_chart(context, review, tables_by_name, files)
        if key == BUDGETS:
            yield _plan_facts(content)
        if key == COMMITMENTS and content.commitments is not None:
            yield _commitment_facts(content.commitments)
        for name in TABLES_OF[key]:
            yield _table(name, context, review, tables_by_name, files)
    yield _table(NOTES, context, review, tables_by_name, files)


def _table(
    name: str,
    context: Context,
    review: VisibleReview,
    tables_by_name: WeekTables,
    files: Files,
) -> Section | None:
    table, rows = tables_by_name[name]
    if not rows:
        return None
    total = total_row(name, review.kept.content)
    return table.section(list(rows), context, csv=files[name], total=total)


def total_row(name: str, content: WeeklyContent) -> ReviewedTeam | IdlePart | None:
    """The last row of a table whose rows sum to the whole week; None of the other tables."""
    if name == "teams" and len(content.teams) > 1:
        return ReviewedTeam(
            team_id=0,
            name=WHOLE,
            cost=content.cost,
            trend=content.trend,
            idle=content.idle,
            variance=content.variance,
            waste_micros=content.waste_micros,
            frozen_before_micros=sum_of_known(team.frozen_before_micros for team in content.teams),
        )
    if name == "idle":
        parts = idle_parts(content.idle)
        total = sum_or_unknown(part.micros for part in parts)
        return IdlePart(WHOLE, total, sum(part.gpu_ms for part in parts))
    return None


def _figures(content: WeeklyContent) -> tuple[Figure, ...]:
    cost, before, currency = content.cost.micros, content.variance.before_micros, content.currency
    wasted, verdicts = content.waste_share, content.verdict_counts
    proven = proven_sum(content.recommendations.proven)
    return (
        figure_or_unknown(
            "Cost",
            None if cost is None else short_amount(cost, currency),
            "against the week before" if before is not None else "nothing to compare with",
            content.cost.status,
            change="" if cost is None or before is None else change(cost, before),
            sparkline=sparkline(content.trend, words=f"{len(content.trend)} weeks up to this one"),
        ),
        figure_or_unknown(
            "Waste",
            None if content.waste_micros is None else short_amount(content.waste_micros, currency),
            f"{per_cent(wasted)} of the cost" if wasted is not None else "",
            tone="held_idle",
        ),
        figure_or_unknown(
            "To shrink or retire",
            f"{verdicts['shrink'] + verdicts['retire']:,}",
            f"of {counted(len(content.workloads), 'workload')}; {verdicts['earns']:,} earn, "
            f"{verdicts['unknown']:,} unknown",
        ),
        Figure("Proven savings", "–", "nothing that was done in the last quarter is measured yet")
        if proven is None
        else Figure(
            "Proven savings",
            short_amount(proven, currency),
            "a month, measured in the ledger after what was done in the last quarter",
        ),
    )


def cause_rows(variance: WeekVariance, currency: str) -> list[tables.CauseOfChange]:
    """The causes in their order, each explained; as shown they add up to the cent."""
    before, after = variance.before_micros, variance.after_micros
    if before is None or after is None or not variance.causes:
        return []
    names = [name for name in OLD_CAUSE_WORDS if name in variance.causes]
    amounts = bridged(before, [variance.causes[name] for name in names], after, currency)
    return [
        tables.CauseOfChange(*OLD_CAUSE_WORDS[name], micros)
        for name, micros in zip(names, amounts, strict=True)
    ]


def _cause_chart(
    context: Context, review: VisibleReview, tables_by_name: WeekTables, files: Files
) -> Section | None:
    content = review.kept.content
    variance, rows = content.variance, tables_by_name["causes"][1]
    before, after = variance.before_micros, variance.after_micros
    if before is None or after is None or not rows:
        return FactList(
            [("Change", "Not known: of this week or the one before, the cost is not.")],
            title="What moved the cost",
            name="causes",
        )
    return LineChart(
        name="causes-chart",
        title=_cause_finding(rows, content.currency),
        unit=content.currency,
        figure=waterfall(
            ("Week before", before),
            [(row.name, row.micros) for row in rows],
            (content.week, after),
            content.currency,
        ),
        behind=tables.CAUSES.section(list(rows), context),
        csv=files["causes"],
        anchor="causes",
    )


def _cause_finding(rows: Sequence[tables.CauseOfChange], currency: str) -> str:
    most = max(rows, key=lambda row: abs(row.micros))
    if not most.micros:
        return "Nothing moved the cost since the week before"
    moved = signed_amount(most.micros, currency)
    return f"What moved the cost since the week before: most of all {most.name.lower()}, {moved}"


def _plan_facts(content: WeeklyContent) -> Section | None:
    """The week against the forecast from before it began, and against the budget's part of it."""
    budgets, currency = content.budgets, content.currency
    facts = [("Forecast", words) for words in forecast_words(budgets, currency)]
    if budgets.forecast.variance is not None and budgets.forecast.variance.causes:
        cause_words = [
            f"{signed_amount(micros, currency)} by {name}"
            for name, micros in budgets.forecast.variance.causes.items()
        ]
        facts.append(
            ("Of that", f"{', '.join(cause_words)}: GPU-hours that jobs held, and the cost of one")
        )
    facts += [("Budget", words) for words in week_budget_words(budgets, currency)]
    if not facts:
        return None
    return FactList(facts, title="Against forecast and budget", name="plan")


def _commitment_facts(week: CommitmentsWeek) -> Section | None:
    if not week.commitments:
        return None
    facts = [
        (name, f"{per_cent(now)}, {points(now, before)} against the week before")
        for name, now, before in (
            ("Coverage", week.coverage, week.coverage_before),
            ("Utilization", week.utilisation, week.utilisation_before),
        )
        if now is not None and before is not None
    ]
    ending = [commitment for commitment in week.commitments if commitment.ends_in_days is not None]
    facts.append(
        (
            "Ending",
            ", ".join(
                f"{commitment.name} on {date.fromisoformat(commitment.ends_on):%-d %B %Y}"
                for commitment in ending
            )
            or "none in 90 days",
        )
    )
    return FactList(facts, title="All commitments", name="all-commitments")
