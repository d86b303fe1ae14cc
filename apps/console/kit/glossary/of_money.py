"""Money, and words of our own beside the field's."""

from apps.console.kit.glossary.blocks import (
    Bullet,
    Definition,
    GlossarySection,
    Paragraph,
    TermRow,
    TermTable,
)
from apps.show.prose import Code, Emphasis, Link, SeeAlso, prose

MONEY = GlossarySection(
    "Money",
    (
        Bullet(
            (
                Definition(("Charge",), "what something cost over a period. "),
                Definition(("Piece",), "the part of a charge with one rate. "),
                Definition(
                    ("Line",),
                    "the part of a charge that one owner, holder and state carries. Lines "
                    "add up to their charge exactly, on every basis.",
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Basis",),
                    prose(
                        Emphasis("list"),
                        " (the public on-demand price of that machine in that region at that "
                        "hour, however it was bought; unknown where nobody knows one), ",
                        Emphasis("contracted"),
                        " (negotiated), ",
                        Emphasis("effective"),
                        " (with commitments spread over their use), ",
                        Emphasis("billed"),
                        " (what the invoice says; unknown until there is one), as FOCUS "
                        "means them.",
                    ),
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Charged",),
                    "with its part of shared costs, shared-out idle left with the pool's "
                    "owner; teams sum to the charges. ",
                    aside=" cost",
                ),
                Definition(("Direct",), "without shared costs too. "),
                Definition(
                    ("Loaded",),
                    prose(
                        "with both. The same words on pages, in files (",
                        Code("cost_is"),
                        ") and by REST (",
                        Code("cost"),
                        ", ",
                        Code("direct_cost"),
                        ", ",
                        Code("loaded_cost"),
                        ").",
                    ),
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Cost per GPU-hour",),
                    prose(
                        "its Cost ÷ its GPU-hours, whatever the cost is for; ",
                        Emphasis("at least"),
                        " so much (≥) where some of the hours have no price.",
                    ),
                    aside=" of a row",
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Rate",),
                    "an amount as quoted and the quantity it was quoted for; never "
                    "converted, arithmetic is by fractions.",
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Micro-unit",),
                    "a millionth of the organisation's currency; every stored amount is a "
                    "whole number of them.",
                ),
            )
        ),
        Bullet((Definition(("Residual",), "bill − charges; kept, never spread."),)),
        Bullet((Definition(("Unpriced",), "no rate was valid; listed, and never 0."),)),
        Bullet(
            (
                prose(
                    Emphasis("Shared cost", "**"),
                    " is ",
                    Emphasis("spread"),
                    " (allocated) over lines",
                    SeeAlso("how", "../guides/shared-costs.md"),
                    "; ",
                    Emphasis("shared idle", "**"),
                    " is a second, reversible set of lines that sums to 0.",
                ),
            )
        ),
        Bullet(
            (
                Definition(("Settle",), "turn an hour's facts into lines. "),
                Definition(("Restate",), "settle an hour again because facts changed. "),
                Definition(("Close",), "freeze a month."),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Status",),
                    prose(
                        Emphasis("provisional"),
                        " (until 2 h after the hour's end), ",
                        Emphasis("estimated"),
                        ", ",
                        Emphasis("reconciled"),
                        " (the bill matched), ",
                        Emphasis("restated"),
                        ". Of forecasts ",
                        Emphasis("reconciled"),
                        " is another thing: parts ",
                        Link("add up", "../guides/forecast.md#what-adds-up"),
                        ".",
                    ),
                ),
            )
        ),
    ),
)

OWN_WORDS = GlossarySection(
    "Words of our own",
    (
        Paragraph(
            "Where the field has no term, or uses several, these stand, each beside the term "
            "to search for."
        ),
        TermTable(
            ("here", "nearest term", "is"),
            (
                TermRow(
                    "holder, held",
                    (
                        "allocated to a job",
                        "the job that has a GPU, used or not",
                    ),
                ),
                TermRow(
                    "unobserved",
                    (
                        "no telemetry",
                        "held, and whether it was active is not known",
                    ),
                ),
                TermRow(
                    "stranded",
                    (
                        "fragmentation",
                        "MIG capacity that no slice of the geometry covers",
                    ),
                ),
                TermRow(
                    "charge, piece, line",
                    (
                        "cost record, rate segment, cost allocation record",
                        prose(
                            Link("Money", "#money"),
                        ),
                    ),
                ),
                TermRow(
                    "settle, restate",
                    (
                        "rating and cost allocation; recalculation",
                        "from an hour's facts to its lines; again because facts changed",
                    ),
                ),
                TermRow(
                    "spread",
                    (
                        "allocation of shared cost",
                        prose(
                            "a shared cost divided over lines by a ",
                            Link("method", "../guides/shared-costs.md"),
                        ),
                    ),
                ),
                TermRow(
                    "shared idle",
                    (
                        "chargeback of idle capacity",
                        "idle cost moved from the pool's owner to those who used the pool",
                    ),
                ),
                TermRow(
                    "charged to",
                    (
                        "showback, chargeback",
                        "the team in whose sums a line counts",
                    ),
                ),
                TermRow(
                    "residual",
                    (
                        "rounding difference",
                        "bill − charges: what rounding to micro-units leaves",
                    ),
                ),
                TermRow(
                    "unpriced",
                    (
                        "missing rate",
                        "use without a valid rate; never 0",
                    ),
                ),
                TermRow(
                    "provisional, estimated, reconciled",
                    (
                        "accrual, estimate, actual",
                        "how final an amount is",
                    ),
                ),
                TermRow(
                    "written off",
                    (
                        "amortised, depreciated",
                        "the part of a purchase that past hours were charged",
                    ),
                ),
                TermRow(
                    "late-arriving",
                    (
                        "late-arriving facts",
                        "what changes a closed month; posted as corrections (adjusting entries)",
                    ),
                ),
                TermRow(
                    "silent",
                    (
                        "missed heartbeat",
                        "a node whose agent is not heard; it keeps accruing cost",
                    ),
                ),
                TermRow(
                    "bucket",
                    (
                        "time category, badput",
                        "what a second of a run was spent on",
                    ),
                ),
                TermRow(
                    "verdict",
                    (
                        "diagnosis, bottleneck",
                        "a bucket that takes more than usual, with its evidence",
                    ),
                ),
                TermRow(
                    "programme",
                    (
                        "training workload, experiment series",
                        "the runs of one training workload",
                    ),
                ),
                TermRow(
                    "good checkpoint",
                    (
                        "validated checkpoint",
                        "one that the script says has passed",
                    ),
                ),
                TermRow(
                    "unattributed",
                    (
                        "unallocated tokens",
                        "tokens of an engine that its gateway did not count",
                    ),
                ),
                TermRow(
                    "not counted",
                    (
                        "no request metrics",
                        "hours of a service of which neither engine nor gateway reported",
                    ),
                ),
                TermRow(
                    "anomaly, improvement",
                    (
                        "change point",
                        prose(
                            "a lasting change of a figure's level, for the worse or the better; a ",
                            Emphasis("spike"),
                            " is a single day",
                        ),
                    ),
                ),
                TermRow(
                    "finding",
                    (
                        "headline",
                        "the title of a page, in one plain sentence",
                    ),
                ),
            ),
        ),
    ),
)
