"""The sections of a review beside costs: commitments, alerts and anomalies, recommendations, data quality."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from fractions import Fraction

from django.urls import reverse

from apps.accounts.queries import special_teams
from apps.fleet.queries.agents import silent_agents
from apps.ledger.queries.calendar import local_day
from apps.ledger.queries.closed_months import closed_months
from apps.ledger.queries.commitments import commitment_use, ends_within
from apps.ledger.queries.cube import CubeSums
from apps.ledger.queries.due import open_pending_hours
from apps.review.queries.alerts import waiting_alerts
from apps.review.queries.finding_words import title_of
from apps.review.queries.findings import FindingsWanted, findings
from apps.review.queries.recommendations import (
    latest_recommendation_detection_run,
    open_recommendations,
    proven_savings,
)
from apps.review.queries.verdicts import WAITING
from apps.review.queries.weekly.content import (
    CommitmentsWeek,
    DataQualityWeek,
    ReviewedCommitment,
    WeeklyContent,
)
from apps.review.queries.weekly.content_to_do import (
    ProvenSaving,
    RecommendationsWeek,
    ReviewedMatter,
    ReviewedRecommendation,
)
from apps.review.queries.weekly.inconclusive import inconclusive_savings
from apps.review.queries.weekly.review_words import FAILED, VERIFIED
from apps.review.queries.weekly.week_reading import WeekRead
from apps.review.queries.weekly.weeks import WEEK, ReviewWeek
from apps.workloads import queries as workloads

MOST_MATTERS = 200
"""Of each team, and of the organisation: the newest, so that what others have takes no team's place."""
OF_FINDINGS = "anomaly:"
"""What the alerts of anomalies in unit costs begin with: those are listed as anomalies."""
NEW_WITHIN = 3 * WEEK
"""Anomalies that began so long before the week's end."""
PROVEN_WITHIN = timedelta(days=91)
"""What was proven in the quarter up to the week."""


def commitments_week(week: ReviewWeek, zone: str, at: datetime) -> CommitmentsWeek:
    """How well what was bought ahead was used, and the week before."""
    span, earlier = week.window(zone), week.back(1).window(zone)
    use = commitment_use([span.starts_at, span.ends_at], at)
    before = commitment_use([earlier.starts_at, earlier.ends_at], at)
    listed = []
    for commitment_id, fact in sorted(use.commitments.items()):
        figures = use.figures(commitment_id)
        listed.append(
            ReviewedCommitment(
                commitment_id=commitment_id,
                name=fact.name,
                utilisation=_ratio(figures.utilisation),
                coverage=_ratio(figures.coverage),
                cost_micros=figures.cost,
                saved_micros=figures.saved,
                unused_micros=figures.unused_cost,
                ends_on=local_day(fact.ends_at, zone).isoformat(),
                ends_in_days=ends_within(fact, span.ends_at),
            )
        )
    return CommitmentsWeek(
        commitments=tuple(listed),
        coverage=_ratio(use.coverage),
        utilisation=_ratio(use.utilisation),
        coverage_before=_ratio(before.coverage),
        utilisation_before=_ratio(before.utilisation),
    )


def matters_of(week: ReviewWeek, zone: str, at: datetime) -> tuple[ReviewedMatter, ...]:
    """Alerts that waited for an answer at `at`, and anomalies of the last three weeks that were told by then, the newest of each team first."""
    raised = [
        ReviewedMatter(
            kind="alert",
            title=alert.title,
            severity=alert.severity,
            team_id=alert.team_id,
            since=local_day(alert.opened_at, zone).isoformat(),
            link=alert.link,
        )
        for alert in waiting_alerts(at)
        if not alert.matter.startswith(OF_FINDINGS)
    ]
    named = workloads.workloads()
    wanted = FindingsWanted(
        since=week.end_day - NEW_WITHIN,
        until=week.end_day,
        states=WAITING,
        told_by=local_day(at, zone),
    )
    anomalies = [
        ReviewedMatter(
            kind="anomaly",
            title=title_of(finding, named[finding.workload_id].name),
            severity="warning",
            team_id=named[finding.workload_id].team_id,
            since=finding.changed_on.isoformat(),
            link=reverse("finding", args=[finding.id]),
            micros=finding.impact_micros,
        )
        for finding in findings(wanted, at)
        if finding.is_worse
    ]
    newest = sorted([*raised, *anomalies], key=lambda matter: matter.since, reverse=True)
    listed, of_team = [], Counter[int | None]()
    for matter in newest:
        of_team[matter.team_id] += 1
        if of_team[matter.team_id] <= MOST_MATTERS:
            listed.append(matter)
    return tuple(listed)


