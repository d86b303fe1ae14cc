"""Names that were taken out: what stands in their place, found without knowing the name."""

import hmac
from collections.abc import Collection

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


def pseudonyms_of(names: Collection[str]) -> dict[str, str]:
    """Those of these names that were taken out, each with what is written for it."""
    if not names:
        return {}
    # Few were ever taken out, mostly none: then no name of a whole import needs a digest.
    kept = {
        bytes(digest): shown
        for digest, shown in Pseudonym.objects.values_list("digest", "pseudonym")
    }
    digests = {name: name_digest(name) for name in names} if kept else {}
    return {name: kept[digest] for name, digest in digests.items() if digest in kept}
