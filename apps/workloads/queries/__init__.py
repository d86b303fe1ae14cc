"""Queries of jobs, what they hold and whose they are."""

from apps.workloads.queries.catalogue import WorkloadFact, run_keys, runs_of_keys, workloads
from apps.workloads.queries.holders import (
    HolderSpan,
    Holding,
    held_by_node,
    holders_between,
    holders_now,
)
from apps.workloads.queries.holding import (
    ExcludedNode,
    HeldFact,
    UnknownNodeName,
    allocations_held,
    excluded_nodes,
    unknown_nodes,
)
from apps.workloads.queries.imports import (
    ImportFact,
    import_batch,
    imports,
    rejected_rows,
)
from apps.workloads.queries.jobs import (
    JobFact,
    JobSpan,
    Submitter,
    attempts_from,
    has_jobs,
    is_run_in_cluster,
    job,
    jobs,
    jobs_labelled,
    jobs_of_keys,
    submitters,
    tags_of_jobs,
    users_of_jobs,
    values_of_label,
)
from apps.workloads.queries.ownership import (
    NOBODY,
    AccountWithoutOwner,
    OwnerFact,
    RuleFact,
    deciding_rule,
    owners,
    owners_at,
    rules,
    unowned_accounts,
)
from apps.workloads.queries.preview import Move, RulePreview, preview_end, preview_rule
from apps.workloads.queries.rule_history import RuleChange, rule_changes
