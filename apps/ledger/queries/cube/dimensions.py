"""The dimensions that costs may be grouped and filtered by: one registry, for pages, REST and CSV."""

from dataclasses import dataclass

from django.conf import settings

from apps.ledger.queries.cube.sources import TAG


@dataclass(frozen=True, slots=True)
class Dimension:
    """One way to tell costs apart.

    `without` is what a cost that has none of it is called. `most` groups are listed by themselves,
    the others together. `is_of_today`: what the costs of months that are closed are grouped by is
    what stands today, not what stood then.
    """

    name: str
    label: str
    without: str = ""
    most: int | None = None
    is_of_today: bool = False
    is_time: bool = False

    @property
    def is_filter(self) -> bool:
        """Whether costs may be narrowed by it: time is narrowed by the window."""
        return not self.is_time


MOST = 50
DIMENSIONS: dict[str, Dimension] = {
    dimension.name: dimension
    for dimension in (
        Dimension("team", "Team"),
        Dimension("cost_centre", "Cost centre", "No cost centre", is_of_today=True),
        Dimension("cluster", "Cluster", "No cluster", is_of_today=True),
        Dimension("pool", "Pool", "No pool"),
        Dimension("provider", "Provider", "No provider", is_of_today=True),
        Dimension("region", "Region", "No region", is_of_today=True),
        Dimension("gpu_model", "GPU model", "No GPU"),
        Dimension("purchase_option", "Purchase option", "No purchase option"),
        Dimension("workload", "Workload", "No workload, or not held by a job"),
        Dimension("job", "Job", "Not held by a job", most=MOST),
        Dimension("user", "User", "Not held by a job", most=MOST),
        Dimension("node", "Node", "No node", most=MOST),
        Dimension("state", "State", "Other charges"),
        Dimension("kind", "Kind"),
        Dimension("status", "Status"),
        Dimension("day", "Day", is_time=True),
        Dimension("week", "Week", is_time=True),
        Dimension("month", "Month", is_time=True),
        Dimension("posting_month", "Posting month", is_time=True),
    )
}


def add_dimension(dimension: Dimension, after: str = "") -> None:
    """Let costs be asked by one more, listed after another, else last.

    For apps above the ledger, with their sources.
    """
    listed = list(DIMENSIONS.values())
    place = 1 + list(DIMENSIONS).index(after) if after else len(listed)
    listed.insert(place, dimension)
    DIMENSIONS.clear()
    DIMENSIONS.update({entry.name: entry for entry in listed})


def dimensions() -> dict[str, Dimension]:
    """All of them by name, with `tag.<key>` for each label that is a tag here."""
    tags = [Dimension(f"{TAG}.{key}", f"Tag {key}", f"No tag {key}") for key in settings.TAG_KEYS]
    return DIMENSIONS | {tag.name: tag for tag in tags}
