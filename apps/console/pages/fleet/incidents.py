"""The list of incidents: what happened, how long, what it means, what it cost, what to do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from typing import NamedTuple

from django.urls import reverse

from apps.console.kit.cells import COUNT, INSTANT, MONEY, TEXT, Format, quiet, titled
from apps.console.kit.chart import Figure, FigureRow
from apps.console.kit.filters import Reading, filter_of, key_parser
from apps.console.kit.frame import Filter
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.kit.table import Table
from apps.console.pages.fleet.incident_costs import (
    NODE,
    cost_together,
    costs_of,
    is_silent,
    observed_until,
)
from apps.console.pages.fleet.status_words import StatusLabel, status_label_cell
from apps.console.pages.fleet.trust import trust_sections
from apps.show.amounts import count, counted
from apps.show.incidents import UNUSABLE, incident_advice, incident_label
from apps.show.money import short_amount
from apps.show.time import minute_duration
from apps.tables.column import CURRENCY_COLUMN, Column
from apps.telemetry.queries import (
    IncidentFact,
    IncidentsWanted,
    incident_facts,
    incident_kinds,
    incident_nodes,
)

MOST = 2_000
MOST_NODES = 300
SHOWN_OF_A_UUID = 12
ENDED_WITH_NODE = "Until the node ended"
SINCE = {"day": 1, "week": 7, "": 30, "year": 365}
SINCE_WORDS = {"day": "24 hours", "week": "7 days", "": "30 days", "year": "A year"}
OPEN = {"": "Open and over", "yes": "Open", "no": "Over"}
LASTS = {"yes": True, "no": False}
DEFAULTS = {"open": "", "kind": "", "node": "", "since": ""}
DEFAULT_WORDS = {"open": "all", "kind": "all", "node": "all", "since": "30 days"}
QUOTED = Format(TEXT.shown, TEXT.written, "quoted")
QUOTED_MONEY = Format(MONEY.shown, MONEY.written, "quoted")
WORDS = Format(TEXT.shown, TEXT.written, "source quoted")
ADVICE = Format(TEXT.shown, TEXT.written, "source")
SHORT_UUID = Format(
    lambda uuid, _: titled(
        uuid if len(uuid) <= SHOWN_OF_A_UUID else f"{uuid[:SHOWN_OF_A_UUID]}…", uuid
    ),
    TEXT.written,
)
WHAT_IT_COSTS = (
    "Cost of lost GPU time: what the GPUs that could not be used cost meanwhile, as far as settled "
    "and priced: a GPU lost or missing, a driver that does not answer or does not match, a GPU that "
    "needs recovery. While an agent is silent, only to when it was last heard. A fatal XID’s are "
    "those of what it led to."
)


class PricedIncident(NamedTuple):
    """An incident and its cost, looked at `at`; `cost_micros` None is not known."""

    fact: IncidentFact
    cost_micros: int | None
    at: datetime

    @property
    def lasted(self) -> timedelta:
        """As long as anybody can say that it did."""
        return observed_until(self.fact, self.at) - self.fact.started_at


def incident_status_label(row: PricedIncident) -> StatusLabel:
    """Whether it lasts, as far as anybody can know."""
    fact = row.fact
    if fact.ended_at is not None:
        is_cut = fact.node_ended_at is not None and fact.ended_at >= fact.node_ended_at
        return StatusLabel(ENDED_WITH_NODE if is_cut else "Over", "quiet")
    if not is_silent(fact, row.at):
        return StatusLabel("Open", "warn")
    if fact.heard_at is None:
        return StatusLabel("Open; no agent is heard", "warn")
    ago = minute_duration(row.at - fact.heard_at)
    return StatusLabel(f"Open when the agent was last heard, {ago} ago", "warn")


def _lasted_words(row: PricedIncident) -> str:
    is_moment = row.fact.ended_at is not None and not row.lasted
    return "point event" if is_moment else minute_duration(row.lasted)


def _why_no_cost(row: PricedIncident) -> str:
    """Why its cost is not known; empty where it is."""
    fact = row.fact
    if row.cost_micros is not None:
        return ""
    if fact.kind == "xid":
        return "an XID is a moment; what it led to has its own line"
    if fact.kind not in UNUSABLE:
        return "took no GPU away"
    if fact.uuid == NODE and fact.kind == "gpu_missing":
        return "which GPU is not reported"
    return "not settled yet, or without a price"


def _times_and_detail(row: PricedIncident) -> str:
    times = f"{row.fact.count:,} times" if row.fact.count > 1 else ""
    return "; ".join(filter(None, (times, row.fact.detail)))


def _device_href(row: PricedIncident) -> str:
    device_id = row.fact.device_id
    return reverse("device", args=[device_id]) if device_id else ""


COST: Column[PricedIncident] = Column(
    "cost",
    "Cost of lost GPU time",
    lambda row: row.cost_micros,
    QUOTED_MONEY,
    csv="lost_cost",
    missing=quiet("not known"),
    note=_why_no_cost,
)
INCIDENTS = Table[PricedIncident](
    "incidents",
    "Incidents",
    (
        Column("when", "Started", lambda row: row.fact.started_at, INSTANT, csv="started_at"),
        Column("ended_at", "", lambda row: row.fact.ended_at, INSTANT),
        Column("what", "Incident", lambda row: incident_label(row.fact.kind, row.fact.code),
               WORDS, note=_times_and_detail),
        Column("lasted", "Duration", _lasted_words, QUOTED, csv="",
               order=lambda row: row.lasted.total_seconds(),
               note=lambda row: status_label_cell(incident_status_label(row))),
        Column("standing", "", lambda row: incident_status_label(row).text),
        Column("last_at", "", lambda row: row.fact.last_at, INSTANT),
        COST,
        Column("node", "Node", lambda row: row.fact.node_name,
               href=lambda row: reverse("node", args=[row.fact.node_id])),
        Column("gpu", "GPU", lambda row: row.fact.uuid or None, SHORT_UUID, csv="uuid",
               missing=quiet("the node"), href=_device_href),
        Column("kind", "", lambda row: row.fact.kind),
        Column("code", "", lambda row: row.fact.code, COUNT),
        Column("detail", "", lambda row: row.fact.detail),
        Column("count", "", lambda row: row.fact.count, COUNT),
        Column("todo", "What to do", lambda row: incident_advice(row.fact.kind, row.fact.code),
               ADVICE, csv="what_to_do", sorts=False),
        CURRENCY_COLUMN,
    ),
    noun=("incident", "incidents"),
    about="{said}; the latest first",
    empty="No incidents reported that match the filter. Agents report XIDs, lost GPUs, drivers that "
    "hang, and clouds that reclaim a node.",
    sort="sort",
    csv_first=("started_at", "ended_at", "standing", "last_at", "node", "uuid", "kind", "code",
               "what", "detail", "count", "what_to_do"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class IncidentQuestion:
    """The question of which incidents the address asks for, and what of it was not understood."""

    wanted: IncidentsWanted
    reading: Reading
    filters: tuple[Filter, ...]


@shown(EVERYONE, "incidents")
def incidents(context: Context) -> ConsolePage:
    """Show what happened to nodes and GPUs; what it cost is for those who may know prices."""
    question = incident_question(context)
    facts = incident_facts(question.wanted, MOST)
    rows = priced_incidents(facts, context)
    is_priced = context.viewer.sees_prices and rows
    return ConsolePage(
        context=context,
        finding=finding(facts, context.at),
        under=(
            "As agents reported them. An incident stays open until an agent reports its end, or its "
            "node ends; a silent agent ends nothing.",
        ),
        filters=question.filters,
        problems=(*question.reading.problems, *_left_out(facts)),
        main_table=INCIDENTS.name,
        sections=(
            FigureRow(figures(facts, context, question.reading)),
            *trust_sections(context),
            incident_table(context).section(
                rows,
                context,
                csv_name="incidents",
                remark=WHAT_IT_COSTS if is_priced else "",
            ),
        ),
    )


def incident_table(context: Context) -> Table[PricedIncident]:
    """With what each cost, in the organisation's currency, for those who may know prices."""
    if context.viewer.sees_prices:
        return INCIDENTS
    priced = (COST.key, CURRENCY_COLUMN.key)
    columns = tuple(column for column in INCIDENTS.columns if column.key not in priced)
    return replace(INCIDENTS, columns=columns)


