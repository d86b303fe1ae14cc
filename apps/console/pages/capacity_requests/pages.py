"""The pages of capacity requests: all of them, and one with its profile, cost, forecast and steps."""

from django.urls import path, reverse

from apps.console.kit.chart import Figure, FigureRow, figure_or_unknown
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.gates import gate_list, gate_notes
from apps.console.kit.page import ConsolePage, FactList, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.pages.capacity_requests import changes, words
from apps.console.pages.capacity_requests.tables import (
    CLOCK,
    REQUESTS,
    SENTENCES,
    USE,
    clock_rows,
    use_rows,
)
from apps.console.pages.managers import team_step
from apps.planning.queries.budgets import is_budget_visible
from apps.planning.queries.request_words import (
    budget_words,
    demands_seen,
    forecast_words,
    gpus_text,
    judged_use,
    profile_sentences,
    request_cost,
    request_gates,
    returned_gpus,
)
from apps.planning.queries.requests import (
    APPROVED,
    WAITING,
    WITHDRAWABLE,
    CapacityRequestFact,
    capacity_requests,
    may_decide,
    may_withdraw,
)
from apps.show.amounts import count
from apps.show.money import short_amount
from apps.show.time import duration, instant, period


@shown(EVERYONE, "capacity-requests")
def request_list(context: Context) -> ConsolePage:
    """Every request that the viewer may see, the newest first."""
    facts = capacity_requests(context.seen_teams)
    return ConsolePage(
        context=context,
        finding=words.list_finding(facts) if facts else "No capacity was asked for",
        under=("each with what the team’s use of the last 28 days said as it was raised",)
        if facts
        else (),
        actions=(Link("Ask for capacity", reverse("raise-capacity-request")),)
        if context.viewer.team_ids
        else (),
        sections=(REQUESTS.section(facts, context, csv_name="capacity-requests"),),
        empty=None if facts else _no_requests(context),
    )


@shown(EVERYONE, "capacity-requests")
def request_page(context: Context, capacity_request_id: int) -> ConsolePage:
    """One request: what is asked for, what the profile says, what it costs, and every step."""
    fact = changes.get_request_or_404(context, capacity_request_id)
    days = period(*fact.profile.days)
    _, is_there = judged_use(fact.profile)
    gates = request_gates(fact, sees_all=context.viewer.sees_everything)
    place = fact.where if is_there else "other pools, for it held nothing where it asks"
    return ConsolePage(
        context=context,
        finding=words.finding_of(fact),
        under=(f"{words.span_of(fact, context.zone)}; the profile is of {days}",),
        notes=gate_notes(gates),
        back=Link("Back to capacity requests", reverse("capacity-requests")),
        actions=_steps_open(fact, context),
        sections=(
            FigureRow(_key_figures(fact, context)),
            FactList(_facts(fact, context)),
            gate_list(gates),
            SENTENCES.section(
                profile_sentences(fact.profile),
                context,
                about=f"of its use of {place}; the causes never overlap, so their GPUs add up",
                csv_name="what-the-profile-says",
            ),
            USE.section(
                use_rows(fact.profile, context.currency),
                context,
                title=f"Its use, {days}",
                about=f"there: {fact.where}; everywhere: all pools",
                csv_name="use-of-28-days",
            ),
            CLOCK.section(
                clock_rows(fact),
                context,
                csv_name="steps-of-a-request",
                remark=_clock_remark(fact),
            ),
        ),
    )


def _steps_open(fact: CapacityRequestFact, context: Context) -> tuple[Link, ...]:
    """Return links to what the viewer may do about a capacity request now."""
    person_id, role = context.viewer.person_id, context.viewer.role
    links = []
    if fact.state == WAITING and may_decide(fact, person_id, role):
        links += [("Approve", "approve-capacity-request"), ("Decline", "decline-capacity-request")]
    if fact.state == APPROVED and role in changes.DECIDES:
        links.append(("Say that it is delivered", "deliver-capacity-request"))
    if fact.state in WITHDRAWABLE and may_withdraw(fact, person_id, role):
        links.append(("Withdraw", "withdraw-capacity-request"))
    return tuple(Link(text, reverse(name, args=[fact.id])) for text, name in links)


