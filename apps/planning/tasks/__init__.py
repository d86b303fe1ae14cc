"""The sweeps that make the day's forecasts, take histories in, run kept scenarios and portfolios, and clock requests."""

from functools import partial

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from apps.accounts.queries import has_organisation, organisation
from apps.planning import actions
from apps.planning.solvers.daily_forecasting import daily_forecast_fields
from apps.planning.solvers.forecasting import forecast_fields
from apps.planning.solvers.portfolio import series_answer
from apps.planning.solvers.reconciling import RECONCILERS
from apps.planning.tasks.series_uploads import forget_series_files, work_on_series


@shared_task
def make_forecasts() -> int:
    """Forecast every series with new hours where the day's forecasts are due; how many were made."""
    if not has_organisation():
        return 0
    zone = organisation().zone
    return actions.make_forecasts_if_due(
        maker=forecast_fields,
        daily=daily_forecast_fields,
        reconcilers=RECONCILERS,
        at=timezone.now(),
        zone=zone,
    )


@shared_task
def import_series_files() -> None:
    """Look at histories that came, import those that somebody said yes to, forget the others."""
    work_on_series()
    forget_series_files()


@shared_task
def run_scenarios() -> int:
    """Run the kept scenarios that are due; how many."""
    if not has_organisation():
        return 0
    return actions.run_due_scenarios(at=timezone.now())


@shared_task
def clock_capacity_requests() -> int:
    """Look for the first productive hour of requests that were delivered; how many had one."""
    return actions.clock_capacity_requests(timezone.now())


@shared_task
def answer_portfolios() -> int:
    """Answer the portfolios that were asked for, this week's among them; how many."""
    if not has_organisation():
        return 0
    actions.request_weekly_portfolio(at=timezone.now())
    solver = partial(series_answer, unproven_share=settings.UNPROVEN_SHARE)
    return actions.answer_portfolios(solver=solver, clock=timezone.now)
