"""How much a price may move before a second person is asked."""

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts import actions
from apps.accounts.queries import organisation
from apps.economics.refusal import Refusal


class Command(BaseCommand):
    """`manage.py set_price_approval 20` or `off`."""

    help = "Let prices that move by more than so many per cent wait for a second person of finance."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The per cent."""
        parser.add_argument("per_cent", metavar="PER_CENT|off", type=_per_cent)

    def handle(self, *args: Any, **options: Any) -> None:
        """Set it, or say why not."""
        # Refuses NoOrganisation in words before anything is set.
        organisation()
        try:
            actions.set_price_approval(per_cent=options["per_cent"])
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(
            "No price waits for a second person."
            if options["per_cent"] is None
            else f"Prices that move by more than {options['per_cent']} % wait for a second person."
        )


def _per_cent(text: str) -> int | None:
    if text == "off":
        return None
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is neither a whole number nor off") from None
