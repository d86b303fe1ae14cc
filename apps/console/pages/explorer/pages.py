"""The Cost explorer: costs by any two dimensions, against another period, and why they changed."""

from collections.abc import Mapping
from datetime import date, timedelta
from urllib.parse import unquote

from django.http import HttpResponse
from django.urls import path, reverse
from django.utils.http import urlencode

from apps.console.kit.chart import LineChart
from apps.console.kit.filters import filter_of, period_filter
from apps.console.kit.frame import Choice, EmptyState, Filter, Link, Step
from apps.console.kit.page import ConsolePage, shown
from apps.console.kit.periods import period_words, span
from apps.console.kit.request import EVERYONE, Context
from apps.console.pages.explorer.tables import (
    CAUSE_WORDS,
    CAUSES,
    KEYED,
    CauseRow,
    ExploredRow,
    explored_table,
)
from apps.ledger import queries as ledger
from apps.ledger.queries.calendar import next_month
from apps.ledger.queries.cube import (
    CostVariance,
    CubeAnswer,
    CubeNames,
    CubeReading,
    CubeRefusal,
    CubeRow,
    dimensions,
    explore,
    filter_word,
    named_keys,
    names_of,
    read_question,
    variance_of,
)
from apps.show.amounts import change, counted, gpu_hours
from apps.show.money import bridged, whole_amount
from apps.show.waterfall import waterfall
from apps.show.words import BASES

DEFAULTS = {
    "window": "7d",
    "group_by": "team",
    "basis": "effective",
    "cost": "charged",
    "compare": "",
}
LOADINGS = {
    "charged": "Idle stays with its owner",
    "loaded": "Loaded: idle is shared out",
    "direct": "Direct: shared costs left out",
}
LISTED = ("team", "cost_centre", "cluster", "pool", "provider", "region", "gpu_model", "purchase_option",
          "state", "kind")  # fmt: skip
"""Dimensions with a choice in the filter bar; by any other a row narrows."""
MOST_CHOICES = 200
PAGES = {"team": "costs-team", "workload": "costs-workload", "job": "costs-job", "run": "run",
         "service": "service", "node": "node"}  # fmt: skip
"""Pages with the rows behind a group."""
NEXT = {"team": "workload", "workload": "job", "cluster": "pool", "provider": "pool", "region": "pool",
        "service": "day", "run": "day", "job": "day", "user": "job"}  # fmt: skip
"""What a group is grouped by when the question narrows to it."""


@shown(EVERYONE, "costs")
def explorer(context: Context) -> ConsolePage:
    """The groups of the question, and what made the difference."""
    reading = _reading(context)
    if reading.nearest is not None:
        return _refused(reading, reading.nearest, context)
    question = reading.question
    words = period_words(question.window, context.calendar.today)
    answer = explore(question)
    found = _variance(reading)
    rows = _rows(reading, answer)
    known = ledger.standing(question.window, context.at)
    return ConsolePage(
        context=context,
        filters=_filters(reading, context),
        back=Link("Teams by state and day", reverse("costs")),
        finding=_finding(answer, rows, words.within, context.currency),
        under=_under(answer, known, words.days, context),
        problems=tuple(
            f"{name.replace('_', ' ').capitalize()}: {text}."
            for name, text in reading.problems.items()
        ),
        sections=(
            None if found is None else _causes(found, answer, reading, context),
            explored_table(answer).section(
                rows,
                context,
                total=_total(answer),
                csv_href=reverse("explorer-csv"),
                links=(
                    Link("REST", f"{reverse('explore-costs')}?{urlencode(reading.with_texts())}"),
                ),
            ),
        ),
        empty=_nothing(reading) if answer.total.sums.is_nothing and not rows else None,
    )


@shown(EVERYONE, "costs")
def explorer_csv(context: Context) -> HttpResponse:
    """Every group of the question."""
    reading = _reading(context)
    if reading.problems:
        return _not_understood(reading)
    answer = explore(reading.question)
    return explored_table(answer).csv(_rows(reading, answer), context, "costs")


@shown(EVERYONE, "costs")
def causes_csv(context: Context) -> HttpResponse:
    """What made the difference, exactly."""
    reading = _reading(context)
    if reading.problems:
        return _not_understood(reading)
    found = _variance(reading)
    rows = [] if found is None else _cause_rows(found.causes)
    return CAUSES.csv(rows, context, "what made the difference")


def _not_understood(reading: CubeReading) -> HttpResponse:
    """A file has no place to say that it answers another question."""
    told = "; ".join(f"{name}: {text}" for name, text in reading.problems.items())
    return HttpResponse(told, status=400, content_type="text/plain; charset=utf-8")


