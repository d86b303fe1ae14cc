"""Inputs of a run that somebody moves, and the picture of what comes of it."""

from collections.abc import Callable, Mapping

from apps.console.kit.change import ChangeForm
from apps.console.kit.chart import Figure, FigureRow, LineChart, figure_or_unknown
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.entries import SliderField
from apps.console.kit.request import Context, value_or_404
from apps.console.pages.crossover import words
from apps.console.pages.crossover.tables import CURVE, curve_rows
from apps.economics.crossover.sliders import VOLUME, InputSlider
from apps.economics.refusal import Refusal
from apps.planning.queries.crossover import SavedScenarioFact, ScenarioRunFact, saved_scenario
from apps.planning.queries.crossover_tried import ExploredRun, explore_run, run_question_and_sliders
from apps.show.amounts import per_cent
from apps.show.cost_curves import CostLine, MarkedVolume, cost_curves
from apps.show.words import StateWords

LABELS: Mapping[str, str] = {
    VOLUME: "Tokens a month",
    "gpu_hour": "Price of a GPU-hour",
    "headroom": "Share of a replica’s capacity in use",
    "cached_share": "Prompt tokens in your cache",
    "api_input": "API price of a million prompt tokens",
    "api_cached_share": "Prompt tokens in the API’s cache",
}
ALONG: Mapping[str, str] = {
    "gpu_hour": "of every pool",
    "headroom": "of every pool",
    "api_input": "its other prices move along",
}
PRICES = {"gpu_hour", "api_input"}
OWN = StateWords("active", "Yourself", "Replicas of your own, and the people for them")
API = StateWords("other", "API", "What the API charges")


class TryForm(ChangeForm):
    """A slider for each input that may be moved."""


def get_scenario_or_404(context: Context, scenario_id: int) -> SavedScenarioFact:
    """The scenario, or the page that there is none: another team's is as if it were not there."""
    return value_or_404(saved_scenario(scenario_id, context.seen_teams))


def tried_run(context: Context, run: ScenarioRunFact) -> tuple[TryForm, ExploredRun]:
    """The run with the inputs that the address moves, and its form; what is refused is said there."""
    question, sliders = run_question_and_sliders(run)
    currency = question.scenario.currency
    form = TryForm(context.query, context, more={
        slider.name: SliderField(
            LABELS[slider.name] + (f", {ALONG[slider.name]}" if slider.name in ALONG else ""),
            least=slider.least,
            most=slider.most,
            now=slider.now,
            said=_slider_formatter(slider, currency),
        )
        for slider in sliders
    })  # fmt: skip
    chosen: Mapping[str, float] = {}
    if form.is_bound and form.is_valid():
        chosen = form.cleaned_data
    try:
        return form, explore_run(run, question, sliders, chosen)
    except Refusal as refusal:
        form.refuse(refusal, {})
        return form, explore_run(run, question, sliders, {})


def key_figures(answered_run: ExploredRun) -> FigureRow:
    """The costs of a million tokens, what is saved, and from where on."""
    costs, search, currency = (
        answered_run.answer.costs,
        answered_run.answer.search,
        answered_run.question.scenario.currency,
    )
    volume = words.million_tokens(costs.million_tokens)
    self_host_price = costs.self_host_per_million
    api = costs.api_per_million
    return FigureRow(
        (
            figure_or_unknown(
                "Yourself, a million tokens",
                None if self_host_price is None else words.token_price(self_host_price, currency),
                f"{words.month_amount(costs.self_host_month, currency)} a month for {volume}",
            ),
            figure_or_unknown(
                "API, a million tokens",
                None if api is None else words.token_price(api, currency),
                f"{words.month_amount(costs.api_month, currency)} a month",
            ),
            _saved_figure(answered_run),
            Figure(
                "Break-even volume",
                words.NOWHERE if search.durable is None else words.million_tokens(search.durable),
                words.first_words(search.first, search.durable)
                + ("" if costs.is_served else f"; {words.NOT_SERVED}")
                + words.needed_words(answered_run.answer.break_even_utilization),
            ),
        )
    )


