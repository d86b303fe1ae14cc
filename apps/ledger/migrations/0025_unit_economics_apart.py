from django.db import migrations

from apps.accounts.migrations._facts import publish

MONEY = ["list_micros", "contracted_micros", "effective_micros", "billed_micros"]
FACTS = {
    "ledger_charge": [
        "id",
        "hour",
        "through",
        "kind",
        "status",
        "marginal_micros",
        "effective_micros",
    ],
    "ledger_line": [
        *(
            "id",
            "posting_month",
            "charge_id",
            "hour",
            "pool_id",
            "team_id",
            "workload_id",
            "job_id",
        ),
        *("state", "flags", "unit_milliseconds", *MONEY),
    ],
    "ledger_ledgerday": [
        *("day", "status", "team_id", "workload_id", "pool_id", "unit", "state", "flags", *MONEY),
        *("unit_milliseconds", "held_milliseconds", "observed_milliseconds"),
    ],
    "ledger_meterday": [
        *("day", "pool_id", "job_id", "gpu_milliseconds", "observed_milliseconds"),
        *("active_milliseconds", "sm_seconds", "sm_observed_seconds", "tensor_seconds"),
        *("tensor_observed_seconds", "dram_seconds", "dram_observed_seconds", "nvlink_bytes"),
        *("nvlink_observed_seconds", "pcie_bytes", "pcie_observed_seconds"),
    ],
}


class Migration(migrations.Migration):
    """What runs and services cost goes to an app of its own, which reads facts; its tables stay."""

    dependencies = [("ledger", "0024_rollups_of_months_users_and_nodes")]

    operations = [
        *(publish(table, columns) for table, columns in FACTS.items()),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.DeleteModel(name=name)
                for name in ("RunDay", "RunFigures", "ServiceCount", "ServiceDay", "ServiceTotal")
            ]
        ),
    ]
