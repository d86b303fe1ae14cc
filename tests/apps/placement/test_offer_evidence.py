"""An offer on spot goes by the nearest evidence of its place, with a little of the next where that is thin, and names both."""

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.economics.spot.trace import SpotTrace
from apps.fleet.actions.agent_reports import reclaim_node
from apps.placement.actions import SpotPlace, keep_spot_series, make_offer_book
from apps.placement.models import BookOffer
from apps.workloads.models import Job
from tests import make
from tests.apps.ledger import scene
from tests.rest import with_token

pytestmark = pytest.mark.django_db

AT = make.NOON + timedelta(hours=2)
BEGUN = AT - timedelta(hours=100)
BEGUN_SERIES = AT - timedelta(days=9)
H100 = "NVIDIA H100 80GB HBM3"
MACHINE = "p5.48xlarge"


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture
def pool_id() -> int:
    """A spot pool with a price."""
    make.make_organisation()
    found = make.make_pool("spot", cluster_id=make.make_cluster(), purchase_option="spot")
    make.make_rate("55.04")
    make.make_rate("16.00", purchase_option="spot")
    return found


def evidence() -> Any:
    make_offer_book(at=AT)
    (row,) = with_token("read", name="reader").get("offers").json()["results"][-1:]
    return row["interruptions"]


def seen_on_nodes(pool_id: int, notices: int = 1) -> None:
    for number in range(notices):
        node = make.make_node(f"lost-{number}", pool_id=pool_id, at=BEGUN)
        reclaim_node(node_id=node, ended_at=BEGUN + timedelta(hours=20), at=AT)
    make.make_node("there", pool_id=pool_id, at=AT - timedelta(hours=30))


def imported(name: str = "zone-b", begun: datetime | None = BEGUN_SERIES, **place: str) -> None:
    where = {"provider": "aws", "region": "us-east-1", "gpu_model": "H100"} | place
    starts = None if begun is None else begun.timestamp()
    trace = SpotTrace(name, 1.0, np.array([1.0, 1.0, 0.0] * 10), starts)
    keep_spot_series(name=name, trace=trace, place=SpotPlace(**where), source="looks", at=AT)


def ran_a_job(pool_id: int, hours: float = 50, state: str = "PREEMPTED") -> None:
    node = make.make_node("worked", pool_id=pool_id, at=BEGUN)
    job = scene.make_job("1", node, from_=BEGUN, to=BEGUN + timedelta(hours=hours))
    Job.objects.filter(id=job).update(state=state)


def test_of_own_jobs_notices_and_series_the_nearest_is_counted(pool_id: int) -> None:
    assert evidence() is None
    imported()
    by_series = evidence()
    seen_on_nodes(pool_id)
    by_nodes = evidence()
    ran_a_job(pool_id)
    by_jobs = evidence()

    assert [each["source"] for each in (by_series, by_nodes, by_jobs)] == [
        "imported_series", "own_nodes", "own_jobs",
    ]  # fmt: skip
    assert [each["names"] for each in (by_series, by_nodes, by_jobs)] == [
        ["zone-b"], ["spot"], ["spot"],
    ]  # fmt: skip
    assert [(each["interruptions"], each["exposure_hours"]) for each in (by_series, by_nodes, by_jobs)] == [
        (10, 20.0), (1, 50.0), (1, 50.0),
    ]  # fmt: skip
    assert [each["is_thin"] for each in (by_series, by_nodes, by_jobs)] == [False, True, True]
    assert [each["is_per_node"] for each in (by_series, by_nodes, by_jobs)] == [False, True, False]
    assert by_series["low"] < by_series["likely"] == 0.5 < by_series["high"]
    assert (
        "by zone-b, imported and seen until 22 February 2026, it was taken away 10 times"
        in by_series["words"]
    )
    assert (
        "own nodes of spot were taken back once in 50 node-hours of the last 90 days"
        in by_nodes["words"]
    )
    assert "own jobs on spot there were interrupted once in 50 hours" in by_jobs["words"]


def test_half_an_hour_of_an_own_job_does_not_outrank_a_long_series(pool_id: int) -> None:
    """10 interruptions in 20 hours elsewhere: half an hour without one says next to nothing of that."""
    imported()
    alone = evidence()
    ran_a_job(pool_id, hours=0.5, state="COMPLETED")
    told = evidence()

    assert (told["source"], told["interruptions"], told["exposure_hours"]) == ("own_jobs", 0, 0.5)
    assert told["is_thin"]
    joined = told["joined"]
    assert (joined["source"], joined["names"]) == ("imported_series", ["zone-b"])
    assert (joined["interruptions"], joined["exposure_hours"]) == (10, 20)
    assert joined["added_interruptions"] == 5
    assert told["likely"] == pytest.approx(5 / (0.5 + 10), abs=1e-6)
    assert told["low"] < alone["low"] < alone["likely"]
    assert told["high"] > alone["high"]
    assert (
        "own jobs on spot there were interrupted 0 times in 0.5 hours of the last 60 days; that alone says"
        " little, so 5 interruptions are added at the rate of one node of zone-b (10 in 20 hours)"
        in told["words"]
    )
    assert "the evidence of interruptions is thin: taken away 0 times" in spot_offer(8)["cautions"]


@pytest.mark.parametrize(
    ("hours", "state", "is_joined"),
    [
        (9, "COMPLETED", True),
        (9, "PREEMPTED", True),
        (11, "COMPLETED", False),
        (50, "PREEMPTED", False),
    ],
)
def test_a_source_stands_alone_once_another_rate_would_have_shown_in_it(
    pool_id: int, hours: float, state: str, is_joined: bool
) -> None:
    """At 10 in 20 hours five are expected in ten: fewer than that in longer is evidence of its own."""
    imported()
    ran_a_job(pool_id, hours, state)
    told = evidence()

    assert (told["joined"] is not None) is is_joined
    assert told["is_thin"]
    seen = int(state == "PREEMPTED")
    likely = (seen + 5) / (hours + 10) if is_joined else max(seen, 0.5) / hours
    assert told["likely"] == pytest.approx(likely, abs=1e-6)


