"""Budgets are looked at every hour: a share of the amount that is used, and an excess that is expected."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import NamedTuple

from django.db import transaction
from django.urls import reverse

from apps.accounts.queries import organisation
from apps.accounts.queries.reading import reading_once
from apps.economics.budget_alerts import (
    BudgetOutlook,
    has_fallen_back,
    is_over,
    is_warned,
    threshold_reached,
)
from apps.ledger.queries.calendar import local_day
from apps.logs.changes import logged_pass
from apps.planning.queries.budget_figures import BudgetFigures, figures_of
from apps.planning.queries.budgets import RUNNING, SERVICE, TEAM, WORKLOAD, BudgetFact, budgets
from apps.review.actions.alerts import AlertMatter, end_matters, lower_alert, raise_alert
from apps.review.models import Alert, AlertKind, AlertSeverity, AlertState, BudgetForecastLook
from apps.review.queries.budget_alert_words import (
    budget_fact,
    forecast_facts,
    forecast_title,
    used_facts,
    used_title,
)
from apps.review.queries.budget_alerts_now import FORECAST, THRESHOLD, matter_of
from apps.workloads import queries as workloads

LOOKS_KEPT = timedelta(days=400)
LOOKS_READ = timedelta(days=3)
SEVERITIES = {
    0: AlertSeverity.NOTICE,
    50: AlertSeverity.NOTICE,
    75: AlertSeverity.NOTICE,
    90: AlertSeverity.WARNING,
    100: AlertSeverity.URGENT,
}
NONE_REACHED_REASON = "less than its first threshold is used of what the budget is now"
OVER_REASON = "its period is over, or the budget was removed"
NO_LONGER_REASON = "it is expected to hold, on two days in a row"
EXCEEDED_REASON = "it is exceeded: the alert of what is used says so"


class AlertedThreshold(NamedTuple):
    """The content of an alert of a threshold: the per cent reached, and its facts."""

    level: int
    facts: frozenset[tuple[str, ...]]


@logged_pass("look_at_budgets")
@transaction.atomic
def check_budgets(*, at: datetime) -> int:
    """Hold every running budget against its thresholds and its forecast, and end what is over; how many were looked at.

    Done again within a day it changes nothing but what came meanwhile: a day has one look, the newest.
    """
    # The organisation and the workloads are asked for of every budget, and nothing here changes them.
    with reading_once():
        all_figures = [
            figure for figure in figures_of(budgets(None), at) if figure.status == RUNNING
        ]
        zone, live = organisation().zone, set[str]()
        thresholds = _alerted_thresholds(all_figures)
        for figures in all_figures:
            live |= {matter_of(figures, THRESHOLD), matter_of(figures, FORECAST)}
            _raise_threshold_alert(figures, thresholds.get(matter_of(figures, THRESHOLD)), at)
            _raise_forecast_alert(figures, at, zone)
    _end_all_but(live, at)
    BudgetForecastLook.objects.filter(looked_at__lt=at - LOOKS_KEPT).delete()
    return len(all_figures)


def _raise_threshold_alert(
    figures: BudgetFigures, before: AlertedThreshold | None, at: datetime
) -> None:
    """Raise it where a threshold was reached, or take it back to the one that still is; `before` is what it said last."""
    share, currency = figures.share_used, organisation().currency
    if share is None:
        return
    reached = threshold_reached(share) or 0
    alert_matter = AlertMatter(
        matter=matter_of(figures, THRESHOLD),
        kind=AlertKind.BUDGET_THRESHOLD,
        severity=SEVERITIES[reached],
        title=used_title(figures, reached, currency),
        facts=used_facts(figures, reached, currency),
        link=_link_of(figures.budget),
        team_id=_team_of(figures.budget),
        level=reached,
    )
    if before is not None and reached < before.level:
        is_of_other_amount = budget_fact(figures, currency) not in before.facts
        if is_of_other_amount or has_fallen_back(share, before.level):
            lower_alert(alert_matter=alert_matter, at=at)
            if not reached:
                end_matters(matters=[alert_matter.matter], reason=NONE_REACHED_REASON, at=at)
    elif reached:
        raise_alert(alert_matter=alert_matter, at=at)


def _alerted_thresholds(all_figures: Sequence[BudgetFigures]) -> dict[str, AlertedThreshold]:
    matters = [matter_of(figures, THRESHOLD) for figures in all_figures]
    rows = Alert.objects.filter(matter__in=matters).values_list("matter", "level", "facts")
    return {
        matter: AlertedThreshold(level, frozenset(map(tuple, facts)))
        for matter, level, facts in rows
    }


def _raise_forecast_alert(figures: BudgetFigures, at: datetime, zone: str) -> None:
    outlooks, matter = _recent_budget_outlooks(figures, at, zone), matter_of(figures, FORECAST)
    if figures.share_used is not None and figures.share_used > 1:
        end_matters(matters=[matter], reason=EXCEEDED_REASON, at=at)
    elif is_warned(outlooks):
        currency, passed = organisation().currency, figures.exceeds_at(at)
        raise_alert(
            alert_matter=AlertMatter(
                matter=matter,
                kind=AlertKind.BUDGET_FORECAST,
                severity=AlertSeverity.WARNING,
                title=forecast_title(figures, passed, zone),
                facts=forecast_facts(figures, passed, zone, currency),
                link=_link_of(figures.budget),
                team_id=_team_of(figures.budget),
            ),
            at=at,
        )
    elif is_over(outlooks):
        end_matters(matters=[matter], reason=NO_LONGER_REASON, at=at)


def _recent_budget_outlooks(figures: BudgetFigures, at: datetime, zone: str) -> list[BudgetOutlook]:
    """The looks of the last days of its period, and today's, which is kept."""
    day, share, chance = local_day(at, zone), figures.expected_share, figures.chance
    BudgetForecastLook.objects.update_or_create(
        budget_id=figures.budget.id,
        first_day=figures.first_day,
        day=day,
        defaults={
            "looked_at": at,
            "chance": None if chance is None else chance.low,
            "expected_share": None if share is None else float(share),
            "share_gone": figures.share_gone,
        },
    )
    rows = BudgetForecastLook.objects.filter(
        budget_id=figures.budget.id, first_day=figures.first_day, day__gt=day - LOOKS_READ
    ).order_by("day")
    budget_looks = [
        BudgetOutlook(
            row.day,
            row.chance,
            None if row.expected_share is None else Fraction(row.expected_share),
            row.share_gone,
        )
        for row in rows
    ]
    newest = replace(
        budget_looks[-1], known_days=figures.rest.known_days, share_used=figures.share_used
    )
    return [*budget_looks[:-1], newest]


def _end_all_but(live: set[str], at: datetime) -> None:
    """Those of periods that are over, and of budgets that are gone."""
    open_alerts = Alert.objects.filter(
        kind__in=(AlertKind.BUDGET_THRESHOLD, AlertKind.BUDGET_FORECAST)
    ).exclude(state=AlertState.RESOLVED)
    ended = set(open_alerts.values_list("matter", flat=True)) - live
    if ended:
        end_matters(matters=ended, reason=OVER_REASON, at=at)


def _link_of(budget: BudgetFact) -> str:
    return reverse("budget", args=[budget.id])


def _team_of(budget: BudgetFact) -> int | None:
    """Return the team whose it is to act: the team's, or the workload's team's; None: the organisation's."""
    if budget.scope == TEAM:
        return int(budget.key)
    if budget.scope in (WORKLOAD, SERVICE):
        fact = workloads.workloads().get(int(budget.key))
        return None if fact is None else fact.team_id
    return None
