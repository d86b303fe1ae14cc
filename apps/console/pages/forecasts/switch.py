"""The pages of forecasts, side by side."""

from django.urls import reverse

from apps.console.kit.frame import Choice

TABS = (
    ("forecasts", "Two weeks by the hour"),
    ("daily-forecasts", "18 months by the day"),
    ("demand-events", "Events"),
)


def horizon_tabs(current: str) -> tuple[Choice, ...]:
    """The lists: of both horizons, and of events."""
    return tuple(Choice(reverse(name), text, name == current) for name, text in TABS)
