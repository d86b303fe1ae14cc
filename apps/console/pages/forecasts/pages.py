"""The pages of forecasts: all series, and one forecast with its hours, errors and what came."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.urls import path, reverse

from apps.console.kit.chart import Figure, FigureRow, LineChart, figure_or_unknown
from apps.console.kit.frame import Choice, Link
from apps.console.kit.gates import gate_list
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.request import EVERYONE, Context, value_or_404
from apps.console.kit.table import Table, TableSection
from apps.console.pages.forecasts import events, words
from apps.console.pages.forecasts.older_history import import_links, no_forecast
from apps.console.pages.forecasts.switch import TABS, horizon_tabs
from apps.console.pages.forecasts.tables import (
    DAILY_EARLIER,
    DAILY_SCORES,
    DAILY_SERIES,
    DAYS,
    EARLIER,
    HOURS,
    MADE,
    MONTHS,
    SCORES,
    SERIES,
    WAYS,
    nearest_backtest,
    nearest_score,
)
from apps.planning.queries.events import UNKNOWN, describe_effect
from apps.planning.queries.forecasts import (
    BY_DAY,
    BY_HOUR,
    FALLBACKS,
    ForecastEvent,
    ForecastFact,
    ForecastHour,
    ForecastHours,
    forecast_hours,
    forecasts,
    newest_forecasts,
)
from apps.planning.queries.passes import forecast_progress
from apps.planning.queries.reconciliation import reconciliation_of
from apps.planning.queries.series import GPU_HOURS, WHOLE, SeriesKey
from apps.show.amounts import counted, number, per_cent
from apps.show.fan_chart import FanEvent, FanPoint, fan_chart
from apps.show.time import day_or_instant, instant, month

DRAWN_BEFORE = 7 * 24


@shown(EVERYONE, "forecasts")
def forecast_list(context: Context) -> ConsolePage:
    """The newest forecast by the hour of every series that the viewer may see."""
    newest = forecasts(context.seen_teams)
    return _list_page(newest, context, "forecasts", SERIES, "two weeks ahead", "forecasts")


@shown(EVERYONE, "forecasts")
def daily_forecast_list(context: Context) -> ConsolePage:
    """Show the forecasts by day."""
    newest = forecasts(context.seen_teams, granularity=BY_DAY)
    by_day = {forecast.series for forecast in newest}
    missing = [
        forecast for forecast in forecasts(context.seen_teams) if forecast.series not in by_day
    ]
    table = replace(DAILY_SERIES, about=f"{DAILY_SERIES.about}{words.not_by_day(missing)}")
    return _list_page(
        newest, context, "daily-forecasts", table, "18 months ahead", "forecasts-by-day"
    )


@shown(EVERYONE, "forecasts")
def forecast_page(context: Context, forecast_id: int) -> ConsolePage:
    """One forecast: the fan, the hours or days behind it, its errors before and after."""
    detailed = _get_forecast_or_404(context, forecast_id)
    forecast = detailed.forecast
    return ConsolePage(
        context=context,
        finding=f"{words.title_of(forecast)}: about {_expected(detailed, context)}",
        under=(
            f"from {_begins(forecast, context)}, {counted(forecast.horizon, forecast.granularity)} ahead",
            *words.shift_in_short(forecast),
        ),
        tabs=_tabs_of_series(forecast),
        problems=tuple(_forecast_problems(forecast)),
        back=Link("All forecasts", reverse("daily-forecasts" if forecast.is_daily else "forecasts")),
        main_table=(DAYS if forecast.is_daily else HOURS).name,
        sections=(
            FigureRow(_key_figures(forecast, context.currency)),
            _fan(detailed, context),
            MONTHS.section(
                forecast.months, context, csv_name=f"forecast-{forecast_id}-months",
                is_shown=bool(forecast.months),
            ),
            gate_list(forecast.gates),
            _ways(forecast, context),
            (DAILY_SCORES if forecast.is_daily else SCORES).section(forecast.backtests, context),
            (DAILY_EARLIER if forecast.is_daily else EARLIER).section(
                forecasts(context.seen_teams, forecast.series, forecast.granularity), context,
                about=f"{{said}}; mean error in {words.unit_of_steps(forecast, _a_step(forecast))}",
                csv_name="forecasts-of-a-series",
            ),
            MADE.section(_facts(forecast, context), context, about=""),
        ),
    )  # fmt: skip


def _list_page(
    rows: Sequence[ForecastFact],
    context: Context,
    page_name: str,
    table: Table[ForecastFact],
    how_far: str,
    csv_name: str,
) -> ConsolePage:
    made_at = max((fact.made_at for fact in rows), default=None)
    progress = forecast_progress(context.at, context.organisation.zone)
    notes = (
        (f"Today’s forecasts are being made: {progress.done} of {progress.count} series so far.",)
        if progress.is_under_way and context.seen_teams is None
        else ()
    )
    return ConsolePage(
        context=context,
        finding=_list_finding(rows, context, how_far),
        under=()
        if made_at is None
        else (f"{how_far}, last made {instant(made_at, context.zone)}",),
        tabs=horizon_tabs(page_name),
        notes=notes,
        actions=import_links(context),
        sections=(table.section(rows, context, csv_name=csv_name),),
        empty=None if rows else no_forecast(context),
    )


def _ways(forecast: ForecastFact, context: Context) -> TableSection:
    """Of the organisation alone: whoever sees it sees all its parts."""
    fact, csv_name = reconciliation_of(forecast), f"forecast-{forecast.id}-parts"
    if fact is None or not fact.ways:
        return WAYS.section((), context, csv_name=csv_name, is_shown=False)
    steps = "hours" if not forecast.is_daily else "days"
    about = f"first {fact.steps} {steps}; {words.reconciled_errors(fact)}"
    if fact.reconciled_total is not None and fact.own_total is not None:
        about = (
            f"{words.amount(forecast, fact.reconciled_total, context.currency)} in the first {fact.steps} {steps} that all have, "
            f"{words.amount(forecast, fact.own_total, context.currency)} by its own history alone; {words.reconciled_errors(fact)}"
        )
    return WAYS.section(fact.ways, context, about=about, csv_name=csv_name)


def _tabs_of_series(forecast: ForecastFact) -> tuple[Choice, ...]:
    """The newest of both horizons of this series."""
    texts = dict(zip((BY_HOUR, BY_DAY), (text for _, text in TABS), strict=False))
    return tuple(
        Choice(
            reverse("forecast", args=[pk]), texts[granularity], granularity == forecast.granularity
        )
        for granularity, pk in newest_forecasts(forecast.series).items()
    )


def _expected(detailed: ForecastHours, context: Context) -> str:
    forecast = detailed.forecast
    if forecast.is_daily:
        return words.expected_month(forecast, context.currency)
    recent = [value for _, value in detailed.recent]
    sentence = words.expected(forecast, context.currency, context.at, context.zone)
    return sentence + words.against_before(forecast, recent)


def _begins(forecast: ForecastFact, context: Context) -> str:
    return (day_or_instant if forecast.is_daily else instant)(forecast.starts_at, context.zone)


def _a_step(forecast: ForecastFact) -> str:
    return "a day" if forecast.is_daily else "an hour"


def _forecast_problems(forecast: ForecastFact) -> Iterator[str]:
    """Yield what a forecast's reader must know first: that a fallback stands here, or an event nobody knows the effect of."""
    if forecast.refusal:
        what = FALLBACKS[forecast.method]
        yield f"No method could be chosen: {forecast.refusal}. The {what} stands in."
    for event in forecast.events:
        if event.effect == UNKNOWN and event.days_ahead:
            yield (
                f"{event.name}: nobody said what it does to {counted(event.days_ahead, 'day')} ahead; they are taken "
                "as ordinary ones."
            )


