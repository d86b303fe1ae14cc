"""Tables of the looks at the fleet: what was proposed, what was not and why, and a move week by week."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.urls import reverse

from apps.console.kit.cells import COUNT, DAY, FIGURE, MONEY, PROSE, WHOLE_MONEY
from apps.console.kit.table import Table
from apps.console.pages.recommendations import look_words as words
from apps.placement.queries.fleet_moves import ClosedFleetMove, MoveDetectionRunFact, OpenFleetMove
from apps.show.unknown import UNKNOWN as NOT_KNOWN
from apps.tables.column import CURRENCY_COLUMN, Column


@dataclass(frozen=True, slots=True)
class MoveRow:
    """A move, whose it is, and the recommendation that it is; None where recommendations were not looked for since."""

    move: OpenFleetMove
    team: str | None
    recommendation_id: int | None

    @property
    def href(self) -> str:
        """The page of its recommendation; empty without one."""
        return (
            reverse("recommendation", args=[self.recommendation_id])
            if self.recommendation_id
            else ""
        )


@dataclass(frozen=True, slots=True)
class UnmovedCount:
    """Candidates of a kind that are no proposal for one reason; without a reason, those that are."""

    kind: str
    why: str
    count: int
    seen: int


@dataclass(frozen=True, slots=True)
class ClosedRow:
    """A matter that is closed and whose it was."""

    move: ClosedFleetMove
    team: str | None


def unmoved_counts(review: MoveDetectionRunFact) -> Iterator[UnmovedCount]:
    """Kind by kind, proposals first, then the reasons by how many."""
    for kind in review.kinds:
        name = words.KINDS[kind["kind"]]
        yield UnmovedCount(name, "Proposed", kind["proposed"], kind["seen"])
        for reason in kind["reasons"]:
            why = reason["why"][:1].upper() + reason["why"][1:]
            yield UnmovedCount(name, why, reason["count"], kind["seen"])


def _disruption_cell(row: MoveRow) -> str:
    return words.DISRUPTIONS[row.move.disruption].label


MOVES = Table[MoveRow](
    "moves",
    "Proposed moves",
    (
        Column("subject", "What", lambda row: row.move.subject, PROSE,
               href=lambda row: row.href,
               note=lambda row: words.KINDS[row.move.kind]),
        Column("likely", "Saves a month", lambda row: row.move.saving.likely, WHOLE_MONEY, csv="saving_likely",
               note=lambda row: "" if row.move.is_counted else "De-duplicated: overlaps with another"),
        Column("range", "p10 to p90", lambda row: row.move.saving.high, FIGURE, csv="",
               shown=lambda row, locale: words.saving_words(row.move, locale.currency), sorts=False),
        Column("from", "From", lambda row: row.move.source, PROSE, csv="moves_from"),
        Column("to", "To", lambda row: row.move.target, PROSE, csv="moves_to"),
        Column("disruption", "Disruption", _disruption_cell,
               order=lambda row: list(words.DISRUPTIONS).index(row.move.disruption)),
        Column("confidence", "Confidence", lambda row: words.CONFIDENCE[row.move.confidence],
               order=lambda row: list(words.CONFIDENCE).index(row.move.confidence)),
        Column("once", "One-time cost", lambda row: row.move.one_time_micros, FIGURE, csv="",
               shown=lambda row, locale: words.once_words(row.move, row.move.effort_hours, locale.currency)),
        Column("spend", "Spent there a month", lambda row: row.move.spend_micros, WHOLE_MONEY),
        Column("team", "Team", lambda row: row.team, missing="–"),
        Column("since", "Proposed since", lambda row: row.move.opened_week, DAY, csv="opened_week"),
        Column("kind", "", lambda row: row.move.kind),
        Column("low", "", lambda row: row.move.saving.low, MONEY, csv="saving_low"),
        Column("high", "", lambda row: row.move.saving.high, MONEY, csv="saving_high"),
        CURRENCY_COLUMN,
        Column("one_time", "", lambda row: row.move.one_time_micros, MONEY),
        Column("effort", "", lambda row: row.move.effort_hours, COUNT, csv="effort_hours"),
        Column("payback", "", lambda row: row.move.payback_months, csv="payback_months"),
        Column("reason", "", lambda row: row.move.disruption_reason, csv="disruption_reason"),
        Column("why", "", lambda row: row.move.why),
        Column("doubts", "", lambda row: "; ".join(row.move.doubts)),
        Column("group", "", lambda row: row.move.exclusive_group, COUNT, csv="exclusive_group"),
        Column("counted", "", lambda row: str(row.move.is_counted).lower(), csv="is_counted"),
        Column("key", "", lambda row: row.move.key),
        Column("week", "", lambda row: row.move.week, DAY),
    ),
    noun=("move", "moves"),
    about="{said}, worth most first: the saving net of moving, less what disruption takes off",
    sort="moves-by",
    csv_first=("week", "key"),
)  # fmt: skip

NOT_MOVED = Table[UnmovedCount](
    "not-moved",
    "Checks run",
    (
        Column("kind", "Kind", lambda row: row.kind),
        Column("why", "Why", lambda row: row.why, PROSE),
        Column("count", "Candidates", lambda row: row.count, COUNT),
        Column("seen", "Of", lambda row: row.seen, COUNT, csv="seen"),
    ),
    noun=("reason", "reasons"),
    about="a candidate is a workload on a pool, a family of GPUs that is rented, or a kept comparison with an API",
)

CLOSED = Table[ClosedRow](
    "closed",
    "Closed",
    (
        Column("subject", "", lambda row: row.move.subject),
        Column("to", "", lambda row: row.move.target, csv="moves_to"),
        Column("week", "", lambda row: row.move.closed_week, DAY, csv="closed_week"),
        Column("reason", "", lambda row: row.move.closed_reason, csv="closed_reason"),
        Column("team", "", lambda row: row.team),
        Column("since", "", lambda row: row.move.opened_week, DAY, csv="opened_week"),
        Column("key", "", lambda row: row.move.key),
    ),
    sort="closed-by",
)


def history_rows(moves: Sequence[OpenFleetMove]) -> list[OpenFleetMove]:
    """The weeks of a matter, the newest first."""
    return sorted(moves, key=lambda move: move.week, reverse=True)


HISTORY = Table[OpenFleetMove](
    "weeks",
    "Week by week",
    (
        Column("week", "Week of", lambda move: move.week, DAY),
        Column("likely", "Saves a month", lambda move: move.saving.likely, WHOLE_MONEY, csv="saving_likely"),
        Column("range", "p10 to p90", lambda move: move.saving.high, FIGURE, csv="",
               shown=lambda move, locale: words.saving_words(move, locale.currency)),
        Column("to", "To", lambda move: move.target, PROSE, csv="moves_to"),
        Column("confidence", "Confidence", lambda move: words.CONFIDENCE[move.confidence]),
        Column("payback", "Payback period", lambda move: words.payback_words(move.payback_months), missing=NOT_KNOWN),
        Column("low", "", lambda move: move.saving.low, MONEY, csv="saving_low"),
        Column("high", "", lambda move: move.saving.high, MONEY, csv="saving_high"),
        CURRENCY_COLUMN,
    ),
    noun=("week", "weeks"),
    about="{said} in which it was proposed",
)  # fmt: skip
