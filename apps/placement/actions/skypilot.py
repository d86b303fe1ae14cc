"""A SkyPilot task is held against budgets and quotas, given places in order, and marked so that its cost comes back."""

import hashlib
import json
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction

from apps.accounts.queries import TeamFact, TokenFact, Viewer, teams, teams_of_token
from apps.logs.changes import logged_change
from apps.placement.actions.admissions import request_admission, use_override
from apps.placement.actions.keeping_quotes import keep_quote
from apps.placement.actions.quotes import expect_run
from apps.placement.queries.admission_limits import (
    ALLOW,
    DENY,
    AdmissionJob,
    answer_admission,
)
from apps.placement.queries.admissions import OVERRIDE_HOLDS, AdmissionFact, admission_if_stored
from apps.placement.queries.admissions_shown import (
    NOT_SHOWN_LIMIT,
    is_limit_shown,
    visible_budget_ids,
)
from apps.placement.queries.placement_scope import WHOLE, PlacementScope
from apps.placement.queries.quote_answer import AnsweredQuote, NoOfferBook, answer_quote
from apps.placement.queries.quote_request import QuoteRequest
from apps.placement.queries.skypilot_places import SkyPlaces, placed_resources, places_of
from apps.placement.queries.skypilot_tasks import (
    ADMISSION,
    EXEC,
    GPU_HOURS,
    HOURS,
    PASSED,
    TEAM,
    WORKLOAD,
    SkyTask,
    SkyTaskNotUnderstood,
    sky_task,
)
from apps.workloads import queries as workloads

QUOTE, RUN, WARNING = "RUNRATE_QUOTE", "RUNRATE_RUN", "RUNRATE_WARNING"
NOT_IN_LABELS = re.compile(r"[^a-z0-9_-]+")
LONGEST_LABEL, LONGEST_NUMBER = 63, 19
SAME_TASK = ("name", "resources", "num_nodes", "envs", "run")


@dataclass(frozen=True, slots=True)
class SkyAsker:
    """The token that asks, for which user of SkyPilot, in which of its workspaces."""

    token: TokenFact
    viewer: Viewer
    user: str
    workspace: str

    def limit_words(self, limit: Mapping[str, Any]) -> str:
        """A limit with its figures, where the token may see them: a team's sees its own budgets."""
        if self.token.team_id is None:
            return _limit_words(limit)
        seen_ids = visible_budget_ids(PlacementScope(teams_of_token(self.token)))
        if is_limit_shown(limit, seen_ids):
            return _limit_words(limit)
        return f"{NOT_SHOWN_LIMIT}: {limit['verdict']}"


@dataclass(frozen=True, slots=True)
class SkyDecision:
    """The task as it may go on, or in words why it may not."""

    task: dict[str, Any]
    refusal: str = ""


@logged_change()
@transaction.atomic
def decide_sky_task(
    *, task: Mapping[str, Any], request_name: str, is_looked_at: bool, by: SkyAsker, at: datetime
) -> SkyDecision:
    """Allow, warn or deny a task, and place it. Refuses SkyTaskNotUnderstood, QuoteNotUnderstood.

    Nothing is kept where it `is_looked_at` only, unless it is denied.
    """
    parsed_task = None if request_name in (EXEC, *PASSED) else sky_task(task, request_name)
    if parsed_task is None:
        return SkyDecision(dict(task))
    team = _team_of(parsed_task, by)
    notes: list[str] = []
    question = parsed_task.asked_quote(team.id)
    quote = _quote_of(question, by, at, notes)
    placed = SkyPlaces() if quote is None else places_of(parsed_task, quote)
    job = _admission_job(parsed_task, team, quote, placed)
    admitted = answer_admission(job, at)
    limits = [limit for limit in admitted.answer["limits"] if limit["verdict"] != ALLOW]
    kept_by = replace(
        by.viewer, name=f"{by.viewer.name} for {by.user}" if by.user else by.viewer.name
    )
    passed = None
    if admitted.verdict == DENY:
        named = _named_override(parsed_task, job)
        passed = _passed_by(named, _task_digest(task, by), at, is_looked_at=is_looked_at)
        if passed is None:
            number = request_admission(job=job, by=kept_by, at=at)
            return SkyDecision({}, _refusal_words(number, limits, named, by))
        notes.append(f"{passed.overridden_name} let it pass (admission {passed.id})")
    notes += filter(None, [placed.note, *map(by.limit_words, limits)])
    marks = {TEAM: team.name}
    if not is_looked_at:
        number = passed.id if passed else request_admission(job=job, by=kept_by, at=at)
        marks |= {ADMISSION: str(number)}
        if question is not None and quote is not None:
            keys = [place.offer["key"] for place in placed.places]
            marks |= _quote_marks(parsed_task, question, quote, keys, at)
    return SkyDecision(_marked_task(task, placed, marks, notes))


