"""Registers apps.show for templates, which do no arithmetic and format nothing themselves."""

from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from functools import wraps

from django import template
from django.utils.html import format_html, json_script
from django.utils.safestring import SafeString

from apps.show import amounts, money, time, words
from apps.show.unknown import UNKNOWN

register = template.Library()

UNKNOWN_MARK = format_html(
    '<span class="unknown"><span aria-hidden="true">{}</span>'
    '<span class="unseen">not known</span></span>',
    UNKNOWN,
)


def time_element(at: datetime, text: str) -> SafeString:
    """A moment said as `text`, with UTC in its tooltip."""
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', time.machine(at), time.utc(at), text
    )


def _or_unknown(format_: Callable[..., str]) -> Callable[..., str]:
    """`format_`, with a mark that is also said in words where the value is not known."""

    # Django reads a filter's arguments from the function it wraps.
    @wraps(format_)
    def formatted(value: object, *arguments: object) -> str:
        return UNKNOWN_MARK if value is None else format_(value, *arguments)

    return formatted


for _format in (
    money.short_amount,
    money.full_amount,
    money.rounded_amount,
    money.unit_cost,
    money.signed_amount,
    amounts.gpu_hours,
    amounts.count,
    amounts.per_cent,
    time.duration,
):
    register.filter(_format.__name__, _or_unknown(_format))

register.filter("change_from", amounts.change)
register.filter("weekday", time.weekday)
register.filter("state", words.state_words)
register.filter("status", words.status_words)
register.filter("basis", words.basis_words)


@register.simple_tag
def instant(at: datetime | None, zone: tzinfo) -> str:
    """A moment in the organisation's zone, UTC in its tooltip."""
    return UNKNOWN_MARK if at is None else time_element(at, time.instant(at, zone))


@register.simple_tag
def day_or_instant(at: datetime | None, zone: tzinfo) -> str:
    """A local midnight as its day, another moment in full; UTC in its tooltip."""
    return UNKNOWN_MARK if at is None else time_element(at, time.day_or_instant(at, zone))


@register.simple_tag
def clock(at: datetime | None, zone: tzinfo) -> str:
    """A time of day in the organisation's zone, UTC in its tooltip."""
    return UNKNOWN_MARK if at is None else time_element(at, time.clock(at, zone))


@register.filter
def as_json(value: Mapping[str, object], element_id: str) -> SafeString:
    """`value` in a JSON script element, escaped, for static/js/charts.js to read."""
    return json_script(dict(value), element_id)
