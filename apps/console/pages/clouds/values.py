"""The values that the templates of cloud accounts get."""

from dataclasses import dataclass
from datetime import datetime, tzinfo

from apps.console.kit.frame import EmptyState, Frame, Link
from apps.console.pages.listed import Listed


@dataclass(frozen=True, slots=True)
class ReadingRow:
    """One thing that is read of an account; `advice` says what to do where it broke off."""

    account: str
    what: str
    key: str
    state: str
    tone: str
    succeeded_at: datetime | None
    due_at: datetime | None
    counts: str
    error: str
    advice: str
    note: str
    every: str
    needs: str


@dataclass(frozen=True, slots=True)
class AccountCard:
    """An account with everything that is read of it."""

    id: int
    name: str
    provider: str
    account: str
    regions: str
    role_arn: str
    export_uri: str
    is_busy: bool
    troubles: int
    readings: tuple[ReadingRow, ...]


@dataclass(frozen=True, slots=True)
class QuotaRow:
    """A limit, or capacity that is held; `used` is empty where nobody told."""

    name: str
    cloud: str
    account: str
    region: str
    code: str
    value: str
    used: str
    used_ratio: float | None
    unit: str
    read_at: datetime
    is_full: bool


@dataclass(frozen=True, slots=True)
class MachineRow:
    """A machine of a cloud that is no node here."""

    name: str
    external_id: str
    account: str
    zone: str
    instance_type: str
    purchase_option: str
    launched_at: datetime | None


@dataclass(frozen=True, slots=True)
class StrayNodeRow:
    """A node that no cloud account runs."""

    name: str
    href: str
    pool: str
    cloud: str
    region: str
    provider_id: str
    began_at: datetime


@dataclass(frozen=True, slots=True)
class CloudsPage:
    """Every account, the limits, and who is missing on either side."""

    frame: Frame
    finding: str
    zone: tzinfo
    may_manage: bool
    accounts: tuple[AccountCard, ...]
    quotas: Listed[QuotaRow]
    machines: Listed[MachineRow]
    nodes: Listed[StrayNodeRow]
    matched: int
    unread: str
    new: Link | None
    empty: EmptyState | None

    @property
    def is_busy(self) -> bool:
        """Whether the page will say more in a moment."""
        return any(account.is_busy for account in self.accounts)
