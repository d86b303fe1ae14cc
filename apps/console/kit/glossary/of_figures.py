"""Headings of tables and titles of figures."""

from apps.console.kit.glossary.blocks import GlossarySection, Paragraph, TermRow, TermTable
from apps.show.prose import Emphasis, Link, prose

COLUMNS = GlossarySection(
    "Columns and figures",
    (
        Paragraph("What headings of tables and titles of figures say, beside the words above."),
        TermTable(
            ("heading", "is"),
            (
                TermRow(
                    "GPU-hours",
                    (
                        prose(
                            "hours of whole GPUs that the row is of; a slice or a shared GPU "
                            "counts for its ",
                            Link("share", "#things"),
                        ),
                    ),
                ),
                TermRow("GPU-hours held", ("hours of whole GPUs that jobs held",)),
                TermRow(
                    "SM active",
                    (
                        "mean share of streaming multiprocessors with a warp resident, of the "
                        "time its meter reported",
                    ),
                ),
                TermRow(
                    "Tensor active",
                    (
                        "mean share of cycles in which tensor cores were active, of the time its "
                        "meter reported",
                    ),
                ),
                TermRow(
                    "DRAM active",
                    (
                        "mean share of cycles in which memory moved data, of the time its meter "
                        "reported",
                    ),
                ),
                TermRow(
                    "NVLink, PCIe",
                    ("bytes a second of one GPU, both directions, over the time reported",),
                ),
                TermRow(
                    "SM observed", ("share of the GPU time in which SM activity was reported",)
                ),
                TermRow(
                    "By state", ("the cost of each state of GPU time, as shares of the row's cost",)
                ),
                TermRow(
                    "Before",
                    (
                        prose(
                            "what the same cost in the days that the period is ",
                            Link(
                                "held against",
                                "../reference/console.md#periods-and-what-they-are-held-against",
                            ),
                        ),
                    ),
                ),
                TermRow(
                    "Difference", ("what it cost in the whole days that are over, less Before",)
                ),
                TermRow(
                    "Not known",
                    (
                        "amounts and GPU-hours that are in no sum: without a price, without an "
                        "owner, or not observed",
                    ),
                ),
                TermRow(
                    "Calls",
                    ("requests to a model API that were reported, those that failed among them",),
                ),
                TermRow("Tokens in, Tokens", ("what was sent, cached tokens among them",)),
                TermRow("of them cached", ("tokens that were sent and that the vendor had kept",)),
                TermRow("Tokens out", ("what was answered, reasoning tokens among them",)),
                TermRow(
                    "Per M tokens, A million tokens",
                    (
                        "what a million tokens, sent and answered, cost; undefined where some "
                        "calls have no price",
                    ),
                ),
                TermRow("Answered", ("calls without an error ÷ calls",)),
                TermRow("Errors", ("calls answered 429 or 5xx, or with another error",)),
                TermRow(
                    "Without a price",
                    ("calls or hours for which no rate is known; not free, and in no amount",),
                ),
                TermRow(
                    "Retirement date",
                    ("the day on which the vendor shuts the model off, as it announced",),
                ),
                TermRow(
                    "Rank",
                    (
                        "the team's place by the share of its cost that was waste, the largest "
                        "first",
                    ),
                ),
                TermRow("Share of cost", ("waste ÷ cost",)),
                TermRow(
                    "Data wait",
                    (
                        "cost of GPU time in which a run waited for its data, as far as it is in "
                        "no part of waste",
                    ),
                ),
                TermRow(
                    "Failed or redone",
                    (
                        "cost of work that failed, that a run did after its loss went wrong, or "
                        "that was done again after an interruption",
                    ),
                ),
                TermRow(
                    "Otherwise idle while allocated",
                    (
                        "cost of GPU time that was idle while allocated and is in no other part "
                        "of waste",
                    ),
                ),
                TermRow(
                    "Unit cost",
                    (
                        "what one unit of the work cost: a thousand requests, or a million "
                        "tokens trained",
                    ),
                ),
                TermRow(
                    "Not held by a job",
                    ("cost of GPU time that was out of service, stranded or unallocated",),
                ),
                TermRow(
                    "Still waiting",
                    ("runs and jobs that were submitted in the period and have not begun",),
                ),
                TermRow("p50, p90", ("50 %, or 90 %, of them waited so long or less",)),
                TermRow(
                    "So far", ("what of a budget's period came already, provisional lines too",)
                ),
                TermRow(
                    "Rest expected",
                    ("what the forecast, else the run rate, says of the rest of the period",),
                ),
                TermRow(
                    "Most to gain in a month",
                    ("the largest worth of one open thing; they overlap, and are not added",),
                ),
                TermRow(
                    "Worth in a month",
                    (
                        "what a step would save, or an anomaly costs, in 30 days, at the "
                        "marginal price",
                    ),
                ),
                TermRow(
                    "A million output tokens, 1,000 requests",
                    ("unit costs of services, of hours that were counted",),
                ),
            ),
        ),
    ),
)

