"""The tables of crossover: scenarios, runs, and what an answer consists of."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from django.urls import reverse

from apps.console.kit.cells import COUNT, INSTANT, PROSE, RATIO, WRAPPED, Format
from apps.console.kit.table import Table
from apps.console.pages.crossover import words
from apps.economics.crossover.answer import CrossoverAnswer, LeverEffect, PoolAtVolume
from apps.economics.crossover.bands import CostBand
from apps.economics.crossover.crossings import Crossing
from apps.economics.crossover.scenario import cost_curves
from apps.economics.crossover.uncertainty import BreakEvenInput, TornadoBar
from apps.planning.queries.crossover import SavedScenarioFact, ScenarioRunFact
from apps.planning.queries.crossover_reach import ForecastVolumes, VolumeAhead
from apps.planning.queries.crossover_tried import ExploredRun
from apps.show.money import MICROS, rounded_amount, unit_cost
from apps.show.time import month
from apps.tables.column import Column

Row = TypeVar("Row")
Money = tuple[float, str]
"""An amount of a scenario's own currency."""
NOT_ASKED = "–"
COMPARED = "what a million tokens cost, and what self-hosting saves a month (P50)"

MONTHLY = Format(
    lambda money, _: rounded_amount(round(money[0] * MICROS), money[1]),
    lambda money, _: repr(money[0]),
    "number-cell",
)
PER_MILLION = Format(
    lambda money, _: unit_cost(round(money[0] * MICROS), money[1]),
    lambda money, _: repr(money[0]),
    "number-cell",
)
NUMBER = Format(
    lambda value, _: words.number(value),
    lambda value, _: value if isinstance(value, str) else repr(value),
    "number-cell",
)


class InCurrency(NamedTuple):
    """A part of an answer with the currency of its amounts, and the names of its pools."""

    part: Any
    currency: str
    pools: tuple[str, ...] = ()

    def money(self, amount: float | None) -> Money | None:
        """The amount, or None where it is not known."""
        return None if amount is None else (amount, self.currency)


def in_currency(parts: Iterable[Any], answered_run: ExploredRun) -> list[InCurrency]:
    """Rows of an answer."""
    scenario = answered_run.question.scenario
    pools = tuple(pool.name for pool in scenario.self_host.pools)
    return [InCurrency(part, scenario.currency, pools) for part in parts]


def _run_money(run: ScenarioRunFact | None, *path: str) -> Money | None:
    amount = None if run is None else run.figure(*path)
    return None if run is None or amount is None else (amount, run.answer["currency"])


def _saved_money(run: ScenarioRunFact | None) -> Money | None:
    """Return the saving at the base case; None where the replicas allowed cannot serve that."""
    is_served = run is None or run.figure("costs", "is_served") is not False
    return _run_money(run, "costs", "savings_month") if is_served else None


def _saved_at(name: str) -> Callable[[ScenarioRunFact], Money | None]:
    return lambda run: _run_money(run, "uncertainty", "savings", name)


def _amount(
    key: str, text: str, value: Callable[[InCurrency], float | None], **options: Any
) -> Column[InCurrency]:
    return Column(key, text, lambda row: row.money(value(row)), MONTHLY, **options)


