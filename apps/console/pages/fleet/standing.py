"""How a node, an agent or an incident stands, in words that say whether somebody should know."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.console.kit.cells import INSTANT, Locale


@dataclass(frozen=True, slots=True)
class Standing:
    """How something stands, in words; a `tone` (warn, quiet) where somebody should know."""

    text: str
    tone: str = ""
    since: datetime | None = None


def standing_cell(standing: Standing, locale: Locale | None = None) -> SafeString:
    """The words in their tone; with a locale, since when too."""
    css = f"tone-{standing.tone}" if standing.tone else ""
    said = format_html('<span class="{}">{}</span>', css, standing.text)
    if standing.since is None or locale is None:
        return said
    return format_html("{}<small>since {}</small>", said, INSTANT.shown(standing.since, locale))
