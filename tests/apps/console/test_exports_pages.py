"""Exports in a browser's hands: asked for, watched, fetched, called off; each sees their own."""

import gzip
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from apps.accounts.models import Team
from apps.ledger.models import Export
from apps.ledger.tasks import make_exports
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db
ASKED = {"what": "days", "window": "2026-03-02/2026-03-03"}


@pytest.fixture(autouse=True)
def _home(settings: Any, tmp_path: Any) -> None:
    settings.HOME = tmp_path


@pytest.fixture(scope="module", autouse=True)
def _ledger(of_module: None) -> None:
    make.make_organisation()
    node_id = scene.make_priced_node(started_at=scene.TEN)
    scene.make_rule("research", make.make_team("Research"))
    scene.make_job("1", node_id, gpus=2)
    scene.settle_all()


def signed_in(email: str, role: str) -> Client:
    person_id = make.make_person(email, role=role, name=role.title())
    client = Client()
    client.force_login(get_user_model().objects.get(pk=person_id))
    return client


def test_a_file_is_asked_for_and_fetched() -> None:
    finn = signed_in("finn@example.org", "finance")
    assert finn.post("/exports/ask", ASKED).headers["Location"] == "/exports"
    assert "queued" in finn.get("/exports").content.decode()

    make_exports()

    page = finn.get("/exports").content.decode()
    (row,) = finn.get("/exports.csv").content.decode().splitlines()[1:]
    assert row.startswith("Teams by day,")
    export_id = Export.objects.get().id
    assert "1 export of yours is ready to download." in page
    fetched = finn.get(f"/exports/{export_id}/file")
    assert b"Research" in gzip.decompress(b"".join(fetched.streaming_content))
    given_up = finn.post(f"/exports/{export_id}/cancel", follow=True).content.decode()
    assert "Its file is deleted." in given_up
    assert "cancelled" in given_up
    assert finn.get(f"/exports/{export_id}/file").status_code == 404


def test_a_file_is_parquet_for_who_asks_for_it() -> None:
    finn = signed_in("finn@example.org", "finance")
    assert finn.post("/exports/ask", ASKED | {"form": "xlsx"}).status_code == 400
    finn.post("/exports/ask", ASKED | {"form": "parquet"})
    make_exports()

    fetched = finn.get(f"/exports/{Export.objects.get().id}/file")

    assert fetched.headers["Content-Disposition"].endswith('.parquet"')
    assert b"".join(fetched.streaming_content)[:4] == b"PAR1"
    assert "<td>Parquet</td>" in finn.get("/exports").content.decode()


def test_what_is_not_understood_is_said_beside_its_field_and_nothing_is_lost() -> None:
    finn = signed_in("finn@example.org", "finance")

    answer = finn.post("/exports/ask", ASKED | {"team": "Nobody", "pool": "h100"})

    page = answer.content.decode()
    assert answer.status_code == 400
    assert "There is no team named &#x27;Nobody&#x27;" in page
    assert 'value="h100"' in page
    assert Export.objects.count() == 0


def test_nobody_finds_another_s_export() -> None:
    finn, cy = signed_in("finn@example.org", "finance"), signed_in("cy@example.org", "viewer")
    finn.post("/exports/ask", ASKED)
    make_exports()
    export_id = Export.objects.get().id

    assert cy.get(f"/exports/{export_id}/file").status_code == 404
    assert cy.post(f"/exports/{export_id}/cancel").status_code == 404
    assert "None yet." in cy.get("/exports").content.decode()
    assert Export.objects.get().state == "done"


def test_a_page_of_costs_leads_to_the_form_filled_in() -> None:
    finn = signed_in("finn@example.org", "finance")
    team_id = Team.objects.get(name="Research").id
    page = finn.get(f"/costs/teams/{team_id}?window=2026-03-02").content.decode()
    href = page.split('href="/exports?')[1].split('"')[0].replace("&amp;", "&")

    form = finn.get(f"/exports?{href}").content.decode()

    assert 'value="2026-03-02"' in form
    assert 'value="Research"' in form
