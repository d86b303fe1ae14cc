"""What is around a quoted job: its queue, jobs beside it, budgets, power, and what was bought ahead."""

from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from apps.fleet import actions as fleet
from apps.placement.actions import make_offer_book
from apps.placement.models import BookOffer, JobQuote, OfferBook
from apps.placement.queries.offer_facts import OfferFact
from apps.placement.queries.offers_now import offers_now
from apps.planning.actions import EnteredBudget, add_budget
from apps.planning.actions.power_limits import EnteredPowerLimit, add_power_limit
from apps.planning.queries.budgets import BudgetStep
from apps.unit_economics.models import RunFigures
from apps.workloads.models import Job, Run
from tests import make
from tests.apps.console.people import signed_in, text_of
from tests.apps.ledger import scene
from tests.rest import Caller, with_token

pytestmark = pytest.mark.django_db

AT = make.NOON + timedelta(hours=2)
JOB: dict[str, Any] = {
    "gpus": 8,
    "work": {"gpu_hours": 384, "of_model": "H100"},
    "deadline": (AT + timedelta(hours=60)).isoformat(),
    "checkpoint": {"write_seconds": 60},
    "assumed_wait_minutes": 30,
}


class _Clock:
    now = AT


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(_Clock, "now", AT)
    monkeypatch.setattr(timezone, "now", lambda: _Clock.now)


@pytest.fixture
def pools() -> dict[str, int]:
    """Two idle reserved nodes, and a pool on demand without any."""
    make.make_organisation()
    cluster_id = make.make_cluster()
    kept = make.make_pool("kept", cluster_id=cluster_id, purchase_option="reserved")
    rented = make.make_pool("rented", cluster_id=cluster_id)
    nodes = [make.make_node(f"gpu-0{n}", pool_id=kept, cluster_id=cluster_id) for n in (1, 2)]
    make.make_rate("55.04")
    make.make_rate("30.00", purchase_option="reserved", kind="contract")
    return {"kept": kept, "rented": rented, "first": nodes[0], "second": nodes[1]}


@pytest.fixture
def caller() -> Caller:
    return with_token("read", "manage")


def asked(caller: Caller, **instead: Any) -> Any:
    make_offer_book(at=_Clock.now)
    answer = caller.post("quotes", JOB | instead)
    assert answer.status_code == 201, answer.content
    return answer.json()


def offer_of(answer: Any, name: str) -> Any:
    return next(offer for offer in answer["offers"] if offer["name"] == name)


def waited(pool_node: int, count: int, minutes: int, qos: str) -> None:
    """Jobs of a QOS that each waited so long, one after the other, of two GPUs."""
    for number in range(count):
        begins = AT - timedelta(minutes=110) + timedelta(minutes=number)
        job_id = scene.make_job(
            f"{qos}-{number}", pool_node, gpus=Fraction(1), from_=begins, to=begins + timedelta(seconds=30)
        )  # fmt: skip
        Job.objects.filter(id=job_id).update(
            qos=qos, submitted_at=begins - timedelta(minutes=minutes)
        )


def test_waits_are_of_the_priority_where_enough_jobs_of_it_started_there(
    pools: dict[str, int], caller: Caller
) -> None:
    waited(pools["first"], 10, 60, "low")
    waited(pools["first"], 12, 6, "high")
    waited(pools["first"], 3, 30, "urgent")
    scene.make_job("held", pools["second"], from_=AT, to=AT + timedelta(hours=9))
    scene.make_job("too", pools["first"], from_=AT, to=AT + timedelta(hours=9))

    def wait(priority: str) -> Any:
        return offer_of(asked(caller, priority=priority), "kept")

    assert wait("High")["wait_hours"] == pytest.approx(0.1)
    assert wait("low")["wait_hours"] == pytest.approx(1.0)
    assert any("12 jobs of the priority high" in each for each in wait("high")["reasons"])
    few, none = wait("urgent"), wait("batch")
    assert few["wait_hours"] == none["wait_hours"] == wait("")["wait_hours"]
    assert any("only 3 jobs of the priority urgent" in each for each in few["cautions"])
    assert any("no job of the priority batch" in each for each in none["cautions"])


