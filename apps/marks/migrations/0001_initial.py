"""Marks of changed hours, in the tables that fleet made."""

from django.db import migrations, models

PASSES = [(1, "Usage"), (2, "Charge"), (3, "Split"), (4, "Spread"), (5, "Rollup"), (6, "Calls")]


class Migration(migrations.Migration):
    initial = True

    dependencies = [("fleet", "0012_marks_move_out")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
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
                        ("pass_id", models.SmallIntegerField(choices=PASSES)),
                        ("unit", models.BigIntegerField()),
                        ("hour", models.DateTimeField()),
                        ("revision", models.BigIntegerField()),
                    ],
                    options={"db_table": "fleet_changedhour"},
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
                        ("pass_id", models.SmallIntegerField(choices=PASSES)),
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
            ]
        )
    ]
