"""How a value looks in a cell of a page, and how it is written in CSV: exact, unknown ones empty."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

from apps.console.kit.sticky_filters import onward
from apps.console.templatetags.show_tags import UNKNOWN_MARK, time_element
from apps.show import time
from apps.show.cell_formats import (
    BILLED,
    COUNT,
    CURRENCY,
    DATA_RATE,
    DAY,
    DURATION,
    FIGURE,
    GPU_HOURS,
    ISO_DAY,
    MONEY,
    PROSE,
    QUOTED,
    RATIO,
    SIGNED_MONEY,
    SIGNED_RATIO,
    TEXT,
    UNIT_COST,
    WHOLE_MONEY,
    WRAPPED,
    CellLocale,
    Format,
    hours_cell,
    moment_cell,
    money_cell,
    number_cell,
)
from apps.show.strip import Strip


@dataclass(frozen=True, slots=True)
class Locale:
    """The currency of amounts and the zone of moments: the organisation's; what links carry on."""

    currency: str
    zone: tzinfo
    carries: Mapping[str, str] = field(default_factory=dict)

    def onward(self, href: str) -> str:
        """An address with what goes on to its page."""
        return onward(href, self.carries)


def warned(text: str, title: str = "") -> SafeString:
    """A text that asks for attention, with why in its tooltip."""
    if title:
        return format_html('<span class="tone-warn" title="{}">{}</span>', title, text)
    return format_html('<span class="tone-warn">{}</span>', text)


def linked(text: str, href: str) -> SafeString:
    """A text that leads somewhere; without an address, the text alone."""
    return format_html('<a href="{}">{}</a>', href, text) if href else escaped(text)


def titled(text: str, title: str) -> SafeString:
    """A text with a tooltip."""
    return format_html('<span title="{}">{}</span>', title, text)


def sending(text: str, unseen: str, address: str) -> SafeString:
    """A button that sends to this address; `unseen` says of what, to whom the row is not seen."""
    return format_html(
        '<button class="button small" type="submit" formaction="{}">{}</button>',
        address,
        with_hidden_text(text, unseen),
    )


def leading(text: str, unseen: str, href: str) -> SafeString:
    """A link that looks like a button; `unseen` as of one that sends."""
    return format_html(
        '<a class="button small" href="{}">{}</a>', href, with_hidden_text(text, unseen)
    )


def with_hidden_text(text: str, unseen: str) -> SafeString:
    """A text that is seen, and what is heard after it."""
    return format_html('{}<span class="unseen"> {}</span>', text, unseen)


def unseen(text: str) -> SafeString:
    """A text that is heard and not seen."""
    return format_html('<span class="unseen">{}</span>', text)


def undefined(why: str) -> SafeString:
    """The mark of a ratio or a unit cost that has no meaning here, and why."""
    return format_html(
        '<span class="unknown" title="undefined: {}">–<span class="unseen">undefined</span></span>',
        why,
    )


def digest_shown(digest: str) -> SafeString:
    """Its beginning where there is no room for all of it; held upon, copied and printed it is whole."""
    return format_html('<code class="digest" title="{0}">{0}</code>', digest)


def quiet(text: str) -> SafeString:
    """Words in place of a value that is not there."""
    return format_html('<span class="unknown">{}</span>', text)


def drawn(template: str, **values: Any) -> SafeString:
    """Render a template with these values, for a cell that no text says."""
    return render_to_string(template, values)


def strip_drawn(strip: Strip | None) -> SafeString:
    """Shares of a whole side by side: by hand, as a page has hundreds of them."""
    if strip is None:
        return format_html('<span class="unknown">–{}</span>', unseen("nothing to divide"))
    parts = "".join(
        f'<rect class="{part.state.css_class}{" is-hatched" if part.state.is_hatched else ""}"'
        f' x="{part.offset}" width="{part.width}" height="100%" />'
        for part in strip.parts
    )
    return format_html(
        '<svg class="strip" role="img" aria-label="{0}"><title>{0}</title>{1}</svg>',
        strip.words,
        SafeString(parts),
    )


def escaped(text: str) -> SafeString:
    """A text as HTML; what is HTML already stays."""
    return mark_safe(conditional_escape(text))  # noqa: S308  (escaped on this line)


def _instant(at: datetime, locale: CellLocale) -> str:
    return time_element(at, time.instant(at, locale.zone))


def _day_or_instant(at: datetime, locale: CellLocale) -> str:
    return time_element(at, time.day_or_instant(at, locale.zone))


INSTANT = Format(_instant, lambda at, _: moment_cell(at))
DAY_OR_INSTANT = Format(_day_or_instant, lambda at, _: moment_cell(at))
UNKNOWN = UNKNOWN_MARK
