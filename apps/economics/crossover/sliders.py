"""Inputs that somebody moves to see what comes of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf

from apps.economics.crossover.answer import CrossoverQuestion
from apps.economics.crossover.scenario import CrossoverScenario
from apps.economics.crossover.uncertainty import InputPath, input_at

WIDER, NARROWER = 4.0, 0.25
"""How far a price may be moved, as a part of what it is."""
LONGEST_CACHE = 0.95
UNMOVED = 1e-9
VOLUME = "million_tokens"


@dataclass(frozen=True, slots=True)
class InputSlider:
    """An input between two ends. The first of `paths` is what is moved; the others keep their ratio to it."""

    name: str
    paths: tuple[InputPath, ...]
    now: float
    least: float
    most: float
    limit: float = inf

    def values(self, scenario: CrossoverScenario, value: float) -> dict[InputPath, float]:
        """Every input that moves along, by its path; none where the value is what it was."""
        if abs(value - self.now) <= UNMOVED * abs(self.now):
            return {}
        leading, *others = self.paths
        ratio = value / self.now if self.now else 1.0
        along = {path: min(self.limit, input_at(scenario, path) * ratio) for path in others}
        return {leading: value, **along}


def sliders_of(question: CrossoverQuestion, durable: float | None) -> list[InputSlider]:
    """The volume, prices and shares of a question; up to beyond the `durable` volume, if there is one."""
    volume = question.scenario.demand.million_tokens
    most = max(3 * volume, 1.5 * durable if durable is not None else 0.0)
    reach = InputSlider(VOLUME, (("demand", VOLUME),), volume, min(volume, most / 100), most)
    return [reach, *_self_host_sliders(question.scenario), *_api_sliders(question.scenario)]


def moved_values(
    scenario: CrossoverScenario, sliders: list[InputSlider], chosen: Mapping[str, float]
) -> dict[InputPath, float]:
    """Return the values that sliders were moved to, by the paths of their inputs."""
    values: dict[InputPath, float] = {}
    for slider in sliders:
        values |= slider.values(scenario, chosen.get(slider.name, slider.now))
    return values


def _self_host_sliders(scenario: CrossoverScenario) -> Iterator[InputSlider]:
    places = range(len(scenario.self_host.pools))
    rates = tuple(
        ("self_host", "pools", place, name)
        for name in ("gpu_hour", "spot_gpu_hour")
        for place in places
    )
    yield from _price_slider("gpu_hour", scenario, rates)
    headrooms: tuple[InputPath, ...] = tuple(
        ("self_host", "pools", place, "headroom") for place in places
    )
    headroom = float(input_at(scenario, headrooms[0]))
    yield InputSlider("headroom", headrooms, headroom, min(headroom, 0.05), 1.0, limit=1.0)
    yield from _share_slider("cached_share", scenario, ("self_host", "cached_share"))


def _api_sliders(scenario: CrossoverScenario) -> Iterator[InputSlider]:
    place = scenario.api.prices.index(scenario.api.price_on(scenario.on))
    price = scenario.api.prices[place]
    names = ["input", "output", *(["cached"] if price.cached is not None else [])]
    paths = tuple(("api", "prices", place, name) for name in names)
    yield from _price_slider("api_input", scenario, paths)
    yield from _share_slider("api_cached_share", scenario, ("api", "cached_share"))


def _price_slider(
    name: str, scenario: CrossoverScenario, paths: tuple[InputPath, ...]
) -> Iterator[InputSlider]:
    """None of what costs nothing: there is no line to move it along."""
    now = float(input_at(scenario, paths[0]))
    if now:
        yield InputSlider(name, paths, now, now * NARROWER, now * WIDER)


def _share_slider(name: str, scenario: CrossoverScenario, path: InputPath) -> Iterator[InputSlider]:
    now = float(input_at(scenario, path))
    yield InputSlider(name, (path,), now, 0.0, max(now, LONGEST_CACHE))