def recommendations_week(week: ReviewWeek, zone: str, at: datetime) -> RecommendationsWeek:
    """Return what was open or claimed at `at`, the dearest first, what was proven in the quarter up to it, and what is undecided yet."""
    return RecommendationsWeek(
        recommendations=tuple(
            ReviewedRecommendation(
                recommendation_id=fact.id,
                title=fact.title,
                kind=fact.kind,
                state=fact.state,
                team_id=fact.team_id,
                owner_id=fact.owner_id,
                low_micros=fact.saving.low,
                high_micros=fact.saving.high,
                likely_micros=fact.saving.likely,
                is_counted=fact.is_counted,
                age_days=max(0, (week.end_day - fact.first_week).days),
                due_on="" if fact.due_on is None else fact.due_on.isoformat(),
                link=reverse("recommendation", args=[fact.id]),
                told_on=fact.last_week.isoformat(),
            )
            for fact in open_recommendations(at)
        ),
        proven=(*_settled(zone, at), *inconclusive_savings(zone, at)),
        is_known=latest_recommendation_detection_run(at) is not None,
    )


def _settled(zone: str, at: datetime) -> Iterator[ProvenSaving]:
    """Yield the savings that were verified or failed in the quarter up to `at`."""
    for saving in proven_savings(at):
        if saving.settled_at >= at - PROVEN_WITHIN:
            yield ProvenSaving(
                recommendation_id=saving.recommendation_id,
                title=saving.title,
                team_id=saving.team_id,
                state=VERIFIED if saving.is_verified else FAILED,
                promised_low_micros=saving.promised.low,
                promised_high_micros=saving.promised.high,
                saved_micros=saving.measured.saving.likely,
                verified_on=local_day(saving.settled_at, zone).isoformat(),
                link=reverse("recommendation", args=[saving.recommendation_id]),
            )


def data_quality(
    content: WeeklyContent, read: WeekRead, sums: Sequence[CubeSums], at: datetime
) -> DataQualityWeek:
    """How far all of it can be trusted; `sums` are the teams' of the week."""
    held_ms = sum(team_sums.held_milliseconds for team_sums in sums)
    observed = sum(team_sums.observed_milliseconds for team_sums in sums)
    nobodys = read.costs.team_costs.get(special_teams().unowned_id)
    costly = [workload for workload in content.workloads if workload.cost.micros]
    span, coverage = read.week.window(read.ours.zone), content.cost.coverage
    return DataQualityWeek(
        observed_ratio=round(observed / held_ms, 6) if held_ms else None,
        priced_ratio=None if coverage is None else round(coverage, 6),
        unpriced_ms=content.cost.unpriced_ms,
        unowned_micros=0 if nobodys is None else nobodys.micros,
        no_workload_micros=content.no_workload_micros,
        provisional_ms=content.cost.provisional_ms,
        pending_hours=open_pending_hours(span.starts_at, span.ends_at, closed_months()),
        silent_agents=len(silent_agents(at)),
        workloads_without_value=sum(workload.returned is None for workload in costly),
        workloads_without_score=sum(not workload.scores for workload in costly),
    )


def _ratio(value: Fraction | None) -> float | None:
    return None if value is None else round(float(value), 6)
