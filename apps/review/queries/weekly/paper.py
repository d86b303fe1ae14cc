"""A weekly review as a document: what goes out by mail and as a PDF."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from zoneinfo import ZoneInfo

from apps.economics.money import sum_of_known
from apps.review.queries.weekly.content import (
    BudgetsWeek,
    DataQualityWeek,
    WeeklyContent,
    WeekVariance,
)
from apps.review.queries.weekly.moment_words import describe_later_recommendations, edition_words
from apps.review.queries.weekly.paper_tables import (
    BUDGET_TABLE,
    COMMITMENT_TABLE,
    IDLE_TABLE,
    MATTER_TABLE,
    PROVEN_TABLE,
    QUALITY_TABLE,
    TEAM_TABLE,
    WORKLOAD_TABLE,
    QualityFact,
    idle_parts,
    proven_sum,
    recommendation_table,
)
from apps.review.queries.weekly.review_words import (
    ALERTS,
    BUDGETS,
    COMMITMENTS,
    DATA_QUALITY,
    IDLE,
    RECOMMENDATIONS,
    SECTIONS,
    VARIANCE,
    VERDICT_WORDS,
    WORKLOADS,
)
from apps.review.queries.weekly.stored_reviews import StoredReview
from apps.show.amounts import Direction, change, count, counted, gpu_hours, movement, per_cent
from apps.show.document import (
    DocumentBar,
    DocumentBars,
    DocumentBlock,
    DocumentFigure,
    DocumentFigures,
    DocumentLink,
    DocumentLocale,
    DocumentSection,
    OutgoingDocument,
    Paragraph,
)
from apps.show.money import (
    bridged,
    full_amount,
    rounded_amount,
    short_amount,
    signed_amount,
)
from apps.show.time import period, weekday
from apps.show.words import OLD_CAUSE_WORDS


@dataclass(frozen=True, slots=True)
class ReviewPaper:
    """A review, and what a document of it needs beside: names of people by id, the organisation's,
    the console's address (empty: none is set), the team whose part it is (None: the whole), and how
    many rows of a table there is room for."""

    kept: StoredReview
    names: Mapping[int, str]
    author: str
    site: str = ""
    team_id: int | None = None
    most_rows: int | None = None

    @property
    def content(self) -> WeeklyContent:
        """The content of the review."""
        return self.kept.content

    @property
    def address(self) -> str:
        """The path of its page."""
        return f"/weekly-reviews/{self.content.week}"

    @property
    def locale(self) -> DocumentLocale:
        """The currency and zone that it was made in."""
        return DocumentLocale(self.content.currency, ZoneInfo(self.content.zone))

    def links(self, *links: tuple[str, str]) -> tuple[DocumentLink, ...]:
        """Words and paths of the console; none where its address is not known."""
        return tuple(DocumentLink(text, f"{self.site}{path}") for text, path in links if self.site)


def review_document(paper: ReviewPaper) -> OutgoingDocument:
    """The whole of it, its sections in the order in which they were frozen, as on its page."""
    content, review = paper.content, paper.kept
    first, end = date.fromisoformat(content.first_day), date.fromisoformat(content.end_day)
    part = f"?team={paper.team_id}" if paper.team_id is not None else ""
    sections = [_summary(paper)]
    for key in content.sections:
        blocks, links = SECTION_BLOCKS[key](paper)
        sections.append(DocumentSection(SECTIONS[key], tuple(blocks), links))
    edition = f"edition {review.edition}" + (f": {review.reason}" if review.reason else "")
    return OutgoingDocument(
        title=content.title,
        under=f"Weekly review {content.week}, {period(first, end)} · {content.basis} cost · {edition}",
        author=paper.author,
        sections=tuple(sections),
        footer=f"Runrate · {paper.author} · weekly review {content.week}, edition {review.edition} · "
        f"digest of the whole review (SHA-256) {review.digest}",
        locale=paper.locale,
        links=paper.links(
            ("Open the review", paper.address), ("As a PDF", f"{paper.address}/pdf{part}")
        ),
    )


NOT_OF_A_PART = "Not known for a part of the organisation."
Blocks = tuple[list[DocumentBlock], tuple[DocumentLink, ...]]


def _summary(paper: ReviewPaper) -> DocumentSection:
    content, currency = paper.content, paper.content.currency
    cost, before = content.cost.micros, content.variance.before_micros
    proven = proven_sum(content.recommendations.proven)
    counts = content.verdict_counts
    figures = (
        DocumentFigure(
            "Cost",
            short_amount(cost, currency),
            f"{change(cost, before)} on the week before" if before is not None else "",
            content.cost.status,
        ),
        DocumentFigure(
            "Waste",
            short_amount(content.waste_micros, currency),
            f"{per_cent(content.waste_share)} of the cost"
            if content.waste_share is not None
            else "",
        ),
        DocumentFigure(
            "Workloads that earn",
            f"{counts['earns']:,} of {len(content.workloads):,}",
            f"{counts['unknown']:,} unknown" if counts["unknown"] else "",
        ),
        DocumentFigure(
            "Proven savings",
            short_amount(proven, currency),
            "nothing is measured yet" if proven is None else "a month, measured in the ledger",
        ),
    )
    cautions = tuple(Paragraph(review_caution) for review_caution in review_cautions(content))
    return DocumentSection("", (DocumentFigures(figures), _trend(content), *cautions))


def _trend(content: WeeklyContent) -> DocumentBars:
    """Its last weeks, the newest last."""
    most = max((amount for amount in content.trend if amount is not None), default=0)
    bars = [
        DocumentBar(
            f"{week}, this one" if week == content.week else week,
            None if micros is None else max(0, micros) / most if most > 0 else 0.0,
            rounded_amount(micros, content.currency),
        )
        # Reviews of nothing were once frozen without a trend, and are still read.
        for week, micros in zip(content.trend_weeks, content.trend, strict=bool(content.trend))
    ]
    return DocumentBars(f"Cost by week, {content.currency}", tuple(bars))


def review_cautions(content: WeeklyContent) -> list[str]:
    """Return the cautions of a review: what is in no amount, and what the week is compared with."""
    cost, cautions = content.cost, []
    if cost.provisional_ms:
        amount = rounded_amount(cost.provisional_micros, content.currency)
        cautions.append(
            f"{gpu_hours(cost.provisional_ms)} hours of the week were not settled when this was made; "
            f"what they cost so far ({amount}) is in no amount here."
        )
    if cost.unpriced_ms:
        cautions.append(
            f"{gpu_hours(cost.unpriced_ms)} hours have no price: what they cost is not known, "
            "and in no amount here."
        )
    if content.diverged_micros:
        cautions.append(
            f"Runs that went wrong without failing (diverged, NaN) cost "
            f"{rounded_amount(content.diverged_micros, content.currency)}, "
            f"{'in' if content.has_diverged_in_waste else 'beside'} the waste."
        )
    return [
        *cautions,
        *describe_later_recommendations(content),
        *_restated_words(content),
        *edition_words(content),
    ]


def _restated_words(content: WeeklyContent) -> list[str]:
    """Return what the ledger says of the week before where that is no longer what its review was frozen with."""
    previous, now = content.previous, content.variance.before_micros
    if previous is None or now == previous.cost_micros:
        return []
    then = full_amount(previous.cost_micros, content.currency)
    return [
        f"The ledger has {full_amount(now, content.currency)} of {previous.week} by now; its review, "
        f"as it was frozen (edition {previous.edition}), had {then}."
    ]


def _variance(paper: ReviewPaper) -> Blocks:
    content = paper.content
    blocks: list[DocumentBlock] = [_causes(content.variance, content.currency)]
    if len(content.teams) > 1:
        teams = sorted(content.teams, key=lambda team: -(team.cost.micros or 0))
        blocks.append(TEAM_TABLE.of(teams, paper.locale, most=paper.most_rows))
    return blocks, ()


def _causes(variance: WeekVariance, currency: str) -> DocumentBars | Paragraph:
    """Each cause as a bar; as they are shown they add up to the change."""
    start, end = variance.before_micros, variance.after_micros
    if start is None or end is None or not variance.causes:
        return Paragraph(
            "What moved it since the week before is not known: of one of the two the cost is not."
        )
    causes = {key: variance.causes[key] for key in OLD_CAUSE_WORDS if key in variance.causes}
    parts = dict(zip(causes, bridged(start, list(causes.values()), end, currency), strict=True))
    most = max(map(abs, parts.values()), default=0)
    bars = [
        DocumentBar(
            OLD_CAUSE_WORDS[key][0],
            abs(micros) / most if most else 0.0,
            signed_amount(micros, currency),
            is_marked=micros > 0,
        )
        for key, micros in parts.items()
    ]
    before, after = full_amount(start, currency), full_amount(end, currency)
    title = f"From {before} (the week before) to {after}, by cause"
    return DocumentBars(title, tuple(bars))


def _workloads(paper: ReviewPaper) -> Blocks:
    content = paper.content
    counts = content.verdict_counts
    by_verdict = [
        f"{words}: {counted(counts[verdict], 'workload')}, "
        f"{rounded_amount(_verdict_cost(content, verdict), content.currency)}"
        for verdict, words in VERDICT_WORDS.items()
        if counts[verdict]
    ]
    remark = ""
    if content.no_workload_micros:
        amount = full_amount(content.no_workload_micros, content.currency)
        remark = f"{amount} of the week has no workload, and is not in this table."
    table = WORKLOAD_TABLE.of(content.workloads, paper.locale, most=paper.most_rows, remark=remark)
    sentence = (
        "Verdicts: " + "; ".join(by_verdict) + "." if by_verdict else "No workload cost anything."
    )
    links = paper.links(("All workloads as CSV", f"{paper.address}.csv?table=workloads"))
    return [Paragraph(sentence), table], links


def _verdict_cost(content: WeeklyContent, verdict: str) -> int | None:
    return sum_of_known(
        work.cost.micros for work in content.workloads if work.verdict.verdict == verdict
    )


def _idle(paper: ReviewPaper) -> Blocks:
    return [IDLE_TABLE.of(idle_parts(paper.content.idle), paper.locale, most=None)], ()


def _commitments(paper: ReviewPaper) -> Blocks:
    week = paper.content.commitments
    if week is None:
        return [Paragraph(NOT_OF_A_PART)], ()
    if not week.commitments:
        return [Paragraph("No commitments.")], ()
    sentence = (
        f"Commitments covered {per_cent(week.coverage)} of what they could "
        f"({per_cent(week.coverage_before)} the week before), and were used to "
        f"{per_cent(week.utilisation)} ({per_cent(week.utilisation_before)})."
    )
    table = COMMITMENT_TABLE.of(week.commitments, paper.locale, most=paper.most_rows)
    return [Paragraph(sentence), table], paper.links(("Commitments", "/commitments"))


def _budgets(paper: ReviewPaper) -> Blocks:
    week, currency = paper.content.budgets, paper.content.currency
    sentences = [*forecast_words(week, currency), *week_budget_words(week, currency)]
    blocks: list[DocumentBlock] = [Paragraph(forecast_word) for forecast_word in sentences]
    if week.budgets:
        blocks.append(BUDGET_TABLE.of(week.budgets, paper.locale, most=paper.most_rows))
    return blocks or [Paragraph("No budgets.")], paper.links(("Budgets", "/budgets"))


def forecast_words(week: BudgetsWeek, currency: str) -> list[str]:
    """Return what was forecast of the week before it began, and what came, in words."""
    forecast = week.forecast
    if forecast.forecast_micros is None or forecast.came_micros is None:
        return []
    low, high = (
        rounded_amount(end, currency) for end in (forecast.low_micros, forecast.high_micros)
    )
    between = f" ({low} to {high})" if forecast.low_micros is not None else ""
    moved = movement(forecast.came_micros, forecast.forecast_micros)
    missed = "as forecast" if moved.direction is Direction.SAME else str(moved)
    of_day = f" of {weekday(date.fromisoformat(forecast.made_at[:10]))}" if forecast.made_at else ""
    return [
        f"The forecast{of_day} had {rounded_amount(forecast.forecast_micros, currency)}{between} for the "
        f"week; {rounded_amount(forecast.came_micros, currency)} came: {missed}."
    ]


def week_budget_words(week: BudgetsWeek, currency: str) -> list[str]:
    """Return what the organisation's budget had for the week, and what came, in words."""
    against = week.against_budget
    if against is None or against.after_micros is None:
        return []
    planned, actual = against.before_micros, against.after_micros
    return [
        f"The week’s pro-rated budget was {rounded_amount(planned, currency)}; "
        f"{rounded_amount(actual, currency)} came: {change(actual, planned)}."
    ]


