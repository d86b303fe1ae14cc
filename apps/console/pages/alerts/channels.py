"""Where alerts are sent: the channels, one with what was sent to it, and every message."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.urls import path, reverse

from apps.accounts.queries import teams
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entered import entries_of
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, FactList, SecretOnce, shown
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.pages.alerts import words
from apps.console.pages.alerts.channel_form import AlertChannelForm
from apps.console.pages.alerts.channel_tables import ATTEMPTS, CHANNELS, MESSAGES
from apps.economics.refusal import Refusal
from apps.review import actions
from apps.review.queries.channels import (
    CHANNEL_WORDS,
    WEBHOOK,
    ChannelFact,
    EnteredAlertChannel,
    attempts_of,
    channels,
    message_counts,
    messages,
)
from apps.show.amounts import counted
from apps.show.time import instant

MOST_SHOWN = 500
KEY_ABOUT = "what it signs with: shown only now, and nowhere kept"


@shown(SEES_EVERYTHING, "alerts")
def channel_list(context: Context) -> ConsolePage:
    """Every channel."""
    all_channels = channels()
    paused = [channel for channel in all_channels if channel.paused_at is not None]
    finding = (
        f"Alerts are sent to {counted(len(all_channels), 'channel')}"
        if all_channels
        else "No channel yet"
    )
    if paused:
        finding = f"{counted(len(paused), 'channel')} of {len(all_channels)} failed and {'is' if len(paused) == 1 else 'are'} paused"
    return ConsolePage(
        context=context,
        finding=finding,
        under=("by mail and to webhooks; every alert is on the page Alerts whatever is sent",),
        back=Link("Alerts", reverse("alerts")),
        actions=(
            Link("Add a channel", reverse("add-alert-channel")),
            Link("All messages", reverse("alert-messages")),
        ),
        sections=(CHANNELS.section(all_channels, context, csv_name="alert-channels"),),
        empty=None
        if all_channels
        else EmptyState(
            "Alerts are sent nowhere",
            "A channel sends the alerts of a team, or of the organisation, by mail, to a Slack-compatible webhook or to a signed one.",
            (
                Step(
                    "Say whose alerts go where, at once or once a day; a test can be sent first.",
                    link=Link("Add a channel", reverse("add-alert-channel")),
                ),
            ),
        ),
    )


@shown(SEES_EVERYTHING, "alerts")
def channel_page(context: Context, channel_id: int) -> ConsolePage:
    """One channel."""
    return _channel_page(context, channel_id)


@shown(SEES_EVERYTHING, "alerts")
def message_list(context: Context) -> ConsolePage:
    """Every message."""
    counts = message_counts(None)
    finding = f"{counted(counts.messages, 'message')} on record"
    if counts.failing:
        finding = f"{counted(counts.failing, 'message')} could not be sent yet"
    return ConsolePage(
        context=context,
        finding=finding if counts.messages else "Nothing was sent yet",
        under=describe_newest(counts.messages, "messages"),
        back=Link("Channels", reverse("alert-channels")),
        sections=(
            MESSAGES.section(
                messages(None, MOST_SHOWN),
                context,
                csv_name="alert-messages",
                csv_rows=lambda: messages(None),
            ),
        ),
    )


@changing(SEES_EVERYTHING, "alerts")
def add_channel(context: Context) -> Change[EnteredAlertChannel]:
    """Says what would be sent there, then adds it."""

    def apply(thought: EnteredAlertChannel) -> ConsolePage | Done:
        new_channel = actions.add_channel(channel=thought, at=context.at)
        if new_channel.key is None:
            return f"{thought.name} is added.", ("alert-channel", new_channel.id)
        return _channel_page(
            context, new_channel.id, SecretOnce("Its key", KEY_ABOUT, new_channel.key)
        )

    return _channel_form(context, "Add a channel", "Add this channel", apply, None)


@changing(SEES_EVERYTHING, "alerts")
def change_channel(context: Context, channel_id: int) -> Change[EnteredAlertChannel]:
    """Says what would be sent there, then sets it anew."""
    fact = get_channel_or_404(channel_id)

    def apply(thought: EnteredAlertChannel) -> Done:
        actions.replace_channel(channel_id=fact.id, channel=thought)
        return f"{thought.name} is changed.", ("alert-channel", fact.id)

    return _channel_form(context, f"Change {fact.name}", "Change this channel", apply, fact)


@changing(SEES_EVERYTHING, "alerts")
def remove_channel(context: Context, channel_id: int) -> Change[ChannelFact]:
    """Says what is not sent any more, then removes it."""

    def apply(fact: ChannelFact) -> Done:
        actions.remove_channel(channel_id=fact.id, at=context.at)
        return f"{fact.name} is removed.", ("alert-channels",)

    return _channel_change(
        channel_id, "Remove", "Nothing is sent there any more; what waits is dropped.", apply
    )


@changing(SEES_EVERYTHING, "alerts")
def try_channel(context: Context, channel_id: int) -> Change[ChannelFact]:
    """Sends a test."""

    def apply(fact: ChannelFact) -> Done:
        actions.try_channel(channel_id=fact.id, at=context.at)
        return "The test is sent within seconds; what came of it is below.", (
            "alert-channel",
            fact.id,
        )

    return _channel_change(
        channel_id, "Send a test to", "A message that says that it is a test goes there.", apply
    )


@changing(SEES_EVERYTHING, "alerts")
def resume_channel(context: Context, channel_id: int) -> Change[ChannelFact]:
    """Tries again what waits."""

    def apply(fact: ChannelFact) -> Done:
        actions.resume_channel(channel_id=fact.id, at=context.at)
        return f"{fact.name} sends again.", ("alert-channel", fact.id)

    return _channel_change(channel_id, "Resume", "What waits is tried again at once.", apply)


@changing(SEES_EVERYTHING, "alerts")
def renew_key(context: Context, channel_id: int) -> Change[ChannelFact]:
    """Signs with another key from now on."""

    def apply(fact: ChannelFact) -> ConsolePage:
        renewed = actions.renew_channel_key(channel_id=fact.id)
        return _channel_page(
            context, fact.id, SecretOnce("Its new key", KEY_ABOUT, renewed.key or "")
        )

    return _channel_change(
        channel_id, "Renew the key of", "The key before is worth nothing at once.", apply
    )


def get_channel_or_404(channel_id: int) -> ChannelFact:
    """The channel, or the page that there is none."""
    return value_or_404(next((channel for channel in channels() if channel.id == channel_id), None))


def describe_newest(total: int, noun: str) -> tuple[str, ...]:
    """That a table has not all of them, where it has not."""
    if total <= MOST_SHOWN:
        return ()
    return (f"the newest {MOST_SHOWN:,} of {total:,} {noun} are listed, CSV has all",)


def _channel_page(
    context: Context, channel_id: int, secret: SecretOnce | None = None
) -> ConsolePage:
    fact = get_channel_or_404(channel_id)
    counts = message_counts(fact.id)
    context = replace(context, path=reverse("alert-channel", args=[fact.id]))
    ways = [("Send a test", "test-alert-channel"), ("Change", "change-alert-channel")]
    ways += [("Renew its key", "renew-alert-channel-key")] if fact.kind == WEBHOOK else []
    ways += [("Resume", "resume-alert-channel")] if fact.paused_at else []
    ways += [("Remove", "remove-alert-channel")]
    state = "It sends."
    if fact.paused_at is not None:
        state = f"Paused {instant(fact.paused_at, context.zone)}: {fact.paused_reason}."
    return ConsolePage(
        context=context,
        finding=f"{fact.name} sends alerts of {fact.team or words.ORGANISATION} by {CHANNEL_WORDS[fact.kind]}",
        under=(
            state,
            *describe_newest(counts.messages, "messages"),
            *describe_newest(counts.attempts, "attempts"),
        ),
        back=Link("All channels", reverse("alert-channels")),
        actions=tuple(Link(text, reverse(name, args=[fact.id])) for text, name in ways),
        main_table="attempts",
        sections=(
            secret,
            FactList(
                [
                    ("To", fact.shown_address),
                    ("When", words.when_sent(fact)),
                    ("Weekly review", "sent there too" if fact.gets_reviews else "not sent there"),
                ]
            ),
            MESSAGES.section(
                messages(fact.id, MOST_SHOWN),
                context,
                csv_name=f"alert-channel-{fact.id}-messages",
                csv_rows=lambda: messages(fact.id),
            ),
            ATTEMPTS.section(
                attempts_of(fact.id, MOST_SHOWN),
                context,
                csv_name=f"alert-channel-{fact.id}",
                csv_rows=lambda: attempts_of(fact.id),
            ),
        ),
    )


def _channel_form(
    context: Context, finding: str, confirm: str, apply: Any, fact: ChannelFact | None
) -> Change[EnteredAlertChannel]:
    team_names = {str(team.id): team.name for team in teams() if team.kind == "team"}

    def read(entered: Mapping[str, Any]) -> EnteredAlertChannel:
        team_id = int(entered["team"]) if entered["team"] else None
        fields = {name: value for name, value in entered.items() if name != "team"}
        thought = EnteredAlertChannel(**fields, team_id=team_id)
        actions.check_channel(thought, is_new=fact is None)
        return thought

    def effects(thought: EnteredAlertChannel) -> tuple[str, ...]:
        of = team_names.get(str(thought.team_id), words.ORGANISATION)
        return (
            f"Alerts of {of}, and of teams below that have no channel of their own, are sent there.",
            words.describe_pace(thought.pace, thought.quiet_from, thought.quiet_to),
            *words.describe_reviews(of, is_sent=thought.gets_reviews),
        )

    initial = {}
    if fact is not None:
        initial = entries_of(fact, AlertChannelForm, context.zone)
        initial["team"] = str(fact.team_id or "")
    return Change(
        finding=finding,
        explanation="Of a webhook only the host is shown later. Empty: the address that it has."
        if fact
        else "Of a webhook only the host is shown later.",
        back=Link("Channels", reverse("alert-channels")),
        form=AlertChannelForm,
        confirm=confirm,
        read=read,
        effects=effects,
        apply=apply,
        picks={"team": {"": "The organisation", **team_names}},
        initial=initial,
        refusals=(Refusal,),
        # An address may be a secret: it stands in no address of a page, nor in a log of them.
        is_long=True,
    )


def _channel_change(channel_id: int, verb: str, effect: str, apply: Any) -> Change[ChannelFact]:
    fact = get_channel_or_404(channel_id)
    return Change(
        finding=f"{verb} {fact.name}",
        explanation="",
        back=Link("Back to the channel", reverse("alert-channel", args=[fact.id])),
        form=ChangeForm,
        confirm=f"{verb} it",
        read=lambda _: fact,
        effects=lambda _: (effect,),
        apply=apply,
    )


urlpatterns = [
    path("alerts/channels", channel_list, name="alert-channels"),
    path("alerts/channels/new", add_channel, name="add-alert-channel"),
    path("alerts/channels/<int:channel_id>", channel_page, name="alert-channel"),
    path("alerts/channels/<int:channel_id>/change", change_channel, name="change-alert-channel"),
    path("alerts/channels/<int:channel_id>/remove", remove_channel, name="remove-alert-channel"),
    path("alerts/channels/<int:channel_id>/test", try_channel, name="test-alert-channel"),
    path("alerts/channels/<int:channel_id>/resume", resume_channel, name="resume-alert-channel"),
    path("alerts/channels/<int:channel_id>/key", renew_key, name="renew-alert-channel-key"),
    path("alerts/messages", message_list, name="alert-messages"),
]