def test_gpus_of_an_offer_that_was_just_taken_are_not_offered_as_idle(
    pools: dict[str, int], caller: Caller
) -> None:
    first = asked(caller, gpus=16)
    job = Job.objects.create(
        cluster_id=make.make_cluster(), raw_id="1", opened_at=AT, submitted_at=AT, state="PENDING"
    )
    key = offer_of(first, "kept")["key"]
    taken = caller.post(f"quotes/{first['id']}/taken", {"offer": key, "job": job.pk})
    assert taken.status_code == 200
    _Clock.now = AT + timedelta(minutes=5)
    beside = offer_of(asked(caller), "kept")

    assert "enough of its GPUs are idle now" in offer_of(first, "kept")["reasons"]
    assert "enough of its GPUs are idle now" not in beside["reasons"]
    assert any("just taken: 16 in 1 quotes" in each for each in beside["cautions"])
    Job.objects.filter(pk=job.pk).update(started_at=_Clock.now)
    assert "enough of its GPUs are idle now" in offer_of(asked(caller), "kept")["reasons"]
    Job.objects.filter(pk=job.pk).update(started_at=None)
    _Clock.now = AT + timedelta(minutes=16)
    assert "enough of its GPUs are idle now" in offer_of(asked(caller), "kept")["reasons"]


def test_gpus_that_are_idle_apart_or_on_a_broken_machine_start_no_gang(
    pools: dict[str, int], caller: Caller
) -> None:
    for name in ("first", "second"):
        scene.make_job(
            name, pools[name], gpus=Fraction(4), from_=make.NOON, to=AT + timedelta(hours=9)
        )
    apart = offer_of(asked(caller), "kept")
    half = offer_of(asked(caller, gpus=4), "kept")

    assert any("8 of its GPUs are idle, and not together" in each for each in apart["cautions"])
    assert "enough of its GPUs are idle now" in half["reasons"]
    outage = fleet.NewOutage(pools["first"], "failed", make.NOON, AT + timedelta(hours=9))
    fleet.record_outage(outage=outage, at=AT)
    make_offer_book(at=AT)
    assert BookOffer.objects.get(name="kept").idle_by_node == [4]


def test_each_offer_says_what_it_leaves_of_a_budget_and_what_is_paid_anyway(
    pools: dict[str, int], caller: Caller
) -> None:
    for measure, amount in (("money", 9000), ("gpu_hours", 1000)):
        budget = EnteredBudget(
            name=measure, scope="organisation", key="", measure=measure, recurrence="monthly",
            first_day=AT.date().replace(day=1), last_day=None,
            steps=(BudgetStep(AT.date().replace(day=1), Decimal(amount)),),
        )  # fmt: skip
        add_budget(budget=budget, at=AT)
    make_offer_book(at=AT)
    left = {"money": 9000 * 10**6, "gpu_hours": 1000 * 3_600_000}
    known = [each | {"left": left[each["name"]]} for each in OfferBook.objects.get().budgets]
    OfferBook.objects.update(budgets=known, digest="d" * 64)
    answer = caller.post("quotes", JOB).json()
    kept, rented = offer_of(answer, "kept"), offer_of(answer, "rented")

    assert {each["name"]: each["left"] for each in kept["budgets"]} == {
        "money": 9000 - 1440, "gpu_hours": 1000 - 384,
    }  # fmt: skip
    assert {each["name"]: each["left"] for each in rented["budgets"]}["money"] == pytest.approx(
        9000 - 2641.92
    )
    assert kept["paid_anyway"]["amount"] == "1440.000000"
    assert rented["paid_anyway"]["amount"] == "0.000000"


