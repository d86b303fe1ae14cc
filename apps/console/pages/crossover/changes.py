"""Saving a scenario, of a service or stated whole; changing, running and deleting it."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.http import Http404
from django.urls import reverse

from apps.accounts.queries import Role, teams
from apps.console.kit.change import Act, Change, ChangeForm, ChangePreview, Done, acting, changing
from apps.console.kit.entries import (
    AmountField,
    DayField,
    LinesField,
    PickField,
    TextField,
)
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage
from apps.console.kit.request import SEES_EVERYTHING, Context
from apps.console.pages.crossover import words
from apps.console.pages.crossover.trying import get_scenario_or_404
from apps.console.pages.managers import step_for
from apps.economics.crossover.answer import QUICK_ANSWER
from apps.economics.crossover.reading import question_of
from apps.economics.refusal import Refusal
from apps.planning import actions
from apps.planning.actions import ScenarioEntry
from apps.planning.queries.crossover import SavedScenarioFact, may_keep
from apps.planning.queries.crossover_answers import compute_answer
from apps.planning.queries.crossover_inputs import ScenarioInputs, read_scenario, scenario_inputs
from apps.planning.queries.scenario_text import LONGEST_SCENARIO
from apps.planning.queries.service_hours import visible_services
from apps.workloads.queries import workloads

CHANGING = SEES_EVERYTHING | {Role.LEAD}
"""Whoever answers for a service; `may_keep` holds leads to their teams."""
EXPLANATION = (
    "It is run within the minute and every week from then on. What it leaves out of demand and "
    "self_host is measured of the service, over the four weeks before each run."
)
TOML_HINT = (
    "TOML as in docs/guides/crossover.toml, or the same in JSON: name, [demand], [self_host], [api]. "
    "A number may be a range: { low, likely, high }."
)
STATED = "none: everything is stated"
ORGANISATION = "the organisation (finance and platform)"


EXAMPLE = """# Figures to be replaced by yours.
name = "Our model or an API"
currency = "{currency}"

[demand]
million_tokens = {{ low = 20000, likely = 30000, high = 60000 }}
input_share = 0.8

[self_host]
fixed = {{ engineering = 9000, "on call" = 2500 }}

[[self_host.pools]]
name = "engine"
gpus = 8
gpu_hour = {{ low = 2.0, likely = 2.5, high = 3.5 }}
# Of one replica, at your latency objective.
input_tokens_per_second = 20000
output_tokens_per_second = 4000
headroom = 0.7
least_replicas = 2

[api]
name = "the API"

