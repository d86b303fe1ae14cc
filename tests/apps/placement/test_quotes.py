"""A job is quoted, its offer taken, and what came of it held against what was said."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.placement.actions import (
    follow_quotes,
    forget_quotes,
    make_offer_book,
    quotes,
    set_egress_prices,
)
from apps.placement.models import BookOffer, JobQuote
from apps.planning.actions import EnteredBudget, add_budget
from apps.planning.queries.budgets import BudgetStep
from apps.pricing.models import Rate
from apps.workloads.models import Job
from tests import make
from tests.apps.ledger import scene
from tests.apps.unit_economics import planted_runs
from tests.rest import Caller, signed_in, with_token
from tests.table_lists import assert_listed_as_on_page

pytestmark = pytest.mark.django_db

AT = make.NOON + timedelta(hours=2)
DEADLINE = (AT + timedelta(hours=60)).isoformat()
JOB: dict[str, Any] = {
    "gpus": 8,
    "work": {"gpu_hours": 384, "of_model": "H100"},
    "deadline": DEADLINE,
    "checkpoint": {"write_seconds": 60},
    "restart_seconds": 360,
    "assumed_wait_minutes": 30,
}


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture
def caller() -> Caller:
    """A manage token; one reserved node, a pool on demand, and spot on the market, in a book."""
    make.make_organisation()
    cluster_id = make.make_cluster()
    kept = make.make_pool("kept", cluster_id=cluster_id, purchase_option="reserved")
    make.make_pool("rented", cluster_id=cluster_id)
    make.make_node("gpu-01", pool_id=kept, cluster_id=cluster_id)
    make.make_rate("55.04")
    make.make_rate("30.00", purchase_option="reserved", kind="contract")
    make.make_rate("16.00", purchase_option="spot", region="us-west-2")
    make.make_rate("55.04", region="us-west-2")
    make_offer_book(at=AT)
    return with_token("read", "manage")


def asked(caller: Caller, **instead: Any) -> Any:
    answer = caller.post("quotes", JOB | instead)
    assert answer.status_code == 201, answer.content
    return answer.json()


def offers_of(answer: Any) -> dict[str, Any]:
    return {offer["name"]: offer for offer in answer["offers"]}


def test_idle_reserved_gpus_come_first_and_say_what_the_ledger_will(caller: Caller) -> None:
    first = asked(caller)["offers"][0]

    assert (first["name"], first["standing"]) == ("kept", "meets")
    assert first["cost"]["likely"]["amount"] == "0.000000"
    assert first["charged"]["amount"] == "1440.000000"
    assert (first["finish_hours"], first["deadline_chance"]) == (48.0, 1.0)
    assert "enough of its GPUs are idle now" in first["reasons"]


def test_on_demand_costs_its_hours_and_names_its_price_row(caller: Caller) -> None:
    rented = offers_of(asked(caller))["rented"]

    assert rented["cost"]["likely"]["amount"] == "2641.920000"
    assert rented["finish_hours"] == 48.5
    assert rented["price_rows"][0]["kind"] == "list"
    assert any("assumed" in reason for reason in rented["reasons"])


def test_spot_without_evidence_is_unknown_and_after_what_is_known(caller: Caller) -> None:
    answer = asked(caller)

    spot = answer["offers"][-1]
    assert (spot["option"], spot["standing"], spot["cost"]) == ("spot", "cost_unknown", None)
    assert "nothing is known of interruptions there" in spot["unknown"]


def test_spot_by_an_assumption_says_whose_it_is_and_how_often_to_save(caller: Caller) -> None:
    spot = offers_of(asked(caller, assumed_interruptions_per_day=6))[
        "aws us-west-2 p5.48xlarge spot"
    ]

    assert spot["interruptions"] == pytest.approx(13.5, abs=0.3)
    assert spot["cadence_seconds"] == pytest.approx(0.354 * 3600, rel=0.03)
    assert 768 < float(spot["cost"]["likely"]["amount"]) < 2641
    assert any("assumed by who asks" in caution for caution in spot["cautions"])


def test_serving_is_put_on_spot_with_a_fallback_alone(caller: Caller) -> None:
    plain = asked(caller, kind="serving", assumed_interruptions_per_day=1)
    backed = asked(caller, kind="serving", has_fallback=True, assumed_interruptions_per_day=1)

    assert plain["refused"] == {"spot, for serving without a fallback": 1}
    assert not [each for each in plain["offers"] if each["option"] == "spot"]
    assert "aws us-west-2 p5.48xlarge spot" in offers_of(backed)


def test_work_that_may_not_be_interrupted_is_not_put_on_spot(caller: Caller) -> None:
    answer = asked(caller, kind="uninterrupted")

    assert answer["refused"] == {"spot, for work that may not be interrupted": 1}


@pytest.mark.parametrize(
    ("instead", "refused"),
    [
        ({"residency": ["aws:eu-"]}, "outside the places that the data may be in"),
        ({"gpu_memory_gib": 141}, "less GPU memory than needed, or not known how much"),
        ({"gpu_models": ["A100"]}, "another GPU model than those allowed"),
    ],
)
def test_offers_that_cannot_take_the_job_are_counted_with_the_reason(
    caller: Caller, instead: dict[str, Any], refused: str
) -> None:
    answer = asked(caller, **instead)

    assert (answer["offers"], answer["refused"]) == ([], {refused: 4})


def test_more_gpus_than_there_are_reserved_are_not_offered(caller: Caller) -> None:
    answer = asked(caller, gpus=16)

    assert answer["refused"] == {"fewer GPUs there than asked for": 1}


def test_data_elsewhere_costs_its_egress_and_its_time_or_is_unknown(caller: Caller) -> None:
    prices = {("aws:us-east-1", "aws:us-west-2"): Decimal("0.02")}
    set_egress_prices(prices=prices, source="price list", at=AT)
    data = {"place": "aws:us-east-1", "gigabytes": 4500, "gbps": 10}
    there = offers_of(asked(caller, dataset=data))
    away = there["aws us-west-2 p5.48xlarge on demand"]

    assert there["rented"]["egress"]["amount"] == "0.000000"
    assert away["egress"]["amount"] == "90.000000"
    assert away["transfer_hours"] == 1.0
    assert away["cost"]["likely"]["amount"] == "2731.920000"
    unknown = offers_of(asked(caller, dataset={"place": "gcp:us-east1", "gigabytes": 10}))["rented"]
    assert (unknown["cost"], unknown["egress"], unknown["finish_hours"]) == (None, None, None)
    assert unknown["compute"] is not None


def test_a_training_is_asked_by_its_tokens_and_a_run_by_its_likeness(caller: Caller) -> None:
    work = {"tokens": 2e12, "parameters": 7e9, "mfu": 0.4}
    answer = asked(caller, work=work, gpus=8)

    # 6·7e9·2e12 operations at 40 % of 989.4e12 a second.
    hours = 6 * 7e9 * 2e12 / (0.4 * 989.4e12) / 3600
    assert answer["offers"][0]["gpu_hours"] == pytest.approx(hours, rel=0.001)
    refused = caller.post("quotes", JOB | {"work": {"like_run": 99}})
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["field"] == "work"


@pytest.mark.parametrize(
    ("instead", "field"),
    [
        ({"gpus": 0}, "gpus"),
        ({"deadline": "2026-03-01T00:00:00Z"}, "deadline"),
        ({"work": {}}, "work"),
        ({"work": {"gpu_hours": 5, "tokens": 5}}, "work"),
        ({"work": {"gpu_hours": 5, "least_gpu_hours": 6}}, "work"),
        ({"work": {"tokens": 5}}, "work"),
        ({"kind": "serving", "work": {"tokens": 5, "parameters": 5, "mfu": 0.4}}, "work"),
        ({"has_fallback": True}, "has_fallback"),
        ({"gpu_models": ["GPU of tomorrow"]}, "gpu_models"),
        ({"dataset": {"place": "nowhere", "gigabytes": 1}}, "dataset"),
        ({"residency": ["eu"]}, "residency"),
        ({"team": "Nobody"}, "team"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_no_job_can_be_is_refused_by_its_field(
    caller: Caller, instead: dict[str, Any], field: str
) -> None:
    refused = caller.post("quotes", JOB | instead)

    assert refused.status_code == 400
    assert field in {error["field"] for error in refused.json()["errors"]}
    assert JobQuote.objects.count() == 0


def test_without_a_book_nothing_is_answered() -> None:
    make.make_organisation()

    assert with_token("manage").post("quotes", JOB).status_code == 409


def test_a_stale_price_is_named(caller: Caller) -> None:
    """A list price that was read off 401 days ago, and a spot price of 8 days ago."""
    for name, days in (("on_demand", 401), ("spot", 8)):
        told = AT.date() - timedelta(days=days)
        Rate.objects.filter(purchase_option=name).update(source_date=told)
    make_offer_book(at=AT)
    offers = asked(caller, assumed_interruptions_per_day=1)["offers"]

    stale = {each["option"]: each["cautions"] for each in offers}
    assert "its price was last said 401 days ago" in stale["on_demand"]
    assert "its price was last said 8 days ago" in stale["spot"]
    assert stale["reserved"] == []
    assert [row["is_stale"] for each in offers for row in each["price_rows"]].count(True) == 3


def test_prices_are_fresh_up_to_their_last_day(caller: Caller) -> None:
    for name, days in (("on_demand", 400), ("spot", 7)):
        told = AT.date() - timedelta(days=days)
        Rate.objects.filter(purchase_option=name).update(source_date=told)
    make_offer_book(at=AT)

    assert not [
        caution
        for offer in asked(caller)["offers"]
        for caution in offer["cautions"]
        if "last said" in caution
    ]


def test_what_takes_over_from_spot_is_named_with_its_price(caller: Caller) -> None:
    """Its price is in the cost: also a stale one."""
    Rate.objects.filter(purchase_option="on_demand").update(source_date=AT - timedelta(days=500))
    make_offer_book(at=AT)
    how = {"kind": "serving", "has_fallback": True, "assumed_interruptions_per_day": 1}
    spot = next(each for each in asked(caller, **how)["offers"] if each["option"] == "spot")

    assert len(spot["price_rows"]) == 2
    assert "while spot is away, aws us-west-2 p5.48xlarge on demand takes over" in " ".join(
        spot["reasons"]
    )
    assert (
        "the price of aws us-west-2 p5.48xlarge on demand was last said 500 days ago"
        in spot["cautions"]
    )


def test_a_price_of_egress_that_is_old_is_named(caller: Caller) -> None:
    prices = {("aws:us-east-1", "aws:us-west-2"): Decimal("0.02")}
    for days, is_stale in ((401, True), (400, False)):
        entered = AT - timedelta(days=days)
        set_egress_prices(prices=prices, source="price list", at=entered)
        there = offers_of(asked(caller, dataset={"place": "aws:us-east-1", "gigabytes": 1}))
        cautions = there["aws us-west-2 p5.48xlarge on demand"]["cautions"]

        assert ("its price of egress was entered 401 days ago" in cautions) is is_stale


def test_a_book_that_nobody_made_anew_is_named(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timezone, "now", lambda: AT + timedelta(hours=2))
    fresh = asked(caller)["cautions"]
    monkeypatch.setattr(timezone, "now", lambda: AT + timedelta(hours=5))
    old = asked(caller)

    assert fresh == []
    assert old["cautions"] == [
        "the offer book was made 5 hours ago: workers make a new one every hour"
    ]
    assert caller.get("quotes").json()["results"][0]["cautions"] == old["cautions"]
    finance, _ = signed_in("fin@example.org", "finance")
    page = finance.client.get(f"/placement/quotes/{old['id']}")
    assert "the offer book was made 5 hours ago" in page.content.decode()


def test_the_same_question_has_the_same_digest_and_another_book_another(caller: Caller) -> None:
    first, second = asked(caller), asked(caller)
    make.make_rate("31.00", instance_type="p4d.24xlarge", region="eu-north-1")
    make_offer_book(at=AT)

    assert first["digest"] == second["digest"] != asked(caller)["digest"]
    assert caller.get(f"quotes/{first['id']}").json() == first
    assert [row["id"] for row in caller.get("quotes").json()["results"]] == [
        second["id"] + 1, second["id"], first["id"],
    ]  # fmt: skip


def test_budgets_of_the_team_and_above_it_are_with_the_answer(caller: Caller) -> None:
    above = make.make_team("Research")
    below = make.make_team("Speech", parent_id=above)
    other = make.make_team("Sales")
    for name, team_id in (("all", None), ("research", above), ("sales", other)):
        budget = EnteredBudget(
            name=name,
            scope="organisation" if team_id is None else "team",
            key="" if team_id is None else str(team_id),
            measure="money",
            recurrence="monthly",
            first_day=AT.date().replace(day=1),
            last_day=None,
            steps=(BudgetStep(AT.date().replace(day=1), Decimal(1000)),),
        )
        add_budget(budget=budget, at=AT)
    make_offer_book(at=AT)

    assert below
    assert [each["name"] for each in asked(caller, team="Speech")["budgets"]] == ["all", "research"]


def test_what_came_of_a_taken_offer_is_held_against_what_was_said(caller: Caller) -> None:
    quote = asked(caller)
    node_id = make.make_node("gpu-09", pool_id=BookOffer.objects.get(name="rented").pool_id)
    job_id = scene.make_job("77", node_id, from_=AT, to=AT + timedelta(hours=2))
    key = offers_of(quote)["rented"]["key"]
    path = f"quotes/{quote['id']}/taken"

    assert caller.post(path, {"offer": "pool:0", "job": job_id}).status_code == 400
    assert caller.post(path, {"offer": key}).status_code == 400
    assert caller.post(path, {"offer": key, "job": 10**9}).status_code == 400
    assert caller.post(path, {"offer": key, "run": 10**9}).status_code == 400
    assert caller.post(path, {"offer": key, "job": job_id}).status_code == 200
    assert caller.post(path, {"offer": key, "job": job_id}).status_code == 409
    assert follow_quotes(at=AT + timedelta(hours=3)) == 0
    for hour in (AT, AT + timedelta(hours=1)):
        scene.recharge(hour)
    scene.settle_all(at=AT + timedelta(hours=6))
    assert follow_quotes(at=AT + timedelta(hours=6)) == 1
    outcome = caller.get(f"quotes/{quote['id']}").json()["outcome"]
    assert (outcome["hours"], outcome["gpu_hours"]) == (2.0, 16.0)
    assert outcome["cost"]["amount"] == "110.080000"
    (row,) = caller.get("quotes/calibration").json()["results"]
    assert (row["option"], row["count"], row["on_time"], row["with_deadline"]) == (
        "on_demand", 1, 1, 1,
    )  # fmt: skip
    assert row["cost_ratio"] == pytest.approx(110.08 / 2641.92, rel=1e-4)
    assert_listed_as_on_page(
        caller,
        "quotes/calibration",
        page=signed_in("finn", "finance")[0].client,
        file="/placement/quotes.csv?table=calibration&option=-count",
        sort="-count",
    )
    assert Job.objects.filter(id=job_id).exists()


def test_a_job_that_was_begun_again_comes_to_all_its_attempts(caller: Caller) -> None:
    quote = asked(caller)
    node_id = make.make_node("gpu-09", pool_id=BookOffer.objects.get(name="rented").pool_id)
    first = scene.make_job("79", node_id, from_=AT, to=AT + timedelta(hours=1))
    Job.objects.filter(id=first).update(state="NODE_FAIL")
    key = offers_of(quote)["rented"]["key"]
    caller.post(f"quotes/{quote['id']}/taken", {"offer": key, "job": first})
    again_at = AT + timedelta(hours=3)
    second = scene.make_job("again", node_id, from_=again_at, to=again_at + timedelta(hours=2))
    Job.objects.filter(id=second).update(raw_id="79", restart_count=1, ended_at=None)

    assert follow_quotes(at=AT + timedelta(hours=6)) == 0
    Job.objects.filter(id=second).update(ended_at=again_at + timedelta(hours=2))
    for hour in (AT, again_at, again_at + timedelta(hours=1)):
        scene.recharge(hour)
    scene.settle_all(at=AT + timedelta(hours=10))
    assert follow_quotes(at=AT + timedelta(hours=10)) == 1
    outcome = caller.get(f"quotes/{quote['id']}").json()["outcome"]
    assert (outcome["hours"], outcome["gpu_hours"], outcome["interruptions"]) == (5.0, 24.0, 1)
    (row,) = caller.get("quotes/calibration").json()["results"]
    assert (row["interruptions"], row["expected_interruptions"]) == (1, 0.0)


def job_taking(caller: Caller, quote: Any, raw_id: str, hours: int) -> int:
    """A job that took the quote's offer of the rented pool."""
    offer = offers_of(quote)["rented"]
    node_id = make.make_node(f"gpu-{raw_id}", pool_id=int(offer["key"].removeprefix("pool:")))
    job_id = scene.make_job(raw_id, node_id, from_=AT, to=AT + timedelta(hours=hours))
    path = f"quotes/{quote['id']}/taken"
    assert caller.post(path, {"offer": offer["key"], "job": job_id}).status_code == 200
    return job_id


