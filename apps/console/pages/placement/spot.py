"""Spot evidence: how often spot is taken away, by own pool or imported series, and at which hours of the day."""

from collections.abc import Sequence

from django.urls import path, reverse
from django.utils import timezone

from apps.console.kit.chart import LineChart
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.pages.placement.spot_map import REGION_HOURS, spot_map
from apps.console.pages.placement.spot_tables import (
    EVIDENCE,
    HOURS,
    EvidenceHour,
    a_day,
    evidence_key,
    range_words,
    spot_hours,
)
from apps.console.pages.placement.tabs import placement_tabs
from apps.economics.hours import DAY_HOURS
from apps.placement.queries.spot_evidence import OWN_NODES, SpotEvidence, spot_evidence, times_words
from apps.show.hour_bars import HourBar, hour_bars


@shown(SEES_EVERYTHING, "placement")
def spot_evidence_page(context: Context) -> ConsolePage:
    """Every source beside the others, and one of them by hour of the day."""
    sources = spot_evidence(timezone.now())
    if not sources:
        return ConsolePage(
            context=context,
            finding="Nothing is known of spot yet",
            tabs=placement_tabs("spot-evidence"),
            empty=_no_observations_state(),
            csv_files=(
                EVIDENCE.file("spot-evidence", context, tuple),
                REGION_HOURS.file("spot-regions", context, tuple),
                HOURS.file("spot-hours", context, tuple),
            ),
            main_table=EVIDENCE.name,
        )
    chosen = _chosen_source(sources, context)
    rows = spot_hours(chosen) if chosen else []
    hours_csv = HOURS.file("spot-hours", context, lambda: rows)
    return ConsolePage(
        context=context,
        finding=_spot_finding(sources),
        under=(
            "own nodes over the last 90 days, each imported series as a whole",
            "no rate is read off a price",
        ),
        notes=_spot_notes(sources, chosen),
        tabs=placement_tabs("spot-evidence"),
        sections=(
            EVIDENCE.section(sources, context, csv_name="spot-evidence"),
            spot_map(sources, context),
            _hours_chart(chosen) if chosen else None,
            HOURS.section(rows, context, title=f"{chosen.name} by hour of the day", csv=hours_csv)
            if chosen and rows
            else None,
        ),
        csv_files=(hours_csv,),
        main_table=EVIDENCE.name,
    )


def _chosen_source(sources: Sequence[SpotEvidence], context: Context) -> SpotEvidence | None:
    """The source that the address names; else the one with a clock in which the most was seen."""
    source_key = context.query.get("of", "")
    if source_key:
        return value_or_404(next((row for row in sources if evidence_key(row) == source_key), None))
    return max(
        (row for row in sources if row.by_hour and row.rate.interruptions),
        key=lambda row: row.rate.interruptions,
        default=None,
    )


def _spot_finding(sources: Sequence[SpotEvidence]) -> str:
    measured = [row for row in sources if row.rate.rate is not None]
    if not measured:
        return "No interruption on spot was seen yet"
    enough = [row for row in measured if not row.rate.is_thin]
    most = max(enough or measured, key=lambda row: row.rate.rate or 0.0)
    thin = "" if enough else ", from thin evidence"
    return f"{most.name} is taken away the most: {a_day(most.rate.rate)} times a day{thin}"


def _spot_notes(sources: Sequence[SpotEvidence], chosen: SpotEvidence | None) -> tuple[str, ...]:
    notes = []
    silent = [
        row.name
        for row in sources
        if row.source == OWN_NODES and row.rate.exposure_hours and not row.rate.interruptions
    ]
    if silent:
        notes.append(
            f"On {', '.join(silent)} no notice was seen: their cloud may give none, or no agent runs"
            " there to hear it. Offers do not go by that."
        )
    if chosen and not chosen.by_hour:
        notes.append(
            f"{chosen.name} was imported without the time of its first look (--starts-at): its hours"
            " of the day are not known."
        )
    return tuple(notes)


def _hours_chart(chosen: SpotEvidence) -> LineChart | None:
    if not chosen.by_hour or not chosen.rate.interruptions:
        return None
    rows = spot_hours(chosen)
    interruptions = chosen.rate
    return LineChart(
        name="spot-hours-figure",
        title=f"{chosen.name} was taken away {times_words(interruptions.interruptions)}"
        f" in {interruptions.exposure_hours:,.0f} hours",
        unit="interruptions a day if every hour were like this one (UTC), with the range of 95 %",
        figure=hour_bars([_hour_bar(row) for row in rows], lambda tick: f"{tick:f}"),
        anchor="hours-figure",
    )


def _hour_bar(row: EvidenceHour) -> HourBar:
    interruptions = row.seen
    rate = interruptions.rate
    description = f"{row.hour:02d}:00 UTC: {a_day(rate)} a day ({range_words(interruptions)})"
    return HourBar(
        row.hour,
        None if rate is None else rate * DAY_HOURS,
        interruptions.low * DAY_HOURS,
        None if interruptions.high is None else interruptions.high * DAY_HOURS,
        description,
    )


def _no_observations_state() -> EmptyState:
    return EmptyState(
        "How often spot is taken away is not known",
        "It is read off own spot nodes that their cloud took back, and off recorded availability.",
        (
            Step(
                "Connect own spot pools: their agents hear the cloud's notices.",
                link=Link("Pools", reverse("fleet") + "#pools"),
            ),
            Step(
                "Or have the platform import what somebody recorded of a zone, how many nodes could be had, look after look:"
                " by import_spot_trace, from a file."
            ),
        ),
    )


urlpatterns = [
    path("placement/spot", spot_evidence_page, name="spot-evidence"),
]
