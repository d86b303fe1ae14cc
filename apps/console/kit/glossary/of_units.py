"""Time, and units in names: conventions that define no word of a page."""

from apps.console.kit.glossary.blocks import Bullet, GlossarySection, Paragraph
from apps.show.prose import Code, Emphasis, prose

TIME = GlossarySection(
    "Time",
    (
        Bullet(
            (
                prose(
                    "Instants are UTC; periods are half-open, ",
                    Code("[start, end)"),
                    "; the hour is the atom.",
                ),
            )
        ),
        Bullet(
            (
                prose(
                    "A day or month is the organisation's local one, and an hour belongs to "
                    "the day and month in which it ",
                    Emphasis("starts", "**"),
                    " (in zones of half hours too: Asia/Kolkata). A day on which clocks "
                    "change has 23 or 25 hours.",
                ),
            )
        ),
    ),
)

NAMES = GlossarySection(
    "Units in names",
    (
        Paragraph(
            prose(
                Code("_seconds"),
                ", ",
                Code("_milliseconds"),
                ", ",
                Code("_ms"),
                ", ",
                Code("_watts"),
                ", ",
                Code("_joules"),
                ", ",
                Code("_bytes"),
                ", ",
                Code("_micros"),
                " (money), ",
                Code("_ratio"),
                " (0 to 1; per cent only on pages), ",
                Code("gpu_hours"),
                ".",
            )
        ),
    ),
)
