"""The page of agents: how each is, what is wrong with it, and what to do."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from django.urls import reverse
from django.utils.html import format_html, format_html_join

from apps.console.kit.cells import COUNT, INSTANT, RATIO, TEXT, Format, linked, number_cell, quiet
from apps.console.kit.chart import Figure, FigureRow
from apps.console.kit.filters import Reading, filter_of, key_parser
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.kit.table import Table
from apps.console.pages.fleet.agent_troubles import Trouble, is_silent, troubles_of, version_key
from apps.console.pages.fleet.status_words import StatusLabel, status_label_cell
from apps.console.pages.fleet.trust import trust_sections
from apps.console.pages.managers import role_sentence
from apps.fleet.queries import AgentState, agent_states
from apps.show.amounts import count, counted
from apps.show.incidents import AGENT_STATES
from apps.show.time import minute_duration
from apps.tables.column import Column

SHOWS = {"": "Nodes in service", "unwell": "Unhealthy", "ended": "Ended nodes"}
ENDED = "Node ended"
BYTES_PER_MB = 1_000_000
NOT_REPORTED = quiet("not reported")
ADVICE = Format(TEXT.shown, TEXT.written, "source quoted")
MILLISECONDS = Format(lambda ms, _: f"{ms} ms", lambda ms, _: number_cell(ms), "number-cell")
MEGABYTES = Format(
    lambda bytes_, _: f"{bytes_ / BYTES_PER_MB:,.0f} MB",
    lambda bytes_, _: number_cell(bytes_),
    "number-cell",
)


class AgentHealth(NamedTuple):
    """An agent by its last word, as it stands at `at`, and what is wrong with it."""

    agent: AgentState
    at: datetime
    troubles: tuple[Trouble, ...]

    @property
    def is_node_ended(self) -> bool:
        """Whether the node is gone, so that nobody misses its agent."""
        ended_at = self.agent.node_ended_at
        return ended_at is not None and ended_at <= self.at

    @property
    def lacks_gpus(self) -> bool:
        """Whether it sees fewer GPUs than it expects."""
        expected, visible = self.agent.expected_gpus, self.agent.seen_gpus
        return visible is not None and expected is not None and visible < expected


def agent_status_label(row: AgentHealth) -> StatusLabel:
    """How it is, the gravest first."""
    agent = row.agent
    if row.is_node_ended:
        return StatusLabel(ENDED, "quiet", agent.node_ended_at)
    if agent.last_seen_at is None:
        return StatusLabel("Not heard yet", "quiet", agent.enrolled_at)
    if is_silent(agent, row.at):
        return StatusLabel("Silent", "warn", agent.last_seen_at)
    if not agent.state:
        return StatusLabel("Heard; health not reported", "quiet")
    words = AGENT_STATES.get(agent.state)
    text = words.label if words else agent.state.replace("_", " ")
    return StatusLabel(text, "" if agent.state in ("ok", "starting") else "warn")


def _last_heard(row: AgentHealth) -> str:
    at = row.agent.last_seen_at
    return quiet("never") if at is None else f"{minute_duration(row.at - at)} ago"


def _what_to_do(row: AgentHealth) -> str:
    if not row.troubles:
        return quiet("nothing")
    lines = (
        (
            trouble.what,
            trouble.advice,
            format_html("<small>{}</small>", trouble.detail) if trouble.detail else "",
        )
        for trouble in row.troubles
    )
    return format_html_join("", "<p><strong>{}.</strong> {}{}</p>", lines)


def _observed_gpus(row: AgentHealth) -> str | None:
    expected, visible = row.agent.expected_gpus, row.agent.seen_gpus
    if visible is None:
        return None
    return f"{visible} of {expected}" if expected else str(visible)


def _spool_words(row: AgentHealth) -> str:
    agent = row.agent
    if agent.spool_batches is None:
        return NOT_REPORTED
    if not agent.spool_batches:
        return "empty"
    parts = [counted(agent.spool_batches, "batch", "batches")]
    if agent.spool_bytes is not None:
        parts.append(f"{agent.spool_bytes / BYTES_PER_MB:,.1f} MB")
    if agent.spool_oldest_at is not None:
        parts.append(f"oldest {minute_duration(row.at - agent.spool_oldest_at)}")
    return ", ".join(parts)


def _cpu_ratio(row: AgentHealth) -> float | None:
    """Of one core, since it was started."""
    agent = row.agent
    if agent.cpu_seconds is None or agent.boot is None or agent.at is None:
        return None
    lifetime_seconds = (
        agent.at - datetime.fromtimestamp(0, UTC)
    ).total_seconds() - agent.boot / 1000
    return agent.cpu_seconds / lifetime_seconds if lifetime_seconds >= 1 else None


def _cpu_seconds(row: AgentHealth) -> str | None:
    seconds = row.agent.cpu_seconds
    return None if seconds is None else f"{seconds:.2f}"


def _clock_offset(row: AgentHealth) -> int | None:
    return None if row.agent.last_seen_at is None else row.agent.clock_offset_ms


def _source_and_driver(row: AgentHealth) -> str:
    driver = row.agent.driver
    return row.agent.source + (f", driver {driver}" if driver else "")


AGENTS = Table[AgentHealth](
    "agents",
    "Agents",
    (
        Column("node", "Node", lambda row: row.agent.node_name,
               href=lambda row: reverse("node", args=[row.agent.node_id])),
        Column("source", "", lambda row: row.agent.source),
        Column("state", "Agent status", lambda row: agent_status_label(row).text,
               order=lambda row: (not row.troubles, agent_status_label(row).text),
               shown=lambda row, locale: status_label_cell(agent_status_label(row), locale)),
        Column("heard", "Last heard", lambda row: row.agent.last_seen_at, INSTANT,
               csv="last_seen_at", shown=lambda row, _: _last_heard(row)),
        Column("todo", "What to do", lambda row: " ".join(trouble.advice for trouble in row.troubles),
               ADVICE, csv="what_to_do", sorts=False, shown=lambda row, _: _what_to_do(row)),
        Column("problems", "", lambda row: "; ".join(trouble.what for trouble in row.troubles)),
        Column("gpus", "GPUs seen", _observed_gpus, csv="gpus_seen", missing=NOT_REPORTED,
               order=lambda row: (not row.lacks_gpus, visible) if (visible := _observed_gpus(row)) else None,
               warns=lambda row: row.lacks_gpus),
        Column("missing", "", lambda row: " ".join(row.agent.missing)),
        Column("spool_batches", "", lambda row: row.agent.spool_batches, COUNT),
        Column("spool", "Spool", lambda row: row.agent.spool_bytes, COUNT, csv="spool_bytes",
               shown=lambda row, _: _spool_words(row)),
        Column("spool_oldest_at", "", lambda row: row.agent.spool_oldest_at, INSTANT),
        Column("dropped", "Dropped", lambda row: row.agent.dropped_windows, COUNT,
               csv="dropped_windows", missing=NOT_REPORTED),
        Column("clock", "Clock", _clock_offset, MILLISECONDS, csv="clock_offset_ms",
               missing=NOT_REPORTED),
        Column("cpu", "CPU", _cpu_ratio, RATIO, csv="", missing=NOT_REPORTED),
        Column("cpu_seconds", "", _cpu_seconds),
        Column("memory", "Memory", lambda row: row.agent.pss_bytes, MEGABYTES,
               csv="memory_bytes", missing=NOT_REPORTED),
        Column("version", "Version", lambda row: row.agent.version or None,
               order=lambda row: version_key(row.agent.version) if row.agent.version else None,
               missing=NOT_REPORTED, note=_source_and_driver),
        Column("driver", "", lambda row: row.agent.driver),
    ),
    noun=("agent", "agents"),
    sort="sort",
    csv_first=("node", "source", "version", "state", "last_seen_at", "gpus_seen", "missing",
               "driver", "spool_batches", "spool_bytes", "spool_oldest_at", "dropped_windows",
               "clock_offset_ms", "cpu_seconds", "memory_bytes", "problems", "what_to_do"),
)  # fmt: skip
HOW_TO_READ = (
    "CPU is of one core since the agent was started; the clock is the server’s less the agent’s."
)


@shown(EVERYONE, "agents")
def agents(context: Context) -> ConsolePage:
    """Every agent; whoever signed in may see them, as they may the nodes."""
    every, reading = agents_by_need(context.at), _agents_query(context)
    rows = agents_shown(every, reading.texts["show"])
    return ConsolePage(
        context=context,
        finding=finding(every),
        under=(
            "As each agent last reported. Those that need attention come first, with what to do.",
        ),
        filters=(filter_of("show", "Agents", SHOWS, reading.texts),),
        problems=tuple(reading.problems),
        main_table=AGENTS.name,
        sections=(
            FigureRow(figures(every)),
            *trust_sections(context),
            AGENTS.section(
                rows,
                context,
                csv_name="agents",
                empty=_no_agent(context, is_any=bool(every)),
                remark=HOW_TO_READ if rows else "",
            ),
        ),
    )


def agents_by_need(at: datetime) -> list[AgentHealth]:
    """Every agent, those with something wrong first, then by node."""
    states = agent_states()
    newest = max((state.version for state in states), key=version_key, default="")
    rows = [AgentHealth(state, at, troubles_of(state, at, newest)) for state in states]
    return sorted(
        rows, key=lambda row: (not row.troubles, row.agent.node_name.casefold(), row.agent.agent_id)
    )


def unhealthy_agents(rows: Sequence[AgentHealth]) -> int:
    """How many have something wrong with them."""
    return sum(bool(row.troubles) for row in rows)


def agents_shown(rows: Sequence[AgentHealth], show: str) -> list[AgentHealth]:
    """Those that the address asks for."""
    if show == "unwell":
        return [row for row in rows if row.troubles]
    return [row for row in rows if row.is_node_ended == (show == "ended")]


def finding(rows: Sequence[AgentHealth]) -> str:
    """How many are unhealthy, in a sentence."""
    active_rows = agents_shown(rows, "")
    if not active_rows:
        return "No agent is enrolled yet."
    ill = unhealthy_agents(active_rows)
    if not ill:
        one = len(active_rows) == 1
        return "The agent is healthy." if one else f"All {len(active_rows):,} agents are healthy."
    verb = "needs" if ill == 1 else "need"
    return f"{ill:,} of {counted(len(active_rows), 'agent')} {verb} attention."


def figures(rows: Sequence[AgentHealth]) -> tuple[Figure, ...]:
    """How many there are, and how many are unhealthy, miss GPUs, or have a backlog to send."""
    active_rows, address = agents_shown(rows, ""), reverse("agents")
    lacking = sum(row.lacks_gpus for row in active_rows)
    waiting = sum(bool(row.agent.spool_batches) for row in active_rows)
    return (
        Figure("Agents", count(len(active_rows)), "on nodes in service", href=address),
        Figure(
            "Unhealthy",
            count(unhealthy_agents(active_rows)),
            "each with what to do about it",
            href=f"{address}?show=unwell",
        ),
        Figure("Missing GPUs", count(lacking), "see fewer than they expect", href="#agents"),
        Figure(
            "Backlogged",
            count(waiting),
            "batches wait in their spools",
            href=f"{address}?sort=-spool#agents",
        ),
    )


def _agents_query(context: Context) -> Reading:
    reading = Reading(context.query, {"show": ""}, {"show": "those of nodes in service"})
    reading.read("show", key_parser(SHOWS, "Agents cannot be chosen by {!r}."))
    return reading


def _no_agent(context: Context, *, is_any: bool) -> str:
    if is_any:
        return "No agent matches the filter."
    how = role_sentence("enrols it")
    if context.viewer.sees_everything:
        how = linked("How to enrol one", f"{reverse('first-day')}#step-agent")
    return format_html("An agent on each node says what its GPUs did; none is enrolled. {}", how)
