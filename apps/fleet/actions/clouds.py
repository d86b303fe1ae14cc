"""Cloud accounts, and what is read of them: begun, gone on with after each page, ended."""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.actions.constraints import refusing
from apps.economics.refusal import Refusal
from apps.fleet.models import CloudAccount, CloudSync
from apps.fleet.queries.clouds import DEAD_AFTER, OF_PROVIDER

ROLE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+")
EXPORT = re.compile(r"s3://[a-z0-9.-]{3,63}/([^/\s]+/)*[^/\s]+")


class CloudAccountNameTaken(Refusal):
    """Two accounts of one name could not be told apart."""


class CloudAccountNotUnderstood(Refusal):
    """A field of a cloud account says nothing that could be read."""


class SyncRunsAlready(Exception):
    """Somebody reads this of the account at the moment."""


class SyncTakenOver(Exception):
    """It gave no sign of life for too long, and somebody else began it anew."""


@dataclass(frozen=True, slots=True)
class NewCloudAccount:
    """What to read of which account; keys come from the surroundings, none is kept."""

    name: str
    provider: str
    account: str
    regions: tuple[str, ...] = ()
    syncs: tuple[str, ...] = ()
    role_arn: str = ""
    export_uri: str = ""
    export_region: str = ""


@dataclass(frozen=True, slots=True)
class SyncTurn:
    """Leave to read one thing of an account, from `cursor` on."""

    sync_id: int
    turn: int
    cursor: Mapping[str, Any]


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
        return CloudAccount.objects.create(**_columns(account), created_at=at).id


@transaction.atomic
def change_cloud_account(*, account: NewCloudAccount) -> int:
    """All that is said of the account of this name is said anew, also of one that was ended.

    What was read stays, and reading goes on where it was. Refuses ObjectDoesNotExist and
    CloudAccountNotUnderstood.
    """
    account = understood(account)
    row = CloudAccount.objects.select_for_update().get(name=account.name)
    for name, value in _columns(account).items():
        setattr(row, name, value)
    row.ended_at = None
    row.save()
    return row.id


@transaction.atomic
def end_cloud_account(*, account_id: int, at: datetime) -> None:
    """Nothing more is read of it; what was read stays."""
    row = CloudAccount.objects.select_for_update().get(pk=account_id)
    row.ended_at = row.ended_at or at
    row.save(update_fields=["ended_at"])


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
        fail_sync(turn=turn, error=str(broken) or type(broken).__name__, at=clock())
        raise
    finish_sync(turn=turn, note=note, at=clock())


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
    row.counts, row.error, row.note = {}, "", ""
    # What was wanted is what begins here; whoever wants it later wants another turn.
    row.wanted_at = None
    row.save()
    return SyncTurn(row.id, row.turn, row.cursor)


def keep_page(
    *, turn: SyncTurn, cursor: Mapping[str, Any], counts: Mapping[str, int], at: datetime
) -> None:
    """Remember how far it is; the next turn goes on there. Refuses SyncTakenOver."""
    _change(turn, alive_at=at, cursor=dict(cursor), counts=dict(counts))


def finish_sync(*, turn: SyncTurn, note: str = "", at: datetime) -> None:
    """All of it was read; `note` says what was odd. Refuses SyncTakenOver."""
    _change(turn, state="done", alive_at=at, ended_at=at, succeeded_at=at, note=note)


def fail_sync(*, turn: SyncTurn, error: str, at: datetime) -> None:
    """It broke off; the next turn goes on from the last page. Refuses SyncTakenOver."""
    _change(turn, state="failed", alive_at=at, ended_at=at, error=error)


def _change(turn: SyncTurn, **fields: Any) -> None:
    mine = CloudSync.objects.filter(id=turn.sync_id, turn=turn.turn, state="running")
    if not mine.update(**fields):
        raise SyncTakenOver("this sync was begun anew by somebody else, or is over")


def understood(account: NewCloudAccount) -> NewCloudAccount:
    """The account with all that can be read of it where nothing is said.

    Refuses CloudAccountNotUnderstood.
    """
    known = OF_PROVIDER.get(account.provider, ())
    account = replace(account, syncs=account.syncs or _possible(account, known))
    _refuse_misunderstood(account, known)
    return account


def _columns(account: NewCloudAccount) -> dict[str, Any]:
    lists = {"regions": list(account.regions), "syncs": list(account.syncs)}
    return asdict(account) | lists


def _possible(account: NewCloudAccount, known: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(what for what in known if what != "bills" or account.export_uri)


def _refuse_misunderstood(account: NewCloudAccount, known: tuple[str, ...]) -> None:
    reads_bills = "bills" in account.syncs
    checks = [
        (bool(known), "provider", f"{account.provider!r} is neither aws nor gcp"),
        (bool(account.name.strip()), "name", "an account has a name"),
        (bool(account.account.strip()), "account", "the account's number, or the project"),
        (set(account.syncs) <= set(known), "syncs", f"choose among {', '.join(known)}"),
        (
            not account.role_arn or ROLE.fullmatch(account.role_arn) is not None,
            "role_arn",
            "such as arn:aws:iam::123456789012:role/runrate",
        ),
        (
            not account.export_uri or EXPORT.fullmatch(account.export_uri) is not None,
            "export_uri",
            "such as s3://bucket/prefix/name-of-the-export",
        ),
        (
            not reads_bills or bool(account.export_uri),
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
