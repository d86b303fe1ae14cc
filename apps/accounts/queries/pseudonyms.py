"""Names that were taken out: what stands in their place, found without knowing the name."""

import hmac
from collections.abc import Collection, Mapping

from django.conf import settings

from apps.accounts.models import NameRemoval, Pseudonym
from apps.personal.names import FileOutcome, folded_name

SALT = b"runrate.pseudonyms"
SHOWN_DIGITS = 12


def name_digest(name: str) -> bytes:
    """HMAC-SHA-256 of a name under the installation's key: without the key nobody can try names (32 bytes)."""
    return hmac.digest(settings.SECRET_KEY.encode() + SALT, name.encode(), "sha256")


def pseudonym_of(name: str) -> str:
    """What a name is written as, in any spelling the same on one installation; an address stays one, of no mailbox."""
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
    kept = {
        bytes(digest): shown
        for digest, shown in Pseudonym.objects.values_list("digest", "pseudonym")
    }
    return {name: shown for name in names if kept and (shown := _shown_of(name, kept))}


def written_for(names: Collection[str]) -> dict[str, str]:
    """What is written for each of these names: as before where one was taken out already."""
    before = pseudonyms_of(names)
    return {name: before.get(name) or pseudonym_of(name) for name in names}


def _shown_of(name: str, kept: Mapping[bytes, str]) -> str | None:
    """By what all spellings of the name have in common; before, names were kept as they were entered."""
    ways = dict.fromkeys((folded_name(name), name, name.casefold()))
    return next((shown for way in ways if (shown := kept.get(name_digest(way)))), None)


def files_of_last_removal() -> list[FileOutcome]:
    """What became of each file that held a name when one was last taken out, or may hold it."""
    files = NameRemoval.objects.order_by("-id").values_list("files", flat=True).first()
    return [FileOutcome(**outcome) for outcome in files or ()]
