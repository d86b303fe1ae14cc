"""How often one caller may ask in a minute: reads and writes counted apart."""

import math
from datetime import datetime

from django.conf import settings
from django.core.cache import cache
from django.utils import timezone
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from apps.accounts.authentication.machines import machine_of
from apps.accounts.queries import TokenFact

WINDOW_SECONDS = 60


class PerMinute(BaseThrottle):
    """Refuses with 429 and Retry-After what is more than the settings allow in a minute.

    Counted per token, per person, or per address of a caller without either, in the cache that all
    web processes share. A view may count its writes apart, as another kind of the settings, by
    `counted_as`.
    """

    def __init__(self) -> None:
        self.at: datetime | None = None

    def allow_request(self, request: Request, view: object) -> bool:
        """Whether this request is within the minute's number."""
        self.at = timezone.now()
        kind = "reads" if request.method in SAFE_METHODS else getattr(view, "counted_as", "writes")
        return allowed_in_minute(kind, _caller_key(request), 1, self.at) == 1

    def wait(self) -> float | None:
        """Seconds until the next minute begins."""
        if self.at is None:
            return None
        return WINDOW_SECONDS - math.fmod(self.at.timestamp(), WINDOW_SECONDS)


def allowed_in_minute(kind: str, caller: str, number: int, at: datetime) -> int:
    """Of so many requests more of a caller, which are counted, how many are within the minute's number."""
    minute = int(at.timestamp() // WINDOW_SECONDS)
    request_count = _count_requests(f"per-minute/{kind}/{caller}/{minute}", number)
    most: int = settings.API_REQUESTS_PER_MINUTE[kind]
    return max(0, min(number, most - request_count + number))


def caller_of_token(token: TokenFact) -> str:
    """A token, for counting and remembering."""
    return f"token:{token.id}"


def caller_of(request: Request) -> str | None:
    """Who asks, for counting and remembering: a token or a person; None: nobody known."""
    if isinstance(request.auth, TokenFact):
        return caller_of_token(request.auth)
    person_id = getattr(request.user, "pk", None)
    return None if person_id is None else f"person:{person_id}"


def _count_requests(key: str, number: int) -> int:
    """So many more; two first ones at once are both counted."""
    try:
        return int(cache.incr(key, number))
    except ValueError:
        is_first = cache.add(key, number, timeout=2 * WINDOW_SECONDS)
        return number if is_first else int(cache.incr(key, number))


def _caller_key(request: Request) -> str:
    return caller_of(request) or machine_of(request.META)
