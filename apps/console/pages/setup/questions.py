"""The questions that wait for an answer, asked of every room."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import TypeVar
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.core.cache import caches
from django.urls import reverse
from django.utils import timezone

from apps.accounts import queries as accounts
from apps.console.pages.frame import Choice, Link, Step
from apps.console.pages.setup.values import (
    Question,
    RejectedWindows,
    SilentNode,
    UnclaimedWork,
    UnconfirmedNode,
    UnknownNode,
    UnownedAccount,
    UnpricedPool,
)
from apps.fleet import queries as fleet
from apps.ledger import queries as ledger
from apps.show.words import joined
from apps.telemetry import queries as telemetry
from apps.workloads import queries as workloads

MOST_ROWS = 50
LOOKED_BACK = "7d"
MANAGE = ".venv/bin/python manage.py"
COUNT_AGES = timedelta(minutes=1)
KEPT_BY = "process"
COUNT_KEY = "console-setup-questions"
DUE_KEY = "console-setup-count-due"

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Questions:
    """Everything that waits, by kind."""

    unconfirmed_nodes: Question[UnconfirmedNode] = field(default=Question())
    unknown_nodes: Question[UnknownNode] = field(default=Question())
    silent_nodes: Question[SilentNode] = field(default=Question())
    unpriced_pools: Question[UnpricedPool] = field(default=Question())
    unclaimed_work: Question[UnclaimedWork] = field(default=Question())
    unowned_accounts: Question[UnownedAccount] = field(default=Question())
    rejected_windows: Question[RejectedWindows] = field(default=Question())

    @property
    def total(self) -> int:
        """How many things wait."""
        return sum(getattr(self, each.name).total for each in fields(self))


def questions_waiting(at: datetime) -> int | None:
    """How many things waited in Setup when they were last counted; None: not counted yet.

    Counting asks every room, so no page waits for it: where the count is a minute old, it is due
    as soon as this answer is out.
    """
    counted = caches[KEPT_BY].get(COUNT_KEY)
    if counted is None or at - counted[0] >= COUNT_AGES:
        caches[KEPT_BY].set(DUE_KEY, value=True)
    return None if counted is None else int(counted[1])


def is_count_due() -> bool:
    """Whether a page asked for the count since it grew old; says so to the first who asks."""
    return bool(caches[KEPT_BY].delete(DUE_KEY))


def recount() -> None:
    """Count anew: something was answered, or the last count is old."""
    at = timezone.now()
    keep_count(questions(at, accounts.organisation()), at)


def keep_count(waiting: Questions, at: datetime) -> None:
    """What was counted at `at` is what pages show until the next count."""
    caches[KEPT_BY].set(COUNT_KEY, (at, waiting.total), None)


def questions(at: datetime, organisation: accounts.OrganisationFact) -> Questions:
    """What waits at `at`; prices, owners and refusals of the last seven days."""
    calendar = ledger.calendar_of(organisation.zone, organisation.week_starts_on, at)
    window = ledger.window_of(LOOKED_BACK, calendar)
    pools = fleet.pools()
    return Questions(
        unconfirmed_nodes=_unconfirmed(pools, at),
        unknown_nodes=_unknown(pools, organisation.zone),
        silent_nodes=_silent(pools, at),
        unpriced_pools=_unpriced(window, pools),
        unclaimed_work=_unclaimed(window, pools),
        unowned_accounts=_unowned(window, at),
        rejected_windows=_rejected(window),
    )


def _unconfirmed(pools: Mapping[int, fleet.PoolFact], at: datetime) -> Question[UnconfirmedNode]:
    devices = fleet.unconfirmed_devices(at)
    node_ids = {device.node_id for device in devices}
    nodes = fleet.nodes_lived(at, at + timedelta(seconds=1), node_ids) if devices else []
    living = {node.id: node for node in nodes}
    rows = [
        _unconfirmed_node(list(of_node), living[node_id], pools[living[node_id].pool_id])
        for node_id, of_node in groupby(devices, lambda device: device.node_id)
        if node_id in living
    ]
    return _question(rows)


def _unconfirmed_node(
    devices: Sequence[fleet.UnconfirmedDevice],
    node: fleet.NodeFact,
    pool: fleet.PoolFact,
) -> UnconfirmedNode:
    models = Counter(device.model or "unknown model" for device in devices if device.kind == "gpu")
    slices = sum(device.kind == "mig" for device in devices)
    said = [f"{count} × {model}" for model, count in models.items()]
    if slices:
        said.append(f"{slices} MIG slices")
    return UnconfirmedNode(
        node_id=node.id,
        node=node.name,
        pool=pool.name,
        devices=joined(said),
        expected=_expected(models, node, pool),
        uuids=tuple(device.uuid for device in devices),
        first_seen_at=min(device.seen_from for device in devices),
    )


def _expected(models: Counter[str], node: fleet.NodeFact, pool: fleet.PoolFact) -> str:
    """What the pool says a node has, where the GPUs seen are something else."""
    if pool.unit != "gpu" or models == Counter({pool.gpu_model: node.units}):
        return ""
    return f"{node.units} × {pool.gpu_model or 'GPU'}"


def _unknown(pools: Mapping[int, fleet.PoolFact], zone: str) -> Question[UnknownNode]:
    found = workloads.unknown_nodes()
    rows = [
        UnknownNode(
            name=each.node_name,
            cluster=each.cluster,
            jobs=each.allocations,
            first_named_at=each.first_at,
            last_named_at=each.last_at,
            key=f"{each.cluster_id}/{each.node_name}",
        )
        for each in found
    ]
    if not found:
        return _question(rows)
    clusters = {each.cluster_id for each in found}
    fitting = [
        Choice(str(pool.id), pool.name)
        for pool in sorted(pools.values(), key=lambda pool: pool.name)
        if pool.gpus_per_node and (pool.cluster_id is None or pool.cluster_id in clusters)
    ]
    asked = _question(rows, None if fitting else _pool_first(found[0].cluster))
    since = min(each.first_at for each in found).astimezone(ZoneInfo(zone)).date()
    return replace(asked, choices=tuple(fitting), since=since)


def _pool_first(cluster: str) -> Step:
    command = (
        f"{MANAGE} add_pool POOL --cluster {cluster} --provider own --purchase-option owned "
        '--gpu-model "NVIDIA H100 80GB HBM3" --gpus-per-node 8'
    )
    return Step("They need a pool first: nodes of one model and one price.", command=command)


def _silent(pools: Mapping[int, fleet.PoolFact], at: datetime) -> Question[SilentNode]:
    rows = [
        SilentNode(
            name=each.node_name,
            pool=pools[each.pool_id].name,
            last_seen_at=each.last_seen_at,
            silent_for=at - each.last_seen_at,
        )
        for each in fleet.silent_agents(at)
    ]
    if not rows:
        return _question(rows)
    command = f"{MANAGE} end_node {rows[0].name} --at {rows[0].last_seen_at:%Y-%m-%dT%H:%MZ}"
    return _question(rows, Step("If a node is gone, say since when:", command=command))


def _unpriced(window: ledger.Window, pools: Mapping[int, fleet.PoolFact]) -> Question[UnpricedPool]:
    rows = [
        UnpricedPool(
            name=each.pool.name,
            gpu_model=each.pool.gpu_model,
            purchase_option=each.pool.purchase_option,
            milliseconds=each.unit_milliseconds,
            since=each.first_day,
        )
        for each in ledger.unpriced_pools(window, pools)
    ]
    if not rows:
        return _question(rows)
    link = Link("Set a price", reverse("prices"))
    return _question(rows, Step("Say what a node of the pool costs.", link=link))


def _unclaimed(
    window: ledger.Window, pools: Mapping[int, fleet.PoolFact]
) -> Question[UnclaimedWork]:
    rows = [
        UnclaimedWork(
            key=each.key,
            pool=each.pool_name,
            gpu_milliseconds=each.gpu_milliseconds,
            cost_micros=each.micros,
            last_seen_at=each.last_hour,
        )
        for each in ledger.unclaimed_work(window, pools)
    ]
    if not rows:
        return _question(rows)
    sentence = "If a scheduler ran it, its accounting names the job and settles these hours again:"
    return _question(rows, Step(sentence, link=Link("Import a file", reverse("imports"))))


def _unowned(window: ledger.Window, at: datetime) -> Question[UnownedAccount]:
    rows = [
        UnownedAccount(
            account=each.name,
            cluster=each.cluster,
            jobs=each.jobs,
            gpu_milliseconds=int(each.gpu_milliseconds),
            href=f"{reverse('new-rule')}?{urlencode(_rule_for(each))}",
            bears=each.bears,
        )
        for each in workloads.unowned_accounts(window.starts_at, min(at, window.ends_at))
    ]
    if not rows:
        return _question(rows)
    link = Link("See what each cost", reverse("unowned"))
    return _question(rows, Step("Say whose they are, with a look at what moves first.", link=link))


def _rule_for(account: workloads.UnownedAccount) -> dict[str, str]:
    asked = {account.bears: account.name} if account.bears else {}
    return {"cluster": account.cluster, **asked}


def _rejected(window: ledger.Window) -> Question[RejectedWindows]:
    found = telemetry.rejections_by_agent(window.first_day)
    rows = [
        RejectedWindows(
            agent=each.node,
            field=each.field,
            reason=each.reason,
            windows=each.count,
            last_at=each.last_at,
            is_kept=each.kept,
        )
        for each in found
    ]
    return _question(rows)


def _question(rows: Sequence[Row], step: Step | None = None) -> Question[Row]:
    return Question(tuple(rows[:MOST_ROWS]), len(rows), step)
