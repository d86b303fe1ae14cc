"""Where a pool's nodes are, and what it cost."""

from urllib.parse import urlencode

from django.urls import reverse

from apps.ledger.queries.cube import filter_word


def pool_href(name: str) -> str:
    """Where the nodes of a pool are."""
    return f"{reverse('fleet')}?{urlencode({'pool': filter_word(name)})}"


def pool_costs_href(name: str, window: str) -> str:
    """Return the address of what a pool cost in these days."""
    params = {"window": window, "pool": filter_word(name)}
    return f"{reverse('costs')}?{urlencode(params)}"
