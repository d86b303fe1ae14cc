"""Addresses of webhooks were kept as they are entered; from now on sealed with the installation's key."""

from typing import Any

from django.db import migrations, models

from apps.accounts.migrations._rows import ChangedRows
from apps.accounts.queries.sealed import opened_secret, sealed_secret

SEALED, PURPOSE = "sealed:", "webhook addresses"


def _webhooks(apps: Any) -> Any:
    rows = apps.get_model("review", "AlertChannel").objects.exclude(kind="mail")
    return rows.exclude(address="")


def seal(apps: Any, schema: object) -> None:
    """Seal those that are not."""
    for channel in _webhooks(apps).exclude(address__startswith=SEALED):
        channel.address = f"{SEALED}{sealed_secret(channel.address, PURPOSE)}"
        channel.save(update_fields=["address"])


def open_again(apps: Any, schema: object) -> None:
    """Have them as they were entered; one whose key is gone has none."""
    for channel in _webhooks(apps).filter(address__startswith=SEALED):
        channel.address = opened_secret(channel.address.removeprefix(SEALED), PURPOSE) or ""
        channel.save(update_fields=["address"])


class Migration(migrations.Migration):
    dependencies = [("review", "0001_squashed_0012_verdicts_of_findings")]

    operations = [
        ChangedRows("review_alertchannel", seal, open_again),
        migrations.AddConstraint(
            model_name="alertchannel",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("kind", "mail"),
                    ("address", ""),
                    ("address__startswith", "sealed:"),
                    _connector="OR",
                ),
                name="channel_webhook_sealed",
            ),
        ),
    ]
