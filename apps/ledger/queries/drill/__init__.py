"""The way from a sum down to the lines behind it; everything is asked for as somebody."""

from apps.ledger.queries.drill.line_provenance import (
    ChargePieceDetail,
    LineProvenance,
    SiblingLine,
    find_line_provenance,
)
from apps.ledger.queries.drill.lines import LineRow, lines_of_job, lines_of_no_job
from apps.ledger.queries.drill.tags import tags_used
