"""Steps of alerts are put into messages of the owner's channels, and messages are sent until they are taken."""

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import Q

from apps.accounts.queries import organisation, teams
from apps.logs.changes import logged_pass
from apps.review.models import (
    AlertChannel,
    AlertEntry,
    AlertMessage,
    AlertSeverity,
    ChannelPace,
    MessageAttempt,
    MessageState,
)
from apps.review.queries.channels import MAIL, SLACK, WEBHOOK, AddressNotReadable
from apps.review.queries.message_text import OutgoingMessage, outgoing_message
from apps.web.outgoing import PostOutcome

DIGEST_HOUR = 8
FIRST_RETRY = timedelta(minutes=1)
MOST_ATTEMPTS = 8
"""Within about two hours; then its channel is paused."""
MOST_ROUTED, MOST_SENT = 500, 50
CLAIMED_FOR = {
    MAIL: timedelta(minutes=15),
    SLACK: timedelta(minutes=1),
    WEBHOOK: timedelta(minutes=1),
}
"""Longer than a message takes to be sent: a webhook ten seconds, a mail ten for each answer of its server."""
WORKER_ENDED = PostOutcome(
    is_sent=False, said="nobody knows: the worker ended while it was sent", milliseconds=0
)
MOST_ENTRIES = 200
"""Of one message; what is more goes into the next."""
KEPT = timedelta(days=400)

logger = logging.getLogger(__name__)
Sender = Callable[[OutgoingMessage, datetime], PostOutcome]


@logged_pass("route_alerts")
@transaction.atomic
def route_alerts(*, at: datetime) -> int:
    """Put new steps of alerts into messages: of the channels of the alert's team, else of the nearest above that has
    some, else of the organisation. How many steps."""
    entries = list(
        AlertEntry.objects.select_for_update(skip_locked=True, of=("self",))
        .filter(routed_at=None)
        .select_related("alert")
        .order_by("id")[:MOST_ROUTED]
    )
    if not entries:
        return 0
    zone = organisation().zone
    by_team = _channels_by_team()
    parents = {team.id: team.parent_id for team in teams()}
    for entry in entries:
        for channel in _channels_for(entry.alert.team_id, by_team, parents):
            _add_to_message(entry, channel, at, zone)
        entry.routed_at = at
        entry.save(update_fields=["routed_at"])
    return len(entries)


@logged_pass("send_alert_messages")
def send_due_messages(*, sender: Sender, clock: Callable[[], datetime]) -> int:
    """Try every message that is due, each by itself and once; how many were taken by their far end."""
    at, sent = clock(), 0
    # What a paused channel keeps is due all the time, and would take the place of what others have.
    due = AlertMessage.objects.filter(
        Q(channel__paused_at=None) | Q(is_test=True), state=MessageState.WAITING, due_at__lte=at
    )
    for message_id in list(due.order_by("due_at", "id").values_list("id", flat=True)[:MOST_SENT]):
        sent += _try_message(message_id, sender, clock)
    AlertMessage.objects.filter(ended_at__lt=at - KEPT).delete()
    return sent


def _try_message(message_id: int, sender: Sender, clock: Callable[[], datetime]) -> bool:
    """Nothing is locked while it is sent: who sends it has claimed it before, and says afterwards what came of it."""
    at = clock()
    message = _claimed_message(message_id, at)
    if message is None:
        return False
    outcome = _outcome_of(message, sender, at)
    _keep_outcome(message, outcome, at)
    return outcome.is_sent


@transaction.atomic
def _claimed_message(message_id: int, at: datetime) -> AlertMessage | None:
    """The message, for this process to send; None where another sends it or one to the same channel, or it is not due any more.

    One whose claim is over was tried: its worker ended, and nobody knows whether the far end has it.
    """
    message = (
        AlertMessage.objects.select_for_update(skip_locked=True, of=("self", "channel"))
        .filter(pk=message_id, state=MessageState.WAITING, due_at__lte=at)
        .select_related("channel")
        .first()
    )
    if message is None or (message.channel.paused_at is not None and not message.is_test):
        return None
    if AlertMessage.objects.filter(channel=message.channel, claimed_until__gt=at).exists():
        return None
    if message.claimed_until is not None:
        _note_outcome(message, WORKER_ENDED, at)
        return None
    message.claimed_until = at + CLAIMED_FOR[message.channel.kind]
    message.save(update_fields=["claimed_until"])
    return message


def _outcome_of(message: AlertMessage, sender: Sender, at: datetime) -> PostOutcome:
    """Return what came of a message; one that cannot be put together or sent is an attempt that failed, and stops no other."""
    try:
        with transaction.atomic():
            outgoing = outgoing_message(message)
        return sender(outgoing, at)
    except AddressNotReadable as sealed:
        return PostOutcome(is_sent=False, said=str(sealed), milliseconds=0)
    except Exception as error:  # noqa: BLE001  # whatever one message meets, those after it are sent
        # Its text may hold an address, which may be a secret.
        kind = type(error).__name__
        logger.error("alert_message_failed message_id=%s error=%s", message.pk, kind)
        return PostOutcome(is_sent=False, said=f"it ended with {kind}", milliseconds=0)


