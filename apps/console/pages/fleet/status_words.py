"""How a node, an agent or an incident stands, in words that say whether somebody should know."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.console.kit.cells import INSTANT, Locale


@dataclass(frozen=True, slots=True)
class StatusLabel:
    """How something stands, in words; a `tone` (warn, quiet) where somebody should know."""

    text: str
    tone: str = ""
    since: datetime | None = None


def status_label_cell(state: StatusLabel, locale: Locale | None = None) -> SafeString:
    """The words in their tone; with a locale, since when too."""
    css = f"tone-{state.tone}" if state.tone else ""
    cell = format_html('<span class="{}">{}</span>', css, state.text)
    if state.since is None or locale is None:
        return cell
    return format_html("{}<small>since {}</small>", cell, INSTANT.shown(state.since, locale))