def _key_figures(fact: CapacityRequestFact, context: Context) -> tuple[Figure, ...]:
    micros, returned = request_cost(fact), returned_gpus(fact.profile)
    opened = context.at - fact.raised_at
    decided = fact.time_to_decision
    return (
        Figure("Asked for", count(fact.gpus), f"GPUs {words.span_of(fact, context.zone)}"),
        figure_or_unknown(
            "Cost",
            None if micros is None else short_amount(micros, context.currency),
            "no price of these GPUs is known"
            if micros is None
            else "GPUs × hours × price, as it was raised"
            if fact.ends_at
            else "for every 30 days, as it was raised",
        ),
        figure_or_unknown(
            "Fixes would return",
            None if returned is None else gpus_text(returned),
            "not measured where it asks" if returned is None else "GPUs it holds there already",
        ),
        Figure(
            "To a decision",
            duration(opened if decided is None else decided),
            "and it waits still" if decided is None else "from raised to decided",
        ),
    )


def _facts(fact: CapacityRequestFact, context: Context) -> list[tuple[str, str]]:
    demands = [
        forecast_words(demand, fact.gpus)
        for demand in demands_seen(fact, sees_all=context.viewer.sees_everything)
    ]
    budget_texts = [
        budget_words(budget, context.currency)
        for budget in fact.profile.budgets
        if is_budget_visible(budget.scope, budget.key, context.seen_teams)
    ]
    return [
        ("Why", fact.reason),
        ("Raised", f"{instant(fact.raised_at, context.zone)} by {fact.steps[0].by}"),
        ("Cost", words.cost_words(fact, context.currency, sees_prices=context.viewer.sees_prices)),
        (
            "Budget as it was raised",
            " ".join(budget_texts) or f"No budget of {fact.team} is on record",
        ),
        ("Forecast as it was raised", " ".join(demands) or "None was kept of it yet"),
    ]


def _clock_remark(fact: CapacityRequestFact) -> str:
    if fact.at_step("delivered") is None or fact.time_to_work is not None:
        return ""
    return (
        "The first productive GPU-hour is not there yet: the first settled hour since then with at least one "
        "active GPU-hour more than it held there in any hour of the seven days before that."
    )


def _no_requests(context: Context) -> EmptyState:
    explanation = (
        "A team asks for GPUs of a pool or model, from when until when, and why. Runrate attaches what the team’s "
        "last 28 days say (what is idle, what waits for data, what it would cost, what is forecast), finance or "
        "platform decides with a reason, and the clock runs until the first productive GPU-hour."
    )
    if not context.viewer.team_ids:
        return EmptyState(
            "No capacity was asked for", f"{explanation} You are in no team yet.", (team_step(),)
        )
    step = Step(
        "Ask for a team’s.", link=Link("Ask for capacity", reverse("raise-capacity-request"))
    )
    return EmptyState("No capacity was asked for", explanation, (step,))


ONE = "capacity-requests/<int:capacity_request_id>"
urlpatterns = [
    path("capacity-requests", request_list, name="capacity-requests"),
    path("capacity-requests/new", changes.raise_request, name="raise-capacity-request"),
    path(ONE, request_page, name="capacity-request"),
    path(f"{ONE}/approve", changes.approve, name="approve-capacity-request"),
    path(f"{ONE}/decline", changes.decline, name="decline-capacity-request"),
    path(f"{ONE}/deliver", changes.deliver, name="deliver-capacity-request"),
    path(f"{ONE}/withdraw", changes.withdraw, name="withdraw-capacity-request"),
]