def _saved_figure(answered_run: ExploredRun) -> Figure:
    spread, currency = answered_run.answer.uncertainty, answered_run.question.scenario.currency
    if not answered_run.answer.costs.is_served:
        return figure_or_unknown("Saved a month by self-hosting", None, words.NOT_SERVED)
    if spread is None or spread.savings.p50 is None:
        saved = words.month_amount(answered_run.answer.costs.savings_month, currency)
        return Figure(
            "Saved a month by self-hosting", saved, "no input has a range: how sure, is not known"
        )
    low, high = spread.savings.p10 or 0.0, spread.savings.p90 or 0.0
    return Figure(
        "Saved a month by self-hosting",
        words.month_amount(spread.savings.p50, currency),
        f"median of {spread.draws:,} simulations, {words.month_amount(low, currency)} to "
        f"{words.month_amount(high, currency)} (P10 to P90), more than nothing in "
        f"{per_cent(spread.self_host_cheaper_share)} of them; base case "
        f"{words.month_amount(answered_run.answer.costs.savings_month, currency)}",
    )


def cost_picture(
    fact: SavedScenarioFact, answered_run: ExploredRun, context: Context, file: CsvFile
) -> LineChart:
    """Both sides against volume: the staircase, the API, their bands, and where they cross."""
    currency = answered_run.question.scenario.currency
    self_host_line = CostLine(
        OWN,
        [
            (point.million_tokens, point.self_host)
            for point in answered_run.curve
            if point.is_served
        ],
        [
            (band.million_tokens, band.self_host_low, band.self_host_high)
            for band in answered_run.bands
        ],
        is_stepped=True,
    )
    api = CostLine(
        API,
        [(point.million_tokens, point.api) for point in answered_run.curve],
        [(band.million_tokens, band.api_low, band.api_high) for band in answered_run.bands],
    )
    return LineChart(
        name="crossover",
        title=_picture_title(fact, answered_run),
        unit=f"{currency} a month, by million tokens a month"
        + ("; the bands are P10 to P90 of the inputs’ ranges" if answered_run.bands else ""),
        figure=cost_curves(
            [line for line in (self_host_line, api) if line.points],
            _marks(answered_run),
            currency,
            words.short_volume,
        ),
        behind=CURVE.section(curve_rows(answered_run), context),
        csv=file,
        anchor="picture",
        sides=(OWN, API),
    )


def _picture_title(fact: SavedScenarioFact, answered_run: ExploredRun) -> str:
    search = answered_run.answer.search
    if search.first is None:
        return f"{fact.name}: the API is cheaper at every volume"
    if search.durable == 0:
        return f"{fact.name}: self-hosting is cheaper at every volume"
    if search.durable is None:
        return (
            f"{fact.name}: self-hosting is cheaper at times, first from"
            f" {words.volume_or_nowhere(search.first)}, and never for good"
        )
    return f"{fact.name}: self-hosting breaks even at {words.volume_or_nowhere(search.durable)} a month"


def _marks(answered_run: ExploredRun) -> list[MarkedVolume]:
    """Now, and the durable crossing; the first where it is not the same. Names that would touch are joined."""
    search = answered_run.answer.search
    marks = [MarkedVolume(answered_run.answer.costs.million_tokens, "now")]
    if search.first is not None and search.first != search.durable:
        marks.append(MarkedVolume(search.first, "first"))
    if search.durable:
        marks.append(MarkedVolume(search.durable, "for good"))
    return marks


def _slider_formatter(slider: InputSlider, currency: str) -> Callable[[float], str]:
    if slider.name == VOLUME:
        return words.million_tokens
    if slider.name in PRICES:
        return lambda price: words.token_price(price, currency)
    return per_cent
