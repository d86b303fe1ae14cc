"""Asking for capacity, deciding on it, saying that it is delivered, taking it back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.kit.change import Change, ChangeForm, ChangePreview, Done, changing
from apps.console.kit.entered import FormOf
from apps.console.kit.entries import PickField, TextField
from apps.console.kit.frame import EmptyState, Link
from apps.console.kit.request import EVERYONE, SEES_EVERYTHING, Context, value_or_404
from apps.console.pages.capacity_requests import words
from apps.console.pages.capacity_requests.tables import SENTENCES
from apps.console.pages.managers import team_step
from apps.economics.capacity import capacity_cost
from apps.economics.gpu_catalogue import CATALOGUE
from apps.economics.refusal import Refusal
from apps.fleet import queries as fleet
from apps.planning.actions import requests as actions
from apps.planning.queries.capacity_places import matching_gpu_models
from apps.planning.queries.request_profile import RequestProfile, request_profile
from apps.planning.queries.request_words import (
    BASES,
    MONTH_MS,
    gpus_text,
    judged_use,
    profile_sentences,
    returned_gpus,
    span_words,
)
from apps.planning.queries.requests import (
    APPROVED,
    LONGEST_REASON,
    STATES,
    WAITING,
    WITHDRAWABLE,
    CapacityRequestFact,
    EnteredCapacityRequest,
    capacity_request,
    gpu_models_there,
    may_decide,
    may_withdraw,
)
from apps.show.amounts import counted
from apps.show.money import rounded_amount
from apps.show.time import period
from apps.workloads.queries import workloads

DECIDES = SEES_EVERYTHING
REFUSALS = (
    Refusal,
    actions.AnotherPersonDecides,
    actions.RequestDecidedByManagers,
    actions.RequestNotOpen,
)
LONGEST = LONGEST_REASON


class CapacityRequestForm(FormOf[EnteredCapacityRequest]):
    """Form of a team's request for capacity."""

    team = PickField("For the team")
    workload = PickField("For the workload", hint="Whose use is looked at.")
    place = PickField("In the pool, or of the GPU model")
    field_order = ("team", "workload", "place")


class ReasonForm(ChangeForm):
    """Why it is decided so."""

    reason = TextField(
        "Because", "Kept with the request, with your name.", needed="Say why.", longest=LONGEST
    )


class RemarkForm(ChangeForm):
    """Form of a remark on a capacity request, if anything is to be said of it."""

    reason = TextField("Remark", "Kept with the request, with your name.", longest=LONGEST)


@changing(EVERYONE, "capacity-requests")
def raise_request(context: Context) -> Change[EnteredCapacityRequest]:
    """Says what Runrate will attach, then raises the request with it."""

    def apply(request: EnteredCapacityRequest) -> Done:
        request_id = actions.raise_capacity_request(
            request=request,
            by=context.viewer.person_id,
            at=context.at,
        )
        return "The request is raised, with what is known of the team’s use.", (
            "capacity-request",
            request_id,
        )

    teams = _requestable_teams(context)
    return Change(
        finding="Ask for capacity",
        explanation="GPUs for a team. What its last 28 days say of it, the cost and the forecast are attached by "
        "themselves; finance or platform decides.",
        back=_back_to_list(),
        form=CapacityRequestForm,
        confirm="Raise this request",
        read=_request_entered,
        effects=lambda request: _attached(request, context),
        apply=apply,
        picks={"team": teams, "workload": _workload_names(teams), "place": place_names()},
        fields={"pool": "place", "gpu_model": "place"},
        look="See what is attached",
        empty=None
        if teams
        else EmptyState("You are in no team", "Whoever asks, asks for a team.", (team_step(),)),
    )


@dataclass(frozen=True, slots=True)
class DecisionWords:
    """How the page of a step reads: its title, the button, what it does, and the words of success."""

    finding: str
    confirm: str
    effect: str
    done: str


