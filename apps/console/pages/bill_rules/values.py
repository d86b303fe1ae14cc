"""The values that the template of bill rules gets."""

from dataclasses import dataclass
from datetime import datetime, tzinfo

from apps.console.kit.frame import Frame, Link
from apps.console.pages.listed import Listed


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule in words: which rows, what it says of them, and what of open months it maps.

    `order` is its place among those in force, 0 where it is ended.
    """

    id: int
    order: int
    fits: str
    says: str
    rows: int
    billed: tuple[str, ...]
    most: float
    since: datetime
    ended_at: datetime | None
    end_href: str


@dataclass(frozen=True, slots=True)
class BillRulesPage:
    """Everything that the list of rules reads; `shows_ended` says whether ended ones are there."""

    frame: Frame
    finding: str
    zone: tzinfo
    rules: Listed[RuleRow]
    shows_ended: bool
    other: Link
    csv_href: str
    new: Link
