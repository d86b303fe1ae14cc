"""Late facts, corrections and openings in any order: a month costs what it would, never closed."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from apps.economics.ownership import Rule
from apps.economics.tiers import parsed
from apps.fleet import actions as fleet
from apps.ledger.actions import close
from apps.ledger.actions.reconcile import bills_due, reconcile_bill
from apps.ledger.models import LedgerDay, Line
from apps.ledger.queries.closes.months import late_facts
from apps.ledger.queries.tables import rows
from apps.pricing import actions as pricing
from apps.pricing.models import Commitment, OwnedPlan, Rate, SharedCost
from apps.telemetry.actions.partitions import ensure_months
from apps.workloads.actions.rules import add_rule, end_rule
from apps.workloads.models import OwnershipRule
from apps.workloads.queries import RuleFact
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import bill_files, scene
from tests.apps.ledger.bill_files import take_file
from tests.apps.ledger.scene import HOUR, TEN
from tests.planted import undone
from tests.proofs import tries

pytestmark = pytest.mark.django_db
MARCH = date(2026, 3, 1)
IN_APRIL = datetime(2026, 4, 2, 9, 30, tzinfo=UTC)
MINUTE = HOUR / 60
ACCEPTED = ("unpriced", "unbilled", "unmatched", "unowned", "unobserved", "uninvoiced")
# An example settles over a real database for a second or two: making it smaller takes minutes.
PHASES = (Phase.explicit, Phase.generate)
HELD = [HealthCheck.function_scoped_fixture]
"""Each example is rolled back, so that the fixture stands for all of them."""


@dataclass(frozen=True)
class World:
    """Two nodes of two pools, their GPUs, and who pays for what is held."""

    pools: tuple[int, int]
    nodes: tuple[int, int]
    gpus: Sequence[str]
    other_team: int


@pytest.fixture
def world(tmp_path: Path) -> World:
    """From 10:00 to 13:00, a job on each node, a shared cost, idle shared out in one pool, a bill."""
    make.make_organisation()
    ensure_months([MARCH])
    research, other = make.make_team("Research"), make.make_team("Other")
    scene.make_rule("research", research)
    scene.make_rule("other", other)
    pools = make.make_pool("keeps"), make.make_pool("shares", idle_sharing="by_held_time")
    nodes = tuple(
        scene.make_priced_node(name, pool_id=pool_id, provider_id=f"i-{name}")
        for name, pool_id in zip(("a", "b"), pools, strict=True)
    )
    gpus = [uuid for node_id in nodes for uuid in scene.make_gpus(node_id)]
    scene.make_job("1", nodes[0], gpus=4, uuids=gpus[:4], to=TEN + 2 * HOUR)
    scene.make_job("2", nodes[1], gpus=3, account="other", from_=TEN + HOUR, to=TEN + 2 * HOUR)
    scene.make_shared_cost("support", starts_at=TEN, ends_at=TEN + 3 * HOUR)
    for node_id in nodes:
        fleet.end_node(node_id=node_id, ended_at=TEN + 3 * HOUR, reason="given back", at=IN_APRIL)
    billed = bill_files.hour_row(
        "70",
        BillingPeriodStart="2026-03-01T00:00:00Z",
        BillingPeriodEnd="2026-04-01T00:00:00Z",
        ChargePeriodStart=TEN.isoformat(),
        ChargePeriodEnd=(TEN + HOUR).isoformat(),
        ResourceId="i-a",
        Tags="{}",
    )
    take_file(bill_files.write(tmp_path / "bill.csv", [billed]), clock=lambda: IN_APRIL)
    for bill_id in bills_due():
        reconcile_bill(bill_id=bill_id, at=IN_APRIL)
    scene.settle_all(IN_APRIL)
    assert Line.objects.exclude(billed_micros=None).exists()
    return World(pools, (nodes[0], nodes[1]), gpus, other)


def contract(pool_id: int, amount: str, **given_: object) -> None:
    scene.make_rate(pool_id, Decimal(amount), kind="contract", **given_)


def withdraw(pool_id: int, ended_at: datetime) -> None:
    """The contract's price that came late ended long before the node did."""
    for rate in Rate.objects.filter(kind="contract", pool_id=pool_id):
        pricing.end_rate(rate_id=rate.id, ended_at=ended_at, at=IN_APRIL)


def add_late_node(world: World) -> None:
    node_id = make.make_node(
        "late", pool_id=world.pools[0], started_at=TEN + 30 * MINUTE, at=IN_APRIL
    )
    fleet.end_node(node_id=node_id, ended_at=TEN + 150 * MINUTE, reason="given back", at=IN_APRIL)


def add_outage(world: World) -> None:
    outage = fleet.NewOutage(world.nodes[1], "down", TEN + HOUR, TEN + 90 * MINUTE)
    fleet.record_outage(outage=outage, at=IN_APRIL)


def change_owner(world: World) -> None:
    """From 11:00 on, Research's account is the other team's."""
    rule = Rule(priority=1, account="research", team_id=world.other_team)
    add_rule(rule=RuleFact(rule, TEN + HOUR, None), at=IN_APRIL)


