"""The text of a message: as plain text, as simple HTML, for Slack, and for programs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.text import Truncator

from apps.accounts.queries import organisation
from apps.review.models import AlertEntry, AlertMessage, ChannelKind
from apps.review.queries.channels import opened_address, signing_key
from apps.review.queries.message_parts import (
    MessageText,
    site_address,
    slack_escaped,
    slack_section,
)
from apps.review.queries.weekly.review_message import review_message_text
from apps.show.amounts import counted
from apps.show.document import (
    DocumentFacts,
    DocumentLink,
    DocumentLocale,
    DocumentSection,
    OutgoingDocument,
    document_html,
    document_text,
)
from apps.show.time import machine

MOST_BLOCKS = 45
"""Slack takes fifty blocks."""
LONGEST_BLOCK, LONGEST_SLACK_TITLE = 2_900, 500
"""A character takes up to five once it is escaped."""
TEST = "This is a test of the channel; nothing has happened"


@dataclass(frozen=True, slots=True)
class SentStep:
    """A step of an alert, as a message says it; `link` is None where the site's address is not set."""

    alert_id: int
    matter: str
    kind: str
    team: str | None
    step: str
    severity: str
    title: str
    facts: list[list[str]]
    at: datetime
    link: str | None


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A message with where it goes; `key` is what it is signed with, empty where it is not."""

    id: int
    kind: str
    address: str = field(repr=False)
    key: str = field(repr=False)
    text: MessageText


def outgoing_message(message: AlertMessage) -> OutgoingMessage:
    """Return the message that a sender needs to try it. Refuses AddressNotReadable."""
    channel = message.channel
    is_signed = channel.kind == ChannelKind.WEBHOOK
    key = signing_key(channel.pk, channel.key_salt) if is_signed else ""
    review = message.review
    text = message_text(message) if review is None else review_message_text(message, review)
    return OutgoingMessage(message.pk, channel.kind, opened_address(channel.address), key, text)


def message_text(message: AlertMessage) -> MessageText:
    """All that a message says; one step a line, the most urgent first."""
    steps = _sent_steps(message)
    subject = _subject_words(steps, is_test=message.is_test)
    document = _document(steps, subject)
    return MessageText(
        subject=subject,
        plain=document_text(document),
        html=document_html(document),
        slack=_slack_document(steps, subject),
        body={
            "id": message.pk,
            "is_test": message.is_test,
            "made_at": machine(message.made_at),
            "organisation": document.author,
            "text": subject,
            "alerts": [_body_of(sent_step) for sent_step in steps],
        },
    )


def _sent_steps(message: AlertMessage) -> list[SentStep]:
    rows = AlertEntry.objects.filter(id__in=message.entry_ids).select_related("alert__team")
    order = {"urgent": 0, "warning": 1, "notice": 2}
    ordered = sorted(rows, key=lambda row: (order[row.severity], row.id))
    return [
        SentStep(
            row.alert_id,
            row.alert.matter,
            row.alert.kind,
            row.alert.team.name if row.alert.team else None,
            row.step,
            row.severity,
            " ".join(row.title.split()),
            [[" ".join(text.split()) for text in fact] for fact in row.facts],
            row.at,
            site_address(f"/alerts/{row.alert_id}"),
        )
        for row in ordered
    ]


def _subject_words(steps: Sequence[SentStep], *, is_test: bool) -> str:
    if is_test:
        return TEST
    if len(steps) == 1:
        return steps[0].title
    urgent = sum(step.severity == "urgent" for step in steps)
    return f"{counted(len(steps), 'alert')}{f', {urgent} urgent' if urgent else ''}"


def _document(steps: Sequence[SentStep], subject: str) -> OutgoingDocument:
    """A section for each step; where there is but one, it is the whole."""
    facts = organisation()
    is_one = len(steps) == 1
    sections = tuple(
        DocumentSection(
            "" if is_one else f"{step.severity}: {step.title}",
            (DocumentFacts(tuple((name, value) for name, value in step.facts)),),
            (DocumentLink("Open the alert", step.link),) if step.link else (),
        )
        for step in steps
    )
    return OutgoingDocument(
        title=subject,
        under=f"{facts.name} · {steps[0].severity}" if is_one else facts.name,
        author=facts.name,
        sections=sections,
        footer="Sent by Runrate: Act → Alerts → Where alerts are sent says to whom.",
        locale=DocumentLocale(facts.currency, ZoneInfo(facts.zone)),
    )


def _slack_document(steps: Sequence[SentStep], subject: str) -> dict[str, Any]:
    blocks = [_slack_block(step) for step in steps[:MOST_BLOCKS]] or [
        slack_section(slack_escaped(subject))
    ]
    more = len(steps) - MOST_BLOCKS
    if more > 0:
        blocks.append(slack_section(f"and {more} more"))
    return {"text": slack_escaped(subject), "blocks": blocks}


def _slack_block(step: SentStep) -> dict[str, Any]:
    """Its title, and as many whole facts as there is room for: half of an escape or of a link would be neither."""
    title = slack_escaped(Truncator(step.title).chars(LONGEST_SLACK_TITLE))
    text = f"*<{step.link}|{title}>*" if step.link else f"*{title}*"
    for name, value in step.facts:
        line = f"\n{slack_escaped(name)}: {slack_escaped(value)}"
        if len(text) + len(line) <= LONGEST_BLOCK:
            text += line
    return slack_section(text)


def _body_of(step: SentStep) -> dict[str, Any]:
    return {
        "alert_id": step.alert_id,
        "matter": step.matter,
        "kind": step.kind,
        "team": step.team,
        "step": step.step,
        "severity": step.severity,
        "title": step.title,
        "facts": [{"name": name, "value": value} for name, value in step.facts],
        "at": machine(step.at),
        "link": step.link,
    }
