"""A small fleet with prices, jobs and usage, put straight into the tables where that is quicker."""

import gzip
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import connection, transaction

from apps.accounts import queries as accounts
from apps.files import write_file
from apps.fleet import actions as fleet
from apps.fleet.queries import devices_alive_between
from apps.ledger import actions as ledger
from apps.ledger.models import Charge, Export, Line, Settlement
from apps.ledger.queries.exports import FileForm, stored_name
from apps.marks.actions import mark_span
from apps.marks.queries import Pass
from apps.pricing import actions as pricing
from apps.pricing.models import Commitment
from apps.telemetry.actions.busy import note_busy_hour
from apps.telemetry.actions.partitions import ensure_months
from apps.telemetry.queries import usage_rows
from apps.workloads.models import Allocation, Job, OwnershipRule
from controlplane.settling import settle_window
from tests import make

HOUR = timedelta(hours=1)
TEN = datetime(2026, 3, 2, 10, tzinfo=UTC)
"""A Monday, 10:00: the hour that tests settle unless they say another."""
LATER = TEN + timedelta(days=1)
"""Long enough after for the hour to be estimated."""
H100_RATE = Decimal("98.32")


def make_priced_node(name: str = "gpu-01", **given: Any) -> int:
    """A node of eight H100 in a pool with a list price of 98.32 an hour, alive since 10:00."""
    values = {"started_at": TEN, "at": LATER, "units": 8} | given
    if "pool_id" not in values:
        values["pool_id"] = make.make_pool(f"pool of {name}")
    node_id = make.make_node(name, **values)
    make_rate(values["pool_id"])
    return node_id


def make_rate(pool_id: int, amount: Decimal = H100_RATE, **given: Any) -> int:
    """A price of this pool, in force since 2026 began."""
    values = {
        "kind": "list",
        "amount": amount,
        "currency": "USD",
        "starts_at": datetime(2026, 1, 1, tzinfo=UTC),
        "purchase_option": "on_demand",
        "pool_id": pool_id,
    } | given
    return pricing.add_rate(rate=pricing.EnteredRate(**values), at=LATER)


def make_commitment(**given: Any) -> int:
    """One node of the pools of `make`, reserved for 100 hours at 40 an hour from 10:00."""
    values: dict[str, Any] = {
        "name": f"reserved {Commitment.objects.count()}",
        "kind": "reserved",
        "units": 1,
        "hourly": Decimal(40),
        "currency": "USD",
        "period": (TEN, TEN + 100 * HOUR),
        "created_at": TEN,
    } | given
    return Commitment.objects.create(**values).pk


def make_shared_cost(name: str, **given: Any) -> int:
    """A shared cost of 9,000 a month, by direct cost, from noon on."""
    values = {
        "amount": Decimal(9000),
        "currency": "USD",
        "method": "by_cost",
        "starts_at": make.NOON,
    } | given
    cost = pricing.EnteredSharedCost(name=name, **values)
    return pricing.add_shared_cost(cost=cost, at=LATER)


def make_owned_plan(name: str, **given: Any) -> int:
    """A node of a pool (of that name) that was bought, in service from 2026 on."""
    pool = given.pop("pool", f"pool of {name}")
    pool_id = make.make_pool(pool, provider="onprem", purchase_option="owned")
    values: dict[str, Any] = {
        "nodes": 1,
        "purchase": Decimal(35_712),
        "life_months": 48,
        "watts": 10_200,
        "currency": "USD",
        "starts_at": datetime(2026, 1, 1, tzinfo=UTC),
        "monthly": {"staff": Decimal(744)},
        "tariffs": {0: Decimal("0.10")},
    } | given
    plan = pricing.EnteredOwnedPlan(name=name, pool_id=pool_id, **values)
    return pricing.add_owned_plan(plan=plan, at=LATER)


def make_gpus(node_id: int, count: int = 8, **given: Any) -> list[str]:
    """GPUs that the node's agent has seen since 10:00; their UUIDs."""
    seen_from = given.pop("seen_from", TEN)
    seen = [
        fleet.ObservedDevice(
            uuid=f"GPU-{node_id}-{index}",
            **{"model": "NVIDIA H100 80GB HBM3", "index": index} | given,
        )
        for index in range(count)
    ]
    fleet.register_devices(node_id=node_id, devices=seen, at=LATER, seen_from=seen_from)
    return [each.uuid for each in seen]