@transaction.atomic
def _keep_outcome(sent: AlertMessage, outcome: PostOutcome, at: datetime) -> None:
    """Under the claim that it was sent with; where that is over another worker speaks for the message."""
    message = (
        AlertMessage.objects.select_for_update(of=("self", "channel"))
        .filter(pk=sent.pk, claimed_until=sent.claimed_until)
        .select_related("channel")
        .first()
    )
    if message is not None:
        _note_outcome(message, outcome, at)


def _note_outcome(message: AlertMessage, outcome: PostOutcome, at: datetime) -> None:
    """The attempt, and where the message stands after it; what was dropped meanwhile stays so."""
    MessageAttempt.objects.create(
        message=message,
        at=at,
        milliseconds=outcome.milliseconds,
        is_sent=outcome.is_sent,
        outcome=outcome.said,
    )
    message.attempts += 1
    message.claimed_until = None
    if message.state == MessageState.WAITING:
        if outcome.is_sent:
            message.state, message.ended_at = MessageState.SENT, at
        elif message.is_test:
            message.state, message.ended_at = MessageState.DROPPED, at
        else:
            message.due_at = at + FIRST_RETRY * 2 ** (message.attempts - 1)
    message.save()
    _note_on_channel(message, outcome, at)


def _note_on_channel(message: AlertMessage, outcome: PostOutcome, at: datetime) -> None:
    channel = message.channel
    channel.failures = 0 if outcome.is_sent else channel.failures + 1
    if outcome.is_sent:
        channel.last_sent_at = at
    elif message.attempts >= MOST_ATTEMPTS:
        channel.paused_at = at
        channel.paused_reason = f"{message.attempts} attempts failed, the last: {outcome.said}"
    channel.save()


def _channels_by_team() -> Mapping[int | None, list[AlertChannel]]:
    by_team: dict[int | None, list[AlertChannel]] = {}
    for channel in AlertChannel.objects.filter(ended_at=None).order_by("id"):
        by_team.setdefault(channel.team_id, []).append(channel)
    return by_team


def _channels_for(
    team_id: int | None,
    by_team: Mapping[int | None, list[AlertChannel]],
    parents: Mapping[int, int | None],
) -> list[AlertChannel]:
    """Those of the nearest team upwards that has some; at the top, of the organisation."""
    while team_id is not None and team_id not in by_team:
        team_id = parents.get(team_id)
    return by_team.get(team_id, [])


def _add_to_message(entry: AlertEntry, channel: AlertChannel, at: datetime, zone: str) -> None:
    """Into the one that waits there and was not tried yet, or into a new one."""
    due = due_moment(channel, at, zone, is_urgent=entry.severity == AlertSeverity.URGENT)
    message = (
        AlertMessage.objects.select_for_update(skip_locked=True)
        .filter(
            channel=channel,
            state=MessageState.WAITING,
            is_test=False,
            review=None,
            attempts=0,
            claimed_until=None,
        )
        .order_by("id")
        .last()
    )
    if message is None or len(message.entry_ids) >= MOST_ENTRIES:
        message = AlertMessage(channel=channel, made_at=at, due_at=due)
    message.entry_ids = [*message.entry_ids, entry.pk]
    message.due_at = min(due, message.due_at)
    message.save()


def due_moment(channel: AlertChannel, at: datetime, zone: str, *, is_urgent: bool) -> datetime:
    """When a step goes out: urgent ones at once, others with the day's and after quiet hours, by the zone's clock."""
    if is_urgent:
        return at
    due = at
    if channel.pace == ChannelPace.DAILY:
        due = _next_hour_of_day(due, DIGEST_HOUR, zone)
    if channel.quiet_from is None or channel.quiet_to is None:
        return due
    hour = due.astimezone(ZoneInfo(zone)).hour
    begins, ends = channel.quiet_from, channel.quiet_to
    is_quiet = begins <= hour < ends if begins < ends else hour >= begins or hour < ends
    return _next_hour_of_day(due, ends, zone) if is_quiet else due


def _next_hour_of_day(at: datetime, hour: int, zone: str) -> datetime:
    """The first moment after `at` at which the zone's clocks show this full hour."""
    local = at.astimezone(ZoneInfo(zone))
    for days in range(3):
        day = local.date() + timedelta(days=days)
        moment = datetime.combine(day, time(hour), ZoneInfo(zone)).astimezone(UTC)
        if moment > at:
            return moment
    return at
