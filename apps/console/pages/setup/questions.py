"""The questions that wait for an answer, asked of every room, each with its table and its answer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from apps.accounts import queries as accounts
from apps.console.kit.cells import (
    COUNT,
    DAY,
    GPU_HOURS,
    INSTANT,
    MONEY,
    TEXT,
    WRAPPED,
    Format,
    Locale,
    leading,
    quiet,
)
from apps.console.kit.frame import Link, Step
from apps.console.kit.request import SEES_EVERYTHING
from apps.console.kit.table import Table
from apps.console.kit.waiting import keep_count
from apps.console.pages.pool_links import pool_costs_href, pool_href
from apps.console.pages.setup.exclusions import EXCLUDED_NODES
from apps.console.pages.setup.question_kind import ANSWER, PER_PAGE, QuestionKind, QuestionScope
from apps.console.pages.setup.unconfirmed_nodes import (
    UnconfirmedNode,
    devices_cell,
    unconfirmed_nodes,
)
from apps.fleet import queries as fleet
from apps.fleet.queries.agents import SilentAgentNode
from apps.ledger import queries as ledger
from apps.ledger.queries.open_questions import UnclaimedWork
from apps.show.time import duration
from apps.tables.column import CURRENCY_COLUMN, Column
from apps.telemetry import queries as telemetry
from apps.telemetry.queries.window_errors import RejectionCount
from apps.workloads import queries as workloads

LOOKED_BACK = "7d"
CODE = Format(lambda text, _: format_html("<code>{}</code>", text), TEXT.written)


class SilentNode(NamedTuple):
    """A node whose agent has stopped reporting; it is charged on until somebody ends it."""

    agent: SilentAgentNode
    pool: str
    silent_for: timedelta


def recount() -> None:
    """Count anew: something was answered, or the last count is old."""
    at = timezone.now()
    keep_count(count_of(waiting_at(at, accounts.organisation())), at)


def count_of(waiting: Mapping[str, Sequence[Any]]) -> int:
    """How many questions these are."""
    return sum(len(waiting[kind.key]) for kind in KINDS if kind.asked_about)


def waiting_at(at: datetime, organisation: accounts.OrganisationFact) -> dict[str, Sequence[Any]]:
    """Return what waits at `at`, by the key of its kind; prices, owners and refusals of seven days."""
    query = question_scope(at, organisation)
    return {kind.key: kind.find(query) for kind in KINDS}


def question_scope(at: datetime, organisation: accounts.OrganisationFact) -> QuestionScope:
    """The days that are looked back on, and the pools."""
    calendar = ledger.calendar_of(organisation.zone, organisation.week_starts_on, at)
    window = ledger.window_of(LOOKED_BACK, calendar)
    return QuestionScope(at, window, fleet.pools(), workloads.unknown_nodes())


def _confirm_button(row: UnconfirmedNode, _: Locale) -> str:
    href = f"{reverse('confirm-node-devices', args=[row.node_id])}?back_to=setup"
    return leading("Confirm", f"the devices of {row.node}", href)


def _silent_nodes(query: QuestionScope) -> list[SilentNode]:
    return [
        SilentNode(agent, query.pools[agent.pool_id].name, query.at - agent.last_seen_at)
        for agent in fleet.silent_agents(query.at)
    ]


def _end_node(rows: Sequence[SilentNode]) -> Step:
    first = rows[0].agent
    link = Link(f"End {first.node_name}", reverse("end-node", args=[first.node_id]))
    return Step("If a node is gone, say since when.", link=link)


def _price_button(row: ledger.UnpricedPool, _: Locale) -> str:
    href = f"{reverse('add-rate')}?{urlencode({'pool': row.pool.id, 'back_to': 'setup'})}"
    return leading("Set its price", f"for {row.pool.name}", href)


def _rule_button(row: workloads.AccountWithoutOwner, _: Locale) -> str:
    params = {row.bears: row.name} if row.bears else {}
    href = (
        f"{reverse('new-rule')}?{urlencode({'cluster': row.cluster, **params, 'back_to': 'setup'})}"
    )
    return leading("Whose?", f"A rule for {row.name}", href)


def _account_cell(row: workloads.AccountWithoutOwner, _: Locale) -> str:
    if not row.name:
        nobody = "no account, namespace, user or partition"
        return format_html("{}<small>{}</small>", quiet("nobody named"), nobody)
    if row.bears == "account":
        return row.name
    return format_html("{}<small>{}</small>", row.name, row.bears)


UNPRICED_POOLS = QuestionKind[ledger.UnpricedPool](
    "unpriced_pools",
    Table(
        "unpriced-pools",
        "{said} without a price",
        (
            Column("pool", "Pool", lambda row: row.pool.name,
                   href=lambda row: pool_href(row.pool.name)),
            Column("gpu_model", "GPU model", lambda row: row.pool.gpu_model),
            Column("purchase_option", "Bought as", lambda row: row.pool.purchase_option),
            Column("gpu_hours", "GPU-hours", lambda row: row.unit_milliseconds, GPU_HOURS,
                   href=lambda row: pool_costs_href(row.pool.name, LOOKED_BACK)),
            Column("since", "Since", lambda row: row.first_day, DAY, csv="first_day"),
            Column("answer", ANSWER, lambda _: "", csv="", sorts=False, shown=_price_button),
        ),
        noun=("pool", "pools"),
        about="GPU time of the last 7 days that no rate covers: unpriced, never free",
        sort="unpriced",
        per_page=PER_PAGE,
    ),
    lambda query: ledger.unpriced_pools(query.window, query.pools),
    lambda _: Step(
        "Say what a node of the pool costs.", link=Link("All prices", reverse("prices"))
    ),
    answered_by=SEES_EVERYTHING,
)  # fmt: skip
UNKNOWN_NODES = QuestionKind[workloads.UnknownNodeName](
    "unknown_nodes",
    Table(
        "unknown-nodes",
        "{said} named by schedulers: which pool, from when?",
        (
            Column("node", "Node", lambda row: row.node_name),
            Column("cluster", "Cluster", lambda row: row.cluster),
            Column("gpus", "GPUs held at once", lambda row: row.gpus or None, COUNT, missing="none"),
            Column("gpu_model", "GPU model", lambda row: row.gpu_type or None,
                   missing=quiet("unknown")),
            Column("jobs", "Jobs", lambda row: row.allocations, COUNT),
            Column("first_named_at", "First named", lambda row: row.first_at, INSTANT),
            Column("last_named_at", "Last named", lambda row: row.last_at, INSTANT,
                   missing="still held"),
        ),
        noun=("node", "nodes"),
        about="their jobs wait, and hold nothing until the node exists; a node has at least as "
        "many GPUs as were held at once",
        sort="unknown",
        per_page=PER_PAGE,
    ),
    lambda query: [name for name in query.names if name.gpus],
)  # fmt: skip
NODES_WITHOUT_GPUS = QuestionKind[workloads.UnknownNodeName](
    "nodes_without_gpus",
    replace(
        UNKNOWN_NODES.table,
        name="nodes-without-gpus",
        title="{said} on which no job held a GPU",
        columns=tuple(
            column
            for column in UNKNOWN_NODES.table.columns
            if column.key not in {"gpus", "gpu_model"}
        ),
        about="nothing waits for them: they cost nothing here unless you put them into a pool",
        sort="without-gpus",
    ),
    lambda query: [name for name in query.names if not name.gpus],
    asked_about=False,
)
UNCONFIRMED_NODES = QuestionKind[UnconfirmedNode](
    "unconfirmed_nodes",
    Table(
        "unconfirmed-devices",
        "Are the devices of {said} yours?",
        (
            Column("node", "Node", lambda row: row.node,
                   href=lambda row: reverse("node", args=[row.node_id])),
            Column("pool", "Pool", lambda row: row.pool),
            Column("devices", "Devices seen", lambda row: row.devices, WRAPPED,
                   shown=devices_cell),
            Column("expected", "", lambda row: row.expected),
            Column("uuids", "", lambda row: " ".join(row.uuids)),
            Column("first_seen_at", "First seen", lambda row: row.first_seen_at, INSTANT),
            Column("answer", ANSWER, lambda _: "", csv="", sorts=False, shown=_confirm_button),
        ),
        noun=("node", "nodes"),
        about="agents report them; they count already, and stay listed until {who} them",
        sort="unconfirmed",
        per_page=PER_PAGE,
    ),
    unconfirmed_nodes,
)  # fmt: skip
SILENT_NODES = QuestionKind[SilentNode](
    "silent_nodes",
    Table(
        "silent-nodes",
        "{said}",
        (
            Column("node", "Node", lambda row: row.agent.node_name,
                   href=lambda row: reverse("node", args=[row.agent.node_id])),
            Column("pool", "Pool", lambda row: row.pool),
            Column("silent", "Silent for", lambda row: row.silent_for, csv="silent_seconds",
                   shown=lambda row, _: duration(row.silent_for),
                   written=lambda row, _: f"{row.silent_for.total_seconds():.0f}"),
            Column("heard", "Last heard", lambda row: row.agent.last_seen_at, INSTANT,
                   csv="last_seen_at"),
        ),
        noun=("silent node", "silent nodes"),
        about="charged until an inventory, the bill or you end them; until then they keep accruing "
        "cost",
        sort="silent",
        per_page=PER_PAGE,
    ),
    _silent_nodes,
    _end_node,
)  # fmt: skip
UNOWNED_ACCOUNTS = QuestionKind[workloads.AccountWithoutOwner](
    "unowned_accounts",
    Table(
        "unowned-accounts",
        "{said} without a team",
        (
            Column("name", "Jobs of", lambda row: row.name, shown=_account_cell),
            Column("of", "", lambda row: row.bears),
            Column("cluster", "Cluster", lambda row: row.cluster),
            Column("jobs", "Jobs", lambda row: row.jobs, COUNT),
            Column("gpu_hours", "GPU-hours", lambda row: int(row.gpu_milliseconds), GPU_HOURS),
            Column("answer", ANSWER, lambda _: "", csv="", sorts=False, shown=_rule_button),
        ),
        noun=("account", "accounts"),
        about="no ownership rule matches their jobs of the last 7 days, so the team reads Unowned",
        sort="unowned",
        per_page=PER_PAGE,
    ),
    lambda query: workloads.unowned_accounts(
        query.window.starts_at, min(query.at, query.window.ends_at)
    ),
    lambda _: Step(
        "Say whose they are, with a look at what moves first.",
        link=Link("See what each cost", reverse("unowned")),
    ),
)  # fmt: skip
UNCLAIMED_WORK = QuestionKind[UnclaimedWork](
    "unclaimed_work",
    Table(
        "unclaimed-work",
        "{said} of no known job",
        (
            Column("holder_key", "Holder key", lambda row: row.key, CODE),
            Column("pool", "Pool", lambda row: row.pool_name,
                   href=lambda row: pool_href(row.pool_name)),
            Column("gpu_hours", "GPU-hours", lambda row: row.gpu_milliseconds, GPU_HOURS),
            Column("cost", "Cost", lambda row: row.micros, MONEY),
            CURRENCY_COLUMN,
            Column("last_seen_at", "Last seen", lambda row: row.last_hour, INSTANT),
        ),
        noun=("holder", "holders"),
        about="GPU work of the last 7 days that nobody claimed; the job’s arrival settles it",
        sort="unclaimed",
        per_page=PER_PAGE,
    ),
    lambda query: ledger.unclaimed_work(query.window, query.pools),
    lambda _: Step(
        "If a scheduler ran it, its accounting names the job and settles these hours again:",
        link=Link("Import a file", reverse("imports")),
    ),
)  # fmt: skip
REJECTED_WINDOWS = QuestionKind[RejectionCount](
    "rejected_windows",
    Table(
        "rejected-windows",
        "Measurements refused for {said}",
        (
            Column("agent", "Agent", lambda row: row.node),
            Column("field", "Field", lambda row: row.field, CODE),
            Column("reason", "Reason", lambda row: row.reason, WRAPPED,
                   note=lambda row: "only the field was left out" if row.kept else ""),
            Column("windows", "Windows", lambda row: row.count, COUNT),
            Column("last_at", "Last", lambda row: row.last_at, INSTANT),
            Column("windows_kept", "", lambda row: "yes" if row.kept else "no"),
        ),
        noun=("reason", "reasons"),
        about="in the last 7 days; each was refused alone, its neighbours were kept",
        sort="rejected",
        per_page=PER_PAGE,
    ),
    lambda query: telemetry.rejections_by_agent(query.window.first_day),
)  # fmt: skip
KINDS: tuple[QuestionKind[Any], ...] = (
    UNPRICED_POOLS,
    UNKNOWN_NODES,
    UNCONFIRMED_NODES,
    SILENT_NODES,
    UNOWNED_ACCOUNTS,
    UNCLAIMED_WORK,
    REJECTED_WINDOWS,
    NODES_WITHOUT_GPUS,
    EXCLUDED_NODES,
)
"""In the order of the page."""
