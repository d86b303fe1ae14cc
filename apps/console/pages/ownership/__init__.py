"""Workloads and ownership: what each workload cost, whose jobs are, and who nobody owns yet."""

from apps.console.pages.ownership.changes import add_rule, add_workload, end_rule
from apps.console.pages.ownership.rule_pages import (
    end_moves_csv,
    new_rule,
    rule,
    rule_changes_csv,
    rule_moves_csv,
)
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
    "end_moves_csv",
    "end_rule",
    "new_rule",
    "ownership",
    "rule",
    "rule_changes_csv",
    "rule_moves_csv",
    "rules_csv",
    "unowned",
    "unowned_csv",
    "workloads_csv",
]