def test_of_sources_that_saw_nothing_the_longest_is_counted(pool_id: int) -> None:
    trace = SpotTrace("calm", 1.0, np.ones(200), BEGUN_SERIES.timestamp())
    place = SpotPlace("aws", "us-east-1", gpu_model="H100")
    keep_spot_series(name="calm", trace=trace, place=place, source="looks", at=AT)
    ran_a_job(pool_id, hours=0.5, state="COMPLETED")
    told = evidence()

    assert (told["source"], told["exposure_hours"], told["joined"]) == (
        "imported_series",
        200,
        None,
    )
    assert told["high"] == pytest.approx(3 / 200)
    assert told["words"].startswith("own jobs on spot there ran for less, without any; by calm,")


def test_nodes_without_any_notice_prove_nothing(pool_id: int) -> None:
    """Their cloud may give none, or no agent was there to hear it."""
    seen_on_nodes(pool_id, notices=0)

    assert evidence() is None


@pytest.mark.parametrize(
    ("place", "is_counted"),
    [
        ({"instance_type": MACHINE, "gpu_model": ""}, True),
        ({"provider": ""}, True),
        ({"instance_type": "p4d.24xlarge"}, False),
        ({"gpu_model": "A100"}, False),
        ({"gpu_model": ""}, False),
        ({"region": "us-east-2"}, False),
        ({"region": ""}, False),
        ({"provider": "gcp"}, False),
    ],
)
def test_a_series_counts_for_its_machine_in_its_region(
    pool_id: int, place: dict[str, str], is_counted: bool
) -> None:
    imported(**place)

    assert (evidence() is not None) is is_counted


def test_zones_of_a_region_are_counted_together_by_their_names(pool_id: int) -> None:
    imported("zone-a")
    imported("zone-b")
    found = evidence()

    assert (found["names"], found["interruptions"]) == (["zone-a", "zone-b"], 20)
    assert "by zone-a, zone-b, imported" in found["words"]


def spot_offer(gpus: int) -> Any:
    job = {"gpus": gpus, "work": {"gpu_hours": 10 * gpus, "of_model": "H100"}}
    job |= {"checkpoint": {"write_seconds": 60}, "restart_seconds": 360, "assumed_wait_minutes": 0}
    offers = with_token("read", "manage", name=f"asks {gpus}").post("quotes", job).json()["offers"]
    return next(each for each in offers if each["option"] == "spot")


def test_a_rate_of_one_node_is_counted_for_each_node_of_the_job(pool_id: int) -> None:
    seen_on_nodes(pool_id)
    make_offer_book(at=AT)
    one, four = spot_offer(8), spot_offer(32)

    assert four["interruptions"] == pytest.approx(4 * one["interruptions"], rel=0.1)
    assert "the evidence of interruptions is thin: taken away once" in " ".join(one["cautions"])
    assert "of one node and the job needs 4" in " ".join(four["cautions"])
    assert "of one node" not in " ".join(one["cautions"])


def test_a_series_of_one_node_is_said_to_be_the_least_for_more(pool_id: int) -> None:
    imported()
    make_offer_book(at=AT)
    one, four = spot_offer(8), spot_offer(32)

    assert four["interruptions"] == pytest.approx(one["interruptions"])
    assert "4 are interrupted at least as often" in " ".join(four["cautions"])


@pytest.mark.parametrize(
    ("begun", "caution"),
    [
        (BEGUN_SERIES, None),
        (AT - timedelta(days=31), None),
        (AT - timedelta(days=33), "interruptions of zone-b were last looked at 31 days ago"),
        (None, "nobody says when interruptions of zone-b were seen"),
    ],
)
def test_evidence_that_nobody_looked_at_for_long_is_named(
    pool_id: int, begun: datetime | None, caution: str | None
) -> None:
    """A series has 30 hours."""
    imported(begun=begun)
    told = evidence()
    cautions = [each for each in spot_offer(8)["cautions"] if "zone-b were" in each]

    assert (told["is_stale"], cautions) == (caution is not None, [caution] if caution else [])
    assert told["seen_until"] == (
        None if begun is None else (begun + timedelta(hours=30)).isoformat()
    )


def test_of_own_evidence_it_is_said_until_when(pool_id: int) -> None:
    seen_on_nodes(pool_id)
    by_nodes = evidence()
    ran_a_job(pool_id)
    by_jobs = evidence()

    assert (by_nodes["age_days"], by_nodes["is_stale"]) == (0, False)
    assert (by_jobs["age_days"], by_jobs["is_stale"]) == (2, False)


def test_a_book_of_the_release_before_is_read_with_what_it_did_not_say(pool_id: int) -> None:
    ran_a_job(pool_id)
    make_offer_book(at=AT)
    offer = BookOffer.objects.get(option="spot")
    assert offer.interruptions is not None
    offer.interruptions = {
        key: offer.interruptions[key]
        for key in ("low", "likely", "high", "wait", "words", "is_thin")
    }
    offer.save()
    told = with_token("read", name="reader").get("offers").json()["results"][-1]["interruptions"]

    assert (told["source"], told["names"], told["is_per_node"], told["is_stale"]) == (None,) * 4
    assert told["joined"] is None
    assert "own jobs on spot there" in " ".join(spot_offer(32)["reasons"])
