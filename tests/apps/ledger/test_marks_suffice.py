"""What an action marks is all that its change moves: doing every hour again comes to the same."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import pytest
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.accounts.models import Team
from apps.economics.jobs import AllocationRecord, EventKind, JobEventIn, JobSource, JobStatement
from apps.economics.ownership import Rule
from apps.fleet import actions as fleet
from apps.fleet.models import Device, Node, Outage
from apps.ledger.models import LedgerDay, Line, Settlement
from apps.marks.actions import mark_span
from apps.marks.queries import Pass
from apps.pricing import actions as pricing
from apps.pricing.models import Rate
from apps.telemetry.actions.partitions import ensure_months
from apps.workloads.actions import rules
from apps.workloads.actions.recording import record_events
from apps.workloads.models import OwnershipRule
from apps.workloads.queries import RuleFact
from tests import make
from tests.apps.ledger import scene

pytestmark = pytest.mark.django_db

HOURS = 3
QUARTERS = 4 * HOURS
NAMES = ("gpu-01", "gpu-02")
REFUSED = (
    fleet.NodeAlreadyEnded,
    fleet.NodeEndsBeforeItStarts,
    fleet.NodeNotAliveThen,
    fleet.OutageEndsBeforeItStarts,
    pricing.RateAlreadyEnded,
    pricing.RateEndsBeforeItStarts,
    pricing.RateOverlaps,
    rules.RuleAlreadyEnded,
    rules.RuleEndsBeforeItStarts,
    rules.RuleExists,
)


class Change(NamedTuple):
    """One thing that is learnt; the numbers mean what each kind makes of them."""

    kind: str
    node: int
    since: int
    until: int
    which: int


quarters = st.integers(0, QUARTERS)


def changes(*kinds: str) -> st.SearchStrategy[Change]:
    return st.builds(
        Change, st.sampled_from(kinds), st.integers(0, 1), quarters, quarters, st.integers(0, 3)
    )


KINDS = (
    "started", "ended", "accounted", "devices", "moved", "usage", "price", "dearer", "outage",
    "repaired", "capacity", "node_ended", "rule", "rule_ended",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _organisation() -> None:
    make.make_organisation()
    make.make_cluster()
    make.make_team("Vision")
    ensure_months([scene.TEN.date()])


@settings(max_examples=3)
@given(learnt=st.lists(changes(*KINDS), min_size=2, max_size=9))
def test_after_any_changes_doing_every_hour_again_changes_nothing(learnt: list[Change]) -> None:
    check(learnt)


@pytest.mark.proof
@settings(max_examples=100)
@given(learnt=st.lists(changes(*KINDS), min_size=2, max_size=9))
def test_after_many_changes_doing_every_hour_again_changes_nothing(learnt: list[Change]) -> None:
    check(learnt)


def check(learnt: Sequence[Change]) -> None:
    """Learn it all, settling after each; then do everything again."""
    with transaction.atomic():
        nodes = [a_node(name) for name in NAMES]
        for change in learnt:
            with suppress(*REFUSED), transaction.atomic():
                DOINGS[change.kind](nodes, change)
            scene.settle(ends_at=scene.TEN + HOURS * scene.HOUR)
        before = standing()

        everything_again(nodes)

        assert standing() == before
        transaction.set_rollback(True)


def a_node(name: str) -> int:
    pool_id = make.make_pool(f"pool of {name}")
    return make.make_node(
        name,
        at=scene.LATER,
        pool_id=pool_id,
        cluster_id=make.make_cluster(),
        started_at=scene.TEN,
        units=2,
    )


def quarter(number: int) -> datetime:
    return scene.TEN + timedelta(minutes=15 * number)


def a_job(change: Change, kind: EventKind, source: JobSource, **said: object) -> None:
    values = {
        "source": source,
        "submitted_at": scene.TEN,
        "restart_count": 0,
        "account": ("research", "vision")[change.which % 2],
    } | said
    statement = JobStatement(kind, quarter(change.until), **values)
    record_events(events=[JobEventIn("atlas", str(change.which // 2), statement)], at=scene.LATER)


def held(change: Change) -> tuple[AllocationRecord, ...]:
    devices = (None, (uuid(change.node, 0),))[change.which % 2]
    return (AllocationRecord(NAMES[change.node], Fraction(1), devices=devices),)


def started(nodes: Sequence[int], change: Change) -> None:
    a_job(
        change,
        EventKind.START,
        JobSource.SCHEDULER,
        started_at=quarter(change.until),
        allocations=held(change),
    )


def ended(nodes: Sequence[int], change: Change) -> None:
    a_job(change, EventKind.END, JobSource.SCHEDULER, state="COMPLETED")


def accounted(nodes: Sequence[int], change: Change) -> None:
    since, until = sorted((change.since, change.until))
    a_job(
        change._replace(until=until),
        EventKind.END,
        JobSource.ACCOUNTING,
        state="COMPLETED",
        started_at=quarter(since),
        allocations=held(change),
    )


def uuid(node: int, index: int) -> str:
    return f"GPU-{node}-{index}"


def devices(nodes: Sequence[int], change: Change) -> None:
    """Two GPUs, the second of them perhaps cut."""
    gpus = [
        fleet.ObservedDevice(uuid(change.node, index), "NVIDIA H100 80GB HBM3") for index in (0, 1)
    ]
    slices = [
        fleet.ObservedDevice(
            uuid=f"MIG-{change.node}-{index}",
            kind="mig",
            parent=gpus[1].uuid,
            compute_slices=size,
            memory_slices=size,
        )
        for index, size in enumerate(((), (3,), (3, 4), (1, 2))[change.which])
    ]
    fleet.register_devices(
        node_id=nodes[change.node],
        devices=[*gpus, *slices],
        at=scene.LATER,
        seen_from=quarter(change.since),
    )


def moved(nodes: Sequence[int], change: Change) -> None:
    """A GPU of the one node, perhaps one that is cut there, is seen on the other."""
    fleet.register_devices(
        node_id=nodes[1 - change.node],
        devices=[
            fleet.ObservedDevice(uuid(change.node, change.which % 2), "NVIDIA H100 80GB HBM3")
        ],
        at=scene.LATER,
        seen_from=quarter(change.since),
    )


def usage(nodes: Sequence[int], change: Change) -> None:
    """Told of the device by its process, and marked as the roll-up marks it."""
    for device in Device.objects.filter(node_id=nodes[change.node]).order_by("id")[:2]:
        scene.make_usage(
            device.id,
            [60 * change.which] * 60,
            key=f"slurm/atlas/{change.which // 2}",
            hour=scene.TEN + scene.HOUR * (change.since % HOURS),
        )


def price(nodes: Sequence[int], change: Change) -> None:
    pool_id = Node.objects.get(pk=nodes[change.node]).pool_id
    scene.make_rate(pool_id, Decimal(10 + change.which), starts_at=quarter(change.since))


def dearer(nodes: Sequence[int], change: Change) -> None:
    for rate in Rate.objects.order_by("id")[:1]:
        pricing.end_rate(rate_id=rate.id, ended_at=quarter(change.until), at=scene.LATER)


def outage(nodes: Sequence[int], change: Change) -> None:
    fleet.record_outage(
        outage=fleet.NewOutage(
            nodes[change.node], "down", quarter(change.since), quarter(change.until)
        ),
        at=scene.LATER,
    )


def repaired(nodes: Sequence[int], change: Change) -> None:
    for found in Outage.objects.order_by("id")[:1]:
        fleet.end_outage(outage_id=found.id, ended_at=quarter(change.until), at=scene.LATER)


def capacity(nodes: Sequence[int], change: Change) -> None:
    fleet.set_capacity(
        node_id=nodes[change.node],
        units=change.which,
        from_at=quarter(change.since),
        at=scene.LATER,
    )


def node_ended(nodes: Sequence[int], change: Change) -> None:
    fleet.end_node(
        node_id=nodes[change.node], ended_at=quarter(change.until), reason="x", at=scene.LATER
    )


def rule(nodes: Sequence[int], change: Change) -> None:
    rules.add_rule(
        rule=RuleFact(
            Rule(priority=change.which, team_id=vision(), account="vision"),
            quarter(change.since),
            None,
        ),
        at=scene.LATER,
    )


def vision() -> int:
    return Team.objects.get(name="Vision").id


def rule_ended(nodes: Sequence[int], change: Change) -> None:
    for kept in OwnershipRule.objects.order_by("id")[:1]:
        rules.end_rule(rule_id=kept.id, ended_at=quarter(change.until), at=scene.LATER)


DOINGS = {name: globals()[name] for name in KINDS}


def everything_again(nodes: Sequence[int]) -> None:
    """Every hour of every node is marked for charge and split, and so for what follows."""
    until = scene.TEN + HOURS * scene.HOUR
    mark_span(pass_=Pass.CHARGE, units=[0], starts_at=scene.TEN, ends_at=until)
    mark_span(pass_=Pass.SPLIT, units=nodes, starts_at=scene.TEN, ends_at=until)
    scene.settle(ends_at=scene.TEN + HOURS * scene.HOUR)


def standing() -> tuple[list[object], ...]:
    """What the lines and the days say, and by which settlements."""
    return (
        list(Line.objects.order_by("posting_month", "id").values()),
        list(Settlement.objects.order_by("id").values()),
        sorted(
            map(
                repr,
                LedgerDay.objects.values_list(
                    "day", "team_id", "pool_id", "state", "effective_micros", "unit_milliseconds"
                ),
            )
        ),
    )
