"""The table of runs of portfolios."""

from apps.planning.queries.portfolio.runs import STATE_WORDS, PortfolioRunFact
from apps.show.cell_formats import WRAPPED, worded
from apps.tables.column import Column
from apps.tables.table import Table

PORTFOLIO_RUNS = Table[PortfolioRunFact](
    "runs",
    "Asked so far",
    (
        Column("asked_at", "Asked"),
        Column("is_weekly", "How", format=worded({True: "by the week", False: "by somebody"}),
               definition="by the week, not by somebody", formerly=("weekly",)),
        Column("state", "State", format=worded(STATE_WORDS), order=lambda run: STATE_WORDS[run.state]),
        Column("refusal", "Why not", format=WRAPPED),
        Column("digest", ""),
        Column("id", ""),
        Column("found", ""),
        Column("of", ""),
        Column("ended_at", ""),
    ),
    noun=("run", "runs"),
    sort="runs",
    per_page=20,
    row=PortfolioRunFact,
    unique=lambda run: (-run.id,),
)  # fmt: skip
