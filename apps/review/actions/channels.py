"""Where alerts are sent: channels are added, changed, tried, resumed and removed."""

import secrets
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from apps.accounts.actions.entered import keep, replace
from apps.accounts.queries import NoSuchTeam, teams
from apps.accounts.queries.facts import fields_of
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change
from apps.review.models import AlertChannel, AlertMessage, ChannelKind, MessageState
from apps.review.queries.channels import (
    AddressNotReadable,
    EnteredAlertChannel,
    opened_address,
    signing_key,
    stored_address,
)
from apps.web.outgoing import target_of, vetted_ip

MOST_ADDRESSES = 20


class ChannelIsWrong(Refusal):
    """A channel that nothing could be sent to, or whose name is taken."""


_NAME_TAKEN = {
    "review_alertchannel_name_key": ChannelIsWrong("name", "another channel has this name")
}


@dataclass(frozen=True, slots=True)
class IssuedChannel:
    """The only moment at which the key of a signed webhook is shown; None of others."""

    id: int
    key: str | None = field(repr=False, default=None)


def check_channel(channel: EnteredAlertChannel, *, is_new: bool) -> None:
    """Refuse what adding or replacing would; a change may leave the address out."""
    _check_remaining_fields(channel)
    if is_new or channel.address.strip():
        _shown_address(channel.kind, channel.address.strip())


@logged_change()
@transaction.atomic
def add_channel(*, channel: EnteredAlertChannel, at: datetime) -> IssuedChannel:
    """Send alerts of its team there from now on. Refuses ChannelIsWrong, AddressRefused and NoSuchTeam."""
    key_salt = secrets.token_hex(16)
    columns = _columns_of(channel) | _address_of(channel) | {"key_salt": key_salt}
    channel_id = keep(AlertChannel, columns, at, _NAME_TAKEN)
    is_signed = channel.kind == ChannelKind.WEBHOOK
    return IssuedChannel(channel_id, signing_key(channel_id, key_salt) if is_signed else None)


@logged_change()
@transaction.atomic
def replace_channel(*, channel_id: int, channel: EnteredAlertChannel) -> None:
    """Set it anew; with an empty `address` it keeps the one it has. Refuses as add_channel does."""
    row = _locked_channel(channel_id)
    if channel.kind != row.kind:
        raise ChannelIsWrong("kind", "its kind stays: add another channel")
    # An address that stays was vetted, and is again before each message: a change of the pace needs no DNS.
    new = _address_of(channel) if channel.address.strip() else {}
    replace(row, _columns_of(channel) | new, _NAME_TAKEN)


@logged_change()
@transaction.atomic
def renew_channel_key(*, channel_id: int) -> IssuedChannel:
    """Sign with another key from now on; the one before is worth nothing. Refuses ChannelIsWrong where it signs nothing."""
    row = _locked_channel(channel_id)
    if row.kind != ChannelKind.WEBHOOK:
        raise ChannelIsWrong("", "only signed webhooks have a key")
    row.key_salt = secrets.token_hex(16)
    row.save()
    return IssuedChannel(row.pk, signing_key(row.pk, row.key_salt))


@logged_change()
@transaction.atomic
def resume_channel(*, channel_id: int, at: datetime) -> None:
    """Try again at once what waits; refuses ChannelIsWrong where it is not paused."""
    row = _locked_channel(channel_id)
    if row.paused_at is None:
        raise ChannelIsWrong("", "it is not paused")
    row.paused_at, row.paused_reason, row.failures = None, "", 0
    row.save()
    waiting = AlertMessage.objects.filter(channel=row, state=MessageState.WAITING, attempts__gt=0)
    waiting.update(attempts=0, due_at=at)


@logged_change()
@transaction.atomic
def try_channel(*, channel_id: int, at: datetime) -> int:
    """Have the next sweep send a test there, paused or not; the id of the message."""
    row = _locked_channel(channel_id)
    return AlertMessage.objects.create(channel=row, is_test=True, made_at=at, due_at=at).pk


@logged_change()
@transaction.atomic
def remove_channel(*, channel_id: int, at: datetime) -> None:
    """Send nothing there any more; what waits is dropped, what was sent stays on record."""
    row = _locked_channel(channel_id)
    row.ended_at, row.name = at, _name_once_removed(row)
    row.address = row.key_salt = ""
    row.save()
    waiting = AlertMessage.objects.filter(channel=row, state=MessageState.WAITING)
    waiting.update(state=MessageState.DROPPED, ended_at=at)


@logged_change(count=lambda counts, _: counts[0])
@transaction.atomic
def reseal_addresses() -> tuple[int, int]:
    """Seal each webhook's address with the present key: how many were, and how many no key opens."""
    done = lost = 0
    rows = (
        AlertChannel.objects.select_for_update().exclude(kind=ChannelKind.MAIL).exclude(address="")
    )
    for row in rows.order_by("pk"):
        try:
            row.address = stored_address(row.kind, opened_address(row.address))
        except AddressNotReadable:
            lost += 1
            continue
        row.save(update_fields=["address"])
        done += 1
    return done, lost


def _locked_channel(channel_id: int) -> AlertChannel:
    return AlertChannel.objects.select_for_update().get(pk=channel_id, ended_at=None)


def _name_once_removed(row: AlertChannel) -> str:
    """One that leaves its name to others; nobody's, whatever others are called."""
    name = row.name
    while AlertChannel.objects.filter(name=name).exists():
        name += f" (removed {row.pk})"
    return name


def _address_of(channel: EnteredAlertChannel) -> dict[str, Any]:
    address = channel.address.strip()
    shown = _shown_address(channel.kind, address)
    return {"address": stored_address(channel.kind, address), "shown_address": shown}


def _columns_of(channel: EnteredAlertChannel) -> dict[str, Any]:
    _check_remaining_fields(channel)
    columns = fields_of(channel) | {"name": channel.name.strip()}
    del columns["address"]
    return columns


def _check_remaining_fields(channel: EnteredAlertChannel) -> None:
    if not channel.name.strip():
        raise ChannelIsWrong("name", "a channel has a name")
    if (channel.quiet_from is None) != (channel.quiet_to is None):
        raise ChannelIsWrong("quiet_to", "quiet hours have a beginning and an end")
    if channel.quiet_from is not None and channel.quiet_from == channel.quiet_to:
        raise ChannelIsWrong("quiet_to", "quiet hours end at another hour than they begin")
    if channel.team_id is not None and channel.team_id not in {team.id for team in teams()}:
        raise NoSuchTeam("no such team")


def _shown_address(kind: str, address: str) -> str:
    return _mail_checked(address) if kind == ChannelKind.MAIL else _webhook_checked(address)


def _mail_checked(address: str) -> str:
    """The addresses by comma; refuses ChannelIsWrong for what is none."""
    every = [part.strip() for part in address.split(",") if part.strip()]
    if not 1 <= len(every) <= MOST_ADDRESSES:
        raise ChannelIsWrong("address", f"say 1 to {MOST_ADDRESSES} addresses, by comma")
    for entry in every:
        try:
            validate_email(entry)
        except ValidationError:
            raise ChannelIsWrong("address", "one of these is no mail address") from None
    return ", ".join(every)


def _webhook_checked(address: str) -> str:
    """Return what of an address may be shown: the scheme and host, for the rest is often a secret."""
    target = target_of(address)
    vetted_ip(target, settings.WEBHOOK_NETWORKS)
    return f"{target.scheme}://{target.host}/…"
