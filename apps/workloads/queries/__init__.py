"""What is known of jobs, what they hold and whose they are."""

from apps.workloads.queries.catalogue import WorkloadFact, workloads
from apps.workloads.queries.holders import Holding, held_by_node, holders_now
from apps.workloads.queries.holding import HeldFact, UnknownNode, allocations_held, unknown_nodes
from apps.workloads.queries.imports import (
    ImportFact,
    RejectedFact,
    import_batch,
    imports,
    rejected_rows,
)
from apps.workloads.queries.jobs import (
    JobFact,
    JobSpan,
    job,
    job_count,
    jobs_of_keys,
    tags_of_jobs,
)
from apps.workloads.queries.ownership import (
    OwnerFact,
    RuleFact,
    UnownedAccount,
    owners,
    rules,
    unowned_accounts,
)
from apps.workloads.queries.preview import Move, RulePreview, preview_end, preview_rule
from apps.workloads.queries.rule_history import RuleChange, rule_changes
from apps.workloads.queries.traits import Submitter, submitters

__all__ = [
    "HeldFact",
    "Holding",
    "JobFact",
    "JobSpan",
    "ImportFact",
    "Move",
    "OwnerFact",
    "RuleChange",
    "RuleFact",
    "RejectedFact",
    "RulePreview",
    "Submitter",
    "UnknownNode",
    "UnownedAccount",
    "WorkloadFact",
    "allocations_held",
    "held_by_node",
    "holders_now",
    "import_batch",
    "imports",
    "job",
    "job_count",
    "jobs_of_keys",
    "owners",
    "preview_rule",
    "rejected_rows",
    "rules",
    "tags_of_jobs",
    "unknown_nodes",
    "unowned_accounts",
    "workloads",
    "preview_end",
    "rule_changes",
    "submitters",
]