def priced_incidents(facts: Sequence[IncidentFact], context: Context) -> list[PricedIncident]:
    """Each with what it cost, to those who may know prices."""
    costs = costs_of(facts, context.at) if context.viewer.sees_prices else {}
    return [PricedIncident(fact, costs.get(fact.id), context.at) for fact in facts]


def incident_question(context: Context) -> IncidentQuestion:
    """Parse the address; nothing in it is refused."""
    kinds, nodes = incident_kinds(), incident_nodes(MOST_NODES)
    reading = Reading(context.query, DEFAULTS, DEFAULT_WORDS)
    kind = reading.read("kind", key_parser(("", *kinds), "There is no incident of the kind {!r}."))
    node = reading.read(
        "node", key_parser(("", *nodes), "There is no incident on a node named {!r}.")
    )
    is_open = reading.read("open", key_parser(OPEN, "There is no such choice as {!r}."))
    since = reading.read("since", _since_of(context.at, context.zone))
    names = {"": "All kinds"} | {kind_name: incident_label(kind_name) for kind_name in kinds}
    of_nodes = {"": "All nodes"} | {node_name: node_name for node_name in nodes}
    since_text = reading.texts["since"]
    spans = SINCE_WORDS | ({} if since_text in SINCE_WORDS else {since_text: f"Since {since_text}"})
    return IncidentQuestion(
        IncidentsWanted(
            node_id=nodes.get(node), kind=kind or None, is_open=LASTS.get(is_open), since=since
        ),
        reading,
        (
            filter_of("open", "Incidents", OPEN, reading.texts),
            filter_of("kind", "Kind", names, reading.texts),
            filter_of("node", "Node", of_nodes, reading.texts),
            filter_of("since", "In the last", spans, reading.texts),
        ),
    )


