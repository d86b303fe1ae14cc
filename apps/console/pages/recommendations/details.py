"""The page of one recommendation, with all that it is from."""

from dataclasses import replace

from django.urls import path, reverse

from apps.accounts.queries import person_names, teams
from apps.console.kit.chart import Figure, FigureRow
from apps.console.kit.frame import Link
from apps.console.kit.gates import gate_list
from apps.console.kit.page import ConsolePage, FactList, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.pages.pool_links import pool_href
from apps.console.pages.recommendations import changes, words
from apps.console.pages.recommendations.look_tables import HISTORY, history_rows
from apps.console.pages.recommendations.look_words import CONFIDENCE, once_words, payback_words
from apps.console.pages.recommendations.tables import EVIDENCE, MEASUREMENTS, OUTCOMES, STEPS
from apps.economics.gates import read_gates
from apps.fleet.queries import pools
from apps.placement.queries.fleet_moves import weeks_of_move
from apps.review.actions import answers_from
from apps.review.queries.measurements import SavingMeasurementFact, measurements_of
from apps.review.queries.recommendation_evidence import RecommendationEvidence, RecommendedMove
from apps.review.queries.recommendations import (
    RecommendationFact,
    may_answer_recommendations,
    outcomes_of,
    recommendation_steps,
)
from apps.show.amounts import counted
from apps.show.money import rounded_amount


@shown(EVERYONE, "recommendations")
def recommendation_page(context: Context, recommendation_id: int) -> ConsolePage:
    """One recommendation with its evidence, how it was computed, and what happened to it."""
    fact = changes.get_recommendation_or_404(context, recommendation_id)
    measured, outcomes = measurements_of(fact.id), outcomes_of(fact.id)
    # Since it was reopened nothing is measured, whatever was before.
    newest = next(
        (measurement for measurement in measured if measurement.done_at == fact.done_at), None
    )
    weeks = history_rows(weeks_of_move(fact.matter, context.seen_teams)) if fact.move else []
    return ConsolePage(
        context=context,
        finding=f"{fact.title}: {words.describe_saving(fact, context.currency)}",
        under=(words.kind_label(fact.kind), words.describe_state(fact, context.zone)),
        back=Link("All recommendations", reverse("recommendations")),
        actions=_answers(fact, context),
        sections=(
            FigureRow(_figures_of(fact, newest, context)),
            FactList(
                _facts_of(fact, newest, context.currency),
                title="Why, and how sure it is",
                name="why",
            ),
            None
            if newest is None or newest.measured is None
            else gate_list(read_gates(newest.measured.gates)),
            MEASUREMENTS.section(
                measured,
                context,
                csv_name=f"recommendation-{fact.id}-measured",
                is_shown=bool(measured),
            ),
            OUTCOMES.section(
                outcomes,
                context,
                csv_name=f"recommendation-{fact.id}-outcomes",
                is_shown=bool(outcomes and not measured),
            ),
            EVIDENCE.section(
                _linked_evidence(fact, context),
                context,
                csv_name=f"recommendation-{fact.id}-evidence",
                csv_rows=lambda: fact.evidence,
            ),
            HISTORY.section(weeks, context, csv_name=f"recommendation-{fact.id}-weeks")
            if weeks
            else None,
            STEPS.section(
                recommendation_steps(fact.id),
                context,
                csv_name=f"recommendation-{fact.id}",
            ),
        ),
        main_table=STEPS.name,
    )


