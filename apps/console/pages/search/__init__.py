"""Search: one field over everything that has a name."""

from apps.console.pages.search.views import search, suggested

__all__ = ["search", "suggested"]
