"""Bills, nodes, prices, jobs, owners and closes in any order: the month costs the same whatever came first."""

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db.models import Count, Sum
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from apps.economics.ownership import Rule
from apps.fleet import actions as fleet
from apps.ledger.actions import close
from apps.ledger.actions.exchanging import state_rate
from apps.ledger.models import BilledMatch, Charge, Line
from apps.ledger.queries.tables import rows
from apps.marks.models import ChangedHour
from apps.marks.queries import Pass
from apps.pricing import actions as pricing
from apps.workloads.actions.rules import add_rule
from apps.workloads.queries import RuleFact
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import bill_files, scene
from tests.apps.ledger.bill_files import take_file
from tests.planted import undone
from tests.proofs import tries

pytestmark = pytest.mark.django_db
AUGUST = date(2026, 8, 1)
FIRST = datetime(2026, 8, 31, 18, tzinfo=UTC)
"""Its last six hours: nodes that nobody ends have lived for little more when it is closed."""
HOUR = timedelta(hours=1)
LAST = FIRST + 6 * HOUR
NOW = datetime(2026, 9, 1, 3, tzinfo=UTC)
ACCEPTED = ("unpriced", "unbilled", "unmatched", "unowned", "unobserved", "uninvoiced")
PHASES = (Phase.explicit, Phase.generate)
HELD = [HealthCheck.function_scoped_fixture]


def august(cost: str, **given_: str) -> dict[str, str]:
    """The end of August of gpu-late, in one row of a bill."""
    return bill_files.hour_row(
        cost,
        BillingPeriodStart="2026-08-01T00:00:00Z",
        BillingPeriodEnd="2026-09-01T00:00:00Z",
        ChargePeriodStart=FIRST.isoformat(),
        ChargePeriodEnd=(LAST).isoformat(),
        ResourceId="gpu-late",
        Tags="{}",
        **given_,
    )


def price(
    pool_id: int,
    amount: str,
    starts_at: datetime = FIRST,
    ends_at: datetime | None = None,
    *,
    at: datetime = NOW,
) -> None:
    rate = pricing.EnteredRate(
        kind="list", amount=Decimal(amount), currency="USD", starts_at=starts_at, ends_at=ends_at,
        purchase_option="on_demand", pool_id=pool_id,
    )  # fmt: skip
    pricing.add_rate(rate=rate, at=at)


def effective(**given_: object) -> Decimal:
    found = Line.objects.filter(**given_).aggregate(all=Sum("effective_micros"))["all"]
    return Decimal(found or 0) / 10**6


@dataclass
class Scene:
    """What came so far, and the clock."""

    folder: Path
    teams: tuple[int, int]
    pool_id: int
    at: datetime = NOW
    nodes: dict[str, int] = field(default_factory=dict)
    truth: dict[int, tuple[int, ...]] | None = None

    def bill(self) -> None:
        """Six hours of a node by its name, an hour of one by its number, a disk, in euros."""
        hour = {
            "ChargePeriodStart": (FIRST + 3 * HOUR).isoformat(),
            "ChargePeriodEnd": (FIRST + 4 * HOUR).isoformat(),
            "ResourceId": "i-other",
        }
        found = [
            august("24", BillingCurrency="EUR"),
            august("7", BillingCurrency="EUR") | hour,
            august("3", BillingCurrency="EUR", ServiceCategory="Storage", PricingUnit="GB-Months"),
        ]
        path = bill_files.write(self.folder / "bill.csv", found)
        take_file(path, clock=lambda: self.at)

    def node(self) -> None:
        self._add("gpu-late", FIRST)

    def other(self) -> None:
        self._add("gpu-other", FIRST + 2 * HOUR, provider_id="i-other")

    def end(self) -> None:
        """The node ends at nine; told of one that is not there yet, it comes so."""
        if "gpu-late" not in self.nodes:
            self.node()
        until = FIRST + 3 * HOUR
        fleet.end_node(node_id=self.nodes["gpu-late"], ended_at=until, reason="sold", at=self.at)

    def job(self) -> None:
        if "gpu-late" not in self.nodes:
            self.node()
        scene.make_job("1", self.nodes["gpu-late"], gpus=4, from_=FIRST + HOUR, to=FIRST + 4 * HOUR)

    def price(self) -> None:
        """Ten an hour for two hours, then twenty."""
        price(self.pool_id, "10", FIRST, FIRST + 2 * HOUR, at=self.at)
        price(self.pool_id, "20", FIRST + 2 * HOUR, at=self.at)

    def exchange(self) -> None:
        rate = pricing.NewExchangeRate(AUGUST, "EUR", "USD", Decimal("1.25"))
        state_rate(rate=rate, at=self.at)

    def owner(self) -> None:
        rule = Rule(priority=1, account="research", team_id=self.teams[1])
        add_rule(rule=RuleFact(rule, FIRST + 2 * HOUR, None), at=self.at)

    def settle(self) -> None:
        scene.settle_all(self.at)

    def close(self) -> None:
        self.settle()
        with suppress(close.MonthNotReady):
            asked = close.CloseRequest(month=AUGUST, person_id=None, accepted=ACCEPTED)
            close.close_month(request=asked, at=self.at)

    def correct(self) -> None:
        with suppress(close.MonthNotClosed):
            close.post_corrections(month=AUGUST, at=self.at)

    def _add(self, name: str, starts_at: datetime, **given_: str) -> None:
        if name not in self.nodes:
            node = fleet.NewNode(
                name=name, pool_id=self.pool_id, started_at=starts_at, units=8,
                ended_at=None, **given_,
            )  # fmt: skip
            self.nodes[name] = fleet.add_node(node=node, at=self.at)
            if name == "gpu-other":
                fleet.end_node(node_id=self.nodes[name], ended_at=LAST, reason="sold", at=self.at)


