"""One rule with its history; adding and ending rules, each with what would go from whom to whom."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, TypeAlias

from django.http import Http404
from django.urls import path, reverse
from django.utils.html import format_html

from apps.accounts.queries import Viewer
from apps.console.kit.cells import INSTANT, linked
from apps.console.kit.change import Change, ChangeForm, ChangePreview, Done, changing
from apps.console.kit.entries import (
    DayField,
    NonNegativeIntegerField,
    ParsedField,
    PickField,
    TextField,
)
from apps.console.kit.frame import Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import EVERYONE, MANAGES, Context
from apps.console.kit.table import TableSection
from apps.console.pages.ownership.names import OwnerNames, names
from apps.console.pages.ownership.tables import MOVES, OwnershipMove, changes_table, sum_costs
from apps.console.pages.setup.questions import recount
from apps.economics.hours import first_hour
from apps.economics.money import sum_of_known
from apps.economics.ownership import TEXT_MATCHES, Rule
from apps.economics.refusal import Refusal
from apps.ledger.queries import cost_of_jobs
from apps.show.amounts import counted, gpu_hours
from apps.show.money import rounded_amount
from apps.workloads import queries as workloads
from apps.workloads.actions import rules as actions
from apps.workloads.queries import RuleFact, RulePreview

HIGHEST_PRIORITY = 1_000_000
Owner: TypeAlias = tuple[int | None, int | None]
"""A team and its workload; no team is nobody."""
NOTHING_ASKED = "say which jobs: a rule that asks nothing would take them all"


def _label_of(text: str) -> str:
    if text and "=" not in text:
        raise ValueError("It is not key=value.")
    return text


class RuleForm(ChangeForm):
    """Form of a rule: what a job must be, and whose such jobs are; the days from and until which that holds."""

    asked_by = ("owner",)
    owner = PickField("Belongs to")
    cluster = PickField("Cluster")
    account = TextField("Account", "the scheduler’s account")
    partition = TextField("Partition", "the scheduler’s partition or queue")
    namespace = TextField("Namespace", "in Kubernetes")
    user = TextField("User", "who submitted it")
    label = ParsedField("Label", _label_of, "key=value")
    name = TextField("Name", "the job’s name; * stands for any letters")
    priority = NonNegativeIntegerField(
        "Priority", "the lowest number is tried first", initial="100"
    )


WHAT_A_RULE_DOES = (
    "A job that is all of this belongs to the owner you name; what is left empty does not matter. "
    "Nothing changes before you save it; hours already settled are settled again where they move."
)

# `from` is a word of the language, and the name of an entry.
RULE_DAYS = {
    "from": DayField("From", "the first day; empty: since ever", is_needed=False),
    "to": DayField("Until", "the day after the last; empty: open-ended", is_needed=False),
}


class RuleEndForm(ChangeForm):
    """The day from which a rule counts no more."""

    end = DayField("From this day on", "empty: from now on", is_needed=False)


@changing(MANAGES, "ownership")
def new_rule(context: Context) -> Change[RuleFact]:
    """Preview what a new rule would move, once it says whose the jobs are; then keep it."""
    called = names(context.viewer)
    has_team = any(team.kind == "team" for team in called.teams.values())

    def apply(fact: RuleFact) -> Done:
        rule_id = actions.add_rule(rule=fact, at=context.at)
        recount()
        owner = called.owner(fact.rule.team_id, fact.rule.workload_id)
        done = f"Saved. What moves to {owner} is settled again in the next minutes."
        return done, ("rule", rule_id)

    return Change(
        finding="Whose jobs are these?",
        explanation=WHAT_A_RULE_DOES
        if has_team
        else format_html(
            "Jobs are given to teams, and there is none yet: {}. {}",
            linked("add a team first", reverse("team-tree")),
            WHAT_A_RULE_DOES,
        ),
        back=Link("All rules", reverse("ownership")),
        form=RuleForm,
        confirm="Save this rule",
        read=lambda entered: _rule_of(entered, called, context),
        effects=lambda fact: _gain_preview(fact, called, context),
        apply=apply,
        picks=_rule_picks(called),
        more=RULE_DAYS,
        look="Show what would move",
    )


@changing(MANAGES, "ownership")
def end_rule(context: Context, rule_id: int) -> Change[datetime]:
    """Preview what goes to whom from a day on; then end the rule, which counts no more."""
    fact, called = visible_rule(rule_id, context.viewer), names(context.viewer)

    def apply(ended_at: datetime) -> Done:
        actions.end_rule(rule_id=rule_id, ended_at=ended_at, at=context.at)
        recount()
        return "The rule is ended. What it gave away is settled again.", ("rule", rule_id)

    return Change(
        finding=f"End the rule for jobs of {called.asks(fact.rule)}",
        explanation="From that day on its jobs belong to whoever the next rule names, or to nobody.",
        back=Link("The rule", reverse("rule", args=[rule_id])),
        form=RuleEndForm,
        confirm="End it",
        read=lambda entered: _end_of(entered, context),
        effects=lambda ended_at: _loss_preview(fact, ended_at, called, context),
        apply=apply,
        look="Show what would move",
        fields={"ended_at": "end"},
    )


@shown(EVERYONE, "ownership")
def rule(context: Context, rule_id: int) -> ConsolePage:
    """A rule of the viewer's teams, and its history."""
    fact, called = visible_rule(rule_id, context.viewer), names(context.viewer)
    changes = workloads.rule_changes([rule_id])[rule_id]
    owner = called.owner(fact.rule.team_id, fact.rule.workload_id)
    is_now = "." if fact.is_in_force(context.at) else " while the rule is in force; now it is not."
    since, until = (
        at and INSTANT.shown(at, context.locale) for at in (fact.starts_at, fact.ends_at)
    )
    may_end = context.viewer.may_manage and (fact.ends_at is None or fact.ends_at > context.at)
    return ConsolePage(
        context=context,
        finding=f"Jobs of {called.asks(fact.rule)} belong to {owner}{is_now}",
        under=(
            f"Rule {rule_id}",
            f"priority {fact.rule.priority}",
            format_html("from {}", since) if since else "since ever",
            format_html("until {}", until) if until else "open-ended",
        ),
        back=Link("All rules", reverse("ownership")),
        actions=(Link("End it…", reverse("end-rule", args=[rule_id])),) if may_end else (),
        sections=(
            changes_table(called).section(changes, context, csv_name=f"changes of rule {rule_id}"),
        ),
    )


