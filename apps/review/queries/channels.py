"""Channels, what was sent to them, and what came of it; no address of a webhook is ever told."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from django.db.models import Count, OuterRef, Q, Subquery
from django.utils.crypto import salted_hmac

from apps.accounts.queries.facts import columns_of, fact_of, facts_of
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
from apps.show.entries import Entry
from apps.web.outgoing import LONGEST_ADDRESS

MAIL, SLACK, WEBHOOK = str(ChannelKind.MAIL), str(ChannelKind.SLACK), str(ChannelKind.WEBHOOK)
AT_ONCE = str(ChannelPace.AT_ONCE)
CHANNEL_WORDS, PACE_WORDS = dict(ChannelKind.choices), dict(ChannelPace.choices)
MESSAGE_STATES = tuple(MessageState.values)
SEALED, WEBHOOKS = "sealed:", "webhook addresses"
WAITING = str(MessageState.WAITING)
_ADDRESS = Entry(
    "Address",
    "Mail addresses by comma, or the https:// address of a webhook, of which only the host is shown later.",
    "of a change empty: the one it has",
    longest=LONGEST_ADDRESS,
)
_QUIET_FROM = Entry(
    help="from this hour of the organisation's clock only urgent alerts are sent", least=0, most=23
)
_GETS_REVIEWS = Entry(
    "Weekly review",
    "The whole of it, or what of it is of the team and of those below.",
    "weekly reviews are sent there too: the whole, or what is of its team",
    choices={"": "not sent there", "sent": "sent there too"},
)


@dataclass(frozen=True, slots=True)
class ChannelTerms:
    """The terms of a channel that are no secret; see its table for what each field is."""

    name: Annotated[str, Entry("Name")]
    kind: Annotated[str, Entry("By", choices=CHANNEL_WORDS, initial=MAIL)]
    team_id: int | None
    pace: Annotated[str, Entry("When", choices=PACE_WORDS, initial=AT_ONCE)] = AT_ONCE
    quiet_from: Annotated[int | None, _QUIET_FROM] = None
    quiet_to: Annotated[int | None, Entry(help="until this hour", least=0, most=23)] = None
    gets_reviews: Annotated[bool, _GETS_REVIEWS] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EnteredAlertChannel(ChannelTerms):
    """A channel as it is entered. Of mail `address` is addresses, by comma."""

    address: Annotated[str, _ADDRESS] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelFact(ChannelTerms):
    """A channel as it is kept. `team` None: the organisation's."""

    id: int
    team: str | None
    shown_address: str
    failures: Annotated[int, Entry(help="attempts in a row that failed")]
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
    entry_ids: tuple[int, ...]
    is_test: bool
    review: Annotated[str | None, Entry(help="the week of the weekly review that it is of")]
    state: Annotated[str, Entry(choices=MESSAGE_STATES)]
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
    return list(facts_of(ChannelFact, rows, **_TEAM))


def channel(channel_id: int) -> ChannelFact:
    """One; refuses AlertChannel.DoesNotExist."""
    rows = AlertChannel.objects.filter(ended_at=None).values(*columns_of(ChannelFact, **_TEAM))
    return fact_of(ChannelFact, rows.get(pk=channel_id), **_TEAM)


def messages(channel_id: int | None, most: int | None = None) -> list[MessageFact]:
    """The newest messages, of one channel or of all; every one without `most`."""
    rows = _messages_of(channel_id).order_by("-made_at", "-id")[:most]
    return list(facts_of(MessageFact, rows, **_LOOKED_UP))


def message_page(page_request: PageRequest) -> Page[MessageFact]:
    """A page of all messages, the newest first."""
    columns = columns_of(MessageFact, **_LOOKED_UP)
    page = page_of(_messages_of(None).values(*columns), page_request, "-made_at", "-id")
    rows = [fact_of(MessageFact, row, **_LOOKED_UP) for row in page.rows]
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
    rows = MessageAttempt.objects.filter(message__channel_id=channel_id).order_by("-id")[:most]
    return list(facts_of(MessageAttemptFact, rows))


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


_LOOKED_UP = {"channel": "channel__name", "review": "review__week"}
_TEAM = {"team": "team__name"}