def halve_a_node(world: World) -> None:
    fleet.set_capacity(
        node_id=world.nodes[1], units=4, from_at=TEN + 100 * MINUTE, at=TEN + 3 * HOUR
    )


def end_shared_costs(world: World) -> None:
    for cost_id, name in SharedCost.objects.values_list("id", "name"):
        ended_at = TEN + HOUR if name == "support" else TEN + 2 * HOUR
        pricing.end_shared_cost(cost_id=cost_id, ended_at=ended_at, at=IN_APRIL)


def add_commitment(world: World) -> None:
    """The first pool's node was reserved for all of its life."""
    bought = pricing.EnteredCommitment(
        name="reserved",
        kind="reserved",
        currency="USD",
        starts_at=TEN,
        ends_at=TEN + 3 * HOUR,
        pool_id=world.pools[0],
        units=1,
        hourly=Decimal(40),
    )
    pricing.add_commitment(commitment=bought, at=IN_APRIL)


def end_commitments(world: World) -> None:
    for commitment_id in Commitment.objects.values_list("id", flat=True):
        pricing.end_commitment(commitment_id=commitment_id, ended_at=TEN + HOUR, at=IN_APRIL)


def add_plan(world: World) -> None:
    """Hardware that nobody put into the inventory."""
    scene.make_owned_plan("rack", starts_at=TEN, ends_at=TEN + 3 * HOUR)


def end_plans(world: World) -> None:
    for plan_id in OwnedPlan.objects.values_list("id", flat=True):
        pricing.end_owned_plan(plan_id=plan_id, ended_at=TEN + 2 * HOUR, at=IN_APRIL)


def end_late_rules(world: World) -> None:
    """Research's account is Research's again before its job is over."""
    for rule_id in OwnershipRule.objects.filter(priority=1).values_list("id", flat=True):
        end_rule(rule_id=rule_id, ended_at=TEN + 90 * MINUTE, at=IN_APRIL)


def weigh_cores(world: World, weight: str, from_at: datetime) -> None:
    fleet.weigh_cores(
        pool_id=world.pools[1],
        cores_per_node=64,
        weight=Decimal(weight),
        from_at=from_at,
        at=TEN + 3 * HOUR,
    )


def set_share(world: World, share: str, starts_at: datetime) -> None:
    pricing.set_gpu_share(
        pool_id=world.pools[0],
        gpu_share=Decimal(share),
        starts_at=starts_at,
        note="agreed",
        at=TEN + 3 * HOUR,
    )


FACTS: Mapping[str, Callable[[World], object]] = {
    "price": lambda world: contract(
        world.pools[0], "49.16", starts_at=TEN + 20 * MINUTE, ends_at=TEN + 3 * HOUR
    ),
    "no price": lambda world: withdraw(world.pools[0], TEN + HOUR),
    "job": lambda world: scene.make_job(
        "3", world.nodes[0], gpus=3, account="other", from_=TEN + 10 * MINUTE, to=TEN + 50 * MINUTE
    ),
    "long job": lambda world: scene.make_job(
        "4", world.nodes[1], gpus=2, from_=TEN + 30 * MINUTE, to=TEN + 150 * MINUTE
    ),
    "usage": lambda world: scene.make_usage(
        scene.device_ids(world.gpus)[0], [120] * 60, hour=TEN + HOUR
    ),
    "node": add_late_node,
    "outage": add_outage,
    "owner": change_owner,
    "tiers": lambda world: contract(
        world.pools[1], "90", tiers=parsed("1=80; 2=60"), starts_at=TEN, ends_at=TEN + 3 * HOUR
    ),
    "no tiers": lambda world: withdraw(world.pools[1], TEN + 90 * MINUTE),
    "shared": lambda world: scene.make_shared_cost(
        "storage", starts_at=TEN + HOUR, ends_at=TEN + 3 * HOUR
    ),
    "no shared": end_shared_costs,
    "capacity": halve_a_node,
    "commitment": add_commitment,
    "no commitment": end_commitments,
    "plan": add_plan,
    "no plan": end_plans,
    "no owner": end_late_rules,
    "cores": lambda world: weigh_cores(world, "0.125", TEN),
    "no cores": lambda world: weigh_cores(world, "0", TEN + 2 * HOUR),
    "share": lambda world: set_share(world, "0.9", TEN),
    "no share": lambda world: set_share(world, "1", TEN + 90 * MINUTE),
}


STEPS = ("correct", "correct", "reopen", "settle")


def once(happens: Sequence[str]) -> list[str]:
    """A fact comes once."""
    return [each for n, each in enumerate(happens) if each in STEPS or each not in happens[:n]]


happenings = st.lists(st.sampled_from([*FACTS, *STEPS]), min_size=3, max_size=10).map(once)


