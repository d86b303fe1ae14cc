"""Agents give a job so many labels; what goes beyond waits as one incident, and others are not bound."""

from typing import Any

import pytest

from apps.fleet.actions import decide_trust_incident
from apps.fleet.models import TrustDecision, TrustIncident
from apps.workloads.models import Job
from tests import make
from tests.apps.telemetry.sending import now, this_hour
from tests.contract.test_node_tokens import Intruder, event, joined

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(settings: Any) -> Intruder:
    """Of a node whose agents may give a job five labels."""
    settings.MOST_LABELS_PER_JOB = 5
    make.make_organisation()
    return joined("gpu-01")


def give(agent: Intruder, *names: str, minute: int, **given: Any) -> None:
    told = event(
        event="start" if minute == 0 else "update",
        at=this_hour().replace(minute=minute).isoformat(),
        allocations=[{"node": "gpu-01", "gpus": 8}],
        labels=dict.fromkeys(names, "x"),
    )
    assert agent.post("jobs", told | given).status_code == 200


def labels() -> set[str]:
    return set(Job.objects.get().labels)


def test_labels_beyond_the_ceiling_wait_and_the_job_goes_on(agent: Intruder) -> None:
    give(agent, "a", "b", "c", minute=0)
    give(agent, "c", "d", "e", minute=1)
    assert not TrustIncident.objects.exists()
    for minute in (2, 3):
        give(agent, "a", "f", "g", minute=minute, state="SUSPENDED")
    assert labels() == {"a", "b", "c", "d", "e"}
    assert Job.objects.get().state == "SUSPENDED"
    incident = TrustIncident.objects.get()
    assert (incident.kind, incident.ceiling, incident.reported, incident.count) == (
        "labels_waiting", 5, 7, 2,
    )  # fmt: skip


def test_what_a_person_approves_is_taken_from_then_on(agent: Intruder) -> None:
    give(agent, *"abcdefg", minute=0)
    assert labels() == set("abcde")
    decide_trust_incident(
        trust_incident_id=TrustIncident.objects.get().id,
        decision=TrustDecision.APPROVED, by="Ada", at=now(),
    )  # fmt: skip
    give(agent, *"abcdefg", minute=1)
    assert labels() == set("abcdefg")
    give(agent, "h", minute=2)
    assert labels() == set("abcdefg")


def test_all_agents_of_a_job_together_have_the_room(agent: Intruder) -> None:
    other = joined("gpu-02")
    give(agent, "a", "b", "c", minute=0)
    held = [{"node": "gpu-02", "gpus": 8}]
    give(other, "d", "e", "f", "g", minute=1, allocations=held)
    assert len(labels()) <= 5
    give(agent, "h", "i", minute=2)
    assert len(labels()) <= 5


def test_a_scheduler_gives_as_many_as_it_likes(agent: Intruder) -> None:
    scheduler = Intruder(0, 0, make.make_token("jobs").secret)
    give(scheduler, *"abcdefg", minute=0, source="scheduler")
    assert labels() == set("abcdefg")
    assert not TrustIncident.objects.exists()