def test_what_never_ends_takes_nobodys_turn(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many are looked at in a pass; who was looked at goes to the end of the queue."""
    monkeypatch.setattr(quotes, "MOST_FOLLOWED", 1)
    services = [job_taking(caller, asked(caller), str(number), 2) for number in (1, 2)]
    Job.objects.filter(id__in=services).update(ended_at=None)
    last = asked(caller)
    job_taking(caller, last, "3", 2)

    passes = [follow_quotes(at=AT + timedelta(hours=6, minutes=10 * each)) for each in range(4)]

    assert passes == [0, 0, 1, 0]
    assert JobQuote.objects.exclude(ended_at=None).get().pk == last["id"]


@pytest.mark.parametrize("by", ["job", "run"])
def test_a_job_or_a_run_takes_one_quote(caller: Caller, by: str) -> None:
    """What it came to would be held against two otherwise."""
    first, second = asked(caller), asked(caller)
    key = offers_of(first)["rented"]["key"]
    node_id = make.make_node("gpu-09", pool_id=BookOffer.objects.get(name="rented").pool_id)
    taker = (
        scene.make_job("80", node_id, from_=AT, to=AT + timedelta(hours=2))
        if by == "job"
        else planted_runs.plant_run("nightly", began_at=AT, ended_at=AT + timedelta(hours=1))
    )
    assert caller.post(f"quotes/{first['id']}/taken", {"offer": key, by: taker}).status_code == 200

    again = caller.post(f"quotes/{second['id']}/taken", {"offer": key, by: taker})

    assert again.status_code == 409
    assert f"{by} {taker} took an offer of quote {first['id']} already" in again.content.decode()
    assert JobQuote.objects.get(pk=second["id"]).chosen == ""


def test_old_quotes_go_but_those_that_were_taken(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotes, "FORGOTTEN_AT_ONCE", 1)
    old = [asked(caller)["id"] for _ in range(2)]
    taken, new = asked(caller), asked(caller)["id"]
    job_taking(caller, taken, "81", 2)
    later = AT + timedelta(days=settings.KEEP_QUOTE_DAYS, seconds=1)
    JobQuote.objects.filter(pk=new).update(
        asked_at=later - timedelta(days=settings.KEEP_QUOTE_DAYS)
    )

    assert forget_quotes(at=AT + timedelta(days=settings.KEEP_QUOTE_DAYS)) == 0
    assert forget_quotes(at=later) == len(old)
    assert set(JobQuote.objects.values_list("id", flat=True)) == {taken["id"], new}


def test_what_was_never_charged_came_to_nothing_that_is_known(caller: Caller) -> None:
    quote = asked(caller)
    node_id = make.make_node("gpu-09", pool_id=BookOffer.objects.get(name="rented").pool_id)
    job_id = scene.make_job("78", node_id, from_=AT, to=AT + timedelta(hours=2))
    key = offers_of(quote)["rented"]["key"]
    caller.post(f"quotes/{quote['id']}/taken", {"offer": key, "job": job_id})

    assert follow_quotes(at=AT + timedelta(hours=6)) == 1

    outcome = caller.get(f"quotes/{quote['id']}").json()["outcome"]
    assert (outcome["hours"], outcome["cost"], outcome["gpu_hours"]) == (2.0, None, None)
    (row,) = caller.get("quotes/calibration").json()["results"]
    assert (row["finish_ratio"] is None, row["cost_ratio"]) == (False, None)


def test_quotes_are_for_who_sees_prices(caller: Caller) -> None:
    finance, _ = signed_in("fin@example.org", "finance")
    lead, _ = signed_in("lead@example.org", "lead")

    assert finance.post("quotes", JOB).status_code == 201
    assert lead.post("quotes", JOB).status_code == 403
    assert lead.get("quotes").status_code == 403
    assert with_token("read", name="reads").post("quotes", JOB).status_code == 403


def test_egress_is_imported_whole_or_not_at_all(caller: Caller, tmp_path: Any) -> None:
    file = tmp_path / "egress.csv"
    file.write_text("src,dest,cost\naws:us-east-1,azure:eastus,0.09\naws:us-east-1,nowhere,1\n")
    with pytest.raises(CommandError, match="nowhere"):
        call_command("import_egress", str(file), source="a list")
    assert caller.get("egress-prices").json()["results"] == []
    file.write_text("src,dest,cost\naws:us-east-1,azure:eastus,0.09\n")
    call_command("import_egress", str(file), source="a list")
    file.write_text("src,dest,cost\naws:us-east-1,azure:eastus,0.08\n")
    call_command("import_egress", str(file), source="a list")
    (row,) = caller.get("egress-prices").json()["results"]
    assert (row["usd_per_gb"], row["target_place"]) == ("0.080000000", "azure:eastus")
    for wrong in ("a,b\n", "src,dest,cost\naws:a,aws:b,much\n", "src,dest,cost\naws:a,aws:b,99\n"):
        file.write_text(wrong)
        with pytest.raises(CommandError):
            call_command("import_egress", str(file), source="a list")
