"""A portfolio's question from the ledger of a planted world, against figures by hand."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from django.db import connection

from apps.economics.portfolio.savings import PaidCapacity, savings_rates
from apps.economics.refusal import Refusal
from apps.ledger.actions.partitions import ensure_month
from apps.planning import actions as planning
from apps.planning.queries.portfolio.inputs import (
    PortfolioInputs,
    inputs_with,
    measured_fields,
    portfolio_inputs,
)
from apps.planning.queries.portfolio.question import ledger_question
from apps.planning.solvers.portfolio import solve_portfolio
from apps.pricing import actions as pricing
from apps.workloads.models import Run, RunAttempt, RunSummary
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db

BEGINS, ENDS = datetime(2026, 1, 31, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)
AT = ENDS + timedelta(hours=12)
HOURS = 28 * 24
"""Of February: of January the ledger has a day."""
H100 = "NVIDIA H100 80GB HBM3, aws us-east-1"
L40S = "NVIDIA L40S, own lab"
ACTIVE, UNALLOCATED = 1, 6
COMMITTED = 3
AGAIN = {"name": "one p5 (renewal)", "term_months": 2, "hourly": 7.0, "upfront": 0}
"""The same machine for a term that thirty days of history bear."""
PLANT = """
WITH charged AS (
    INSERT INTO ledger_charge (kind, pool_id, part, hour, through, posting_month, list_micros,
        contracted_micros, effective_micros, currency, status, reason, digest, node_id, commitment_id)
    SELECT %(kind)s, %(pool)s, %(part)s, hour, hour + interval '1 hour', date_trunc('month', hour),
           %(list)s, %(paid)s, %(paid)s, 'USD', 'estimated', '', '', %(node)s, %(commitment)s
    FROM generate_series(%(from)s, %(to)s - interval '1 hour', interval '1 hour') AS hour
    RETURNING id, hour, posting_month)
INSERT INTO ledger_line (charge_id, hour, posting_month, pool_id, team_id, job_id, state, flags,
    evidence, unit_milliseconds, list_micros, contracted_micros, effective_micros)
SELECT id, hour, posting_month, %(pool)s, %(team)s, %(job)s, %(state)s, 0, 0, %(gpus)s * 3600000,
       %(list)s, %(paid)s, %(paid)s
