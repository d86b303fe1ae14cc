"""GPUs that are rented by the hour all along, held against what the newest portfolio says to commit to."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from apps.economics.eligibility import NEVER_COVERED
from apps.economics.gates import TERM_OF_HISTORY, history_gate
from apps.economics.hours import DAY_HOURS, HOUR
from apps.economics.money import MICROS
from apps.economics.moves.commitment import commitment_saving, demand_floor
from apps.economics.moves.disruption import DisruptionClass, MoveDisruption
from apps.economics.moves.saving import MONTH_HOURS, monthly
from apps.economics.purchase import PurchaseOption
from apps.fleet.queries import PoolFact
from apps.placement.queries.moves.proposal import (
    MoveKind,
    MoveKindDetection,
    MoveProposal,
    ProposalEvidence,
    move_key,
    one_time_cost,
)
from apps.placement.queries.moves.work import WEEKS, FleetWork
from apps.planning.queries.portfolio.families import PoolFamily, pool_families
from apps.planning.queries.portfolio.runs import PortfolioRunFact, latest_portfolio

LOW = DisruptionClass.LOW
OLD_DAYS = 31


def detect_commitment_moves(work: FleetWork, at: datetime) -> MoveKindDetection:
    """Every family of GPUs of which some are rented by the hour; what the newest portfolio buys, up to the floor."""
    kind_look = MoveKindDetection(MoveKind.TO_COMMITMENT)
    portfolio = latest_portfolio()
    for family in pool_families():
        weeks = _rented_weeks(work, family)
        if not any(any(week) for week in weeks):
            kind_look.decline(
                move_key(MoveKind.TO_COMMITMENT, family.name),
                "none of its GPUs are on demand, paid by the hour",
            )
        elif portfolio is None or portfolio.answer is None:
            kind_look.decline(
                move_key(MoveKind.TO_COMMITMENT, family.name), "no portfolio was answered yet"
            )
        else:
            _judge_family(kind_look, work, family, weeks, (portfolio, at))
    return kind_look


def _rented_weeks(work: FleetWork, family: PoolFamily) -> list[list[float]]:
    """GPUs by the hour that are paid by the hour, of each week; 0 in an hour without any."""
    weekly_hours = []
    for week in work.span.weeks:
        hours = defaultdict[datetime, float](float)
        for pool in _coverable(work, family):
            for hour, gpus in work.rented.get(pool.id, {}).items():
                hours[hour] += gpus
        count = (week.ends_at - week.starts_at) // HOUR
        weekly_hours.append([hours[week.starts_at + place * HOUR] for place in range(count)])
    return weekly_hours


def _coverable(work: FleetWork, family: PoolFamily) -> list[PoolFact]:
    """Those that are paid by the hour and that a commitment may cover: never spot."""
    return [
        pool
        for pool in family.pools
        if pool.id in work.rented and pool.purchase_option not in NEVER_COVERED
    ]


def _judge_family(
    kind_look: MoveKindDetection,
    work: FleetWork,
    family: PoolFamily,
    weeks: Sequence[Sequence[float]],
    dated_portfolio: tuple[PortfolioRunFact, datetime],
) -> None:
    portfolio, _ = dated_portfolio
    answer: Mapping[str, Any] = portfolio.answer or {}
    bought = [
        offer
        for offer in answer["offers"]
        if offer["family"] == family.name
        and offer["gpus"]
        and offer["kind"] != PurchaseOption.OWNED
    ]
    if not bought:
        kind_look.decline(
            move_key(MoveKind.TO_COMMITMENT, family.name),
            "the newest portfolio buys nothing for it",
        )
        return
    floor = demand_floor([gpus for week in weeks for gpus in week])
    offer = max(bought, key=lambda candidate: (candidate["gpus"], candidate["name"]))
    gpus = min(float(offer["gpus"]), floor)
    if gpus <= 0:
        kind_look.decline(
            move_key(MoveKind.TO_COMMITMENT, family.name),
            "in over a tenth of the hours none of its GPUs was rented",
        )
        return
    price = _price_of(work, family)
    if price is None:
        kind_look.decline(
            move_key(MoveKind.TO_COMMITMENT, family.name),
            "what an hour on demand was charged is not known",
        )
        return
    kind_look.propose(
        _commitment_proposal(work, family, weeks, (offer, gpus, floor, price), dated_portfolio)
    )


def _price_of(work: FleetWork, family: PoolFamily) -> float | None:
    """Micro-units of a GPU-hour on demand, as the ledger has it; the least of its pools."""
    prices = [
        work.rented_price[pool.id]
        for pool in _coverable(work, family)
        if pool.id in work.rented_price
    ]
    return min(prices, default=None)


def _commitment_proposal(
    work: FleetWork,
    family: PoolFamily,
    weeks: Sequence[Sequence[float]],
    purchase: tuple[Mapping[str, Any], float, float, float],
    dated_portfolio: tuple[PortfolioRunFact, datetime],
) -> MoveProposal:
    (offer, gpus, floor, price), (portfolio, at) = purchase, dated_portfolio
    pools = _coverable(work, family)
    ids = {pool.id for pool in pools}
    cells = [cell for cell in work.cells if cell.pool.id in ids and cell.addressable_micros > 0]
    rented = sum(sum(week) for week in weeks)
    spend = monthly(rented * price, work.span.hours)
    saving = commitment_saving(weeks, gpus, on_demand=price, rate=offer["rate"] * MICROS)
    months = _term_of(portfolio, offer["name"])
    term = "a term" if months is None else f"{months} months"
    names = ", ".join(pool.name for pool in pools)
    return MoveProposal(
        key=move_key(MoveKind.TO_COMMITMENT, family.name),
        kind=MoveKind.TO_COMMITMENT,
        subject=f"{gpus:g} GPUs of {family.name}",
        source=f"{names}, on demand",
        target=f"{offer['kind'].replace('_', ' ')}, {offer['name']}",
        team_id=next((pool.owner_team_id for pool in pools), None),
        workload_id=None,
        pool_id=pools[0].id if len(pools) == 1 else None,
        spend_micros=spend,
        saving=saving.capped(spend),
        one_time=one_time_cost(MoveKind.TO_COMMITMENT),
        disruption=MoveDisruption(LOW, f"no work moves; it is owed for {term}, used or not"),
        evidence=_commitment_evidence(portfolio, pools, offer, price),
        doubts=tuple(_commitment_doubts(work, portfolio, offer, at)),
        why=(
            f"In nine hours of ten at least {floor:g} GPUs were rented by the hour; the portfolio commits to"
            f" {offer['gpus']}. No more than that floor is proposed."
        ),
        cells=frozenset(cell.key for cell in cells) | {f"pool:{pool.id}" for pool in pools},
    )


def _commitment_evidence(
    portfolio: PortfolioRunFact, pools: Sequence[PoolFact], offer: Mapping[str, Any], price: float
) -> tuple[ProposalEvidence, ...]:
    return (
        ProposalEvidence(
            "portfolio", str(portfolio.id), f"The portfolio of {portfolio.asked_at:%Y-%m-%d}"
        ),
        *(
            ProposalEvidence("pool", str(pool.id), f"Rented by the hour: {pool.name}")
            for pool in pools
        ),
        ProposalEvidence(
            "offer",
            offer["name"],
            f"{offer['name']}: {offer['rate']:,.4f} a GPU-hour; on demand {price / MICROS:,.4f}",
            is_price=True,
        ),
    )


def _term_of(portfolio: PortfolioRunFact, name: str) -> int | None:
    tables = (portfolio.answer or {}).get("question", {}).get("offers", [])
    return next((table["term_months"] for table in tables if table["name"] == name), None)


def _commitment_doubts(
    work: FleetWork, portfolio: PortfolioRunFact, offer: Mapping[str, Any], at: datetime
) -> list[str]:
    doubts = []
    months, days = _term_of(portfolio, offer["name"]), offer.get("history_days")
    if months is not None and days is not None:
        borne = history_gate(days, months * MONTH_HOURS / DAY_HOURS)
        if not borne.is_passed:
            doubts.append(f"{borne.says}, which is over {TERM_OF_HISTORY:g} times as long")
    if len(work.span.weeks) < WEEKS:
        doubts.append(f"the ledger has {len(work.span.weeks)} of {WEEKS} weeks")
    if (at - portfolio.asked_at).days > OLD_DAYS:
        doubts.append(f"the portfolio is {(at - portfolio.asked_at).days} days old")
    return doubts
