"""What nobody owns is told to who sees the whole organisation, by who submitted it."""

import csv
import io
from fractions import Fraction

import pytest

from apps.workloads.models import Job
from tests import make
from tests.apps.ledger import scene
from tests.rest import signed_in, with_token

pytestmark = pytest.mark.django_db

DAY = "2026-03-02"


@pytest.fixture(scope="module", autouse=True)
def _settled(of_module: None) -> None:
    """Research holds four GPUs of a node; Eve's two jobs, which nobody owns, one and two."""
    make.make_organisation()
    node_id = scene.make_priced_node()
    scene.make_rule("research", make.make_team("Research"))
    scene.make_job("1", node_id, gpus=4)
    for raw_id, gpus in (("2", 1), ("3", 2)):
        job_id = scene.make_job(raw_id, node_id, gpus=gpus, account="drift")
        Job.objects.filter(id=job_id).update(user="eve")
    scene.make_job("4", node_id, gpus=Fraction(1, 2), account="alone")
    scene.settle()


def test_jobs_alike_are_one_row_with_their_time_and_cost_the_dearest_first() -> None:
    rows = with_token("read").get("unowned", window=DAY).json()["results"]

    told = [(row["account"], row["user"], row["jobs"], row["gpu_hours"]) for row in rows]
    assert told == [("drift", "eve", 2, 3.0), ("alone", "", 1, 0.5)]
    # 98.32 an hour for eight GPUs.
    assert rows[0]["cost"] == {"amount": "36.870000", "currency": "USD"}
    assert rows[1]["cost"] == {"amount": "6.145000", "currency": "USD"}


def test_what_has_no_price_is_null_and_not_zero() -> None:
    dark = make.make_node(
        "gpu-dark", pool_id=make.make_pool("dark"), started_at=scene.TEN, at=scene.LATER, units=8
    )
    scene.make_job("5", dark, account="unpriced")
    scene.settle()

    rows = with_token("read").get("unowned", window=DAY).json()["results"]

    (row,) = (row for row in rows if row["account"] == "unpriced")
    assert row["cost"] is None
    assert row["unpriced_hours"] == row["gpu_hours"] == 8.0


def test_pages_follow_each_other_and_csv_has_the_same_rows() -> None:
    caller = with_token("read")
    first = caller.get("unowned", window=DAY, limit=1).json()
    second = caller.client.get(first["next"], headers=caller.headers).json()
    table = caller.get("unowned", accept="text/csv", window=DAY).content.decode()

    paged = [row["account"] for page in (first, second) for row in page["results"]]
    assert paged == [row["account"] for row in csv.DictReader(io.StringIO(table))]
    assert paged == ["drift", "alone"]
    assert second["next"] is None
    ordered = caller.get("unowned", window=DAY, sort="jobs").json()["results"]
    assert [row["account"] for row in ordered] == ["alone", "drift"]


def test_whoever_sees_their_teams_alone_is_refused() -> None:
    lead, _ = signed_in("dee@example.org", "lead", name="Dee")
    bound = with_token("read", team_id=make.make_team("Harbour"))

    answers = [caller.get("unowned", window=DAY) for caller in (lead, bound)]

    assert [answer.status_code for answer in answers] == [403, 403]
    assert all(b"drift" not in answer.content for answer in answers)


def test_a_window_nobody_understands_and_a_parameter_nobody_reads_are_refused_by_name() -> None:
    caller = with_token("read")

    refused = [caller.get("unowned", window="sometime"), caller.get("unowned", account="drift")]

    assert [answer.status_code for answer in refused] == [400, 400]
    fields = [answer.json()["errors"][0]["field"] for answer in refused]
    assert fields == ["window", "account"]