HEADLINES = GlossarySection(
    "Headline figures",
    (
        Paragraph(
            prose(
                "Of a window, on the basis asked for; ",
                Emphasis("lines"),
                " are the ledger's, shared-out idle (flag ",
                Emphasis("shared idle"),
                ") left aside. A test recomputes them from raw rows of the demo.",
            )
        ),
        TermTable(
            ("figure", "where", "is"),
            (
                TermRow(
                    "Spend, Cost",
                    (
                        "Overview, Cost explorer, Scorecard",
                        "Σ lines",
                    ),
                ),
                TermRow(
                    "Active share of spend, of cost",
                    (
                        "Overview, Cost explorer",
                        "Σ lines in state active ÷ Σ lines",
                    ),
                ),
                TermRow(
                    "Waste",
                    (
                        "Overview, Scorecard",
                        "Σ lines that failed, diverged or were redone, else of hours without "
                        "requests, else idle while allocated, unallocated, stranded or out of "
                        "service; as a ratio ÷  Σ lines",
                    ),
                ),
                TermRow(
                    "Idle or not held by a job",
                    (
                        "Cost explorer",
                        "Σ lines idle while allocated, unallocated, stranded or out of service",
                    ),
                ),
                TermRow(
                    "Cost per GPU-hour",
                    (
                        "Overview, Cost explorer",
                        "Cost ÷ GPU-hours",
                    ),
                ),
                TermRow(
                    "Active share of held time",
                    (
                        "Scorecard",
                        "active ÷ observed GPU time of what was held",
                    ),
                ),
                TermRow(
                    "Coverage",
                    (
                        "under titles",
                        "observed ÷ held GPU time",
                    ),
                ),
                TermRow(
                    "Change",
                    (
                        "Overview, Cost explorer, Scorecard, Services",
                        "of whole days that are over, against the same days before; nothing "
                        "where these reach back to when no node was known",
                    ),
                ),
                TermRow(
                    "Queue wait",
                    (
                        "Scorecard",
                        "from submission to the first productive step, else the first minute in "
                        "which a GPU was active; what waits still counts as far as it has waited "
                        "(Kaplan–Meier)",
                    ),
                ),
                TermRow(
                    "1,000 requests",
                    (
                        "Services",
                        "Σ lines in hours that were counted × 1,000 ÷ requests that succeeded",
                    ),
                ),
                TermRow(
                    "A million output tokens",
                    (
                        "Services",
                        "Σ lines in hours that were counted × decode share ÷ output tokens × "
                        "1,000,000; the share by the engine's times, else by token weights",
                    ),
                ),
                TermRow(
                    "No requests",
                    (
                        "Services",
                        "Σ lines of hours in which a service was counted and had no requests; as "
                        "a ratio ÷ all that it cost",
                    ),
                ),
                TermRow(
                    "Error budget left",
                    (
                        "Services",
                        "1 − (1 − kept) ÷ (1 − target), of the objective's own days",
                    ),
                ),
                TermRow(
                    "Goodput",
                    (
                        "Runs",
                        "productive (steps kept, and evaluation) ÷ reported time: of one run by "
                        "the clock from its submission, of several by GPU time",
                    ),
                ),
                TermRow(
                    "Not productive",
                    (
                        "Runs",
                        "Σ cost of all buckets but productive and not reported; overhead is in "
                        "it, so it is not waste",
                    ),
                ),
                TermRow(
                    "MFU, tokens per second, scaling, first good checkpoint, cost per checkpoint",
                    (
                        "Runs",
                        prose(
                            Link("key metrics", "training.md#key-metrics"),
                        ),
                    ),
                ),
                TermRow(
                    "Experiments a week",
                    (
                        "Runs of a workload",
                        "runs that began × 7 ÷ days of the window since the organisation's first "
                        "run",
                    ),
                ),
                TermRow(
                    "Per model version, per million tokens",
                    (
                        "Runs of a workload",
                        "Σ lines of its runs ÷ versions shipped; ÷ tokens kept × 1,000,000",
                    ),
                ),
                TermRow(
                    "API spend",
                    (
                        "API spend",
                        "Σ calls' priced amounts",
                    ),
                ),
            ),
        ),
    ),
)
