"""Machines that run in a cloud account: kept page by page, forgotten when they are gone."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.fleet.models import CloudMachine
from apps.logs.changes import answered, items_of, logged_change
from apps.providers.reading import ObservedMachine

TOLD = ("name", "names", "region", "zone", "instance_type", "purchase_option", "cpus")
AT_ONCE = 1000


@logged_change(count=items_of("machines"))
def keep_machines(*, account_id: int, machines: Sequence[ObservedMachine], at: datetime) -> None:
    """They run in the account at `at`; the same again changes only when they were seen."""
    rows = [
        CloudMachine(
            account_id=account_id,
            seen_at=at,
            launched_at=machine.launched_at,
            external_id=machine.external_id,
            **{name: getattr(machine, name) for name in TOLD} | {"names": list(machine.names)},
        )
        for machine in {machine.external_id: machine for machine in machines}.values()
    ]
    CloudMachine.objects.bulk_create(
        rows,
        batch_size=AT_ONCE,
        update_conflicts=True,
        unique_fields=["account", "external_id"],
        update_fields=[*TOLD, "launched_at", "seen_at"],
    )


@logged_change(count=answered)
@transaction.atomic
def forget_machines(*, account_id: int, before: datetime, regions: Sequence[str]) -> int:
    """Those not seen since `before` are gone, and so are those of other regions; answers how many.

    Call it when all of `regions` was read since then.
    """
    machines = CloudMachine.objects.filter(account_id=account_id)
    stale = machines.filter(seen_at__lt=before) | machines.exclude(region__in=regions)
    count, _ = stale.delete()
    return count
