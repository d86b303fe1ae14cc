"""Weekly looks at the fleet with the moves that they proposed, and the former addresses of fleet moves."""

from collections.abc import Iterator, Sequence
from datetime import date

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import path, reverse

from apps.accounts.queries import teams
from apps.console.kit.chart import Figure, FigureRow
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.filters import Reading, filter_of
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, files_page, shown
from apps.console.kit.request import EVERYONE, Context, value_or_404
from apps.console.pages.recommendations import look_words as words
from apps.console.pages.recommendations.look_tables import (
    CLOSED,
    HISTORY,
    MOVES,
    NOT_MOVED,
    ClosedRow,
    MoveRow,
    history_rows,
    unmoved_counts,
)
from apps.console.pages.recommendations.tables import RECOMMENDATIONS
from apps.console.pages.recommendations.words import MOVES_KIND
from apps.placement.queries.fleet_moves import (
    MoveDetectionRunFact,
    OpenFleetMove,
    closed_fleet_moves,
    key_of_move,
    move_detection_runs,
    moves_of_week,
    weeks_of_move,
)
from apps.review.queries.recommendations import ids_of_matters
from apps.show.money import rounded_amount

MOST_WEEKS = 60
FORMER_ORDERS = {
    "subject": "title",
    "likely": "likely",
    "from": "from",
    "to": "to",
    "confidence": "confidence",
    "disruption": "risk",
    "team": "team",
    "since": "-age",
}
"""By which column of the list of recommendations is ordered what the list of moves was ordered by."""


@shown(EVERYONE, "recommendations")
def fleet_looks_page(context: Context) -> ConsolePage:
    """Show what a week's look at the fleet proposed, and why the rest was no proposal."""
    reviews = move_detection_runs()
    if context.csv_table is not None:
        return files_page(context, *_files_of(context, reviews), main=MOVES.name)
    if not reviews:
        return ConsolePage(
            context=context, finding="No week was looked at yet", empty=_no_detection_run_state()
        )
    reviews = reviews[:MOST_WEEKS]
    files = {file.table: file for file in _files_of(context, reviews)}
    review, reading = _requested_detection_run(context, reviews)
    rows = _move_rows(context, review)
    sees_all = context.seen_teams is None
    counts = list(unmoved_counts(review)) if sees_all else []
    weeks = {"": "The newest"} | {
        move_look.week.isoformat(): f"{move_look.week:%-d %b %Y}" for move_look in reviews
    }
    return ConsolePage(
        context=context,
        finding=words.moves_finding(
            [row.move for row in rows], context.currency, sees_all=sees_all
        ),
        under=words.describe_detection_run(review),
        back=Link("Fleet moves", f"{reverse('recommendations')}?kind={MOVES_KIND}"),
        filters=(filter_of("week", "Week of", weeks, reading.texts),),
        problems=tuple(reading.problems),
        notes=()
        if sees_all
        else ("Of your teams' workloads; commitments are the organisation's.",),
        sections=(
            FigureRow(_key_figures(rows, review, context)) if rows and sees_all else None,
            MOVES.section(rows, context, csv=files[MOVES.name], empty=_nothing_words(review)),
            NOT_MOVED.section(counts, context, csv=files[NOT_MOVED.name]) if counts else None,
        ),
    )


def _files_of(context: Context, reviews: Sequence[MoveDetectionRunFact]) -> Iterator[CsvFile]:
    """The moves of the week and those that are proposed no more; what is no proposal, for who sees everything."""

    def requested() -> MoveDetectionRunFact:
        return _requested_detection_run(context, reviews)[0]

    yield MOVES.file(
        "fleet-moves", context, lambda: _move_rows(context, requested()) if reviews else []
    )
    yield CLOSED.file("closed-moves", context, lambda: _closed_rows(context))
    if context.seen_teams is None:
        yield NOT_MOVED.file(
            "not-moved", context, lambda: unmoved_counts(requested()) if reviews else ()
        )


@shown(EVERYONE, "recommendations")
def former_moves_page(context: Context) -> ConsolePage | HttpResponse:
    """Lead on to the recommendations that are fleet moves; of a week that is named, to that week's look.

    The tables of a look stay at the former address too.
    """
    if context.csv_table is not None:
        return files_page(context, *_files_of(context, move_detection_runs()), main=MOVES.name)
    params = context.query.copy()
    if params.get("week"):
        return HttpResponseRedirect(f"{reverse('fleet-looks')}?{params.urlencode()}")
    params.pop("week", None)
    order, part = params.pop(MOVES.sort, [""])[-1], params.pop(f"{MOVES.sort}-page", [""])[-1]
    if new_order := _order_of_former(order):
        params[RECOMMENDATIONS.sort] = new_order
    if part:
        params[f"{RECOMMENDATIONS.sort}-page"] = part
    params["kind"] = MOVES_KIND
    return HttpResponseRedirect(f"{reverse('recommendations')}?{params.urlencode()}")


