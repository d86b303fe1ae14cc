"""Where a pool's nodes are."""

from urllib.parse import urlencode

from django.urls import reverse

from apps.ledger.queries.cube import filter_word


def pool_href(name: str) -> str:
    """Where the nodes of a pool are."""
    return f"{reverse('fleet')}?{urlencode({'pool': filter_word(name)})}"