def _facts(forecast: ForecastFact, context: Context) -> list[tuple[str, str]]:
    demand = words.QUEUES.get(forecast.queue, "")
    shift = words.shift(forecast)
    reconciled = words.reconciled(forecast, context.currency)
    return [
        ("Made", instant(forecast.made_at, context.zone)),
        ("Made from", words.inputs(forecast, context.zone)),
        ("Method", words.method(forecast)),
        *(
            (words.total_of(total), words.total(forecast, total, context.currency))
            for total in forecast.totals
        ),
        *([("Change of level", shift)] if shift else []),
        *([("Reconciled", reconciled)] if reconciled else []),
        *(("Event", words.event(event)) for event in forecast.events),
        *([("Demand", demand)] if demand else []),
        ("Digest of its days" if forecast.is_daily else "Digest of its hours", forecast.digest),
        ("For commands and REST", forecast.name),
    ]


def _get_forecast_or_404(context: Context, forecast_id: int) -> ForecastHours:
    """The forecast, or the page that there is none: another team's is as if it were not there."""
    return value_or_404(forecast_hours(forecast_id, context.seen_teams))


def _list_finding(rows: Sequence[ForecastFact], context: Context, how_far: str) -> str:
    organisation_forecast = next(
        (fact for fact in rows if fact.series == SeriesKey(GPU_HOURS, WHOLE)),
        None,
    )
    if organisation_forecast is not None and organisation_forecast.is_daily:
        return f"About {words.expected_month(organisation_forecast, context.currency)}"
    if organisation_forecast is not None:
        return f"About {words.expected(organisation_forecast, context.currency, context.at, context.zone)}"
    if not rows:
        return "No forecast yet"
    return f"{counted(len(rows), 'series', 'series')} forecast {how_far}"


