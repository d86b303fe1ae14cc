"""The real client against the real server: a job from a file is quoted, shown, taken, admitted, and what came of it is read."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache

import runrate
from apps.economics.hours import hour_of
from apps.placement.actions import follow_quotes, make_offer_book
from apps.placement.models import BookOffer, JobAdmission, JobQuote
from runrate.answers import Admission, Offer, Quote
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db(transaction=True)
RUNRATE = Path(sys.executable).with_name("runrate")
JOB_FILE = Path(__file__).resolve().parents[2] / "agents" / "sdk" / "job.toml"


@pytest.fixture
def token() -> str:
    """Of a scheduler; a reserved node, a pool on demand, and spot on the market, in a book."""
    cache.clear()
    began = hour_of(datetime.now(UTC)) - timedelta(hours=30)
    make.make_organisation()
    make.make_team("Research")
    cluster_id = make.make_cluster()
    kept = make.make_pool("kept", cluster_id=cluster_id, purchase_option="reserved")
    make.make_pool("rented", cluster_id=cluster_id)
    make.make_node("gpu-01", pool_id=kept, cluster_id=cluster_id, at=began)
    for option in ("on_demand", "reserved"):
        make.make_rate("55.04", starts_at=began, purchase_option=option)
    make.make_rate("16.00", starts_at=began, purchase_option="spot", region="us-west-2")
    make.make_rate("55.04", starts_at=began, region="us-west-2")
    make_offer_book(at=datetime.now(UTC))
    return make.make_token("read", "manage").secret


def told(url: str, token: str, *words: str, **more: Any) -> "subprocess.CompletedProcess[str]":
    """The program, in a clean environment."""
    env = {"RUNRATE_URL": url, "RUNRATE_TOKEN": token, "PATH": os.environ["PATH"]} | more
    return subprocess.run(
        [RUNRATE, *words], env=env, capture_output=True, text=True, check=False, timeout=120
    )


def test_a_job_from_a_file_is_quoted_taken_and_followed(live_server: Any, token: str) -> None:
    shown = told(live_server.url, token, "quote", str(JOB_FILE), "--width", "160")

    assert shown.returncode == 0, shown.stderr
    assert "8 GPUs, 384 GPU-hours on H100, Research" in shown.stdout
    lines = shown.stdout.splitlines()
    (head,) = (line for line in lines if line.startswith("#"))
    rows = [line for line in lines if line[:1].isdigit() and line[head.index("kind") :].strip()]
    first = next(line for line in rows if "kept" in line)
    assert [column in head for column in ("cost", "done in", "chance", "standing")] == [True] * 4
    assert "0.00 USD" in first
    assert "in time" in first
    assert "   why: enough of its GPUs are idle now" in lines
    assert any(
        "   careful: 3 interruptions a day are assumed by who asks" in line for line in lines
    )

    quote_id = JobQuote.objects.get().id
    now = hour_of(datetime.now(UTC))
    node_id = make.make_node(
        "gpu-09", pool_id=BookOffer.objects.get(name="rented").pool_id, at=now - timedelta(hours=9)
    )
    job_id = scene.make_job(
        "77", node_id, from_=now - timedelta(hours=8), to=now - timedelta(hours=6)
    )
    place = next(
        number
        for number, offer in enumerate(JobQuote.objects.get().answer["offers"], 1)
        if offer["name"] == "rented"
    )
    taken = told(
        live_server.url, token, "quote", "--kept", str(quote_id), "--take", str(place), "--job", str(job_id)
    )  # fmt: skip
    assert taken.returncode == 0, taken.stderr
    assert f"taken: rented by job {job_id}; what came of it is not known yet" in taken.stdout
    again = told(
        live_server.url, token, "quote", "--kept", str(quote_id), "--take", str(place), "--job", str(job_id)
    )  # fmt: skip
    assert (again.returncode, again.stderr) == (
        64, "runrate: offer: an offer of this quote was taken already\n",
    )  # fmt: skip

    for hour in (now - timedelta(hours=8), now - timedelta(hours=7)):
        scene.recharge(hour)
    scene.settle_all(at=datetime.now(UTC))
    assert follow_quotes(at=datetime.now(UTC)) == 1
    ended = runrate.Client(live_server.url, token).kept_quote(quote_id)
    assert ended.outcome is not None
    assert ended.outcome.cost is not None
    assert (str(ended.outcome.cost), ended.outcome.gpu_hours) == ("110.08 USD", 16.0)
    kept = told(live_server.url, token, "quote", "--kept", str(quote_id))
    assert "it came to 110.08 USD (said: 2,641.92 USD)" in " ".join(kept.stdout.split())


def test_the_client_reads_what_the_server_says_whole(live_server: Any, token: str) -> None:
    """Nothing that is answered is missing from the values, and nothing of these from the answer."""
    client = runrate.Client(live_server.url, token)
    quote = client.quote({"gpus": 8, "work": {"gpu_hours": 384}, "team": "Research"})
    document = client.get(f"quotes/{quote.id}")
    offers = client.get("offers?limit=500")["results"]
    admission = client.admit({"team": "Research", "gpus": 8, "hours": 1, "pool": "rented"})

    assert client.kept_quote(quote.id) == quote
    assert set(document) == set(vars(quote))
    assert set(document["offers"][0]) == set(vars(quote.offers[0]))
    assert [each.key for each in client.offers()] == [each["key"] for each in offers]
    assert set(offers[0]) == set(vars(client.offers()[0]))
    assert set(vars(admission)) == set(client.get(f"admissions/{admission.id}"))
    assert isinstance(quote, Quote)
    assert isinstance(admission, Admission)
    assert all(isinstance(each, Offer) for each in client.offers())
    assert JobAdmission.objects.get().id == admission.id


def test_a_page_of_offers_leads_to_the_next(
    live_server: Any, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runrate.client.ROWS_A_PAGE", 1)

    assert len(runrate.Client(live_server.url, token).offers()) == BookOffer.objects.count() == 4


def test_the_same_file_asks_for_admission(live_server: Any, token: str) -> None:
    shown = told(live_server.url, token, "admit", str(JOB_FILE))
    document = json.loads(told(live_server.url, token, "admit", str(JOB_FILE), "--json").stdout)

    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("ALLOW: Research, 8 GPUs, 384.0 GPU-hours, cost ")
    assert (document["gpu_model"], document["verdict"]) == ("H100", "allow")


@pytest.mark.parametrize(
    ("scopes", "said"),
    [(("read",), "asked by finance and platform"), (("jobs",), "quotes and admissions are asked")],
)
def test_a_token_that_may_not_ask_is_told_so(
    live_server: Any, token: str, scopes: tuple[str, ...], said: str
) -> None:
    other = make.make_token(*scopes, name="other").secret
    shown = told(live_server.url, other, "quote", str(JOB_FILE))

    assert shown.returncode == 77
    assert said in shown.stderr
    assert shown.stdout == ""
    assert told(live_server.url, "rr_unknown", "quote", str(JOB_FILE)).returncode == 77


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"colour": "red"}, "colour: unknown field"),
        ({"gpus": "eight"}, "gpus: this is an integer in JSON"),
        ({"work": {"gpu_hours": 5, "hurry": 1}}, "work.hurry: unknown field"),
        ({"work": 5}, "work"),
        ({"team": "Nobody"}, "team: there is no team named 'Nobody'"),
        ({"gpu_models": ["GPU of tomorrow"]}, "gpu_models: 'GPU of tomorrow' is no GPU model"),
    ],
)
def test_what_is_wrong_with_a_job_is_told_by_its_field(
    live_server: Any, token: str, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    file = tmp_path / "job.json"
    file.write_text(json.dumps({"gpus": 8, "work": {"gpu_hours": 384}} | change))
    shown = told(live_server.url, token, "quote", str(file))

    assert shown.returncode == 64
    assert shown.stderr.startswith("runrate: ")
    assert said in shown.stderr
    assert not JobQuote.objects.exists()


def test_the_next_move_of_a_job_is_asked(live_server: Any, token: str) -> None:
    now = hour_of(datetime.now(UTC))
    node_id = make.make_node("gpu-09", at=now - timedelta(hours=9))
    job_id = scene.make_job("78", node_id, from_=now - timedelta(hours=8), to=now)
    standing = {
        "mode": "spot", "work_left_hours": 21, "hours_to_deadline": 30, "restart_hours": 0.1,
        "on_demand": 3.06, "spot": 0.918, "spot_is_up": True,
    }  # fmt: skip
    move = runrate.Client(live_server.url, token).next_move(job_id, standing)

    assert (move.action, move.deadline, move.evidence) == ("stay", "guaranteed", None)
    with pytest.raises(runrate.AskRefused) as refused:
        runrate.Client(live_server.url, token).next_move(job_id, standing | {"mode": "sideways"})
    assert [(each.field, refused.value.status) for each in refused.value.problems] == [
        ("mode", 400)
    ]
