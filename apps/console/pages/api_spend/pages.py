"""Pages of the cost of calls to model APIs over a period, compared with another, and its tables as CSV."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from django.http import QueryDict
from django.urls import path, reverse

from apps.accounts.queries import teams
from apps.console.kit.chart import DailyChart, FigureRow
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.filters import (
    Reading,
    compare_filter,
    name_filter,
    one_of,
    period_filter,
    requested_comparison,
)
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, Section, files_page, shown
from apps.console.kit.periods import (
    DAY,
    DEFAULT_PERIOD,
    DEFAULT_PERIOD_WORDS,
    PeriodWords,
    days_between,
    period_words,
    until,
)
from apps.console.kit.request import EVERYONE, Context
from apps.console.pages.annotations.marks import marked_chart
from apps.console.pages.api_spend import changes
from apps.console.pages.api_spend.tables import (
    DAYS,
    MODELS,
    OWNERS,
    PRICES,
    UNPRICED,
    VENDORS,
    ModelCalls,
    OwnedCalls,
    model_calls,
    models_shown,
    price_rows,
)
from apps.console.pages.api_spend.words import chart_of, figures_of, finding_of
from apps.console.pages.managers import step_for
from apps.ledger.queries.api_spend import (
    Spend,
    SpendQuery,
    compared,
    first_called_at,
    spend,
    spend_together,
    unpriced_calls,
    vendors_called,
)
from apps.ledger.queries.calendar import next_month
from apps.ledger.queries.closed_months import closed_months
from apps.ledger.queries.comparison import Comparison, days_compared
from apps.ledger.queries.windows import Window, window_of
from apps.pricing.queries.api_prices import api_prices
from apps.review.queries.annotations import AnnotationsWanted
from apps.workloads.queries import workloads

CURL = (
    "curl -H 'Authorization: Bearer …' -H 'Content-Type: application/json' "
    '-d \'{"vendor": "openai", "response": {…}}\' …/api/v1/usage-events'
)


@dataclass(frozen=True, slots=True)
class SpendQuestion:
    """The calls of a window, of some teams or of all that the viewer sees; `teams` are everybody's.

    `spans` are the days that are compared and those they are held against; None: there are none.
    """

    window: Window
    comparison: Comparison
    spans: tuple[Window, Window] | None
    words: PeriodWords
    reading: Reading
    teams: Mapping[int, str]
    offered: tuple[str, ...]
    team_ids: frozenset[int] | None

    def of(self, window: Window) -> SpendQuery:
        """Return the question of these calls for a window."""
        return SpendQuery(window.starts_at, window.ends_at, window.zone, self.team_ids)

    @property
    def asked(self) -> SpendQuery:
        """The calls of its own window."""
        return self.of(self.window)

    def by_model(self, place: int) -> list[Spend]:
        """The calls of one of the compared spans, by vendor and model; none where there are no spans."""
        return [] if self.spans is None else spend(self.of(self.spans[place]), ("vendor", "model"))


@shown(EVERYONE, "api-spend")
def api_spend(context: Context) -> ConsolePage:
    """Show what was spent on which API models, day by day, by whom, and what has no price."""
    question, currency = spend_question(context), context.currency
    spend_query, words = question.asked, question.words
    files = {file.table: file for file in _files_of(question, context)}
    if context.csv_table is not None:
        return files_page(context, *files.values(), main=MODELS.name)
    models = _model_calls(question, context)
    total = spend_together([row.found for row in models if row.found.requests])
    by_day = spend(spend_query, ("day", "model"))
    status = "reconciled" if _is_closed(question.window) else "estimated"
    figures = figures_of(models, total, question.spans, status, currency) if total else ()
    days = days_between(question.window.first_day, until(question.window, words.today))
    return ConsolePage(
        context=context,
        finding=finding_of([row.found for row in models], total, words.within, currency),
        status=status if total else "",
        under=(
            f"{words.days}, each call at its own date and tier, in {currency}; calls without a "
            "price are in no amount.",
        ),
        filters=(
            period_filter(question.reading.texts, words),
            name_filter("team", "Team", question.offered, question.reading.texts, "All teams"),
            compare_filter(question.comparison.text, question.comparison.own),
        ),
        problems=tuple(question.reading.problems),
        actions=_actions_of(context),
        sections=(
            FigureRow(figures) if figures else None,
            _marked_days(
                question,
                chart_of(days, by_day, currency, files[DAYS.name], context.calendar.today),
                context,
            ),
            models_shown(models).section(
                models,
                context,
                empty=f"No call is known {words.within}.",
                csv=files[MODELS.name],
            ),
            *_further_sections(question, files, context),
        ),
        empty=None if vendors_called() else _no_calls(context),
    )


def _marked_days(
    question: SpendQuestion, chart: DailyChart | None, context: Context
) -> DailyChart | None:
    """With what happened to the teams that are asked about."""
    return marked_chart(chart, context, AnnotationsWanted(question.window, question.team_ids))


def _files_of(question: SpendQuestion, context: Context) -> Iterator[CsvFile]:
    """By model, by day, by whose the calls were, those without a price; what vendors say, for who sees prices."""
    query = question.asked
    yield MODELS.file(_file_name(question), context, lambda: _model_calls(question, context))
    yield DAYS.file(_file_name(question, "-days"), context, lambda: _day_calls(question))
    yield OWNERS.file(_file_name(question, "-teams"), context, lambda: _owner_calls(question))
    yield UNPRICED.file(_file_name(question, "-unpriced"), context, lambda: unpriced_calls(query))
    if context.viewer.sees_prices:
        yield VENDORS.file(_file_name(question, "-vendors"), context, lambda: compared(query))


def _further_sections(
    question: SpendQuestion, files: Mapping[str, CsvFile], context: Context
) -> tuple[Section | None, ...]:
    """Return the sections of whose the calls were, what has no price, and, for who sees prices, what they go by."""
    owners, unpriced = _owner_calls(question), unpriced_calls(question.asked)
    viewer = context.viewer
    reports = None
    if viewer.sees_prices and question.team_ids is None:
        reports = VENDORS.section(compared(question.asked), context, csv=files[VENDORS.name])
    prices = None
    if viewer.sees_prices:
        listed_prices = price_rows(api_prices(), context.at, may_end=viewer.may_close)
        prices = PRICES.section(listed_prices, context)
    return (
        OWNERS.section(owners, context, csv=files[OWNERS.name]) if owners else None,
        UNPRICED.section(unpriced, context, csv=files[UNPRICED.name]) if unpriced else None,
        reports,
        prices,
    )


def _day_calls(question: SpendQuestion) -> list[Spend]:
    """By day and model."""
    spend_rows = spend(question.asked, ("day", "vendor", "model"))
    return sorted(spend_rows, key=lambda row: tuple(map(str, row.key)))


def spend_question(context: Context) -> SpendQuestion:
    """Return which calls the address asks for, of the viewer's own teams at most."""
    names = {team.id: team.name for team in teams()}
    visible_teams = {name: team for team, name in names.items() if context.viewer.sees_team(team)}
    reading = Reading(
        _month_as_window(context.query),
        {"window": DEFAULT_PERIOD, "compare": "", "team": ""},
        {"window": DEFAULT_PERIOD_WORDS, "compare": "the span before", "team": "all teams"},
    )
    window = reading.read("window", lambda text: window_of(text, context.calendar))
    comparison = requested_comparison(reading, context)
    chosen = reading.read("team", lambda text: one_of(visible_teams, text, "team"))
    return SpendQuestion(
        window=window,
        comparison=comparison,
        spans=_compared_calls(window, comparison, context),
        words=period_words(window, context.calendar.today),
        reading=reading,
        teams=names,
        offered=tuple(sorted(visible_teams)),
        team_ids=context.seen_teams if chosen is None else chosen,
    )


