"""Models whose names others bore too have names of their own; the tables stay as they are."""

from django.db import migrations

from apps.accounts.migrations._together import ChangedTogether

RENAMED = {
    "NodeHour": ("NodeReportHour", "telemetry_nodehour"),
    "Rejection": ("WindowRejection", "telemetry_rejection"),
    "Window": ("TelemetryWindow", "telemetry_window"),
}


class Migration(migrations.Migration):
    dependencies = [("telemetry", "0002_facts")]
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                ChangedTogether(
                    *(
                        operation
                        for old, (new, table) in RENAMED.items()
                        for operation in (
                            migrations.RenameModel(old, new),
                            migrations.AlterModelTable(new, table),
                        )
                    )
                )
            ]
        )
    ]
