"""The pages of placement side by side."""

from django.urls import reverse

from apps.console.kit.frame import Choice

TABS = (
    ("placement", "Try a job"),
    ("quotes", "Quotes"),
    ("admissions", "Admissions"),
    ("spot-evidence", "Spot evidence"),
)


def placement_tabs(current: str) -> tuple[Choice, ...]:
    """Each, with the one that is shown."""
    return tuple(Choice(reverse(name), text, name == current) for name, text in TABS)
