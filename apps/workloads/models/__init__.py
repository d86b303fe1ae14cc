"""Workloads, runs, jobs and their allocations, whose they are, and what came of them."""

from apps.workloads.models.business_value import RunScore, ValueUnit, WorkloadScore, WorkloadValue
from apps.workloads.models.imports import ImportBatch, RejectedRow
from apps.workloads.models.jobs import Allocation, Job, JobEvent, RunSpan
from apps.workloads.models.personal import PERSONAL_FIELDS
from apps.workloads.models.reports import (
    RunAttempt,
    RunEvent,
    RunHour,
    RunProgress,
    RunStatus,
    RunSummary,
)
from apps.workloads.models.requests import (
    RequestDay,
    RequestHour,
    ServiceObjective,
    WorkloadChange,
)
from apps.workloads.models.rules import ExcludedNodeName, OwnershipRule
from apps.workloads.models.usage import SetAsideSpan, UsageEvent
from apps.workloads.models.work import Run, Workload, WorkloadKind