@changing(DECIDES, "capacity-requests")
def approve(context: Context, capacity_request_id: int) -> Change[Mapping[str, Any]]:
    """Says what it costs and what fixes would return, then approves it with a reason."""
    words_of = DecisionWords(
        "Approve",
        "Approve this request",
        "It is approved: whoever provides capacity says when it is delivered.",
        "The request is approved.",
    )
    return _decision(context, capacity_request_id, words_of, actions.approve_capacity_request)


@changing(DECIDES, "capacity-requests")
def decline(context: Context, capacity_request_id: int) -> Change[Mapping[str, Any]]:
    """Says what it costs and what fixes would return, then declines it with a reason."""
    words_of = DecisionWords(
        "Decline",
        "Decline this request",
        "It is declined for good: another one may be raised.",
        "The request is declined.",
    )
    return _decision(context, capacity_request_id, words_of, actions.decline_capacity_request)


@changing(DECIDES, "capacity-requests")
def deliver(context: Context, capacity_request_id: int) -> Change[Mapping[str, Any]]:
    """The capacity is there: the clock to the first productive hour starts."""
    fact = get_request_or_404(context, capacity_request_id)
    words_of = DecisionWords(
        "Say that it is delivered:",
        "It is delivered",
        "It is delivered as of now, and Runrate looks for the first productive GPU-hour from now on.",
        "The request is delivered.",
    )
    over = None if fact.state == APPROVED else _over(fact)
    return _step(context, fact, words_of, actions.deliver_capacity_request, RemarkForm, over)


@changing(EVERYONE, "capacity-requests")
def withdraw(context: Context, capacity_request_id: int) -> Change[Mapping[str, Any]]:
    """It is needed no longer."""
    fact = get_request_or_404(context, capacity_request_id)
    words_of = DecisionWords(
        "Withdraw",
        "Withdraw this request",
        "It is withdrawn for good: another one may be raised.",
        "The request is withdrawn.",
    )
    over = None if fact.state in WITHDRAWABLE else _over(fact)
    if not may_withdraw(fact, context.viewer.person_id, context.viewer.role):
        over = EmptyState(
            "This is not yours to withdraw", "Who raised it may, and finance and platform."
        )
    return _step(context, fact, words_of, actions.withdraw_capacity_request, RemarkForm, over)


def get_request_or_404(context: Context, capacity_request_id: int) -> CapacityRequestFact:
    """The request, or the page that there is none: another team's is as if it were not there."""
    return value_or_404(capacity_request(capacity_request_id, context.seen_teams))


def _decision(
    context: Context,
    capacity_request_id: int,
    decision_words: DecisionWords,
    action: Callable[..., None],
) -> Change[Mapping[str, Any]]:
    fact = get_request_or_404(context, capacity_request_id)
    over = None if fact.state == WAITING else _over(fact)
    if over is None and not may_decide(fact, context.viewer.person_id, context.viewer.role):
        over = EmptyState(
            "You raised this request", "Another person of finance or platform decides on it."
        )
    return _step(context, fact, decision_words, action, ReasonForm, over)


def _step(
    context: Context,
    fact: CapacityRequestFact,
    step_words: DecisionWords,
    action: Callable[..., None],
    form: type[ChangeForm],
    over: EmptyState | None,
) -> Change[Mapping[str, Any]]:
    """The page of one step of a request; with `over` there is nothing to do."""

    def apply(entered: Mapping[str, Any]) -> Done:
        action(
            capacity_request_id=fact.id,
            by=context.viewer.person_id,
            reason=entered["reason"],
            at=context.at,
        )
        return step_words.done, ("capacity-request", fact.id)

    return Change(
        finding=f"{step_words.finding} {fact.title}",
        explanation=f"{fact.reason} ({fact.steps[0].by})",
        back=Link("Back to the request", reverse("capacity-request", args=[fact.id])),
        form=form,
        confirm=step_words.confirm,
        read=lambda entered: entered,
        effects=lambda _: (step_words.effect, *_request_facts(fact, context)),
        apply=apply,
        refusals=REFUSALS,
        empty=over,
    )


