"""A portfolio question from a document: everything but the hours of demand, which lie elsewhere.

What a document leaves out has the default of its dataclass, which is why those have no slots.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from math import inf
from typing import Any

import numpy as np

from apps.economics.commitments import CommitmentKind
from apps.economics.crossover.tables import ABOVE_NOTHING, MOST_NUMBER, ScenarioTable
from apps.economics.forecast.scores import DAY, Floats
from apps.economics.portfolio.answer import LadderPlan
from apps.economics.portfolio.names import (
    LEAST_RATE,
    MONTH_HOURS,
    MOST_MONTHS,
    MOST_RATE,
    MOST_TABLES,
    MOST_TERM_MONTHS,
    MOST_VALUES,
)
from apps.economics.portfolio.overlay import DEMAND_SOURCES
from apps.economics.portfolio.question import (
    CapacityHeld,
    CapacityOffer,
    GpuFamily,
    PortfolioQuestion,
)
from apps.economics.portfolio.room import within_room
from apps.economics.portfolio.scenarios import DemandGrowth, demand_scenarios
from apps.economics.purchase import PurchaseOption
from apps.economics.refusal import Refusal

KINDS = (*(kind.name.lower() for kind in CommitmentKind), PurchaseOption.OWNED.value)
MOST_SCENARIOS = 500
MOST_UPFRONT, MOST_GPUS = 1e9, 1e7
"""Beyond these an amount of one GPU, or a number of them, is a slip: a hundred times what anybody pays or has."""


@dataclass(frozen=True, slots=True)
class DemandSource:
    """Where a family's history is: hours in the document, a column of a file, or series by their names, summed."""

    growth: DemandGrowth
    hours: tuple[float, ...] = ()
    file: str = ""
    time: str = ""
    value: str = ""
    series: tuple[str, ...] = ()


@dataclass(frozen=True)
class PortfolioRequest:
    """A question whose families have no demand yet, and where each has it from."""

    name: str
    on: date
    currency: str
    scenarios: int
    seed: int
    plan: LadderPlan
    sources: tuple[DemandSource, ...]
    empty: PortfolioQuestion

    def of_families(self, names: Collection[str]) -> "PortfolioRequest":
        """Return this request of these families alone, with what is offered and held of them."""
        pairs = [
            (family, source)
            for family, source in zip(self.empty.families, self.sources, strict=True)
            if family.name in names
        ]
        empty = replace(
            self.empty,
            families=tuple(family for family, _ in pairs),
            offers=tuple(one for one in self.empty.offers if one.family in names),
            held=tuple(one for one in self.empty.held if one.family in names),
        )
        return replace(self, sources=tuple(source for _, source in pairs), empty=empty)

    @property
    def without_growth(self) -> "PortfolioRequest":
        """Return this request with demand that stays as it is."""
        sources = tuple(replace(source, growth=DemandGrowth()) for source in self.sources)
        return replace(self, sources=sources)

    def question(self, histories: Sequence[Floats], hours: int | None = None) -> PortfolioQuestion:
        """With demand that follows each family's history, in the order of its families.

        Over so many `hours`, of a budget the same part of it; without them the planned ones. What is beyond the GPUs
        that are there is taken out of it (`within_room`). Refuses a Refusal.
        """
        planned = self.empty.hours
        hours = hours or planned
        draw = np.random.default_rng(self.seed)
        for place, history in enumerate(histories):
            _refuse_absurd(place, history)
        families = tuple(
            within_room(
                replace(
                    family,
                    demand=demand_scenarios(history, source.growth, hours, self.scenarios, draw),
                ),
                self.empty.held,
            )
            for family, source, history in zip(
                self.empty.families, self.sources, histories, strict=True
            )
        )
        return replace(self.empty, families=families, budget=self.empty.budget * hours / planned)