def test_a_book_that_nobody_made_anew_is_said_to_be_old(
    pools: dict[str, int], caller: Caller
) -> None:
    make_offer_book(at=AT)
    _Clock.now = AT + timedelta(hours=5)
    answer = caller.post("quotes", JOB).json()

    assert any("the offer book was made 5 hours ago" in each for each in answer["cautions"])


def test_more_than_was_ever_rented_is_doubted_where_no_quota_is_entered(
    pools: dict[str, int], caller: Caller
) -> None:
    make.make_rate("55.04", region="us-west-2")
    early = make.NOON - timedelta(days=30)
    for name in ("od-1", "od-2"):
        make.make_node(name, pool_id=pools["rented"], at=early, ended_at=early + timedelta(days=3))

    def doubt(gpus: int, name: str) -> list[str]:
        offer = offer_of(asked(caller, gpus=gpus), name)
        return [each for each in offer["cautions"] if "no quota is entered" in each]

    assert doubt(16, "rented") == []
    assert "16 GPUs at once are the most" in doubt(24, "rented")[0]
    assert "no GPU of this model was ever rented there" in doubt(8, "aws us-west-2 p5.48xlarge on demand")[0]  # fmt: skip


def test_machines_of_the_market_are_paid_whole_and_those_of_a_pool_are_shared(
    pools: dict[str, int], caller: Caller
) -> None:
    make.make_rate("55.04", region="us-west-2")
    answer = asked(caller, gpus=4, work={"gpu_hours": 192})
    market, rented = (
        offer_of(answer, name) for name in ("aws us-west-2 p5.48xlarge on demand", "rented")
    )

    assert (market["rented_gpus"], market["cost"]["likely"]["amount"]) == (8, "2641.920000")
    assert any("rented whole" in each for each in market["cautions"])
    assert (rented["rented_gpus"], rented["cost"]["likely"]["amount"]) == (4, "1320.960000")


def test_energy_is_as_like_work_drew_and_names_the_overhead_of_its_hall(
    pools: dict[str, int], caller: Caller
) -> None:
    rated = offer_of(asked(caller), "kept")
    run = Run.objects.create(key="llama")
    figures = RunFigures.objects.create(
        run=run, key="llama", gpu_model="NVIDIA H100 80GB HBM3", ended_at=AT - timedelta(hours=1),
        unit_milliseconds=100 * 3_600_000, energy_joules=500.0 * 100 * 3600, observed_ratio=0.99,
        computed_at=AT,
    )  # fmt: skip
    room = EnteredPowerLimit("Hall", (pools["kept"],), Decimal(100), Decimal("1.2"))
    add_power_limit(limit=room, at=AT)
    measured = offer_of(asked(caller), "kept")
    RunFigures.objects.filter(pk=figures.pk).update(energy_joules=300.0 * 100 * 3600)
    BookOffer.objects.update(measured_watts=500)
    like = caller.post("quotes", JOB | {"work": {"like_run": run.pk}}).json()

    assert rated["kilowatt_hours"] == pytest.approx(384 * 0.7)
    assert "rated power, so at most" in rated["energy_words"]
    assert measured["kilowatt_hours"] == pytest.approx(384 * 0.5 * 1.2)
    assert "times a PUE of 1.2" in measured["energy_words"]
    assert offer_of(like, "kept")["kilowatt_hours"] == pytest.approx(100 * 0.3 * 1.2)
    assert "of the run that it is like" in offer_of(like, "kept")["energy_words"]
    RunFigures.objects.filter(pk=figures.pk).update(ended_at=None)
    refused = caller.post("quotes", JOB | {"work": {"like_run": run.pk}})
    assert "has not ended" in refused.json()["errors"][0]["message"]


