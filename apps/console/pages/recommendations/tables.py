"""Tables of recommendations: all of them, what was looked at, what one is from, its steps and what came of it."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import date

from django.urls import reverse

from apps.console.kit.cells import COUNT, DAY, FIGURE, INSTANT, MONEY, PROSE, WHOLE_MONEY
from apps.console.kit.table import Table
from apps.console.pages.recommendations import words
from apps.console.pages.recommendations.look_words import CONFIDENCE
from apps.review.queries.measurements import STATUS_WORDS, SavingMeasurementFact
from apps.review.queries.recommendation_evidence import RecommendationEvidence
from apps.review.queries.recommendations import (
    STATE_WORDS,
    VERB_WORDS,
    RecommendationDetectionRunFact,
    RecommendationFact,
    RecommendationStepFact,
    SettledSaving,
)
from apps.review.queries.recommending.proposal import ASSUMED
from apps.show.amounts import counted
from apps.tables.column import CURRENCY_COLUMN, Column


@dataclass(frozen=True, slots=True)
class RecommendationRow:
    """A recommendation, whose it is and who sees to it, as of a day."""

    fact: RecommendationFact
    team: str | None
    owner: str | None
    today: date


@dataclass(frozen=True, slots=True)
class ExaminedCount:
    """So many of what a kind looked at that are no proposal for one reason; without a reason, those that are."""

    kind: str
    what: str
    why: str
    count: int
    looked_at: int


def examined_counts(
    review: RecommendationDetectionRunFact, kinds: Collection[str] = ()
) -> Iterator[ExaminedCount]:
    """Kind by kind, proposals first, then the reasons by how many; of these kinds alone, where any is named."""
    for kind in review.kinds:
        if kinds and kind["kind"] not in kinds:
            continue
        name, what, examined = (
            words.kind_label(kind["kind"]),
            kind["looked_at_words"],
            kind["looked_at"],
        )
        if kind["not_looked"]:
            why = f"Not looked at: {kind['not_looked']}"
            yield ExaminedCount(name, what, why, 0, 0)
            continue
        yield ExaminedCount(name, what, "Recommended", kind["proposed"], examined)
        for reason in kind["passed_over"]:
            why = reason["why"][:1].upper() + reason["why"][1:]
            yield ExaminedCount(name, what, why, reason["count"], examined)


def _saving_note(row: RecommendationRow) -> str:
    if row.fact.saving.high <= 0:
        return f"frees {row.fact.frees_gpu_hours or 0:,.0f} GPU-hours"
    is_to_be_done = row.fact.state in (words.OPEN, words.CLAIMED)
    is_left_out = is_to_be_done and not row.fact.is_counted
    if is_left_out and not row.fact.is_grouped:
        return "added up from the next weekly analysis on"
    return "De-duplicated: overlaps with another" if is_left_out else ""


def _state_note(row: RecommendationRow) -> str:
    """Who sees to it until when; else why it is so."""
    if row.owner and row.fact.due_on and row.fact.state == words.CLAIMED:
        return f"{row.owner}, until {row.fact.due_on:%-d %b %Y}"
    if row.fact.snoozed_until:
        return f"until {row.fact.snoozed_until:%-d %b %Y}"
    return row.fact.state_reason


RECOMMENDATIONS = Table[RecommendationRow](
    "list",
    "Recommendations",
    (
        Column("title", "What to do", lambda row: row.fact.title, PROSE,
               href=lambda row: reverse("recommendation", args=[row.fact.id]),
               note=lambda row: words.kind_label(row.fact.kind)),
        Column("likely", "Saves a month", lambda row: row.fact.saving.likely, WHOLE_MONEY, csv="saving_likely",
               note=_saving_note),
        Column("range", "p10 to p90", lambda row: row.fact.saving.high, FIGURE, csv="",
               shown=lambda row, locale: words.describe_range(row.fact.saving, locale.currency), sorts=False,
               note=lambda row: "assumed" if row.fact.range_basis == ASSUMED else ""),
        Column("risk", "Risk, effort", lambda row: words.RISKS[row.fact.risk].label, csv="risk",
               order=lambda row: list(words.RISKS).index(row.fact.risk), note=lambda row: f"{row.fact.effort_hours}\N{NO-BREAK SPACE}h"),
        Column("team", "Team", lambda row: row.team or words.ORGANISATION),
        Column("state", "State", lambda row: STATE_WORDS[row.fact.state], PROSE,
               note=_state_note,
               warns=lambda row: "past its due date" if words.is_overdue(row.fact, row.today) else False),
        Column("age", "Waiting", lambda row: words.age_weeks(row.fact, row.today), COUNT, csv="weeks_waiting",
               shown=lambda row, _: counted(words.age_weeks(row.fact, row.today), "week")),
        Column("effort", "", lambda row: row.fact.effort_hours, COUNT, csv="effort_hours"),
        Column("spend", "", lambda row: row.fact.spend_micros, MONEY),
        Column("low", "", lambda row: row.fact.saving.low, MONEY, csv="saving_low"),
        Column("high", "", lambda row: row.fact.saving.high, MONEY, csv="saving_high"),
        CURRENCY_COLUMN,
        Column("kind", "", lambda row: row.fact.kind),
        Column("owner", "", lambda row: row.owner),
        Column("due", "", lambda row: row.fact.due_on, DAY, csv="due_on"),
        Column("since", "", lambda row: row.fact.first_week, DAY, csv="first_week"),
        Column("why", "", lambda row: row.fact.why),
        Column("doubts", "", lambda row: "; ".join(row.fact.doubts)),
        Column("risk_reason", "", lambda row: row.fact.risk_reason),
        Column("frees", "", lambda row: row.fact.frees_gpu_hours, csv="frees_gpu_hours"),
        Column("basis", "", lambda row: row.fact.range_basis, csv="range_basis"),
        Column("group", "", lambda row: row.fact.exclusive_group, COUNT, csv="exclusive_group"),
        Column("counted", "", lambda row: str(row.fact.is_counted).lower(), csv="is_counted"),
        Column("matter", "", lambda row: row.fact.matter),
        Column("from", "", lambda row: row.fact.move and row.fact.move.source, PROSE, csv="moves_from"),
        Column("to", "", lambda row: row.fact.move and row.fact.move.target, PROSE, csv="moves_to"),
        Column("confidence", "", lambda row: row.fact.move and CONFIDENCE[row.fact.move.confidence],
               order=lambda row: row.fact.move and list(CONFIDENCE).index(row.fact.move.confidence)),
        Column("one_time", "", lambda row: row.fact.one_time_micros, MONEY),
        Column("payback", "", lambda row: row.fact.move and row.fact.move.payback_months, csv="payback_months"),
    ),
    noun=("recommendation", "recommendations"),
    about="{said}, worth most first: the saving net of moving and of what would return no more, less what risk takes off",
    sort="by",
    csv_first=("matter",),
)  # fmt: skip

MOVE_HEADINGS = {"from": "From", "to": "To", "confidence": "Confidence"}
OF_MOVES = replace(
    RECOMMENDATIONS,
    columns=tuple(
        replace(column, text=MOVE_HEADINGS.get(column.key, column.text))
        for column in RECOMMENDATIONS.columns
    ),
)
"""The same list where it is of fleet moves alone: from where to where stands on the page too."""

OF_WORK = replace(
    RECOMMENDATIONS,
    name="recommended",
    title="What to do about it",
    about="{said} of this work alone, open or claimed, whatever the period",
    sort="recommended",
)

LOOKED_AT = Table[ExaminedCount](
    "looked-at",
    "Checks run",
    (
        Column("kind", "Kind", lambda row: row.kind),
        Column("why", "Why", lambda row: row.why, PROSE),
        Column("count", "How many", lambda row: row.count, COUNT),
        Column("looked_at", "Of", lambda row: row.looked_at, COUNT, note=lambda row: row.what),
        Column("what", "", lambda row: row.what, csv="looked_at_what"),
    ),
    noun=("reason", "reasons"),
    about="nothing found says what was looked at",
)

EVIDENCE = Table[RecommendationEvidence](
    "evidence",
    "Evidence",
    (
        Column("what", "What", lambda row: row.label, PROSE, href=lambda row: row.link),
        Column("figure", "Figure", lambda row: row.figure, PROSE),
        Column("link", "", lambda row: row.link),
        Column("ref", "", lambda row: row.ref),
    ),
    noun=("source", "sources"),
    about="as it stood when it was proposed, and since a claim as it stood then",
)


def _reason_of_step(step: RecommendationStepFact) -> str | None:
    """Why it was done; None where it was closed and the reason was not kept."""
    return None if step.verb == "closed" and not step.why else step.why


STEPS = Table[RecommendationStepFact](
    "steps",
    "History",
    (
        Column("at", "When", lambda row: row.at, INSTANT),
        Column("step", "Step", lambda row: VERB_WORDS[row.verb]),
        Column("who", "By", lambda row: row.who or words.RUNRATE),
        Column("why", "Because", _reason_of_step, PROSE, missing="not recorded"),
    ),
    noun=("step", "steps"),
    about="{said}",
)

OUTCOMES = Table[SettledSaving](
    "outcomes",
    "Outcome",
    (
        Column("settled", "Measured", lambda row: row.settled_at, INSTANT, csv="settled_at"),
        Column("promised", "Promised a month", lambda row: row.promised.likely, WHOLE_MONEY,
               note=lambda row: "as it was at the claim"),
        Column("measured", "Measured a month", lambda row: row.measured.saving.likely, WHOLE_MONEY),
        Column("range", "From and to", lambda row: row.measured.saving.high, FIGURE, csv="",
               shown=lambda row, locale: words.describe_range(row.measured.saving, locale.currency), sorts=False),
        Column("verdict", "Verdict", lambda row: "verified" if row.is_verified else "failed",
               warns=lambda row: not row.is_verified),
        Column("would", "Would have cost", lambda row: row.measured.counterfactual_micros, WHOLE_MONEY, csv="would_have_cost",
               note=lambda row: row.measured.counterfactual),
        Column("did", "Did cost", lambda row: row.measured.spend_micros, WHOLE_MONEY, csv="did_cost"),
        Column("first", "", lambda row: row.measured.first_day, DAY, csv="first_day"),
        Column("last", "", lambda row: row.measured.last_day, DAY, csv="last_day"),
        Column("low", "", lambda row: row.measured.saving.low, MONEY, csv="measured_low"),
        Column("high", "", lambda row: row.measured.saving.high, MONEY, csv="measured_high"),
        CURRENCY_COLUMN,
    ),
    noun=("outcome", "outcomes"),
    about="{said}; a month of 730 hours, as the ledger has it",
)  # fmt: skip

PROVEN = replace(
    OUTCOMES,
    name="proven",
    columns=(
        Column("title", "What was done", lambda row: row.title, PROSE,
               href=lambda row: reverse("recommendation", args=[row.recommendation_id])),
        *OUTCOMES.columns,
    ),
)  # fmt: skip

TO_DO = Table[RecommendationRow](
    "to-do",
    "What to do about it",
    (
        Column("title", "What to do", lambda row: row.fact.title, PROSE,
               href=lambda row: reverse("recommendation", args=[row.fact.id])),
        Column("range", "Saves a month", lambda row: row.fact.saving.high, FIGURE, csv="",
               shown=lambda row, locale: words.describe_range(row.fact.saving, locale.currency)),
        Column("team", "Team", lambda row: row.team or words.ORGANISATION),
        Column("state", "State", lambda row: STATE_WORDS[row.fact.state], note=_state_note),
    ),
    noun=("recommendation", "recommendations"),
    about="those worth most, of all that is open or claimed; whatever the period",
)  # fmt: skip

MEASUREMENTS = Table[SavingMeasurementFact](
    "measured",
    "Promised and measured, week by week",
    (
        Column("week", "Week of", lambda row: row.week, DAY),
        Column("status", "Status", lambda row: STATUS_WORDS[row.status],
               warns=lambda row: row.status == "failed"),
        Column("promised", "Promised a month", lambda row: row.promise.likely, WHOLE_MONEY,
               shown=lambda row, locale: words.describe_range(row.promise, locale.currency), csv="promised"),
        Column("measured", "Measured a month", lambda row: row.measured and row.measured.saving.likely, WHOLE_MONEY),
        Column("range", "From and to", lambda row: row.measured and row.measured.saving.high, FIGURE, csv="",
               shown=lambda row, locale: words.describe_measured_range(row.measured, locale.currency), sorts=False),
        Column("would", "Would have cost", lambda row: row.measured and row.measured.counterfactual_micros, WHOLE_MONEY,
               csv="would_have_cost"),
        Column("did", "Did cost", lambda row: row.measured and row.measured.spend_micros, WHOLE_MONEY, csv="did_cost"),
        Column("against", "", lambda row: row.measured and row.measured.counterfactual, csv="counterfactual"),
        Column("why", "", lambda row: row.why),
        Column("promised_low", "", lambda row: row.promise.low, MONEY),
        Column("promised_high", "", lambda row: row.promise.high, MONEY),
        Column("low", "", lambda row: row.measured and row.measured.saving.low, MONEY, csv="measured_low"),
        Column("high", "", lambda row: row.measured and row.measured.saving.high, MONEY, csv="measured_high"),
        CURRENCY_COLUMN,
        Column("first", "", lambda row: row.measured and row.measured.first_day, DAY, csv="first_day"),
        Column("last", "", lambda row: row.measured and row.measured.last_day, DAY, csv="last_day"),
        Column("days", "Settled days", lambda row: row.measured and row.measured.days, COUNT, csv="days"),
        Column("before_days", "", lambda row: row.measured and row.measured.before_days, COUNT),
        Column("unit", "", lambda row: row.measured and row.measured.unit),
        Column("work_before", "", lambda row: row.measured and row.measured.work_before),
        Column("work_since", "", lambda row: row.measured and row.measured.work_since),
        Column("following", "", lambda row: row.measured and row.measured.following),
        Column("doubts", "", lambda row: row.measured and "; ".join(row.measured.doubts)),
        Column("method", "", lambda row: row.measured and row.measured.method),
        Column("trend", "", lambda row: row.measured and row.measured.trend_weekly, csv="trend_weekly"),
        Column("digest", "", lambda row: row.digest),
    ),
    noun=("measurement", "measurements"),
    about="{said}; by the ledger's settled days, judged once, after four weeks at the earliest",
)  # fmt: skip