BEFORE = ("exchange", "node", "end", "price", "job")
FACTS = ("bill", "node", "other", "end", "job", "price", "exchange", "owner")
STEPS = ("settle", "settle", "close", "correct")
orders = st.permutations([*FACTS, *STEPS])


@pytest.fixture
def world(tmp_path: Path) -> Scene:
    """Two teams, a pool without nodes and prices, an account that is Research's."""
    make.make_organisation()
    teams = make.make_team("Research"), make.make_team("Other")
    scene.make_rule("research", teams[0])
    pool_id = make.make_pool("late", provider="azure", instance_type="Standard_ND96")
    # Without any, a bill in euros could never be converted.
    earlier = pricing.NewExchangeRate(date(2026, 7, 1), "EUR", "USD", Decimal(1))
    state_rate(rate=earlier, at=NOW)
    return Scene(tmp_path, teams, pool_id)


def happen(world: Scene, order: Sequence[str]) -> dict[int, tuple[int, ...]]:
    """What the teams' August comes to, with its corrections, after these happened in this order."""
    with undone(), tempfile.TemporaryDirectory() as folder:
        this = Scene(Path(folder), world.teams, world.pool_id)
        for each in order:
            getattr(this, each)()
            this.at += timedelta(minutes=1)
        this.settle()
        this.correct()
        this.settle()
        assert audit_here().places == ()
        return by_team()


def check(world: Scene, order: Sequence[str]) -> None:
    if world.truth is None:
        world.truth = happen(world, FACTS)
    assert happen(world, order) == world.truth


@settings(max_examples=1, phases=PHASES, suppress_health_check=HELD)
@example(order=["bill", "settle", "node", "price", "settle", "end", "exchange", "close", "owner"])
@example(order=["bill", "close", "node", "correct", "price", "end", "correct", "exchange", "job"])
@example(order=["price", "node", "exchange", "close", "end", "settle", "bill", "correct", "other"])
@given(order=orders)
def test_a_month_costs_the_same_whatever_came_first(world: Scene, order: Sequence[str]) -> None:
    check(world, [*order, *(each for each in FACTS if each not in order)])


@pytest.mark.proof
@settings(max_examples=tries(300), phases=PHASES, suppress_health_check=HELD)
@given(order=orders)
def test_many_months_cost_the_same_whatever_came_first(world: Scene, order: Sequence[str]) -> None:
    check(world, order)


def test_a_bill_before_its_node_is_the_nodes_as_soon_as_it_is_settled(world: Scene) -> None:
    path = bill_files.write(world.folder / "bill.csv", [august("24")])
    take_file(path, clock=lambda: NOW)
    call_command("reconcile_bills")
    scene.settle_all(NOW)
    assert effective(charge__kind="unmatched") == 24
    price(world.pool_id, "10")
    world.node()
    fleet.end_node(node_id=world.nodes["gpu-late"], ended_at=LAST, reason="sold", at=NOW)
    scene.settle_all(NOW)
    assert effective() == effective(charge__kind="node_hour") == 24
    assert not ChangedHour.objects.exists()
    call_command("reconcile_bills")
    assert not ChangedHour.objects.exists()