def _matters(paper: ReviewPaper) -> Blocks:
    matters = paper.content.matters
    if not matters:
        return [Paragraph("No alert was open, and no anomaly was found in the week.")], ()
    table = MATTER_TABLE.of(matters, paper.locale, most=paper.most_rows)
    return [table], paper.links(("Alerts", "/alerts"))


def _recommendations(paper: ReviewPaper) -> Blocks:
    week = paper.content.recommendations
    if not week.is_known:
        return [Paragraph("Nobody has looked for recommendations yet.")], ()
    blocks: list[DocumentBlock] = []
    if week.recommendations:
        table = recommendation_table(paper.names)
        blocks.append(table.of(week.recommendations, paper.locale, most=paper.most_rows))
    else:
        blocks.append(Paragraph("No recommendation is open."))
    if week.proven:
        blocks.append(PROVEN_TABLE.of(week.proven, paper.locale, most=paper.most_rows))
    return blocks, paper.links(("Recommendations", "/recommendations"))


def _data_quality(paper: ReviewPaper) -> Blocks:
    quality, currency = paper.content.data_quality, paper.content.currency
    if quality is None:
        return [Paragraph(NOT_OF_A_PART)], ()
    return [QUALITY_TABLE.of(quality_facts(quality, currency), paper.locale, most=None)], ()


