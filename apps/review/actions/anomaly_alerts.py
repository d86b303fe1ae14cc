"""Anomalies that are reported raise an alert of the team whose workload it is."""

from datetime import date, datetime, timedelta

from django.urls import reverse

from apps.accounts.queries import organisation
from apps.economics.watch import NEWEST_DAYS
from apps.ledger.queries.calendar import local_day
from apps.logs.changes import logged_pass
from apps.review.actions.alerts import AlertMatter, raise_alert
from apps.review.actions.verdicts import spend_matter
from apps.review.models import Alert, AlertKind, AlertSeverity
from apps.review.queries.finding_words import title_of
from apps.review.queries.findings import FindingFact, FindingsWanted, findings
from apps.review.queries.spend_anomalies import OPEN, SpendFact, SpendWanted, spend_anomalies
from apps.review.queries.spend_words import spend_facts, spend_title
from apps.show.amounts import per_cent
from apps.show.money import whole_amount
from apps.show.time import weekday
from apps.workloads import queries as workloads


@logged_pass("tell_anomalies")
def tell_anomalies(*, at: datetime) -> int:
    """Raise an alert of each anomaly of the last three weeks that has none; improvements have none. How many."""
    ours = organisation()
    since = local_day(at, ours.zone) - timedelta(days=NEWEST_DAYS)
    worse = {
        f"anomaly:{found.id}": found
        for found in findings(FindingsWanted(since=since))
        if found.is_worse
    }
    known = set(Alert.objects.filter(matter__in=worse).values_list("matter", flat=True))
    facts, raised = workloads.workloads(), 0
    for matter, found in worse.items():
        if matter in known:
            continue
        workload = facts[found.workload_id]
        alert_id = raise_alert(
            told=AlertMatter(
                matter=matter,
                kind=AlertKind.ANOMALY,
                severity=AlertSeverity.WARNING,
                title=title_of(found, workload.name),
                facts=_facts_of(found, workload.name, ours.currency),
                link=reverse("finding", args=[found.id]),
                team_id=workload.team_id,
            ),
            at=at,
        )
        raised += alert_id is not None
    return raised + _tell_spend(since, known_to=at)


def _tell_spend(since: date, *, known_to: datetime) -> int:
    """The same of spend: of what is open, and neither muted, explained nor a false alarm."""
    wanted = SpendWanted(since=since, states=frozenset({OPEN}))
    found = {spend_matter(each.id): each for each in spend_anomalies(wanted, known_to)}
    known = set(Alert.objects.filter(matter__in=found).values_list("matter", flat=True))
    raised, currency = 0, organisation().currency
    for matter, each in found.items():
        if matter not in known:
            alert_id = raise_alert(told=_spend_told(matter, each, currency), at=known_to)
            raised += alert_id is not None
    return raised


def _spend_told(matter: str, found: SpendFact, currency: str) -> AlertMatter:
    known_event = found.known_event
    return AlertMatter(
        matter=matter,
        kind=AlertKind.ANOMALY,
        # What a known change of a price or commitment made is no surprise to who made it.
        severity=AlertSeverity.NOTICE if known_event else AlertSeverity.WARNING,
        title=spend_title(found, currency),
        facts=spend_facts(found, currency),
        link=reverse("spend-anomaly", args=[found.id]),
        team_id=found.team_id,
    )


def _facts_of(found: FindingFact, name: str, currency: str) -> list[tuple[str, str]]:
    impact = "not known"
    if found.impact_micros is not None:
        impact = whole_amount(found.impact_micros, currency)
    facts = [
        ("Workload", f"{name} ({found.feature})" if found.feature else name),
        ("Since", weekday(found.changed_on)),
        ("By", per_cent(abs(found.effect_ratio))),
        ("In 30 days", impact),
    ]
    if found.causes:
        nearest = found.causes[0]
        facts.append(("Changed about then", f"{nearest['kind']}: {nearest['what']}"))
    return facts
