"""The list of recommendations: what to do, most worth first."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.urls import path, reverse

from apps.accounts.queries import teams
from apps.console.kit.chart import Figure, FigureRow
from apps.console.kit.csv_file import CsvFile
from apps.console.kit.filters import Reading, filter_of, key_parser
from apps.console.kit.frame import EmptyState, Link, Step
from apps.console.kit.page import ConsolePage, Section, files_page, shown
from apps.console.kit.request import EVERYONE, Context
from apps.console.pages.recommendations import words
from apps.console.pages.recommendations.learned import KEPT, kind_records
from apps.console.pages.recommendations.related import recommendation_rows
from apps.console.pages.recommendations.tables import (
    LOOKED_AT,
    OF_MOVES,
    PROVEN,
    RECOMMENDATIONS,
    ExaminedCount,
    RecommendationRow,
    examined_counts,
)
from apps.console.pages.recommendations.waste import (
    WASTE,
    WasteRow,
    describe_waste,
    explained_of,
    waste_rows,
)
from apps.review.queries.recommendations import (
    TO_BE_DONE,
    RecommendationsWanted,
    SettledSaving,
    latest_recommendation_detection_run,
    proven_savings,
    recommendations,
)
from apps.review.queries.recommending.moved_work import MOVE_KINDS
from apps.show.amounts import counted
from apps.show.money import rounded_amount

OLD_WEEKS = 4


@shown(EVERYONE, "recommendations")
def recommendation_list(context: Context) -> ConsolePage:
    """Show the recommendations that are to be done, or those in the state that was chosen."""
    reading = _reading_of(context)
    files = {file.table: file for file in _files_of(context, reading)}
    if context.csv_table is not None:
        return files_page(context, *files.values(), main=RECOMMENDATIONS.name)
    review = latest_recommendation_detection_run(context.at)
    if review is None:
        return ConsolePage(
            context=context, finding="Nothing was looked for yet", empty=_no_detection_run_state()
        )
    rows = _rows_of(context, reading)
    facts, texts = [row.fact for row in rows], reading.texts
    sees_all = context.seen_teams is None
    kinds = words.kinds_of(texts["kind"])
    is_of_moves = bool(kinds) and set(kinds) <= set(MOVE_KINDS)
    counts = list(examined_counts(review, kinds)) if sees_all else []
    proven = proven_savings(context.at, context.seen_teams)
    explained = explained_of(review) if sees_all and not (texts["state"] or kinds) else None
    return ConsolePage(
        context=context,
        finding=words.list_finding(facts, texts["state"], context.currency),
        under=(
            words.describe_detection_run(review, context.zone),
            "a month is 730 hours, at what is paid by the hour",
            *((describe_waste(explained, context.currency),) if explained else ()),
        ),
        filters=(
            filter_of("state", "State", words.STATES, texts),
            filter_of("kind", "Kind", words.KINDS, texts),
            filter_of("team", "Team", _team_choices(context), texts),
            filter_of("owner", "Owner", _owner_choices(), texts),
        ),
        problems=tuple(reading.problems),
        notes=() if sees_all else ("Of your teams' work; commitments are the organisation's.",),
        actions=(Link("Weekly fleet analyses", reverse("fleet-looks")),) if is_of_moves else (),
        sections=(
            FigureRow(_key_figures(rows, proven, context)) if not texts["state"] else None,
            (OF_MOVES if is_of_moves else RECOMMENDATIONS).section(
                rows,
                context,
                csv=files[RECOMMENDATIONS.name],
                empty=_empty_message(texts),
            ),
            *_outcome_sections(proven, files, context),
            WASTE.section(waste_rows(explained), context, csv=files[WASTE.name])
            if explained
            else None,
            LOOKED_AT.section(counts, context, csv=files[LOOKED_AT.name]) if counts else None,
        ),
    )


def _outcome_sections(
    proven: Sequence[SettledSaving], files: Mapping[str, CsvFile], context: Context
) -> tuple[Section, ...]:
    """Return the sections of what came of what was done, one by one and by kind; nothing before the first."""
    if not proven:
        return ()
    records = kind_records(context) if context.seen_teams is None else []
    by_kind = (KEPT.section(records, context, csv=files[KEPT.name]),) if records else ()
    return PROVEN.section(proven, context, csv=files[PROVEN.name]), *by_kind


def _files_of(context: Context, reading: Reading) -> Iterator[CsvFile]:
    """The list and what came of it; how it was found, for who sees everything."""

    def waste() -> Sequence[WasteRow]:
        explained = explained_of(latest_recommendation_detection_run(context.at))
        return waste_rows(explained) if explained else ()

    def examined() -> Iterable[ExaminedCount]:
        review = latest_recommendation_detection_run(context.at)
        kinds = words.kinds_of(reading.texts["kind"])
        return examined_counts(review, kinds) if review is not None else ()

    yield RECOMMENDATIONS.file("recommendations", context, lambda: _rows_of(context, reading))
    yield PROVEN.file(
        "proven-savings", context, lambda: proven_savings(context.at, context.seen_teams)
    )
    if context.seen_teams is None:
        yield KEPT.file("realised-of-promised", context, lambda: kind_records(context))
        yield WASTE.file("waste-explained", context, waste)
        yield LOOKED_AT.file("looked-at", context, examined)


def _reading_of(context: Context) -> Reading:
    default = {
        "state": words.STATES[""].lower(),
        "kind": words.KINDS[""].lower(),
        "team": "all",
        "owner": "anybody",
    }
    reading = Reading(context.query, dict.fromkeys(default, ""), default)
    reading.read("state", key_parser(words.STATES, "There is no state {!r}."))
    reading.read("kind", key_parser(words.KINDS, "There is no kind {!r}."))
    reading.read("team", key_parser(_team_choices(context), "There is no team {!r}."))
    reading.read("owner", key_parser(_owner_choices(), "There is nobody {!r}."))
    return reading


def _team_choices(context: Context) -> dict[str, str]:
    seen_teams = context.seen_teams
    team_names = {
        str(team.id): team.name for team in teams() if seen_teams is None or team.id in seen_teams
    }
    return {"": "All", **team_names, **({"none": "The organisation"} if seen_teams is None else {})}


def _owner_choices() -> dict[str, str]:
    return {"": "Anybody", "none": "Nobody yet", "me": "Me"}


def _rows_of(context: Context, reading: Reading) -> list[RecommendationRow]:
    texts = reading.texts
    wanted = RecommendationsWanted(
        context.seen_teams,
        (texts["state"],) if texts["state"] else TO_BE_DONE,
        words.kinds_of(texts["kind"]),
    )
    owner = {"none": None, "me": context.viewer.person_id}
    facts = (
        fact
        for fact in recommendations(wanted)
        if texts["team"] in ("", str(fact.team_id or "none"))
        and (not texts["owner"] or fact.owner_id == owner[texts["owner"]])
    )
    return recommendation_rows(facts, context)


def _key_figures(
    rows: Sequence[RecommendationRow], proven: Sequence[SettledSaving], context: Context
) -> tuple[Figure, ...]:
    facts, currency = [row.fact for row in rows], context.currency
    to_do = words.counted_saving(facts, words.OPEN)
    claimed = [fact for fact in facts if fact.state == words.CLAIMED]
    late = sum(words.is_overdue(fact, context.calendar.today) for fact in claimed)
    waiting = [fact for fact in facts if fact.state == words.OPEN]
    old = sum(words.age_weeks(fact, context.calendar.today) >= OLD_WEEKS for fact in waiting)
    # What was done again saves what was measured last, not both.
    newest = {saving.recommendation_id: saving for saving in reversed(proven)}.values()
    saved = sum(saving.measured.saving.likely for saving in newest if saving.is_verified)
    return (
        Figure(
            "Open",
            words.describe_range(to_do, currency),
            words.open_note(facts, currency),
        ),
        Figure(
            "Claimed",
            words.describe_range(words.counted_saving(facts, words.CLAIMED), currency),
            f"a month promised by {counted(len(claimed), 'claim')}, de-duplicated; {late} past the due date",
        ),
        Figure(
            "Waiting for 4 weeks or more", str(old), f"of {counted(len(waiting), 'recommendation')}"
        ),
        Figure(
            "Proven",
            rounded_amount(saved, currency),
            words.proven_note(proven, currency),
        )
        if proven
        else Figure("Proven", "–", "nothing that was done is measured yet"),
    )


def _empty_message(texts: dict[str, str]) -> str:
    if any(texts.values()):
        return "No recommendation matches these filters."
    return "Nothing that was looked at is worth doing: below stands what was looked at."


def _no_detection_run_state() -> EmptyState:
    return EmptyState(
        "What to do about what work costs",
        "Once a week everything is looked at that could save: idle GPUs, commitments, other places, smaller GPUs, APIs.",
        (
            Step(
                "Have nodes and jobs on record for a whole week, with prices.",
                link=Link("Nodes and GPUs", reverse("fleet")),
            ),
            Step("Runrate looks once a week, seven hours after its first midnight."),
        ),
    )


urlpatterns = [
    path("recommendations", recommendation_list, name="recommendations"),
]
