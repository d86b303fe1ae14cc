"""The tables of ownership: workloads with cost, rules in rank, what nobody owns, what would move."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol, cast
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.html import format_html

from apps.accounts.queries import Viewer
from apps.console.kit.cells import (
    COUNT,
    GPU_HOURS,
    INSTANT,
    MONEY,
    PROSE,
    UNKNOWN,
    Locale,
    leading,
    linked,
    quiet,
    titled,
    unseen,
)
from apps.console.kit.table import Table
from apps.console.pages.ownership.names import OwnerNames
from apps.economics.money import sum_of_known
from apps.ledger import queries as ledger
from apps.ledger.queries.cube import CubeQuestion, CubeSums
from apps.ledger.queries.unowned import UnownedWork
from apps.ledger.tables.unowned import RULE_ASKS, UNOWNED
from apps.show.amounts import gpu_hours
from apps.tables.column import CURRENCY_COLUMN, Column
from apps.workloads import queries as workloads
from apps.workloads.queries import RuleChange, RuleFact

NONE = "–"
NOBODY = workloads.Submitter(0, "", "", "", "")
"""The submitter of the total."""


class Costed(Protocol):
    """A thing that has a cost, unknown as far as no price covers its GPU time."""

    @property
    def micros(self) -> int | None: ...
    @property
    def gpu_milliseconds(self) -> int: ...
    @property
    def unpriced_milliseconds(self) -> int: ...


class WorkloadCost(NamedTuple):
    """The cost of a workload; `name` empty: a team's jobs and time of no workload.

    The total of all has no `team_href`.
    """

    team: str
    name: str
    kind: str
    micros: int | None
    gpu_milliseconds: int
    unpriced_milliseconds: int
    is_provisional: bool = False
    team_href: str = ""
    href: str = ""


class OwnershipMove(NamedTuple):
    """A change of hands that would come: from whom, to whom, how much."""

    giver: str
    taker: str
    jobs: int
    gpu_milliseconds: int
    micros: int | None
    unpriced_milliseconds: int
    giver_href: str = ""
    taker_href: str = ""


class StatedRule(NamedTuple):
    """A rule, its latest change where that is on record, and what its owner is called."""

    fact: RuleFact
    last: RuleChange | None
    is_in_force: bool
    called: OwnerNames


def _cost_cell(row: Costed, locale: Locale) -> str:
    """The cost, with what of it has no price."""
    if row.micros is None and row.unpriced_milliseconds:
        return format_html('<span class="unknown">{}</span>', titled("unpriced", UNPRICED))
    cost = "" if row.micros is None else MONEY.shown(row.micros, locale)
    if row.micros is None or not row.unpriced_milliseconds:
        return cost or UNKNOWN
    hours = gpu_hours(row.unpriced_milliseconds)
    return format_html("{}<small>and {} GPU-hours unpriced</small>", cost, hours)


UNPRICED = "No price covers this GPU time."
_COST: Column[Any] = Column("cost", "Cost", lambda row: row.micros, MONEY, shown=_cost_cell)
_HOURS: Column[Any] = Column("gpu_hours", "GPU-hours", lambda row: row.gpu_milliseconds, GPU_HOURS)
_UNPRICED: Column[Any] = Column(
    "unpriced_gpu_hours", "", lambda row: row.unpriced_milliseconds, GPU_HOURS
)


def _workload_cell(row: WorkloadCost, _: Locale) -> str:
    if not row.name and row.team_href:
        return quiet("Not held by a job, or no workload")
    return linked(row.name, row.href)


WORKLOADS = Table[WorkloadCost](
    "workloads",
    "Workloads by team",
    (
        Column("team", "Team", lambda row: row.team, href=lambda row: row.team_href),
        Column("name", "Workload", lambda row: row.name or None, csv="workload",
               shown=_workload_cell),
        Column("kind", "Kind", lambda row: row.kind or None, missing=""),
        _COST,
        CURRENCY_COLUMN,
        _HOURS,
        _UNPRICED,
    ),
    about="what each cost; time of a team that no rule gives a workload, or that no job held, is a "
    "row of its own",
    sort="sort",
)  # fmt: skip
MOVES = Table[OwnershipMove](
    "preview",
    "What would move",
    (
        Column("from", "From", lambda row: row.giver, href=lambda row: row.giver_href),
        Column("to", "To", lambda row: row.taker, href=lambda row: row.taker_href),
        Column("jobs", "Jobs", lambda row: row.jobs, COUNT),
        _HOURS,
        _UNPRICED,
        _COST,
        CURRENCY_COLUMN,
    ),
    empty="Nothing that was held so far changes hands.",
)


def _account_cell(row: UnownedWork, _: Locale) -> str:
    submitter = row.submitter
    if submitter == NOBODY:
        return "Total"
    if not submitter.account and submitter.partition:
        return format_html("{}<small>partition</small>", submitter.partition)
    is_named = any(getattr(submitter, name) for name in RULE_ASKS)
    return submitter.account or (NONE if is_named else quiet("not named"))


def unowned_table(
    name: str, jobs_href: str, *, may_manage: bool, per_page: int = 100
) -> Table[UnownedWork]:
    """Jobs without an owner, with the way to the rule that would give them one.

    `name` is its parameter in addresses, `jobs_href` where the jobs themselves are listed.
    """

    def submitter_cell(key: str) -> dict[str, Any]:
        def shown(row: UnownedWork, _: Locale) -> str:
            return getattr(row.submitter, key) or ("" if row.submitter == NOBODY else NONE)

        return {"shown": shown}

    answer: Column[UnownedWork] = Column(
        "answer", unseen("Answer") if may_manage else "", lambda _: "", csv="", sorts=False,
        shown=_rule_button,
    )  # fmt: skip
    dress = {key: submitter_cell(key) for key in ("namespace", "user", "cluster")} | {
        "account": {"shown": _account_cell},
        "jobs": {"href": lambda row: "" if row.submitter == NOBODY else jobs_href},
        "cost": {"shown": _cost_cell},
    }
    return Table.of(UNOWNED, answer, dress=dress, sort=name, per_page=per_page)


def unowned_total(rows: Sequence[UnownedWork]) -> UnownedWork:
    """All of them, as the row at the foot."""
    return UnownedWork(NOBODY, sum(row.jobs for row in rows), *sum_costs(rows))


def _rule_button(row: UnownedWork, _: Locale) -> str:
    if row.submitter == NOBODY:
        return ""
    owner_text = " ".join(filter(None, (getattr(row.submitter, name) for name in RULE_ASKS[:3])))
    rule_href = f"{reverse('new-rule')}?{urlencode(_rule_for(row.submitter))}"
    return leading("Assign", f"A rule for {owner_text}", rule_href)


def _created_cell(row: StatedRule, locale: Locale) -> str:
    if row.last is None:
        return quiet("before the audit trail")
    at, author = INSTANT.shown(row.last.at, locale), row.called.who(row.last)
    return format_html("{}<small>by {}</small>", at, author) if author else at


def _owner_column(key: str, text: str, *, is_team: bool) -> Column[StatedRule]:
    def name(row: StatedRule) -> str | None:
        rule = row.fact.rule
        if is_team:
            return row.called.team(rule.team_id)
        return row.called.workload(rule.workload_id) or None

    def href(row: StatedRule) -> str:
        rule = row.fact.rule
        if not is_team and not rule.workload_id:
            return ""
        return row.called.owner_href(rule.team_id, None if is_team else rule.workload_id)

    return Column(key, text, name, missing=NONE, href=href)


RULES = Table[StatedRule](
    "rules",
    "Rules",
    (
        Column("asks", "Jobs of", lambda row: row.called.asks(row.fact.rule), PROSE,
               href=lambda row: reverse("rule", args=[row.fact.rule.id]),
               note=lambda row: "" if row.is_in_force else "not in force"),
        Column("priority", "Priority", lambda row: row.fact.rule.priority, COUNT),
        _owner_column("team", "Belong to", is_team=True),
        _owner_column("workload", "Workload", is_team=False),
        Column("from", "From", lambda row: row.fact.starts_at, INSTANT, missing="since ever"),
        Column("until", "Until", lambda row: row.fact.ends_at, INSTANT, csv="to",
               missing="open-ended"),
        Column("said_by", "", lambda row: row.called.who(row.last) if row.last else None),
        Column("said", "Created", lambda row: row.last.at if row.last else None, INSTANT,
               csv="said_at", shown=_created_cell),
    ),
    about="tried in this order; the first that matches a job assigns its owner",
    sort="rules",
    csv_first=("priority",),
)  # fmt: skip


def changes_table(called: OwnerNames) -> Table[RuleChange]:
    """Every change of a rule, and by whom, for those who may know."""
    return Table[RuleChange](
        "changes",
        "Audit trail",
        (
            Column("what", "What", lambda row: "added" if row.is_new else "changed",
                   shown=lambda row, _: "Added" if row.is_new else "Changed"),
            Column("at", "When", lambda row: row.at, INSTANT),
            Column("who", "Who", lambda row: called.who(row) or None, missing=NONE),
        ),
        about="every change of this rule, the first one first",
        empty="It was there before the audit trail began.",
        csv_first=("at",),
    )  # fmt: skip


def workload_costs(window: ledger.Window, viewer: Viewer, called: OwnerNames) -> list[WorkloadCost]:
    """Of the viewer's teams, by team, the highest cost first; workloads without cost included."""
    question = CubeQuestion(window, team_ids=viewer.seen_teams).by("team", "workload")

    def cost(team_id: int, workload_id: int | None, sums: CubeSums) -> WorkloadCost:
        fact = None if workload_id is None else called.workloads[workload_id]
        query = urlencode({"window": window.text})
        href = f"{reverse('costs-workload', args=[fact.id])}?{query}" if fact else ""
        return WorkloadCost(
            team=called.team(team_id),
            name=fact.name if fact else "",
            kind=fact.kind if fact else "",
            micros=sums.micros,
            gpu_milliseconds=sums.gpu_milliseconds,
            unpriced_milliseconds=sums.unpriced_milliseconds,
            is_provisional=sums.is_provisional,
            team_href=f"{reverse('costs-team', args=[team_id])}?{query}",
            href=href,
        )

    idle = {
        (workload.team_id, workload.id): cost(workload.team_id, workload.id, CubeSums(micros=0))
        for workload in called.workloads.values()
        if viewer.sees_team(workload.team_id)
    }
    costly = {
        row.values: cost(*cast("tuple[int, int | None]", row.values), row.sums)
        for row in ledger.cost_groups(question)
    }
    rows = (idle | costly).values()
    return sorted(rows, key=lambda row: (row.team, -(row.micros or 0), row.name))


