"""Parts that messages are made of, whatever they say."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings


@dataclass(frozen=True, slots=True)
class MessageText:
    """A message in every form."""

    subject: str
    plain: str
    html: str
    slack: dict[str, Any]
    body: dict[str, Any]


def site_address(path: str) -> str | None:
    """A page of the console from outside; None where the site's address is not set."""
    return f"{settings.SITE_URL}{path}" if settings.SITE_URL else None


def slack_section(text: str) -> dict[str, Any]:
    """A block of a Slack message; its text is escaped already.

    Verbatim, or Slack makes links of addresses and mentions of names that stand in it.
    """
    return {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}


def slack_escaped(text: str) -> str:
    """Return a text escaped so that Slack reads it as itself: no link, no mention."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