SCENARIOS = Table[SavedScenarioFact](
    "scenarios",
    "Scenarios",
    (
        Column("name", "Scenario", lambda fact: fact.name,
               href=lambda fact: reverse("crossover", args=[fact.id])),
        Column("advice", "Advice",
               lambda fact: words.advice_words(fact.answered.advice) if fact.answered else None,
               missing="Not run yet",
               note=lambda fact: "changed" if fact.flipped else ""),
        Column("self_host_per_million", "Yourself",
               lambda fact: _run_money(fact.answered, "costs", "self_host_per_million"), PER_MILLION),
        Column("api_per_million", "API",
               lambda fact: _run_money(fact.answered, "costs", "api_per_million"), PER_MILLION),
        Column("savings_p50", "Saved a month",
               lambda fact: _run_money(fact.answered, "uncertainty", "savings", "p50")
               or _saved_money(fact.answered), MONTHLY),
        Column("durable_million_tokens", "For good from, million tokens",
               lambda fact: fact.answered and fact.answered.figure("break_even", "durable_million_tokens"),
               NUMBER, missing=words.NOWHERE,),
        Column("ran_at", "Run", lambda fact: fact.newest and fact.newest.ran_at, INSTANT,
               note=lambda fact: "refused" if fact.newest and fact.newest.refusal else ""),
        Column("refusal", "", lambda fact: fact.newest and fact.newest.refusal),
    ),
    noun=("scenario", "scenarios"),
    about="{said}; " + COMPARED,
    sort="sort",
)  # fmt: skip
RUNS = Table[ScenarioRunFact](
    "runs",
    "Every run",
    (
        Column("ran_at", "Run", lambda run: run.ran_at, INSTANT,
               note=lambda run: "asked for" if run.is_asked else ""),
        Column("on", "", lambda run: run.figure("on")),
        Column("advice", "Advice",
               lambda run: words.advice_words(run.advice) if run.advice else None,
               missing="refused", warns=lambda run: bool(run.flipped_from) and "Recommendation changed",
               note=lambda run: f"before: {words.ADVICE[run.flipped_from]}" if run.flipped_from else ""),
        Column("self_host_per_million", "Yourself",
               lambda run: _run_money(run, "costs", "self_host_per_million"), PER_MILLION),
        Column("api_per_million", "API",
               lambda run: _run_money(run, "costs", "api_per_million"), PER_MILLION),
        *(
            Column(f"savings_{name}", "Saved a month" if name == "p50" else "", _saved_at(name),
                   MONTHLY)
            for name in ("p10", "p50", "p90")
        ),
        Column("first_million_tokens", "", lambda run: run.figure("break_even", "first_million_tokens"), NUMBER),
        Column("durable_million_tokens", "",
               lambda run: run.figure("break_even", "durable_million_tokens"), NUMBER,
               missing=words.NOWHERE),
        Column("moved", "What moved most", lambda run: run.refusal or words.moved_words(run) or None, PROSE,
               shown=lambda run, _: run.refusal or words.moved_words(run, 1) or NOT_ASKED, missing=NOT_ASKED),
        Column("digest", "", lambda run: run.digest),
    ),
    noun=("run", "runs"),
    about="{said}; " + COMPARED,
    sort="runs",
    per_page=26,
)  # fmt: skip
MOVES = Table[InCurrency](
    "moves",
    "What moved since the run before",
    (
        Column("input", "Input", lambda row: words.input_words(row.part["name"], row.pools),
               written=lambda row, _: row.part["name"]),
        Column("before", "Before", lambda row: row.part["before"], NUMBER, missing=NOT_ASKED),
        Column("now", "Now", lambda row: row.part["now"], NUMBER, missing=NOT_ASKED),
        _amount("savings_change", "Saved a month by this alone",
                lambda row: row.part["savings_change"], missing=NOT_ASKED),
    ),
    about="each by itself; together they need not add up",
)  # fmt: skip


class CostPart(NamedTuple):
    """A part of a month of self-hosting."""

    name: str
    amount: float


COSTS = Table[InCurrency](
    "costs",
    "What a month of self-hosting consists of",
    (
        Column("part", "Part", lambda row: row.part.name),
        _amount("month", "A month", lambda row: row.part.amount),
    ),
    about="at the volume above",
)


def cost_parts(answer: CrossoverAnswer) -> list[CostPart]:
    """Those that are not nothing, and their sum."""
    parts = [
        CostPart(name, amount) for name, amount in answer.costs.self_host_parts.items() if amount
    ]
    return [*parts, CostPart("Together", answer.costs.self_host_month)]


