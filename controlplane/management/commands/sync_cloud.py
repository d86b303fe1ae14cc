"""Read from a cloud account now."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.fleet.queries.clouds import (
    CloudAccountFact,
    SyncHealth,
    cloud_account_named,
    sync_health,
)
from apps.ledger.tasks.cloud_bills import sync_bills
from apps.pricing.tasks.cloud_syncs import REFUSALS, sync_cloud
from apps.providers.cloud import KINDS


class Command(BaseCommand):
    """`manage.py sync_cloud ACCOUNT`: goes on where the last sync ended, due or not."""

    help = "Read all that is set of a cloud account now; without an error it exits with 0."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which account, and what of it."""
        parser.add_argument("account", metavar="ACCOUNT", help="its name in Runrate")
        parser.add_argument(
            "--read", action="append", choices=list(KINDS), help="only this; may be repeated"
        )
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read, say how it went, and fail where anything broke off."""
        try:
            account = cloud_account_named(options["account"])
        except ObjectDoesNotExist as unknown:
            raise CommandError(str(unknown)) from unknown
        for what in options["read"] or account.syncs:
            if what not in account.syncs:
                raise CommandError(f"{account.name} is not set to read {what}")
            self._read(account, what)
        health = [each for each in sync_health() if each.account_id == account.id]
        if options["json"]:
            self.stdout.write(json.dumps({each.what: _figures(each) for each in health}))
        if any(each.state == "failed" for each in health):
            raise CommandError("something broke off")

    def _read(self, account: CloudAccountFact, what: str) -> None:
        sync = sync_bills if what == "bills" else sync_cloud
        try:
            sync(account, what, timezone.now)
            self.stderr.write(f"{what}: read")
        except REFUSALS as refused:
            self.stderr.write(f"{what}: {refused}")


def _figures(health: SyncHealth) -> dict[str, object]:
    moments = ("started_at", "ended_at", "succeeded_at", "due_at")
    told = {name: value for name, value in asdict(health).items() if name != "account_id"}
    return told | {name: told[name].isoformat() if told[name] else None for name in moments}
