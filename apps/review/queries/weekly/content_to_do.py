"""The open, claimed and proven items of a weekly review: plain values, as they are frozen. Money in micro-units, None is unknown."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReviewedMatter:
    """An alert that was open, or an anomaly found in the week; `link` is a page of the console."""

    kind: str
    title: str
    severity: str
    team_id: int | None
    since: str
    link: str
    micros: int | None = None


@dataclass(frozen=True, slots=True)
class ReviewedRecommendation:
    """A recommendation that was open: its monthly saving as a range, and how long it has waited.

    `owner_id` is a person's, None where nobody has it. Savings add up only where `is_counted`:
    two that touch the same dollars are one. `told_on` is the first day of the week whose look told
    what it says: where that is after the review's Monday, title and saving are as known later.
    """

    recommendation_id: int
    title: str
    kind: str
    state: str
    team_id: int | None
    owner_id: int | None
    low_micros: int | None
    high_micros: int | None
    age_days: int
    due_on: str
    link: str
    likely_micros: int | None = None
    is_counted: bool = True
    told_on: str = ""


@dataclass(frozen=True, slots=True)
class ProvenSaving:
    """The measured saving of a recommendation that was done, next to what was promised.

    `state` is verified, failed, or inconclusive: then nobody knows yet what it saved, and `why` says what it would take.
    """

    recommendation_id: int
    title: str
    team_id: int | None
    state: str
    promised_low_micros: int | None
    promised_high_micros: int | None
    saved_micros: int | None
    verified_on: str
    link: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class RecommendationsWeek:
    """The recommendations that are open, by how long, and those that are proven: what the next thing can be funded from."""

    recommendations: tuple[ReviewedRecommendation, ...] = ()
    proven: tuple[ProvenSaving, ...] = ()
    is_known: bool = False
