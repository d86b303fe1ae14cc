"""What comes: forecasts of the weeks that are there by now."""

from io import StringIO

from django.core.management import call_command

from controlplane.demo.company import Company


def forecast_everything(company: Company) -> None:
    """A forecast of every series, two weeks ahead."""
    call_command("forecast", stdout=StringIO())
