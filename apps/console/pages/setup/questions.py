"""The questions that wait for an answer, asked of every room."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from itertools import groupby
from typing import TypeVar

from django.core.cache import cache

from apps.accounts import queries as accounts
from apps.console.pages.frame import Step
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
MOST_NAMED = 12
LOOKED_BACK = "7d"
MANAGE = ".venv/bin/python manage.py"
COUNT_KEPT_SECONDS = 60
COUNT_KEY = "console-setup-questions"

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


def questions_waiting(at: datetime) -> int:
    """How many things wait in Setup, counted at most once a minute by each web process."""
    known = cache.get(COUNT_KEY)
    if known is None:
        known = questions(at).total
        cache.set(COUNT_KEY, known, COUNT_KEPT_SECONDS)
    return int(known)


def recount() -> None:
    """Something was answered: count anew."""
    cache.delete(COUNT_KEY)


def questions(at: datetime) -> Questions:
    """What waits at `at`; prices, owners and refusals of the last seven days."""
    organisation = accounts.organisation()
    calendar = ledger.calendar_of(organisation.zone, organisation.week_starts_on, at)
    window = ledger.window_of(LOOKED_BACK, calendar)
    pools = fleet.pools()
    return Questions(
        unconfirmed_nodes=_unconfirmed(pools, at),
        unknown_nodes=_unknown(),
        silent_nodes=_silent(pools, at),
        unpriced_pools=_unpriced(window),
        unclaimed_work=_unclaimed(window),
        unowned_accounts=_unowned(window, at),
        rejected_windows=_rejected(window),
    )


def _unconfirmed(pools: Mapping[int, fleet.PoolFact], at: datetime) -> Question[UnconfirmedNode]:
    devices = fleet.unconfirmed_devices()
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


def _unknown() -> Question[UnknownNode]:
    found = workloads.unknown_nodes()
    rows = [
        UnknownNode(each.node_name, each.cluster, each.allocations, each.first_at, each.last_at)
        for each in found
    ]
    if not found:
        return _question(rows)
    first = found[0]
    names = [each.node_name for each in found if each.cluster_id == first.cluster_id]
    since = min(each.first_at for each in found if each.cluster_id == first.cluster_id)
    command = f"{MANAGE} add_nodes POOL {' '.join(names[:MOST_NAMED])} --from {since:%Y-%m-%d}"
    sentence = (
        "Say which pool they belong to, and since when they cost money (the pool must be of the "
        f"cluster {first.cluster}; `add_pool` makes one):"
    )
    return _question(rows, Step(sentence, command=command))


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


def _unpriced(window: ledger.Window) -> Question[UnpricedPool]:
    rows = [
        UnpricedPool(
            name=each.pool.name,
            gpu_model=each.pool.gpu_model,
            purchase_option=each.pool.purchase_option,
            milliseconds=each.unit_milliseconds,
            since=each.first_day,
        )
        for each in ledger.unpriced_pools(window)
    ]
    if not rows:
        return _question(rows)
    command = f"{MANAGE} add_rate {rows[0].name} 12.50 --from {rows[0].since}"
    return _question(rows, Step("Say what a node of the pool costs per hour:", command=command))


def _unclaimed(window: ledger.Window) -> Question[UnclaimedWork]:
    rows = [
        UnclaimedWork(
            key=each.key,
            pool=each.pool_name,
            gpu_milliseconds=each.gpu_milliseconds,
            cost_micros=each.micros,
            last_seen_at=each.last_hour,
        )
        for each in ledger.unclaimed_work(window)
    ]
    if not rows:
        return _question(rows)
    sentence = "If a scheduler ran it, its accounting names the job and settles these hours again:"
    return _question(rows, Step(sentence, command=f"{MANAGE} import_sacct accounting.psv"))


def _unowned(window: ledger.Window, at: datetime) -> Question[UnownedAccount]:
    rows = [
        UnownedAccount(
            account=each.account,
            cluster=each.cluster,
            jobs=each.jobs,
            gpu_milliseconds=int(each.gpu_milliseconds),
        )
        for each in workloads.unowned_accounts(window.starts_at, min(at, window.ends_at))
    ]
    if not rows:
        return _question(rows)
    first = rows[0]
    account = f" --account {first.account}" if first.account else ""
    command = f"{MANAGE} add_rule TEAM --cluster {first.cluster}{account} --from {window.first_day}"
    return _question(rows, Step("Say whose they are:", command=command))


def _rejected(window: ledger.Window) -> Question[RejectedWindows]:
    found = telemetry.rejections_by_agent(window.first_day)
    agents = fleet.agents() if found else {}
    names = fleet.node_names([agents[each.agent_id].node_id for each in found])
    rows = [
        RejectedWindows(
            agent=names[agents[each.agent_id].node_id],
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
