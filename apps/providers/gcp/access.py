"""Google Cloud as every reader of it needs it: who asks, where, and its refusals in words."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import google.auth
from google.api_core.client_options import ClientOptions
from google.api_core.exceptions import Forbidden, GoogleAPICallError, ResourceExhausted, RetryError
from google.auth.credentials import Credentials
from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError

from apps.providers.cloud import CloudFault, CloudRefused

NO_KEYS = (
    "no Google Cloud credentials were found: give the worker a service account, or set"
    " GOOGLE_APPLICATION_CREDENTIALS"
)


@dataclass(frozen=True, slots=True)
class GoogleAccess:
    """Who asks; `endpoint` is empty for Google's own addresses."""

    credentials: Credentials
    endpoint: str = ""

    @property
    def options(self) -> ClientOptions | None:
        """Where a client asks; None for Google's own addresses."""
        return ClientOptions(api_endpoint=self.endpoint) if self.endpoint else None


def default_access() -> GoogleAccess:
    """Whoever Google's ordinary chain of credentials says. Refuses CloudRefused."""
    with in_words("credentials"):
        credentials, _ = google.auth.default(
            scopes=["https://www.googleapis.com/auth/cloud-platform"]
        )
    return GoogleAccess(credentials)


@contextmanager
def in_words(needed: str) -> Iterator[None]:
    """Raise CloudRefused for what Google refuses inside; `needed` is the permission it takes."""
    try:
        yield
    except DefaultCredentialsError as missing:
        raise CloudRefused(NO_KEYS, CloudFault.CREDENTIALS) from missing
    except GoogleAuthError as refused:
        words = f"Google Cloud does not accept the keys: {refused}"
        raise CloudRefused(words, CloudFault.CREDENTIALS) from refused
    except Forbidden as refused:
        words = f"Google Cloud denies {needed}: {refused.message}"
        raise CloudRefused(words, CloudFault.DENIED) from refused
    except ResourceExhausted as refused:
        raise CloudRefused(
            "Google Cloud asks to slow down; the next sync goes on here", CloudFault.RATE_LIMITED
        ) from refused
    except (GoogleAPICallError, RetryError) as refused:
        raise CloudRefused(f"Google Cloud: {refused}") from refused
