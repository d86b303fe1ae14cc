"""Time from left to right: a span, and tables whose rows are lanes drawn through it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.console.kit.cells import drawn, linked
from apps.console.kit.request import Context
from apps.console.kit.table import Table, TableSection
from apps.tables.column import Column


@dataclass(frozen=True, slots=True)
class Span:
    """The time that is drawn, `[starts_at, ends_at)`, of which `until` is over; `day` where chosen."""

    starts_at: datetime
    ends_at: datetime
    until: datetime
    zone: tzinfo
    day: date | None = None

    def left(self, at: datetime) -> float:
        """Where a moment is, in per cent."""
        return 100 * ((at - self.starts_at) / (self.ends_at - self.starts_at))

    def cut(self, starts_at: datetime, ends_at: datetime) -> tuple[datetime, datetime]:
        """Return the part of a time that is drawn and over; the second is not after the first where nothing is."""
        return max(starts_at, self.starts_at), min(ends_at, self.until)

    def marked(self, parts: int) -> list[tuple[str, datetime]]:
        """The moments between so many equal parts of it, and where they are."""
        step = (self.ends_at - self.starts_at) / parts
        moments = [self.starts_at + step * place for place in range(1, parts)]
        return [(f"{self.left(at):.2f}%", at) for at in moments]


class DrawnLane(NamedTuple):
    """A row of a picture: what it is of, with small notes below its name, and its picture."""

    name: str
    href: str
    notes: Sequence[str]
    picture: SafeString


def lanes_section(
    title: str,
    heads: tuple[str, str],
    ticks: Sequence[tuple[str, str]],
    lanes: Sequence[DrawnLane],
    context: Context,
) -> TableSection:
    """The lanes below one another; `heads` name what they are of and the time they run through."""
    first, when = heads
    table = Table[DrawnLane](
        "lanes",
        title,
        (
            Column("name", first, lambda lane: lane.name, shown=lambda lane, _: _lane_name(lane)),
            Column(
                "time",
                drawn("kit/_ticks.html", when=when, ticks=ticks),
                lambda _: "",
                shown=lambda lane, _: lane.picture,
            ),
        ),
        css="timeline",
    )
    return table.section(lanes, context)


def _lane_name(lane: DrawnLane) -> SafeString:
    notes = format_html_join("", "<small>{}</small>", ((note,) for note in lane.notes))
    return format_html("{}{}", linked(lane.name, lane.href), notes)
