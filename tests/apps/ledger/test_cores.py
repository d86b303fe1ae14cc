"""CPU work costs its team what it held: cores are charged as GPUs are, and the ledger still adds up."""

from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.economics.run_time import Bucket
from apps.economics.states import Flag, State
from apps.fleet import actions as fleet
from apps.fleet import queries
from apps.fleet.models import SharePolicy
from apps.ledger.models import Charge, ChargeKind, LedgerDay, Line
from apps.ledger.queries import Calendar, window_of
from apps.ledger.queries.cube import CubeQuestion
from apps.ledger.queries.cube.states import state_sums
from apps.pricing import actions as pricing
from apps.unit_economics.models import RunFigures
from apps.workloads.models import Allocation
from controlplane.ledger_audit import audit_here
from tests import make
from tests.apps.console.people import signed_in
from tests.apps.console.test_costs import text_of
from tests.apps.ledger import scene
from tests.apps.unit_economics import run_scene
from tests.rest import with_token

pytestmark = pytest.mark.django_db

TWO_HOURS = scene.TEN + 2 * scene.HOUR


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()


@pytest.fixture
def research() -> int:
    team_id = make.make_team("Research")
    scene.make_rule("research", team_id)
    return team_id


def make_core_node(name: str = "cpu-01", *, cores: int = 32, **given: object) -> int:
    """A node of 32 cores at 0.05 a core-hour, alive since 10:00."""
    pool_id = make.make_pool(f"pool of {name}", unit="core", gpus_per_node=cores, gpu_model="")
    scene.make_rate(pool_id, Decimal("0.05") * cores)
    values = {"pool_id": pool_id, "started_at": scene.TEN, "at": scene.LATER, "units": cores}
    return make.make_node(name, **values | given)


def hold_cores(job_id: int, cores: Fraction | int | None) -> None:
    """Say how many cores the job holds on its node; None: nobody knows."""
    count = None if cores is None else Fraction(cores)
    Allocation.objects.filter(job_id=job_id).update(
        cpus_numerator=None if count is None else count.numerator,
        cpus_denominator=1 if count is None else count.denominator,
    )


def make_core_job(raw_id: str, node_id: int, cores: Fraction | int | None, **given: object) -> int:
    job_id = scene.make_job(raw_id, node_id, gpus=0, **{"to": TWO_HOURS} | given)
    hold_cores(job_id, cores)
    return job_id


def carried(ends_at: datetime = TWO_HOURS) -> dict[tuple[int, State, Flag], tuple[int, int]]:
    """(team, state, flags) → (unit-hours, effective micro-units), of all settled hours."""
    scene.settle(ends_at=ends_at)
    sums: dict[tuple[int, State, Flag], tuple[int, int]] = {}
    for line in Line.objects.all():
        key = (line.team_id, State(line.state), Flag(line.flags))
        hours, micros = sums.get(key, (0, 0))
        hours += line.unit_milliseconds // 3_600_000
        sums[key] = (hours, micros + (line.effective_micros or 0))
    assert audit_here().adds_up
    return sums


def test_half_of_a_nodes_cores_for_two_hours_is_half_of_its_cost(research: int) -> None:
    make_core_job("1", make_core_node(), 16)

    assert carried() == {
        (research, State.UNOBSERVED, Flag(0)): (32, 1_600_000),
        (scene.platform(), State.UNALLOCATED, Flag(0)): (32, 1_600_000),
    }


def test_a_job_whose_cores_nobody_knows_leaves_the_rest_unknown_and_never_free(
    research: int,
) -> None:
    node_id = make_core_node()
    make_core_job("1", node_id, 8)
    make_core_job("2", node_id, None, to=scene.TEN + scene.HOUR)

    assert carried() == {
        (research, State.UNOBSERVED, Flag(0)): (16, 800_000),
        (scene.platform(), State.UNOBSERVED, Flag.UNCOUNTED): (24, 1_200_000),
        (scene.platform(), State.UNALLOCATED, Flag(0)): (24, 1_200_000),
    }


