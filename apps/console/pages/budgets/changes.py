"""Setting a budget, changing and removing it, each with what it would be held against."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from django.conf import settings

from apps.accounts import queries as accounts
from apps.accounts.queries.facts import fields_of
from apps.console.kit.change import ChangePreview
from apps.console.kit.entered import EnteredPages, FormOf
from apps.console.kit.entries import (
    AmountField,
    LinesField,
    PickField,
    TextField,
    amount_entered,
)
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.pages.budgets import words
from apps.economics.hours import parse_month_text
from apps.economics.refusal import Refusal
from apps.economics.serving import SERVICE_KINDS
from apps.planning import actions
from apps.planning.queries import budget_words
from apps.planning.queries.budget_figures import figures_of
from apps.planning.queries.budgets import (
    GPU_HOURS,
    MONEY,
    ORGANISATION,
    SERVICE,
    TAG,
    TEAM,
    WORKLOAD,
    BudgetFact,
    BudgetStep,
    EnteredBudget,
    budgets,
)
from apps.show.amounts import per_cent
from apps.workloads import queries as workloads

LATER = "2027-01 60000"


def later_amounts(text: str) -> list[tuple[date, Decimal]]:
    """Lines of a month and the amount from it on; ValueError in a sentence for anything else."""
    steps = []
    for line in filter(None, map(str.strip, text.splitlines())):
        month, _, figure = line.partition(" ")
        first = parse_month_text(month)
        try:
            amount = Decimal(figure)
        except InvalidOperation:
            amount = None
        if first is None or amount is None:
            raise ValueError(
                f"Say a month and an amount on each line, as in {LATER}; not {line[:40]!r}."
            )
        steps.append((first, amount))
    return steps  # fmt: skip


class BudgetForm(FormOf[EnteredBudget]):
    """Form of a budget: what it is for, how much, and from when to when."""

    of = PickField("Whose costs")
    tag = TextField("Tag", "Only for a tag: as key=value.")
    amount = AmountField("Amount", example="50000", is_needed=True)
    later = LinesField(
        "Amounts of later months", later_amounts, f"A line each, as in {LATER}; empty: the same."
    )
    field_order = (
        "name", "of", "tag", "measure", "recurrence", "first_day", "last_day", "amount", "later",
        "is_hard", "note",
    )  # fmt: skip


def get_budget_or_404(context: Context, budget_id: int) -> BudgetFact:
    """The budget, or the page that there is none: another team's is as if it were not there."""
    return budget_among(budgets(context.seen_teams), budget_id)


def budget_among(visible_budgets: Sequence[BudgetFact], budget_id: int) -> BudgetFact:
    """The one of these with this id, or the page that there is none."""
    return value_or_404(next((fact for fact in visible_budgets if fact.id == budget_id), None))


def _scopes() -> dict[str, str]:
    """Everything that a budget may be of, by scope and key."""
    teams = {team.id: team.name for team in accounts.teams()}
    offered = {f"{ORGANISATION}:": "The whole organisation"}
    offered |= {f"{TEAM}:{team_id}": f"Team {name}" for team_id, name in teams.items()}
    named = sorted(workloads.workloads().values(), key=lambda workload: workload.name.casefold())
    for workload in named:
        scope = SERVICE if workload.kind in SERVICE_KINDS else WORKLOAD
        offered[f"{scope}:{workload.id}"] = (
            f"{scope.title()} {workload.name} ({teams[workload.team_id]})"
        )
    if settings.TAG_KEYS:
        offered[f"{TAG}:"] = f"A tag ({', '.join(settings.TAG_KEYS)})"
    return offered


def _measures(context: Context) -> dict[str, str]:
    return {MONEY: f"Money ({context.currency})", GPU_HOURS: "GPU-hours that jobs hold"}


