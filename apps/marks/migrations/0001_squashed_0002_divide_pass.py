"""All tables of marks, as they were when its migrations became one."""

from django.db import migrations, models

from apps.accounts.migrations._tables import TablesOfFile


class Migration(migrations.Migration):
    replaces = [("marks", "0001_initial"), ("marks", "0002_divide_pass")]

    initial = True

    dependencies = [
        ("accounts", "0001_squashed_0013_pseudonyms"),
        ("mfa", "0003_authenticator_type_uniq"),
        ("pghistory", "0007_auto_20250421_0444"),
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
    ]

    operations = [
        TablesOfFile(
            file="0001_squashed_0002_divide_pass.sql",
            models=[
                migrations.CreateModel(
                    name="ChangedHour",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "pass_id",
                                "hour",
                                "unit",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        (
                            "pass_id",
                            models.SmallIntegerField(
                                choices=[
                                    (1, "Usage"),
                                    (2, "Charge"),
                                    (3, "Split"),
                                    (4, "Spread"),
                                    (5, "Rollup"),
                                    (6, "Calls"),
                                    (7, "Divide"),
                                ]
                            ),
                        ),
                        ("unit", models.BigIntegerField()),
                        ("hour", models.DateTimeField()),
                        ("revision", models.BigIntegerField()),
                    ],
                    options={
                        "db_table": "fleet_changedhour",
                    },
                ),
                migrations.CreateModel(
                    name="ChangedRange",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        (
                            "pass_id",
                            models.SmallIntegerField(
                                choices=[
                                    (1, "Usage"),
                                    (2, "Charge"),
                                    (3, "Split"),
                                    (4, "Spread"),
                                    (5, "Rollup"),
                                    (6, "Calls"),
                                    (7, "Divide"),
                                ]
                            ),
                        ),
                        ("unit", models.BigIntegerField()),
                        ("starts_at", models.DateTimeField()),
                        ("ends_at", models.DateTimeField()),
                        ("revision", models.BigIntegerField()),
                    ],
                    options={
                        "db_table": "fleet_changedrange",
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("ends_at__gt", models.F("starts_at"))),
                                name="changed_range_is_forward",
                            )
                        ],
                    },
                ),
            ],
            triggers=[],
        ),
    ]
