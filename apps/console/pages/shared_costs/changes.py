"""Sharing a cost, ending it, and changing its weights, each with what it would move."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entered import EndingPage, FormOf
from apps.console.kit.entries import AmountField, MomentField, amount_entered
from apps.console.kit.frame import Link
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.pages.setup.questions import recount
from apps.console.pages.shared_costs.tables import weight_words
from apps.economics.refusal import Refusal
from apps.economics.sharing import METHODS
from apps.ledger.queries.shared_costs import (
    MonthShare,
    ShareWhatIf,
    if_ended,
    if_shared,
    if_weighed,
)
from apps.pricing import actions
from apps.pricing.queries.shared import (
    EnteredSharedCost,
    SharedCostRow,
    Sharing,
    shared_cost_if_entered,
)
from apps.show.amounts import counted
from apps.show.money import quoted_amount, signed_amount
from apps.show.words import joined

BACK = ("Back to shared costs", "shared-costs")
WEIGHT = "weight-"
MOST_TEAMS = 12
IN_OPEN = "In open months teams are allocated"


class CostForm(FormOf[EnteredSharedCost]):
    """An amount a month; what teams weigh comes after it."""

    field_order = ("name", "amount", "method", "starts_at", "ends_at")


class WeightsForm(ChangeForm):
    """From when on the weights hold that come after it."""

    starts_at = MomentField("From", is_now=True)


@changing(SEES_EVERYTHING, "shared-costs")
def add_cost(context: Context) -> Change[EnteredSharedCost]:
    """Says what would be carried of the past and by whom, then enters the cost."""
    teams = _team_names()

    def read(entered: Mapping[str, Any]) -> EnteredSharedCost:
        cost = EnteredSharedCost(
            **{name: entered[name] for name in CostForm.base_fields},
            currency=context.currency,
            weights=_weights_of(entered),
        )
        actions.check_shared_cost(cost)
        return cost

    def effects(cost: EnteredSharedCost) -> tuple[str, ...]:
        return _moved_words(if_shared(cost, context.at), context.currency, teams)

    def apply(cost: EnteredSharedCost) -> Done:
        actions.add_shared_cost(cost=cost, at=context.at)
        recount()
        return f"{cost.name} is shared; past hours are charged again.", ("shared-costs",)

    return Change(
        finding="Add a shared cost",
        explanation="An amount a month that is allocated to teams, hour by hour.",
        back=_all_costs(),
        form=CostForm,
        confirm="Add this cost",
        read=read,
        effects=effects,
        apply=apply,
        more=_weight_fields(teams),
    )


@changing(SEES_EVERYTHING, "shared-costs")
def change_weights(context: Context, shared_cost_id: int) -> Change[Sharing]:
    """Says what would go from team to team, then goes on with the new weights."""
    cost, teams = value_or_404(shared_cost_if_entered(shared_cost_id)), _team_names()

    def read(entered: Mapping[str, Any]) -> Sharing:
        _refuse_outside(cost, entered["starts_at"], "starts_at")
        sharing = _remaining_sharing(cost, entered["starts_at"], _weights_of(entered))
        actions.check_weights(sharing.weights, sharing.starts_at)
        return sharing

    def apply(sharing: Sharing) -> Done:
        actions.change_shared_weights(
            cost_id=cost.id, weights=sharing.weights, starts_at=sharing.starts_at, at=context.at
        )
        return f"{cost.name} goes on with these weights.", ("shared-costs",)

    return Change(
        finding=f"Change the allocation of {cost.name}",
        explanation=f"Now: {weight_words(cost, teams) or METHODS[cost.method]}. Hours before "
        "keep what they had.",
        back=_all_costs(),
        form=WeightsForm,
        confirm="Allocate it by these weights",
        read=read,
        effects=lambda sharing: _moved_words(
            if_weighed(sharing, cost.id, context.at), cost.currency, teams
        ),
        apply=apply,
        more=_weight_fields(teams),
        initial={
            f"{WEIGHT}{team_id}": amount_entered(weight) for team_id, weight in cost.weights.items()
        },
    )


def _team_names() -> dict[int, str]:
    return {team.id: team.name for team in accounts.teams()}


def _all_costs() -> Link:
    return Link(BACK[0], reverse(BACK[1]))


def _weight_fields(teams: Mapping[int, str]) -> dict[str, AmountField]:
    hint = "Only by stated weights; empty: none of it."
    return {
        f"{WEIGHT}{team_id}": AmountField(f"Weight of {name}", hint, "2.5")
        for team_id, name in teams.items()
    }


def _weights_of(entered: Mapping[str, Any]) -> dict[int, Decimal]:
    return {
        int(name.removeprefix(WEIGHT)): weight
        for name, weight in entered.items()
        if name.startswith(WEIGHT) and weight is not None
    }


def _refuse_outside(cost: SharedCostRow, moment: datetime, field: str) -> None:
    """Refuse a moment that does not lie in the cost's time."""
    if moment <= cost.starts_at:
        raise Refusal(field, "it begins only then, or later")
    if cost.ends_at is not None and cost.ends_at <= moment:
        raise Refusal(field, "it is over by then")


