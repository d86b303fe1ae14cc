"""Workloads and ownership: what each workload cost, whose jobs are, and who nobody owns yet."""

from apps.console.pages.ownership.changes import add_rule, add_workload, end_rule
from apps.console.pages.ownership.rule_pages import new_rule, rule
from apps.console.pages.ownership.views import (
    ownership,
    rules_csv,
    unowned,
    unowned_csv,
    workloads_csv,
)

__all__ = [
    "add_rule",
    "add_workload",
    "end_rule",
    "new_rule",
    "ownership",
    "rule",
    "rules_csv",
    "unowned",
    "unowned_csv",
    "workloads_csv",
]
