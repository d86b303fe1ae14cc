"""What the pages of people show."""

from dataclasses import dataclass
from datetime import datetime, tzinfo

from apps.accounts.queries import ListedPerson, ListedToken, TeamFact
from apps.accounts.queries.trail import TrailChange
from apps.console.kit.frame import Choice, Frame, Link
from apps.console.pages.listed import Listed

ROLES = {
    "finance": "reads everything, closes months",
    "platform": "manages the fleet, prices, jobs, people and tokens",
    "lead": "sees the teams they own or belong to, and all below",
    "viewer": "sees the teams they belong to, and all below",
}


@dataclass(frozen=True, slots=True)
class NewLink:
    """A link just made; it is shown this once."""

    name: str
    href: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class PersonRow:
    """A person of the list, with the teams they belong to."""

    person: ListedPerson
    teams: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class PeoplePage:
    """Who can sign in."""

    frame: Frame
    finding: str
    zone: tzinfo
    people: Listed[PersonRow]
    roles: tuple[Choice, ...]
    teams: tuple[TeamFact, ...]
    provider: str
    problem: str = ""
    link: NewLink | None = None


@dataclass(frozen=True, slots=True)
class PersonPage:
    """One person; `may_change` says whether who asks may change anything of theirs."""

    frame: Frame
    finding: str
    zone: tzinfo
    person: ListedPerson
    roles: tuple[Choice, ...]
    teams: tuple[Choice, ...]
    member_of: tuple[Link, ...]
    tokens: tuple[ListedToken, ...]
    may_change: bool
    problem: str = ""
    link: NewLink | None = None


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token, and whether it opens anything now; `team` is the only one that it reads."""

    token: ListedToken
    is_good: bool
    team: Link | None

    @property
    def may_read(self) -> bool:
        """Whether it opens anything to read; agents and schedulers only write."""
        return bool({"read", "manage"} & set(self.token.scopes))


@dataclass(frozen=True, slots=True)
class TokensPage:
    """Machines' credentials; `secret` is of the one just made, and shown this once."""

    frame: Frame
    finding: str
    zone: tzinfo
    rows: Listed[TokenRow]
    scopes: tuple[str, ...]
    teams: tuple[TeamFact, ...]
    may_change: bool
    problem: str = ""
    secret: str = ""


@dataclass(frozen=True, slots=True)
class TrailPage:
    """Who changed what."""

    frame: Frame
    finding: str
    zone: tzinfo
    changes: tuple[TrailChange, ...]
    kinds: tuple[Choice, ...]
    csv_href: str
    older: Link | None
