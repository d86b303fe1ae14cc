"""A job is read by its own team; to others it is as if there were none."""

import pytest
from django.core.cache import cache

from apps.accounts.models import Team
from apps.workloads.models import Job
from tests import make
from tests.apps.ledger import scene
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _jobs() -> None:
    cache.clear()
    make.make_organisation()
    node_id = scene.make_priced_node()
    scene.make_rule("research", make.make_team("Research"))
    scene.make_rule("secret", make.make_team("Secret project"))
    scene.make_job("1", node_id)
    scene.make_job("2", node_id, account="secret")
    scene.make_job("3", node_id, account="nobody")


def ids() -> dict[str, int]:
    return dict(Job.objects.values_list("raw_id", "id"))


def statuses(caller: Caller) -> dict[str, int]:
    return {raw: caller.get(f"jobs/{job_id}").status_code for raw, job_id in ids().items()}


def test_a_lead_reads_the_jobs_of_their_team_alone() -> None:
    dee, person_id = signed_in("dee@example.org", "lead", name="Dee")
    Team.objects.filter(name="Research").update(owner_id=person_id)

    assert statuses(dee) == {"1": 200, "2": 404, "3": 404}
    assert b"secret" not in dee.get(f"jobs/{ids()['2']}").content


def test_so_does_a_token_of_that_team() -> None:
    caller = with_token("read", team_id=Team.objects.get(name="Research").id)

    assert statuses(caller) == {"1": 200, "2": 404, "3": 404}


def test_finance_reads_every_job_and_a_stranger_none() -> None:
    fin, _ = signed_in("fin@example.org", "finance", name="Fin")
    cy, _ = signed_in("cy@example.org", "viewer", name="Cy")

    assert statuses(fin) == {"1": 200, "2": 200, "3": 200}
    assert statuses(cy) == {"1": 404, "2": 404, "3": 404}
