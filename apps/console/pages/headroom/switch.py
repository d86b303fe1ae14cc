"""The pages of headroom, side by side."""

from django.urls import reverse

from apps.console.kit.frame import Choice

MOST_NAMED = 3
TABS = (
    ("headroom", "Policies"),
    ("waiting-costs", "Waiting and outages"),
    ("gpu-quotas", "Quotas"),
    ("power-limits", "Power and cooling"),
    ("activity-targets", "Targets"),
)


def headroom_tabs(current: str) -> tuple[Choice, ...]:
    """Return the tabs of what capacity is held against: demand, providers' quotas, rooms, and how active it is."""
    return tuple(Choice(reverse(name), text, name == current) for name, text in TABS)