def _refused(reading: CubeReading, nearest: Mapping[str, str], context: Context) -> ConsolePage:
    """What cannot be shown at once, with the question closest to it."""
    problem = list(reading.problems.values())[-1]
    ask = Link("Ask the nearest question", _address(nearest))
    return ConsolePage(
        context=context,
        filters=_filters(reading, context),
        finding="This is more than can be shown at once",
        empty=EmptyState(
            "There is a question close to it",
            f"{problem[:1].upper()}{problem[1:]}.",
            (Step("The nearest that can be answered:", link=ask),),
        ),
    )


def _reading(context: Context) -> CubeReading:
    return read_question(
        {name: context.query.getlist(name) for name in context.query},
        viewer=context.viewer,
        organisation=context.organisation,
        calendar=context.calendar,
        defaults=DEFAULTS,
    )


def _address(texts: Mapping[str, str], **changes: str) -> str:
    asked = {name: text for name, text in {**texts, **changes}.items() if text}
    return reverse("explorer") + (f"?{urlencode(asked)}" if asked else "")


def _variance(reading: CubeReading) -> CostVariance | None:
    """None where nothing is compared, or where what is asked for is not kept by pool."""
    try:
        return variance_of(reading.question)
    except CubeRefusal:
        return None


def _rows(reading: CubeReading, answer: CubeAnswer) -> list[ExploredRow]:
    names = names_of(answer)
    group_by = answer.question.group_by
    return [
        ExploredRow(
            names=tuple(
                names.text(name, key) for name, key in zip(group_by, row.keys, strict=True)
            ),
            narrowed=tuple(
                _narrowed(reading, names, row, (place,)) for place in range(len(group_by))
            ),
            rows_href=_rows_href(reading, names, row),
            sums=row.sums,
            row=row,
            of_today=", ".join(answer.of_today),
        )
        for row in answer.rows
    ]


def _total(answer: CubeAnswer) -> ExploredRow:
    width = len(answer.question.group_by)
    return ExploredRow(("Total", *[""] * (width - 1)), (), "", answer.total.sums, answer.total)


def _narrowed(reading: CubeReading, names: CubeNames, row: CubeRow, places: tuple[int, ...]) -> str:
    """The same question about these groups alone, grouped by what is below them."""
    group_by = reading.question.group_by
    changes: dict[str, str] = {}
    for place in places:
        name, key = group_by[place], row.keys[place]
        if isinstance(key.value, date):
            asked = reading.question.window
            first, end = max(key.value, asked.first_day), _through(name, key.value)
            changes["window"] = f"{first}/{min(end, asked.end_day)}"
        elif text := names.filter_text(name, key):
            changes[name] = text
        else:
            return ""
    left = [name for place, name in enumerate(group_by) if place not in places]
    changes["group_by"] = ",".join(left) or _below(group_by[places[0]], reading)
    return _address(reading.with_texts(**changes))


def _below(name: str, reading: CubeReading) -> str:
    below = NEXT.get(name, "team")
    return "pool" if below in reading.question.filters else below


def _through(name: str, first: date) -> date:
    """The day after a day, week or month."""
    if name == "month":
        return next_month(first)
    return first + timedelta(days=7 if name == "week" else 1)


def _rows_href(reading: CubeReading, names: CubeNames, row: CubeRow) -> str:
    """A page of the rows behind the group, else the group by itself."""
    for name, key in zip(reading.question.group_by, row.keys, strict=True):
        if name in PAGES and isinstance(key.value, int):
            window = {"window": reading.texts["window"]}
            return f"{reverse(PAGES[name], args=[key.value])}?{urlencode(window)}"
    return _narrowed(reading, names, row, tuple(range(len(row.keys)))) if row.keys else ""


def _causes(
    found: CostVariance, answer: CubeAnswer, reading: CubeReading, context: Context
) -> LineChart | None:
    """The amounts as shown add up to the cent."""
    currency, against = context.currency, answer.question.against
    if against is None:
        return None
    amounts = bridged(
        found.before_micros, list(found.causes.values()), found.after_micros, currency
    )
    rows = _cause_rows(dict(zip(found.causes, amounts, strict=True)))
    unpriced = [gpu_hours(ms) for ms in found.unpriced_milliseconds]
    beside = f"; without a price and in none of it: {unpriced[0]} h before, {unpriced[1]} h now"
    behind = CAUSES.section(rows, context)
    return LineChart(
        name="causes-chart",
        title="What made the difference",
        unit=f"{span(against)} to {span(answer.question.window)}, {currency}"
        f"{beside if any(found.unpriced_milliseconds) else ''}",
        figure=waterfall(
            ("Before", found.before_micros),
            [(row.name, row.micros) for row in rows],
            ("Now", found.after_micros),
            currency,
        ),
        behind=behind,
        csv_href=f"{reverse('explorer-causes')}?{urlencode(reading.with_texts())}",
    )