def quality_facts(quality: DataQualityWeek, currency: str) -> list[QualityFact]:
    """How far the week's figures can be trusted."""
    return [
        QualityFact("Observed", per_cent(quality.observed_ratio), "of the GPU time that jobs held"),
        QualityFact("Priced", per_cent(quality.priced_ratio), "of all time"),
        QualityFact("Not priced", f"{gpu_hours(quality.unpriced_ms)} h", "in no amount here"),
        QualityFact(
            "No owner", rounded_amount(quality.unowned_micros, currency), "no rule names a team"
        ),
        QualityFact(
            "No workload",
            rounded_amount(quality.no_workload_micros, currency),
            "no rule names a workload, or no job held it",
        ),
        QualityFact(
            "Not settled", count(quality.pending_hours), "hours whose amounts may still change"
        ),
        QualityFact("Silent agents", count(quality.silent_agents), "their GPUs are unobserved"),
        QualityFact(
            "No value stated", count(quality.workloads_without_value), "workloads: verdict unknown"
        ),
        QualityFact("No score", count(quality.workloads_without_score), "workloads"),
    ]


SECTION_BLOCKS: Mapping[str, Callable[[ReviewPaper], Blocks]] = {
    VARIANCE: _variance,
    WORKLOADS: _workloads,
    IDLE: _idle,
    COMMITMENTS: _commitments,
    BUDGETS: _budgets,
    ALERTS: _matters,
    RECOMMENDATIONS: _recommendations,
    DATA_QUALITY: _data_quality,
}
