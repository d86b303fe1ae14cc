"""The table of names that came in and were not understood."""

from apps.fleet.queries.not_understood import DOORS, NotUnderstoodFact
from apps.show.cell_formats import DAY, PROSE
from apps.tables.column import Column
from apps.tables.table import Table

NOT_UNDERSTOOD = Table[NotUnderstoodFact](
    "names",
    "Not understood",
    (
        Column("door", "Source", order=lambda row: DOORS.get(row.door, row.door),
               shown=lambda row, _: DOORS.get(row.door, row.door)),
        Column("place", "Of", order=lambda row: row.place or None,
               shown=lambda row, _: row.place or "—",
               definition="the node or cluster it is of; empty: of none"),
        Column("name", "Name", format=PROSE, order=lambda row: row.name or "further names",
               definition="empty: further names of days that had too many"),
        Column("times", "Times"),
        Column("first_on", "Since", format=DAY),
        Column("last_at", "Last"),
        Column("example", "Example", format=PROSE, order=lambda row: row.example or None,
               shown=lambda row, _: row.example or "—",
               definition="an id of what had it; empty where it has none"),
    ),
    noun=("name", "names"),
    about="{said} in two weeks; names and ids alone are kept, never a value",
    sort="sort",
    per_page=200,
    row=NotUnderstoodFact,
    unique=lambda row: (row.door, row.place, row.name),
)  # fmt: skip
