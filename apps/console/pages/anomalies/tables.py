"""A table that both kinds of anomalies have: what changed about then."""

from collections.abc import Mapping
from typing import Any

from apps.console.kit.cells import COUNT, PROSE, TEXT
from apps.console.kit.table import Column, Table
from apps.console.pages.anomalies import words

CAUSES = Table[tuple[int, Mapping[str, Any]]](
    "causes",
    "What changed about then",
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
