"""Django's command line, in which commands of ours run none of Django's checks.

The checks import every page and every rule of REST, most of what a command takes. `manage.py check`
has them all, and so have `prepare`, `make check` and the tests.
"""

from collections.abc import Sequence

from django.core.management import ManagementUtility, get_commands
from django.core.management.base import BaseCommand

OURS = ("apps.", "controlplane")


class CommandLine(ManagementUtility):
    """Commands by their names; ours begin at once."""

    def fetch_command(self, subcommand: str) -> BaseCommand:
        """Return the command; of ours the checks are left out."""
        command = super().fetch_command(subcommand)
        if get_commands().get(subcommand, "").startswith(OURS):
            command.requires_system_checks = []
        return command


def run_command_line(argv: Sequence[str]) -> None:
    """Run what the line says."""
    CommandLine(list(argv)).execute()