def _cause_rows(causes: Mapping[str, int]) -> list[CauseRow]:
    return [CauseRow(*CAUSE_WORDS[name], causes[name]) for name in CAUSE_WORDS]


def _finding(answer: CubeAnswer, rows: list[ExploredRow], within: str, currency: str) -> str:
    whole, before = answer.total.sums.micros, answer.total.before
    if whole is None:
        return (
            f"Nothing was charged {within}" if not rows else f"What it cost {within} is not known"
        )
    said = whole_amount(whole, currency)
    if before is not None and answer.question.against is not None:
        moved = "" if before.micros is None else change(whole, before.micros)
        then = span(answer.question.against)
        return f"Costs were {said} {within}{f', {moved} against {then}' if moved else ''}"
    named = [
        row for row in rows if row.sums.micros is not None and row.narrowed and row.narrowed[0]
    ]
    if len(named) < 2:
        return f"Costs were {said} {within}"
    first = max(named, key=lambda row: row.sums.micros or 0)
    name = first.names[0]
    if answer.question.group_by[0] in KEYED:
        name = name.replace("_", " ").capitalize()
    return f"{name} cost the most {within}: {whole_amount(first.sums.micros, currency)} of {said}"


def _under(
    answer: CubeAnswer, known: ledger.CostStanding, days: str, context: Context
) -> tuple[str, ...]:
    basis = next(word.label for word in BASES if word.key == answer.question.basis)
    labels = [dimensions()[name].label.lower() for name in answer.of_today]
    words = [f"{days}, {basis.lower()} cost in {context.currency}"]
    if answer.question.against is not None:
        words.append(f"against {span(answer.question.against)}")
    if labels:
        words.append(f"{' and '.join(labels)} as of today, in closed months too")
    if known.pending_hours:
        words.append(f"{counted(known.pending_hours, 'hour', 'hours')} still to be settled")
    return tuple(words)


def _filters(reading: CubeReading, context: Context) -> tuple[Filter, ...]:
    texts, known = reading.texts, dimensions()
    groups = {name: each.label for name, each in known.items()}
    chosen = [*texts["group_by"].split(","), ""][:2]
    bar = [
        period_filter(texts, period_words(reading.question.window, context.calendar.today)),
        _group_filter("Group by", groups, chosen[0]),
        _group_filter("and by", {"": "Nothing else", **groups}, chosen[1]),
        filter_of("compare", "Compare with", _comparisons(texts), texts),
    ]
    for name in [*LISTED, *(name for name in known if name not in LISTED and name in texts)]:
        choices = _choices(name, texts.get(name, ""), context)
        if len(choices) > 2 or texts.get(name):
            bar.append(filter_of(name, known[name].label, choices, {name: texts.get(name, "")}))
    bar.append(filter_of("basis", "Cost", {word.key: word.label for word in BASES}, texts))
    bar.append(filter_of("cost", "Idle and shared", LOADINGS, texts))
    return tuple(bar)


def _group_filter(label: str, choices: Mapping[str, str], chosen: str) -> Filter:
    return Filter(
        "group_by",
        label,
        tuple(Choice(value, text, value == chosen) for value, text in choices.items()),
    )


def _comparisons(texts: Mapping[str, str]) -> dict[str, str]:
    choices = {"": "Nothing", "before": "The days before", "lastmonth": "Last month"}
    return choices | (
        {texts["compare"]: texts["compare"]} if texts["compare"] not in choices else {}
    )


def _choices(name: str, chosen: str, context: Context) -> dict[str, str]:
    """All of it, each name that there is (up to 200), and what the address asks for."""
    found = named_keys(name, context.viewer) if name in LISTED else None
    names = sorted(found or ())[:MOST_CHOICES]
    words = {
        filter_word(text): text.replace("_", " ").capitalize() if name in KEYED else text
        for text in names
    }
    return {"": "All", **words} | (
        {chosen: unquote(chosen)} if chosen not in words and chosen else {}
    )


def _nothing(reading: CubeReading) -> EmptyState:
    longer = Link("Show the last 90 days", _address(reading.with_texts(window="90d")))
    steps = [Step("There may be costs in a longer period.", link=longer)]
    if reading.question.filters:
        whole = _address({"window": reading.texts["window"]})
        steps.append(
            Step("Without filters there may be more.", link=Link("Show everything", whole))
        )
    return EmptyState("Nothing to show", "No charge matches what was asked for.", tuple(steps))


urlpatterns = [
    path("costs/explore", explorer, name="explorer"),
    path("costs/explore.csv", explorer_csv, name="explorer-csv"),
    path("costs/explore/causes.csv", causes_csv, name="explorer-causes"),
]