def device_ids(uuids: Sequence[str]) -> list[int]:
    """Ids of devices by UUID."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM fleet_device WHERE uuid = ANY(%s) ORDER BY uuid", [uuids])
        return [device_id for (device_id,) in cursor.fetchall()]


def make_job(raw_id: str, node_id: int, **given: Any) -> int:
    """A job of account `research` holding GPUs of a node through its time (10:00 to 11:00)."""
    values = {"gpus": Fraction(8), "from_": TEN, "to": TEN + HOUR, "uuids": None} | given
    gpus = Fraction(values["gpus"])
    job = Job.objects.create(
        cluster_id=make.make_cluster(),
        raw_id=raw_id,
        submitted_at=values["from_"],
        opened_at=values["from_"],
        account=values.get("account", "research"),
        user=values.get("user", ""),
        labels=values.get("labels", {}),
        started_at=values["from_"],
        ended_at=values["to"],
        state="COMPLETED",
    )
    Allocation.objects.create(
        job=job,
        node_id=node_id,
        node_name=f"node {node_id}",
        gpus_numerator=gpus.numerator,
        gpus_denominator=gpus.denominator,
        device_uuids=values["uuids"],
        divided_evenly=values.get("divided_evenly", False),
        period=(values["from_"], values["to"]),
    )
    remark(node_id, values["from_"], values["to"])
    return job.id


def make_rule(account: str, team_id: int) -> None:
    """This account's jobs are this team's, since ever."""
    OwnershipRule.objects.create(priority=10, account=account, team_id=team_id, period=(None, None))


def make_usage(
    device_id: int, worked: Iterable[int], *, key: str = "", hour: datetime = TEN, **given: Any
) -> None:
    """The device's own reading, or a process's, with these quarter-seconds of each minute worked."""
    ensure_months([hour.date()])
    row = bytes(worked)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO telemetry_holderkey (id, key) OVERRIDING SYSTEM VALUE VALUES (0, '')"
            " ON CONFLICT DO NOTHING"
        )
        cursor.execute(
            "INSERT INTO telemetry_holderkey (key) VALUES (%s) ON CONFLICT DO NOTHING", [key]
        )
        cursor.execute("SELECT id FROM telemetry_holderkey WHERE key = %s", [key])
        (holder_id,) = cursor.fetchone()
        cursor.execute(
            "INSERT INTO telemetry_usagehour (hour, device_id, holder_id, source, observed, worked)"
            " VALUES (%s, %s, %s, 1, %s, %s) ON CONFLICT (hour, device_id, holder_id)"
            " DO UPDATE SET observed = excluded.observed, worked = excluded.worked",
            [hour, device_id, holder_id, given.get("observed", bytes([240] * 60)), row],
        )
        cursor.execute("SELECT node_id FROM fleet_device WHERE id = %s", [device_id])
        (node_id,) = cursor.fetchone()
    remark(node_id, hour, hour + HOUR)


def make_busy(node_id: int, hour: datetime = TEN) -> None:
    """What the roll-up would note of a node beside the usage that was put there."""
    devices = devices_alive_between([node_id], hour, hour + HOUR)
    rows = usage_rows(hour, [each.id for each in devices])
    usage = {device_id: list(rows) for device_id, rows in groupby(rows, itemgetter(0))}
    note_busy_hour(hour=hour, node_ids=[node_id], devices=devices, usage=usage)


def remark(node_id: int, starts_at: datetime, ends_at: datetime) -> None:
    """Mark a node's hours for the split, as every action does that changes a fact."""
    with transaction.atomic():
        mark_span(pass_=Pass.SPLIT, units=[node_id], starts_at=starts_at, ends_at=ends_at)


def recharge(hour: datetime = TEN) -> None:
    """Mark the hour for the charge pass."""
    with transaction.atomic():
        mark_span(pass_=Pass.CHARGE, units=[0], starts_at=hour, ends_at=hour + HOUR)


def settle(at: datetime = LATER, **given: Any) -> ledger.Progress:
    """The hour from 10:00, or what is given, as it is known at `at`."""
    values = {"starts_at": TEN - timedelta(days=31), "ends_at": TEN + HOUR, "at": at} | given
    return settle_window(**values)


def settle_all(at: datetime = LATER) -> ledger.Progress:
    """Every marked hour until `at`."""
    return settle(at, ends_at=at)


def lines(hour: datetime = TEN, **given: Any) -> list[Line]:
    """The lines of an hour, in the order in which they were written."""
    return list(Line.objects.filter(hour=hour, **given).order_by("posting_month", "id"))


def charge(node_id: int, hour: datetime = TEN) -> Charge:
    """The one charge of a node-hour."""
    return Charge.objects.get(node_id=node_id, hour=hour)


def settlements(node_id: int, hour: datetime = TEN) -> list[Settlement]:
    """The settlements of a node-hour by version."""
    return list(Settlement.objects.filter(node_id=node_id, hour=hour).order_by("version"))


def platform() -> int:
    """The team that carries what nobody held."""
    return accounts.special_teams().platform_id


def unowned() -> int:
    """The team that carries what nobody's rule names."""
    return accounts.special_teams().unowned_id


def make_export(token_id: int, *, team_ids: Sequence[int] | None = None, text: str = "") -> int:
    """A finished export of this token's, with its file."""
    now = datetime.now(UTC)
    export = Export.objects.create(
        token_id=token_id,
        what="lines",
        window_text="2026-03",
        asked={"team": ["Research"]},
        first_day=TEN.date(),
        end_day=TEN.date() + timedelta(days=1),
        zone="UTC",
        team_ids=None if team_ids is None else list(team_ids),
        state="done",
        digest="0" * 64,
        asked_at=now,
        ended_at=now,
        expires_at=now + timedelta(days=7),
        has_file=True,
    )
    with write_file(stored_name(export.id, FileForm.CSV)) as draft:
        draft.write(gzip.compress(text.encode()))
    return export.id