def _team_of(parsed_task: SkyTask, by: SkyAsker) -> TeamFact:
    """As its variable says, else its workspace where a team is called so, else the token's."""
    allowed = teams_of_token(by.token)
    teams_by_name = {team.name: team for team in teams() if team.id in allowed}
    team_name = parsed_task.variables.get(TEAM, "")
    if team_name:
        if team_name not in teams_by_name:
            raise SkyTaskNotUnderstood(TEAM, f"there is no team named {team_name[:100]!r}")
        return teams_by_name[team_name]
    of_token = next((team for team in teams_by_name.values() if team.id == by.token.team_id), None)
    chosen_team = teams_by_name.get(by.workspace) or of_token
    if chosen_team is None:
        raise SkyTaskNotUnderstood(TEAM, "say in envs whose job it is, by the name of a team")
    return chosen_team


def _quote_of(
    question: QuoteRequest | None, by: SkyAsker, at: datetime, notes: list[str]
) -> AnsweredQuote | None:
    if question is None:
        notes.append(
            f"no place was chosen by cost: {HOURS} or {GPU_HOURS} says how long it runs, of known GPUs alone"
        )
        return None
    try:
        return answer_quote(question, WHOLE, at)
    except NoOfferBook:
        notes.append("no place was chosen by cost: no offer book was made yet")
        return None


def _admission_job(
    parsed_task: SkyTask, team: TeamFact, quote: AnsweredQuote | None, placed: SkyPlaces
) -> AdmissionJob:
    """Where it would go first, at what that costs; else the model and place that it says."""
    first = parsed_task.alternatives[0]
    job = AdmissionJob(
        team_id=team.id,
        gpus=parsed_task.gpus,
        workload_id=_workload_of(parsed_task, team),
        gpu_hours=parsed_task.gpu_hours,
        gpu_model=first.accelerator,
        provider=first.cloud,
        region=first.region,
    )
    if quote is None or not placed.places:
        return job
    offer = placed.places[0].offer
    return replace(
        job,
        **{name: offer[name] for name in ("gpu_model", "provider", "region")},
        cost_micros=offer["charged_micros"],
        cost_from=f"the quote of {offer['name']}",
    )


def _workload_of(parsed_task: SkyTask, team: TeamFact) -> int | None:
    """The team's workload that it names; a name that the team does not have yet is of none."""
    workload_name = parsed_task.variables.get(WORKLOAD, "")
    ids_by_name = {
        workload.name: workload.id
        for workload in workloads.workloads().values()
        if workload.team_id == team.id
    }
    return ids_by_name.get(workload_name)


