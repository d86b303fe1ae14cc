"""The pages of forecasts: all series, and one forecast with its hours, errors and what came."""

from collections.abc import Sequence

from django.http import Http404, HttpResponse
from django.urls import path, reverse

from apps.console.kit.chart import Figure, FigureRow, LineChart, known_figure
from apps.console.kit.frame import EmptyState, Link
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.pages.forecasts import words
from apps.console.pages.forecasts.tables import (
    DAY_AHEAD,
    EARLIER,
    HOURS,
    MADE,
    SCORES,
    SERIES,
    day_score,
)
from apps.console.pages.managers import step_for
from apps.planning.queries.forecasts import (
    ForecastFact,
    ForecastHour,
    ForecastHours,
    forecast_hours,
    forecasts,
)
from apps.planning.queries.series import GPU_HOURS, WHOLE, SeriesKey
from apps.show.amounts import counted, per_cent
from apps.show.fan_chart import FanPoint, fan_chart
from apps.show.time import instant

DRAWN_BEFORE = 7 * 24


@shown(EVERYONE, "forecasts")
def forecast_list(context: Context) -> ConsolePage:
    """The newest forecast of every series that the viewer may see."""
    found = forecasts(context.seen_teams)
    made = max((each.made_at for each in found), default=None)
    return ConsolePage(
        context=context,
        finding=_list_finding(found, context),
        under=()
        if made is None
        else (f"two weeks ahead, last made {instant(made, context.zone)}",),
        sections=(SERIES.section(found, context, csv_href=reverse("forecasts-csv")),),
        empty=None if found else _no_forecast(context),
    )


@shown(EVERYONE, "forecasts")
def forecast_list_csv(context: Context) -> HttpResponse:
    """The same as a table."""
    return SERIES.csv(forecasts(context.seen_teams), context, "forecasts")


@shown(EVERYONE, "forecasts")
def forecast_page(context: Context, forecast_id: int) -> ConsolePage:
    """One forecast: the fan, the hours behind it, its errors before and after."""
    found = _known_forecast(context, forecast_id)
    each = found.forecast
    recent = [value for _, value in found.recent]
    said = words.expected(each, context.currency, context.at, context.zone) + words.against_before(
        each, recent
    )
    demand = words.QUEUES.get(each.queue, "")
    facts = [
        ("Made", instant(each.made_at, context.zone)),
        ("Made from", words.inputs(each)),
        ("Method", words.method(each)),
        *([("Demand", demand)] if demand else []),
        ("Digest of its hours", each.digest),
        ("For commands and REST", each.name),
    ]
    return ConsolePage(
        context=context,
        finding=f"{words.title_of(each)}: about {said}",
        under=(f"from {instant(each.starts_at, context.zone)}, {each.horizon} hours ahead",),
        problems=(f"Too little history: {each.refusal}. The last value stands in.",) if each.refusal else (),
        back=Link("All forecasts", reverse("forecasts")),
        sections=(
            FigureRow(_key_figures(each, context.currency)),
            _fan(found, context),
            SCORES.section(each.backtests, context),
            EARLIER.section(
                forecasts(context.seen_teams, each.series), context,
                about=f"{{said}}; mean error in {each.unit} an hour",
                csv_href=reverse("forecast-earlier-csv", args=[each.id]),
            ),
            MADE.section(facts, context, about=""),
        ),
    )  # fmt: skip


@shown(EVERYONE, "forecasts")
def forecast_csv(context: Context, forecast_id: int) -> HttpResponse:
    """The hours of one forecast, with every quantile."""
    return HOURS.csv(
        _known_forecast(context, forecast_id).hours, context, f"forecast-{forecast_id}"
    )


@shown(EVERYONE, "forecasts")
def forecast_earlier_csv(context: Context, forecast_id: int) -> HttpResponse:
    """All forecasts of the series, and how they turned out."""
    series = _known_forecast(context, forecast_id).forecast.series
    return EARLIER.csv(forecasts(context.seen_teams, series), context, "forecasts-of-a-series")


