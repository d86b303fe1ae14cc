"""The page of agents: how each is, what is wrong with it, and what to do."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.console.kit.cells import moment_cell, text_cell
from apps.console.kit.frame import Choice, Filter
from apps.console.kit.request import EVERYONE, request_context, shown_to
from apps.console.kit.table import csv_answer
from apps.console.pages.fleet.agent_troubles import is_silent, troubles_of, version_key
from apps.console.pages.fleet.incident_values import AgentRow, AgentsPage
from apps.console.pages.fleet.values import PlainFigure, Standing
from apps.console.pages.listed import Asked, By, listed, ordered
from apps.fleet.queries import AgentState, agent_states
from apps.show.amounts import count, counted
from apps.show.incidents import AGENT_STATES
from apps.show.time import duration

SHOWS = {"": "Nodes in service", "unwell": "Unhealthy", "ended": "Ended nodes"}
ENDED = "Node ended"
BYTES_PER_MB = 1_000_000
COLUMNS: Mapping[str, By[AgentRow]] = {
    "node": By("Node", lambda row: row.node),
    "state": By("Agent status", lambda row: (not row.troubles, row.standing.text)),
    "heard": By("Last heard", lambda row: row.last_seen_at),
    "todo": By("What to do"),
    "gpus": By("GPUs seen", lambda row: (not row.lacks_gpus, row.gpus) if row.gpus else None),
    "spool": By("Spool", lambda row: row.spool_bytes, is_number=True),
    "dropped": By("Dropped", lambda row: row.dropped, is_number=True),
    "clock": By("Clock", lambda row: row.clock_offset_ms, is_number=True),
    "cpu": By("CPU", lambda row: row.cpu_ratio, is_number=True),
    "memory": By("Memory", lambda row: row.memory_bytes, is_number=True),
    "version": By("Version", lambda row: version_key(row.version) if row.version else None),
}
HEADER = (
    *("node", "source", "version", "state", "last_heard_at", "gpus_seen", "missing", "driver"),
    *("spool_batches", "spool_bytes", "spool_oldest_at", "dropped_windows", "clock_offset_ms"),
    *("cpu_seconds", "memory_bytes", "problems", "what_to_do"),
)


@require_safe
@shown_to(EVERYONE)
def agents(request: HttpRequest) -> HttpResponse:
    """Every agent; whoever signed in may see them, as they may the nodes."""
    who = request_context(request, "agents")
    every = agent_rows(who.at)
    show, problems = _show(request.GET)
    asked = Asked(request.GET, reverse("agents"), part="agents", noun=("agent", "agents"))
    rows = chosen(every, show)
    page = AgentsPage(
        frame=who.frame,
        finding=finding(every),
        zone=who.zone,
        filters=(_filter(show),),
        problems=problems,
        sort=asked.sort,
        agents=listed(rows, COLUMNS, asked),
        csv_href=reverse("agents-csv") + (f"?show={show}" if show else ""),
        figures=figures(every),
    )
    return render(request, "fleet/agents.html", {"page": page})


@require_safe
@shown_to(EVERYONE)
def agents_csv(request: HttpRequest) -> HttpResponse:
    """The agents that the address asks for."""
    who = request_context(request, "agents")
    rows = chosen(agent_rows(who.at), _show(request.GET)[0])
    sort = request.GET.get("sort", "")
    if sort.removeprefix("-") in COLUMNS:
        rows = ordered(rows, COLUMNS, sort)
    return csv_answer("agents", HEADER, map(_cells, rows))


def agent_rows(at: datetime) -> list[AgentRow]:
    """Every agent, those with something wrong first, then by node."""
    states = agent_states()
    newest = max((each.version for each in states), key=version_key, default="")
    rows = [_row(each, at, newest) for each in states]
    return sorted(rows, key=lambda row: (not row.troubles, row.node.casefold(), row.id))


def unwell(rows: Sequence[AgentRow]) -> int:
    """How many have something wrong with them."""
    return sum(bool(row.troubles) for row in rows)


def chosen(rows: Sequence[AgentRow], show: str) -> list[AgentRow]:
    """Those that the address asks for."""
    if show == "unwell":
        return [row for row in rows if row.troubles]
    return [row for row in rows if (row.standing.text == ENDED) == (show == "ended")]


def finding(rows: Sequence[AgentRow]) -> str:
    """How many are unhealthy, in a sentence."""
    living = chosen(rows, "")
    if not living:
        return "No agent is enrolled yet."
    ill = unwell(living)
    if not ill:
        one = len(living) == 1
        return "The agent is healthy." if one else f"All {len(living):,} agents are healthy."
    verb = "needs" if ill == 1 else "need"
    return f"{ill:,} of {counted(len(living), 'agent')} {verb} attention."


def figures(rows: Sequence[AgentRow]) -> tuple[PlainFigure, ...]:
    """How many there are, and how many are unhealthy, miss GPUs, or have a backlog to send."""
    living, address = chosen(rows, ""), reverse("agents")
    lacking = sum(row.lacks_gpus for row in living)
    waiting = sum(bool(row.spool_batches) for row in living)
    return (
        PlainFigure("Agents", count(len(living)), "on nodes in service", href=address),
        PlainFigure(
            "Unhealthy",
            count(unwell(living)),
            "each with what to do about it",
            href=f"{address}?show=unwell",
        ),
        PlainFigure("Missing GPUs", count(lacking), "see fewer than they expect", href="#agents"),
        PlainFigure(
            "Backlogged",
            count(waiting),
            "batches wait in their spools",
            href=f"{address}?sort=-spool#agents",
        ),
    )


def _row(agent: AgentState, at: datetime, newest: str) -> AgentRow:
    expected, seen = agent.expected_gpus, agent.seen_gpus
    return AgentRow(
        id=agent.agent_id,
        node=agent.node_name,
        node_href=reverse("node", args=[agent.node_id]),
        standing=_standing(agent, at),
        heard=f"{duration(_round(at - agent.last_seen_at))} ago" if agent.last_seen_at else "",
        last_seen_at=agent.last_seen_at,
        version=agent.version,
        source=agent.source,
        gpus="" if seen is None else f"{seen} of {expected}" if expected else str(seen),
        lacks_gpus=seen is not None and expected is not None and seen < expected,
        missing=agent.missing,
        spool=_spool(agent, at),
        spool_batches=agent.spool_batches,
        spool_bytes=agent.spool_bytes,
        spool_oldest_at=agent.spool_oldest_at,
        dropped=agent.dropped_windows,
        clock_offset_ms=None if agent.last_seen_at is None else agent.clock_offset_ms,
        cpu_ratio=_cpu_ratio(agent),
        cpu_seconds=agent.cpu_seconds,
        memory_bytes=agent.pss_bytes,
        memory_said="" if agent.pss_bytes is None else f"{agent.pss_bytes / BYTES_PER_MB:,.0f} MB",
        driver=agent.driver,
        troubles=troubles_of(agent, at, newest),
    )


def _standing(agent: AgentState, at: datetime) -> Standing:
    if agent.node_ended_at is not None and agent.node_ended_at <= at:
        return Standing(ENDED, "quiet", agent.node_ended_at)
    if agent.last_seen_at is None:
        return Standing("Not heard yet", "quiet", agent.enrolled_at)
    if is_silent(agent, at):
        return Standing("Silent", "warn", agent.last_seen_at)
    if not agent.state:
        return Standing("Heard; health not reported", "quiet")
    words = AGENT_STATES.get(agent.state)
    text = words.label if words else agent.state.replace("_", " ")
    return Standing(text, "" if agent.state in ("ok", "starting") else "warn")


def _spool(agent: AgentState, at: datetime) -> str:
    if agent.spool_batches is None:
        return ""
    if not agent.spool_batches:
        return "empty"
    parts = [counted(agent.spool_batches, "batch", "batches")]
    if agent.spool_bytes is not None:
        parts.append(f"{agent.spool_bytes / BYTES_PER_MB:,.1f} MB")
    if agent.spool_oldest_at is not None:
        parts.append(f"oldest {duration(_round(at - agent.spool_oldest_at))}")
    return ", ".join(parts)


def _cpu_ratio(agent: AgentState) -> float | None:
    """Of one core, since it was started."""
    if agent.cpu_seconds is None or agent.boot is None or agent.at is None:
        return None
    lived = (agent.at - datetime.fromtimestamp(0, UTC)).total_seconds() - agent.boot / 1000
    return agent.cpu_seconds / lived if lived >= 1 else None


def _round(span: timedelta) -> timedelta:
    minute = timedelta(minutes=1)
    return span - span % minute if span >= minute else span


def _show(given: QueryDict) -> tuple[str, tuple[str, ...]]:
    show = given.get("show", "")[:40]
    if show in SHOWS:
        return show, ()
    return "", (f"Agents cannot be chosen by {show!r}. Shown instead: those of nodes in service.",)


def _filter(show: str) -> Filter:
    choices = tuple(Choice(key, text, key == show) for key, text in SHOWS.items())
    return Filter("show", "Agents", choices)


def _cells(row: AgentRow) -> list[str]:
    return [
        text_cell(row.node),
        row.source,
        text_cell(row.version),
        text_cell(row.standing.text),
        moment_cell(row.last_seen_at),
        row.gpus,
        text_cell(" ".join(row.missing)),
        text_cell(row.driver),
        _number(row.spool_batches),
        _number(row.spool_bytes),
        moment_cell(row.spool_oldest_at),
        _number(row.dropped),
        _number(row.clock_offset_ms),
        "" if row.cpu_seconds is None else f"{row.cpu_seconds:.2f}",
        _number(row.memory_bytes),
        text_cell("; ".join(each.what for each in row.troubles)),
        text_cell(" ".join(each.advice for each in row.troubles)),
    ]


def _number(value: int | None) -> str:
    return "" if value is None else str(value)
