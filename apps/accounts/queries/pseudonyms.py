"""Names that were taken out: what stands in their place, found without knowing the name."""

import hmac
from collections.abc import Collection, Mapping

from django.conf import settings

from apps.accounts.models import Pseudonym

SALT = b"runrate.pseudonyms"
SHOWN_DIGITS = 12


def name_digest(name: str) -> bytes:
    """HMAC-SHA-256 of a name under the installation's key: without the key nobody can try names (32 bytes)."""
    return hmac.digest(settings.SECRET_KEY.encode() + SALT, name.encode(), "sha256")


def pseudonym_of(name: str) -> str:
    """What a name is written as, always the same on one installation; an address stays one, of no mailbox."""
    shown = f"person-{name_digest(name).hex()[:SHOWN_DIGITS]}"
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


def _shown_of(name: str, kept: Mapping[bytes, str]) -> str | None:
    """By the name as it is, else by it in small letters: what was taken out so is meant in any case."""
    shown = kept.get(name_digest(name))
    if shown is None and name != name.casefold():
        shown = kept.get(name_digest(name.casefold()))
    return shown