def test_unused_spend_of_a_plan_is_offered_as_whole_machines(pools: dict[str, int]) -> None:
    scene.make_commitment(
        name="plan", kind="savings_plan", units=0, spend=Decimal(180), hourly=Decimal(144),
        provider="aws", prices={"p5.48xlarge": "40", "p4d.24xlarge": "10"},
        period=(make.NOON, make.NOON + timedelta(days=30)),
    )  # fmt: skip
    node = make.make_node("od-1", pool_id=pools["rented"])
    assert node
    scene.recharge(AT - timedelta(hours=1))
    scene.settle_all(at=AT)
    found = offers_now(AT)
    assert not [why for why in found.left_out if "plan" in why], found.left_out
    (offer,) = [each for each in found.offers if each.key.startswith("commitment:")]

    # 120 of the 180 an hour cover three nodes; 60 pay one more of 8 GPUs at 40.
    assert (offer.option, offer.micros, offer.there_gpus, offer.free_gpus) == ("reserved", 0, 32, 8)
    assert offer.paid_micros == 4_000_000
    assert any(
        "60.00 USD an hour, pays 1 p5.48xlarge at 40 an hour" in note for note in offer.notes
    )
    assert any("or as much of p4d.24xlarge" in note for note in offer.notes)


def test_residency_of_a_region_is_not_of_one_whose_name_goes_on(
    pools: dict[str, int], caller: Caller
) -> None:
    make.make_rate("55.04", region="us-east-10")
    names = [offer["name"] for offer in asked(caller, residency=["aws:us-east-1"])["offers"]]

    assert sorted(names) == ["kept", "rented"]
    assert len(asked(caller, residency=["aws:us-"])["offers"]) == 3


def test_how_earlier_quotes_came_out_is_said_with_the_offer(
    pools: dict[str, int], caller: Caller
) -> None:
    quote = asked(caller)
    JobQuote.objects.update(
        chosen=offer_of(quote, "rented")["key"], taken_at=AT, ended_at=AT + timedelta(hours=48),
        actual_micros=2_906_112_000, actual_hours=53.35, actual_gpu_hours=400,
    )  # fmt: skip
    offer = offer_of(asked(caller), "rented")

    assert any("came to 1.10 of the cost and 1.10 of the time" in each for each in offer["reasons"])


def test_what_the_ledger_charges_of_owned_gpus_is_their_plan_and_their_power() -> None:
    about: dict[str, Any] = {
        "key": "pool:1", "name": "lab", "provider": "own", "region": "lab", "instance_type": "",
        "gpu_model": "NVIDIA L40S", "gpus_per_node": 4, "micros": 65_000,
    }  # fmt: skip
    owned = OfferFact(option="owned", paid_micros=600_000, **about)

    assert owned.charged_micros == 665_000
    assert OfferFact(option="on_demand", paid_micros=65_000, **about).charged_micros == 65_000
    assert OfferFact(option="owned", paid_micros=None, **about).charged_micros is None


def test_a_quote_is_held_against_those_that_ended_before_it(
    pools: dict[str, int], caller: Caller
) -> None:
    """By its first offer's way of buying, on its page and over REST; what ends later changes nothing of it."""
    first = asked(caller)
    kept = JobQuote.objects.get(pk=first["id"])
    none_yet = {gate["name"]: gate for gate in first["gates"]}
    assert none_yet["baseline"]["says"].startswith("no back-test yet: 0 ended")

    def ended(count: int, at: datetime) -> None:
        said = kept.answer["offers"][0]["charged_micros"]
        for place in range(count):
            kept.pk, kept.asked_at = None, at + timedelta(hours=2 * place)
            kept.chosen, kept.taken_at = kept.answer["offers"][0]["key"], kept.asked_at
            kept.ended_at = kept.asked_at + timedelta(hours=1)
            kept.actual_micros = said if place % 2 else 3 * said
            kept.save(force_insert=True)

    ended(12, AT - timedelta(days=2))
    ended(12, AT + timedelta(days=2))
    again = asked(caller)
    gates = {gate["name"]: gate for gate in again["gates"]}
    assert "the cost of 11 jobs was missed by" in gates["baseline"]["says"]
    page = text_of(signed_in("finance").get(f"/placement/quotes/{again['id']}").content.decode())
    assert "the cost of 11 jobs was missed by" in page
