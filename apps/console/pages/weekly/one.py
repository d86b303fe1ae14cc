"""One workload: in a week's review with its verdict, and what its owner states of it."""

from django.urls import reverse

from apps.console.kit.chart import Figure, FigureRow, figure_or_unknown
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, FactList, Section, shown
from apps.console.kit.request import EVERYONE, Context, value_or_404
from apps.console.pages.weekly import tables
from apps.console.pages.weekly.changes import get_workload_or_404
from apps.console.pages.weekly.visible_review import get_review_or_404
from apps.economics.serving import SERVICE_KINDS
from apps.review.queries.alerts import may_answer
from apps.review.queries.weekly.content import ReviewedWorkload, WeeklyContent
from apps.review.queries.weekly.judged_workloads import SHOWN_PER
from apps.review.queries.weekly.notes import notes_of_workload
from apps.review.queries.weekly.review_list import weeks_of_workload
from apps.review.queries.weekly.review_words import UNIT_WORDS, VERDICT_WORDS
from apps.show.amounts import change, counted, per_cent
from apps.show.money import rounded_amount, short_amount, unit_cost
from apps.show.sparkline import sparkline
from apps.workloads.queries import WorkloadFact
from apps.workloads.queries.returns import scores_of, values_of


@shown(EVERYONE, "weekly-reviews")
def reviewed_workload(context: Context, week: str, workload_id: int) -> ConsolePage:
    """A workload in a week: its verdict and what that is made of, week by week, with its decisions."""
    fact = get_workload_or_404(context, workload_id)
    content = get_review_or_404(context, week).kept.content
    row = value_or_404(
        next(
            (workload for workload in content.workloads if workload.workload_id == workload_id),
            None,
        )
    )
    notes = notes_of_workload(fact.id, context.viewer)
    decide = Link("Decide or comment", reverse("decide-workload", args=[week, fact.id]))
    return ConsolePage(
        context=context,
        finding=f"{row.name}, week {week}: {VERDICT_WORDS[row.verdict.verdict]}. {row.verdict.reason}",
        status=row.cost.status,
        under=(f"of {row.team}", f"judged by {row.verdict.weeks} weeks"),
        back=Link(f"Week {week}", reverse("weekly-review", args=[week])),
        actions=(
            *((decide,) if may_answer(context.viewer) else ()),
            Link("What it returns", reverse("workload-returns", args=[fact.id])),
            _page_of(fact),
        ),
        sections=(
            FigureRow(_figures(row, content.currency)),
            _facts(row, content),
            tables.WEEKS_OF_WORKLOAD.section(
                weeks_of_workload(fact.id, context.viewer),
                context,
                csv_name=f"workload-{fact.id}-reviews",
            ),
            tables.NOTES.section(
                notes,
                context,
                csv_name=f"workload-{fact.id}-notes",
                is_shown=bool(notes),
            ),
        ),
        main_table=tables.WEEKS_OF_WORKLOAD.name,
    )


@shown(EVERYONE, "weekly-reviews")
def workload_returns(context: Context, workload_id: int) -> ConsolePage:
    """Show what its owner states of a workload: what a unit is worth, and how good its results are."""
    fact = get_workload_or_404(context, workload_id)
    values = values_of(fact.id)
    is_stated = bool(values) and values[0].low is not None
    finding = (
        f"{fact.name} has a stated value"
        if is_stated
        else f"Nobody states what {fact.name} is worth"
    )
    actions = (
        Link("State a value", reverse("state-value", args=[fact.id])),
        Link("State a score", reverse("state-score", args=[fact.id])),
    )
    return ConsolePage(
        context=context,
        finding=finding,
        under=("weekly reviews hold it against what it cost",),
        back=_page_of(fact),
        actions=actions if may_answer(context.viewer) else (),
        sections=(
            tables.VALUES.section(values, context, csv_name=f"workload-{fact.id}-values"),
            tables.SCORES.section(
                scores_of(fact.id),
                context,
                csv_name=f"workload-{fact.id}-scores",
            ),
        ),
    )


def _page_of(fact: WorkloadFact) -> Link:
    """Its own page: of services that, of anything else its runs."""
    name = "service" if fact.kind in SERVICE_KINDS else "programme"
    return Link(fact.name, reverse(name, args=[fact.id]))


def _figures(row: ReviewedWorkload, currency: str) -> tuple[Figure, ...]:
    cost, before = row.cost.micros, row.trend[-2] if len(row.trend) > 1 else None
    unit = UNIT_WORDS.get(row.units.unit, "unit")
    was = row.unit_trend[-2] if len(row.unit_trend) > 1 else None
    return (
        figure_or_unknown(
            "Cost of the week",
            None if cost is None else short_amount(cost, currency),
            "against the week before",
            change="" if cost is None or before is None else change(cost, before),
            sparkline=sparkline(row.trend, words="eight weeks up to this one"),
        ),
        figure_or_unknown(
            f"A {unit}" if not unit[0].isdigit() else unit,
            None if row.units.micros is None else unit_cost(row.units.micros, currency),
            "against the week before",
            change="" if row.units.micros is None or was is None else change(row.units.micros, was),
            sparkline=sparkline(row.unit_trend, words="eight weeks up to this one"),
        ),
        figure_or_unknown(
            "Waste",
            None if row.waste.micros is None else short_amount(row.waste.micros, currency),
            f"{per_cent(row.waste.ratio)} of its cost" if row.waste.ratio is not None else "",
            tone="held_idle",
        ),
        figure_or_unknown(
            "Returned", _returned(row, currency), _describe_return_period(row, currency)
        ),
    )


def _returned(row: ReviewedWorkload, currency: str) -> str | None:
    worth = row.returned
    if worth is None or worth.returned_low_micros is None:
        return None
    low, high = (
        short_amount(end, currency)
        for end in (worth.returned_low_micros, worth.returned_high_micros)
    )
    return low if low == high else f"{low} to {high}"


def _describe_return_period(row: ReviewedWorkload, currency: str) -> str:
    """Over which weeks, and what the same weeks cost: more than the one that is reviewed."""
    cost = short_amount(row.verdict.cost_micros, currency)
    return f"in {counted(row.verdict.weeks, 'week')}, which cost {cost}"


def _facts(row: ReviewedWorkload, content: WeeklyContent) -> Section | None:
    """Its quality beside the cost, the parts of its waste, and what of it diverged."""
    currency = content.currency
    facts = [
        (
            score.name,
            f"{score.value:g}"
            + (f", {score.before:g} before" if score.before is not None else "")
            + (
                f"; {score.per_dollar * SHOWN_PER:.3g} per {SHOWN_PER:,} {currency}"
                if score.per_dollar is not None
                else ""
            )
            + (f" (run {score.run})" if score.run else ""),
        )
        for score in row.scores
    ]
    facts += [
        (key.replace("_", " ").capitalize(), rounded_amount(micros, currency))
        for key, micros in row.waste.parts.items()
    ]
    if row.waste.diverged_micros is not None:
        runs = f" ({', '.join(row.waste.diverged_runs)})" if row.waste.diverged_runs else ""
        diverged = rounded_amount(row.waste.diverged_micros, currency)
        where = (
            "of failed or redone" if content.has_diverged_in_waste else "beside failed or redone"
        )
        facts.append((f"Diverged, {where}", f"{diverged}{runs}"))
    elif row.kind == "training" and facts:
        facts.append(("Diverged", "not known: none of its runs reports a loss"))
    return FactList(facts, title="Quality and waste", name="quality") if facts else None
