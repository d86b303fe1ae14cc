"""How much of a node's price rides on its GPUs: the rest is the pool owner's, and nothing is lost."""

import csv
import json
from datetime import datetime
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Sum

from apps.ledger.models import Charge, ChargePart, ChargePiece, Line
from apps.ledger.queries.gpu_share import gpu_share_preview
from apps.marks.queries import Pass, hours_marked
from apps.pricing import actions
from apps.pricing.models import NodePricePolicy
from apps.pricing.queries.price_policies import gpu_shares, policies_of_pool
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.ledger import scene
from tests.apps.ledger.test_reconcile import assert_conserved, deliver, row

pytestmark = pytest.mark.django_db
HOUR, TEN, LATER = scene.HOUR, scene.TEN, scene.LATER
WHOLE = 98_320_000
BASES = ("list_micros", "contracted_micros", "effective_micros", "billed_micros")


@pytest.fixture
def pool_id() -> int:
    """A pool of team Hardware; gpu-01 (i-01 at its provider) of eight GPUs, four of them held."""
    make.make_organisation()
    pool_id = make.make_pool("h100", owner_team_id=make.make_team("Hardware"))
    scene.make_rate(pool_id)
    node_id = make.make_node(
        "gpu-01", pool_id=pool_id, provider_id="i-01", started_at=TEN, at=TEN + 2 * HOUR, units=8
    )
    gpus = scene.make_gpus(node_id)
    scene.make_rule("research", make.make_team("Research"))
    scene.make_job("1", node_id, gpus=4, uuids=gpus[:4], from_=TEN, to=TEN + 2 * HOUR)
    return pool_id


def set_share(pool_id: int, share: str, starts_at: datetime = TEN - HOUR, **given: Any) -> int:
    """How much of the price rides on GPUs."""
    values = {"note": "as agreed", "at": TEN + 2 * HOUR} | given
    return actions.set_gpu_share(
        pool_id=pool_id, gpu_share=Decimal(share), starts_at=starts_at, **values
    )


def settle(hours: int = 1) -> None:
    scene.settle(ends_at=TEN + hours * HOUR)


def carried(hour: datetime = TEN) -> dict[str, int]:
    """What each team carries of an hour, in micro-units."""
    found = (
        Line.objects.filter(hour=hour).values_list("team__name").annotate(Sum("effective_micros"))
    )
    return dict(found.order_by("team__name"))


def parts(hour: datetime = TEN) -> dict[int, int | None]:
    """The effective amount of each part of the node-hour."""
    found = Charge.objects.filter(hour=hour, kind="node_hour")
    return dict(found.values_list("part", "effective_micros"))


def assert_adds_up() -> None:
    assert_conserved()
    found = audit_here(TEN, TEN + 2 * HOUR)
    assert (found.places, found.adds_up) == ((), True)


