"""What statements of other apps may know of hours of devices and of their holders."""

from django.db import migrations

from apps.accounts.migrations._facts import publish

FACTS = {
    "telemetry_holderkey": ["id", "key"],
    "telemetry_usagehour": [
        "device_id",
        "hour",
        "holder_id",
        "observed",
        "worked",
        "sm_seconds",
        "sm_observed_seconds",
        "tensor_seconds",
        "tensor_observed_seconds",
        "dram_seconds",
        "dram_observed_seconds",
        "energy_joules",
    ],
    "telemetry_devicehour": [
        "device_id",
        "hour",
        "source",
        "observed_seconds",
        "nvlink_bytes",
        "pcie_bytes",
    ],
}


class Migration(migrations.Migration):
    dependencies = [("telemetry", "0001_squashed_0004_busy_hours")]
    operations = [publish(table, columns) for table, columns in FACTS.items()]