def _refuse_absurd(place: int, history: Floats) -> None:
    known_values = history[~np.isnan(history)]
    if not len(known_values):
        raise Refusal(f"families[{place}].demand", "no hour of it is known")
    if not (known_values.min() >= 0 and known_values.max() <= MOST_GPUS):
        wrong = next(value for value in known_values if not 0 <= value <= MOST_GPUS)
        raise Refusal(
            f"families[{place}].demand", f"{wrong:g} GPUs in an hour: must be 0 to {MOST_GPUS:g}"
        )


def portfolio_request_of(document: Mapping[str, Any]) -> PortfolioRequest:
    """Return the request that a document asks. Refuses a Refusal that names the key and its value."""
    root = ScenarioTable(document)
    on = root.day("on")
    months = root.whole("months", 12, least=1, most=MOST_MONTHS)
    usual = _growth_of(root, DemandGrowth())
    currency = root.text("currency")
    pairs = [
        _family_of(table, months, usual, currency)
        for table in root.tables("families", least=1, most=MOST_TABLES)
    ]
    families = tuple(family for family, _ in pairs)
    names = [family.name for family in families]
    request = PortfolioRequest(
        name=root.text("name"),
        on=on,
        currency=currency,
        scenarios=root.whole("scenarios", 50, least=1, most=MOST_SCENARIOS),
        seed=root.whole("seed", 1),
        plan=LadderPlan(
            tranches=root.whole("tranches", LadderPlan.tranches, least=1, most=24),
            months_between=root.whole("months_between", LadderPlan.months_between, most=24),
        ),
        sources=tuple(source for _, source in pairs),
        empty=PortfolioQuestion(
            families=families,
            offers=tuple(
                _offer_of(table, names) for table in root.tables("offers", most=MOST_TABLES)
            ),
            held=tuple(
                _held_of(table, names, on) for table in root.tables("held", most=MOST_TABLES)
            ),
            risk_weight=root.number("risk_weight", PortfolioQuestion.risk_weight, most=1),
            tail=root.number("tail", PortfolioQuestion.tail, most=0.99),
            budget=_limit(root, "budget"),
            upfront_budget=_limit(root, "upfront_budget"),
            most_blocked=_limit(root, "most_blocked", most=1),
            blocked_tail=root.number("blocked_tail", PortfolioQuestion.blocked_tail, most=0.99),
        ),
    )
    root.refuse_unknown()
    _refuse_twice(root, "families", names)
    _refuse_twice(root, "offers", [offer.name for offer in request.empty.offers])
    values = len(families) * request.scenarios * request.empty.hours
    if values > MOST_VALUES:
        raise root.refuse("scenarios", f"{values:,} hours of demand; {MOST_VALUES:,} are the most")
    return request


def _family_of(
    table: ScenarioTable, months: int, usual: DemandGrowth, currency: str
) -> tuple[GpuFamily, DemandSource]:
    on_demand = table.number("on_demand", least=LEAST_RATE, most=MOST_RATE)
    family = GpuFamily(
        name=table.text("name"),
        demand=np.zeros((1, months * MONTH_HOURS)),
        on_demand=on_demand,
        spot=table.number_or_none("spot", most=MOST_RATE),
        spot_share=table.number("spot_share", GpuFamily.spot_share, most=1),
        spot_redone_share=table.number("spot_redone_share", GpuFamily.spot_redone_share, most=10),
        monthly_decline=table.number("monthly_decline", GpuFamily.monthly_decline, most=0.5),
        on_demand_quota=_limit(table, "on_demand_quota"),
        shortage_cost=table.number_or_none("shortage_cost", least=on_demand, most=MOST_RATE),
        room=table.hours("room") if "room" in table else (),
        waiting_price=table.number_or_none("waiting_cost", most=MOST_RATE),
        currency=currency,
    )
    if family.on_demand_quota != inf:
        # What is beyond a quota that was entered is blocked, and priced as such.
        family = replace(family, room=())
    if (family.on_demand_quota == inf) != (family.shortage_cost is None):
        raise table.refuse("shortage_cost", "goes with on_demand_quota: give both or neither")
    if family.spot_share and family.spot is None:
        raise table.refuse("spot", "is missing, where spot_share is given")
    source = _source_of(table.table("demand"), usual)
    table.refuse_unknown()
    return family, source