def test_gpus_carry_the_cost_of_their_node_unless_cores_are_weighed(research: int) -> None:
    pool_id = make.make_pool("h100")
    node_id = scene.make_priced_node(pool_id=pool_id)
    job = scene.make_job("1", node_id, gpus=4, to=TWO_HOURS)
    hold_cores(job, 32)
    make_core_job("2", node_id, 64)
    assert carried() == {
        (research, State.UNOBSERVED, Flag.UNPINNED): (8, 98_320_000),
        (scene.platform(), State.UNALLOCATED, Flag(0)): (8, 98_320_000),
    }

    # 8 GPUs and 128 cores at 1/16 of a GPU: half of the cost rides on either.
    fleet.weigh_cores(
        pool_id=pool_id,
        cores_per_node=128,
        weight=Decimal("0.0625"),
        from_at=scene.TEN,
        at=scene.LATER,
    )

    assert carried() == {
        (research, State.UNOBSERVED, Flag.UNPINNED): (8, 49_160_000),
        (scene.platform(), State.UNALLOCATED, Flag(0)): (8, 49_160_000),
        (research, State.UNOBSERVED, Flag.CORES): (0, 73_740_000),
        (scene.platform(), State.UNALLOCATED, Flag.CORES): (0, 24_580_000),
    }


SACCT = """\
JobIDRaw|Cluster|Partition|Account|User|Submit|Start|End|ElapsedRaw|State|AllocTRES|NodeList
1|atlas|gpu|research|ada|2026-03-02T10:00:00|2026-03-02T10:00:00|2026-03-02T12:00:00|7200|COMPLETED|cpu=8,gres/gpu=4,node=1|gpu-01
2|atlas|cpu|research|ada|2026-03-02T10:00:00|2026-03-02T10:00:00|2026-03-02T12:00:00|7200|COMPLETED|cpu=16,node=1|cpu-01
3|atlas|cpu|biology|ben|2026-03-02T10:00:00|2026-03-02T11:00:00|2026-03-02T12:00:00|3600|FAILED|cpu=48,node=2|cpu-[01-02]
"""


def test_a_mixed_slurm_cluster_is_shown_what_its_cpu_partitions_cost(
    research: int, tmp_path: Path
) -> None:
    biology = make.make_team("Biology")
    scene.make_rule("biology", biology)
    cluster = make.make_cluster("atlas")
    scene.make_priced_node("gpu-01", cluster_id=cluster)
    for name in ("cpu-01", "cpu-02"):
        make_core_node(name, cluster_id=cluster)
    (tmp_path / "jobs.psv").write_text(SACCT)
    call_command("import_sacct", str(tmp_path / "jobs.psv"))

    assert carried() == {
        # Half of 2 × 98.32 for the GPUs; 16 cores while nobody else wants them.
        (research, State.UNOBSERVED, Flag.UNPINNED): (8, 98_320_000),
        (research, State.UNOBSERVED, Flag(0)): (16, 800_000),
        # 24 of 32 cores of either node for an hour; beside the other's 16 they are too many.
        (research, State.UNOBSERVED, Flag.CONTESTED): (12, 640_000),
        (biology, State.UNOBSERVED, Flag.CONTESTED | Flag.DIVIDED_EVENLY): (19, 960_000),
        (biology, State.UNOBSERVED, Flag.DIVIDED_EVENLY): (24, 1_200_000),
        (scene.platform(), State.UNALLOCATED, Flag(0)): (8 + 16 + 32 + 8, 98_320_000 + 2_800_000),
    }
    held = LedgerDay.objects.filter(unit="core", team_id=biology)
    assert sum(day.held_milliseconds for day in held) == 43.2 * 3_600_000