def _key_figures(forecast: ForecastFact, currency: str) -> tuple[Figure, ...]:
    scores = nearest_backtest(forecast)
    how_far = "28 days ahead" if forecast.is_daily else "24 hours ahead"
    mase = None if scores is None or scores.mase is None else words.error_words(scores.mase)
    best = (
        ""
        if scores is None or scores.best_baseline_mase is None
        else f"best baseline {words.error_words(scores.best_baseline_mase)}"
    )
    if mase is not None and mase.startswith(">"):
        best += "; the history nearly repeats itself, so that this says little"
    covered = None if scores is None or scores.coverage_80 is None else per_cent(scores.coverage_80)
    error = (
        None
        if forecast.realised_error is None
        else words.amount(forecast, forecast.realised_error, currency)
    )
    steps = forecast.realised_hours // (24 if forecast.is_daily else 1)
    return (
        _first_figure(forecast, currency),
        figure_or_unknown(f"Error {how_far}", mase, f"MASE; {best}" if best else "not judged yet"),
        figure_or_unknown(
            "In the 80 % interval",
            covered,
            f"measured {how_far}" if covered else "not measured: history is too short",
        ),
        figure_or_unknown(
            "Realised error",
            error,
            f"{_a_step(forecast)}, mean of {steps}" if error else "nothing came yet",
        ),
    )


def _first_figure(forecast: ForecastFact, currency: str) -> Figure:
    """Return the figure of what the first day, or the next whole month, comes to."""
    if not forecast.is_daily:
        return Figure("First 24 hours", words.amount(forecast, forecast.day_ahead, currency), "")
    first, twelfth = words.whole_month(forecast), words.whole_month(forecast, 12)
    value = None if first is None else words.amount(forecast, first.value, currency)
    later = (
        ""
        if twelfth is None
        else f"{words.amount(forecast, twelfth.value, currency)} in {month(twelfth.month)}"
    )
    title = "Next month" if first is None else month(first.month)
    return figure_or_unknown(title, value, later)


def _fan(detailed: ForecastHours, context: Context) -> LineChart:
    forecast, zone = detailed.forecast, context.zone
    after = ", with actuals" if forecast.realised_hours else ""
    covered = nearest_score(forecast, "coverage_80")
    how_far = "28 days ahead" if forecast.is_daily else "24 hours ahead"
    unit = words.unit_of_steps(forecast, _a_step(forecast))
    if covered is not None:
        unit += f"; the band is the 80 % interval: {per_cent(covered)} of {forecast.granularity}s lay in it, {how_far}"
    elif detailed.hours[0].quantiles:
        unit += "; the band is the 80 % interval: how much lies in it is not measured yet"
    unit += words.drawn_events(forecast.events)
    before, by = (
        ("the half year", "by the day") if forecast.is_daily else ("the week", "by the hour")
    )
    table = DAYS if forecast.is_daily else HOURS
    drawn_before = detailed.recent if forecast.is_daily else detailed.recent[-DRAWN_BEFORE:]
    return LineChart(
        name="fan",
        title=f"{words.title_of(forecast)} {by}: {before} before, and what is expected{after}",
        unit=unit,
        figure=fan_chart(
            [(at.astimezone(zone), value) for at, value in drawn_before],
            [
                FanPoint(hour.hour.astimezone(zone), hour.value, _interval_of(hour))
                for hour in detailed.hours
            ],
            [(hour.hour.astimezone(zone), hour.observed) for hour in detailed.hours],
            lambda value: words.amount(forecast, value, context.currency),
            number,
            [_drawn_event(event, zone) for event in forecast.events],
        ),
        behind=table.section(detailed.hours, context),
        csv=table.file(f"forecast-{forecast.id}", context, lambda: detailed.hours),
    )


def _drawn_event(event: ForecastEvent, zone: ZoneInfo) -> FanEvent:
    first = datetime.combine(event.first_day, time.min, tzinfo=zone)
    last = event.last_day or date.max - timedelta(days=2)
    end = datetime.combine(last + timedelta(days=1), time.min, tzinfo=zone)
    effect = describe_effect(event.effect, event.factor, event.added)
    return FanEvent(first, end, f"{event.name}: {effect}")


def _interval_of(hour: ForecastHour) -> tuple[float, float] | None:
    """The ends of the 80 % interval."""
    low, high = (hour.quantiles[0], hour.quantiles[-1]) if hour.quantiles else (None, None)
    return None if low is None or high is None else (low, high)


urlpatterns = [
    path("forecasts", forecast_list, name="forecasts"),
    path("forecasts/days", daily_forecast_list, name="daily-forecasts"),
    *events.urlpatterns,
    path("forecasts/<int:forecast_id>", forecast_page, name="forecast"),
]
