"""What the company knows of the weeks ahead, and no history says."""

from datetime import timedelta

from apps.accounts.queries import organisation
from apps.ledger.queries.calendar import local_day
from apps.planning.actions import add_demand_event
from apps.planning.queries.events import DemandEventFact
from controlplane.demo.company import Company

OFFSITE_IN, LAUNCH_IN = timedelta(days=9), timedelta(days=24)


def say_what_is_ahead(company: Company) -> None:
    """Two days of an offsite, and a launch that brings a service more requests."""
    today = local_day(company.week.at, organisation().zone)
    offsite = DemandEventFact(
        id=0,
        name="Company offsite",
        kind="holiday",
        first_day=today + OFFSITE_IN,
        last_day=today + OFFSITE_IN + timedelta(days=1),
        measure="gpu_hours",
        dimension="",
        key="",
        effect="factor",
        factor=0.7,
        added=None,
    )
    launch = DemandEventFact(
        id=0,
        name="The assistant opens in two more countries",
        kind="launch",
        first_day=today + LAUNCH_IN,
        last_day=None,
        measure="",
        dimension="service",
        key=str(company.workload("Assistant", "chat-serving")),
        effect="factor",
        factor=1.25,
        added=None,
    )
    for event in (offsite, launch):
        add_demand_event(event=event, at=company.week.at)
