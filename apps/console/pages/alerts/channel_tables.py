"""The tables of channels, of what was sent to them, and of each attempt."""

from django.urls import reverse

from apps.console.kit.cells import COUNT, DAY_OR_INSTANT, INSTANT, PROSE
from apps.console.kit.table import Table
from apps.console.pages.alerts import words
from apps.review.queries.channels import (
    CHANNEL_WORDS,
    WAITING,
    ChannelFact,
    MessageAttemptFact,
    MessageFact,
)
from apps.show.amounts import counted
from apps.tables.column import Column

CHANNELS = Table[ChannelFact](
    "channels",
    "Channels",
    (
        Column("name", "Name", lambda row: row.name,
               href=lambda row: reverse("alert-channel", args=[row.id])),
        Column("kind", "By", lambda row: CHANNEL_WORDS[row.kind]),
        Column("of", "Alerts of", lambda row: row.team or words.ORGANISATION, csv="team"),
        Column("address", "To", lambda row: row.shown_address, PROSE, csv="shown_address"),
        Column("pace", "When", lambda row: words.when_sent(row), PROSE),
        Column("reviews", "Weekly review", lambda row: "sent too" if row.gets_reviews else None,
               csv="gets_reviews", missing=""),
        Column("last_sent", "Last sent", lambda row: row.last_sent_at, DAY_OR_INSTANT,
               csv="last_sent_at", missing="never"),
        Column("state", "State", lambda row: "paused" if row.paused_at else "sends",
               warns=lambda row: row.paused_reason if row.paused_at else False),
        Column("failures", "", lambda row: row.failures, COUNT),
    ),
    noun=("channel", "channels"),
    about="{said}; an alert goes to the channels of its team, else of the nearest team above that has some, else of the organisation",
    sort="sort",
)  # fmt: skip
MESSAGES = Table[MessageFact](
    "messages",
    "Messages",
    (
        Column("made", "Made", lambda row: row.made_at, INSTANT, csv="made_at"),
        Column("channel", "To", lambda row: row.channel),
        Column("what", "What", lambda row: words.describe_message(row)),
        Column("state", "State", lambda row: row.state,
               note=lambda row: f"{counted(row.attempts, 'attempt')}" if row.attempts else ""),
        Column("due", "Due", lambda row: row.due_at if row.state == WAITING else None, INSTANT,
               csv="due_at", missing=""),
        Column("outcome", "Outcome", lambda row: row.outcome, PROSE, missing="not tried yet",
               warns=lambda row: row.state == WAITING and bool(row.attempts)),
        Column("attempts", "", lambda row: row.attempts, COUNT),
    ),
    noun=("message", "messages"),
    about="{said}, the newest first; each waits until it is taken, and is tried again after 1, 2, 4 … minutes",
    sort="sort",
    empty="Nothing was sent yet.",
)  # fmt: skip
ATTEMPTS = Table[MessageAttemptFact](
    "attempts",
    "Attempts",
    (
        Column("at", "When", lambda row: row.at, INSTANT),
        Column("outcome", "Outcome", lambda row: row.outcome, PROSE,
               warns=lambda row: not row.is_sent),
        Column("milliseconds", "Milliseconds", lambda row: row.milliseconds, COUNT),
        Column("message", "Message", lambda row: row.message_id, COUNT),
    ),
    noun=("attempt", "attempts"),
    about="{said}, the newest first",
    sort="attempts",
    empty="Nothing was tried yet.",
)  # fmt: skip
