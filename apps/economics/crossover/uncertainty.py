"""How far an answer can be trusted: ranges of inputs, drawn together and one at a time."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import ceil, inf, sqrt
from statistics import quantiles
from typing import Any

from apps.economics.crossover.crossings import find_crossings
from apps.economics.crossover.scenario import CrossoverScenario, cost_curves, is_no_dearer, savings

InputPath = tuple[str | int, ...]
"""Where an input stands in a scenario: names of fields, keys, and places in lists."""

SURE = 0.8
"""A side is recommended where it is cheaper in at least this share of the draws."""
BREAK_EVEN_DRAWS = 200
BREAK_EVEN_STEPS = 2_000
HALVINGS = 60


@dataclass(frozen=True, slots=True)
class InputRange:
    """An input as a triangle from `low` over its likely value to `high`.

    Ranges of one `moves_with` are drawn from one chance: all low or all high together.
    """

    path: InputPath
    low: float
    likely: float
    high: float
    moves_with: str = ""

    def at(self, chance: float) -> float:
        """The value below which the triangle has a part of `chance` (0 to 1) of its area."""
        base = self.high - self.low
        if not base:
            return self.likely
        if chance <= (self.likely - self.low) / base:
            return self.low + sqrt(chance * base * (self.likely - self.low))
        return self.high - sqrt((1 - chance) * base * (self.high - self.likely))


@dataclass(frozen=True, slots=True)
class SpreadOfThree:
    """The values that a tenth of the draws lie below, half of them, and nine tenths; None: no such volume."""

    p10: float | None
    p50: float | None
    p90: float | None


@dataclass(frozen=True, slots=True)
class SavingsRange:
    """The savings of self-hosting a month over many draws of the inputs.

    Break-even volumes are of the first `break_even_draws` of them; `durable_share` is the part of
    these that has a durable one.
    """

    draws: int
    savings: SpreadOfThree
    self_host_cheaper_share: float
    break_even_draws: int
    first_break_even: SpreadOfThree
    durable_break_even: SpreadOfThree
    durable_share: float
    served_share: float = 1.0


@dataclass(frozen=True, slots=True)
class TornadoBar:
    """Savings a month with an input at its lowest and at its highest, the others as likely.

    `low` and `high` are the input's; None where several move together under one name.
    """

    name: str
    low: float | None
    high: float | None
    savings_at_low: float
    savings_at_high: float

    @property
    def swing(self) -> float:
        """How much of the answer hangs on this input."""
        return abs(self.savings_at_high - self.savings_at_low)


@dataclass(frozen=True, slots=True)
class BreakEvenInput:
    """The value that one input must have, the others as likely, for self-hosting to cost no more than the API.

    At least `needed`, or at most.
    """

    name: str
    now: float
    needed: float
    at_least: bool


def with_inputs(scenario: Any, values: Mapping[InputPath, float]) -> Any:
    """Return a copy of the scenario, or of a part of one, with other values at these paths within it."""
    changed: dict[str | int, Any] = {}
    deeper: dict[str | int, dict[InputPath, float]] = {}
    for (name, *tail), value in values.items():
        if tail:
            deeper.setdefault(name, {})[tuple(tail)] = value
        else:
            changed[name] = value
    for name, within in deeper.items():
        changed[name] = with_inputs(input_at(scenario, (name,)), within)
    if isinstance(scenario, Mapping):
        return {**scenario, **changed}
    if isinstance(scenario, tuple):
        return tuple(changed.get(place, part) for place, part in enumerate(scenario))
    return replace(scenario, **{str(name): value for name, value in changed.items()})


def input_at(scenario: Any, path: InputPath) -> Any:
    """The value at `path`."""
    for name in path:
        if isinstance(scenario, Mapping):
            scenario = scenario[name]
        else:
            scenario = (
                scenario[int(name)] if isinstance(scenario, tuple) else getattr(scenario, str(name))
            )
    return scenario


def path_label(path: InputPath) -> str:
    """`self_host.pools[0].gpu_hour`, as the file has it."""
    first, *tail = path
    return str(first) + "".join(
        f"[{name}]" if isinstance(name, int) else f".{name}" for name in tail
    )


def drawn_scenarios(
    scenario: CrossoverScenario, ranges: Sequence[InputRange], chance: Callable[[], float]
) -> Iterator[CrossoverScenario]:
    """Scenarios without end, each with all ranged inputs drawn anew; `chance` gives 0 to 1."""
    while True:
        together: dict[str, float] = {}
        values = {}
        for one in ranges:
            ratio = together.get(one.moves_with)
            if ratio is None:
                ratio = chance()
            if one.moves_with:
                together[one.moves_with] = ratio
            values[one.path] = one.at(ratio)
        yield with_inputs(scenario, values)


def savings_range(
    scenario: CrossoverScenario,
    ranges: Sequence[InputRange],
    draws: int,
    chance: Callable[[], float],
    break_even_draws: int = BREAK_EVEN_DRAWS,
) -> SavingsRange:
    """Savings over `draws` (2 or more) of the ranges, break-even volumes over the first of them.

    What the replicas allowed cannot serve is not cheaper, whatever it would cost; `served_share` is of the
    draws that they can serve, and savings are of these alone (None of fewer than two).
    """
    saved, cheaper = list[float](), 0
    firsts, durables = list[float | None](), list[float | None]()
    for drawn in islice(drawn_scenarios(scenario, ranges, chance), draws):
        curves, volume = cost_curves(drawn), drawn.demand.million_tokens
        if curves.serves(volume):
            saved.append(curves.savings(volume))
            cheaper += saved[-1] > 0
        if len(firsts) < break_even_draws:
            search = find_crossings(curves, BREAK_EVEN_STEPS)
            firsts.append(search.first)
            durables.append(search.durable)
    tenths = quantiles(saved, n=10, method="inclusive") if len(saved) > 1 else [None] * 9
    return SavingsRange(
        draws=draws,
        savings=SpreadOfThree(tenths[0], tenths[4], tenths[8]),
        self_host_cheaper_share=cheaper / draws,
        break_even_draws=len(firsts),
        first_break_even=_spread_of_volumes(firsts),
        durable_break_even=_spread_of_volumes(durables),
        durable_share=sum(volume is not None for volume in durables) / len(durables),
        served_share=len(saved) / draws,
    )


def tornado(scenario: CrossoverScenario, ranges: Iterable[InputRange]) -> list[TornadoBar]:
    """One bar for each range, or for all that move together, the longest first."""
    moved: dict[str, list[InputRange]] = {}
    for one in ranges:
        moved.setdefault(one.moves_with or path_label(one.path), []).append(one)
    bars = [
        TornadoBar(
            name,
            together[0].low if len(together) == 1 else None,
            together[0].high if len(together) == 1 else None,
            savings(with_inputs(scenario, {one.path: one.low for one in together})),
            savings(with_inputs(scenario, {one.path: one.high for one in together})),
        )
        for name, together in moved.items()
    ]
    return sorted(bars, key=lambda bar: -bar.swing)


def break_even_inputs(scenario: CrossoverScenario) -> list[BreakEvenInput]:
    """Return the values of a price, rate or cost that must be true for self-hosting to be no dearer.

    Savings never turn twice along any of these inputs, nor does whether the replicas allowed can serve
    the volume, so halving finds the value. Inputs of which no value turns the answer are left out.
    """
    candidates = (
        _break_even_input(scenario, path, low, high)
        for path, low, high in _searched_inputs(scenario)
    )
    return [one for one in candidates if one is not None]


def _break_even_input(
    scenario: CrossoverScenario, path: InputPath, low: float, high: float
) -> BreakEvenInput | None:
    def saves(value: float) -> bool:
        return is_no_dearer(with_inputs(scenario, {path: value}))

    at_low, at_high = saves(low), saves(high)
    if at_low is at_high:
        return None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if saves(middle) is at_low else (low, middle)
    return BreakEvenInput(
        path_label(path),
        now=float(input_at(scenario, path)),
        needed=high if at_high else low,
        at_least=at_high,
    )


def _searched_inputs(scenario: CrossoverScenario) -> Iterator[tuple[InputPath, float, float]]:
    """Inputs that savings are monotone in, with the bounds between which they are looked for."""
    for index, pool in enumerate(scenario.self_host.pools):
        at: InputPath = ("self_host", "pools", index)
        yield (*at, "gpu_hour"), 0.0, pool.gpu_hour * 100 + 1
        for name in ("input_tokens_per_second", "output_tokens_per_second"):
            rate = getattr(pool, name)
            if rate is not None:
                yield (*at, name), rate / 100, rate * 100
        yield (*at, "headroom"), 0.01, 1.0
    for name, amount in scenario.self_host.fixed.items():
        yield ("self_host", "fixed", name), 0.0, amount * 100 + 1_000_000
    yield ("self_host", "cached_share"), 0.0, 1.0
    in_force = scenario.api.prices.index(scenario.api.price_on(scenario.on))
    for name in ("input", "output"):
        price = getattr(scenario.api.prices[in_force], name)
        yield ("api", "prices", in_force, name), 0.0, price * 100 + 1
    yield ("api", "cached_share"), 0.0, 1.0
    yield ("demand", "peak_to_mean"), 1.0, scenario.demand.peak_to_mean * 100


def _spread_of_volumes(volumes: Sequence[float | None]) -> SpreadOfThree:
    """By the nearest rank; a draw without a volume lies above all that have one."""
    ordered = sorted(inf if volume is None else volume for volume in volumes)
    ranked = [ordered[ceil(ratio * len(ordered)) - 1] for ratio in (0.1, 0.5, 0.9)]
    return SpreadOfThree(*(None if volume == inf else volume for volume in ranked))
