"""Anomalies that are reported raise an alert of the team whose workload it is."""

from datetime import date, datetime, timedelta

from django.db.models import Q
from django.urls import reverse

from apps.accounts.queries import organisation
from apps.economics.watch import NEWEST_DAYS
from apps.ledger.queries.calendar import local_day
from apps.logs.changes import logged_pass
from apps.review.actions.alerts import AlertMatter, raise_alert
from apps.review.models import Alert, AlertKind, AlertSeverity, AlertState
from apps.review.queries.finding_words import title_of
from apps.review.queries.findings import FindingFact, FindingsWanted, findings
from apps.review.queries.spend_anomalies import SpendFact, SpendWanted, spend_anomalies
from apps.review.queries.spend_words import spend_facts, spend_title
from apps.review.queries.verdicts import WAITING
from apps.show.amounts import per_cent
from apps.show.money import rounded_amount
from apps.show.time import weekday
from apps.workloads import queries as workloads


@logged_pass("tell_anomalies")
def raise_anomaly_alerts(*, at: datetime) -> int:
    """Raise an alert of each anomaly of the last three weeks that waits for an answer and has none; how many.

    What is muted, explained or a false alarm has none, and no improvement has. What such a verdict resolved is open
    again when it is taken back.
    """
    ours = organisation()
    since = local_day(at, ours.zone) - timedelta(days=NEWEST_DAYS)
    matters = [*_finding_alerts(since, at, ours.currency), *_spend_alerts(since, at, ours.currency)]
    named = [matter.matter for matter in matters]
    # What no person resolved, a verdict did: nothing else ends these matters.
    by_verdict = Q(state=AlertState.RESOLVED, state_name="")
    earlier_alerts = Alert.objects.filter(matter__in=named).exclude(by_verdict)
    done = set(earlier_alerts.values_list("matter", flat=True))
    raised = [
        raise_alert(alert_matter=matter, at=at) for matter in matters if matter.matter not in done
    ]
    return len([alert_id for alert_id in raised if alert_id is not None])


def _finding_alerts(since: date, at: datetime, currency: str) -> list[AlertMatter]:
    named = workloads.workloads()
    waiting_findings = findings(FindingsWanted(since=since, states=WAITING), at)
    return [
        AlertMatter(
            matter=finding.judged.matter,
            kind=AlertKind.ANOMALY,
            severity=AlertSeverity.WARNING,
            title=title_of(finding, named[finding.workload_id].name),
            facts=_facts_of(finding, named[finding.workload_id].name, currency),
            link=reverse("finding", args=[finding.id]),
            team_id=named[finding.workload_id].team_id,
        )
        for finding in waiting_findings
        if finding.is_worse
    ]


def _spend_alerts(since: date, at: datetime, currency: str) -> list[AlertMatter]:
    """Return the alerts to tell of anomalies of spend."""
    anomalies = spend_anomalies(SpendWanted(since=since, states=WAITING), at)
    return [_spend_matter(spend_anomaly, currency) for spend_anomaly in anomalies]


def _spend_matter(anomaly: SpendFact, currency: str) -> AlertMatter:
    return AlertMatter(
        matter=anomaly.judged.matter,
        kind=AlertKind.ANOMALY,
        # What a known change of a price or commitment made is no surprise to who made it.
        severity=AlertSeverity.NOTICE if anomaly.known_event else AlertSeverity.WARNING,
        title=spend_title(anomaly, currency),
        facts=spend_facts(anomaly, currency),
        link=reverse("spend-anomaly", args=[anomaly.id]),
        team_id=anomaly.team_id,
    )


def _facts_of(finding: FindingFact, name: str, currency: str) -> list[tuple[str, str]]:
    impact = "not known"
    if finding.impact_micros is not None:
        impact = rounded_amount(finding.impact_micros, currency)
    facts = [
        ("Workload", f"{name} ({finding.feature})" if finding.feature else name),
        ("Since", weekday(finding.changed_on)),
        ("By", per_cent(abs(finding.effect_ratio))),
        ("Projected monthly impact", impact),
    ]
    if finding.causes:
        nearest = finding.causes[0]
        facts.append(("Possible cause", f"{nearest['kind']}: {nearest['what']}"))
    return facts