def finding(facts: Sequence[IncidentFact], at: datetime) -> str:
    """How many last, in a sentence."""
    if not facts:
        return "No incidents reported."
    lasting = [fact for fact in facts if fact.ended_at is None]
    if not lasting:
        return f"{counted(len(facts), 'incident')}; none is open."
    deaf = sum(is_silent(fact, at) for fact in lasting)
    verb = "is" if len(lasting) == 1 else "are"
    sentence = f"{len(lasting):,} of {counted(len(facts), 'incident')} {verb} open"
    return f"{sentence}; of {deaf:,} of them the agent is silent." if deaf else f"{sentence}."


def figures(
    facts: Sequence[IncidentFact], context: Context, reading: Reading
) -> tuple[Figure, ...]:
    """How many there were and last, on how many nodes, and what they cost together."""
    lasting = sum(fact.ended_at is None for fact in facts)
    nodes, path = len({fact.node_id for fact in facts}), reverse("incidents")
    figures_shown = [
        Figure("Incidents", count(len(facts)), f"on {counted(nodes, 'node')}"),
        Figure("Open", count(lasting), "have not ended", href=reading.href(path, open="yes")),
    ]
    if context.viewer.sees_prices:
        micros = cost_together(facts, context.at)
        figures_shown.append(
            Figure(
                "Cost of lost GPU time",
                short_amount(micros, context.currency),
                "of GPUs that could not be used; overlapping incidents once",
                is_unknown=micros is None,
                href=reading.href(path, sort="-cost"),
            )
        )
    return tuple(figures_shown)


def _since_of(at: datetime, zone: tzinfo) -> Callable[[str], datetime]:
    def since(text: str) -> datetime:
        if text in SINCE:
            return at - timedelta(days=SINCE[text])
        try:
            return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=zone)
        except ValueError:
            message = "A time is day, week, year or a date like 2026-03-31."
            raise ValueError(message) from None

    return since


def _left_out(facts: Sequence[IncidentFact]) -> tuple[str, ...]:
    if len(facts) < MOST:
        return ()
    return (f"Only the latest {MOST:,} are shown and summed; choose a kind, a node or less time.",)
