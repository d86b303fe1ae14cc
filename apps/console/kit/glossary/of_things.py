"""Things, and the states of GPU time."""

from apps.console.kit.glossary.blocks import (
    Bullet,
    Definition,
    GlossarySection,
    Paragraph,
    TermRow,
    TermTable,
)
from apps.show.prose import Code, Emphasis, Link, SeeAlso, prose

THINGS = GlossarySection(
    "Things",
    (
        Bullet(
            (
                Definition(
                    ("Node",),
                    "a machine that is paid for from its start until an inventory, the bill, "
                    "a reclaim notice or a person ends it. A silent node keeps accruing cost.",
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Pool",),
                    "nodes of one model, one price and one purchase option. It is measured "
                    "in one unit, GPUs or cores.",
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Core",),
                    prose(
                        "what the scheduler counts as a CPU (Slurm: ",
                        Code("CPUTot"),
                        " of the node); a pool's count and its jobs' must be of the same kind.",
                    ),
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Cluster",),
                    "one scheduler's domain; names of nodes and jobs are unique in it.",
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Device",),
                    "a GPU, or a MIG slice of one. A slice made again is a new device, even "
                    "under its old UUID.",
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Share",),
                    "the fraction of a GPU that a device or holder counts for; always an "
                    "exact fraction.",
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Workload",),
                    "the stable thing with an owner: a training programme, a service, a "
                    "notebook fleet.",
                ),
            )
        ),
        Bullet((Definition(("Run",), "one logical training run, whatever jobs carried it."),)),
        Bullet(
            (
                Definition(("Attempt",), "one process's part in a run. "),
                Definition(("Rank",), "its number among the run's processes. "),
                Definition(("Programme",), "the runs of a training workload."),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Bucket",),
                    prose(
                        "what a second of a run was spent on",
                        SeeAlso("all", "training.md"),
                        ". ",
                    ),
                ),
                Definition(("Verdict",), "a bucket that has more than is usual, in a sentence."),
            )
        ),
        Bullet(
            (
                Definition(("Straggler",), "a rank that every step waits for. "),
                Definition(("Model version",), "a model that was shipped."),
            )
        ),
        Bullet(
            (
                Definition(("Service",), "a workload that answers requests. "),
                Definition(("Feature",), "what of a product asked it. "),
                Definition(
                    ("Engine", "gateway"),
                    prose(
                        "who counts the requests",
                        SeeAlso("serving", "../guides/serving.md"),
                        ".",
                    ),
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Objective",),
                    prose(
                        "the share of requests that a service is to answer in time, or (",
                        Emphasis("availability"),
                        ") without an error. ",
                    ),
                    aside=" (SLO)",
                ),
                Definition(("Error budget",), "the misses that it allows in days of its own."),
            )
        ),
        Bullet(
            (
                Definition(("Job",), "one attempt by a scheduler. "),
                Definition(("Allocation",), "what a job holds on a node, and when. "),
                Definition(("Holder",), "the job that holds."),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Holder key",),
                    prose(
                        "the agent's text for whose process it saw, ",
                        Code("scheduler/cluster/raw job id"),
                        ".",
                    ),
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Event",),
                    prose(
                        "days that are not like the others, and what they do to a day",
                        SeeAlso("forecasts", "../guides/forecast.md#events"),
                        ". ",
                    ),
                    aside=" (of demand)",
                ),
                Definition(
                    ("Change of level",), "a day from which on a figure is another, for good."
                ),
            )
        ),
        Bullet(
            (
                Definition(
                    ("Window",), "what one device did in 10 to 300 s, as an agent sent it. "
                ),
                Definition(("Usage hour",), "the same, per hour and holder."),
            )
        ),
    ),
)

STATES = GlossarySection(
    "States of a GPU-second",
    (
        Paragraph(
            prose(
                "In a pool measured in cores the time a job holds is ",
                Emphasis("unobserved"),
                ", the rest ",
                Emphasis("unallocated"),
                " or ",
                Emphasis("out of service"),
                "; GPUs of such a node carry nothing.",
            )
        ),
        TermTable(
            ("state (REST)", "it was", "and"),
            (
                TermRow(
                    "active",
                    (
                        "held, or used by a known job",
                        "a kernel was resident",
                    ),
                ),
                TermRow(
                    "idle while allocated",
                    (
                        "held",
                        "observed, and no kernel of the holder was resident",
                    ),
                    aside=prose(
                        " (",
                        Code("held_idle"),
                        ")",
                    ),
                ),
                TermRow(
                    "unobserved",
                    (
                        "held",
                        "no agent observed it, or nothing says whose process it was",
                    ),
                ),
                TermRow(
                    "out of service",
                    (
                        "not held",
                        "down, drained, failed or in maintenance",
                    ),
                ),
                TermRow(
                    "stranded",
                    (
                        "not held",
                        "what a MIG geometry leaves over",
                    ),
                ),
                TermRow(
                    "unallocated",
                    (
                        "not held",
                        "anything else",
                    ),
                ),
            ),
        ),
        Paragraph(
            prose(
                "What is not held (out of service, stranded, unallocated) is ",
                Emphasis("not held by a job"),
                " together. ",
                Emphasis("No workload"),
                " is another thing: a job held it, and no rule names a workload.",
            )
        ),
        Paragraph(
            prose(
                "Flags on a line: ",
                Emphasis("unscheduled"),
                " (a known job was active without a claim), ",
                Emphasis("unclaimed"),
                " (a process of no known job was active), ",
                Emphasis("contested"),
                " (claims over capacity, scaled), ",
                Emphasis("unpinned"),
                " (which GPU is not known; the mean of the node's unpinned ones), ",
                Emphasis("divided evenly"),
                " (a total without a split by node), ",
                Emphasis("uncounted"),
                " (how many a job held was not reported: the rest is unobserved, never free), ",
                Emphasis("cores"),
                " (what cores carry beside GPUs: money without GPU time, by ",
                Link("weight", "../decisions/0105-what-carries-a-nodes-cost.md"),
                "), ",
                Emphasis("shared"),
                " (a part of a shared cost), ",
                Emphasis("shared idle"),
                " (idle cost moved to those who used the pool; in each charge these sum to 0).",
            )
        ),
    ),
)
