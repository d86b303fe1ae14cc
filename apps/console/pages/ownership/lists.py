"""The rows of the tables: workloads with cost, rules in rank, what nobody owns."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse

from apps.accounts.queries import Viewer
from apps.console.pages.listed import By
from apps.console.pages.ownership.names import Names
from apps.console.pages.ownership.values import RuleRow, UnownedRow, WorkloadRow
from apps.economics.money import sum_of_known
from apps.ledger import queries as ledger
from apps.workloads import queries as workloads

WORKLOAD_COLUMNS: Mapping[str, By[WorkloadRow]] = {
    "team": By("Team", lambda row: row.team),
    "name": By("Workload", lambda row: row.name or None),
    "kind": By("Kind", lambda row: row.kind or None),
    "cost": By("Cost", lambda row: row.cost_micros, is_number=True),
    "gpu_hours": By("GPU-hours", lambda row: row.gpu_milliseconds, is_number=True),
}
RULE_COLUMNS: Mapping[str, By[RuleRow]] = {
    "asks": By("Jobs of", lambda row: row.asks),
    "priority": By("Priority", lambda row: row.priority, is_number=True),
    "team": By("Belong to", lambda row: row.team),
    "workload": By("Workload", lambda row: row.workload or None),
    "from": By("From", lambda row: row.starts_at),
    "until": By("Until", lambda row: row.ends_at),
    "said": By("Created", lambda row: row.said_at),
}
UNOWNED_COLUMNS: Mapping[str, By[UnownedRow]] = {
    "account": By("Account", lambda row: row.account or None),
    "namespace": By("Namespace", lambda row: row.namespace or None),
    "user": By("User", lambda row: row.user or None),
    "cluster": By("Cluster", lambda row: row.cluster),
    "jobs": By("Jobs", lambda row: row.jobs, is_number=True),
    "cost": By("Cost", lambda row: row.cost_micros, is_number=True),
    "gpu_hours": By("GPU-hours", lambda row: row.gpu_milliseconds, is_number=True),
}
RULE_ASKS = ("account", "namespace", "user", "partition")


def workload_rows(window: ledger.Window, viewer: Viewer, called: Names) -> tuple[WorkloadRow, ...]:
    """Of the viewer's teams, by team, the highest cost first; workloads without cost included."""
    chosen = ledger.CostFilter(window, team_ids=None if viewer.sees_everything else viewer.team_ids)
    groups = ledger.cost_groups(chosen, ("team", "workload"))
    costly = {group.keys: _workload_row(group, called, window) for group in groups}
    idle = {
        (each.team_id, each.id): WorkloadRow(
            team=called.team(each.team_id),
            name=each.name,
            kind=each.kind,
            cost_micros=0,
            gpu_milliseconds=0,
            unpriced_milliseconds=0,
            is_provisional=False,
            team_href=costs_of_team(each.team_id, window),
            href=costs_of_workload(each.id, window),
        )
        for each in called.workloads.values()
        if viewer.sees_team(each.team_id)
    }
    rows = (idle | costly).values()
    return tuple(sorted(rows, key=lambda row: (row.team, -(row.cost_micros or 0), row.name)))


def workload_total(rows: Sequence[WorkloadRow]) -> WorkloadRow:
    """The sum; known as far as any row is."""
    return WorkloadRow(
        team="Total",
        name="",
        kind="",
        cost_micros=sum_of_known(row.cost_micros for row in rows),
        gpu_milliseconds=sum(row.gpu_milliseconds for row in rows),
        unpriced_milliseconds=sum(row.unpriced_milliseconds for row in rows),
        is_provisional=any(row.is_provisional for row in rows),
    )


def rule_rows(viewer: Viewer, called: Names, at: datetime) -> tuple[RuleRow, ...]:
    """The rules that give jobs to the viewer's teams: those in force in the order tried, then others."""
    facts = [fact for fact in workloads.rules() if viewer.sees_team(fact.rule.team_id)]
    changes = workloads.rule_changes([fact.rule.id for fact in facts])
    ranked = sorted(facts, key=lambda fact: (not fact.is_in_force(at), fact.rule.rank))
    return tuple(
        called.row(fact, changes[fact.rule.id], at, reverse("rule", args=[fact.rule.id]))
        for fact in ranked
    )


def unowned_rows(window: ledger.Window, called: Names) -> tuple[UnownedRow, ...]:
    """Jobs without an owner, by what a rule would match, the highest cost first."""
    place = reverse("costs-team-jobs", args=[called.unowned_id])
    jobs_href = f"{place}?{urlencode({'window': window.text})}"
    found = ledger.unowned_work(window, called.unowned_id)
    return tuple(_unowned_row(work, jobs_href) for work in found)


def unowned_total(rows: Sequence[UnownedRow]) -> UnownedRow:
    """The sum; known as far as any row is."""
    return UnownedRow(
        cluster="",
        account="",
        namespace="",
        user="",
        jobs=sum(row.jobs for row in rows),
        cost_micros=sum_of_known(row.cost_micros for row in rows),
        gpu_milliseconds=sum(row.gpu_milliseconds for row in rows),
        unpriced_milliseconds=sum(row.unpriced_milliseconds for row in rows),
        href="",
    )


def costs_of_team(team_id: int, window: ledger.Window) -> str:
    """Where the costs of a team in this period are taken apart."""
    return f"{reverse('costs-team', args=[team_id])}?{urlencode({'window': window.text})}"


def costs_of_workload(workload_id: int | None, window: ledger.Window) -> str:
    """Where the costs of a workload are taken apart by job; empty for none."""
    if workload_id is None:
        return ""
    path = reverse("costs-workload", args=[workload_id])
    return f"{path}?{urlencode({'window': window.text})}"


def _workload_row(group: ledger.CostGroup, called: Names, window: ledger.Window) -> WorkloadRow:
    team_id, workload_id = group.keys
    fact = None if workload_id is None else called.workloads[workload_id]
    return WorkloadRow(
        team=called.team(team_id),
        name=fact.name if fact else "",
        kind=fact.kind if fact else "",
        cost_micros=group.micros,
        gpu_milliseconds=group.gpu_milliseconds,
        unpriced_milliseconds=group.unpriced_milliseconds,
        is_provisional=group.is_provisional,
        team_href=costs_of_team(team_id, window),
        href=costs_of_workload(workload_id, window),
    )


def _unowned_row(work: ledger.UnownedWork, jobs_href: str) -> UnownedRow:
    submitter = work.submitter
    asks = {name: getattr(submitter, name) for name in RULE_ASKS if getattr(submitter, name)}
    # An account or namespace says more than whoever of it happened to submit.
    if len(asks) > 1:
        asks.pop("user", None)
    return UnownedRow(
        cluster=submitter.cluster,
        account=submitter.account,
        namespace=submitter.namespace,
        user=submitter.user,
        partition=submitter.partition,
        jobs_href=jobs_href,
        jobs=work.jobs,
        cost_micros=work.micros,
        gpu_milliseconds=work.unit_milliseconds,
        unpriced_milliseconds=work.unpriced_milliseconds,
        href=f"{reverse('new-rule')}?{urlencode({'cluster': submitter.cluster, **asks})}",
    )
