"""Description of a cloud as Runrate has it: what it is called, what can be read of it, and what that takes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum


class CloudFault(StrEnum):
    """Why a cloud did not answer, as far as it decides what is to be done about it."""

    OTHER = ""
    DENIED = "denied"
    CREDENTIALS = "credentials"
    RATE_LIMITED = "rate_limited"


class CloudRefused(Exception):
    """A cloud did not answer, in words for whoever has to mend it; `fault` is what advice goes by."""

    def __init__(self, words: str, fault: CloudFault = CloudFault.OTHER) -> None:
        super().__init__(words)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class ReadingKind:
    """One kind of thing that is read of clouds; `every` lies between two readings of an account."""

    label: str
    every: timedelta


KINDS: Mapping[str, ReadingKind] = {
    "spot_prices": ReadingKind("Spot prices", timedelta(hours=1)),
    "on_demand_prices": ReadingKind("On-demand prices", timedelta(days=1)),
    "reserved_instances": ReadingKind("Reserved instances", timedelta(hours=6)),
    "savings_plans": ReadingKind("Savings plans", timedelta(hours=6)),
    "committed_use": ReadingKind("Committed use", timedelta(hours=6)),
    "reservations": ReadingKind("Reservations and capacity blocks", timedelta(hours=1)),
    "quotas": ReadingKind("Quotas", timedelta(hours=6)),
    "machines": ReadingKind("Running machines", timedelta(minutes=30)),
    "bills": ReadingKind("Bills", timedelta(hours=6)),
}
"""By the word that accounts, commands and REST say for it."""


@dataclass(frozen=True, slots=True)
class AccountOption:
    """A field of an account that a cloud has use for: what it looks like, and when it is right."""

    example: str
    pattern: str = r"\S*"

    def is_met_by(self, text: str) -> bool:
        """Whether the field may say this; it may always be empty."""
        return not text or re.fullmatch(self.pattern, text) is not None


@dataclass(frozen=True, slots=True)
class CloudProvider:
    """A cloud. `key` is its word in pools, rates and bills, and the name of its folder.

    `permissions` has, by the kind of what can be read, what whoever asks must be allowed, as the
    cloud calls it. `options` are those of role_arn, export_uri and export_region that it has use
    for. `credentials` says what to do where the worker finds no keys.
    """

    key: str
    label: str
    permissions: Mapping[str, tuple[str, ...]]
    account_example: str
    region_example: str
    credentials: str
    options: Mapping[str, AccountOption] = field(default_factory=dict)

    @property
    def readings(self) -> tuple[str, ...]:
        """The kinds of what can be read of it, in the order in which all pages list them."""
        return tuple(kind for kind in KINDS if kind in self.permissions)
