"""Secrets that have to be read again, sealed with the installation's secret key: a copy of the database alone has none.

Each purpose has a key of its own. What was sealed with a key of before is read as long as that one is in
`RUNRATE_OLD_SECRET_KEYS`; `manage.py reseal_secrets` seals it with the present one.
"""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


def sealed_secret(text: str, purpose: str) -> str:
    """Return the text as it may be kept."""
    return _seal(purpose).encrypt(text.encode()).decode()


def opened_secret(sealed: str, purpose: str) -> str | None:
    """Return the text; None where it was sealed with a key that this installation does not have."""
    try:
        return _seal(purpose).decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


def _seal(purpose: str) -> MultiFernet:
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([_key_of(purpose, key) for key in keys])


def _key_of(purpose: str, key: str) -> Fernet:
    digest = hashlib.sha256(f"{purpose}:{key}".encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))
