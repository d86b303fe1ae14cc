"""Tables that both kinds of anomalies have: what changed about then, and what was said of it."""

from collections.abc import Mapping
from typing import Any

from apps.console.kit.cells import COUNT, INSTANT, PROSE, TEXT
from apps.console.kit.table import Table
from apps.console.pages.anomalies import words
from apps.review.queries.verdicts import VERDICT_WORDS, VerdictFact
from apps.tables.column import Column

CAUSES = Table[tuple[int, Mapping[str, Any]]](
    "causes",
    "Possible causes",
    (
        Column("number", "Number", lambda row: row[0], COUNT),
        Column("day", "Day", lambda row: words.on_day(row[1]["on"])),
        Column("distance", "How far", lambda row: words.distance(row[1]["days"])),
        Column("kind", "Kind", lambda row: row[1]["kind"], TEXT),
        Column("what", "What", lambda row: row[1]["what"], PROSE),
    ),
    about="within a week of it, the nearest first; that it changed then does not say that it was "
    "the cause",
    empty="Nothing known changed then: no deployment, model, prompt or setting was reported, no "
    "price and no commitment began or ended, and it ran on the same machines.",
)
SAID = Table[tuple[VerdictFact, str]](
    "said",
    "What was said of it",
    (
        Column("at", "When", lambda row: row[0].at, INSTANT),
        Column("verdict", "What", lambda row: VERDICT_WORDS[row[0].verdict]),
        Column(
            "of",
            "Of",
            lambda row: "all of its kind" if row[0].is_of_kind else "this series",
        ),
        Column("who", "Who", lambda row: row[0].who, TEXT),
        Column("why", "Why", lambda row: row[0].reason, PROSE),
        Column("until", "Until", lambda row: row[0].until, INSTANT),
        Column(
            "back",
            "Taken back",
            lambda row: row[0].taken_back_who or ("take back" if row[1] else ""),
            href=lambda row: row[1],
        ),
    ),
    empty="Nothing was said of it yet.",
)