def _figures_of(
    fact: RecommendationFact, newest: SavingMeasurementFact | None, context: Context
) -> tuple[Figure, ...]:
    currency = context.currency
    freed = fact.frees_gpu_hours
    measured = None if newest is None else newest.measured
    return (
        Figure("Saves a month", rounded_amount(fact.saving.likely, currency), "likely"),
        Figure(words.range_label(fact), words.describe_range(fact.saving, currency), "a month"),
        Figure("Frees", f"{freed:,.0f} GPU-hours", "a month, on GPUs that are paid anyway")
        if freed
        else Figure("Spent there", "–", "others hold GPUs of this pool: what it costs is not shown")
        if fact.spend_micros is None
        else Figure("Spent there", rounded_amount(fact.spend_micros, currency), "a month, paid by the hour"),
        Figure("Effort", f"{fact.effort_hours} h", "of an engineer")
        if measured is None
        else Figure("Measured a month", rounded_amount(measured.saving.likely, currency),
                    f"{words.describe_range(measured.saving, currency)}, by {counted(measured.days, 'settled day')}"),
    )  # fmt: skip


def _facts_of(
    fact: RecommendationFact, newest: SavingMeasurementFact | None, currency: str
) -> list[tuple[str, str]]:
    names = {team.id: team.name for team in teams()}
    owner = person_names().get(fact.owner_id or 0)
    due = f", until {fact.due_on:%-d %B %Y}" if fact.due_on else ""
    return [
        ("Why", fact.why),
        ("How it was computed", fact.computed),
        ("Risk", f"{words.RISKS[fact.risk].label}: {fact.risk_reason}"),
        *(_move_facts(fact, fact.move, currency) if fact.move else ()),
        ("Caveats", "; ".join(fact.doubts) or words.NOT_SOUGHT),
        ("Team", names.get(fact.team_id or 0, words.ORGANISATION)),
        ("Owner", f"{owner}{due}" if owner else words.NOBODY),
        ("Measured", words.describe_measurement(fact, newest)),
        *([("Held against", words.describe_counterfactual(newest.measured))] if newest else []),
        *([("Method", words.describe_method(newest.measured))] if newest and newest.measured else []),
        ("In the total", words.describe_inclusion(fact)),
        ("Proposed", words.describe_weeks(fact)),
    ]  # fmt: skip


def _move_facts(
    fact: RecommendationFact, move: RecommendedMove, currency: str
) -> list[tuple[str, str]]:
    """Return what a fleet move has beside: from where to where, what interrupts it there, and what moving costs."""
    interruptions = (
        "none counted"
        if move.interruptions_per_month is None
        else f"{move.interruptions_per_month:,.1f} a month, {move.restart_hours_per_month or 0:,.1f} h lost to them"
    )
    payback = payback_words(move.payback_months)
    return [
        ("Moves from", move.source),
        ("Moves to", move.target),
        ("Interruptions", interruptions),
        ("One-time cost", once_words(move, fact.effort_hours, currency)),
        ("Payback period", payback or words.NO_PAYBACK),
        ("Confidence", CONFIDENCE[move.confidence]),
    ]


def _linked_evidence(fact: RecommendationFact, context: Context) -> list[RecommendationEvidence]:
    """Return the evidence with the pages of pools, and of interruptions for who may open that."""
    if fact.move is None:
        return list(fact.evidence)
    names = {str(pool.id): pool.name for pool in pools().values()}

    def href(evidence: RecommendationEvidence) -> str:
        if evidence.label == "Pool" and evidence.ref in names:
            return pool_href(names[evidence.ref])
        if evidence.label == "Interruptions" and context.seen_teams is None:
            return reverse("spot-evidence")
        return ""

    return [replace(evidence, link=evidence.link or href(evidence)) for evidence in fact.evidence]


def _answers(fact: RecommendationFact, context: Context) -> tuple[Link, ...]:
    """Return links to what the viewer may say of a recommendation now."""
    if not may_answer_recommendations(context.viewer):
        return ()
    return tuple(
        Link(changes.LABELS[step], reverse("answer-recommendation", args=[fact.id, step]))
        for step in answers_from(fact.state)
    )


urlpatterns = [
    path("recommendations/<int:recommendation_id>", recommendation_page, name="recommendation"),
    path(
        "recommendations/<int:recommendation_id>/<slug:step>",
        changes.answer,
        name="answer-recommendation",
    ),
]