def visible_rule(rule_id: int, viewer: Viewer) -> RuleFact:
    """The rule; one of another team is as if it were not there."""
    for fact in workloads.rules():
        if fact.rule.id == rule_id and viewer.sees_team(fact.rule.team_id):
            return fact
    raise Http404


def _rule_picks(called: OwnerNames) -> dict[str, dict[str, str]]:
    """Teams, each with its workloads below it; clusters."""
    owners = {"": "Choose a team or workload"}
    for team in sorted(called.teams.values(), key=lambda team: team.name):
        if team.kind != "unowned":
            owners[str(team.id)] = f"{team.name}, no workload"
            own_workloads = [
                workload_fact
                for workload_fact in called.workloads.values()
                if workload_fact.team_id == team.id
            ]
            for workload in sorted(own_workloads, key=lambda workload: workload.name):
                owners[f"{team.id}/{workload.id}"] = f"{team.name}: {workload.name}"
    clusters = {name: name for name in sorted(called.clusters.values())}
    return {"owner": owners, "cluster": {"": "Any cluster", **clusters}}


def _rule_of(entered: Mapping[str, Any], called: OwnerNames, context: Context) -> RuleFact:
    """The rule that was entered; refuses one of nobody, and one that asks nothing."""
    if not entered["owner"]:
        raise Refusal("owner", "say whose the jobs are")
    team, _, workload = entered["owner"].partition("/")
    cluster_ids = {name: cluster_id for cluster_id, name in called.clusters.items()}
    matches = {name: entered[name] for name in (*TEXT_MATCHES, "label", "name")}
    if not any((*matches.values(), entered["cluster"])):
        raise Refusal("account", NOTHING_ASKED)
    priority = entered["priority"]
    if priority is not None and priority > HIGHEST_PRIORITY:
        raise Refusal("priority", f"this is more than {HIGHEST_PRIORITY:,}")
    rule = Rule(
        priority=100 if priority is None else priority,
        team_id=int(team),
        workload_id=int(workload) if workload else None,
        cluster_id=cluster_ids.get(entered["cluster"]),
        **matches,
    )
    return RuleFact(rule, *(_day_start(entered[name], context) for name in ("from", "to")))


def _end_of(entered: Mapping[str, Any], context: Context) -> datetime:
    """The first hour of the day that was entered, or now."""
    return _day_start(entered["end"], context) or context.at


def _day_start(day: date | None, context: Context) -> datetime | None:
    return None if day is None else first_hour(day, context.organisation.zone)