def _remaining_sharing(
    cost: SharedCostRow, starts_at: datetime, weights: Mapping[int, Decimal]
) -> Sharing:
    method = "weighted" if weights else cost.method
    return Sharing(cost.amount, method, starts_at, cost.ends_at, weights)


def _moved_words(what_if: ShareWhatIf, currency: str, teams: Mapping[int, str]) -> tuple[str, ...]:
    """By month, then by team; closed months only get corrections."""
    if not what_if.months:
        return ("No past hour changes; it counts from its start on.",)
    sentences = [_month_words(share, currency) for share in what_if.months]
    ordered = sorted(what_if.teams.items(), key=lambda pair: (-abs(pair[1]), pair[0]))
    shown = [
        f"{teams[team_id]} {signed_amount(micros, currency)}"
        for team_id, micros in ordered[:MOST_TEAMS]
    ]
    if len(ordered) > MOST_TEAMS:
        shown.append(f"{len(ordered) - MOST_TEAMS} more teams the rest")
    if shown:
        how = (
            "By the sums of open months, teams are allocated about" if what_if.is_rough else IN_OPEN
        )
        sentences.append(f"{how} {joined(shown)}.")
    elif what_if.open_micros:
        sentences.append(
            "It is allocated to no team yet; where no team has a part, Platform is charged."
        )
    return tuple(sentences)


def _month_words(share: MonthShare, currency: str) -> str:
    hours = f"{counted(share.hours, 'hour')} of {share.month:%B %Y}"
    if share.is_closed:
        return f"{hours}, which is closed, wait for corrections; nothing in it moves."
    if not share.micros:
        return f"{hours} are charged again; the sum stays."
    return f"{hours} are charged again: {signed_amount(share.micros, currency)}."


def _end_effects(cost: SharedCostRow, ended_at: datetime, context: Context) -> tuple[str, ...]:
    """Return what would be carried no longer, in sentences."""
    what_if = if_ended(_remaining_sharing(cost, ended_at, cost.weights), cost.id, context.at)
    return _moved_words(what_if, cost.currency, _team_names())


def _end(cost_id: int, ended_at: datetime, context: Context) -> None:
    actions.end_shared_cost(cost_id=cost_id, ended_at=ended_at, at=context.at)
    recount()


END = EndingPage[SharedCostRow](
    noun="cost",
    name=lambda cost: str(cost.name),
    explanation=lambda cost: (
        f"{quoted_amount(cost.amount, cost.currency)} a month, shared "
        f"{METHODS[cost.method]}. What was allocated before stays."
    ),
    back=BACK,
    key="shared-cost",
    address="shared-costs",
    roles=SEES_EVERYTHING,
    active_entry="shared-costs",
    find=shared_cost_if_entered,
    check=lambda cost, ended_at: _refuse_outside(cost, ended_at, "ended_at"),
    effects=_end_effects,
    end=_end,
)
