"""Changes of a further edition of a week's review from the edition before: figures that the ledger restated since."""

from collections.abc import Iterator, Mapping
from typing import Any

from apps.ledger.queries.cube import CubeQuestion, explore
from apps.ledger.queries.windows import Window
from apps.review.queries.weekly.content import EarlierEdition, Restated, WeeklyContent
from apps.review.queries.weekly.json_text import as_json
from apps.review.queries.weekly.stored_reviews import StoredReview

WHOLE, BUDGET = "organisation", "budget"
PARTS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "team": (("teams",), ("team_id",), "name"),
    "workload": (("workloads",), ("workload_id",), "name"),
    "commitment": (("commitments", "commitments"), ("commitment_id",), "name"),
    BUDGET: (("budgets", "budgets"), ("budget_id",), "name"),
    "recommendation": (("recommendations", "recommendations"), ("recommendation_id",), "title"),
    "saving": (("recommendations", "proven"), ("recommendation_id", "verified_on"), "title"),
    "matter": (("matters",), ("kind", "link", "title"), "title"),
}
"""Rows of a review: where they are, what tells one from another, and what they are called."""
FIGURES: Mapping[str, tuple[str, ...]] = {
    WHOLE: ("cost.micros", "waste_micros", "no_workload_micros", "diverged_micros"),
    "team": ("cost.micros", "waste_micros"),
    "workload": (
        "cost.micros",
        "waste.micros",
        "units.count",
        "verdict.cost_micros",
        "returned.returned_low_micros",
        "returned.returned_high_micros",
        "verdict.verdict",
    ),
    "commitment": ("cost_micros", "saved_micros", "unused_micros"),
    BUDGET: ("amount", "spent", "expected"),
    "recommendation": ("state", "low_micros", "high_micros"),
    "saving": ("state", "saved_micros"),
}
"""Of each its figures; where none of them moved, what else did is named by its place."""
OF_THE_MAKING = frozenset({"made_at", "stands_at", "title", "schema", "sections", "earlier"})
LISTED = "listed"


def earlier_edition(
    review: StoredReview | None, content: WeeklyContent, window: Window
) -> EarlierEdition | None:
    """The edition that was kept before this one, and each figure that it had otherwise; None where there is none."""
    if review is None:
        return None
    return EarlierEdition(
        edition=review.edition,
        digest=review.digest,
        made_at=review.made_at.isoformat(),
        restated=tuple(restated(review.content, content)),
        posted_micros=_posted_later(window),
    )


def restated(before: WeeklyContent, after: WeeklyContent) -> Iterator[Restated]:
    """Each figure that is not the same in both, and each row that is in one alone."""
    was, now = as_json(before), as_json(after)
    for plain in (was, now):
        for name in OF_THE_MAKING:
            plain.pop(name, None)
    rows = {part: (_rows_of(was, *where), _rows_of(now, *where)) for part, where in PARTS.items()}
    yield from _moved(WHOLE, "", None, _leaves(was), _leaves(now))
    for part, (earlier, later) in rows.items():
        for key in sorted({*earlier, *later}, key=str):
            row = later.get(key) or earlier[key]
            name, team_id = row[PARTS[part][2]], row.get("team_id")
            if key in earlier and key in later:
                yield from _moved(part, name, team_id, _leaves(earlier[key]), _leaves(later[key]))
            else:
                yield Restated(part, name, team_id, LISTED, key in earlier, key in later)


def _rows_of(
    plain: dict[str, Any], path: tuple[str, ...], key: tuple[str, ...], _: str
) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The rows of a part by their key, taken out of the whole."""
    *above, name = path
    holder: dict[str, Any] | None = plain
    for step in above:
        holder = None if holder is None else holder.get(step)
    listed = holder.pop(name, ()) if holder else ()
    return {tuple(row.get(column) for column in key): row for row in listed}


def _moved(
    part: str, name: str, team_id: int | None, before: dict[str, Any], after: dict[str, Any]
) -> Iterator[Restated]:
    paths = [*FIGURES.get(part, ()), *sorted({*before, *after})]
    moved = [path for path in dict.fromkeys(paths) if before.get(path) != after.get(path)]
    own_paths = [path for path in moved if path in FIGURES.get(part, ())]
    for path in own_paths or moved[:1]:
        yield Restated(part, name, team_id, path, before.get(path), after.get(path))


def _leaves(value: Any, path: str = "") -> dict[str, Any]:
    """Every plain value by its place, such as `cost.micros`; one that is null is as one that is not there."""
    if isinstance(value, dict):
        steps = [(str(name), member) for name, member in value.items()]
    elif isinstance(value, list):
        steps = [(str(place), entry) for place, entry in enumerate(value)]
    else:
        return {} if value is None else {path: value}
    leaves: dict[str, Any] = {}
    for step, child in steps:
        leaves |= _leaves(child, f"{path}.{step}" if path else step)
    return leaves


def _posted_later(window: Window) -> dict[str, int]:
    """Return the sums of corrections of the window's closed months, by the month in whose books they stand."""
    question = CubeQuestion(window, is_bounded=False).by("month", "posting_month")
    micros_by_month: dict[str, int] = {}
    for row in explore(question).rows:
        month, posted = (key.value for key in row.keys)
        if month != posted and row.sums.micros is not None:
            micros_by_month[str(posted)] = micros_by_month.get(str(posted), 0) + row.sums.micros
    return micros_by_month
