"""Setting a budget, changing and removing it, each with what it would be held against."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from django.conf import settings
from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.kit.change import Change, ChangeForm, ChangePreview, Done, changing
from apps.console.kit.entries import (
    AmountField,
    DayField,
    HardLimitField,
    LinesField,
    PickField,
    TextField,
    amount_entered,
)
from apps.console.kit.frame import Link
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
    MONTHLY,
    ORGANISATION,
    PROJECT,
    SERVICE,
    TAG,
    TEAM,
    WORKLOAD,
    BudgetFact,
    BudgetStep,
    budgets,
)
from apps.show.amounts import per_cent
from apps.workloads import queries as workloads

OF_FIELDS = {"scope": "of", "amounts": "amount"}
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


class BudgetForm(ChangeForm):
    """Form of a budget: what it is for, how much, and from when to when."""

    name = TextField("Name")
    of = PickField("Whose costs")
    tag = TextField("Tag", "Only for a tag: as key=value.")
    measure = PickField("In", initial=MONEY)
    recurrence = PickField(
        "For", {MONTHLY: "Each month", PROJECT: "The whole time, as of a project"}, initial=MONTHLY
    )
    first_day = DayField("First day", "Of a monthly budget the first of a month.")
    last_day = DayField("Last day", "Empty: open-ended, each month.", is_needed=False)
    amount = AmountField("Amount", example="50000", is_needed=True)
    later = LinesField(
        "Amounts of later months", later_amounts, f"A line each, as in {LATER}; empty: the same."
    )
    is_hard = HardLimitField()
    note = TextField("Note")


@changing(SEES_EVERYTHING, "budgets")
def add_budget(context: Context) -> Change[actions.NewBudget]:
    """Says what it would be held against, then sets it."""

    def read(entered: Mapping[str, Any]) -> actions.NewBudget:
        thought = _thought_of(entered)
        actions.check_budget(thought)
        return thought

    def apply(thought: actions.NewBudget) -> Done:
        budget_id = actions.add_budget(budget=thought, at=context.at)
        return f"{thought.name} is set.", ("budget", budget_id)

    return Change(
        finding="Add a budget",
        explanation="Costs are held against it; nothing is stopped by it; jobs that ask admission are warned of or denied.",
        back=_all_budgets(),
        form=BudgetForm,
        confirm="Set this budget",
        read=read,
        effects=lambda thought: _preview(thought, context),
        apply=apply,
        picks={"of": _scopes(), "measure": _measures(context)},
        initial={"first_day": f"{context.calendar.today:%Y-%m}-01"},
        fields=OF_FIELDS,
    )


@changing(SEES_EVERYTHING, "budgets")
def change_budget(context: Context, budget_id: int) -> Change[actions.NewBudget]:
    """Says what it would be held against then, and sets it anew."""
    fact = get_budget_or_404(context, budget_id)

    def read(entered: Mapping[str, Any]) -> actions.NewBudget:
        thought = _thought_of(entered)
        actions.check_budget(thought, fact.id)
        if thought == _as_set(fact):
            raise Refusal("", "nothing of it is different")
        return thought

    def apply(thought: actions.NewBudget) -> Done:
        actions.replace_budget(budget_id=fact.id, budget=thought)
        return f"{thought.name} is changed.", ("budget", fact.id)

    return Change(
        finding=f"Change {fact.name}",
        explanation="What it was stays in its history.",
        back=_one_budget(fact),
        form=BudgetForm,
        confirm="Change this budget",
        read=read,
        effects=lambda thought: _preview(thought, context, fact),
        apply=apply,
        picks={"of": _scopes(), "measure": _measures(context)},
        initial=_entered_before(fact),
        fields=OF_FIELDS,
    )


@changing(SEES_EVERYTHING, "budgets")
def remove_budget(context: Context, budget_id: int) -> Change[BudgetFact]:
    """Says what is held against it no more, then removes it."""
    fact = get_budget_or_404(context, budget_id)

    def apply(_: BudgetFact) -> Done:
        actions.remove_budget(budget_id=fact.id)
        return f"{fact.name} is removed.", ("budgets",)

    return Change(
        finding=f"Remove {fact.name}",
        explanation="Costs stay as they are; the audit trail keeps what it was.",
        back=_one_budget(fact),
        form=ChangeForm,
        confirm="Remove this budget",
        read=lambda _: fact,
        effects=lambda _: (
            f"Costs of {budget_words.scope_of(fact)} are not held against "
            f"{budget_words.amount(fact, fact.amount_on(context.calendar.today), context.currency)} any more.",
        ),
        apply=apply,
    )


def get_budget_or_404(context: Context, budget_id: int) -> BudgetFact:
    """The budget, or the page that there is none: another team's is as if it were not there."""
    return budget_among(budgets(context.seen_teams), budget_id)


def budget_among(visible_budgets: Sequence[BudgetFact], budget_id: int) -> BudgetFact:
    """The one of these with this id, or the page that there is none."""
    return value_or_404(next((fact for fact in visible_budgets if fact.id == budget_id), None))


def _all_budgets() -> Link:
    return Link("Back to budgets", reverse("budgets"))


def _one_budget(fact: BudgetFact) -> Link:
    return Link("Back to the budget", reverse("budget", args=[fact.id]))


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


def _thought_of(entered: Mapping[str, Any]) -> actions.NewBudget:
    scope, _, key = entered["of"].partition(":")
    if scope == TAG:
        key = entered["tag"]
    elif entered["tag"]:
        raise Refusal("tag", "a tag is named only where the budget is of a tag")
    first_day = entered["first_day"]
    steps = [(first_day, entered["amount"]), *entered["later"]]
    named = ("name", "measure", "recurrence", "first_day", "last_day", "note", "is_hard")
    return actions.NewBudget(
        scope=scope,
        key=key,
        steps=tuple(BudgetStep(*step) for step in steps),
        **{name: entered[name] for name in named},
    )


def _as_set(fact: BudgetFact) -> actions.NewBudget:
    return actions.NewBudget(
        **{field.name: getattr(fact, field.name) for field in fields(actions.NewBudget)}
    )


def _entered_before(fact: BudgetFact) -> dict[str, str]:
    first, *later = fact.steps
    return {
        "name": fact.name,
        "of": f"{fact.scope}:{'' if fact.scope == TAG else fact.key}",
        "tag": fact.key if fact.scope == TAG else "",
        "measure": fact.measure,
        "recurrence": fact.recurrence,
        "first_day": fact.first_day.isoformat(),
        "last_day": "" if fact.last_day is None else fact.last_day.isoformat(),
        "amount": amount_entered(first.amount),
        "later": "\n".join(
            f"{step.from_day:%Y-%m} {amount_entered(step.amount)}" for step in later
        ),
        "note": fact.note,
        "is_hard": "hard" if fact.is_hard else "",
    }


def _preview(
    thought: actions.NewBudget, context: Context, before: BudgetFact | None = None
) -> ChangePreview:
    """Preview what a budget would be held against now; what grows meanwhile need not be as it was."""
    values = {field.name: getattr(thought, field.name) for field in fields(thought)}
    fact = BudgetFact(id=before.id if before else 0, created_at=context.at, **values)
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