def _growth_of(table: ScenarioTable, usual: DemandGrowth) -> DemandGrowth:
    return DemandGrowth(
        monthly=table.number("monthly_growth", usual.monthly, least=-0.5, most=1),
        spread=table.number("growth_spread", usual.spread, most=0.5),
    )


def _source_of(table: ScenarioTable, usual: DemandGrowth) -> DemandSource:
    starting = table.number_or_none("starting_gpus", most=MOST_GPUS)
    growth = replace(_growth_of(table, usual), starting_gpus=starting)
    given_keys = [key for key in DEMAND_SOURCES if key in table]
    if len(given_keys) != 1:
        raise table.refuse("hours", "give one of hours, file and series")
    if given_keys == ["hours"]:
        source = DemandSource(growth, hours=table.hours("hours"))
        if len(source.hours) % DAY:
            raise table.refuse("hours", f"{len(source.hours)} hours are no whole days")
    elif given_keys == ["file"]:
        file, time, value = (table.text(key) for key in ("file", "time", "value"))
        source = DemandSource(growth, file=file, time=time, value=value)
    else:
        source = DemandSource(growth, series=table.texts("series"))
    table.refuse_unknown()
    return source


def _offer_of(table: ScenarioTable, families: Sequence[str]) -> CapacityOffer:
    offer = CapacityOffer(
        name=table.text("name"),
        family=_family_named(table, families),
        kind=_kind_of(table),
        term_hours=table.whole("term_months", least=1, most=MOST_TERM_MONTHS) * MONTH_HOURS,
        hourly=table.number("hourly", CapacityOffer.hourly, most=MOST_RATE),
        upfront=table.number("upfront", CapacityOffer.upfront, most=MOST_UPFRONT),
        lot=table.whole("lot", CapacityOffer.lot, least=1),
        most_lots=table.whole_or_none("most_lots"),
        starts_in=table.whole("starts_in_months", 0, most=MOST_MONTHS) * MONTH_HOURS,
    )
    if not offer.rate:
        raise table.refuse("hourly", "neither this nor upfront is given: a price not known is none")
    if offer.rate < LEAST_RATE:
        raise table.refuse("hourly", f"with upfront {offer.rate:g} an hour: below {LEAST_RATE:g}")
    table.refuse_unknown()
    return offer


def _held_of(table: ScenarioTable, families: Sequence[str], on: date) -> CapacityHeld:
    starts_on = table.day_or_none("starts_on")
    held_capacity = CapacityHeld(
        name=table.text("name"),
        family=_family_named(table, families),
        gpus=table.number("gpus", least=ABOVE_NOTHING, most=MOST_GPUS),
        rate=table.number("rate", most=MOST_RATE),
        ends_in=(table.day("ends_on") - on).days * DAY,
        kind=_kind_of(table) if "kind" in table else "",
        starts_in=0 if starts_on is None else max(0, (starts_on - on).days * DAY),
    )
    table.refuse_unknown()
    return held_capacity


def _family_named(table: ScenarioTable, families: Sequence[str]) -> str:
    name = table.text("family")
    if name not in families:
        raise table.refuse("family", f"{name!r} is none of {', '.join(families)}")
    return name


def _kind_of(table: ScenarioTable) -> str:
    kind = table.text("kind")
    if kind not in KINDS:
        raise table.refuse("kind", f"{kind!r} is none of {', '.join(KINDS)}")
    return kind


def _limit(table: ScenarioTable, key: str, most: float = MOST_NUMBER) -> float:
    limit = table.number_or_none(key, most=most)
    return inf if limit is None else limit


def _refuse_twice(root: ScenarioTable, key: str, names: Sequence[str]) -> None:
    for at, name in enumerate(names):
        if name in names[:at]:
            raise root.refuse(f"{key}[{at}].name", f"{name!r} is used twice")