def _order_of_former(order: str) -> str:
    """Return the order of the list of recommendations; empty where it has no such column."""
    new_order = FORMER_ORDERS.get(order.removeprefix("-"), "")
    if order.startswith("-") and new_order:
        return new_order.removeprefix("-") if new_order.startswith("-") else f"-{new_order}"
    return new_order


@shown(EVERYONE, "recommendations")
def former_move_page(context: Context, move_id: int) -> ConsolePage | HttpResponse:
    """Lead on to the recommendation of a move; to the look that proposes it where recommendations are not looked for yet.

    The weeks of a move stay at the former address too.
    """
    move = _last_week_or_404(context, move_id)
    if context.csv_table is not None:
        weeks = history_rows(weeks_of_move(move.key, context.seen_teams))
        return files_page(context, HISTORY.file(f"fleet-move-{move_id}", context, lambda: weeks))
    recommendation_id = ids_of_matters({move.key}).get(move.key)
    if recommendation_id is not None:
        return HttpResponseRedirect(reverse("recommendation", args=[recommendation_id]))
    return HttpResponseRedirect(f"{reverse('fleet-looks')}?week={move.week.isoformat()}")


def _last_week_or_404(context: Context, move_id: int) -> OpenFleetMove:
    """Return a move as it was last proposed; another team's is as if it were not there."""
    key = value_or_404(key_of_move(move_id))
    weeks = weeks_of_move(key, context.seen_teams)
    return value_or_404(weeks[-1] if weeks else None)


def _requested_detection_run(
    context: Context, reviews: Sequence[MoveDetectionRunFact]
) -> tuple[MoveDetectionRunFact, Reading]:
    """The look of the week that the address names, else the newest."""
    by_week = {look_fact.week: look_fact for look_fact in reviews}
    reading = Reading(context.query, {"week": ""}, {"week": "the newest"})

    def look_of(text: str) -> MoveDetectionRunFact:
        if not text:
            return reviews[0]
        week = date.fromisoformat(text)
        if week not in by_week:
            raise ValueError(f"there is no look of the week of {text}")
        return by_week[week]

    return reading.read("week", look_of), reading


def _move_rows(context: Context, review: MoveDetectionRunFact) -> list[MoveRow]:
    names = {team.id: team.name for team in teams()}
    moves = moves_of_week(review.week, context.seen_teams)
    ids = ids_of_matters({move.key for move in moves})
    return [MoveRow(move, names.get(move.team_id or 0), ids.get(move.key)) for move in moves]


def _closed_rows(context: Context) -> list[ClosedRow]:
    names = {team.id: team.name for team in teams()}
    moves = closed_fleet_moves(context.seen_teams)
    return [ClosedRow(move, names.get(move.team_id or 0)) for move in moves]


def _key_figures(
    rows: Sequence[MoveRow], review: MoveDetectionRunFact, context: Context
) -> tuple[Figure, ...]:
    counted_moves = [row.move for row in rows if row.move.is_counted]
    currency = context.currency
    low, high = (
        rounded_amount(sum(end), currency)
        for end in (
            [move.saving.low for move in counted_moves],
            [move.saving.high for move in counted_moves],
        )
    )
    return (
        Figure(
            "Counted savings",
            rounded_amount(review.counted_micros, currency),
            f"a month {words.BEFORE_OVERLAPS}; the ends add up to {low} and {high}",
        ),
        Figure(
            "Paid by the hour",
            rounded_amount(review.addressable_micros, currency),
            "a month: the most that moves can save",
        ),
        Figure("Moves", str(len(rows)), f"{len(counted_moves)} in the total"),
    )


def _nothing_words(review: MoveDetectionRunFact) -> str:
    if not review.weeks:
        return "The ledger had no whole week yet: with one, the next week is looked at."
    return "Nothing that was looked at is worth moving."


def _no_detection_run_state() -> EmptyState:
    return EmptyState(
        "What could run elsewhere, and what that would save",
        "Once a week the work of the last four weeks is held against spot, commitments, other places and APIs.",
        (
            Step(
                "Have nodes and jobs on record for a whole week, with prices.",
                link=Link("Nodes and GPUs", reverse("fleet")),
            ),
            Step("Runrate looks once a week, six hours after its first midnight."),
        ),
    )


urlpatterns = [
    path("recommendations/fleet-looks", fleet_looks_page, name="fleet-looks"),
    path("placement/moves", former_moves_page, name="fleet-moves"),
    path("placement/moves/<int:move_id>", former_move_page, name="fleet-move"),
]
