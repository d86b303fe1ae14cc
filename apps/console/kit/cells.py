"""How a value looks in a cell of a page, and how it is written in CSV: exact, unknown ones empty."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

from apps.console.kit.carried import onward
from apps.console.templatetags.show_tags import UNKNOWN_MARK, time_element
from apps.economics.hours import HOUR_MS
from apps.economics.money import Money
from apps.show import amounts, money, time
from apps.show.csv_cells import csv_text
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


@dataclass(frozen=True, slots=True)
class Format:
    """How values of one kind are shown and written; neither is asked of None.

    `css` are the classes of its cells; numbers stand to the right.
    """

    shown: Callable[[Any, Locale], str]
    written: Callable[[Any, Locale], str]
    css: str = ""

    @property
    def is_number(self) -> bool:
        """Whether its cells stand to the right, and its first order is the largest first."""
        return "number-cell" in self.css


def text_cell(text: str) -> str:
    """A name from outside: a text that a spreadsheet would compute is quoted."""
    return csv_text(text)


def money_cell(micros: int | None, currency: str) -> str:
    """Every micro-unit; empty where the amount is not known."""
    return "" if micros is None else f"{Money.from_micros(micros, currency).amount:f}"


def hours_cell(milliseconds: int) -> str:
    """Hours to the sixth decimal."""
    return f"{milliseconds / HOUR_MS:.6f}"


def moment_cell(at: datetime | None) -> str:
    """RFC 3339 in UTC; empty where there is none."""
    return "" if at is None else f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def number_cell(number: float | int) -> str:
    """Whole numbers as they are, others to the sixth decimal."""
    return str(number) if isinstance(number, int) else f"{float(number):.6f}"


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
        said_more(text, unseen),
    )


def leading(text: str, unseen: str, href: str) -> SafeString:
    """A link that looks like a button; `unseen` as of one that sends."""
    return format_html('<a class="button small" href="{}">{}</a>', href, said_more(text, unseen))


def said_more(text: str, unseen: str) -> SafeString:
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


def quiet(text: str) -> SafeString:
    """Words in place of a value that is not there."""
    return format_html('<span class="unknown">{}</span>', text)


def drawn(template: str, **values: Any) -> SafeString:
    """What a template draws of these values, for a cell that no text says."""
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


def _as_text(value: object, _: Locale) -> str:
    return str(value)


def _csv_text(value: object, _: Locale) -> str:
    return text_cell(str(value))


def _instant(at: datetime, locale: Locale) -> str:
    return time_element(at, time.instant(at, locale.zone))


def _day_or_instant(at: datetime, locale: Locale) -> str:
    return time_element(at, time.day_or_instant(at, locale.zone))


def _money_format(shown: Callable[[int | None, str], str]) -> Format:
    return Format(
        lambda micros, locale: shown(micros, locale.currency),
        lambda micros, locale: money_cell(micros, locale.currency),
        "number-cell",
    )


def _number_format(
    shown: Callable[[Any], str], written: Callable[[Any], str] = number_cell
) -> Format:
    return Format(lambda value, _: shown(value), lambda value, _: written(value), "number-cell")


def _day_written(day: date, _: Locale) -> str:
    return day.isoformat()


def _signed_per_cent(ratio: float) -> str:
    return f"{'+' if ratio > 0 else '−' if ratio < 0 else ''}{amounts.per_cent(abs(ratio))}"


TEXT = Format(_as_text, _csv_text)
"""A name or a few words, from outside: no spreadsheet computes it."""
PROSE = Format(_as_text, _csv_text, "text")
"""Words that may take several lines."""
WRAPPED = Format(_as_text, _csv_text, "wrap")
"""A name that may be long."""
FIGURE = Format(_as_text, _csv_text, "number-cell")
"""A figure that is text already."""
COUNT = _number_format(amounts.count)
RATIO = _number_format(amounts.per_cent, lambda ratio: f"{float(ratio):.6f}")
SIGNED_RATIO = _number_format(_signed_per_cent, lambda ratio: f"{float(ratio):.6f}")
GPU_HOURS = _number_format(amounts.gpu_hours, hours_cell)
DURATION = _number_format(time.duration, lambda span: f"{span.total_seconds():.0f}")
"""A timedelta; whole seconds in CSV."""
MONEY = _money_format(money.full_amount)
SIGNED_MONEY = _money_format(money.signed_amount)
WHOLE_MONEY = _money_format(money.whole_amount)
"""An estimate, whose minor units say nothing; CSV has them."""
UNIT_COST = _money_format(money.unit_cost)
QUOTED = Format(
    lambda quoted, _: money.quoted_amount(*quoted),
    lambda quoted, _: f"{quoted[0]:f}",
    "number-cell quoted",
)
"""A price as it was quoted: pairs of the amount, in whole units, and its currency."""
BILLED = Format(
    lambda billed, _: money.billed_amount(*billed),
    lambda billed, _: f"{billed[0].normalize():f}",
    "number-cell",
)
"""A sum of a bill: pairs of the exact amount, in whole units, and its currency."""
CURRENCY = Format(_as_text, lambda _, locale: locale.currency)
DAY = Format(lambda day, _: time.weekday(day), _day_written)
ISO_DAY = Format(lambda day, _: day.isoformat(), _day_written)
INSTANT = Format(_instant, lambda at, _: moment_cell(at))
DAY_OR_INSTANT = Format(_day_or_instant, lambda at, _: moment_cell(at))
UNKNOWN = UNKNOWN_MARK
