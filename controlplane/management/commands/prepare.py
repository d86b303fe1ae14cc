"""Bring the database to where everything else can work, and end."""

from typing import Any

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """`manage.py prepare`: what every other command does first; for containers and installers."""

    help = "Migrate the database and make the organisation, if that is still to be done; check the installation."

    def handle(self, *args: Any, **options: Any) -> None:
        """manage.py has done it by now; what no other command of ours does are Django's checks."""
        self.check()
        self.stderr.write("The database is ready.")
