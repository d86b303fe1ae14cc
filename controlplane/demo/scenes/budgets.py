"""What may be spent, how many GPUs are to be ready, how many may be had at once, and how active."""

from datetime import date, timedelta
from decimal import Decimal

from apps.accounts.queries import person_of_address
from apps.fleet import queries as fleet
from apps.ledger.queries.cube import CubeQuestion, explore
from apps.ledger.queries.cube.sums import CubeSums
from apps.ledger.queries.windows import Window
from apps.planning.actions import (
    EnteredActivityTarget,
    EnteredBudget,
    EnteredGpuQuota,
    EnteredHeadroomPolicy,
    EnteredPowerLimit,
    add_budget,
    add_gpu_quota,
    add_headroom_policy,
    add_power_limit,
    replace_budget,
    set_activity_target,
)
from apps.planning.queries.budgets import GPU_HOURS, MONEY, MONTHLY, PROJECT, BudgetStep
from controlplane.demo.company import Company
from controlplane.demo.database import MANAGES, SIGN_IN, person_of_demo

LATELY = timedelta(days=28)
MONTH = Decimal(30)
SHARES = {
    "The whole company": ("", "", Decimal("1.10")),
    "Language models": ("team", "Language models", Decimal("0.92")),
    "Assistant": ("team", "Assistant", Decimal("1.25")),
    "Ranking": ("team", "Ranking", Decimal("1.05")),
}
"""Of what a month costs as things went lately."""
RAISED = Decimal("1.06")


def set_budgets(company: Company) -> None:
    """Finance sets budgets, and raises one a month before its end."""
    first = company.since.date().replace(day=1)
    with person_of_demo(person_of_address(SIGN_IN) or 0):
        for name, (scope, of, share) in SHARES.items():
            key = str(company.team(of)) if of else ""
            sums = _lately(company, team=[int(key)]) if key else _lately(company)
            amount = _rounded(Decimal(sums.micros or 0) / 1_000_000 * _months(company) * share)
            budget = _monthly(name, scope or "organisation", key, MONEY, first, amount)
            budget_id = add_budget(budget=budget, at=company.since)
            if name == "Assistant":
                raised = _monthly(name, scope, key, MONEY, first, _rounded(amount * RAISED))
                replace_budget(budget_id=budget_id, budget=raised)
        _of_work(company, first)


def state_headroom(company: Company) -> None:
    """The platform says what being short of GPUs costs, of a pool and of serving."""
    policies = (
        EnteredHeadroomPolicy(
            "Pretraining", "pool", str(company.pool("h100-reserved")), (),
            Decimal("4.10"), Decimal("2.35"), lead_days=28,
        ),
        EnteredHeadroomPolicy(
            "Serving", "workload_class", "serving", (company.pool("l4-serving"),),
            Decimal("4.00"), Decimal("0.80"), lead_days=7, most_waiting=Decimal("0.05"),
            note="An answer that waits is a customer who leaves.",
        ),
    )  # fmt: skip
    with person_of_demo(person_of_address(MANAGES) or 0):
        for policy in policies:
            add_headroom_policy(policy=policy, at=company.week.at)


def enter_quotas(company: Company) -> None:
    """What the cloud lets the company have at once, one of them asked to be raised."""
    today = company.week.at.date()
    with person_of_demo(person_of_address(MANAGES) or 0):
        for pool_name, most, asked in (("h100-on-demand", 48, 96), ("l4-serving", 16, None)):
            pool = fleet.pools()[company.pool(pool_name)]
            quota = EnteredGpuQuota(
                pool.provider, pool.region, pool.gpu_model, most, 14, "Petra",
                asked, today - timedelta(days=5) if asked else None,
            )  # fmt: skip
            add_gpu_quota(quota=quota, at=company.week.at)


def enter_room(company: Company) -> None:
    """The lab's circuit and its air conditioner."""
    room = EnteredPowerLimit(
        "Lab", (company.pool("l40s-lab"),), Decimal("4.8"), Decimal("1.35"), Decimal("3.5"),
        "One three-phase circuit; the landlord takes a quarter for another.",
    )  # fmt: skip
    with person_of_demo(person_of_address(MANAGES) or 0):
        add_power_limit(limit=room, at=company.week.at)


def set_targets(company: Company) -> None:
    """The platform says which share of what is held is to be active."""
    with person_of_demo(person_of_address(MANAGES) or 0):
        for scope, key, measure, share in (
            ("pool", company.pool("h100-reserved"), "active", "0.85"),
            ("team", company.team("Language models"), "sm_active", "0.60"),
            ("team", company.team("Vision"), "active", "0.70"),
        ):
            target = EnteredActivityTarget(scope, key, measure, Decimal(share))
            set_activity_target(target=target, at=company.week.at)


def _of_work(company: Company, first: date) -> None:
    """GPU-hours of a service each month, and a sum of money for the life of a project."""
    chat = company.workload("Assistant", "chat-serving")
    hours = Decimal(_lately(company, workload=[chat]).held_milliseconds) / 3_600_000
    amount = _rounded(hours * _months(company) * Decimal("1.2"))
    service = _monthly("Chat, GPU-hours", "service", str(chat), GPU_HOURS, first, amount)
    add_budget(budget=service, at=company.since)
    pretrain = company.workload("Language models", "pretrain-7b")
    spent = Decimal(_lately(company, workload=[pretrain]).micros or 0) / 1_000_000
    last = company.week.at.date() + timedelta(days=45)
    months = Decimal((last - company.since.date()).days) / MONTH
    project = EnteredBudget(
        name="Pretraining of the 7B model",
        scope="workload",
        key=str(pretrain),
        measure=MONEY,
        recurrence=PROJECT,
        first_day=company.since.date(),
        last_day=last,
        steps=(BudgetStep(company.since.date(), _rounded(spent * _months(company) * months)),),
        is_hard=True,
        note="Agreed with the programme: until the second checkpoint ships.",
    )
    add_budget(budget=project, at=company.since)


def _monthly(
    name: str, scope: str, key: str, measure: str, first: date, amount: Decimal
) -> EnteredBudget:
    return EnteredBudget(
        name, scope, key, measure, MONTHLY, first, None, (BudgetStep(first, amount),)
    )


def _lately(company: Company, **of: list[int]) -> CubeSums:
    """What the last four weeks came to, or as many as there are."""
    end = company.week.ends_at.date()
    first = max(company.since.date(), end - LATELY)
    return explore(
        CubeQuestion(Window("", first, end, "UTC"), is_bounded=False).of(**of)
    ).total.sums


def _months(company: Company) -> Decimal:
    """How often the days of `_lately` are in a month."""
    end = company.week.ends_at.date()
    return MONTH / min(LATELY.days, max(1, (end - company.since.date()).days))


def _rounded(amount: Decimal) -> Decimal:
    """To two digits that count, as people set budgets; at least 1."""
    step = Decimal(1).scaleb(max(0, amount.adjusted() - 1))
    return max(Decimal(1), (amount / step).to_integral_value() * step)