POOLS = Table[PoolAtVolume](
    "pools",
    "Replicas",
    (
        Column("pool", "Pool", lambda pool: pool.name),
        Column("least", "Least", lambda pool: pool.least_replicas, COUNT),
        Column("mean", "Mean", lambda pool: pool.mean_replicas, NUMBER),
        Column("most", "Most", lambda pool: pool.most_replicas, COUNT),
        Column("utilization", "Utilization", lambda pool: pool.utilization, RATIO),
    ),
    about="over the hours, at the volume above; utilization is of the replicas that stand",
)


class CrossingRow(NamedTuple):
    """A volume at which the cheaper side changes, and how busy replicas are there."""

    crossing: Crossing
    utilization: float | None
    is_first: bool
    is_durable: bool


def crossing_rows(answered_run: ExploredRun) -> list[CrossingRow]:
    """All crossings that were found."""
    search = answered_run.answer.search
    first = next((one for one in search.crossings if one.million_tokens == search.first), None)
    return [
        CrossingRow(
            one,
            answered_run.utilization_at(one.million_tokens),
            one is first,
            one.million_tokens == search.durable,
        )
        for one in search.crossings
    ]


CROSSINGS = Table[CrossingRow](
    "crossings",
    "Every break-even",
    (
        Column("million_tokens", "From so many million tokens a month",
               lambda row: row.crossing.million_tokens, NUMBER,
               note=lambda row: ", ".join(
                   word for word, holds in (("first", row.is_first), ("for good", row.is_durable)) if holds)),
        Column("utilization", "Utilization there", lambda row: row.utilization, RATIO),
        Column("replicas", "Replicas in the busiest hour",
               lambda row: " + ".join(str(replica) for replica in row.crossing.replicas)),
        Column("cheaper", "Cheaper from there on", lambda row: words.SIDES[row.crossing.cheaper]),
    ),
    noun=("break-even", "break-evens"),
    sort="crossings",
    per_page=12,
)  # fmt: skip
TORNADO_ABOUT = (
    "what self-hosting saves a month with one input at each end of its range, the others as likely"
)
TORNADO = Table[InCurrency](
    "tornado",
    "What matters most",
    (
        Column("input", "Input", lambda row: words.input_words(_bar(row).name, row.pools),
               written=lambda row, _: _bar(row).name),
        Column("low", "From", lambda row: _bar(row).low, NUMBER, missing="lowest"),
        Column("high", "To", lambda row: _bar(row).high, NUMBER, missing="highest"),
        _amount("savings_at_low", "Saved at the lowest", lambda row: _bar(row).savings_at_low),
        _amount("savings_at_high", "Saved at the highest", lambda row: _bar(row).savings_at_high),
        _amount("swing", "Between", lambda row: _bar(row).swing),
    ),
    about=TORNADO_ABOUT,
    empty="No input has a range: say { low, likely, high } of what is not certain.",
)  # fmt: skip
NEEDED = Table[InCurrency](
    "needed",
    "What must be true",
    (
        Column("input", "Input", lambda row: words.input_words(_needed(row).name, row.pools),
               written=lambda row, _: _needed(row).name),
        Column("now", "Now", lambda row: _needed(row).now, NUMBER),
        Column("bound", "", lambda row: "at least" if _needed(row).at_least else "at most"),
        Column("needed", "For self-hosting to cost no more", lambda row: _needed(row).needed, NUMBER,
               shown=lambda row, _: f"{'at least' if _needed(row).at_least else 'at most'}"
               f" {words.number(_needed(row).needed)}"),
    ),
    about="each by itself, the others as likely; inputs of which no value turns the answer are left out",
    empty="No one input turns the answer by itself.",
)  # fmt: skip
LEVERS = Table[InCurrency](
    "levers",
    "Levers",
    (
        Column("lever", "With", lambda row: _lever(row).name, WRAPPED),
        _amount("self_host_month", "Yourself, a month", lambda row: _lever(row).self_host_month),
        _amount("api_month", "API, a month", lambda row: _lever(row).api_month),
        _amount("savings_month", "Saved a month",
                lambda row: _lever(row).savings_month),
        Column("durable", "Break-even volume, million tokens", lambda row: _lever(row).durable,
               NUMBER, missing=words.NOWHERE),
    ),
    about="what could be done first: each by itself, then all of them",
)  # fmt: skip
WAYS = Table[InCurrency](
    "ways",
    "Train, fine-tune or prompt",
    (
        Column("requests", "From so many requests a month", lambda row: row.part.requests, NUMBER),
        Column("way", "Costs least", lambda row: row.part.name),
    ),
    about="each is the cheapest up to the next",
)