def _month_as_window(query: QueryDict) -> QueryDict:
    """The parameters, a `month` of older addresses as the window that it is."""
    params = query.copy()
    if "month" in params and "window" not in params:
        params["window"] = query.get("month", "")
    return params


def _compared_calls(
    window: Window, comparison: Comparison, context: Context
) -> tuple[Window, Window] | None:
    """As `compared_spans`: None where the other span reaches back to before the first known call."""
    spans = days_compared(window, context.calendar.today, comparison)
    since = first_called_at()
    return spans if spans and since is not None and since <= spans[1].starts_at else None


def _is_closed(window: Window) -> bool:
    """Whether it is of whole months, and all of them are closed."""
    months, month = set(), window.first_day.replace(day=1)
    while month < window.end_day:
        months.add(month)
        month = next_month(month)
    return window.is_whole_months and months <= set(closed_months())


def _file_name(question: SpendQuestion, of: str = "") -> str:
    window = question.window
    last = window.end_day - DAY
    if window.is_whole_months and next_month(window.first_day) == window.end_day:
        return f"api-spend-{window.first_day:%Y-%m}{of}"
    return f"api-spend-{window.first_day.isoformat()}-{last.isoformat()}{of}"


def _model_calls(question: SpendQuestion, context: Context) -> list[ModelCalls]:
    """Each model's calls, the most expensive first, beside those of the spans that are compared."""
    calls = spend(question.asked, ("vendor", "model"))
    if question.spans is None:
        return model_calls(calls, context.calendar.today)
    now = calls
    if question.spans[0] != question.window:
        now = question.by_model(0)
    compared = (now, question.by_model(1))
    return model_calls(calls, context.calendar.today, compared)


def _owner_calls(question: SpendQuestion) -> list[OwnedCalls]:
    """Return the calls by whose they were, the most expensive first."""
    spend_rows = spend(question.asked, ("team", "workload", "feature"))
    works = workloads() if spend_rows else {}
    return [
        OwnedCalls(
            row,
            question.teams[int(str(team))],
            "" if work is None else works[int(str(work))].name,
            str(feature),
        )
        for row in spend_rows
        for team, work, feature in [row.key]
    ]


def _actions_of(context: Context) -> tuple[Link, ...]:
    links = []
    if context.viewer.may_close:
        links.append(Link("Enter a contract price", reverse("add-api-price")))
    if context.viewer.sees_prices:
        links.append(Link("Bring in a vendor’s report", reverse("take-vendor-report")))
    return tuple(links)


def _no_calls(context: Context) -> EmptyState:
    sending = step_for(
        "A vendor’s response is sent as it came, with a token of scope usage.",
        Link("Create a token", reverse("tokens")),
        "creates one",
        may=context.viewer.may_manage,
    )
    return EmptyState(
        title="No call to a model API is known",
        sentence="What OpenAI, Anthropic, Google, Bedrock and others were paid by the token is "
        "listed here by model, team and feature. Prompts and answers are dropped on receipt.",
        steps=(
            replace(sending, command=CURL),
            Step(
                "Or let LiteLLM or an OpenTelemetry exporter send; docs/guides/api-spend.md says how."
            ),
        ),
    )


urlpatterns = [
    path("api-spend", api_spend, name="api-spend"),
    path("api-spend/prices/new", changes.add_price, name="add-api-price"),
    *changes.END.urlpatterns,
    path("api-spend/report", changes.take_report, name="take-vendor-report"),
]