def _gain_preview(fact: RuleFact, called: OwnerNames, context: Context) -> ChangePreview:
    """Preview what a new rule would bring its owner."""
    moved = workloads.preview_rule(fact, context.at)
    moves = _moves_to(fact, moved, called, context)
    section = _moves_section("What would move", moves, "what the rule would move", context)
    owner = called.owner(fact.rule.team_id, fact.rule.workload_id)
    finding = _gain_finding(called.asks(fact.rule), owner, moved, moves, context)
    return _moves_preview(moved, moves, section, finding)


def _loss_preview(
    fact: RuleFact, ended_at: datetime, called: OwnerNames, context: Context
) -> ChangePreview:
    """Preview what would go where if a kept rule ended then."""
    moved = workloads.preview_end(fact, ended_at, context.at)
    moves = _moves_from(fact, moved, called, ended_at, context)
    csv_name = f"what ending rule {fact.rule.id} moves"
    section = _moves_section("What ending it would move", moves, csv_name, context)
    return _moves_preview(moved, moves, section)


def _moves_section(
    title: str, moves: Sequence[OwnershipMove], csv_name: str, context: Context
) -> TableSection:
    micros, milliseconds, unpriced = sum_costs(moves)
    jobs = sum(row.jobs for row in moves)
    return MOVES.section(
        moves,
        context,
        title=title,
        about="amounts are of what is settled and priced so far",
        total=OwnershipMove("Total", "", jobs, milliseconds, micros, unpriced) if moves else None,
        csv_name=csv_name if context.query or context.csv_table is not None else "",
    )


def _moves_preview(
    moved: RulePreview, moves: Sequence[OwnershipMove], section: TableSection, finding: str = ""
) -> ChangePreview:
    jobs, hours = moved.matched_jobs, gpu_hours(int(moved.matched_gpu_milliseconds))
    return ChangePreview(
        effects=(
            f"{counted(jobs, 'job')} with {hours} GPU-hours held so far "
            f"{'is' if jobs == 1 else 'are'} what the rule asks for.",
        ),
        sections=(section,),
        finding=finding,
        # Jobs run on meanwhile: who gives what to whom must still be so, and not how much.
        same=[f"{row.giver} → {row.taker}" for row in moves],
    )


def _gain_finding(
    criteria: str,
    owner: str,
    moved: RulePreview,
    moves: Sequence[OwnershipMove],
    context: Context,
) -> str:
    if not moved.matched_jobs:
        return f"No job so far is of {criteria}; those to come would belong to {owner}."
    if not moves:
        jobs = counted(moved.matched_jobs, "job")
        return f"{jobs} of {criteria}; none of them would change hands."
    micros, milliseconds, _ = sum_costs(moves)
    jobs = counted(sum(row.jobs for row in moves), "job")
    worth = "" if micros is None else f", {rounded_amount(micros, context.currency)},"
    return f"{jobs} with {gpu_hours(milliseconds)} GPU-hours{worth} would move to {owner}."


def _moves_to(
    fact: RuleFact, moved: RulePreview, called: OwnerNames, context: Context
) -> list[OwnershipMove]:
    """Return what comes to the owner of a new rule, from whom."""
    owner = (fact.rule.team_id, fact.rule.workload_id)
    since = _local_day(fact.starts_at, context)
    return [
        _owner_move(move, (move.team_id, move.workload_id), owner, called, since)
        for move in moved.moves
    ]


def _moves_from(
    fact: RuleFact, moved: RulePreview, called: OwnerNames, ended_at: datetime, context: Context
) -> list[OwnershipMove]:
    """Return what goes from the owner of a rule that ends, to whom."""
    owner = (fact.rule.team_id, fact.rule.workload_id)
    since = _local_day(ended_at, context)
    return [
        _owner_move(move, owner, (move.team_id, move.workload_id), called, since)
        for move in moved.moves
    ]


def _owner_move(
    move: workloads.Move, giver: Owner, taker: Owner, called: OwnerNames, since: date | None
) -> OwnershipMove:
    costs = cost_of_jobs(move.job_ids, *giver, since)
    return OwnershipMove(
        giver=called.owner(*giver),
        taker=called.owner(*taker),
        jobs=move.jobs,
        gpu_milliseconds=int(move.gpu_milliseconds),
        micros=sum_of_known(cost.micros for cost in costs),
        unpriced_milliseconds=sum(cost.unpriced_milliseconds for cost in costs),
        giver_href=called.owner_href(*giver),
        taker_href=called.owner_href(*taker),
    )


def _local_day(at: datetime | None, context: Context) -> date | None:
    return None if at is None else at.astimezone(context.zone).date()


urlpatterns = [
    path("ownership/rules/new", new_rule, name="new-rule"),
    path("ownership/rules/<int:rule_id>", rule, name="rule"),
    path("ownership/rules/<int:rule_id>/end", end_rule, name="end-rule"),
]