def test_two_lives_of_one_name_share_what_names_it_by_time(world: Scene) -> None:
    price(world.pool_id, "10")
    for starts, ends in ((0, 2), (3, 6)):
        node = fleet.NewNode(
            name="gpu-late", pool_id=world.pool_id, units=8, started_at=FIRST + starts * HOUR,
            ended_at=FIRST + ends * HOUR, end_reason="set up anew",
        )  # fmt: skip
        fleet.add_node(node=node, at=NOW)
    hour = {
        "ChargePeriodStart": (FIRST + 4 * HOUR).isoformat(),
        "ChargePeriodEnd": (FIRST + 5 * HOUR).isoformat(),
    }
    between = {
        "ChargePeriodStart": (FIRST + 2 * HOUR).isoformat(),
        "ChargePeriodEnd": (FIRST + 3 * HOUR).isoformat(),
    }
    disk = {"ServiceCategory": "Storage", "PricingUnit": "GB-Months"}
    found = [august("50"), august("2") | hour, august("1") | between, august("44", **disk)]
    take_file(bill_files.write(world.folder / "b.csv", found), clock=lambda: NOW)
    scene.settle_all(NOW)
    of_nodes = Charge.objects.filter(kind="node_hour")
    sums = of_nodes.values("node__period").annotate(all=Sum("effective_micros"))
    assert sorted(each["all"] for each in sums) == [20_000_000, 32_000_000]
    assert effective(charge__kind="unmatched") == 1
    assert effective(charge__kind="service") == 44
    assert effective() == 97
    call_command("add_bill_rule", "--resource-id", "gpu-l*", "--node", "gpu-late")
    scene.settle_all(NOW)
    assert {each[:4] for each in BilledMatch.objects.values_list("matched_by", flat=True)} == {
        "rule"
    }
    assert sorted(each["all"] for each in sums.all()) == [20_000_000, 32_000_000]


@pytest.mark.parametrize("is_settled_first", [True, False])
def test_an_hour_of_two_lives_of_one_name_is_billed_once(
    world: Scene, *, is_settled_first: bool
) -> None:
    """A node that was set up anew within an hour: the hour's row goes over both by what each cost."""
    price(world.pool_id, "10")
    anew = FIRST + timedelta(minutes=40)
    for starts, ends in ((FIRST, anew), (anew, FIRST + 2 * HOUR)):
        node = fleet.NewNode(
            name="gpu-late", pool_id=world.pool_id, units=8, started_at=starts, ended_at=ends,
            end_reason="set up anew",
        )  # fmt: skip
        fleet.add_node(node=node, at=NOW)
    hours = [
        {
            "ChargePeriodStart": (FIRST + each * HOUR).isoformat(),
            "ChargePeriodEnd": (FIRST + (each + 1) * HOUR).isoformat(),
        }
        for each in (0, 1)
    ]
    disk = {"ServiceCategory": "Storage", "PricingUnit": "GB-Months"} | hours[0]
    found = [*(august("30") | hour for hour in hours), august("6") | disk]
    if is_settled_first:
        scene.settle_all(NOW)
    take_file(bill_files.write(world.folder / "b.csv", found), clock=lambda: NOW)
    scene.settle_all(NOW)
    of_nodes = Charge.objects.filter(kind="node_hour")
    sums = of_nodes.values("node__period").annotate(all=Sum("effective_micros"))
    # By what was estimated of each, which is rounded to micro-units.
    assert sorted(round(each["all"] / 100) for each in sums) == [200_000, 400_000]
    assert effective(charge__kind="service") == 6
    assert effective() == 66


@pytest.mark.parametrize(
    ("provider_id", "resource"),
    [
        ("aws:///us-east-1a/i-0abc1234def567890", "i-0abc1234def567890"),
        ("i-0abc1234def567890", "arn:aws:ec2:us-east-1:1:instance/i-0abc1234def567890"),
        (
            "gce://p/us-central1-a/gke-1",
            "//compute.googleapis.com/projects/p/zones/us-central1-a/instances/gke-1",
        ),
        (
            "azure:///subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/a",
            "/subscriptions/S/resourcegroups/RG/providers/microsoft.compute/virtualmachines/a",
        ),
    ],
)
def test_a_node_is_found_however_its_cluster_and_its_bill_spell_it(
    world: Scene, provider_id: str, resource: str
) -> None:
    world._add("gpu-other", FIRST, provider_id=provider_id)
    row = august("24") | {"ResourceId": resource}
    take_file(bill_files.write(world.folder / "b.csv", [row]), clock=lambda: NOW)
    scene.settle_all(NOW)
    assert effective(charge__kind="node_hour") == effective() == 24


