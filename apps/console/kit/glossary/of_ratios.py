"""Ratios."""

from apps.console.kit.glossary.blocks import Bullet, Definition, GlossarySection
from apps.show.prose import Code, Emphasis, Link, SeeAlso, prose

RATIOS = GlossarySection(
    "Ratios",
    (
        Bullet(
            (
                Definition(
                    ("Coverage",),
                    "observed ÷ held GPU-seconds. Time not held by a job is shown apart.",
                ),
            )
        ),
        Bullet(
            (
                Definition(("Commitment coverage",), "covered ÷ use that could be covered. "),
                Definition(("Commitment utilization",), "used ÷ bought. "),
                Definition(
                    ("Savings rate of commitments",),
                    "(on-demand − cost) ÷ on-demand of what they covered, unused included; ",
                ),
                Definition(
                    ("effective savings rate",), "the same of all demand. ", aside=" (Portfolio)"
                ),
                Definition(
                    ("Break-even",),
                    prose(
                        "the utilization at which a commitment costs what on-demand would",
                        SeeAlso("how", "../guides/commitments.md"),
                        ".",
                    ),
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Goodput",),
                    "productive (steps kept, and evaluation) ÷ reported time of training "
                    "runs; not known where less than half of the time was reported. ",
                ),
                Definition(
                    ("Reported",),
                    prose(
                        "of which a run says what it was spent on; the rest is ",
                        Emphasis("not reported"),
                        " (",
                        Code("untold"),
                        ").",
                    ),
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Waited for capacity", "for outages"),
                    "GPU-hours of jobs that were submitted and not started, by whether GPUs "
                    "of their pool were out meanwhile; ",
                ),
                Definition(
                    ("out",),
                    prose(
                        "GPU time paid for and not usable in an outage",
                        SeeAlso("how", "../guides/headroom.md#waiting-and-outages"),
                        ". None is two of them.",
                    ),
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Budget headroom",),
                    prose(
                        "amount − so far − rest expected − approved requests",
                        SeeAlso("how", "../guides/budgets.md"),
                        ". ",
                    ),
                ),
                Definition(("GPU headroom",), "GPUs allowed − alive. ", aside=" of a quota"),
                Definition(
                    ("Service level",),
                    prose(
                        "the share of hours in which GPUs suffice, C_u ÷ (C_u + C_o)",
                        SeeAlso("how", "../guides/headroom.md"),
                        ". ",
                    ),
                ),
                Definition(
                    ("Run rate",), "what comes if the rest goes on as the last whole days did."
                ),
            )
        ),
        Bullet(
            (
                Definition(("Cadence",), "training time between two checkpoints. "),
                Definition(
                    ("Hazard",),
                    prose(
                        "interruptions in an hour of a GPU",
                        SeeAlso("how", "training.md"),
                        ".",
                    ),
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Unit cost",),
                    "what a thousand requests or a million tokens cost; undefined without "
                    "any, never 0. ",
                ),
                Definition(("Allocation-based",), "of all that a service held; "),
                Definition(("usage-based",), "of what was active. "),
                Definition(
                    ("Unattributed",),
                    prose(
                        "tokens of an engine beyond those that its gateway counted",
                        SeeAlso("how", "services.md"),
                        ".",
                    ),
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Waste",),
                    prose(
                        "what was charged while nothing useful came of it ÷ all that was "
                        "charged (where a ratio): failed or redone work + no requests + idle "
                        "while allocated + unallocated + stranded + out of service. A line "
                        "counts once: as failed or redone, else as no requests, else by its "
                        "state; ",
                        Emphasis("otherwise idle while allocated"),
                        " is thus less than the state of that name",
                        SeeAlso("why", "../decisions/0125-waste-is-one-sum.md"),
                        ". ",
                    ),
                ),
                Definition(
                    ("Diverged",),
                    prose(
                        "the part of failed or redone work that a run did after its loss was "
                        "no finite number, or all that was learned was lost",
                        SeeAlso("how", "training.md#time-by-bucket"),
                        ". Not in it: unobserved time (unknown), communication, checkpoints "
                        "and data wait (overhead), and what is ",
                        Emphasis("lost to stragglers"),
                        ".",
                    ),
                ),
            )
        ),
        Bullet(
            (
                Definition(("Active share",), "active ÷ paid GPU time. "),
                prose(
                    Emphasis("Utilization", "**"),
                    " of the chip is another ratio, shown by its ",
                    Link("name", "#columns-and-figures"),
                    ": SM active, tensor active, DRAM active. Of a shared GPU a meter "
                    "reports all holders together.",
                ),
            )
        ),
    ),
)