def test_cores_are_weighed_from_an_hour_on_and_the_hours_before_keep_their_policy() -> None:
    pool_id = make.make_pool("h100")
    call_command("weigh_cores", "h100", "0.05", "--cores", "96", "--from", "2026-03-02T10:30Z")

    first, second = SharePolicy.objects.filter(pool_id=pool_id).order_by("version")
    assert first.period.upper == second.period.lower == scene.TEN
    assert (second.cores_per_node, second.core_weight) == (96, Decimal("0.05"))
    (told,) = with_token("read").get("pools").json()["results"]
    assert (told["share_policy_version"], told["cores_per_node"]) == (2, 96)
    assert told["core_weight"] == "0.050000"


@pytest.mark.parametrize(
    ("pool", "weight", "cores", "match"),
    [
        ("h100", "-1", "96", "weight of 0 or more"),
        ("h100", "0.05", "0", "how many cores"),
        ("h100", "0.0000001", "96", "six decimals"),
        ("cpu", "0.05", "96", "carry all of its cost"),
    ],
)
def test_weights_that_say_nothing_are_refused(
    pool: str, weight: str, cores: str, match: str
) -> None:
    make.make_pool("h100")
    make.make_pool("cpu", unit="core")
    with pytest.raises(CommandError, match=match):
        call_command("weigh_cores", pool, "--cores", cores, "--from", "2026-03-02", "--", weight)


def share_by_time() -> tuple[dict[int | None, int | None], str]:
    """Job → micro-units of a shared dollar of the hour, and how that came to be."""
    cost = pricing.EnteredSharedCost(
        name="storage",
        amount=Decimal(744),
        currency="USD",
        method="by_unit_time",
        starts_at=scene.TEN,
    )
    pricing.add_shared_cost(cost=cost, at=scene.LATER)
    scene.settle()
    charge = Charge.objects.get(kind=ChargeKind.SHARED, hour=scene.TEN)
    found = {line.job_id: line.effective_micros for line in Line.objects.filter(charge=charge)}
    return found, charge.spread_method


def test_core_time_is_never_added_to_gpu_time_when_a_cost_is_shared_by_time() -> None:
    job = scene.make_job("1", scene.make_priced_node(), gpus=2)
    make_core_job("2", make_core_node(), 32)

    assert share_by_time() == ({job: 250_000, None: 750_000}, "by GPU time")


def test_where_no_gpu_was_core_time_shares_a_cost_and_the_charge_says_so() -> None:
    job = make_core_job("1", make_core_node(), 8)

    found, reason = share_by_time()

    assert found == {job: 250_000, None: 750_000}
    assert reason == "by GPU time; by core time, as no GPU was there"


def test_pages_and_rest_call_core_time_by_its_name(research: int) -> None:
    node_id = make_core_node()
    job = make_core_job("1", node_id, 16, account="drift")
    carried()
    finance = signed_in("finance")

    line = Line.objects.filter(job_id=job).first()
    page = text_of(finance.get(f"/costs/lines/{line.posting_month:%Y-%m}/{line.id}"))
    assert "Job 1, 2 March 2026, 10:00 UTC: 16.0 core-hours unobserved, $0.80." in page
    assert "16 cores, 2 March 2026" in page
    # What no agent could have seen is not missing.
    assert "while no agent said" not in text_of(finance.get("/", {"window": "2026-03-02"}))
    (unowned,) = with_token("read").get("unowned", window="2026-03-02").json()["results"]
    assert (unowned["gpu_hours"], unowned["cost"]["amount"]) == (0.0, "1.600000")
    costs = with_token("read").get("costs", window="2026-03-02").json()
    assert costs["totals"]["core_hours"] == 64.0


