"""What a node's agent does not understand is a problem of its node, and counted once a day."""

from datetime import timedelta

import pytest

from apps.fleet import actions
from apps.fleet.models import NotUnderstood
from tests import make

pytestmark = pytest.mark.django_db


def test_it_is_counted_by_node_once_a_day() -> None:
    make.make_organisation()
    agent_id = make.make_agent(node_id=make.make_node("gpu-01"))
    problems = (
        {"code": "grant_not_understood", "detail": "amd.com/gpu"},
        {"code": "metrics_not_understood", "detail": "TGI"},
        {"code": "spool", "detail": "full"},
    )
    for sequence in range(3):
        status = actions.ReportedStatus(boot=1, sequence=sequence, problems=problems)
        actions.note_status(agent_id=agent_id, status=status, at=make.NOON)
    rows = NotUnderstood.objects.order_by("door").values_list("door", "place", "name", "times")
    assert list(rows) == [("grants", "gpu-01", "amd.com/gpu", 1), ("metrics", "gpu-01", "TGI", 1)]
    actions.note_status(agent_id=agent_id, status=status, at=make.NOON + timedelta(days=1))
    assert NotUnderstood.objects.count() == 4


def test_a_node_that_invents_names_hides_those_of_no_other() -> None:
    make.make_organisation()
    loud = make.make_agent(node_id=make.make_node("loud"))
    other = make.make_agent(node_id=make.make_node("other"))
    for part in range(4):
        invented = tuple(
            {"code": "grant_not_understood", "detail": f"x{part}-{number}"} for number in range(50)
        )
        status = actions.ReportedStatus(boot=1, sequence=part, problems=invented)
        actions.note_status(agent_id=loud, status=status, at=make.NOON)
    problems = ({"code": "grant_not_understood", "detail": "amd.com/gpu"},)
    for sequence in range(5):
        status = actions.ReportedStatus(boot=1, sequence=sequence, problems=problems)
        actions.note_status(agent_id=other, status=status, at=make.NOON)
    row = NotUnderstood.objects.get(place="other")
    assert (row.name, row.times) == ("amd.com/gpu", 1)
    assert NotUnderstood.objects.filter(place="loud").exclude(name="").count() == 100
