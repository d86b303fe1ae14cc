"""What statements of other apps may know of work."""

from django.db import migrations

from apps.accounts.migrations._facts import publish

FACTS = {
    "workloads_workload": ["id", "name", "kind"],
    "workloads_job": [
        "id",
        "cluster_id",
        "raw_id",
        "name",
        "partition",
        "user",
        "labels",
        "submitted_at",
        "started_at",
        "ended_at",
        "merged_into_id",
    ],
    "workloads_allocation": [
        "id",
        "job_id",
        "node_id",
        "gpus_numerator",
        "gpus_denominator",
        "device_uuids",
        "period",
    ],
    "workloads_run": ["id", "key"],
    "workloads_runattempt": ["id", "run_id", "job_id"],
    "workloads_runprogress": ["attempt_id", "starts_at", "productive_ms"],
    "workloads_runsummary": ["run_id", "status", "submitted_at", "ended_at", "folded_at"],
    "workloads_runhour": ["run_id", "job_key"],
    "workloads_usageevent": [
        "id",
        "at",
        "vendor",
        "model",
        "tier",
        "team_id",
        "workload_id",
        "feature",
        "outcome",
        "is_counted",
        "input_tokens",
        "cached_tokens",
        "cache_write_tokens",
        "output_tokens",
        "reasoning_tokens",
        "detail",
    ],
}


class Migration(migrations.Migration):
    dependencies = [("workloads", "0012_availability_and_budgets")]
    operations = [publish(table, columns) for table, columns in FACTS.items()]
