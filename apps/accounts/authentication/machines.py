"""From which machine somebody calls, as far as our own proxies say so."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings


def machine_of(meta: Mapping[str, Any]) -> str:
    """The caller's address: that of the connection, or what the outermost of our proxies wrote.

    Callers may write anything into X-Forwarded-For; each of our proxies appends whom it saw.
    """
    proxies: int = settings.TRUSTED_PROXIES
    addresses = [part.strip() for part in str(meta.get("HTTP_X_FORWARDED_FOR", "")).split(",")]
    if proxies and len(addresses) >= proxies and addresses[-proxies]:
        return addresses[-proxies]
    return str(meta.get("REMOTE_ADDR", ""))
