"""Cloud accounts, and what is read of them: begun, gone on with after each page, ended."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.actions.constraints import refusing
from apps.economics.refusal import Refusal
from apps.fleet.models import CloudAccount, CloudSync
from apps.fleet.queries.clouds import DEAD_AFTER, NewCloudAccount
from apps.logs.changes import answered, logged_change
from apps.providers.cloud import CloudFault, CloudProvider, CloudRefused
from apps.providers.registry import clouds

OPTIONS = ("role_arn", "export_uri", "export_region")
"""Fields that only some clouds have use for."""


class CloudAccountNameTaken(Refusal):
    """Two accounts of one name could not be told apart."""


class CloudAccountNotUnderstood(Refusal):
    """A field of a cloud account says nothing that could be read."""


class SyncRunsAlready(Exception):
    """Somebody reads this of the account at the moment."""


class SyncTakenOver(Exception):
    """It gave no sign of life for too long, and somebody else began it anew."""


@dataclass(frozen=True, slots=True)
class SyncTurn:
    """Leave to read one thing of an account, from `cursor` on."""

    sync_id: int
    turn: int
    cursor: Mapping[str, Any]


@logged_change()
@transaction.atomic
def add_cloud_account(*, account: NewCloudAccount, at: datetime) -> int:
    """Add an account to read from; answers its id.

    Refuses CloudAccountNameTaken and CloudAccountNotUnderstood.
    """
    account = understood(account)
    taken = CloudAccountNameTaken(
        "name", f"there is a cloud account named {account.name!r} already"
    )
    with refusing({"fleet_cloudaccount_name_key": taken}):
        return CloudAccount.objects.create(**_account_columns(account), created_at=at).id


@logged_change()
@transaction.atomic
def change_cloud_account(*, account: NewCloudAccount) -> int:
    """All that is said of the account of this name is said anew, also of one that was ended.

    What was read stays, and reading goes on where it was. Refuses ObjectDoesNotExist and
    CloudAccountNotUnderstood.
    """
    account = understood(account)
    row = CloudAccount.objects.select_for_update().get(name=account.name)
    for name, value in _account_columns(account).items():
        setattr(row, name, value)
    row.ended_at = None
    row.save()
    return row.id


@logged_change()
@transaction.atomic
def end_cloud_account(*, account_id: int, at: datetime) -> None:
    """Nothing more is read of it; what was read stays."""
    row = CloudAccount.objects.select_for_update().get(pk=account_id)
    row.ended_at = row.ended_at or at
    row.save(update_fields=["ended_at"])


@logged_change(text_arguments=("what",))
def run_sync(
    *, account_id: int, what: str, read: Callable[[SyncTurn], str], clock: Callable[[], datetime]
) -> None:
    """Begin, let `read` read (it answers what was odd), and say how it ended; raises what it did.

    Refuses SyncRunsAlready and SyncTakenOver.
    """
    turn = begin_sync(account_id=account_id, what=what, at=clock())
    try:
        note = read(turn)
    except SyncTakenOver:
        raise
    except Exception as broken:
        fault = broken.fault if isinstance(broken, CloudRefused) else CloudFault.OTHER
        fail_sync(turn=turn, error=str(broken) or type(broken).__name__, fault=fault, at=clock())
        raise
    finish_sync(turn=turn, note=note, at=clock())


@logged_change(count=answered)
@transaction.atomic
def want_syncs(*, account_id: int, at: datetime) -> int:
    """All of the account is to be read as soon as a worker is free; answers how much will be.

    What is being read at the moment, or was never begun and so is due already, counts too.
    """
    account = CloudAccount.objects.select_for_update().get(pk=account_id, ended_at=None)
    rows = CloudSync.objects.filter(account=account, what__in=account.syncs)
    rows.exclude(state="running", alive_at__gt=at - DEAD_AFTER).update(wanted_at=at)
    return len(account.syncs)


@transaction.atomic
def begin_sync(*, account_id: int, what: str, at: datetime) -> SyncTurn:
    """Take a turn at reading `what`. Refuses SyncRunsAlready."""
    CloudAccount.objects.select_for_update().get(pk=account_id)
    row = CloudSync.objects.filter(account_id=account_id, what=what).first()
    if row is None:
        row = CloudSync(account_id=account_id, what=what, turn=0)
    elif row.state == "running" and at - row.alive_at < DEAD_AFTER:
        raise SyncRunsAlready(f"{what} is being read since {row.started_at:%Y-%m-%d %H:%M}Z")
    row.turn += 1
    row.state, row.started_at, row.alive_at, row.ended_at = "running", at, at, None
    row.counts, row.error, row.fault, row.note = {}, "", "", ""
    # What was wanted is what begins here; whoever wants it later wants another turn.
    row.wanted_at = None
    row.save()
    return SyncTurn(row.id, row.turn, row.cursor)


def keep_page(
    *, turn: SyncTurn, cursor: Mapping[str, Any], counts: Mapping[str, int], at: datetime
) -> None:
    """Remember how far it is; the next turn goes on there. Refuses SyncTakenOver."""
    _update_claimed_sync(turn, alive_at=at, cursor=dict(cursor), counts=dict(counts))


def finish_sync(*, turn: SyncTurn, note: str = "", at: datetime) -> None:
    """All of it was read; `note` says what was odd. Refuses SyncTakenOver."""
    _update_claimed_sync(turn, state="done", alive_at=at, ended_at=at, succeeded_at=at, note=note)


def fail_sync(
    *, turn: SyncTurn, error: str, fault: CloudFault = CloudFault.OTHER, at: datetime
) -> None:
    """It broke off, for `error` in words; the next turn goes on from the last page. Refuses SyncTakenOver."""
    _update_claimed_sync(turn, state="failed", alive_at=at, ended_at=at, error=error, fault=fault)


def _update_claimed_sync(turn: SyncTurn, **fields: Any) -> None:
    mine = CloudSync.objects.filter(id=turn.sync_id, turn=turn.turn, state="running")
    if not mine.update(**fields):
        raise SyncTakenOver("this sync was begun anew by somebody else, or is over")


def understood(account: NewCloudAccount) -> NewCloudAccount:
    """The account with all that can be read of it where nothing is said.

    Refuses CloudAccountNotUnderstood.
    """
    cloud = clouds().get(account.provider)
    if cloud is None:
        cloud_names = ", ".join(clouds())
        raise CloudAccountNotUnderstood(
            "provider",
            f"{account.provider!r} is none of the clouds that can be read: {cloud_names}",
        )
    account = replace(account, syncs=account.syncs or _possible_readings(account, cloud))
    _refuse_misunderstood(account, cloud)
    return account


def _account_columns(account: NewCloudAccount) -> dict[str, Any]:
    lists = {"regions": list(account.regions), "syncs": list(account.syncs)}
    return asdict(account) | lists


def _possible_readings(account: NewCloudAccount, cloud: CloudProvider) -> tuple[str, ...]:
    """All that can be read of it; its bills only where it is said where they are delivered."""
    has_bills = "export_uri" not in cloud.options or bool(account.export_uri)
    return tuple(kind for kind in cloud.readings if kind != "bills" or has_bills)


def _refuse_misunderstood(account: NewCloudAccount, cloud: CloudProvider) -> None:
    needs_export = "bills" in account.syncs and "export_uri" in cloud.options
    checks = [
        (bool(account.name.strip()), "name", "an account has a name"),
        (bool(account.account.strip()), "account", "the account's number, or the project"),
        (
            set(account.syncs) <= set(cloud.readings),
            "syncs",
            f"choose among {', '.join(cloud.readings)}",
        ),
        *_option_checks(account, cloud),
        (
            not needs_export or bool(account.export_uri),
            "export_uri",
            "where the bills are delivered",
        ),
        (
            set(account.syncs) == {"bills"} or bool(account.regions),
            "regions",
            "at least one to ask in",
        ),
    ]
    for holds, field, reason in checks:
        if not holds:
            raise CloudAccountNotUnderstood(field, reason)


def _option_checks(
    account: NewCloudAccount, cloud: CloudProvider
) -> Iterator[tuple[bool, str, str]]:
    """Yield the checks that what is said of the account beside its number and regions fits what its cloud takes."""
    for name in OPTIONS:
        text = getattr(account, name)
        option = cloud.options.get(name)
        if option is None:
            yield not text, name, f"{cloud.label} has no use for it; leave it empty"
        else:
            yield option.is_met_by(text), name, f"such as {option.example}"