def _read(values: Mapping[str, Any], _: Context) -> EnteredBudget:
    """Return the budget of the entries of its form."""
    entries = dict(values)
    scope, _, key = entries.pop("of").partition(":")
    tag, amount, later = (entries.pop(name) for name in ("tag", "amount", "later"))
    if tag and scope != TAG:
        raise Refusal("tag", "a tag is named only where the budget is of a tag")
    steps = ((entries["first_day"], amount), *later)
    return EnteredBudget(
        **entries,
        scope=scope,
        key=tag if scope == TAG else key,
        steps=tuple(BudgetStep(*step) for step in steps),
    )


def _initial(context: Context, fact: BudgetFact | None) -> Mapping[str, Any]:
    """Return the entries that are no fields of a budget; a new one begins with this month."""
    if fact is None:
        return {"first_day": f"{context.calendar.today:%Y-%m}-01"}
    first, *later = fact.steps
    return {
        "of": f"{fact.scope}:{'' if fact.scope == TAG else fact.key}",
        "tag": fact.key if fact.scope == TAG else "",
        "amount": amount_entered(first.amount),
        "later": "\n".join(
            f"{step.from_day:%Y-%m} {amount_entered(step.amount)}" for step in later
        ),
    }


def _preview(budget: EnteredBudget, context: Context, before: BudgetFact | None) -> ChangePreview:
    """Preview what a budget would be held against now; what grows meanwhile need not be as it was."""
    fact = BudgetFact(**fields_of(budget), id=before.id if before else 0, created_at=context.at)
    (figures,) = figures_of([fact], context.at)
    currency = context.currency
    amount = budget_words.amount(fact, figures.amount, currency)
    sentences = [
        f"{budget_words.scope_of(fact).capitalize()} may come to {amount}, {words.life_of(fact)}."
    ]
    if before is not None:
        was = budget_words.amount(before, before.amount_on(figures.first_day), currency)
        sentences[0] += f" It was {was}, {words.life_of(before)}."
    so_far = [f"{words.finding_of(figures, currency)}."]
    if figures.share_used is not None and figures.share_gone:
        so_far.append(
            f"{per_cent(figures.share_used)} of it is used, with {per_cent(figures.share_gone)} "
            f"of {words.period_of(figures)} gone; the rest by {words.method_of(figures.rest, context.zone)}."
        )
    overlap = words.overlap_of(fact, _others(before))
    return ChangePreview(
        (
            *sentences,
            *so_far,
            *words.unpriced_of(figures),
            *words.unpriced_requests_of(figures),
            *([overlap] if overlap else []),
        ),
        same=sentences,
    )


def _others(before: BudgetFact | None) -> Sequence[BudgetFact]:
    return [budget for budget in budgets(None) if before is None or budget.id != before.id]


CHANGES = EnteredPages[EnteredBudget, BudgetFact](
    noun="a budget",
    name=lambda budget: str(budget.name),
    explanation="Costs are held against it; nothing is stopped by it; jobs that ask admission are warned of or denied.",
    back=("Back to budgets", "budgets"),
    page_of_one="budget",
    key="budget",
    address="budgets",
    roles=SEES_EVERYTHING,
    active_entry="budgets",
    shape=EnteredBudget,
    form=BudgetForm,
    find=lambda context, budget_id: next(
        (fact for fact in budgets(context.seen_teams) if fact.id == budget_id), None
    ),
    check=actions.check_budget,
    add=lambda budget, context: actions.add_budget(budget=budget, at=context.at),
    replace=lambda budget_id, budget, _: actions.replace_budget(budget_id=budget_id, budget=budget),
    remove=lambda budget_id, _: actions.remove_budget(budget_id=budget_id),
    effects=_preview,
    effects_of_removal=lambda fact, context: (
        f"Costs of {budget_words.scope_of(fact)} are not held against "
        f"{budget_words.amount(fact, fact.amount_on(context.calendar.today), context.currency)} any more.",
    ),
    read=_read,
    picks=lambda context: {"of": _scopes(), "measure": _measures(context)},
    initial=_initial,
    fields={"scope": "of", "amounts": "amount"},
    of_change="What it was stays in its history.",
    of_removal="Costs stay as they are; the audit trail keeps what it was.",
    verb="Set",
    is_entered="is set",
)