FROM charged
"""


def plant(pool: int | None, team: int, *, gpus: int, paid: float | None, **given: Any) -> None:
    """So many GPUs of a pool in each hour, at 12.5 dollars each by the list, for `paid` dollars together."""
    listed = given.get("listed", 12.5 * gpus)
    values = {"kind": "node_hour", "part": 0, "state": ACTIVE, "node": None, "job": None}
    values |= {"commitment": None, "from": BEGINS, "to": ENDS}
    amounts = {
        name: None if amount is None else round(amount * 1e6)
        for name, amount in (("list", listed), ("paid", paid))
    }
    with connection.cursor() as cursor:
        cursor.execute(PLANT, values | amounts | {"pool": pool, "team": team, "gpus": gpus} | given)


@pytest.fixture(scope="module")
def world(of_module: None) -> dict[str, int]:
    """H100s on demand, committed and on spot, two of them idle, and a lab of which nobody knows the cost."""
    make.make_organisation()
    for month in (1, 2, 3):
        ensure_month(month=BEGINS.date().replace(month=month, day=1))
    red = make.make_team("Red")
    pool, spot = make.make_pool("h100"), make.make_pool("h100-spot", purchase_option="spot")
    lab = make.make_pool("lab", gpu_model="NVIDIA L40S", provider="own", region="lab",
                         instance_type="box", gpus_per_node=4, purchase_option="owned")  # fmt: skip
    for option, amount in (("on_demand", "100"), ("spot", "40")):
        make.make_rate(amount, at=BEGINS, starts_at=BEGINS, purchase_option=option)
    commitment = pricing.add_commitment(
        commitment=pricing.EnteredCommitment(
            name="one p5", kind="reserved", currency="USD", provider="aws", region="us-east-1",
            starts_at=BEGINS, ends_at=BEGINS + timedelta(days=730), instance_type="p5.48xlarge",
            units=1, hourly=Decimal(48), upfront=Decimal(140_160),
        ),
        at=BEGINS,
    )  # fmt: skip
    first, second, third = (
        make.make_node(name, pool_id=key, at=BEGINS)
        for name, key in (("gpu-01", pool), ("gpu-02", pool), ("gpu-03", spot))
    )
    box = make.make_node("box", pool_id=lab, at=BEGINS, units=4)
    job = scene.make_job("1", first, gpus=Fraction(4), from_=BEGINS, to=ENDS)
    plant(pool, red, gpus=6, paid=75, node=first)
    plant(pool, red, gpus=2, paid=25, node=second, state=UNALLOCATED)
    plant(pool, red, gpus=4, paid=28, node=first, part=COMMITTED, job=job)
    plant(spot, red, gpus=4, paid=20, node=third)
    plant(None, red, gpus=0, paid=28, listed=None, kind="commitment_unused", commitment=commitment)
    plant(lab, red, gpus=4, paid=None, listed=None, node=box)
    run = Run.objects.create(key="a")
    RunAttempt.objects.create(run=run, key="1", job_id=job, began_at=BEGINS, heard_at=BEGINS)
    RunSummary.objects.create(run=run, told_at=BEGINS, good_checkpoints=1)
    return {"pool": pool, "spot": spot, "lab": lab, "commitment": commitment}


@pytest.fixture(scope="module")
def inputs(world) -> PortfolioInputs:
    return portfolio_inputs({}, AT)


@pytest.fixture(scope="module")
def answer(inputs) -> dict[str, Any]:
    return answered(over(inputs, {"months": 2, "scenarios": 4}))


def over(inputs: PortfolioInputs, overlay: dict[str, Any]) -> PortfolioInputs:
    return inputs_with(overlay, inputs.ledger, inputs.known)


def answered(inputs: PortfolioInputs) -> dict[str, Any]:
    fields = solve_portfolio(
        inputs.document,
        lambda source: inputs.hours_of_series(source.series),
        inputs.in_service,
        lambda done, of: None,
    )[2]
    return fields | measured_fields(inputs, fields["attainable_costs"])


def test_the_question_is_what_the_installation_knows(inputs) -> None:
    document = inputs.document
    (family,) = document["families"]
    assert family == {
        "name": H100,
        "on_demand": 12.5,
        "spot": 5.0,
        "spot_share": pytest.approx(8 / 14),
        "demand": {"series": ["gpu_hours:pool=h100", "gpu_hours:pool=h100-spot"]},
        # Three nodes are in service, and none is entered to come or go.
        "room": [24.0] * 12,
    }
    assert document["held"] == [
        {"name": "one p5", "family": H100, "gpus": 8, "rate": 7.0, "kind": "reserved",
         "ends_on": "2028-01-31"}
    ]  # fmt: skip
    assert document["offers"] == [
        {"name": "one p5 (renewal)", "family": H100, "kind": "reserved", "term_months": 24,
         "hourly": pytest.approx(6.0), "upfront": pytest.approx(17520), "lot": 8}
    ]  # fmt: skip
    # What nobody holds is no demand: 14 of the 16 in service.
    assert set(inputs.hours_of_series(family["demand"]["series"])) == {14.0}


def test_what_is_not_known_is_named_and_left_out(inputs) -> None:
    assert dict(inputs.completed.left_out) == {
        L40S: "no price on demand is on record: add on_demand to it"
    }
    assert inputs.ledger.tolerant == {H100: pytest.approx(8 / 14), L40S: None}
    assert inputs.ledger.notes == (
        f"What of the work on {L40S} may be interrupted is not known: nothing of it ran on spot, and no run on it"
        " reported. None is taken to be.",
        f"{H100}: its on demand price was said on 2026-01-31, 30 days ago; its spot price was said on 2026-01-31,"
        " 30 days ago.",
    )


def test_the_mix_of_the_months_is_the_ledgers(answer) -> None:
    bought = answer["bought"]
    assert bought["months"] == ["2026-02-01"]
    sums: dict[tuple[str, str], list[float]] = {}
    for row in bought["sources"]:
        so_far = sums.setdefault((row["family"], row["bought_as"]), [0.0, 0.0, 0.0])
        amounts = (row["gpu_hours"], row["on_demand"] or 0.0, row["paid"] or 0.0)
        sums[row["family"], row["bought_as"]] = [
            a + b for a, b in zip(so_far, amounts, strict=True)
        ]
    assert {key: [amount / HOURS for amount in row] for key, row in sums.items()} == {
        (H100, "committed"): [4, 50, 28],
        (H100, "on_demand"): [8, 100, 100],
        (H100, "spot"): [4, 50, 20],
        (H100, "unused"): [0, 0, 28],
        (L40S, "owned"): [4, 0, 0],
    }
    assert {row["paid"] for row in bought["sources"] if row["family"] == L40S} == {None}


def test_the_savings_rate_and_what_was_attainable_are_as_by_hand(answer) -> None:
    savings = answer["bought"]["savings"]
    assert savings["families"] == [H100]
    assert savings["on_demand"] == 200 * HOURS
    assert savings["effective_savings_rate"] == pytest.approx((200 - 176) / 200)
    # Of 16 GPUs in service 8/14 may be on spot: nine at 5, and the other seven as those that are held, at 7.
    assert savings["attainable_savings_rate"] == pytest.approx((200 - 94) / 200)


def test_a_commitment_that_begins_later_covers_demand_from_then_on(inputs) -> None:
    """Six GPUs lack a commitment for ten days, and then have one: nothing is to be bought."""
    signed = {"name": "signed", "family": H100, "gpus": 8, "rate": 7.0, "kind": "reserved",
              "starts_on": "2026-03-12", "ends_on": "2028-03-12"}  # fmt: skip
    overlay = {"months": 1, "scenarios": 4, "offers": [AGAIN]}
    overlay["families"] = [{"name": H100, "spot_share": 0.0}]
    without, held = (
        answered(over(inputs, overlay | {"held": tables})) for tables in ([], [signed])
    )
    assert without["chosen"]["lots"] == {"one p5 (renewal)": 1}
    assert held["chosen"]["lots"] == {}
    owed = 8 * 7.0 * 730
    assert held["chosen"]["mean_cost"] == pytest.approx(
        owed + 6 * 12.5 * 240 + 8 * 7.0 * (730 - 240)
    )


def test_what_is_wanted_beyond_the_gpus_that_are_there_waits_at_what_a_policy_says(
    inputs, world
) -> None:
    """Ten of the 14 GPUs that are held and waited for are there: four wait in every hour, at 3.50."""
    policy = planning.EnteredHeadroomPolicy(
        "h100", "pool", str(world["pool"]), (), Decimal("3.5"), Decimal(1), lead_days=7
    )
    planning.add_headroom_policy(policy=policy, at=AT)
    ledger = ledger_question(inputs.known, AT)
    overlay = {"months": 1, "scenarios": 4, "families": [{"name": H100, "room": [10]}]}
    found = answered(inputs_with(overlay, ledger, inputs.known))

    (family,) = found["families"]
    assert family["waiting_hours"] == pytest.approx(4 * 730)
    assert family["waiting_cost"] == pytest.approx(4 * 730 * 3.5)
    assert family["parts"]["demand_hours"] == pytest.approx(10 * 730)
    (gate,) = [gate for gate in found["gates"] if gate["name"] == "capacity"]
    assert gate["is_passed"] is False
    assert "at most 14 GPUs at once, and 10 are there" in gate["says"]
    assert "2,920 GPU-hours beyond them wait, priced at 10,220" in gate["fallback"]


def test_what_nobody_used_of_a_plan_of_several_families_is_in_the_rate_of_all(inputs) -> None:
    capacity = [PaidCapacity("a", 100.0, 60.0), PaidCapacity("b", 100.0, 100.0)]
    least = {"a": 50.0, "b": 80.0}
    whole, each = savings_rates(capacity, least, 20.0)
    assert (whole.effective, whole.attainable) == (pytest.approx(0.1), pytest.approx(0.35))
    assert [rate.effective for _, rate in each] == [pytest.approx(0.4), 0]
    assert savings_rates(capacity, least, None)[0].effective is None


def test_nothing_more_is_bought_where_spot_takes_the_rest(answer) -> None:
    assert answer["chosen"]["lots"] == {}
    (family,) = answer["families"]
    assert family["parts"]["spot_hours"] == pytest.approx(6 * answer["hours"])
    (step,) = {tuple(list(one.values())[1:]) for one in family["duration"]}
    assert step == pytest.approx((14, 0, 8, 0, 6, 0))


def test_a_file_says_what_the_ledger_does_not_know(inputs) -> None:
    overlay = {
        "months": 1,
        "scenarios": 4,
        "families": [
            {"name": H100, "spot_share": 0.0},
            {"name": L40S, "on_demand": 2.0},
        ],
        "held": [{"name": "lab, owned", "rate": 1.0}],
        "offers": [
            AGAIN,
            {"name": "cheap", "family": L40S, "kind": "reserved", "term_months": 12, "hourly": 0.5},
        ],
    }  # fmt: skip
    more = over(inputs, overlay)
    assert more.completed.left_out == ()
    assert more.completed.notes == (
        "When lab, owned ends is not on record: it is taken to last through the planned months.",
    )
    answer = answered(more)
    # Six GPUs at 12.5 on demand against a machine of eight at 7; the lab has what it needs.
    assert answer["chosen"]["lots"] == {"one p5 (renewal)": 1}
    assert answer["held_out"]["choices"] == []
    assert f"{H100} has 720, {L40S} has 720" in answer["held_out"]["refusal"]


def test_no_machine_for_two_years_rests_on_thirty_days(inputs) -> None:
    """Of the six GPUs that no commitment has on the quietest day, a machine of eight is more."""
    overlay = {"months": 1, "scenarios": 4, "families": [{"name": H100, "spot_share": 0.0}]}
    answer = answered(over(inputs, overlay))
    assert answer["chosen"]["lots"] == {}
    (offer,) = answer["offers"]
    assert offer["caution"].startswith(
        "30 days of history for a term of 730 days, over 3 times as long: at most 100%"
    )


def test_demand_may_be_said_otherwise_than_the_ledger_has_it(inputs) -> None:
    said = {"name": H100, "spot_share": 0.0, "demand": {"hours": [9.0] * 24, "monthly_growth": 0.0}}
    answer = answered(over(inputs, {"months": 1, "scenarios": 1, "families": [said]}))
    assert answer["families"][0]["parts"]["demand_hours"] == pytest.approx(9 * 730)


def test_a_limit_on_blocked_hours_is_held_or_said_not_to_be(inputs) -> None:
    short = {"name": H100, "spot_share": 0.0, "on_demand_quota": 0, "shortage_cost": 13.0}
    few = {"name": "one p5, again", "most_lots": 0}
    overlay: dict[str, Any] = {
        "months": 1,
        "scenarios": 4,
        "most_blocked": 0.1,
        "families": [short],
        "offers": [AGAIN],
    }
    held = answered(over(inputs, overlay))
    assert (held["keeps_limit"], held["chosen"]["limited_part"]) == (True, 0)
    cannot = answered(over(inputs, overlay | {"offers": [few]}))
    assert cannot["keeps_limit"] is False
    assert cannot["chosen"]["limited_part"] == pytest.approx(6 / 14)


@pytest.mark.parametrize(
    ("overlay", "message"),
    [
        ({"on": "soon"}, "on: "),
        ({"families": [{"name": H100, "on_demand": 1e300}]}, r"on_demand: 1e\+300 must be at most"),
        ({"families": [{"name": H100, "on_demand": float("nan")}]}, "on_demand: nan is not a number"),
        ({"offers": [{"name": "one p5 (renewal)", "hourly": float("inf")}]}, "hourly: inf is not a number"),
        ({"offers": [{"name": "one p5 (renewal)", "hourly": 1e-300, "upfront": 0}]}, "hourly: with upfront 1e-300"),
        ({"families": "H100"}, "'H100' is not a list of tables"),
        ({"families": [{"name": "new", "on_demand": 1, "demand": {"hours": [1e12] * 24}}]}, r"1e\+12 GPUs"),
        ({"budget": -1}, "budget: -1 must be at least 0"),
    ],
)  # fmt: skip
def test_what_is_absurd_is_refused_by_name(inputs, overlay, message) -> None:
    with pytest.raises(Refusal, match=message):
        answered(over(inputs, overlay))


def test_an_empty_installation_says_what_is_missing(world) -> None:
    with pytest.raises(Refusal, match="families: the ledger has no GPU-hour of a pool yet"):
        portfolio_inputs({}, BEGINS - timedelta(days=1))
