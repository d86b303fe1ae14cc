"""The pages of placement: try a job by hand, the quotes that were kept, and one of them."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from django.urls import path, reverse

from apps.accounts.queries.paging import PageRequest
from apps.console.kit.chart import Figure, FigureRow, LineChart, figure_or_unknown
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.gates import gate_list, gate_notes
from apps.console.kit.page import ConsolePage, FactList, SideBySide, SwappedPart, shown
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.pages.placement import words
from apps.console.pages.placement.tables import CALIBRATION, OFFERS, QUOTES
from apps.console.pages.placement.tabs import placement_tabs
from apps.console.pages.placement.trying import JobForm, number_of, tried_job
from apps.economics.hours import HOUR
from apps.placement.queries.book import newest_book
from apps.placement.queries.quote_gates import gates_of_answer, gates_of_quote
from apps.placement.queries.quotes import QuoteFact, calibration, quote_if_stored, quote_page
from apps.show.amounts import counted, per_cent
from apps.show.finish_costs import FinishPoint, finish_costs
from apps.show.money import full_amount
from apps.show.time import day, instant

MOST_QUOTES = 500
MOST_EXPLAINED = 5


@shown(SEES_EVERYTHING, "placement")
def placement_page(context: Context) -> ConsolePage:
    """A job tried by hand against the newest offer book; nothing is kept."""
    book = newest_book()
    about: dict[str, Any] = {"context": context, "tabs": placement_tabs("placement")}
    no_offers = OFFERS.file("placement-offers", context, tuple)
    if book is None:
        return ConsolePage(
            finding="No offer book yet", empty=_no_book(), csv_files=(no_offers,), **about
        )
    form, answer = tried_job(context, book)
    asked_form = form.section(
        "job", reverse("placement"), "Find offers", title="The job", method="get",
        about="tried here, it is not kept; POST /api/v1/quotes keeps it",
        swaps=("picture-part", "answer-part"),
    )  # fmt: skip
    if answer is None:
        return ConsolePage(
            finding="The job cannot be understood", problems=form.problems,
            sections=(asked_form,), csv_files=(no_offers,), **about,
        )  # fmt: skip
    rows = _ranked_rows(answer["offers"])
    gates = gates_of_answer(answer, context.at)
    file = OFFERS.file("placement-offers", context, lambda: rows)
    picture = _finish_chart(rows, _deadline_of(form), context, file)
    offers = OFFERS.section(rows, context, csv=file)
    return ConsolePage(
        finding=words.answer_finding(answer, context.currency),
        under=(
            answer["work"],
            f"{counted(len(book.offers), 'offer')} of {instant(book.made_at, context.zone)}",
        ),
        problems=form.problems,
        notes=(*words.answer_notes(answer), *gate_notes(gates)),
        sections=(
            _answer_figures(answer, context),
            SideBySide(
                (SwappedPart("picture-part", tuple(filter(None, (picture, offers)))), asked_form),
                css="cols",
            ),
            SwappedPart(
                "answer-part",
                tuple(filter(None, (FactList(_reasons_of(rows)), gate_list(gates)))),
            ),
        ),
        **about,
    )


@shown(SEES_EVERYTHING, "placement")
def quotes_page(context: Context) -> ConsolePage:
    """Quotes that were kept, and how well they said what came."""
    quotes = quote_page(PageRequest(limit=MOST_QUOTES)).rows
    ended = [row for row in quotes if row.ended_at is not None]
    return ConsolePage(
        context=context,
        finding=f"{counted(len(ended), 'quoted job')} ended of {counted(len(quotes), 'quote')}"
        if quotes
        else "No quote was asked yet",
        under=(f"the newest {MOST_QUOTES}",) if len(quotes) == MOST_QUOTES else (),
        tabs=placement_tabs("quotes"),
        sections=(
            QUOTES.section(quotes, context, csv_name="quotes"),
            CALIBRATION.section(calibration(), context, csv_name="quote-calibration"),
        ),
        main_table=QUOTES.name,
    )


@shown(SEES_EVERYTHING, "placement")
def one_quote_page(context: Context, quote_id: int) -> ConsolePage:
    """A quote as it was answered, and what came of the offer that was taken."""
    fact = value_or_404(quote_if_stored(quote_id))
    rows, gates = _ranked_rows(fact.offers), gates_of_quote(fact)
    file = OFFERS.file(f"quote-{fact.id}", context, lambda: rows)
    picture = _finish_chart(rows, _quote_deadline(fact), context, file)
    return ConsolePage(
        context=context,
        finding=_quote_finding(fact, context),
        under=(words.job_words(fact), f"asked {instant(fact.asked_at, context.zone)}"),
        notes=(*words.answer_notes(fact.answer), *gate_notes(gates)),
        back=Link("All quotes", reverse("quotes")),
        actions=_taken_by(fact),
        sections=(
            _outcome_figures(fact, context) if fact.taken_at else None,
            picture,
            OFFERS.section(rows, context, csv=file),
            FactList(_reasons_of(rows)),
            gate_list(gates),
            FactList(_quote_facts(fact, context)),
        ),
    )


def _no_book() -> EmptyState:
    return EmptyState(
        "What can be had is not gathered yet",
        "What GPU time can be had is gathered every hour, by a worker: from pools, commitments and prices. A job is then"
        " held against each: what it would cost there, and when it would be done.",
        steps=(
            Step(
                "What machines cost, on demand and on spot", link=Link("Prices", reverse("prices"))
            ),
            Step(
                "What is bought ahead, and idle at times",
                link=Link("Commitments", reverse("commitments")),
            ),
        ),
    )


def _deadline_of(form: JobForm) -> float | None:
    return number_of(form.cleaned_data["deadline_hours"])


def _quote_deadline(fact: QuoteFact) -> float | None:
    deadline = fact.job["deadline"]
    return None if deadline is None else (datetime.fromisoformat(deadline) - fact.asked_at) / HOUR


def _ranked_rows(offers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{**offer, "rank": place} for place, offer in enumerate(offers, 1)]


def _finish_chart(
    rows: Sequence[Mapping[str, Any]], deadline: float | None, context: Context, file: CsvFile
) -> LineChart | None:
    points = [
        FinishPoint(
            row["name"],
            words.WAYS[row["option"]],
            row["finish_hours"],
            row["cost_micros"]["likely"],
            row["cost_micros"]["low"],
            row["cost_micros"]["high"],
        )
        for row in rows
        if row["cost_micros"] is not None and row["finish_hours"] is not None
    ]
    if not points:
        return None
    missing = len(rows) - len(points)
    left = (
        f"; {counted(missing, 'offer')} without a known cost or finish not drawn" if missing else ""
    )
    return LineChart(
        name="placement",
        title="Added cost against time until done",
        unit=f"{context.currency} the job adds, with its range, by hours from the asking{left}",
        figure=finish_costs(points, deadline, context.currency),
        csv=file,
        anchor="picture",
        sides=tuple(dict.fromkeys(point.way for point in points)),
    )


def _answer_figures(answer: Mapping[str, Any], context: Context) -> FigureRow:
    first = answer["offers"][0] if answer["offers"] else None
    cost = first and first["cost_micros"]
    in_time = sum(offer["standing"] == "meets" for offer in answer["offers"])
    chance = first["deadline_chance"] if first else None
    figures = [
        figure_or_unknown(
            "Least added cost",
            full_amount(cost["likely"], context.currency) if cost else None,
            first["name"] if first else "no offer can take it",
        ),
        figure_or_unknown(
            "The ledger will charge for it",
            full_amount(first["charged_micros"], context.currency)
            if first and first["charged_micros"] is not None
            else None,
            "also where the GPUs are paid anyway",
        ),
        figure_or_unknown(
            "Chance of the deadline", None if chance is None else per_cent(chance), "of that offer"
        ),
        Figure("Offers in time", str(in_time), f"of {answer['matched']} that can take it"),
    ]
    figures += [_budget_figure(budget, context) for budget in answer["budgets"]]
    return FigureRow(tuple(figures))


def _budget_figure(budget: Mapping[str, Any], context: Context) -> Figure:
    left = budget["left"]
    left_text = None
    if left is not None and budget["measure"] == "money":
        left_text = full_amount(left, context.currency)
    elif left is not None:
        left_text = f"{left / 3_600_000:,.0f} GPU-hours"
    last_day = date.fromisoformat(budget["end_day"]) - timedelta(days=1)
    return figure_or_unknown(
        f"Left of {budget['name']}", left_text, f"as expected, until {day(last_day)}"
    )


def _taken_by(fact: QuoteFact) -> tuple[Link, ...]:
    """Where the job or the run that took it is looked at."""
    if fact.taken_by_job_id is not None:
        return (Link("The job", reverse("costs-job", args=[fact.taken_by_job_id])),)
    if fact.taken_by_run_id is not None:
        return (Link("The run", reverse("run", args=[fact.taken_by_run_id])),)
    return ()


def _quote_finding(fact: QuoteFact, context: Context) -> str:
    offer = fact.taken_offer
    if offer is None:
        return words.answer_finding(fact.answer, context.currency)
    if fact.actual_micros is None or offer["charged_micros"] is None:
        ended = "and what it came to is not known yet" if fact.ended_at is None else "and ended"
        return f"{offer['name']} was taken, {ended}"
    actual = full_amount(fact.actual_micros, context.currency)
    predicted = full_amount(offer["charged_micros"], context.currency)
    return f"The job on {offer['name']} came to {actual}; {predicted} was predicted"


def _outcome_figures(fact: QuoteFact, context: Context) -> FigureRow:
    offer = fact.taken_offer or {}
    currency = context.currency
    predicted, hours = offer.get("charged_micros"), offer.get("finish_hours")
    return FigureRow(
        (
            figure_or_unknown(
                "Actual cost",
                None if fact.actual_micros is None else full_amount(fact.actual_micros, currency),
                "predicted "
                + ("is not known" if predicted is None else full_amount(predicted, currency)),
            ),
            figure_or_unknown(
                "Actual time",
                words.hours_words(fact.actual_hours),
                f"predicted {words.hours_words(hours) or 'is not known'}",
            ),
            figure_or_unknown(
                "Interruptions",
                None if fact.actual_interruptions is None else str(fact.actual_interruptions),
                "predicted is not known"
                if offer.get("interruptions") is None
                else f"predicted {offer['interruptions']:.1f}",
            ),
            figure_or_unknown(
                "Actual GPU-hours",
                None if fact.actual_gpu_hours is None else f"{fact.actual_gpu_hours:,.1f}",
                "predicted "
                + (
                    "is not known"
                    if offer.get("gpu_hours") is None
                    else f"{offer['gpu_hours']:,.1f}"
                ),
            ),
        )
    )


def _reasons_of(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    """Why the first offers are as they are."""
    return tuple(
        (
            f"{row['rank']}. {row['name']}",
            "; ".join([*row["reasons"], *row["cautions"]]) or "at its price",
        )
        for row in rows[:MOST_EXPLAINED]
    )


def _quote_facts(fact: QuoteFact, context: Context) -> tuple[tuple[str, str], ...]:
    return (
        ("Asked by", fact.asked_by or "a token"),
        ("Team", fact.team or "none said"),
        (
            "Offer book",
            f"of {instant(datetime.fromisoformat(fact.answer['book_made_at']), context.zone)}, digest {fact.book_digest[:12]}",
        ),
        ("Digest of all inputs", fact.digest),
        ("Taken", instant(fact.taken_at, context.zone) if fact.taken_at else "no"),
    )


urlpatterns = [
    path("placement", placement_page, name="placement"),
    path("placement/quotes", quotes_page, name="quotes"),
    path("placement/quotes/<int:quote_id>", one_quote_page, name="quote"),
]
