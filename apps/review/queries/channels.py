"""Channels, what was sent to them, and what came of it; no address of a webhook is ever told."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, OuterRef, Q, Subquery
from django.utils.crypto import salted_hmac

from apps.accounts.queries.paging import Page, PageRequest, equality_conditions, page_of
from apps.accounts.queries.sealed import opened_secret, sealed_secret
from apps.review.models import (
    AlertChannel,
    AlertMessage,
    ChannelKind,
    ChannelPace,
    MessageAttempt,
    MessageState,
)

MAIL, SLACK, WEBHOOK = str(ChannelKind.MAIL), str(ChannelKind.SLACK), str(ChannelKind.WEBHOOK)
CHANNEL_KINDS, CHANNEL_PACES = tuple(ChannelKind.values), tuple(ChannelPace.values)
CHANNEL_WORDS, PACE_WORDS = dict(ChannelKind.choices), dict(ChannelPace.choices)
MESSAGE_STATES = tuple(MessageState.values)
SEALED, WEBHOOKS = "sealed:", "webhook addresses"
WAITING = str(MessageState.WAITING)


@dataclass(frozen=True, slots=True)
class ChannelFact:
    """A channel; see its table for what each field is. `team` None: the organisation's."""

    id: int
    name: str
    kind: str
    team_id: int | None
    team: str | None
    shown_address: str
    pace: str
    quiet_from: int | None
    quiet_to: int | None
    gets_reviews: bool
    failures: int
    last_sent_at: datetime | None
    paused_at: datetime | None
    paused_reason: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class MessageFact:
    """A message to a channel, and what came of its last attempt; see the table for what each field is.

    `review` is the week of the weekly review that it is of, None of others.
    """

    id: int
    channel_id: int
    channel: str
    entry_ids: list[int]
    is_test: bool
    review: str | None
    state: str
    made_at: datetime
    due_at: datetime
    attempts: int
    ended_at: datetime | None
    outcome: str | None


@dataclass(frozen=True, slots=True)
class MessageAttemptFact:
    """One try: when, how long, what came of it."""

    message_id: int
    at: datetime
    milliseconds: int
    is_sent: bool
    outcome: str


@dataclass(frozen=True, slots=True)
class MessageCounts:
    """Messages on record, those of them that were tried and not taken yet, and attempts."""

    messages: int
    failing: int
    attempts: int


def channels() -> list[ChannelFact]:
    """Every channel that there is, by name."""
    rows = AlertChannel.objects.filter(ended_at=None).order_by("name")
    return [ChannelFact(*row) for row in rows.values_list(*_CHANNEL)]


def channel(channel_id: int) -> ChannelFact:
    """One; refuses AlertChannel.DoesNotExist."""
    rows = AlertChannel.objects.filter(ended_at=None).values_list(*_CHANNEL)
    return ChannelFact(*rows.get(pk=channel_id))


def messages(channel_id: int | None, most: int | None = None) -> list[MessageFact]:
    """The newest messages, of one channel or of all; every one without `most`."""
    rows = _messages_of(channel_id).order_by("-made_at", "-id").values_list(*_MESSAGE)[:most]
    return [MessageFact(*row) for row in rows]


def message_page(page_request: PageRequest) -> Page[MessageFact]:
    """A page of all messages, the newest first."""
    page = page_of(_messages_of(None).values(*_MESSAGE), page_request, "-made_at", "-id")
    rows = [MessageFact(*(row[name] for name in _MESSAGE)) for row in page.rows]
    return Page(rows, page.after, page.before)


def message_counts(channel_id: int | None) -> MessageCounts:
    """How many messages there are, of one channel or of all, and what was tried."""
    chosen = equality_conditions({"channel_id": channel_id})
    tries = MessageAttempt.objects.filter(equality_conditions({"message__channel_id": channel_id}))
    failing = Count("id", filter=Q(state=WAITING, attempts__gt=0))
    counts = AlertMessage.objects.filter(chosen).aggregate(messages=Count("id"), failing=failing)
    return MessageCounts(attempts=tries.count(), **counts)


def attempts_of(channel_id: int, most: int | None = None) -> list[MessageAttemptFact]:
    """The newest attempts to send to a channel; every one without `most`."""
    rows = MessageAttempt.objects.filter(message__channel_id=channel_id).order_by("-id")
    return [
        MessageAttemptFact(*row) for row in rows.values_list(*MessageAttemptFact.__slots__)[:most]
    ]


def signing_key(channel_id: int, salt: str) -> str:
    """Return the key that a signed webhook is signed with: made of the installation's own key, and nowhere kept."""
    digest = salted_hmac("alert channel", f"{channel_id}:{salt}", algorithm="sha256")
    return f"rrwh_{digest.hexdigest()}"


class AddressNotReadable(Exception):
    """An address that was sealed with a secret key which this installation does not have."""


def stored_address(kind: str, address: str) -> str:
    """Return an address as it is kept: of a webhook sealed as a whole, for it is often a secret."""
    return address if kind == MAIL else f"{SEALED}{sealed_secret(address, WEBHOOKS)}"


def opened_address(stored: str) -> str:
    """Return an address as it is sent to. Refuses AddressNotReadable."""
    if not stored.startswith(SEALED):
        return stored
    address = opened_secret(stored.removeprefix(SEALED), WEBHOOKS)
    if address is None:
        raise AddressNotReadable(
            "its address was sealed with another secret key than this installation has: enter it anew, "
            "or name the key of before in RUNRATE_OLD_SECRET_KEYS"
        )
    return address


def _messages_of(channel_id: int | None) -> Any:
    last = MessageAttempt.objects.filter(message=OuterRef("pk")).order_by("-id")
    rows = AlertMessage.objects.annotate(outcome=Subquery(last.values("outcome")[:1]))
    return rows if channel_id is None else rows.filter(channel_id=channel_id)


_CHANNEL = tuple("team__name" if name == "team" else name for name in ChannelFact.__slots__)
_LOOKED_UP = {"channel": "channel__name", "review": "review__week"}
_MESSAGE = tuple(_LOOKED_UP.get(name, name) for name in MessageFact.__slots__)
