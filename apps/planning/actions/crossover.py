"""Scenarios are kept, changed and run; each run is kept with what it was made from."""

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.actions.removal import delete_locked
from apps.accounts.queries import organisation
from apps.economics.crossover.answer import CrossoverQuestion
from apps.economics.crossover.moves import moved_inputs
from apps.economics.crossover.reading import question_of
from apps.economics.refusal import Refusal
from apps.logs.changes import logged_change, logged_pass
from apps.planning.models import KeptScenario, ScenarioRun
from apps.planning.queries.crossover import is_scenario_due, scenarios_due
from apps.planning.queries.crossover_answers import answer_fields, compute_answer
from apps.planning.queries.crossover_inputs import read_scenario, scenario_inputs
from apps.workloads import queries as workloads

log = logging.getLogger(__name__)
BROKEN = "it could not be answered; the log of the worker says why"
MOST_MOVES = 20


class ScenarioExists(Refusal):
    """A scenario of this name is kept already, of the same team."""


@dataclass(frozen=True, slots=True)
class ScenarioEntry:
    """A scenario to be kept; of a service, whose team it then is, or of a team or the organisation."""

    text: str
    team_id: int | None = None
    service_id: int | None = None


@logged_change()
def keep_scenario(*, entry: ScenarioEntry, owner_id: int | None, at: datetime) -> int:
    """Keep it and ask for its first run; its id. Refuses a Refusal that names key and value."""
    fields = _entered_fields(entry, at)
    with transaction.atomic():
        _refuse_other(fields, None)
        row = KeptScenario.objects.create(owner_id=owner_id, created_at=at, **fields)
    return row.id


@logged_change()
def replace_scenario(*, scenario_id: int, entry: ScenarioEntry, at: datetime) -> None:
    """Put this in its place, with the runs that there are, and ask for one more. Refuses a Refusal.

    What was measured of a team's service is no other team's to see.
    """
    fields = _entered_fields(entry, at)
    with transaction.atomic():
        # A run that is being written is waited for: what it measured counts.
        KeptScenario.objects.select_for_update().filter(id=scenario_id).first()
        _refuse_other(fields, scenario_id)
        measured = ScenarioRun.objects.filter(scenario_id=scenario_id, measured__isnull=False)
        if measured.exclude(scenario__team_id=fields["team_id"]).exists():
            raise Refusal(
                "team", "its runs tell what another team’s service costs: add another scenario"
            )
        KeptScenario.objects.filter(id=scenario_id).update(**fields)


@logged_change()
def remove_scenario(*, scenario_id: int) -> None:
    """Keep it no longer, nor its runs."""
    delete_locked(KeptScenario.objects.filter(id=scenario_id))


@logged_change()
def request_scenario_run(*, scenario_id: int, at: datetime) -> None:
    """Have the next sweep run it."""
    KeptScenario.objects.filter(id=scenario_id).update(asked_at=at)


def run_due_scenarios(*, at: datetime) -> int:
    """Run every scenario that is due, each by itself; how many. One that fails holds up no other."""
    due = scenarios_due(at, organisation())
    return sum(run_scenario(scenario_id=scenario_id, at=at) for scenario_id in due)


@logged_pass("run_scenario")
@transaction.atomic
def run_scenario(*, scenario_id: int, at: datetime) -> bool:
    """Work it out as things are now and keep the run, a refusal too; False where another does, or did."""
    scenario = (
        KeptScenario.objects.select_for_update(skip_locked=True).filter(id=scenario_id).first()
    )
    # Another worker may have run it since it was listed: a second run would say that nothing moved.
    if scenario is None or not is_scenario_due(scenario_id, at, organisation()):
        return False
    run = ScenarioRun(scenario=scenario, ran_at=at, is_asked=_is_run_requested(scenario))
    try:
        with transaction.atomic():
            _fill_in(run, at)
    except Refusal as refusal:
        run.answer, run.advice, run.moved, run.refusal = {}, "", [], str(refusal)
    except Exception:
        log.exception("scenario_not_run scenario=%s", scenario_id)
        run.answer, run.advice, run.moved, run.refusal = {}, "", [], BROKEN
    run.save(force_insert=True)
    return True


def _is_run_requested(scenario: KeptScenario) -> bool:
    last = scenario.runs.order_by("-ran_at").values_list("ran_at", flat=True).first()
    return last is None or last < scenario.asked_at


def _fill_in(run: ScenarioRun, at: datetime) -> None:
    scenario = run.scenario
    service = None
    if scenario.service_id is not None:
        service = workloads.workloads()[scenario.service_id]
    inputs = scenario_inputs(scenario.text, service, at)
    question = question_of(inputs.document)
    answer = compute_answer(question)
    run.inputs, run.measured = (
        _plain_json(inputs.document),
        inputs.measured and _plain_json(inputs.measured),
    )
    run.digest = _digest_of(run.inputs)
    run.answer, run.advice = _plain_json(answer_fields(question, answer)), str(answer.advice)
    _compare_with_before(run, question)


def _compare_with_before(run: ScenarioRun, question: CrossoverQuestion) -> None:
    """Compare with the last answer: what moved since, and whether that advised otherwise."""
    before = run.scenario.runs.filter(refusal="").order_by("-ran_at").first()
    if before is None or before.ran_at >= run.ran_at:
        return
    moves = moved_inputs(question_of(before.inputs).scenario, question.scenario)
    run.moved = [_plain_json(asdict(move)) for move in moves[:MOST_MOVES]]
    run.flipped_from = before.advice if before.advice != run.advice else ""


def _entered_fields(entry: ScenarioEntry, at: datetime) -> dict[str, Any]:
    question = read_scenario(entry.text, at, is_measured=entry.service_id is not None)
    team_id = entry.team_id
    if entry.service_id is not None:
        team_id = workloads.workloads()[entry.service_id].team_id
    return {
        "name": question.scenario.name,
        "team_id": team_id,
        "service_id": entry.service_id,
        "text": entry.text,
        "changed_at": at,
        "asked_at": at,
    }


def _refuse_other(fields: Mapping[str, Any], scenario_id: int | None) -> None:
    same = KeptScenario.objects.filter(name=fields["name"], team_id=fields["team_id"])
    if set(same.values_list("id", flat=True)) - {scenario_id}:
        raise ScenarioExists("name", f"a scenario named {fields['name']!r} is kept already")


def _plain_json(value: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON has it: days as text."""
    plain: dict[str, Any] = json.loads(json.dumps(value, default=str))
    return plain


def _digest_of(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