def test_without_a_policy_all_of_a_price_rides_on_gpus(pool_id: int) -> None:
    settle()
    assert parts() == {ChargePart.PRICED: WHOLE}
    assert carried() == {"Hardware": WHOLE // 2, "Research": WHOLE // 2}


def test_what_does_not_ride_on_gpus_is_a_charge_of_the_pools_owner(pool_id: int) -> None:
    set_share(pool_id, "0.75")
    settle()
    assert parts() == {ChargePart.PRICED: WHOLE * 3 // 4, ChargePart.HOST: WHOLE // 4}
    # Half of three quarters was held; the other half, idle, and the host are the owner's.
    assert carried() == {"Hardware": WHOLE // 8 * 5, "Research": WHOLE // 8 * 3}
    host = Charge.objects.get(part=ChargePart.HOST)
    line = Line.objects.get(charge=host)
    assert (line.unit_milliseconds, line.state, line.settlement_id) == (0, None, None)
    assert (line.flags, line.evidence, line.job_id) == (0, 0, None)
    assert host.reason == "25 % of its nodes' price does not ride on their GPUs"
    assert_adds_up()


def test_nothing_may_ride_on_gpus_and_their_time_is_told_all_the_same(pool_id: int) -> None:
    set_share(pool_id, "0")
    settle()
    assert parts() == {ChargePart.PRICED: 0, ChargePart.HOST: WHOLE}
    assert carried() == {"Hardware": WHOLE, "Research": 0}
    assert Line.objects.aggregate(Sum("unit_milliseconds"))["unit_milliseconds__sum"] == 28_800_000
    assert_adds_up()


def test_without_an_owner_the_hosts_part_is_the_platforms() -> None:
    make.make_organisation()
    pool_id = make.make_pool("h100")
    scene.make_priced_node(pool_id=pool_id)
    set_share(pool_id, "0.9")
    settle()
    line = Line.objects.get(charge__part=ChargePart.HOST)
    assert (line.team_id, line.effective_micros) == (scene.platform(), WHOLE // 10)


def test_the_bills_amounts_are_divided_like_the_estimate(pool_id: int, tmp_path: Path) -> None:
    set_share(pool_id, "0.7")
    deliver(tmp_path, [row("80.000001")])
    assert parts() == {ChargePart.PRICED: 56_000_001, ChargePart.HOST: 24_000_000}
    told = Charge.objects.filter(hour=TEN).aggregate(
        *(Sum(basis) for basis in (*BASES, "estimated_micros"))
    )
    assert set(told.values()) == {80_000_001, WHOLE}
    assert set(Charge.objects.filter(hour=TEN).values_list("status", flat=True)) == {"reconciled"}
    assert_adds_up()


def test_what_a_commitment_covers_is_divided_like_the_rest(pool_id: int) -> None:
    set_share(pool_id, "0.75")
    commitment_id = scene.make_commitment(units=6, unit="gpu", hourly=Decimal("30.000002"))
    settle()
    sums = Charge.objects.filter(kind="node_hour").aggregate(*(Sum(basis) for basis in BASES[:3]))
    # Six of eight GPU-hours: 30.000002, and a quarter of the hour at the rate.
    assert sums == {
        "list_micros__sum": WHOLE,
        "contracted_micros__sum": WHOLE,
        "effective_micros__sum": 30_000_002 + WHOLE // 4,
    }
    host = ChargePiece.objects.filter(charge__part=ChargePart.HOST).order_by("start_ms")
    assert list(host.values_list("commitment_id", flat=True)) == [commitment_id, None]
    assert_adds_up()


def test_a_node_hour_without_a_price_has_no_part_of_the_hosts() -> None:
    make.make_organisation()
    pool_id = make.make_pool("h100")
    make.make_node("gpu-01", pool_id=pool_id, started_at=TEN, at=LATER, units=8)
    set_share(pool_id, "0.5")
    settle()
    assert parts() == {ChargePart.UNPRICED: None}


def test_a_policy_holds_from_its_hour_on_and_ends_the_one_before(pool_id: int) -> None:
    first = set_share(pool_id, "0.75")
    settle(2)
    second = set_share(pool_id, "1", TEN + HOUR, note="back again")
    assert hours_marked(Pass.CHARGE, TEN + 2 * HOUR, 10) == [TEN + HOUR]
    settle(2)
    assert parts(TEN) == {ChargePart.PRICED: WHOLE * 3 // 4, ChargePart.HOST: WHOLE // 4}
    assert parts(TEN + HOUR) == {ChargePart.PRICED: WHOLE}
    told = [(each.id, each.gpu_share, each.ends_at) for each in policies_of_pool(pool_id)]
    assert told == [(second, 1, None), (first, Decimal("0.75"), TEN + HOUR)]
    assert (gpu_shares(TEN), gpu_shares(TEN + HOUR)) == ({pool_id: 750_000}, {})
    assert_adds_up()


def test_a_policy_said_late_holds_until_the_one_after_it(pool_id: int) -> None:
    set_share(pool_id, "0.5", TEN + HOUR)
    set_share(pool_id, "0.9", TEN)
    spans = NodePricePolicy.objects.order_by("period").values_list("gpu_share", "period__endswith")
    assert list(spans) == [(Decimal("0.9"), TEN + HOUR), (Decimal("0.5"), None)]


def test_the_same_moment_said_again_is_the_same_policy(pool_id: int) -> None:
    first = set_share(pool_id, "0.5")
    assert set_share(pool_id, "0.6") == first
    assert NodePricePolicy.objects.get().gpu_share == Decimal("0.6")


@pytest.mark.parametrize("wrong", ["1.01", "-0.1", "NaN", "0.1234567"])
def test_what_is_no_share_is_refused(pool_id: int, wrong: str) -> None:
    with pytest.raises(actions.GpuShareNotUnderstood, match="gpu_share"):
        set_share(pool_id, wrong)


def preview(pool_id: int, share: str, starts_at: datetime = TEN) -> tuple[int, int, list[int]]:
    """Hours, what goes to the host's part, and what each team carries then."""
    found = gpu_share_preview(
        pool_id=pool_id, gpu_share=Decimal(share), starts_at=starts_at, at=LATER
    )
    return found.hours, found.to_owner_micros, [each.after_micros for each in found.teams]


@pytest.mark.parametrize("before", ["1", "0.75", "0"])
def test_the_preview_says_what_saving_makes_true(pool_id: int, before: str) -> None:
    set_share(pool_id, before)
    settle(2)
    hours, _, after = preview(pool_id, "0.6")
    set_share(pool_id, "0.6", TEN)
    settle(2)
    assert hours == 2
    by_team = Line.objects.values("team_id").annotate(Sum("effective_micros")).order_by("team_id")
    found = [each["effective_micros__sum"] for each in by_team]
    assert all(abs(told - is_so) <= 4 for told, is_so in zip(after, found, strict=True))
    assert sum(after) == 2 * WHOLE


def test_the_preview_ends_where_a_later_policy_begins(pool_id: int) -> None:
    set_share(pool_id, "0.5", TEN + HOUR)
    settle(2)
    assert preview(pool_id, "0.75")[:2] == (1, WHOLE // 4)
    assert preview(pool_id, "1", TEN + HOUR)[:2] == (1, -WHOLE // 2)


def command(*given: str) -> str:
    out = StringIO()
    call_command("set_gpu_share", *given, "--from", (TEN - HOUR).isoformat(), stdout=out)
    return out.getvalue()


def test_the_command_says_what_moves_and_a_preview_changes_nothing(pool_id: int) -> None:
    settle(2)
    said = command("h100", "0.75", "--preview")
    assert said.splitlines()[0].startswith("2 hours of open months would move; the host's part:")
    assert "Research: −$24.58" in said
    assert not NodePricePolicy.objects.exists()
    told = json.loads(command("h100", "0.75", "--json"))
    assert (told["hours"], told["to_owner_micros"]) == (2, WHOLE // 2)
    assert NodePricePolicy.objects.get().id == told["id"]


@pytest.mark.parametrize("given", [("nowhere", "0.5"), ("h100", "2"), ("h100", "most")])
def test_the_command_names_what_it_does_not_understand(
    pool_id: int, given: tuple[str, str]
) -> None:
    with pytest.raises(CommandError, match=r"nowhere|between 0 and 1|not a share"):
        command(*given)


def test_the_hosts_part_is_in_focus_files_with_identities_that_hold(
    pool_id: int, tmp_path: Path
) -> None:
    set_share(pool_id, "0.7")
    settle(2)
    out = tmp_path / "march.csv"
    asked = ("--month", "2026-03", "--version", "1.2", "--out", str(out))
    call_command("export_focus", *asked)
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert sum(Decimal(row["EffectiveCost"]) for row in rows) == Decimal(2 * WHOLE) / 10**6
    priced = [row for row in rows if row["ListUnitPrice"]]
    assert priced
    for told in priced:
        product = Decimal(told["ListUnitPrice"]) * Decimal(told["PricingQuantity"])
        assert product == Decimal(told["ListCost"])
