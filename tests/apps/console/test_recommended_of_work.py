"""What is recommended of a workload stands on the pages of what it costs, for who may see it."""

from collections.abc import Iterator
from datetime import date

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.queries import viewer_of_user
from apps.review import actions
from apps.review.models import RecommendationVerb
from apps.workloads.models import Workload
from bench.pages_ask import counted_statements
from tests import make
from tests.apps.console.people import csv_rows, signed_in, words_of
from tests.apps.placement import move_scene
from tests.apps.review.recommended import AT, looked, proposal
from tests.apps.unit_economics import planted_runs

pytestmark = pytest.mark.django_db
TITLE = "What to do about it"


@pytest.fixture(autouse=True)
def work(monkeypatch: pytest.MonkeyPatch) -> Workload:
    monkeypatch.setattr(timezone, "now", lambda: AT)
    make.make_organisation()
    workload_id, _ = move_scene.make_work("chat", kind="serving")
    return Workload.objects.get(pk=workload_id)


def recommend(work: Workload, *keys: str) -> list[int]:
    proposals = [
        proposal(key, likely=1_000 - place, team_id=work.team_id, workload_id=work.pk)
        for place, key in enumerate(keys)
    ]
    elsewhere = proposal("elsewhere", team_id=work.team_id)
    return looked(*proposals, elsewhere)[:-1]


def plant_programme(work: Workload) -> None:
    """A run that ended yesterday: then the workload has a programme."""
    began_at = AT.replace(day=1)
    run_id = planted_runs.plant_run("run", work.pk, began_at=began_at)
    planted_runs.plant_day(run_id, {planted_runs.Bucket.PRODUCTIVE: 8}, day=began_at.date())


def pages_of(work: Workload) -> Iterator[str]:
    yield f"/services/{work.pk}"
    plant_programme(work)
    yield f"/workloads/{work.pk}/runs"


def claim(known: int, owner: str = "petra@example.org") -> None:
    by = viewer_of_user(make.make_person(owner, name="Petra", role="platform"))
    answer = actions.RecommendationAnswer(
        RecommendationVerb.CLAIMED, owner_id=by.person_id, due_on=date(2026, 3, 20)
    )
    actions.answer_recommendation(recommendation_id=known, answer=answer, by=by, at=AT)


def test_a_service_and_a_programme_say_what_is_to_be_done_about_them(work: Workload) -> None:
    first, second = recommend(work, "a", "b")
    claim(second)
    finn = signed_in("finance")
    for page in pages_of(work):
        answer = finn.get(page)
        text = words_of(answer)
        assert f"{TITLE} 2 recommendations of this work alone" in text, page
        assert "$900 to $1,100" in text
        assert "Petra, until 20 Mar 2026" in text
        assert "elsewhere" not in text
        assert f'href="/recommendations/{first}"' in answer.content.decode()
        assert f"{page}.csv?table=recommended" in answer.content.decode()
    rows = csv_rows(finn.get(f"/costs/workloads/{work.pk}.csv?table=recommended"))
    assert [(row["matter"], row["state"], row["owner"]) for row in rows] == [
        ("zombie:a", "open", ""),
        ("zombie:b", "claimed", "Petra"),
    ]


def test_nothing_found_leads_to_what_was_looked_at(work: Workload) -> None:
    recommend(work)
    answer = signed_in("finance").get(f"/services/{work.pk}")
    assert "Nothing is open or claimed of it." in words_of(answer)
    assert 'href="/recommendations#looked-at"' in answer.content.decode()


def test_what_is_done_or_dismissed_is_no_longer_there(work: Workload) -> None:
    (known,) = recommend(work, "a")
    by = viewer_of_user(make.make_person("petra@example.org", role="platform"))
    dismissed = actions.RecommendationAnswer(RecommendationVerb.DISMISSED, "It is needed")
    actions.answer_recommendation(recommendation_id=known, answer=dismissed, by=by, at=AT)
    assert "Stop a" not in words_of(signed_in("finance").get(f"/services/{work.pk}"))


def test_a_lead_sees_those_of_their_own_teams_work_alone(work: Workload) -> None:
    recommend(work, "a")
    lead = signed_in("lead", work.team_id)
    assert "Stop a" in words_of(lead.get(f"/services/{work.pk}"))
    answer = lead.get(f"/services/{work.pk}")
    assert 'href="/recommendations#looked-at"' not in answer.content.decode()
    stranger = signed_in("viewer", make.make_team("Other"))
    for address in (f"/services/{work.pk}", f"/costs/workloads/{work.pk}.csv?table=recommended"):
        assert stranger.get(address).status_code == 404
    assert (
        signed_in("finance").get("/costs/workloads/9999.csv?table=recommended").status_code == 404
    )


def asked_of(client: Client, page: str) -> int:
    client.get(page)
    with counted_statements() as asked:
        assert client.get(page).status_code == 200
    return int(asked())


def test_more_recommendations_ask_no_more(work: Workload) -> None:
    finn = signed_in("finance")
    recommend(work, "a")
    page = f"/services/{work.pk}"
    few = asked_of(finn, page)
    many = [proposal(f"more {n}", team_id=work.team_id, workload_id=work.pk) for n in range(20)]
    looked(*many, at=AT.replace(day=9))
    assert asked_of(finn, page) <= few <= 15
