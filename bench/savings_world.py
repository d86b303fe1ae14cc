"""A made-up company of four weeks in which it is known what could be saved: situations, and what looks like them and is none."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any

from apps.economics.run_time import Bucket
from apps.economics.states import State
from apps.fleet.models import Node
from apps.ledger.models import LedgerDay
from apps.planning.models import KeptScenario, ScenarioRun
from apps.workloads.models import Allocation, Workload
from bench.savings_planting import (
    DAYS,
    What,
    always,
    by_night,
    count_requests,
    cover,
    cut,
    failing_run,
    paid,
    replicas,
    state_value,
)
from tests import make
from tests.apps.ledger import scene
from tests.apps.review import pool_scene
from tests.apps.review.pool_scene import AT, BEGUN, HOUR, HOURS, Part, held, idle
from tests.apps.unit_economics.planted_runs import (
    plant_day,
    plant_run,
)

MONTH = 730.0
MICROS = 1_000_000
DAY_HOURS, WEEK_HOURS = 24, 168


@dataclass(frozen=True)
class Planted:
    """A situation: its kind, what recommendations of it are called, and what it would save a month, in micro-units.

    `freed` are GPU-hours a month where nothing is paid less. `is_assumed`: how much of it goes away nobody can measure.
    """

    kind: str
    matters: frozenset[str]
    micros: float = 0.0
    freed: float = 0.0
    is_assumed: bool = False


@dataclass
class SavingsWorld:
    """What is planted, and the names of what only looks so; sizes and prices are drawn."""

    seed: int
    planted: list[Planted] = field(default_factory=list)
    alike: list[str] = field(default_factory=list)
    pools: int = 0

    def __post_init__(self) -> None:
        """Numbers of its own."""
        self.draw = random.Random(self.seed)  # noqa: S311

    def pool(self, what: What, machines: int = 1, **given: Any) -> tuple[int, int]:
        """A pool in a cluster and a region of its own; its id, and what a GPU-hour costs in micro-units."""
        self.pools += 1
        name = f"pool-{self.pools}"
        price = round(self.draw.uniform(1.5, 9.0), 2) * MICROS
        values: dict[str, Any] = {
            "region": f"region-{self.pools}",
            "cluster_id": make.make_cluster(f"cluster-{self.pools}"),
            "price": round(price),
        }
        return pool_scene.plant_pool(name, machines, what, **values | given), round(price)

    def work(self, kind: str) -> Workload:
        """A workload of a team of its own."""
        made: Workload = pool_scene.make_workload(f"{kind}-{Workload.objects.count()}", kind)
        return made

    def plant(self, kind: str, *matters: str, **given: Any) -> None:
        """Known from here on."""
        self.planted.append(Planted(kind, frozenset(matters), **given))

    def node(self) -> str:
        """The first machine of the newest pool."""
        return f"pool-{self.pools}-0"

    def wait_for(self, workload: Workload, gpus: int, waits: int, every: int = DAY_HOURS) -> None:
        """Jobs that waited so many hours for the newest pool, one after another."""
        for start in range(0, HOURS - waits, every):
            pool_scene.make_job(
                workload, self.node(), submitted=start, started=start + waits, gpus=gpus
            )


def make_world(seed: int) -> SavingsWorld:
    """All situations and all that look like them, in the tables that the finders read."""
    world = SavingsWorld(seed)
    for situation in SITUATIONS:
        situation(world)
    pool_scene.roll_up()
    return world


def idle_nights(world: SavingsWorld) -> None:
    """Notebooks that are idle for hours on end, on demand and on spot; alike: pauses within every hour."""
    for option in ("on_demand", "spot"):
        book = world.work("notebook")
        pause = world.draw.randint(9, 15)
        pool_id, price = world.pool(
            by_night(idle(book), held(book), pause),
            purchase_option=option,
        )
        saved = 8 * price * MONTH * (pause - 1) / DAY_HOURS
        world.plant("idle_holder", f"idle_holder:{book.pk}:{pool_id}", micros=saved)
    short = world.work("notebook")
    world.pool(always(held(short, 5), idle(short, 3)))
    world.alike.append("pauses within the hour")


def dead_work(world: SavingsWorld) -> None:
    """A job that does nothing, and a service that nobody asks; alike: both a little in use."""
    dead, alive = world.work("other"), world.work("other")
    pool_id, price = world.pool(always(idle(dead)))
    names = [f"{kind}:{dead.pk}:{pool_id}" for kind in ("unused_work", "idle_holder")]
    world.plant("unused_work", *names, f"retire_work:{dead.pk}", micros=8 * price * MONTH)
    world.pool(always(held(alive)))
    quiet, asked = world.work("serving"), world.work("serving")
    pool_id, price = world.pool(always(held(quiet)))
    matters = (f"unused_work:{quiet.pk}:{pool_id}", f"retire_work:{quiet.pk}")
    world.plant("unused_work", *matters, micros=8 * price * MONTH)
    world.pool(always(held(asked)))
    count_requests(quiet, 0)
    count_requests(asked, 500)
    world.alike += ["a busy job", "a service that is asked"]


def starving(world: SavingsWorld) -> None:
    """Runs that wait for data; alike: runs that wait a little."""
    for share in (0.3, 0.05):
        llm = world.work("training")
        _, price = world.pool(always(held(llm)))
        run_id = plant_run(f"run-{llm.pk}", llm.pk)
        for day in range(DAYS):
            waited = 100 * share
            spent = {Bucket.DATA_WAIT: waited, Bucket.PRODUCTIVE: 100 - waited}
            plant_day(run_id, spent, day=(BEGUN + timedelta(days=day)).date())
        if share > 0.1:
            wasted = (share - 0.02) * 100 * MONTH / DAY_HOURS * price
            world.plant("starved_runs", f"starved_runs:{llm.pk}", micros=wasted, is_assumed=True)
    world.alike.append("runs that wait a little")


def cadences(world: SavingsWorld) -> None:
    """Training that saves checkpoints too rarely for how often it fails; alike: often enough."""
    for saves in (4, 100):
        llm = world.work("training")
        _, price = world.pool(always(held(llm)))
        failing_run(llm, saves=saves, failed=9)
        if saves == 4:
            cadence, write, mtbf = 100 / saves * 3600, 60.0, 100 * 3600 / 9
            part = 1 - min(map(paid(write, mtbf), range(300, 100_000, 10))) / paid(write, mtbf)(
                cadence
            )
            saved = 8 * price * MONTH * part
            world.plant("checkpoint_cadence", f"checkpoint_cadence:{llm.pk}", micros=saved)
    world.alike.append("training that saves often enough")


def worth(world: SavingsWorld) -> None:
    """Work that returns a tenth of its cost; alike: nine times, with much of it idle, and needed."""
    poor, rich = world.work("training"), world.work("serving")
    _, price = world.pool(always(held(poor)))
    week = 8 * price * WEEK_HOURS / MICROS
    state_value(poor, week / 10)
    spend = 8 * price * MONTH
    world.plant("retire_work", f"retire_work:{poor.pk}", micros=spend)
    jobs = [pool_scene.make_replica(rich, place) for place in range(4)]
    _, price = world.pool(lambda *_: replicas(rich, jobs, 0.55))
    state_value(rich, 9 * 8 * price * WEEK_HOURS / MICROS)
    world.alike.append("a service that returns nine times its cost, half of it idle")


def needless_replicas(world: SavingsWorld) -> None:
    """Services with more replicas than their load takes, always and by night; alike: load that takes them."""
    always, nightly = world.work("serving"), world.work("serving")
    jobs = {
        each.pk: [pool_scene.make_replica(each, place) for place in range(4)]
        for each in (always, nightly)
    }
    _, price = world.pool(
        lambda *_: replicas(always, jobs[always.pk], 0.25), purchase_option="spot"
    )
    # 2 of 8 GPUs active are 2.9 with headroom: two replicas of two.
    world.plant("shrink_work", f"shrink_work:{always.pk}", micros=4 * price * MONTH)
    hours = world.draw.randint(7, 10)
    _, price = world.pool(
        lambda hour, _: replicas(
            nightly, jobs[nightly.pk], 0.05 if hour % DAY_HOURS < hours else 0.7
        )
    )
    saved = 6 * price * MONTH * hours / DAY_HOURS
    world.plant("shrink_work", f"shrink_work:{nightly.pk}", micros=saved)


def spare_machines(world: SavingsWorld) -> None:
    """Machines rented by the hour that nothing is on: always, by night, at random; and covered ones. Alike: gaps, parts, broken ones."""
    llm = world.work("training")
    for option in ("on_demand", "spot"):
        count = world.draw.randint(1, 2)
        pool_id, price = world.pool(
            lambda _, machine: [held(llm)] if machine == 0 else [],
            1 + count,
            purchase_option=option,
        )
        saved = count * 8 * price * MONTH
        world.plant("unallocated_nodes", f"unallocated_nodes:{pool_id}", micros=saved)
    open_at = world.draw.randint(7, 9)
    pool_id, price = world.pool(
        lambda hour, _: (
            [held(llm)] if hour % WEEK_HOURS < 120 and open_at <= hour % DAY_HOURS < 19 else []
        )
    )
    office = 5 * (19 - open_at)
    saved = 8 * price * MONTH * (WEEK_HOURS - office) / WEEK_HOURS
    world.plant("unallocated_nodes", f"unallocated_nodes:{pool_id}", micros=saved)
    every, runs = world.draw.choice([(61, 20), (67, 25), (53, 15)])
    pool_id, price = world.pool(lambda hour, _: [held(llm)] if hour % every < runs else [])
    saved = 8 * price * MONTH * (every - runs - 1) / every
    world.plant("unallocated_nodes", f"unallocated_nodes:{pool_id}", micros=saved)
    world.pool(lambda hour, machine: [] if hour % 9 == machine else [held(llm)], 2)
    world.pool(always(held(llm, 5)), 2)
    pool_id, _ = world.pool(always(), committed=lambda *_: True)
    world.plant("pool_too_large", f"pool_too_large:{pool_id}", freed=8 * MONTH)
    world.pool(always(Part(8, State.OUT_OF_SERVICE)))
    world.alike += ["gaps of an hour", "machines held in part", "broken ones"]


def released(world: SavingsWorld) -> None:
    """Covered machines that stand beside alike ones that jobs hold on demand; alike: beside spot, beside none, and beside some elsewhere."""
    llm = world.work("training")
    spots = [{"purchase_option": "spot"}, {"region": "elsewhere"}]
    for place, beside in enumerate([{}, *spots]):
        where: dict[str, Any] = {
            "region": f"released-{place}",
            "cluster_id": make.make_cluster(f"released-{place}"),
        }
        pool_id, _ = world.pool(
            lambda _, machine: [held(llm)] if machine == 0 else [],
            2, committed=lambda *_: True, **where,
        )  # fmt: skip
        _, price = world.pool(always(held(llm)), **where | beside)
        if not place:
            matters = (f"unallocated_nodes:{pool_id}",)
            world.plant("unallocated_nodes", *matters, micros=8 * price * MONTH)
    world.alike += ["what a commitment frees beside spot", "and beside machines elsewhere"]


def floors(world: SavingsWorld) -> None:
    """A pool that scales with a minimum that nobody needs; alike: one whose minimum is held."""
    llm = world.work("training")
    least = world.draw.randint(1, 2)

    def scaled(hour: int, machine: int) -> Sequence[Part] | None:
        if 8 <= hour % DAY_HOURS < 20:
            return [held(llm)]
        return [] if machine < least else None

    def needed(hour: int, machine: int) -> Sequence[Part] | None:
        return [held(llm)] if 8 <= hour % DAY_HOURS < 20 or machine < least else None

    pool_id, price = world.pool(scaled, 3)
    saved = least * 8 * price * MONTH / 2
    world.plant("autoscaling_floor", f"autoscaling_floor:{pool_id}", micros=saved)
    world.pool(needed, 3)
    world.alike.append("a minimum that is held")


def sizes(world: SavingsWorld) -> None:
    """Pools of which jobs would fit on half the machines, rented and owned; alike: jobs that do not share a machine, and peaks."""
    llm = world.work("training")
    for option in ("on_demand", "owned"):
        pool_id, price = world.pool(always(held(llm, 3)), 4, purchase_option=option)
        is_paid = option == "on_demand"
        world.plant(
            "pool_too_large",
            f"pool_too_large:{pool_id}",
            micros=2 * 8 * price * MONTH if is_paid else 0.0,
            freed=0.0 if is_paid else 16 * MONTH,
        )
    world.pool(always(held(llm, 5)), 3)
    world.pool(lambda hour, _: [held(llm, 8 if hour % 40 == 0 else 3)], 3)
    world.alike += ["jobs of over half a machine", "peaks that need all"]


def queues(world: SavingsWorld) -> None:
    """Jobs that wait beside idle GPUs of their cluster; alike: that wait while all are held."""
    for spare in (4, 0):
        llm = world.work("training")
        cluster_id = make.make_cluster(f"queue-{spare}")
        world.pool(
            always(held(llm, 8 - spare)),
            cluster_id=cluster_id, purchase_option="reserved",
        )  # fmt: skip
        pool_id, _ = world.pool(always(held(llm)), cluster_id=cluster_id)
        world.wait_for(llm, gpus=2, waits=12)
        if spare:
            world.plant("queued_beside_idle", f"queued_beside_idle:{pool_id}", freed=2 * MONTH / 2)
    world.alike.append("a queue beside held GPUs")


def slices(world: SavingsWorld) -> None:
    """A GPU cut into slices that nobody takes while others wait; alike: slices that are taken, and that stand beside a queue which idle GPUs serve."""
    cluster_id = make.make_cluster("slices and idle")
    llm = world.work("training")
    for name in ("cut", "idle"):
        cut_pool, _ = world.pool(
            always(held(llm, 7)), cluster_id=cluster_id, purchase_option="reserved"
        )
        if name == "cut":
            cut(Node.objects.get(pool_id=cut_pool), 0)
            world.plant("stranded_mig", f"stranded_mig:{cut_pool}:1", freed=MONTH)
    busy, _ = world.pool(always(held(llm)), cluster_id=cluster_id)
    world.wait_for(llm, gpus=1, waits=12)
    world.plant("queued_beside_idle", f"queued_beside_idle:{busy}", freed=MONTH / 2)
    world.alike.append("a queue that idle GPUs serve is not served by slices too")
    for taken in (0, 3):
        llm = world.work("training")
        pool_id, price = world.pool(always(held(llm, 7)))
        node = Node.objects.get(pool_id=pool_id)
        cut(node, taken)
        if not taken:
            world.wait_for(llm, gpus=1, waits=12)
            Allocation.objects.filter(node=node).update(device_uuids=[f"GPU-{node.pk}"])
            world.plant("stranded_mig", f"stranded_mig:{pool_id}:1", micros=price * MONTH / 2)
    world.alike.append("slices that are taken")


def commitments(world: SavingsWorld) -> None:
    """A commitment that ends soon and costs more than its use would; alike: one that is worth it."""
    for is_used in (False, True):
        llm = world.work("training")
        pool_id, _ = world.pool(always(held(llm)), price=3_000_000, committed=lambda *_: True)
        commitment_id = scene.make_commitment(
            hourly=Decimal(48),
            units=2,
            period=(BEGUN - HOUR, AT + timedelta(days=30)),
            pool_id=pool_id,
        )
        cover(commitment_id, pool_id, on_demand=60_000_000 if is_used else 30_000_000)
        if not is_used:
            # 48 an hour for what costs 30 by the hour.
            world.plant("let_lapse", f"let_lapse:{commitment_id}", micros=18 * MICROS * MONTH)
    world.alike.append("a commitment that is worth it")


def comparisons(world: SavingsWorld) -> None:
    """A kept comparison that advises to serve oneself; alike: one that advises the API."""
    for advice in ("self_host", "api"):
        chat = world.work("serving")
        daily = world.draw.randint(200, 400) * MICROS
        amounts = dict.fromkeys(
            ("list_micros", "contracted_micros", "effective_micros", "billed_micros"), daily
        )
        LedgerDay.objects.bulk_create(
            LedgerDay(
                day=day, posting_month=day.replace(day=1), status="estimated", kind="api", team_id=chat.team_id,
                workload=chat, flags=0, unit_milliseconds=0, held_milliseconds=0, observed_milliseconds=0,
                unpriced_milliseconds=0, **amounts,
            )
            for day in ((BEGUN + timedelta(days=place)).date() for place in range(DAYS))
        )  # fmt: skip
        scenario = KeptScenario.objects.create(
            name=f"{chat.name} or an API", service_id=chat.pk, team_id=chat.team_id, text="",
            created_at=AT, changed_at=AT, asked_at=AT,
        )  # fmt: skip
        answer = {
            "currency": "USD",
            "uncertainty": {"savings": {"p10": 900.0, "p50": 1_400.0, "p90": 2_000.0}},
        }
        ScenarioRun.objects.create(
            scenario=scenario, ran_at=AT, is_asked=False, advice=advice, answer=answer
        )
        if advice == "self_host":
            world.plant("to_self_host", f"to_self_host:{scenario.pk}", micros=1_400 * MICROS)
    world.alike.append("a comparison that advises the API")


SITUATIONS: tuple[Callable[[SavingsWorld], None], ...] = (
    idle_nights, dead_work, starving, cadences, worth, needless_replicas, spare_machines, released, floors, sizes, queues, slices,
    commitments, comparisons,
)  # fmt: skip