def test_the_fleet_is_told_in_gpus_and_a_node_of_cores_in_cores(research: int) -> None:
    now = datetime.now(UTC)
    since = now.replace(minute=0, second=0, microsecond=0) - 3 * scene.HOUR
    gpus = make.make_node("gpu-01", started_at=since, at=now)
    node_id = make_core_node(started_at=since, at=now)
    scene.make_job("1", gpus, gpus=4, from_=since, to=now + scene.HOUR)
    make_core_job("2", node_id, 24, from_=since, to=now + scene.HOUR)
    make_core_job("3", node_id, None, from_=since, to=now + scene.HOUR)
    scene.settle(now, starts_at=since, ends_at=now)
    finance = signed_in("finance")

    assert "50 % of 8 GPUs are held now" in text_of(finance.get("/fleet"))
    of_cores = text_of(finance.get("/fleet", {"pool": "pool of cpu-01"}))
    assert "75 % of 32 cores of pool of cpu-01 are held now." in of_cores
    page = text_of(finance.get(f"/fleet/nodes/{node_id}"))
    assert "24 of 32 cores of cpu-01 are held now" in page
    rows = finance.get(f"/fleet/nodes/{node_id}.csv?table=holders").content.decode().splitlines()
    assert rows[0].startswith("holder,what,team,cores,")
    assert sorted(row.split(",")[3] for row in rows[1:]) == ["24", "–"]
    assert [node.name for node in queries.agentless_nodes(now, 9)] == ["gpu-01"]


def test_a_runs_gpu_time_leaves_out_what_its_jobs_held_of_cores(research: int) -> None:
    on_gpus = scene.make_job("1", scene.make_priced_node(), gpus=8)
    on_cores = make_core_job("2", make_core_node(), 32, to=scene.TEN + scene.HOUR)
    ends_at = scene.TEN + scene.HOUR
    run_id = run_scene.make_run(
        "pretrain", (on_gpus, scene.TEN, ends_at), (on_cores, scene.TEN, ends_at)
    )
    run_scene.tell(run_id, on_gpus, {Bucket.PRODUCTIVE: 60})
    run_scene.tell(run_id, on_cores, {Bucket.DATA_WAIT: 60})
    assert carried(ends_at)

    run = RunFigures.objects.get(run_id=run_id)
    assert run.effective_micros == 98_320_000 + 1_600_000
    assert run.unit_milliseconds == sum(run.bucket_unit_ms) == 8 * 3_600_000
    rest = with_token("read")
    (told,) = rest.get("runs", window="2026-03-02").json()["results"]
    assert told["gpu_hours"] == 8.0
    costs = rest.get(f"runs/{run_id}/costs").json()
    assert costs["totals"]["gpu_hours"] == 8.0


def test_core_time_without_a_price_shows_as_missing_from_a_runs_cost(research: int) -> None:
    pool_id = make.make_pool("unpriced", unit="core", gpus_per_node=32, gpu_model="")
    values = {"pool_id": pool_id, "started_at": scene.TEN, "at": scene.LATER, "units": 32}
    ends_at = scene.TEN + scene.HOUR
    job_id = make_core_job("1", make.make_node("cpu-01", **values), 8, to=ends_at)
    run_id = run_scene.make_run("prepare", (job_id, scene.TEN, ends_at))
    run_scene.tell(run_id, job_id, {Bucket.PRODUCTIVE: 60})
    assert carried(ends_at)

    run = RunFigures.objects.get(run_id=run_id)
    assert (run.effective_micros, run.unit_milliseconds) == (None, 0)
    assert run.unpriced_milliseconds == 8 * 3_600_000


def test_core_time_without_a_price_is_unknown_beside_what_no_job_held(research: int) -> None:
    pool_id = make.make_pool("unpriced", unit="core", gpus_per_node=32, gpu_model="")
    values = {"pool_id": pool_id, "started_at": scene.TEN, "at": scene.LATER, "units": 32}
    ends_at = scene.TEN + scene.HOUR
    make_core_job("1", make.make_node("cpu-01", **values), 8, to=ends_at)
    assert carried(ends_at)

    day = window_of("2026-03-02", Calendar("UTC", 1, ends_at.date()))
    found = state_sums(CubeQuestion(day, ("held",), {"workload": frozenset({None})}))
    times = {
        held: (sum(each.core_milliseconds for each in states), {each.micros for each in states})
        for (held,), states in found.items()
    }
    assert times == {1: (8 * 3_600_000, {None}), None: (24 * 3_600_000, {None})}