def _named_override(parsed_task: SkyTask, job: AdmissionJob) -> AdmissionFact | None:
    """The admission that it names, where somebody let one like it pass."""
    number_text = parsed_task.variables.get(ADMISSION, "")
    is_number = number_text.isdecimal() and len(number_text) <= LONGEST_NUMBER
    admission = admission_if_stored(int(number_text)) if is_number else None
    if admission is None or admission.overridden_at is None or admission.team_id != job.team_id:
        return None
    needs = ((job.gpus, admission.job["gpus"]), (job.gpu_hours, admission.job["gpu_hours"]))
    is_larger = any(
        (let is not None and (need is None or need > let)) or (let is None and need is not None)
        for need, let in needs
    )
    return None if is_larger else admission


def _passed_by(
    named: AdmissionFact | None, task: str, at: datetime, *, is_looked_at: bool
) -> AdmissionFact | None:
    """The override by which this task passes; a launch uses it, so that no other does."""
    if named is None or not named.lets_pass(task, at):
        return None
    is_passed = is_looked_at or use_override(admission_id=named.id, by=task, at=at)
    return named if is_passed else None


def _task_digest(task: Mapping[str, Any], by: SkyAsker) -> str:
    """Return a digest of the task that uses an override: launched again as it was it is the same, whatever is mounted into it."""
    identity = [by.user, by.workspace, *(task.get(name) for name in SAME_TASK)]
    text = json.dumps(identity, sort_keys=True, default=str)
    return f"task:{hashlib.sha256(text.encode()).hexdigest()}"


def _quote_marks(
    parsed_task: SkyTask,
    question: QuoteRequest,
    quote: AnsweredQuote,
    keys: Sequence[str],
    at: datetime,
) -> dict[str, str]:
    """The quote that gave the places is kept with the name that its run will have."""
    run_name = parsed_task.variables.get(RUN, "")
    number = keep_quote(question=question, answer=quote, by=None, at=at).id
    expect_run(quote_id=number, run_name=run_name or f"quote-{number}", keys=keys)
    return {QUOTE: str(number), RUN: run_name or f"quote-{number}"}


def _marked_task(
    task: Mapping[str, Any], placed: SkyPlaces, marks: Mapping[str, str], notes: Collection[str]
) -> dict[str, Any]:
    labels = {
        f"runrate-{name.removeprefix('RUNRATE_').lower()}": _label_value(value)
        for name, value in marks.items()
        if name != RUN
    }
    envs = {**(task.get("envs") or {}), **marks}
    marked_task = {**task, "envs": envs}
    marked_task["resources"] = placed_resources(task.get("resources") or {}, placed, labels)
    if notes:
        words = "; ".join(notes)
        envs[WARNING] = words
        echo = f"echo {shlex.quote(f'Runrate: {words}')}"
        marked_task["setup"] = f"{echo}\n{task.get('setup') or ''}"
    return marked_task


def _label_value(value: str) -> str:
    """Return a text as every cloud takes it as the value of a label."""
    return NOT_IN_LABELS.sub("-", value.lower()).strip("-")[:LONGEST_LABEL]


def _limit_words(limit: Mapping[str, Any]) -> str:
    needed, left = (
        "not known" if value is None else f"{Decimal(value):,.2f}"
        for value in (limit["needed"], limit["left_now"])
    )
    unit = limit["unit"]
    return f"{limit['name']}: {limit['reason']} (needed {needed}, left {left} {unit})"


def _refusal_words(
    number: int,
    limits: Collection[Mapping[str, Any]],
    named: AdmissionFact | None,
    by: SkyAsker,
) -> str:
    why = "; ".join(by.limit_words(limit) for limit in limits if limit["verdict"] == DENY)
    over = "" if named is None else f" Admission {named.id} {_why_it_is_over(named)}."
    return (
        f"Runrate denies this job. {why}.{over} This is admission {number}: when finance or platform let it pass,"
        f" launch it once with --env {ADMISSION}={number} within {OVERRIDE_HOLDS.days} days."
    )


def _why_it_is_over(named: AdmissionFact) -> str:
    if named.used_at is not None:
        return "let one job pass already"
    return f"was let pass more than {OVERRIDE_HOLDS.days} days ago"
