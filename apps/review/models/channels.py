"""Where alerts are sent, what was sent, and what came of each attempt."""

import pghistory
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q


class ChannelKind(models.TextChoices):
    """How a message goes out."""

    MAIL = "mail", "mail"
    SLACK = "slack", "Slack-compatible webhook"
    WEBHOOK = "webhook", "signed webhook"


class ChannelPace(models.TextChoices):
    """When: as soon as there is something, or what a day had in one message."""

    AT_ONCE = "at_once", "at once"
    DAILY = "daily", "once a day"


@pghistory.track(
    pghistory.InsertEvent(),
    pghistory.UpdateEvent(),
    pghistory.DeleteEvent(),
    exclude=["address", "key_salt", "failures", "last_sent_at"],
)
class AlertChannel(models.Model):
    """An address that alerts of a team (None: of the organisation) are sent to.

    `address` is of a webhook secret as a whole and sealed: pages and programs see `shown_address`. The key that signs is made of
    `key_salt` and the installation's own key, and is nowhere kept. Quiet hours `[quiet_from, quiet_to)` are of the
    organisation's clock, both null without. `failures` are attempts in a row that failed. With `gets_reviews` weekly
    reviews are sent there too: the whole, or what of it is of its team and of all below.
    """

    name = models.TextField(unique=True)
    kind = models.TextField(choices=ChannelKind.choices)
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, null=True, related_name="+")
    address = models.TextField()
    shown_address = models.TextField()
    key_salt = models.TextField(blank=True, default="")
    pace = models.TextField(choices=ChannelPace.choices, default=ChannelPace.AT_ONCE)
    quiet_from = models.PositiveSmallIntegerField(null=True)
    quiet_to = models.PositiveSmallIntegerField(null=True)
    gets_reviews = models.BooleanField(default=False)
    failures = models.IntegerField(default=0)
    last_sent_at = models.DateTimeField(null=True)
    paused_at = models.DateTimeField(null=True)
    paused_reason = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(quiet_from=None, quiet_to=None)
                | Q(quiet_from__lte=23, quiet_to__lte=23) & ~Q(quiet_from=models.F("quiet_to")),
                name="channel_quiet_from_and_to",
            ),
            models.CheckConstraint(
                condition=Q(kind="mail") | Q(address="") | Q(address__startswith="sealed:"),
                name="channel_webhook_sealed",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class MessageState(models.TextChoices):
    """Where a message stands."""

    WAITING = "waiting", "waiting"
    SENT = "sent", "sent"
    DROPPED = "dropped", "dropped"


class AlertMessage(models.Model):
    """A message that goes to a channel together: steps of alerts, a weekly review, or a test where `is_test`.

    `due_at` is when it is tried next; a waiting one takes further steps in. `claimed_until` is set while it is being sent: only one of a
    channel is, and who claimed it ended without a word where that is over. Dropped are those of a channel that was removed.
    """

    channel = models.ForeignKey(AlertChannel, on_delete=models.PROTECT, related_name="+")
    entry_ids = ArrayField(models.BigIntegerField(), default=list)
    is_test = models.BooleanField(default=False)
    review = models.ForeignKey(
        "review.WeeklyReview", on_delete=models.CASCADE, null=True, related_name="+"
    )
    state = models.TextField(choices=MessageState.choices, default=MessageState.WAITING)
    made_at = models.DateTimeField()
    due_at = models.DateTimeField()
    attempts = models.IntegerField(default=0)
    claimed_until = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state="waiting", ended_at=None)
                | ~Q(state="waiting") & Q(ended_at__isnull=False),
                name="message_waits_or_ended",
            ),
            models.UniqueConstraint(
                fields=["channel", "review"],
                condition=Q(review__isnull=False),
                name="review_sent_once",
            ),
        ]
        indexes = [
            models.Index(fields=["-made_at", "-id"], name="message_newest_first"),
            models.Index(
                fields=["due_at"], condition=Q(state="waiting"), name="message_that_waits"
            ),
        ]

    def __str__(self) -> str:
        return f"message {self.pk} to {self.channel_id}"


class MessageAttempt(models.Model):
    """One try to send a message: when, how long it took, and what came of it in words."""

    message = models.ForeignKey(AlertMessage, on_delete=models.CASCADE, related_name="tries")
    at = models.DateTimeField()
    milliseconds = models.IntegerField()
    is_sent = models.BooleanField()
    outcome = models.TextField()

    class Meta:
        indexes = [models.Index(fields=["message", "id"], name="attempt_of_message")]

    def __str__(self) -> str:
        return f"{self.outcome} at {self.at}"
