"""Where history from before comes in: the link to its imports, and what stands in place of forecasts without any."""

from django.urls import reverse

from apps.accounts.queries import Role
from apps.console.kit.frame import EmptyState, Link
from apps.console.kit.request import Context
from apps.console.pages.managers import step_for


def import_links(context: Context) -> tuple[Link, ...]:
    """The way to the imports, for those who may."""
    return (_import_link(),) if context.viewer.sees_everything else ()


def no_forecast(context: Context) -> EmptyState:
    """From when on there is one, and how history from before comes in."""
    return EmptyState(
        title="No forecast yet",
        sentence="GPU-hours, spend, requests, tokens and queue waits are forecast every morning at four, two weeks "
        "ahead by the hour, and every week 18 months ahead by the day, each with how well the same method did before. "
        "A series is forecast from 48 settled hours on, by the day from 28 days on; the first forecast of a new one is made within ten minutes.",
        steps=(
            step_for(
                "Older history comes from a file, by the hour or the day.",
                _import_link(),
                "imports it",
                may=context.viewer.sees_everything,
                role=Role.FINANCE,
            ),
            step_for(
                "What jobs held before is history too: it comes with the scheduler’s accounting.",
                Link("Import jobs", reverse("imports")),
                "imports it",
                may=context.viewer.may_manage,
            ),
        ),
    )


def _import_link() -> Link:
    return Link("Import a series", reverse("series-imports"))
