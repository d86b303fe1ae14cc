"""Cloud accounts, what is read of them, and how that goes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist

from apps.accounts.queries.facts import field_names
from apps.fleet.models import CloudAccount, CloudSync
from apps.providers.cloud import KINDS
from apps.providers.reading import CloudAccess

AGAIN_AFTER_FAILURE = timedelta(minutes=15)
DEAD_AFTER = timedelta(minutes=30)
"""A sync that gave no sign of life for so long is no longer worked on."""


@dataclass(frozen=True, slots=True)
class NewCloudAccount:
    """A cloud account to read, and what to read of it; keys come from the surroundings, none is kept.

    `export_uri` is s3://bucket/prefix/name, or ''.
    """

    name: str
    provider: str
    account: str
    regions: tuple[str, ...] = ()
    syncs: tuple[str, ...] = ()
    role_arn: str = ""
    export_uri: str = ""
    export_region: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudAccountFact(NewCloudAccount):
    """An account that is read from."""

    id: int

    @property
    def access(self) -> CloudAccess:
        """Return the access that a reader of the cloud is given to this account."""
        return CloudAccess(
            name=self.name,
            account=self.account,
            regions=self.regions,
            role_arn=self.role_arn,
            export_uri=self.export_uri,
            export_region=self.export_region,
            external_id=settings.AWS_EXTERNAL_ID,
        )


@dataclass(frozen=True, slots=True)
class SyncHealth:
    """How reading one thing of an account goes; `state` is '' where it was never begun."""

    account_id: int
    account: str
    provider: str
    what: str
    state: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    succeeded_at: datetime | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    error: str = ""
    fault: str = ""
    note: str = ""
    due_at: datetime | None = None
    wanted_at: datetime | None = None


def cloud_accounts() -> list[CloudAccountFact]:
    """Every account that is read from, by name."""
    return [
        _account_fact(row) for row in CloudAccount.objects.filter(ended_at=None).order_by("name")
    ]


def cloud_account(account_id: int) -> CloudAccountFact | None:
    """The account of this id; None where it is not read from."""
    row = CloudAccount.objects.filter(id=account_id, ended_at=None).first()
    return None if row is None else _account_fact(row)


def ended_cloud_account_names() -> set[str]:
    """The names of those that are read from no more; said anew, one goes on where it was."""
    ended = CloudAccount.objects.exclude(ended_at=None)
    return set(ended.values_list("name", flat=True))


def cloud_account_named(name: str) -> CloudAccountFact:
    """The account of this name; refuses ObjectDoesNotExist."""
    row = CloudAccount.objects.filter(name=name, ended_at=None).first()
    if row is None:
        raise ObjectDoesNotExist(f"there is no cloud account named {name!r}")
    return _account_fact(row)


def sync_health() -> list[SyncHealth]:
    """Everything that is read of every account, also what was never begun; by account and word."""
    states = {(row.account_id, row.what): row for row in CloudSync.objects.all()}
    return [
        _health_of_sync(account, what, states.get((account.id, what)))
        for account in cloud_accounts()
        for what in account.syncs
    ]


def syncs_due(at: datetime, among: frozenset[str]) -> list[tuple[CloudAccountFact, str]]:
    """Return the accounts to be read now and what to read of each, of the words `among`."""
    by_id = {account.id: account for account in cloud_accounts()}
    return [
        (by_id[health.account_id], health.what)
        for health in sync_health()
        if health.what in among and (health.due_at is None or health.due_at <= at)
    ]


def _account_fact(row: CloudAccount) -> CloudAccountFact:
    columns = {name: getattr(row, name) for name in field_names(CloudAccountFact)}
    lists = {"regions": tuple(row.regions), "syncs": tuple(row.syncs)}
    return CloudAccountFact(**columns | lists)


def _health_of_sync(account: CloudAccountFact, what: str, row: CloudSync | None) -> SyncHealth:
    identity = (account.id, account.name, account.provider, what)
    if row is None:
        return SyncHealth(*identity)
    sync_fields = {name: getattr(row, name) for name in TOLD_OF_SYNC}
    return SyncHealth(*identity, **sync_fields, due_at=_due_at(row))


TOLD_OF_SYNC = (
    *("state", "started_at", "ended_at", "succeeded_at", "counts", "error", "fault", "note"),
    "wanted_at",
)


def _due_at(row: CloudSync) -> datetime:
    if row.ended_at is None:
        return row.alive_at + DEAD_AFTER
    if row.wanted_at is not None:
        return min(row.wanted_at, row.ended_at + KINDS[row.what].every)
    return row.ended_at + (AGAIN_AFTER_FAILURE if row.state == "failed" else KINDS[row.what].every)
