"""Commitments in words: what was bought, how it stands, and what a month of them comes down to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from apps.accounts.queries import special_teams, teams
from apps.console.kit.chart import DailyChart, DayRow, Figure, daily_chart, figure_or_unknown
from apps.console.kit.csv_file import CsvFile
from apps.fleet.queries import pools
from apps.ledger.queries.commitments import Figures, Use, total
from apps.pricing.queries.commitments import KINDS, CommitmentFact
from apps.show.amounts import counted, per_cent
from apps.show.money import quoted_amount, rounded_amount, short_amount
from apps.show.time import weekday
from apps.show.words import StateWords

RANKS = {kind: place for place, kind in enumerate(KINDS)}
UNITS = {"node": "node", "gpu": "GPU"}
# The colours of time that bought work, and of time that nobody held.
USED = StateWords("active", "Used", "What node-hours that a commitment covered cost.")
UNUSED = StateWords("unallocated", "Not used", "What commitments cost that nobody used.")


@dataclass(frozen=True, slots=True)
class CoverNames:
    """Pools and teams by id, read once for a page."""

    pools: Mapping[int, str]
    teams: Mapping[int, str]
    platform_id: int

    def team(self, team_id: int | None) -> str:
        """A team; what nobody carries is Platform's."""
        return self.teams[team_id or self.platform_id]


def names() -> CoverNames:
    """As they are now."""
    return CoverNames(
        pools={pool.id: pool.name for pool in pools().values()},
        teams={team.id: team.name for team in teams()},
        platform_id=special_teams().platform_id,
    )


def covers(fact: CommitmentFact, cover_names: CoverNames) -> str:
    """Its scope in words."""
    parts = [fact.provider, fact.region, fact.instance_type, fact.gpu_model]
    if fact.pool_id is not None:
        parts.append(f"pool {cover_names.pools[fact.pool_id]}")
    parts += [fact.platform.replace("_", " "), fact.tenancy and f"{fact.tenancy} tenancy"]
    if not fact.is_shared:
        parts.append(f"account {fact.account} alone")
    return " / ".join(part for part in parts if part)


def bought(fact: CommitmentFact) -> str:
    """Its units, or its spend."""
    if fact.units:
        return counted(fact.units, UNITS[fact.unit])
    return f"{quoted_amount(fact.spend, fact.currency)} an hour"


def commitment_status(fact: CommitmentFact, at: datetime) -> str:
    """Whether it holds now."""
    if at < fact.starts_at:
        return "to come"
    if at < fact.ends_at:
        return "holds"
    return "ended early" if fact.ended_at is not None else "over"


def finding_of(use: Use, period: str, currency: str) -> str:
    """Return one sentence on what commitments saved and what was not used."""
    if not use.commitments:
        return f"No commitment held in {period}"
    total_figures = use.all
    if not total_figures.bought:
        return f"The commitments of {period} are not charged yet"
    unused = _unused_words(total_figures, currency)
    rate = total_figures.savings_rate
    if rate is not None:
        verb = "saved" if rate >= 0 else "cost"
        more = " of on-demand" if rate >= 0 else " more than on-demand"
        return f"Commitments {verb} {per_cent(abs(rate))}{more} in {period}; {unused}"
    if not total_figures.used:
        amount = rounded_amount(total_figures.unused_cost, currency)
        return f"Nobody used the commitments of {period}: {amount}"
    return f"What commitments saved in {period} is not known; {unused}"


def _unused_words(figures: Figures, currency: str) -> str:
    if figures.unused_cost is None:
        return "what was not used has no known cost"
    if not figures.unused_cost:
        return "all of them was used"
    return f"{rounded_amount(figures.unused_cost, currency)} was not used"


def figures_of(use: Use, status: str, currency: str) -> tuple[Figure, ...]:
    """Savings, coverage, utilisation, and what was not used."""
    total_figures = use.all
    saved = total_figures.saved if total_figures.used else None
    return (
        figure_or_unknown(
            "Savings rate of commitments",
            None if total_figures.savings_rate is None else per_cent(total_figures.savings_rate),
            f"{short_amount(saved, currency)} against on-demand, unused included"
            if saved is not None
            else "nothing covered has a known price",
            status,
        ),
        figure_or_unknown(
            "Commitment coverage",
            None if use.coverage is None else per_cent(use.coverage),
            "of the GPU time that could be covered"
            if use.coverage is not None
            else "there was no use that could be covered",
            status,
        ),
        figure_or_unknown(
            "Commitment utilization",
            None if use.utilisation is None else per_cent(use.utilisation),
            "of what was bought, weighed by cost",
            status,
        ),
        Figure(
            title="Not used",
            number=short_amount(total_figures.unused_cost, currency),
            note=f"of {short_amount(total_figures.cost, currency)} that commitments cost",
            status=status,
            is_unknown=total_figures.unused_cost is None,
        ),
    )


def chart_of(
    days: Sequence[tuple[date, Figures]], currency: str, days_file: CsvFile
) -> DailyChart | None:
    """Each day by what was used and not; None where no cost is known."""
    costs = [_day_costs(figures) for _, figures in days]
    if not any(micros for cost in costs for micros in cost):
        return None
    total_figures = total(figures for _, figures in days)
    return daily_chart(
        [day for day, _ in days],
        [(USED, [used for used, _ in costs]), (UNUSED, [unused for _, unused in costs])],
        [figures.cost if figures.bought else None for _, figures in days],
        currency,
        title=_worst_day(days, currency),
        unit=f"each day by whether it was used, in {currency}, amortised cost",
        total=DayRow("Total", _day_costs(total_figures), total_figures.cost),
        csv=days_file,
    )


def _day_costs(figures: Figures) -> tuple[int | None, int | None]:
    """Used and not; a day without a charge is not known, and not free."""
    return (figures.covered_cost, figures.unused_cost) if figures.bought else (None, None)


def _worst_day(days: Sequence[tuple[date, Figures]], currency: str) -> str:
    unused = [(figures.unused_cost or 0, day) for day, figures in days if figures.bought]
    most, worst = max(unused)
    if not most:
        return "Every day was used in full."
    return f"Most was left unused on {weekday(worst)}: {rounded_amount(most, currency)}."


def granted_words(untold: Mapping[str, int]) -> str:
    """Return which facts of machines were never told, so that they are taken to be what its vendor launches."""
    if not untold:
        return "Nothing: all that decides whom it covers is known."
    assumptions = (f"{name} of {counted(nodes, 'node')}" for name, nodes in sorted(untold.items()))
    return (
        f"{'; '.join(assumptions)}: taken for Linux on shared hardware, in its own account and block, until "
        "somebody, their cloud or their bill tells otherwise."
    )