def stated_rules(viewer: Viewer, called: OwnerNames, at: datetime) -> list[StatedRule]:
    """The rules that give jobs to the viewer's teams: those in force in the order tried, then others."""
    facts = [fact for fact in workloads.rules() if viewer.sees_team(fact.rule.team_id)]
    changes = workloads.rule_changes([fact.rule.id for fact in facts])
    ranked = sorted(facts, key=lambda fact: (not fact.is_in_force(at), fact.rule.rank))
    return [
        StatedRule(fact, next(reversed(changes[fact.rule.id]), None), fact.is_in_force(at), called)
        for fact in ranked
    ]


def sum_costs(rows: Sequence[Costed]) -> tuple[int | None, int, int]:
    """The sums of cost, GPU time and unpriced time; the cost known as far as any row's is."""
    return (
        sum_of_known(row.micros for row in rows),
        sum(row.gpu_milliseconds for row in rows),
        sum(row.unpriced_milliseconds for row in rows),
    )


def _rule_for(submitter: workloads.Submitter) -> dict[str, str]:
    criteria = {name: getattr(submitter, name) for name in RULE_ASKS if getattr(submitter, name)}
    # An account or namespace says more than whoever of it happened to submit.
    if len(criteria) > 1:
        criteria.pop("user", None)
    return {"cluster": submitter.cluster, **criteria}
