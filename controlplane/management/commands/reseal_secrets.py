"""Seal everything that is sealed with the present secret key."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.actions.second_factors import reseal_second_factors
from apps.review.actions.channels import reseal_addresses


class Command(BaseCommand):
    """`manage.py reseal_secrets`: after a change of RUNRATE_SECRET_KEY, while the old one is still named."""

    help = "Seal with the present secret key what was sealed with one of RUNRATE_OLD_SECRET_KEYS."

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and say how many; ends with 1 where some can be opened by no key."""
        lost = []
        for kind, (sealed, unreadable) in (
            ("webhook addresses", reseal_addresses()),
            ("second factors", reseal_second_factors()),
        ):
            self.stdout.write(f"{kind}: {sealed} sealed with the present key")
            lost += [f"{unreadable} {kind}"] if unreadable else []
        if lost:
            raise CommandError(
                f"sealed with a key that is not named: {', '.join(lost)}. Name it in "
                "RUNRATE_OLD_SECRET_KEYS, or enter them anew."
            )
