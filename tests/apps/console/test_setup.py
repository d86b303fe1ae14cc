"""Setup asks what waits for an answer, and nothing else."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.test import Client

from apps.console.pages.setup.questions import KINDS
from apps.fleet import queries as fleet
from apps.telemetry.models import WindowRejection
from apps.workloads.models import Allocation, Job
from tests import make
from tests.apps.console.people import confirmed, words_of
from tests.apps.ledger import scene
from tests.browser.fleet import make_fleet, make_people

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _nothing_counted() -> None:
    cache.clear()


@pytest.fixture
def now() -> datetime:
    return datetime.now(UTC)


def opened(name: str = "Petra") -> Client:
    make_people(name)
    client = Client()
    client.force_login(get_user_model().objects.get(name=name))
    return client


def test_nothing_waits_where_everything_is_known():
    make.make_organisation()
    page = words_of(opened().get("/setup"))
    assert "Nothing is on record yet." in page
    assert "No questions yet" in page
    make.make_node("gpu-01", started_at=datetime.now(UTC) - HOUR)
    cache.clear()
    page = words_of(opened("Finn").get("/setup"))
    assert "Nothing waits for an answer." in page
    assert "No open questions" in page


def test_a_question_that_nobody_may_answer_yet_names_nobody(now):
    make.make_organisation()
    node_id = make.make_node("gpu-01", started_at=now - HOUR, at=now)
    scene.make_gpus(node_id, seen_from=now - HOUR)
    finn = opened("Finn")
    assert "Somebody of the role platform answers this. " in words_of(finn.get("/setup"))
    make_people("Petra")
    assert "Somebody of the role platform answers this: Petra." in words_of(finn.get("/setup"))


def test_devices_are_confirmed_node_by_node(now):
    make.make_organisation()
    node_id = make.make_node("gpu-01", started_at=now - HOUR, at=now)
    scene.make_gpus(node_id, seen_from=now - HOUR)
    client = opened()
    page = words_of(client.get("/setup"))
    assert "1 question waits for an answer." in page
    assert "8 × NVIDIA H100 80GB HBM3" in page
    assert "The pool says" not in page

    assert f'href="/fleet/nodes/{node_id}/devices/confirm?back_to=setup"' in (
        client.get("/setup").content.decode()
    )
    address = f"/fleet/nodes/{node_id}/devices/confirm"
    looked = words_of(client.get(f"{address}?back_to=setup"))
    assert "no cost changes" in looked
    assert "NVIDIA H100 80GB HBM3: GPU-" in looked
    said = words_of(confirmed(client, address, {"back_to": "setup"}, follow=True))
    assert "8 devices of gpu-01 confirmed." in said
    assert "Nothing waits for an answer." in said
    assert fleet.unconfirmed_devices(datetime.now(UTC)) == []
    assert "Every device of this node is confirmed." in words_of(client.get(address))


def test_what_differs_from_the_pool_is_pointed_out(now):
    make.make_organisation()
    node_id = make.make_node("gpu-01", started_at=now - HOUR, at=now)
    scene.make_gpus(node_id, count=4, model="NVIDIA A10G", seen_from=now - HOUR)
    page = words_of(opened().get("/setup"))
    assert "4 × NVIDIA A10G" in page
    assert "The pool says 8 × NVIDIA H100 80GB HBM3." in page


def test_finance_reads_the_question_but_has_no_button(now):
    make.make_organisation()
    node_id = make.make_node("gpu-01", started_at=now - HOUR, at=now)
    scene.make_gpus(node_id, seen_from=now - HOUR)
    page = opened("Finn").get("/setup").content.decode()
    assert "Are the devices of 1 node yours?" in page
    assert "Confirm" not in page


def test_names_that_no_node_bears_are_asked_for_with_what_answers(now):
    make.make_organisation()
    job = Job.objects.create(
        cluster_id=make.make_cluster(), raw_id="1", submitted_at=now, opened_at=now, labels={}
    )
    Allocation.objects.create(
        job=job,
        node_name="gpu-17",
        gpus_numerator=8,
        gpus_denominator=1,
        period=(datetime(2026, 3, 1, tzinfo=UTC), None),
    )
    page = words_of(opened().get("/setup"))
    assert "1 node named by schedulers: which pool, from when?" in page
    assert "They need a pool first. Add a pool" in page
    assert "still held" in page


def test_a_silent_node_is_a_question_and_not_an_end(now):
    make.make_organisation()
    node_id = make.make_node("gpu-01", started_at=now - timedelta(days=2), at=now)
    make.make_agent(node_id=node_id, at=now - timedelta(hours=7))
    page = words_of(opened().get("/setup"))
    assert "1 silent node" in page
    assert "7 h" in page
    assert "End gpu-01" in page


def test_time_without_a_price_and_jobs_without_an_owner_are_asked_for():
    now = make_fleet()
    scene.make_job("2", make.make_node("x"), account="misc", from_=now - 2 * HOUR, to=now - HOUR)
    answer = opened().get("/setup")
    page = words_of(answer)
    assert "1 pool without a price" in page
    assert "Set its price" in page
    assert "1 account without a team" in page
    link = 'href="/ownership/rules/new?cluster=atlas&amp;account=misc&amp;back_to=setup"'
    assert link in answer.content.decode()


def test_work_of_no_known_job_is_listed_by_its_key(now):
    make.make_organisation()
    began_at = now.replace(minute=0, second=0, microsecond=0) - 5 * HOUR
    node_id = make.make_node("gpu-01", started_at=began_at, at=now)
    (uuid,) = scene.make_gpus(node_id, count=1, seen_from=began_at)
    (device_id,) = scene.device_ids([uuid])
    scene.make_usage(device_id, [240] * 60, key="slurm/atlas/31337", hour=began_at)
    scene.settle(now, starts_at=began_at, ends_at=began_at + HOUR)
    page = words_of(opened().get("/setup"))
    assert "1 holder of no known job" in page
    assert "slurm/atlas/31337" in page


def test_what_was_refused_of_an_agent_is_told_with_its_reason(now):
    make.make_organisation()
    agent_id = make.make_agent(node_id=make.make_node("gpu-01", started_at=now, at=now), at=now)
    WindowRejection.objects.create(
        agent_id=agent_id,
        day=now.date(),
        field="worked_seconds",
        reason="is longer than the window",
        kept=False,
        count=4,
        last_at=now,
    )
    page = words_of(opened().get("/setup"))
    assert "Measurements refused for 1 reason" in page
    assert "gpu-01 worked_seconds is longer than the window 4" in page


def test_the_overview_says_how_many_questions_wait(setup_is_counted):
    make_fleet()
    finn = opened("Finn")
    assert "in Setup" not in words_of(finn.get("/")), "a page waited for the count"
    page = words_of(finn.get("/"))
    assert "1 questions in Setup" in page or "1 question in Setup" in page


def test_each_question_is_a_sheet_with_every_row(now):
    make.make_organisation()
    for name in ("gpu-01", "gpu-02"):
        node_id = make.make_node(name, started_at=now - timedelta(days=2), at=now)
        scene.make_gpus(node_id, seen_from=now - HOUR)
        make.make_agent(node_id=node_id, at=now - timedelta(hours=7))
    scene.make_job("2", node_id, account="misc", from_=now - 2 * HOUR, to=now - HOUR)
    client = opened()
    page = client.get("/setup").content.decode()
    told = {
        "unconfirmed-nodes": (
            "gpu-01,pool of gpu-01,8 × NVIDIA H100",
            "gpu-02,pool of gpu-02,8 × NVIDIA H100",
        ),
        "silent-nodes": ("gpu-01,pool of gpu-01,252", "gpu-02,pool of gpu-02,252"),
        "unowned-accounts": ("misc,account,atlas,1,8.000000",),
    }
    for name, begun in told.items():
        table = name.replace("unconfirmed-nodes", "unconfirmed-devices")
        address = f"/setup.csv?table={table}"
        assert f'href="{address}" download' in page
        rows = client.get(address).content.decode().splitlines()[1:]
        assert len(rows) == len(begun)
        assert all(row.startswith(each) for row, each in zip(rows, begun, strict=True)), rows


def test_sheets_of_setup_are_for_those_who_see_everything():
    make.make_organisation()
    finance, viewer = opened("Finn"), opened("Vera")
    for kind in KINDS:
        address = f"/setup.csv?table={kind.table.name}"
        assert finance.get(address).status_code == 200
        assert viewer.get(address).status_code == 403