class CurveRow(NamedTuple):
    """A volume of the picture with what is drawn there."""

    million_tokens: float
    self_host: Money
    self_host_low: Money | None
    self_host_high: Money | None
    api: Money
    utilization: float | None


def curve_rows(answered_run: ExploredRun) -> list[CurveRow]:
    """The volumes at which the bands were drawn."""
    currency = answered_run.question.scenario.currency
    bands: Sequence[CostBand | None] = answered_run.bands or [None] * len(answered_run.marked)
    return [
        CurveRow(
            point.million_tokens,
            (point.self_host, currency),
            None if band is None else (band.self_host_low, currency),
            None if band is None else (band.self_host_high, currency),
            (point.api, currency),
            point.utilization,
        )
        for point, band in zip(answered_run.marked, bands, strict=True)
    ]


CURVE = Table[CurveRow](
    "curve",
    "Both sides against volume",
    (
        Column("million_tokens", "Million tokens a month", lambda row: row.million_tokens, NUMBER),
        Column("self_host_month", "Yourself, a month", lambda row: row.self_host, MONTHLY),
        Column("self_host_low", "Lowest (P10)", lambda row: row.self_host_low, MONTHLY),
        Column("self_host_high", "Highest (P90)", lambda row: row.self_host_high, MONTHLY),
        Column("api_month", "API, a month", lambda row: row.api, MONTHLY),
        Column("utilization", "Utilization", lambda row: row.utilization, RATIO),
    ),
)


class MonthAhead(NamedTuple):
    """A month of the forecast with what its volume would cost either way."""

    ahead: VolumeAhead
    self_host: Money
    api: Money
    is_served: bool


def month_rows(volumes: ForecastVolumes | None, answered_run: ExploredRun) -> list[MonthAhead]:
    """Each whole month of the forecast; none where there is none."""
    currency, curves = (
        answered_run.question.scenario.currency,
        cost_curves(answered_run.question.scenario),
    )
    rows = []
    for month_volume in volumes.months if volumes is not None else ():
        self_host, api = answered_run.costs_at(month_volume.million_tokens)
        is_served = curves.serves(month_volume.million_tokens)
        rows.append(MonthAhead(month_volume, (self_host, currency), (api, currency), is_served))
    return rows


MONTHS = Table[MonthAhead](
    "months",
    "As its tokens are forecast",
    (
        Column("month", "Month", lambda row: month(row.ahead.month),
               written=lambda row, _: f"{row.ahead.month:%Y-%m}"),
        Column("million_tokens", "Million tokens", lambda row: row.ahead.million_tokens, NUMBER),
        Column("low", "P10", lambda row: row.ahead.low, NUMBER),
        Column("high", "P90", lambda row: row.ahead.high, NUMBER),
        Column("self_host_month", "Yourself, a month", lambda row: row.self_host, MONTHLY),
        Column("api_month", "API, a month", lambda row: row.api, MONTHLY),
        Column("cheaper", "Cheaper", lambda row: words.cheaper_side(is_own=row.self_host <= row.api, is_served=row.is_served)),
    ),
    noun=("whole month", "whole months"),
    about="{said}, each brought to 730 hours; costs at the prices of this run",
    sort="months",
    per_page=6,
)  # fmt: skip


def _bar(row: InCurrency) -> TornadoBar:
    bar: TornadoBar = row.part
    return bar


def _needed(row: InCurrency) -> BreakEvenInput:
    needed: BreakEvenInput = row.part
    return needed


def _lever(row: InCurrency) -> LeverEffect:
    lever: LeverEffect = row.part
    return lever
