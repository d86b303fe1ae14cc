"""Fleet moves: what to run elsewhere this week, and one move with everything that it is from."""

from collections.abc import Iterator, Sequence
from datetime import date

from django.urls import path, reverse

from apps.accounts.queries import teams
from apps.console.kit.chart import Figure, FigureRow
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.filters import Reading, filter_of
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, FactList, files_page, shown
from apps.console.kit.request import EVERYONE, Context, value_or_404
from apps.console.pages.placement import move_words as words
from apps.console.pages.placement.move_tables import (
    CLOSED,
    EVIDENCE,
    HISTORY,
    MOVES,
    NOT_MOVED,
    ClosedRow,
    EvidenceRow,
    MoveRow,
    history_rows,
    unmoved_counts,
)
from apps.console.pages.pool_links import pool_href
from apps.fleet.queries import pools
from apps.placement.queries.fleet_moves import (
    MoveDetectionRunFact,
    OpenFleetMove,
    closed_fleet_moves,
    move_detection_runs,
    moves_of_week,
    weeks_of_move,
)
from apps.placement.queries.moves.proposal import ProposalEvidence
from apps.show.amounts import counted
from apps.show.money import rounded_amount

MOST_WEEKS = 60


@shown(EVERYONE, "fleet-moves")
def fleet_moves_page(context: Context) -> ConsolePage:
    """Show what a week's look at fleet moves proposes, and why the rest is no proposal."""
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
    rows, closed = _move_rows(context, review), _closed_rows(context)
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
        actions=(Link("Recommendations of all kinds", reverse("recommendations")),),
        filters=(filter_of("week", "Week of", weeks, reading.texts),),
        problems=tuple(reading.problems),
        notes=()
        if sees_all
        else ("Of your teams' workloads; commitments are the organisation's.",),
        sections=(
            FigureRow(_key_figures(rows, review, context)) if rows and sees_all else None,
            MOVES.section(rows, context, csv=files[MOVES.name], empty=_nothing_words(review)),
            NOT_MOVED.section(counts, context, csv=files[NOT_MOVED.name]) if counts else None,
            CLOSED.section(closed, context, csv=files[CLOSED.name]) if closed else None,
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


@shown(EVERYONE, "fleet-moves")
def fleet_move_page(context: Context, move_id: int) -> ConsolePage:
    """One move as it was last proposed, with its evidence and its weeks."""
    weeks = history_rows(weeks_of_move(move_id, context.seen_teams))
    move = value_or_404(weeks[0] if weeks else None)
    currency = context.currency
    doubts = "; ".join(move.doubts) or "nothing stands against it"
    interruptions = (
        None
        if move.interruptions_per_month is None
        else f"{move.interruptions_per_month:,.1f} a month, {move.restart_hours_per_month or 0:,.1f} h lost to them"
    )
    facts = [
        ("Moves from", move.source),
        ("Moves to", move.target),
        ("Why", move.why),
        ("Disruption", f"{words.DISRUPTIONS[move.disruption].label}: {move.disruption_reason}"),
        ("Interruptions", interruptions),
        ("Moving costs once", words.once_words(move, currency)),
        ("Confidence", f"{words.CONFIDENCE[move.confidence]}: {doubts}"),
        ("Added up", _counted_words(move)),
    ]
    return ConsolePage(
        context=context,
        finding=f"{move.subject}: {words.saving_words(move, currency)} a month less",
        under=(
            f"{words.KINDS[move.kind]}, as of the week of {move.week:%-d %B %Y}",
            f"proposed in {counted(move.weeks_proposed, 'week')} since {move.opened_week:%-d %B %Y}",
        ),
        back=Link("All moves", reverse("fleet-moves")),
        sections=(
            FigureRow(_move_figures(move, currency)),
            FactList([(name, text) for name, text in facts if text is not None]),
            EVIDENCE.section(_evidence_rows(move, context), context),
            HISTORY.section(weeks, context, csv_name=f"fleet-move-{move_id}"),
        ),
    )


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
    return [MoveRow(move, names.get(move.team_id or 0)) for move in moves]


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
            f"a month; the ends add up to {low} and {high}",
        ),
        Figure(
            "Paid by the hour",
            rounded_amount(review.addressable_micros, currency),
            "a month: no more can be saved",
        ),
        Figure("Moves", str(len(rows)), f"{len(counted_moves)} of them added up"),
    )


def _move_figures(move: OpenFleetMove, currency: str) -> tuple[Figure, ...]:
    payback = words.payback_words(move.payback_months)
    return (
        Figure(
            "Saves a month",
            rounded_amount(move.saving.likely, currency),
            "half of the cases are above",
        ),
        Figure("Range, p10 to p90", words.saving_words(move, currency), "a month"),
        Figure(
            "Spent there",
            rounded_amount(move.spend_micros, currency),
            "a month, paid by the hour",
        ),
        Figure(
            "Pays back in",
            payback or "–",
            "nobody said what an engineer's hour costs"
            if move.effort_micros is None
            else "engineers included",
        ),
    )


def _counted_words(move: OpenFleetMove) -> str:
    if move.is_counted:
        return "Yes: no other move that is added up is for the same dollars"
    return "No: another move for the same dollars is worth more"


def _evidence_rows(move: OpenFleetMove, context: Context) -> list[EvidenceRow]:
    names = {str(pool.id): pool.name for pool in pools().values()}
    return [
        EvidenceRow(evidence, _evidence_href(evidence, names, context))
        for evidence in move.evidence
    ]


def _evidence_href(evidence: ProposalEvidence, pool_names: dict[str, str], context: Context) -> str:
    """Where it stands, for who may open that."""
    if evidence.kind == "pool" and evidence.ref in pool_names:
        return pool_href(pool_names[evidence.ref])
    if evidence.kind == "interruptions" and context.seen_teams is None:
        return reverse("spot-evidence")
    return evidence.link


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
    path("placement/moves", fleet_moves_page, name="fleet-moves"),
    path("placement/moves/<int:move_id>", fleet_move_page, name="fleet-move"),
]