[[api.prices]]
starts_on = {today}
input = 1.0
output = 4.0
"""


def _with_plain_lines(text: str) -> str:
    if not text:
        raise ValueError("Say a scenario.")
    return text.replace("\r\n", "\n")


class ScenarioForm(ChangeForm):
    """A scenario whole, and of which service."""

    text = LinesField("Scenario", _with_plain_lines, TOML_HINT, rows=24, longest=LONGEST_SCENARIO)
    service = PickField("Measured of the service", hint="the scenario is its team’s then")
    team = PickField("Whose it is", hint="where it is of no service")


class OfServiceForm(ChangeForm):
    """The prices of an API, for a service that is measured."""

    service = PickField("Service")
    name = TextField("Name", "empty: the service’s own, against the API")
    api = TextField("API", "its name", needed="Say what it is called.")
    starts_on = DayField("Prices hold from")
    input = AmountField("A million prompt tokens ({currency})", is_needed=True)
    cached = AmountField("A million cached prompt tokens ({currency})", "empty: as the others")
    output = AmountField("A million output tokens ({currency})", is_needed=True)
    engineering = AmountField(
        "People for it, a month ({currency})", "engineering and on call", initial="0"
    )
    source = TextField("Where the prices were read")
    off = AmountField(
        "What is measured may be off by (per cent)",
        "demand, throughput and the price of a GPU-hour are drawn from so far around",
        example="20",
        initial="20",
    )


@dataclass(frozen=True, slots=True)
class ThoughtScenario:
    """A scenario that would be saved, with its name."""

    name: str
    entry: ScenarioEntry


@changing(CHANGING, "crossover")
def new_scenario(context: Context) -> Change[ThoughtScenario]:
    """A scenario as it is written."""
    return Change(
        finding="Add a scenario",
        explanation=EXPLANATION,
        back=Link("All scenarios", reverse("crossovers")),
        form=ScenarioForm,
        confirm="Add this scenario",
        read=lambda entered: _thought(entered, context),
        effects=lambda thought: _effects(thought, context),
        apply=lambda thought: _added(thought, context),
        picks=_picks(context),
        initial={"text": EXAMPLE.format(currency=context.currency, today=context.calendar.today)},
        fields={"scenario": "text", "": "text"},
        is_long=True,
    )


@changing(CHANGING, "crossover")
def new_of_service(context: Context) -> Change[ThoughtScenario]:
    """A scenario of a service, against the prices of an API."""
    services = _service_picks(context)
    return Change(
        finding="Compare a service of yours with an API",
        explanation=EXPLANATION,
        back=Link("All scenarios", reverse("crossovers")),
        form=OfServiceForm,
        confirm="Add this scenario",
        read=lambda entered: _of_service(entered, context),
        effects=lambda thought: _effects(thought, context),
        apply=lambda thought: _added(thought, context),
        picks={"service": services},
        initial={"starts_on": context.calendar.today.isoformat()},
        empty=None if services else _no_service(context),
    )


@changing(CHANGING, "crossover")
def change_scenario(context: Context, scenario_id: int) -> Change[ThoughtScenario]:
    """Another text, service or team in the place of these."""
    fact = _keepable(context, scenario_id)

    def apply(thought: ThoughtScenario) -> Done:
        actions.replace_scenario(scenario_id=fact.id, entry=thought.entry, at=context.at)
        return f"{thought.name} is changed, and is run within the minute.", ("crossover", fact.id)

    return Change(
        finding=f"Change {fact.name}",
        explanation=EXPLANATION,
        back=_back_to(fact),
        form=ScenarioForm,
        confirm="Change this scenario",
        read=lambda entered: _thought(entered, context),
        effects=lambda thought: _effects(thought, context),
        apply=apply,
        picks=_picks(context),
        initial={
            "text": fact.text,
            "service": "" if fact.service_id is None else str(fact.service_id),
            "team": "" if fact.team_id is None else str(fact.team_id),
        },
        fields={"scenario": "text", "": "text"},
        is_long=True,
    )


@changing(CHANGING, "crossover")
def delete_scenario(context: Context, scenario_id: int) -> Change[Mapping[str, Any]]:
    """It is run no more, and its runs go with it."""
    fact = _keepable(context, scenario_id)

    def apply(_: Mapping[str, Any]) -> Done:
        actions.remove_scenario(scenario_id=fact.id)
        return f"{fact.name} is deleted.", ("crossovers",)

    return Change(
        finding=f"Delete {fact.name}",
        explanation="Its runs, and what they say of flips, go with it.",
        back=_back_to(fact),
        form=ChangeForm,
        confirm="Delete this scenario",
        read=lambda entered: entered,
        effects=lambda _: (f"{fact.name} is run no more; all its runs are deleted.",),
        apply=apply,
    )


@acting(CHANGING, "crossover")
def run_now(context: Context, scenario_id: int) -> Act:
    """Have the next sweep run it."""
    fact = _keepable(context, scenario_id)

    def apply(_: Mapping[str, Any]) -> Done:
        actions.request_scenario_run(scenario_id=fact.id, at=context.at)
        return "The run is under way.", ("crossover", fact.id)

    return Act(
        form=ChangeForm(context.sent, context, is_sent=True),
        apply=apply,
        page=lambda _: ConsolePage(context=context, finding=fact.name, back=_back_to(fact)),
    )


def _keepable(context: Context, scenario_id: int) -> SavedScenarioFact:
    fact = get_scenario_or_404(context, scenario_id)
    if not may_keep(context.viewer, fact.team_id):
        raise Http404
    return fact


def _back_to(fact: SavedScenarioFact) -> Link:
    return Link(f"Back to {fact.name}", reverse("crossover", args=[fact.id]))


def _service_picks(context: Context) -> dict[str, str]:
    names = {team.id: team.name for team in teams()}
    return {
        str(fact.id): f"{fact.name} ({names[fact.team_id]})"
        for fact in visible_services(context.seen_teams)
        if may_keep(context.viewer, fact.team_id)
    }


def _picks(context: Context) -> dict[str, dict[str, str]]:
    own_teams = {str(team.id): team.name for team in teams() if may_keep(context.viewer, team.id)}
    organisation_pick = {"": ORGANISATION} if context.viewer.sees_everything else {}
    return {
        "service": {"": STATED} | _service_picks(context),
        "team": organisation_pick | own_teams,
    }


def _thought(entered: Mapping[str, Any], context: Context) -> ThoughtScenario:
    service_id = int(entered["service"]) if entered["service"] else None
    team_id = int(entered["team"]) if entered["team"] and service_id is None else None
    entry = ScenarioEntry(entered["text"], team_id, service_id)
    with _keys_named():
        question = read_scenario(entry.text, context.at, is_measured=service_id is not None)
    return ThoughtScenario(question.scenario.name, entry)


def _of_service(entered: Mapping[str, Any], context: Context) -> ThoughtScenario:
    service = workloads()[int(entered["service"])]
    name = entered["name"] or f"{service.name} against {entered['api']}"
    text = _text_of(name, entered)
    with _keys_named():
        read_scenario(text, context.at, is_measured=True)
    return ThoughtScenario(name, ScenarioEntry(text, service_id=service.id))


@contextmanager
def _keys_named() -> Iterator[None]:
    """Of a refusal, which a form says at a field of its own, the key of the scenario stays."""
    try:
        yield
    except Refusal as refusal:
        if refusal.field in {"", "scenario", "service"}:
            raise
        raise Refusal("scenario", f"at {refusal}") from refusal


def _text_of(name: str, entered: Mapping[str, Any]) -> str:
    """Return the entered scenario as somebody would write it, to be gone on from."""
    day: date = entered["starts_on"]
    cached = "" if entered["cached"] is None else f"cached = {entered['cached']:f}\n"
    source = f"source = {_quoted(entered['source'])}\n" if entered["source"] else ""
    people, off = entered["engineering"] or 0, (entered["off"] or 0) / 100
    around = f"{{ below = {off:f}, above = {off:f} }}"
    return (
        f"name = {_quoted(name)}\n\n[demand]\nmillion_tokens = {around}\n\n"
        f"[self_host.fixed]\nengineering = {people:f}\n\n[[self_host.pools]]\ngpu_hour = {around}\n"
        f"input_tokens_per_second = {around}\noutput_tokens_per_second = {around}\n\n"
        f"[api]\nname = {_quoted(entered['api'])}\n{source}\n"
        f"[[api.prices]]\nstarts_on = {day}\ninput = {entered['input']:f}\n{cached}"
        f"output = {entered['output']:f}\n"
    )


def _quoted(text: str) -> str:
    """A text as TOML has it: JSON's escapes are TOML's too."""
    return json.dumps(text, ensure_ascii=False)


def _effects(thought: ThoughtScenario, context: Context) -> ChangePreview:
    """Preview what a scenario would come to today; that figures move until it is confirmed changes nothing of it."""
    service = None if thought.entry.service_id is None else workloads()[thought.entry.service_id]
    with _keys_named():
        inputs = scenario_inputs(thought.entry.text, service, context.at)
        question = question_of(inputs.document)
        answer = compute_answer(question, QUICK_ANSWER)
    currency, costs = question.scenario.currency, answer.costs
    sentences = [
        f"{thought.name} is saved and run every week.",
        *_measured_words(inputs, currency),
        f"Today it says: {words.ADVICE[answer.advice]}. A million tokens cost"
        f" {words.token_price(costs.self_host_per_million, currency)} yourself and"
        f" {words.token_price(costs.api_per_million, currency)} from the API, at"
        f" {words.million_tokens(costs.million_tokens)} tokens a month.",
        f"Self-hosting is cheaper first from {words.volume_or_nowhere(answer.search.first)} a month, and for good"
        f" from {words.volume_or_nowhere(answer.search.durable)}.",
    ]
    return ChangePreview(sentences, same=(thought.entry.text,))


def _measured_words(inputs: ScenarioInputs, currency: str) -> tuple[str, ...]:
    measured = inputs.measured
    if measured is None:
        return ()
    return (f"Measured of {measured['service']}: {words.measured_words(measured, currency)}.",)


def _added(thought: ThoughtScenario, context: Context) -> Done:
    scenario_id = actions.keep_scenario(
        entry=thought.entry, owner_id=context.viewer.person_id, at=context.at
    )
    return f"{thought.name} is saved, and is run within the minute.", ("crossover", scenario_id)


def _no_service(context: Context) -> EmptyState:
    return EmptyState(
        title="No service of yours yet",
        sentence="A service is a workload that answers requests. Demand and throughput are measured of its counted"
        " tokens and of the GPUs that it holds.",
        steps=(
            step_for(
                "Name the workload that answers.",
                Link("Workloads and ownership", reverse("ownership")),
                "adds it",
                may=context.viewer.may_manage,
            ),
            Step(
                "Or state everything yourself.", link=Link("New scenario", reverse("new-crossover"))
            ),
        ),
    )