def _known_forecast(context: Context, forecast_id: int) -> ForecastHours:
    """The forecast, or the page that there is none: another team's is as if it were not there."""
    found = forecast_hours(forecast_id, context.seen_teams)
    if found is None:
        raise Http404
    return found


def _list_finding(found: Sequence[ForecastFact], context: Context) -> str:
    whole = next((each for each in found if each.series == SeriesKey(GPU_HOURS, WHOLE)), None)
    if whole is not None:
        return f"About {words.expected(whole, context.currency, context.at, context.zone)}"
    if not found:
        return "No forecast yet"
    return f"{counted(len(found), 'series', 'series')} forecast two weeks ahead"


def _key_figures(each: ForecastFact, currency: str) -> tuple[Figure, ...]:
    scores = each.backtest_of(DAY_AHEAD)
    mase = None if scores is None or scores.mase is None else f"{scores.mase:.2f}"
    best = (
        ""
        if scores is None or scores.best_baseline_mase is None
        else f"best baseline {scores.best_baseline_mase:.2f}"
    )
    covered = None if scores is None or scores.coverage_80 is None else per_cent(scores.coverage_80)
    came = (
        None if each.realised_error is None else words.amount(each, each.realised_error, currency)
    )
    return (
        Figure("First 24 hours", words.amount(each, each.day_ahead, currency), ""),
        known_figure("Error 24 hours ahead", mase, f"MASE; {best}" if best else "not judged yet"),
        known_figure("In the 80 % interval", covered, "measured 24 hours ahead"),
        known_figure(
            "Error of what came",
            came,
            f"an hour, mean of {each.realised_hours}" if came else "nothing came yet",
        ),
    )


def _fan(found: ForecastHours, context: Context) -> LineChart:
    each, zone = found.forecast, context.zone
    after = ", with what came over it" if each.realised_hours else ""
    covered = day_score(each, "coverage_80")
    band = (
        ""
        if covered is None
        else f"; the band is the 80 % interval: {per_cent(covered)} of hours lay in it"
    )
    return LineChart(
        name="fan",
        title=f"{words.title_of(each)} by the hour: the week before, and what is expected{after}",
        unit=f"{each.unit} an hour{band}, 24 hours ahead" if band else f"{each.unit} an hour",
        figure=fan_chart(
            [(at.astimezone(zone), value) for at, value in found.recent[-DRAWN_BEFORE:]],
            [
                FanPoint(hour.hour.astimezone(zone), hour.value, _interval_of(hour))
                for hour in found.hours
            ],
            [(hour.hour.astimezone(zone), hour.observed) for hour in found.hours],
            lambda value: words.amount(each, value, context.currency),
            words.number,
        ),
        behind=HOURS.section(found.hours, context),
        csv_href=reverse("forecast-csv", args=[each.id]),
    )


def _interval_of(hour: ForecastHour) -> tuple[float, float] | None:
    """The ends of the 80 % interval."""
    low, high = (hour.quantiles[0], hour.quantiles[-1]) if hour.quantiles else (None, None)
    return None if low is None or high is None else (low, high)


def _no_forecast(context: Context) -> EmptyState:
    return EmptyState(
        title="No forecast yet",
        sentence="GPU-hours, spend, requests, tokens and queue waits are forecast every morning at four, two weeks "
        "ahead by the hour, each with how well the same method did before. A series is forecast from 48 settled "
        "hours on; the first forecast of a new one comes with the next morning. Whoever runs the server brings "
        "older history from a CSV, with the command import_series.",
        steps=(
            step_for(
                "What jobs held before is history too: it comes with the scheduler’s accounting.",
                Link("Import jobs", reverse("imports")),
                "imports it",
                may=context.viewer.may_manage,
            ),
        ),
    )


urlpatterns = [
    path("forecasts", forecast_list, name="forecasts"),
    path("forecasts.csv", forecast_list_csv, name="forecasts-csv"),
    path("forecasts/<int:forecast_id>", forecast_page, name="forecast"),
    path("forecasts/<int:forecast_id>.csv", forecast_csv, name="forecast-csv"),
    path(
        "forecasts/<int:forecast_id>/earlier.csv", forecast_earlier_csv, name="forecast-earlier-csv"
    ),
]
