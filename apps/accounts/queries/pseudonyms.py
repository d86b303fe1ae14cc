"""Names that were taken out: what stands in their place, found without knowing the name."""

import hmac
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from apps.accounts.models import NameRemoval, Pseudonym
from apps.accounts.queries.sealed import opened_secret
from apps.personal.fields import walked_models
from apps.personal.names import FileOutcome, folded_before, folded_name

SEALED_FOR = "name removal"
SALT = b"runrate.pseudonyms"
SHOWN_DIGITS = 12


def name_digest(name: str) -> bytes:
    """HMAC-SHA-256 of a name under the installation's key: without the key nobody can try names (32 bytes)."""
    return hmac.digest(settings.SECRET_KEY.encode() + SALT, name.encode(), "sha256")


def pseudonym_of(name: str) -> str:
    """Return the pseudonym of a name, in any spelling the same on one installation; an address stays one, of no mailbox."""
    shown = f"person-{name_digest(folded_name(name)).hex()[:SHOWN_DIGITS]}"
    return f"{shown}@pseudonym.invalid" if "@" in name else shown


def is_anybody_taken_out() -> bool:
    """Whether any name was taken out: mostly none was, and then nothing that arrives needs a look."""
    return Pseudonym.objects.exists()


def pseudonyms_of(names: Collection[str]) -> dict[str, str]:
    """Those of these names that were taken out, each with what is written for it."""
    if not names:
        return {}
    # Few were ever taken out, mostly none: then no name of a whole import needs a digest.
    shown_by_digest = {
        bytes(digest): shown
        for digest, shown in Pseudonym.objects.values_list("digest", "pseudonym")
    }
    return {
        name: shown
        for name in names
        if shown_by_digest and (shown := _shown_of(name, shown_by_digest))
    }


def written_for(names: Collection[str]) -> dict[str, str]:
    """Return the pseudonym of each of these names: as before where one was taken out already."""
    before = pseudonyms_of(names)
    return {name: before.get(name) or pseudonym_of(name) for name in names}


def _shown_of(name: str, shown_by_digest: Mapping[bytes, str]) -> str | None:
    """By what all spellings of the name have in common; before, names were kept as they were entered."""
    ways = dict.fromkeys((folded_name(name), folded_before(name), name, name.casefold()))
    return next((shown for way in ways if (shown := shown_by_digest.get(name_digest(way)))), None)


@dataclass(frozen=True, slots=True)
class RemovalFact:
    """How far a removal of names is: how many of all tables are done, and how many rows of each were rewritten.

    `is_readable`: its names are gone, as they should be, or can be read to go on with it.
    """

    began_at: datetime
    ended_at: datetime | None
    tables: Mapping[str, int]
    all_tables: int
    files: Sequence[FileOutcome]
    is_readable: bool

    @property
    def rows(self) -> int:
        """Of all tables that are done."""
        return sum(self.tables.values())


def last_removal() -> RemovalFact | None:
    """How far the last removal of names is; None: there was none."""
    removal = NameRemoval.objects.order_by("-id").first()
    if removal is None:
        return None
    sealed = removal.sealed_names
    return RemovalFact(
        began_at=removal.began_at,
        ended_at=removal.ended_at,
        tables=removal.tables,
        all_tables=sum(1 for _ in walked_models()),
        files=tuple(FileOutcome(**outcome) for outcome in removal.files),
        is_readable=not sealed or opened_secret(sealed, SEALED_FOR) is not None,
    )
