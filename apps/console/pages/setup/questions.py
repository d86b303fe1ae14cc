"""The questions that wait for an answer, asked of every room."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, TypeVar
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.urls import reverse
from django.utils import timezone

from apps.accounts import queries as accounts
from apps.console.kit.frame import Choice, Link, Step
from apps.console.kit.waiting import keep_count
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


def recount() -> None:
    """Count anew: something was answered, or the last count is old."""
    at = timezone.now()
    keep_count(questions(at, accounts.organisation()).total, at)


def questions(at: datetime, organisation: accounts.OrganisationFact) -> Questions:
    """What waits at `at`; prices, owners and refusals of the last seven days."""
    asked = _asked(at, organisation)
    return Questions(
        unconfirmed_nodes=_unconfirmed(asked),
        unknown_nodes=_unknown(asked),
        silent_nodes=_silent(asked),
        unpriced_pools=_unpriced(asked),
        unclaimed_work=_unclaimed(asked),
        unowned_accounts=_unowned(asked),
        rejected_windows=_rejected(asked),
    )


def question_named(
    name: str, at: datetime, organisation: accounts.OrganisationFact
) -> Question[Any]:
    """One of them alone, by its name in Questions."""
    ask: dict[str, Callable[[_Asked], Question[Any]]] = {
        "unconfirmed_nodes": _unconfirmed,
        "unknown_nodes": _unknown,
        "silent_nodes": _silent,
        "unpriced_pools": _unpriced,
        "unclaimed_work": _unclaimed,
        "unowned_accounts": _unowned,
        "rejected_windows": _rejected,
    }
    return ask[name](_asked(at, organisation))


@dataclass(frozen=True, slots=True)
class _Asked:
    """When is asked, in which zone, of which days, and the pools."""

    at: datetime
    zone: str
    window: ledger.Window
    pools: Mapping[int, fleet.PoolFact]


def _asked(at: datetime, organisation: accounts.OrganisationFact) -> _Asked:
    calendar = ledger.calendar_of(organisation.zone, organisation.week_starts_on, at)
    window = ledger.window_of(LOOKED_BACK, calendar)
    return _Asked(at, organisation.zone, window, fleet.pools())


def _unconfirmed(asked: _Asked) -> Question[UnconfirmedNode]:
    devices = fleet.unconfirmed_devices(asked.at)
    node_ids = {device.node_id for device in devices}
    nodes = (
        fleet.nodes_lived(asked.at, asked.at + timedelta(seconds=1), node_ids) if devices else []
    )
    living = {node.id: node for node in nodes}
    rows = [
        _unconfirmed_node(list(of_node), living[node_id], asked.pools[living[node_id].pool_id])
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


def _unknown(asked: _Asked) -> Question[UnknownNode]:
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
        for pool in sorted(asked.pools.values(), key=lambda pool: pool.name)
        if pool.gpus_per_node and (pool.cluster_id is None or pool.cluster_id in clusters)
    ]
    question = _question(rows, None if fitting else _pool_first(found[0].cluster))
    since = min(each.first_at for each in found).astimezone(ZoneInfo(asked.zone)).date()
    return replace(question, choices=tuple(fitting), since=since)


def _pool_first(cluster: str) -> Step:
    command = (
        f"{MANAGE} add_pool POOL --cluster {cluster} --provider own --purchase-option owned "
        '--gpu-model "NVIDIA H100 80GB HBM3" --gpus-per-node 8'
    )
    return Step("They need a pool first: nodes of one model and one price.", command=command)


def _silent(asked: _Asked) -> Question[SilentNode]:
    rows = [
        SilentNode(
            name=each.node_name,
            node_id=each.node_id,
            pool=asked.pools[each.pool_id].name,
            last_seen_at=each.last_seen_at,
            silent_for=asked.at - each.last_seen_at,
        )
        for each in fleet.silent_agents(asked.at)
    ]
    if not rows:
        return _question(rows)
    command = f"{MANAGE} end_node {rows[0].name} --at {rows[0].last_seen_at:%Y-%m-%dT%H:%MZ}"
    return _question(rows, Step("If a node is gone, say since when:", command=command))


def _unpriced(asked: _Asked) -> Question[UnpricedPool]:
    rows = [
        UnpricedPool(
            name=each.pool.name,
            gpu_model=each.pool.gpu_model,
            purchase_option=each.pool.purchase_option,
            milliseconds=each.unit_milliseconds,
            since=each.first_day,
            pool_id=each.pool.id,
        )
        for each in ledger.unpriced_pools(asked.window, asked.pools)
    ]
    if not rows:
        return _question(rows)
    link = Link("Set a price", reverse("prices"))
    return _question(rows, Step("Say what a node of the pool costs.", link=link))


def _unclaimed(asked: _Asked) -> Question[UnclaimedWork]:
    rows = [
        UnclaimedWork(
            key=each.key,
            pool=each.pool_name,
            gpu_milliseconds=each.gpu_milliseconds,
            cost_micros=each.micros,
            last_seen_at=each.last_hour,
        )
        for each in ledger.unclaimed_work(asked.window, asked.pools)
    ]
    if not rows:
        return _question(rows)
    sentence = "If a scheduler ran it, its accounting names the job and settles these hours again:"
    return _question(rows, Step(sentence, link=Link("Import a file", reverse("imports"))))


def _unowned(asked: _Asked) -> Question[UnownedAccount]:
    rows = [
        UnownedAccount(
            account=each.name,
            cluster=each.cluster,
            jobs=each.jobs,
            gpu_milliseconds=int(each.gpu_milliseconds),
            href=f"{reverse('new-rule')}?{urlencode(_rule_for(each))}",
            bears=each.bears,
        )
        for each in workloads.unowned_accounts(
            asked.window.starts_at, min(asked.at, asked.window.ends_at)
        )
    ]
    if not rows:
        return _question(rows)
    link = Link("See what each cost", reverse("unowned"))
    return _question(rows, Step("Say whose they are, with a look at what moves first.", link=link))


def _rule_for(account: workloads.AccountWithoutOwner) -> dict[str, str]:
    asked = {account.bears: account.name} if account.bears else {}
    return {"cluster": account.cluster, **asked}


def _rejected(asked: _Asked) -> Question[RejectedWindows]:
    found = telemetry.rejections_by_agent(asked.window.first_day)
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
    return Question(tuple(rows[:MOST_ROWS]), len(rows), step, rest=tuple(rows[MOST_ROWS:]))