def test_a_bill_of_a_month_that_was_closed_before_it_waits_as_its_corrections(world: Scene) -> None:
    world.node()
    fleet.end_node(node_id=world.nodes["gpu-late"], ended_at=LAST, reason="sold", at=NOW)
    price(world.pool_id, "10")
    world.close()
    later = NOW + HOUR
    told = effective(posting_month=AUGUST)
    take_file(bill_files.write(world.folder / "b.csv", [august("24")]), clock=lambda: later)
    scene.settle_all(later)
    assert (told, effective()) == (60, 60)
    posted = close.post_corrections(month=AUGUST, at=later)
    assert posted.effective_micros == -36_000_000
    scene.settle_all(later)
    assert (effective(posting_month=AUGUST), effective()) == (60, 24)
    assert audit_here().places == ()


@pytest.mark.parametrize(
    "late", [("bill", "owner"), ("owner", "correct", "bill"), ("bill", "correct", "owner")]
)
def test_a_late_bill_and_a_late_owner_move_what_is_billed_in_every_line_or_in_none(
    world: Scene, late: Sequence[str]
) -> None:
    with undone():
        for each in (*BEFORE, "bill", "owner", "settle"):
            getattr(world, each)()
        never_closed = by_team()
    assert sum(sums[3] for sums in never_closed.values()) == 42_500_000
    world.nodes.clear()
    for each in (*BEFORE, "close", *late, "correct", "settle"):
        getattr(world, each)()
        world.at += timedelta(minutes=1)

    lines = Line.objects.exclude(charge__corrects=None)
    told = lines.values("charge").annotate(all=Count("pk"), known=Count("billed_micros"))
    assert not [each for each in told if each["known"] not in (0, each["all"])]
    assert by_team() == never_closed
    assert audit_here().places == ()
    close.reopen_month(month=AUGUST, reason="to see", person_id=None, at=world.at)
    world.settle()
    assert audit_here().places == ()
    assert by_team() == never_closed


def test_a_price_marks_the_hours_of_its_own_pools_and_no_other(world: Scene) -> None:
    other = make.make_pool("other")
    world.node()
    ChangedHour.objects.all().delete()
    price(other, "1")
    make.make_rate(provider="azure", instance_type="Standard_ND40", at=NOW)
    assert not ChangedHour.objects.filter(pass_id=Pass.CHARGE).exists()
    price(world.pool_id, "3", FIRST + HOUR, FIRST + 3 * HOUR)
    marked = ChangedHour.objects.filter(pass_id=Pass.CHARGE).values_list("hour", flat=True)
    assert sorted(marked) == [FIRST + HOUR, FIRST + 2 * HOUR]


def test_a_list_price_on_demand_marks_pools_that_are_bought_at_a_discount(world: Scene) -> None:
    spot = make.make_pool("spot", purchase_option="spot")
    make.make_node("s-1", pool_id=spot, started_at=FIRST, at=FIRST + 2 * HOUR)
    ChangedHour.objects.all().delete()
    make.make_rate(at=FIRST + 2 * HOUR)
    marked = ChangedHour.objects.filter(pass_id=Pass.CHARGE)
    assert sorted(marked.values_list("hour", flat=True)) == [FIRST, FIRST + HOUR]


def test_a_team_that_comes_after_the_bill_that_names_it_owns_what_is_tagged_so(
    world: Scene,
) -> None:
    tagged = august("5", ServiceCategory="Storage", PricingUnit="GB-Months") | {
        "ResourceId": "",
        "Tags": '{"team": "Vision"}',
    }
    take_file(bill_files.write(world.folder / "b.csv", [tagged]), clock=lambda: NOW)
    scene.settle_all(NOW)
    assert set(Line.objects.values_list("team_id", flat=True)) == {scene.platform()}
    vision = make.make_team("Vision")
    scene.settle_all(NOW)
    assert set(Line.objects.values_list("team_id", flat=True)) == {vision}


def by_team() -> dict[int, tuple[int, ...]]:
    """Each team's sum of August on every basis, with what is posted of it elsewhere."""
    return {team: tuple(sums) for team, *sums in rows(SUMS, {"month": AUGUST}) if any(sums)}


SUMS = """
SELECT line.team_id, coalesce(sum(line.list_micros), 0)::int8,
       coalesce(sum(line.contracted_micros), 0)::int8,
       coalesce(sum(line.effective_micros), 0)::int8, coalesce(sum(line.billed_micros), 0)::int8
FROM ledger_line AS line JOIN ledger_charge AS charge ON charge.id = line.charge_id
LEFT JOIN ledger_charge AS original ON original.id = charge.corrects_id
WHERE coalesce(original.posting_month, charge.posting_month) = %(month)s
GROUP BY line.team_id
"""
