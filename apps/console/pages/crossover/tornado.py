"""A picture of what an answer hangs on, with its table behind it."""

from apps.console.kit.chart import LineChart
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.request import Context
from apps.console.pages.crossover import words
from apps.console.pages.crossover.tables import TORNADO, TORNADO_ABOUT, in_currency
from apps.economics.crossover.uncertainty import TornadoBar
from apps.planning.queries.crossover_tried import ExploredRun
from apps.show.tornado import SwingBar, tornado_bars

MOST_BARS = 10
"""More are in the table, and those that move nothing."""


def tornado_picture(answered_run: ExploredRun, context: Context, file: CsvFile) -> LineChart:
    """A bar for each ranged input, of which there has to be one."""
    scenario, bars = answered_run.question.scenario, answered_run.answer.tornado
    currency, pools = scenario.currency, tuple(pool.name for pool in scenario.self_host.pools)

    def said(amount: float) -> str:
        return words.month_amount(amount, currency)

    return LineChart(
        name="tornado-figure",
        title=_title(bars[0], pools, currency),
        unit=f"{currency} a month, below 0 where it costs more: {TORNADO_ABOUT}",
        figure=tornado_bars(
            [
                SwingBar(_named(bar, pools), bar.savings_at_low, bar.savings_at_high)
                for bar in bars[:MOST_BARS]
                if bar.swing or bar is bars[0]
            ],
            answered_run.answer.costs.savings_month,
            currency,
            said,
        ),
        behind=TORNADO.section(in_currency(bars, answered_run), context),
        csv=file,
        anchor="tornado",
    )


def _named(bar: TornadoBar, pools: tuple[str, ...]) -> str:
    name = words.input_words(bar.name, pools)
    if bar.low is None:
        return f"{name}, moved together"
    return f"{name}, {words.number(bar.low)} to {words.number(bar.high)}"


def _title(bar: TornadoBar, pools: tuple[str, ...], currency: str) -> str:
    low, high = sorted((bar.savings_at_low, bar.savings_at_high))
    name = words.input_words(bar.name, pools)
    less, more = (words.month_amount(abs(savings), currency) for savings in (low, high))
    if not bar.swing:
        return f"No input moves the answer within its range: {name} leaves it at {less} a month"
    if low < 0 < high:
        conclusion = f"and turns the answer: self-hosting costs {less} a month more to {more} less"
    elif high <= 0:
        conclusion = f"and self-hosting costs {more} to {less} a month more at all of its range"
    else:
        conclusion = f"and self-hosting saves {less} to {more} a month at all of its range"
    return f"{name} matters most, {conclusion}"
