"""Descriptions of what each scope of a token opens, in words for whoever makes one."""

from collections.abc import Mapping

from apps.accounts.models import Scope

SCOPE_WORDS: Mapping[str, str] = {
    Scope.INGEST: "send telemetry of the node of its agent",
    Scope.JOBS: "state jobs and workload changes; of one cluster, that one's alone",
    Scope.RUNS: "report what training runs did",
    Scope.REQUESTS: "report what services answered",
    Scope.USAGE: "report calls to model APIs",
    Scope.SCHEDULE: "ask quotes and admissions, and read what schedulers are given, for all teams, its team or its cluster",
    Scope.READ: "read; of one team, what is that team's, and ask quotes and admissions for it",
    Scope.MANAGE: "read and change everything: of no scheduler, agent or engine",
}
"""The least that does is the one to take: nobody needs `manage` to schedule or to report."""