def _request_facts(fact: CapacityRequestFact, context: Context) -> tuple[str, ...]:
    cost = words.cost_words(fact, context.currency, sees_prices=context.viewer.sees_prices)
    return (f"Cost: {cost}.", _returned_words(fact.profile))


def _returned_words(profile: RequestProfile) -> str:
    returned = returned_gpus(profile)
    if returned is None:
        return "What fixes would return of such GPUs is not measured."
    return f"Fixes to what the team holds there would return up to {gpus_text(returned)} GPUs."


def _attached(request: EnteredCapacityRequest, context: Context) -> ChangePreview:
    """Preview what will be kept with a capacity request. Refuses CapacityNotAskable."""
    actions.check_capacity_request(request)
    profile = request_profile(request, request.starts_at, request.ends_at, context.at)
    _, is_there = judged_use(profile)
    sentence = f"{counted(request.gpus, 'GPU')} are asked for {_cost_of(request, profile, context)}"
    days = period(*profile.days)
    elsewhere_note = "" if is_there else " It holds none there: this is of its other GPUs."
    return ChangePreview(
        effects=(
            f"{sentence}.",
            f"What is known of the team’s use from {days} is kept with the request.{elsewhere_note}",
            _returned_words(profile),
        ),
        sections=(SENTENCES.section(profile_sentences(profile), context),),
        same=(repr(request),),
    )


def _cost_of(request: EnteredCapacityRequest, profile: RequestProfile, context: Context) -> str:
    price = profile.price
    if price is None:
        return "at a cost that is unknown: no price of them is known"
    length = MONTH_MS
    if request.ends_at is not None:
        length = round((request.ends_at - request.starts_at).total_seconds() * 1000)
    micros = capacity_cost(request.gpus, length, price.micros)
    every = "" if request.ends_at else "every "
    return (
        f"at {rounded_amount(micros, context.currency)} for {every}{span_words(length)}, by the "
        f"{BASES[price.basis]}"
    )


def _request_entered(entered: Mapping[str, Any]) -> EnteredCapacityRequest:
    kind, _, key = entered["place"].partition(":")
    return EnteredCapacityRequest(
        team_id=int(entered["team"]),
        workload_id=int(entered["workload"]) if entered["workload"] else None,
        pool_id=int(key) if kind == "pool" else None,
        gpu_model=key if kind == "model" else "",
        gpus=entered["gpus"],
        starts_at=entered["starts_at"],
        ends_at=entered["ends_at"],
        reason=entered["reason"],
    )


def _requestable_teams(context: Context) -> dict[str, str]:
    """The teams that the viewer may ask for, by name."""
    unowned = accounts.special_teams().unowned_id
    return {
        str(team.id): team.name
        for team in accounts.teams()
        if team.id in context.viewer.team_ids and team.id != unowned
    }


def _workload_names(teams: Mapping[str, str]) -> dict[str, str]:
    of_teams = [
        (f"{teams[str(fact.team_id)]}: {fact.name}", str(fact.id))
        for fact in workloads().values()
        if str(fact.team_id) in teams
    ]
    return {"": "all that the team does", **{key: name for name, key in sorted(of_teams)}}


def place_names() -> dict[str, str]:
    """Pools and models that are there, then models of the catalogue that are not."""
    there = gpu_models_there()
    pools = [pool for pool in fleet.pools_by_name() if not pool.counts_cores]
    return {
        **{f"pool:{pool.id}": f"pool {pool.name}" for pool in pools},
        **{f"model:{name}": name for name in there},
        **{
            f"model:{gpu_model.name}": f"{gpu_model.name} (none here yet)"
            for gpu_model in CATALOGUE
            if gpu_model.name not in there and not matching_gpu_models(gpu_model.name)
        },
    }


def _over(fact: CapacityRequestFact) -> EmptyState:
    return EmptyState("There is nothing to decide", f"The request is {STATES[fact.state]}.")


def _back_to_list() -> Link:
    return Link("Back to capacity requests", reverse("capacity-requests"))