@settings(max_examples=1, phases=PHASES, suppress_health_check=HELD)
@example(happens=["job", "correct", "usage", "correct", "reopen", "tiers", "correct", "no tiers"])
@example(
    happens=["shared", "commitment", "plan", "cores", "reopen", "no shared", "no plan", "no cores"]
)
@given(happens=happenings)
def test_a_month_costs_what_it_would_had_it_never_been_closed(
    world: World, happens: Sequence[str]
) -> None:
    check(world, happens)


@pytest.mark.proof
@example(happens=["price", "correct", "job", "correct", "settle"])
@example(happens=["price", "tiers", "reopen", "no price", "no tiers"])
@example(
    happens=["shared", "commitment", "plan", "reopen", "no shared", "no commitment", "no plan"]
)
@example(happens=["owner", "cores", "share", "reopen", "no owner", "no cores", "no share"])
@settings(max_examples=tries(500), phases=PHASES, suppress_health_check=HELD)
@given(happens=happenings)
def test_many_months_cost_what_they_would_had_they_never_been_closed(
    world: World, happens: Sequence[str]
) -> None:
    check(world, happens)


def check(world: World, happens: Sequence[str]) -> None:
    """What happened comes to the same in a month that was closed before it as in one that never was."""
    with undone():
        for fact in happens:
            FACTS.get(fact, nothing)(world)
        scene.settle_all(IN_APRIL)
        truth, in_full = by_team("hour"), in_march()
        assert_audited()
    with undone():
        at = shut(IN_APRIL)
        for happening in happens:
            at = do(world, happening, at)
            assert_audited()
        scene.settle_all(at)
        close.post_corrections(month=MARCH, at=at)
        scene.settle_all(at)
        assert_audited()
        assert by_team("corrected") == by_day() == truth
        assert late_facts(MARCH).hours == 0
        close.reopen_month(month=MARCH, reason="to see", person_id=None, at=at)
        scene.settle_all(at)
        assert_audited()
        assert by_team("corrected") == by_team("hour") == truth
        assert in_march() == in_full


def do(world: World, happening: str, at: datetime) -> datetime:
    """A fact comes, late facts are posted, the month is opened and closed; the clock goes on."""
    if happening == "correct":
        close.post_corrections(month=MARCH, at=at)
    elif happening == "reopen":
        close.reopen_month(month=MARCH, reason="a test", person_id=None, at=at)
        at = shut(at)
    elif happening == "settle":
        scene.settle_all(at)
    else:
        FACTS[happening](world)
    return at + HOUR


def shut(at: datetime) -> datetime:
    scene.settle_all(at)
    close.close_month(
        request=close.CloseRequest(month=MARCH, person_id=None, accepted=ACCEPTED), at=at
    )
    return at + HOUR


def nothing(world: World) -> None:
    """What only moves closes is no fact."""


def assert_audited() -> None:
    """It adds up, and no day after the month has anything of it."""
    assert audit_here().places == ()
    assert not LedgerDay.objects.filter(day__gte=date(2026, 4, 1)).exists()


def by_day() -> dict[int, tuple[int, ...]]:
    """Each team's sum of March's days on every basis, whichever month posted it."""
    found = rows(DAYS, {"month": MARCH})
    return {team: tuple(sums) for team, *sums in found if any(sums)}


def by_team(which: str) -> dict[int, tuple[int, ...]]:
    """Each team's sum of March on every basis, with what is posted of it elsewhere or without."""
    found = rows(SUMS, {"month": MARCH, "corrected": which == "corrected"})
    return {team: tuple(sums) for team, *sums in found if any(sums)}


def in_march() -> Counter[tuple[object, ...]]:
    """Every line of March's own, by what it is of and whose, without the ids that it was given."""
    return Counter(rows(LINES, {"month": MARCH}))


SUMS = """
SELECT line.team_id, coalesce(sum(line.list_micros), 0)::int8,
       coalesce(sum(line.contracted_micros), 0)::int8,
       coalesce(sum(line.effective_micros), 0)::int8, coalesce(sum(line.billed_micros), 0)::int8
FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
LEFT JOIN ledger_charge AS original ON original.id = charge.corrects_id AND %(corrected)s
WHERE coalesce(original.posting_month, charge.posting_month) = %(month)s
GROUP BY line.team_id
"""
DAYS = """
SELECT team_id, coalesce(sum(list_micros), 0)::int8, coalesce(sum(contracted_micros), 0)::int8,
       coalesce(sum(effective_micros), 0)::int8, coalesce(sum(billed_micros), 0)::int8
FROM ledger_ledgerteamday WHERE day >= %(month)s GROUP BY team_id
"""
LINES = """
SELECT charge.kind, node.name, charge.part, line.hour, line.team_id, job.raw_id, line.state,
       line.flags, line.evidence, line.unit_milliseconds, line.list_micros, line.contracted_micros,
       line.effective_micros, line.billed_micros
FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
LEFT JOIN fleet_node AS node ON node.id = charge.node_id
LEFT JOIN workloads_job AS job ON job.id = line.job_id
WHERE line.posting_month = %(month)s
"""
