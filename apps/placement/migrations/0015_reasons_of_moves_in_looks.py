"""Why a matter is proposed no more is kept with the look that says so; its state is its recommendation's."""

from collections import defaultdict
from typing import Any

from django.db import migrations, models

from apps.accounts.migrations._rows import ChangedRows
from apps.accounts.migrations._together import ChangedTogether


def keep_reasons(apps: Any, schema: object) -> None:
    """Put the reason of each closed matter into the look that closed it."""
    matters = apps.get_model("placement", "FleetMove").objects.filter(closed_week__isnull=False)
    declined: dict[Any, dict[str, str]] = defaultdict(dict)
    for key, week, reason in matters.order_by("key").values_list(
        "key", "closed_week", "closed_reason"
    ):
        declined[week][key] = reason
    looks = apps.get_model("placement", "FleetMoveLook").objects
    for week, reasons in declined.items():
        looks.filter(week=week).update(declined=reasons)


def close_again(apps: Any, schema: object) -> None:
    """Close the matters that the newest look does not propose, with the reason of the look that proposed them no more."""
    looks = apps.get_model("placement", "FleetMoveLook").objects.order_by("week")
    newest_id = looks.values_list("id", flat=True).last()
    for look in looks.exclude(declined={}):
        for key, reason in look.declined.items():
            matters = apps.get_model("placement", "FleetMove").objects.filter(key=key)
            matters.exclude(proposals__look_id=newest_id).update(
                closed_week=look.week, closed_reason=reason
            )


class Migration(migrations.Migration):
    dependencies = [("placement", "0014_quotes_that_ended")]

    operations = [
        migrations.AddField(
            model_name="fleetmovelook",
            name="declined",
            field=models.JSONField(db_default={}, default=dict),
        ),
        ChangedRows("placement_fleetmove", keep_reasons, close_again),
        ChangedTogether(
            migrations.RemoveConstraint(
                model_name="fleetmove", name="fleet_move_closed_with_reason"
            ),
            migrations.RemoveField(model_name="fleetmove", name="closed_week"),
            migrations.RemoveField(model_name="fleetmove", name="closed_reason"),
        ),
    ]
