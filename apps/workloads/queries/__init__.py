"""What is known of jobs, what they hold and whose they are."""

from apps.workloads.queries.holding import HeldFact, UnknownNode, allocations_held, unknown_nodes
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

__all__ = [
    "HeldFact",
    "JobFact",
    "JobSpan",
    "OwnerFact",
    "RuleFact",
    "UnknownNode",
    "UnownedAccount",
    "allocations_held",
    "job",
    "job_count",
    "jobs_of_keys",
    "owners",
    "rules",
    "tags_of_jobs",
    "unknown_nodes",
    "unowned_accounts",
]
