"""Where a pool's nodes are."""

from urllib.parse import urlencode

from django.urls import reverse


def pool_href(name: str) -> str:
    """Where the nodes of a pool are."""
    return f"{reverse('fleet')}?{urlencode({'pool': name})}"
