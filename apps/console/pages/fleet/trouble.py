"""How many incidents are open and how many agents are unhealthy, with links to them."""

from datetime import datetime

from django.urls import reverse

from apps.console.kit.frame import Link
from apps.console.pages.fleet.agents import agent_rows, unwell
from apps.show.amounts import counted
from apps.telemetry.queries import open_incidents


def trouble(at: datetime) -> tuple[Link, ...]:
    """Nothing where nothing is wrong."""
    lasting, ill = open_incidents(), unwell(agent_rows(at))
    found = []
    if lasting:
        text = counted(lasting, "open incident")
        found.append(Link(text, f"{reverse('incidents')}?open=yes"))
    if ill:
        found.append(Link(counted(ill, "unhealthy agent"), f"{reverse('agents')}?show=unwell"))
    return tuple(found)
