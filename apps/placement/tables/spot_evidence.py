"""The table of spot evidence: how often each source saw spot taken away."""

from apps.economics.hours import DAY_HOURS
from apps.economics.spot.evidence import FEWEST_ENDS, ObservedInterruptions
from apps.placement.queries.spot_evidence import IMPORTED, OWN_NODES, SpotEvidence
from apps.show.cell_formats import FIGURE, PROSE, worded
from apps.tables.column import Column, field
from apps.tables.table import Table

SOURCES = {OWN_NODES: "Own nodes", IMPORTED: "Imported series"}


def day_rate(interruptions: ObservedInterruptions) -> float | None:
    """Interruptions in 24 hours on spot; None where none was seen."""
    return None if interruptions.rate is None else interruptions.rate * DAY_HOURS


def _is_thin_words(interruptions: ObservedInterruptions) -> str:
    return f"Thin: fewer than {FEWEST_ENDS} seen" if interruptions.is_thin else "Enough"


def _place_words(row: SpotEvidence) -> str | None:
    region = row.zone or row.region
    return f"{row.provider}:{region}" if row.provider and region else region or row.provider or None


SPOT_EVIDENCE = Table[SpotEvidence](
    "evidence",
    "By pool and zone",
    (
        Column("name", "Pool or series", format=PROSE),
        Column("interruptions_per_day", "Interruptions a day", lambda row: day_rate(row.rate), FIGURE,
               formerly=("per_day",)),
        Column("range", "Range of 95 %", lambda row: row.rate.high, FIGURE, csv="", sorts=False),
        Column("thin", "Evidence", lambda row: _is_thin_words(row.rate), warns=lambda row: row.rate.is_thin),
        Column("source", "Source", format=worded(SOURCES), order=lambda row: SOURCES[row.source]),
        Column("interruptions", "Interruptions", field("rate.interruptions")),
        Column("exposure_hours", "Hours seen", field("rate.exposure_hours"), FIGURE, formerly=("hours",),
               shown=lambda row, _: f"{row.rate.exposure_hours:,.0f}"),
        Column("median_life_hours", "Median life", format=FIGURE, formerly=("median",)),
        Column("place", "Place", _place_words),
        Column("gpu_model", "GPU model", lambda row: row.gpu_model or None, formerly=("model",)),
        Column("instance_type", "Machine", lambda row: row.instance_type or None, formerly=("machine",)),
        Column("up_share", "Could be had", missing="–", formerly=("up",)),
        Column("seen_until", "Seen until", formerly=("until",)),
        Column("seen_from", ""),
        Column("low_per_day", "", lambda row: row.rate.low * DAY_HOURS),
        Column("high_per_day", "", lambda row: None if row.rate.high is None else row.rate.high * DAY_HOURS),
        Column("provider", ""),
        Column("region", ""),
        Column("zone", ""),
        Column("mean_life_hours", ""),
    ),
    noun=("source", "sources"),
    about="{said}; a day is 24 hours of one node on spot; a median life needs 20 lives that were seen to their end",
    sort="evidence-by",
    row=SpotEvidence,
    unique=lambda row: (row.source, row.name),
)  # fmt: skip
